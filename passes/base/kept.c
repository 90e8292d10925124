// Where the schedule keeps a value, and the longest row that a map can have.
#include "base/base.h"

#include <string.h>

kept_place plan_kept_place(const schedule_cell *c) {
    const schedule_word where = schedule_value_of(c, NULL)->word;
    if (where == SCHEDULE_PLACE_SHARED) return KEPT_SHARED;
    return where == SCHEDULE_PLACE_REGISTERS ? KEPT_REGISTERS : KEPT_GLOBAL;
}

bool plan_refuse_swizzle(planner *p, const schedule_cell *keep, const char *why) {
    if (!schedule_value_of(keep, "swizzle") || p->s->automatic) return true;
    diagnostic *d = plan_refuse(p, E0530, keep->at,
                                "a swizzle of '%s' has no pass in this version: %s", keep->subject,
                                why);
    if (d) diag_help(d, "leave `swizzle` out");
    return false;
}

kept_place plan_take_kept(planner *p, schedule_cell *c) {
    if (!c) return KEPT_ANYWHERE;
    c->consumed = true;
    plan_refuse_swizzle(p, c, "no 'pipeline' along a sum by 'mma' copies tiles of it");
    return plan_kept_place(c);
}

schedule_cell *plan_kept_cell(const planner *p, const tensor_stage *st, tensor_val v) {
    schedule_cell *c = schedule_find(p->s, st->id, SCHEDULE_KEEP, st->id);
    return c ? c : schedule_find(p->s, st->id, SCHEDULE_KEEP, p->op->vals.data[v].id);
}

kept_place plan_kept(planner *p, const tensor_stage *st, tensor_val v) {
    for (uint32_t t = 0; t < st->ntargets; t++)
        if (st->targets[t].val == v) return plan_take_kept(p, plan_kept_cell(p, st, v));
    return KEPT_ANYWHERE;
}

static int64_t smaller(int64_t a, int64_t b) { return !a || (b && b < a) ? b : a; }

// max(map) <= k, in a precondition; 0: nothing says so.
static int64_t bound_in(const planner *p, tensor_expr e, tensor_val map) {
    const tensor_node *n = tensor_node_at(p->op, e);
    if (n->op == TENSOR_AND_OP)
        return smaller(bound_in(p, n->args[0], map), bound_in(p, n->args[1], map));
    if (n->op != TENSOR_LE_OP && n->op != TENSOR_LT_OP) return 0;
    const tensor_node *x = tensor_node_at(p->op, n->args[0]),
                      *k = tensor_node_at(p->op, n->args[1]);
    bool largest = x->op == TENSOR_PREIMAGE_OP && x->imm2 == 0 && (tensor_val)x->imm.i == map;
    return largest && k->op == TENSOR_CONST_OP ? k->imm.i - (n->op == TENSOR_LT_OP) : 0;
}

static int64_t bound_when(const size_expr *e, tensor_val map) {
    if (e->len != 3 || e->data[0].kind != SZ_MAX_PREIMAGE || (tensor_val)e->data[0].value != map ||
        e->data[1].kind != SZ_CONST)
        return 0;
    return e->data[2].kind == SZ_LE   ? e->data[1].value
           : e->data[2].kind == SZ_LT ? e->data[1].value - 1
                                      : 0;
}

int64_t plan_largest_row(const planner *p, tensor_val map) {
    int64_t most = 0;
    for (uint32_t i = 0; i < p->op->required.len; i++)
        most = smaller(most, bound_in(p, p->op->required.data[i].holds, map));
    for (uint32_t i = 0; i < p->s->when.len; i++)
        if (p->s->when.data[i].kind == SCHEDULE_HOLDS)
            most = smaller(most, bound_when(&p->s->when.data[i].holds, map));
    return most;
}
