// What objects hold compressed: manifests that are whole, cut short, changed anywhere, or with
// headers that lie; each allocation failing; and code for a GPU, which the fake driver takes.
#include "Inputs/fake_cuda.h"
#include "Inputs/harness.h"
#include "inflate.h"

#include <zlib.h>

enum { HEADER = 24, MOST = 8192 };
typedef struct {
    unsigned char bytes[MOST];
    size_t size;
} packed;

static void put_number(unsigned char *at, uint64_t n) {
    for (int i = 0; i < 8; i++) at[i] = (unsigned char)(n >> 8 * i);
}

static packed pack(const char *text, size_t size) {
    packed p = {{0x89, 'g', 'n', 'n', 'c', 'z', '1', '\n'}, 0};
    uLongf stream = MOST - HEADER;
    CHECK(compress2(p.bytes + HEADER, &stream, (const Bytef *)text, size, 9) == Z_OK);
    put_number(p.bytes + 8, stream);
    put_number(p.bytes + 16, size);
    p.size = HEADER + stream;
    return p;
}

static const char manifest[] = SPMM("host", "32");

static gnn_status load(gnn_context *c, const packed *p, size_t size) {
    // exactly as large, so that a sanitizer sees what is read behind it
    char *bytes = malloc(size ? size : 1);
    gnn_program *made = NULL;
    memcpy(bytes, p->bytes, size);
    gnn_status s = gnn_program_load(c, bytes, size, &spmm_code, &made);
    CHECK(!s == !!made);
    if (made) CHECK(!strcmp(gnn_program_name(made), "spmm"));
    gnn_program_free(made);
    free(bytes);
    return s;
}

static void whole(gnn_context *c) {
    packed p = pack(manifest, sizeof manifest - 1), none = pack("", 0);
    rt_plain plain;
    GOOD(c, load(c, &p, p.size));
    GOOD(c, rt_inflate(c, GNN_BAD_CODE, "f", p.bytes, p.size, &plain));
    CHECK(plain.size == sizeof manifest - 1 && !memcmp(plain.data, manifest, sizeof manifest));
    rt_free(c, plain.owned);
    GOOD(c, rt_inflate(c, GNN_BAD_CODE, "f", none.bytes, none.size, &plain));
    CHECK(plain.size == 0 && plain.owned && !*plain.data);
    rt_free(c, plain.owned);
    GOOD(c, rt_inflate(c, GNN_BAD_CODE, "f", "\177ELF1234", 8, &plain));   // plain ones stay
    CHECK(plain.size == 8 && !plain.owned);
}

#define DAMAGED "manifest: its compressed bytes are damaged: "

static void headers(gnn_context *c) {
    const packed good = pack(manifest, sizeof manifest - 1);
    packed p = good;
    const unsigned stream = (unsigned)(p.size - HEADER);
    char text[200];
    EXPECT(c, load(c, &p, HEADER - 1), BAD_MANIFEST, DAMAGED "they end in their header");
    sprintf(text, DAMAGED "%u by their header, but 7", stream);
    EXPECT(c, load(c, &p, HEADER + 7), BAD_MANIFEST, text);
    put_number(p.bytes + 8, UINT64_MAX);
    sprintf(text, DAMAGED "18446744073709551615 by their header, but %u", stream);
    EXPECT(c, load(c, &p, p.size), BAD_MANIFEST, text);
    p = good;
    put_number(p.bytes + 16, UINT64_MAX);   // no memory is asked for
    sprintf(text, DAMAGED "%u cannot hold the 18446744073709551615 that their header says", stream);
    EXPECT(c, load(c, &p, p.size), BAD_MANIFEST, text);
    put_number(p.bytes + 16, sizeof manifest);
    EXPECT(c, load(c, &p, p.size), BAD_MANIFEST,
           DAMAGED "they hold another number of bytes than their header says");
    put_number(p.bytes + 16, sizeof manifest - 2);
    EXPECT(c, load(c, &p, p.size), BAD_MANIFEST,
           DAMAGED "they hold another number of bytes than their header says");
    p = good;
    p.bytes[p.size - 1] ^= 1;
    EXPECT(c, load(c, &p, p.size), BAD_MANIFEST, DAMAGED "incorrect data check");
}

// No byte of a stream may change, but for the bits that fill up its last one, and no length.
static void damage(gnn_context *c) {
    const packed good = pack(manifest, sizeof manifest - 1);
    for (size_t i = 8; i < good.size; i++) {
        packed p = good;
        p.bytes[i] ^= 0x10;
        gnn_status s = load(c, &p, p.size);
        CHECK(s == GNN_BAD_MANIFEST || (!s && i == good.size - 5));
    }
    for (size_t n = 0; n < good.size; n++) CHECK(load(c, &good, n) == GNN_BAD_MANIFEST);
    gnn_context_clear_error(c);
}

static void out_of_memory(void) {
    const packed p = pack(manifest, sizeof manifest - 1);
    for (int64_t i = 0;; i++) {
        ledger l;
        gnn_context *c = new_context(&l, 1);
        l.fail_at = l.calls + i;
        gnn_status s = load(c, &p, p.size);
        CHECK(!s || s == GNN_NO_MEMORY);
        end_context(c, &l);
        if (!s) break;
        CHECK(i < 1000);
    }
}

// ---- A GPU's code -------------------------------------------------------------------------------
static void nothing(void **params, unsigned grid, unsigned block, unsigned shared) {
    (void)params, (void)grid, (void)block, (void)shared;
}

static void images(void) {
    static const char cuda[] = SPMM("sm_90", "32");
    ledger l;
    gnn_context *c = NULL;
    gnn_program *p = NULL;
    packed code = pack("fake", 4);
    fake_forget();
    fake_register("gather", nothing, 7, 0);
    fake_register("add", nothing, 6, 0);
    l = (ledger){.fail_at = -1};
    CHECK(!gnn_context_new(&(gnn_context_options){.device = GNN_GPU(0),
                                                  .allocator = {ledger_alloc, ledger_release, &l}},
                           &c));
    gnn_code given = {.image = code.bytes, .size = code.size};
    GOOD(c, gnn_program_load(c, cuda, sizeof cuda - 1, &given, &p));
    gnn_program_free(p);
    code.bytes[code.size - 1] ^= 1;
    EXPECT(c, gnn_program_load(c, cuda, sizeof cuda - 1, &given, &p), BAD_CODE,
           "spmm: code for sm_90: its compressed bytes are damaged: incorrect data check");
    end_context(c, &l);
}

int main(void) {
    ledger l;
    gnn_context *c = new_context(&l, 1);
    whole(c);
    headers(c);
    damage(c);
    end_context(c, &l);
    out_of_memory();
    images();
    return failed;
}
