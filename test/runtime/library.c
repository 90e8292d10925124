// Libraries that are opened at run time: one that is whole, each cut and each changed byte, indexes
// that lie, allocations that fail, and ops planned and launched by name.
#include "Inputs/harness.h"

#include <unistd.h>
#include <zlib.h>

enum { MOST = 16384, CODE_BYTES = 64, TABLE = 16 };
static const char manifest[] = SPMM("host", "32");

typedef struct {
    char bytes[MOST];
    size_t size;
} file;

static size_t up(size_t n) { return (n + 63) / 64 * 64; }

// Kernels that return at once; the table says how far from it they begin.
static void put_code(char *at) {
    const int32_t table[] = {-TABLE, 4 - TABLE};
    memset(at, 0xc3, CODE_BYTES);
    memcpy(at + TABLE, table, sizeof table);
}

// index: as printf has it, of the manifest's bytes, the code's place, the sum and the bytes of all.
static file file_of(const char *index) {
    file f = {.size = 0};
    char blobs[MOST] = "", text[4096];
    const size_t code = up(sizeof manifest - 1), all = code + CODE_BYTES;
    memcpy(blobs, manifest, sizeof manifest - 1);
    put_code(blobs + code);
    const uLong sum = crc32(crc32(0, NULL, 0), (const Bytef *)blobs, (uInt)all);
    const int length = snprintf(text, sizeof text, index, sizeof manifest - 1, code, sum, all);
    memcpy(f.bytes, "gnnlib1\n", 8);
    for (int k = 0; k < 8; k++) f.bytes[8 + k] = (char)((uint64_t)length >> 8 * k);
    memcpy(f.bytes + 16, text, (size_t)length);
    f.size = up(16 + (size_t)length);
    memcpy(f.bytes + f.size, blobs, all);
    f.size += all;
    return f;
}

#define INDEX(abi, name, manifest_at, first, kernels, table)                                       \
    "{\"gnnc_library\": 1, \"abi\": " abi ", \"ops\": [{" name "\"path\": \"spmm\", \"builds\": [" \
    "{\"target\": \"host\", \"index_bits\": 32, \"ptx\": false, "                                  \
    "\"manifest\": {\"at\": " manifest_at ", \"bytes\": %zu}, "                                    \
    "\"first\": " first ", \"kernels\": [" kernels "]}]}], "                                       \
    "\"host\": {\"at\": %zu, \"bytes\": 64}, \"table\": " table                                    \
    ", \"kernels\": 2, \"crc32\": %lu, \"bytes\": %zu}"
#define STRING_(x) #x
#define STRING(x) STRING_(x)
#define ABI STRING(GNN_ABI)
#define NAME "\"name\": \"spmm\", "
#define TWO "\"add\", \"gather\""
static const char good[] = INDEX(ABI, NAME, "0", "0", TWO, "16");

// Exactly as large, so that a sanitizer sees what is read behind it.
static gnn_status read_bytes(gnn_context *c, const char *bytes, size_t size, gnn_library **out) {
    char *copy = malloc(size ? size : 1);
    memcpy(copy, bytes, size);
    gnn_status s = gnn_library_read(c, copy, size, out);
    free(copy);
    CHECK(!s == !!*out);
    return s;
}

