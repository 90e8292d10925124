// A source through frontend, plans and printers.
#include "pipeline.h"

#include "frontend.h"
#include "passes/passes.h"
#include "simt.h"
#include "tensor_eval.h"

#include <string.h>

enum { MAX_OPS = 6, MAX_STEPS = 4000, MAX_POINTS = 20000 };

// Sizes of 0 to 3; where a prefix map or a constant size does not go with them, the op is not
// evaluated.
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

static bool fill(arena *a, const tensor_op *op, tensor_val v, const int64_t *sizes,
                 tensor_array *x) {
    const tensor_val_info *info = &op->vals.data[v];
    int64_t points = 1;
    *x = (tensor_array){.type = info->type, .rank = info->rank};
    for (uint32_t k = 0; k < info->rank; k++) {
        x->shape[k] = sizes[info->axes[k]];
        if (__builtin_mul_overflow(points, x->shape[k], &points) || points > MAX_POINTS)
            return false;
    }
    x->data = ARENA_ARRAY(a, int64_t, points + 1);
    bool partial = info->facts & FACT_PARTIAL;
    if (info->type == DT_INDEX && points && !partial && sizes[info->into] == 0) return false;
    for (int64_t i = 0; i < points && info->type == DT_INDEX; i++) {
        int64_t n = sizes[info->into] + partial;
        ((int64_t *)x->data)[i] = (i * 7 + v) % (n ? n : 1) - partial;
    }
    for (int64_t i = 0; i < points && info->type == DT_F32; i++)
        ((float *)x->data)[i] = (float)(i % 5) - 2;
    for (int64_t i = 0; i < points && info->type == DT_F64; i++)
        ((double *)x->data)[i] = (double)(i % 5) - 2;
    return true;
}

static void evaluate(arena *a, const tensor_op *op, uint8_t seed) {
    int64_t *sizes = ARENA_ARRAY(a, int64_t, op->spaces.len + 1),
            *all = ARENA_ARRAY(a, int64_t, op->spaces.len + 1);
    tensor_array *inputs = ARENA_ARRAY(a, tensor_array, op->nparams + 1);
    tensor_evaluated *results = ARENA_ARRAY(a, tensor_evaluated, op->nparams + 1);
    const char *why = NULL;
    tensor_eval_input in = {.sizes = sizes, .inputs = inputs, .max_steps = MAX_STEPS};
    for (uint32_t i = 0; i < op->spaces.len; i++)
        if (op->spaces.data[i].kind == SPACE_EXPR)
            return;   // the shapes of what is given would have to follow
    if (!small_sizes(op, seed, sizes)) return;
    for (tensor_val v = 0; v < op->nparams; v++)
        if (!fill(a, op, v, sizes, &inputs[v])) return;
    if (!tensor_eval_sizes(a, op, &in, all, &why)) return;
    if (!tensor_eval(a, op, &in, results, &why) &&
        (strstr(why, "is read at") || strstr(why, "is no index") ||
         strstr(why, "before it is defined")))
        ICE("an op that was accepted cannot be evaluated: %s", why);
}

static const char *read_nothing(void *user, arena *a, const char *path, size_t *length) {
    (void)user, (void)a, (void)path, (void)length;
    return NULL;
}

static const char *const targets[] = {"host", "sm_90"};

typedef struct {
    arena *arena;
    diag_set *ds;
    frontend_unit *unit;
    uint8_t seed;
} session;

static void must_verify(const session *s, const program *p) {
    if (!p && !diag_errors(s->ds)) ICE("no program, and nothing says why");
    if (!p) return;
    const char *wrong = simt_verify(s->arena, p->module);
    if (wrong) ICE("a program that does not verify: %s", wrong);
    textbuf text = textbuf_new(s->arena);
    simt_print(&text, p->module);
    program_print(&text, p);
}

static void plan_scheduled(const session *s, uint32_t number, const tensor_op *op,
                           const pass_options *o) {
    bool gpu = s->seed & 8;
    schedule_list list = {0};
    schedule_choice choice;
    pass_options with = *o;
    with.choice = &choice;
    if (!frontend_schedules(s->unit, number, targets[gpu], op, &list, &choice)) return;
    for (uint32_t i = 0; i < list.len; i++)
        if (!frontend_executable(s->unit, number, targets[gpu], list.data[i])) return;
    must_verify(s, pass_scheduled(s->arena, s->ds, op, list.data, list.len, gpu ? "cuda" : "host",
                                  &with, NULL, NULL));
}

static void build(const session *s, uint32_t number) {
    const frontend_op *named = &s->unit->ops.data[number];
    if (named->imported || named->generic_left) return;
    tensor_op *op = frontend_lower(s->unit, number);
    // a twin: nothing is saved
    if (!op && !named->twin && !diag_errors(s->ds)) ICE("an op without a diagnostic");
    if (!op) return;
    textbuf text = textbuf_new(s->arena);
    tensor_print(&text, op);
    evaluate(s->arena, op, s->seed);
    pass_options o = {.index_bits = s->seed & 4 ? 64 : 32};
    if (s->seed & 16) must_verify(s, pass_naive(s->arena, s->ds, op, &o));
    else plan_scheduled(s, number, op, &o);
}

void pipeline_run(const char *text, size_t size, uint8_t seed) {
    arena *a = arena_new();
    diag_set *ds = diag_set_new(a, source_map_new(a));
    frontend_options o = {.read = read_nothing, .targets = targets, .ntargets = 2};
    frontend_unit *u = frontend_load(a, ds, "fuzz.gnn", text, size, &o);
    if (u && !diag_errors(ds) && frontend_check(u))
        for (uint32_t i = 0; i < u->ops.len && i < MAX_OPS; i++)
            build(&(session){a, ds, u, seed}, i);
    arena_free(a);
}
