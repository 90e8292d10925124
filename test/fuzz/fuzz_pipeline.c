// libFuzzer: no source makes the frontend, the naive plan or the printers fail, and no op that the frontend accepts is
// undefined: evaluated at small sizes it reads nothing at none and nothing out of range.
//
//     clang -g -O1 -fsanitize=fuzzer,address,undefined -Iir -Ifrontend -Ipasses -IBUILD test/fuzz/fuzz_pipeline.c
//         frontend/*.c passes/*.c ir/*.c ir/support/*.c BUILD/{gnn_parser,gnn_lexer,stdlib_gnn,math_simt}.c -lm -o fuzz_pipeline
//     ./fuzz_pipeline -dict=test/fuzz/gnn.dict -max_len=3000 corpus stdlib
#include "frontend.h"
#include "passes.h"
#include "simt.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

// ---- Mutation by tokens ----------------------------------------------------------------------------------------------
// Bytes rarely make another program. Half the mutants put a run of tokens of the text in the place of another run.
typedef struct {
    size_t lo, hi;
} run_of_tokens;

static bool is_word(uint8_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

static size_t token_end(const uint8_t *text, size_t size, size_t at) {
    size_t end = at + 1;
    while (is_word(text[at]) && end < size && is_word(text[end])) end++;
    return end;
}

// From a token on: one to 32 tokens, one mostly; where it begins with a bracket, often up to the one that closes it.
static run_of_tokens choose_run(const uint8_t *text, size_t size, uint64_t *random) {
    *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407;
    size_t at = (size_t)(*random >> 33) % size, n = *random >> 20 & 3 ? 1 : (*random >> 24) % 32 + 1;
    while (at && is_word(text[at]) && is_word(text[at - 1])) at--;
    run_of_tokens r = {at, at};
    if (strchr("([{", text[at]) && *random >> 22 & 1) {
        int depth = 0;
        do {
            depth += strchr("([{", text[r.hi]) != NULL;
            depth -= strchr(")]}", text[r.hi]) != NULL;
            r.hi++;
        } while (depth > 0 && r.hi < size && text[r.hi]);
        return r;
    }
    while (n-- && r.hi < size) r.hi = token_end(text, size, r.hi);
    return r;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    if (size < 2 || seed & 1) return LLVMFuzzerMutate(data, size, most);
    run_of_tokens to = choose_run(data, size, &random), from = choose_run(data, size, &random);
    if (random >> 40 & 1) from.hi = from.lo = random >> 41 & 3 ? from.lo : to.lo;   // delete
    if (random >> 43 & 1) to.hi = to.lo;                                            // insert
    size_t cut = to.hi - to.lo, put = from.hi - from.lo;
    if (size - cut + put > most) return LLVMFuzzerMutate(data, size, most);
    uint8_t copy[1 << 14];
    if (put > sizeof copy) return LLVMFuzzerMutate(data, size, most);
    memcpy(copy, data + from.lo, put);
    memmove(data + to.lo + put, data + to.hi, size - to.hi);
    memcpy(data + to.lo, copy, put);
    return size - cut + put;
}

// ---- The pipeline ----------------------------------------------------------------------------------------------------
enum { MAX_OPS = 6, MAX_STEPS = 4000, MAX_POINTS = 20000 };

// Sizes of 0 to 3; where a prefix map or a constant size does not go with them, the op is not evaluated.
static bool small_sizes(const tensor_op *op, uint8_t seed, int64_t *sizes) {
    for (uint32_t i = 0; i < op->spaces.len; i++) {
        const tensor_space_info *s = &op->spaces.data[i];
        sizes[i] = s->kind == SPACE_CONST ? s->size : seed & 3;
    }
    for (tensor_val v = 0; v < op->nparams; v++) {
        const tensor_val_info *x = &op->vals.data[v];
        if (x->facts & FACT_PREFIX && sizes[x->axes[0]] > sizes[x->into]) return false;
    }
    return true;
}

static bool fill(arena *a, const tensor_op *op, tensor_val v, const int64_t *sizes, tensor_array *x) {
    const tensor_val_info *info = &op->vals.data[v];
    int64_t points = 1;
    *x = (tensor_array){.type = info->type, .rank = info->rank};
    for (uint32_t k = 0; k < info->rank; k++) {
        x->shape[k] = sizes[info->axes[k]];
        if (__builtin_mul_overflow(points, x->shape[k], &points) || points > MAX_POINTS) return false;
    }
    x->data = ARENA_ARRAY(a, int64_t, points + 1);
    bool partial = info->facts & FACT_PARTIAL;
    if (info->type == DT_INDEX && points && !partial && sizes[info->into] == 0) return false;
    for (int64_t i = 0; i < points && info->type == DT_INDEX; i++) {
        int64_t n = sizes[info->into] + partial;
        ((int64_t *)x->data)[i] = (i * 7 + v) % (n ? n : 1) - partial;
    }
    for (int64_t i = 0; i < points && info->type == DT_F32; i++) ((float *)x->data)[i] = (float)(i % 5) - 2;
    for (int64_t i = 0; i < points && info->type == DT_F64; i++) ((double *)x->data)[i] = (double)(i % 5) - 2;
    return true;
}

static void evaluate(arena *a, const tensor_op *op, uint8_t seed) {
    int64_t *sizes = ARENA_ARRAY(a, int64_t, op->spaces.len + 1), *all = ARENA_ARRAY(a, int64_t, op->spaces.len + 1);
    tensor_array *inputs = ARENA_ARRAY(a, tensor_array, op->nparams + 1);
    tensor_evaluated *results = ARENA_ARRAY(a, tensor_evaluated, op->nparams + 1);
    const char *why = NULL;
    tensor_eval_input in = {.sizes = sizes, .inputs = inputs, .max_steps = MAX_STEPS};
    for (uint32_t i = 0; i < op->spaces.len; i++)
        if (op->spaces.data[i].kind == SPACE_EXPR) return;   // the shapes of what is given would have to follow
    if (!small_sizes(op, seed, sizes)) return;
    for (tensor_val v = 0; v < op->nparams; v++)
        if (!fill(a, op, v, sizes, &inputs[v])) return;
    if (!tensor_eval_sizes(a, op, &in, all, &why)) return;
    if (!tensor_eval(a, op, &in, results, &why) && (strstr(why, "is read at") || strstr(why, "is no index") || strstr(why, "before it is defined")))
        ICE("an op that was accepted cannot be evaluated: %s", why);
}

static const char *read_nothing(void *user, arena *a, const char *path, size_t *length) {
    (void)user, (void)a, (void)path, (void)length;
    return NULL;
}

static void build(arena *a, diag_set *ds, frontend_unit *u, uint8_t seed) {
    for (uint32_t i = 0; i < u->ops.len && i < MAX_OPS; i++) {
        if (u->ops.data[i].imported || u->ops.data[i].generic_left) continue;
        tensor_op *op = frontend_lower(u, i);
        if (!op) {
            if (!diag_errors(ds)) ICE("an op without a diagnostic");
            continue;
        }
        textbuf text = textbuf_new(a);
        tensor_print(&text, op);
        evaluate(a, op, seed);
        program *p = pass_naive(a, ds, op, &(pass_options){.index_bits = seed & 4 ? 64 : 32});
        if (!p) continue;
        simt_print(&text, p->module);
        program_print(&text, p);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    arena *a = arena_new();
    diag_set *ds = diag_set_new(a, source_map_new(a));
    frontend_options o = {.no_schedule = true, .read = read_nothing};
    frontend_unit *u = frontend_load(a, ds, "fuzz.gnn", (const char *)data, size, &o);
    if (u && !diag_errors(ds) && frontend_check(u)) build(a, ds, u, size ? data[size - 1] : 0);
    arena_free(a);
    return 0;
}
