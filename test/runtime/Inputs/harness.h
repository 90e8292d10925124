// What the runtime's tests share: checks, random numbers, an allocator that counts and can fail, a
// small program.
#ifndef HARNESS_H
#define HARNESS_H

#include "launch_plan.h"
#include "validate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed;
#define CHECK(x) ((x) ? (void)0 : (void)(failed = 1, printf("%s:%d: %s\n", __FILE__, __LINE__, #x)))
#define UNUSED __attribute__((unused))

// Of the context: the status, and the first error's text; cleared.
static UNUSED void expect_error(gnn_context *c, gnn_status got, gnn_status wanted, const char *text,
                                int line) {
    if (got != wanted || strcmp(gnn_context_error(c), text)) {
        failed = 1;
        printf("line %d: got %d: %s\n     wanted %d: %s\n", line, got, gnn_context_error(c), wanted,
               text);
    }
    gnn_context_clear_error(c);
}
#define EXPECT(c, call, status, text) expect_error((c), (call), GNN_##status, (text), __LINE__)
#define GOOD(c, call) expect_error((c), (call), GNN_OK, "", __LINE__)

static UNUSED uint64_t random_next(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static UNUSED int64_t random_below(uint64_t *state, int64_t n) {
    return (int64_t)(random_next(state) % (uint64_t)n);
}

// ---- Memory -------------------------------------------------------------------------------------
typedef struct {
    int64_t live, calls, fail_at;   // fail_at: the call that gets nothing; -1: none
} ledger;

static UNUSED void *ledger_alloc(void *user, size_t bytes, size_t align) {
    ledger *l = user;
    if (l->calls++ == l->fail_at || bytes > (size_t)1 << 40) return NULL;
    l->live++;
    return aligned_alloc(align, (bytes + align - 1) / align * align);
}

static UNUSED void ledger_release(void *user, void *memory) {
    ((ledger *)user)->live--;
    free(memory);
}

static UNUSED gnn_context *new_context(ledger *l, uint32_t threads) {
    gnn_context *c = NULL;
    *l = (ledger){.fail_at = -1};
    gnn_context_new(&(gnn_context_options){.device = GNN_HOST,
                                           .threads = threads,
                                           .allocator = {ledger_alloc, ledger_release, l}},
                    &c);
    return c;
}

static UNUSED void end_context(gnn_context *c, ledger *l) {
    gnn_context_free(c);
    CHECK(l->live == 0);
}

// ---- A program: y[v, f] = sum over rounds r < 3 of (r + 1) * alpha * sum{e : dst[e] == v} x[src[e], f] ---
#define SPMM(target, bits)                                                                                                                                              \
    "{\"gnnc_manifest\": 1, \"name\": \"spmm\", \"target\": \"" target "\", \"index_bits\": " bits                                                                      \
    ",\n"                                                                                                                                                               \
    " \"spaces\": [{\"name\": \"E\", \"kind\": \"free\"}, {\"name\": \"U\", \"kind\": \"free\"},\n"                                                                     \
    "  {\"name\": \"V\", \"kind\": \"free\"}, {\"name\": \"F\", \"kind\": \"free\"},\n"                                                                                 \
    "  {\"name\": \"three\", \"kind\": \"const\", \"size\": \"3\"}],\n"                                                                                                 \
    " \"params\": [{\"name\": \"src\", \"role\": \"map\", \"type\": \"index\", \"axes\": [\"E\"], \"into\": \"U\"},\n"                                                  \
    "  {\"name\": \"dst\", \"role\": \"map\", \"type\": \"index\", \"facts\": [\"sorted\"], \"axes\": [\"E\"], \"into\": \"V\"},\n"                                     \
    "  {\"name\": \"x\", \"role\": \"tensor\", \"type\": \"f32\", \"facts\": [\"strided\"], \"axes\": [\"U\", \"F\"]},\n"                                               \
    "  {\"name\": \"alpha\", \"role\": \"scalar\", \"type\": \"f32\"},\n"                                                                                               \
    "  {\"name\": \"y\", \"role\": \"result\", \"type\": \"f32\", \"axes\": [\"V\", \"F\"]}],\n"                                                                        \
    " \"requires\": [{\"text\": \"F != 13\", \"holds\": \"F 13 !=\"}],\n"                                                                                               \
    " \"prepared\": [{\"name\": \"offsets(dst)\", \"builder\": \"offsets\", \"args\": [\"dst\"], \"domain\": \"E\", \"into\": \"V\"}],\n"                               \
    " \"temps\": [{\"name\": \"t\", \"type\": \"f32\", \"length\": \"V F *\"}],\n"                                                                                      \
    " \"kernels\": [{\"name\": \"gather\", \"block\": 32, \"shared\": 0, \"params\": [\"ptr\", \"ptr\", \"ptr\", \"i64\", \"i64\", \"ptr\", \"i64\"]},\n"               \
    "  {\"name\": \"add\", \"block\": 32, \"params\": [\"ptr\", \"f32\", \"ptr\", \"i64\", \"i64\", \"i64\"]}],\n"                                                      \
    " \"versions\": [{\"name\": \"naive\", \"steps\": [{\"launch\": \"gather\", \"blocks\": \"V\", \"args\": [{\"data\": \"src\"}, {\"prepared\": \"offsets(dst)\"},\n" \
    "   {\"data\": \"x\"}, {\"stride\": \"x\", \"axis\": 0}, {\"stride\": \"x\", \"axis\": 1}, {\"temp\": \"t\"}, {\"size\": \"F\"}]},\n"                               \
    "  {\"loop\": \"three\"}, {\"launch\": \"add\", \"blocks\": \"V\", \"args\": [{\"temp\": \"t\"}, {\"value\": \"alpha\"},\n"                                         \
    "   {\"data\": \"y\"}, {\"stride\": \"y\", \"axis\": 0}, {\"size\": \"F\"}, {\"step\": true}]}, {\"end\": true}]}]}"

static UNUSED void gather32(const uint64_t *a, uint32_t v, uint32_t blocks) {
    const int32_t *src = (const int32_t *)a[0], *offsets = (const int32_t *)a[1];
    const float *x = (const float *)a[2];
    float *t = (float *)a[5];
    (void)blocks;
    for (int64_t f = 0; f < (int64_t)a[6]; f++) {
        float sum = 0;
        for (int64_t e = offsets[v]; e < offsets[v + 1]; e++)
            sum += x[src[e] * (int64_t)a[3] + f * (int64_t)a[4]];
        t[v * (int64_t)a[6] + f] = sum;
    }
}

static UNUSED void add(const uint64_t *a, uint32_t v, uint32_t blocks) {
    const float *t = (const float *)a[0];
    float alpha, *y = (float *)a[2];
    (void)blocks;
    memcpy(&alpha, &a[1], sizeof alpha);
    for (int64_t f = 0; f < (int64_t)a[4]; f++) {
        float *to = &y[v * (int64_t)a[3] + f];
        *to = (a[5] ? *to : 0) + (float)(a[5] + 1) * alpha * t[v * (int64_t)a[4] + f];
    }
}

static const gnn_host_kernel spmm_kernels[] UNUSED = {{"add", add}, {"gather", gather32}};
static const gnn_code spmm_code UNUSED = {.kernels = spmm_kernels, .nkernels = 2};

static UNUSED gnn_program *load_spmm(gnn_context *c) {
    static const char text[] = SPMM("host", "32");
    gnn_program *p = NULL;
    GOOD(c, gnn_program_load(c, text, sizeof text - 1, &spmm_code, &p));
    return p;
}

#endif
