// Edges that stand both ways, put to use: reductions over the edges of a node read the list that is
// sorted, whichever end they are about (base/ends.c). What a schedule says of either map is obeyed:
// its stage stays as it is. One stage that must read the list of the other end has it prepared, and
// all others read it, too.
#include "tensor/tensor.h"
#include "base/base.h"

// ---- What statements name -----------------------------------------------------------------------
static bool is_end(const plan_ends *ends, tensor_val v) {
    return v == ends->one || v == ends->other;
}

static bool names_end(const planner *p, const schedule *s, const tensor_stage *st,
                      const plan_ends *ends);

static bool value_names(const planner *p, const schedule_value *v, const tensor_stage *st,
                        const plan_ends *ends) {
    tensor_val read = v->key ? plan_key_read(p, v) : TENSOR_NO_VAL, map;
    if (read != TENSOR_NO_VAL && schedule_counts(p->s, read, &map)) read = map;
    if (is_end(ends, read)) return true;
    if (v->ids && v->text && is_end(ends, plan_map_meant(p, v))) return true;
    for (uint32_t k = 0; v->schedules && k < v->nnames; k++)
        if (names_end(p, v->schedules[k], st, ends)) return true;
    return false;
}

// The default's own cells stand nowhere.
static bool names_end(const planner *p, const schedule *s, const tensor_stage *st,
                      const plan_ends *ends) {
    for (uint32_t i = 0; i < s->cells.len; i++) {
        const schedule_cell *c = &s->cells.data[i];
        if (c->empty || !c->at.hi || !schedule_covers(s, c, st->id)) continue;
        for (uint32_t v = 0; v < c->nvalues; v++)
            if (value_names(p, &c->values[v], st, ends)) return true;
    }
    return false;
}

// ---- Use ----------------------------------------------------------------------------------------
static void use(planner *p, const plan_ends *ends) {
    bool *stays = ARENA_ARRAY(p->arena, bool, p->op->stages.len + 1);
    for (uint32_t i = 0; i < p->op->stages.len; i++)
        stays[i] = names_end(p, p->s, plan_stage(p, i), ends);
    plan_swap_ends(p->op, ends, stays, NULL);
}

// A version whose condition says so knows it as well as an op that demands it.
void plan_symmetric(planner *p) {
    plan_ends ends;
    for (uint32_t i = 0; plan_ends_at(p->op, i, &ends); i++) use(p, &ends);
    for (uint32_t i = 0; i < p->s->when.len; i++) {
        const schedule_condition *c = &p->s->when.data[i];
        if (c->kind != SCHEDULE_HOLDS || c->holds.len != 1) continue;
        const size_token t = c->holds.data[0];
        if (t.kind == SZ_SYMMETRIC) use(p, &(plan_ends){(tensor_val)t.value, (tensor_val)t.value2});
    }
}
