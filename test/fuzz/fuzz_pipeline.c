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
