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

// ---- Of matrices ----------------------------------------------------------------------------------
// A sum over a row's points adds it up: what those have in common is then multiplied once.
static bool is_added_up(const planner *p, const tensor_stage *st) {
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        const tensor_stage *reader = &p->op->stages.data[i];
        if (reader->reducer == TENSOR_NO_REDUCER || !reader->nkeys || reader->nbody != 1) continue;
        const tensor_node *n = tensor_node_at(p->op, reader->body[0]);
        if (n->op == TENSOR_LOAD_OP && (tensor_val)n->imm.i == st->targets[0].val) return true;
    }
    return false;
}

// Tensor cores have the product of two matrices.
static bool is_of_matrices(planner *p, const tensor_stage *st) {
    int64_t least;
    return !default_is_scalar(p, st) && !plan_why_no_flat(p, st, &least) &&
           least >= DEFAULT_WORDS_LEAST && !is_added_up(p, st);
}

// ---- Sums of several ----------------------------------------------------------------------------
static bool adds_products(planner *p, const tensor_stage *st) {
    tensor_addend all[DEFAULT_HOIST_ADDENDS];
    bool matrices = p->machine->gpu && !st->nkeys;
    if (plan_why_no_addends(p, st)) return false;
    const uint32_t n = plan_addends_of(p, st, all, DEFAULT_HOIST_ADDENDS);
    for (uint32_t i = 0; i < n && matrices; i++) {
        tensor_stage one = *st;
        one.body = &all[i].of;
        matrices = tensor_is_with_matrix(p->op, st, all[i].of) &&
                   (st->nleft == 2 || is_of_matrices(p, &one));
    }
    return matrices && tensor_sums_many(p->op, st);
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
    for (uint32_t i = 0; i < p->op->stages.len; i++)
        if (is_of_matrices(p, plan_stage(p, i))) say(p, s, SCHEDULE_FLATTEN, i, TENSOR_NO_VAL);
    plan_flatten(p);
    return p->op;
}
