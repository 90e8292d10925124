// What points have in common that a map takes to a row is found once a row: products of a row with
// a matrix. A sum of several products becomes as many sums where each has a way of its own.
//     h[e, k] = sum{f} (x[src[e], f] * w[f, k] + z[e, f] * u[f, k])
//       →  addends h;  hoist h.addend_1 by src
#include "default/default.h"
#include "default/ask/ask.h"
#include "default/ask/limits.h"
#include "default/cells/cells.h"
#include "base/base.h"
#include "kernels/kernels.h"
#include "tensor/tensor.h"
#include "tensor_hoist.h"

// ---- By which map -------------------------------------------------------------------------------
// Of a table of which points read a few rows all would be found.
static bool is_worth(planner *p, const tensor_stage *st, tensor_val map) {
    return st->reducer != TENSOR_NO_REDUCER && tensor_sums_many(p->op, st) &&
           tensor_is_with_matrix(p->op, st, st->body[0]) && !plan_why_no_hoist(p, st, map) &&
           tensor_has_all_rows(p->op, p->op->vals.data[map].into);
}

static tensor_val map_for(planner *p, const tensor_stage *st) {
    for (tensor_val v = 0; v < p->op->nparams; v++)
        if (p->op->vals.data[v].role == VAL_MAP && p->op->vals.data[v].rank == 1 &&
            is_worth(p, st, v))
            return v;
    return TENSOR_NO_VAL;
}

// ---- Sums of several ----------------------------------------------------------------------------
static bool adds_products(planner *p, const tensor_stage *st) {
    tensor_expr all[DEFAULT_HOIST_ADDENDS];
    bool matrices = p->machine->gpu && !st->nkeys;
    if (plan_why_no_addends(p, st)) return false;
    const uint32_t n = plan_addends_of(p, st, all, DEFAULT_HOIST_ADDENDS);
    for (uint32_t i = 0; i < n && matrices; i++)
        matrices = tensor_is_with_matrix(p->op, st, all[i]);
    return matrices && st->nleft == 2 && tensor_sums_many(p->op, st);
}

// ---- The statements -----------------------------------------------------------------------------
static void say(planner *p, schedule *s, schedule_verb verb, uint32_t stage, tensor_val map) {
    schedule_value *v = ARENA_ARRAY(p->arena, schedule_value, 2);
    v[0] = default_stage_list(p, &(stage_group){.data = &stage, .len = 1});
    if (map != TENSOR_NO_VAL) v[1] = default_by(p, map);
    schedule_cell c = default_stage_cell(p, verb, plan_stage(p, stage));
    c.nvalues = map == TENSOR_NO_VAL ? 1 : 2;
    c.values = v;
    schedule_fill(p->arena, s, c);
}

tensor_op *default_hoist(planner *p, schedule *s) {
    for (uint32_t i = 0; i < p->op->stages.len; i++)
        if (adds_products(p, plan_stage(p, i))) say(p, s, SCHEDULE_ADDENDS, i, TENSOR_NO_VAL);
    p->s = s;
    plan_addends(p);
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        const tensor_val map = map_for(p, plan_stage(p, i));
        if (map != TENSOR_NO_VAL) say(p, s, SCHEDULE_HOIST, i, map);
    }
    plan_hoist(p);
    return p->op;
}