static void check_lies(gnn_context *c) {
    static const struct {
        const char *index, *told;
        gnn_status status;
    } cases[] = {
        {INDEX("4", NAME, "0", "0", TWO, "16"),
         "library: made for another libgnnrt: its interface is 4, not " ABI, GNN_BAD_CODE},
        {INDEX(ABI, "", "0", "0", TWO, "16"), "library: an op has no name", GNN_BAD_FILE},
        {INDEX(ABI, NAME, "1000000", "0", TWO, "16"),
         "library: a place of the index lies outside the file", GNN_BAD_FILE},
        {INDEX(ABI, NAME, "-1", "0", TWO, "16"),
         "library: a place of the index lies outside the file", GNN_BAD_FILE},
        {INDEX(ABI, NAME, "0", "1", TWO, "16"),
         "library: a build of the host has kernels that are not there", GNN_BAD_FILE},
        {INDEX(ABI, NAME, "0", "0", "1, 2", "16"), "library: a kernel of the host has no name",
         GNN_BAD_FILE},
        {INDEX(ABI, NAME, "0", "0", TWO, "60"),
         "library: the table of the host's kernels lies outside their code", GNN_BAD_FILE},
        {INDEX(ABI, NAME, "0", "0", TWO, "24"),
         "library: a kernel of the host lies outside its code", GNN_BAD_FILE},
        {INDEX(ABI, NAME, "0", "0", TWO, "16, \"sum\": 1") "7",
         "library: index, line 1: something stands behind the value", GNN_BAD_FILE},
        {"{", "library: index, line 1: the name of a member is wanted", GNN_BAD_FILE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const file f = file_of(cases[i].index);
        gnn_library *l = NULL;
        expect_error(c, read_bytes(c, f.bytes, f.size, &l), cases[i].status, cases[i].told, (int)i);
    }
}

// Each byte of what is checked makes it another file, but those between the index and the blobs.
static void check_changes(gnn_context *c, const file *f) {
    for (size_t i = 0; i < f->size; i++) {
        file other = *f;
        gnn_library *l = NULL;
        other.bytes[i] = (char)(other.bytes[i] ^ 0x11);
        (void)read_bytes(c, other.bytes, other.size, &l);
        gnn_library_close(l);
        gnn_context_clear_error(c);
    }
    file other = *f;
    gnn_library *damaged = NULL;
    other.bytes[f->size - 1] ^= 1;
    EXPECT(c, read_bytes(c, other.bytes, other.size, &damaged), BAD_FILE,
           "library: its checksum is another: it is damaged");
    for (size_t size = 0; size < f->size; size++) {
        gnn_library *l = NULL;
        CHECK(read_bytes(c, f->bytes, size, &l));
        gnn_context_clear_error(c);
    }
}

static void check_allocations(gnn_context *c, ledger *memory, const file *f) {
    for (int64_t at = 0; at < 1000; at++) {
        gnn_library *l = NULL;
        memory->calls = 0;
        memory->fail_at = at;
        gnn_status s = read_bytes(c, f->bytes, f->size, &l);
        memory->fail_at = -1;
        gnn_context_clear_error(c);
        gnn_library_close(l);
        if (!s) break;
        CHECK(s == GNN_NO_MEMORY);
    }
}

static void check_files(gnn_context *c, const file *f) {
    char path[] = "/tmp/gnnlibXXXXXX";
    const int fd = mkstemp(path);
    gnn_library *l = NULL;
    CHECK(write(fd, f->bytes, f->size) == (ssize_t)f->size);
    GOOD(c, gnn_library_open(c, path, &l));
    CHECK(gnn_library_ops(l) == 1);
    gnn_library_close(l);
    close(fd);
    unlink(path);
    CHECK(gnn_library_open(c, path, &l) == GNN_IO && !l);
    gnn_context_clear_error(c);
}

static void check_launch(gnn_context *c, const file *f) {
    static int32_t index[] = {0, 0, 1, 1};
    static float x[4] = {1, 2, 3, 4}, y[4];
    static _Alignas(256) char workspace[256];
    gnn_library *l = NULL;
    gnn_op *op = NULL;
    gnn_plan *plan = NULL;
    GOOD(c, read_bytes(c, f->bytes, f->size, &l));
    if (!l) return;
    CHECK(gnn_abi() == GNN_ABI && gnn_library_op(l, 0) == gnn_library_find(l, "spmm"));
    CHECK(!gnn_library_op(l, 1) && !gnn_library_find(l, "other"));
    CHECK(!strcmp(gnn_library_path(l, 0), "spmm") && !gnn_library_path(l, 1));
    GOOD(c, gnn_op_load(gnn_library_op(l, 0), c, &op));
    gnn_program *p = gnn_op_program(op, 0, 0);
    CHECK(p == gnn_op_program(op, 32, GNN_SAVED) && !gnn_op_program(op, 64, 0) &&
          !gnn_op_program(op, 7, 0));
    CHECK(!gnn_program_gradient_of(p));
    const gnn_map m = {.index = index, .width = 32, .domain = 4, .codomain = 2};
    const gnn_named_map maps[] = {{"src", m}, {"dst", m}};
    const gnn_tensor xs = {.data = x, .dtype = GNN_F32, .rank = 2, .shape = {2, 2}},
                     ys = {.data = y, .dtype = GNN_F32, .rank = 2, .shape = {2, 2}};
    const gnn_arg args[] = {{0}, {0}, {.tensor = &xs}, {.scalar.f32 = 1}, {.tensor = &ys}};
    const gnn_plan_options o = {.maps = maps, .nmaps = 2, .args = args, .nargs = 5};
    EXPECT(c, gnn_op_plan_named(op, &o, 64, &plan), BAD_CODE,
           "spmm holds no code of 64-bit indices: compile with --index=64");
    GOOD(c, gnn_op_plan_named(op, &o, 0, &plan));
    CHECK(gnn_plan_program(plan) == p);
    GOOD(c, gnn_launch(plan, args, 5, workspace, sizeof workspace, NULL));
    gnn_plan_free(plan);
    gnn_op_free(op);
    gnn_library_close(l);
}

int main(void) {
    ledger memory;
    gnn_context *c = new_context(&memory, 1);
    const file f = file_of(good);
    check_launch(c, &f);
    check_lies(c);
    check_changes(c, &f);
    check_allocations(c, &memory, &f);
    check_files(c, &f);
    gnn_library_close(NULL);
    end_context(c, &memory);
    return failed;
}
