// Steps of a loop that are distributed to lanes. They are written out until lanes have reduced what
// is reduced for each step. Then they are a digit of those lanes.

#include "lower/loops/loops.h"

// ---- Afterwards ---------------------------------------------------------------------------------
// Expressions of the steps are different ones now.
static memo_cell *memo_without(kernel *k, axis_set steps) {
    uint32_t n = k->l->op->exprs.len + 1;
    memo_cell *memo = ARENA_ARRAY(k->l->arena, memo_cell, n);
    for (uint32_t e = 0; e < n; e++)
        if (k->known.memo[e].known && !(k->known.memo[e].axes & steps)) memo[e] = k->known.memo[e];
    return memo;
}

static loop_mask *mask_of(kernel *k, const loop_node *n) {
    for (uint32_t i = 0; i < k->scope.masks.len; i++)
        if (k->scope.masks.data[i].node == n) return &k->scope.masks.data[i];
    ICE("'%s': a loop in scope has no mask", k->plan->name);
}

static void deal_again(kernel *k) {
    distributed_steps *d = k->distributed;
    loop_mask *m = mask_of(k, d->node);
    d->mark = lw_enter(&k->known);
    d->memo = k->known.memo;
    d->bound = k->scope.var[d->node->var];
    d->mask = *m;
    k->known.memo = d->known;
    k->digits.axis[d->axis] = (lower_axis){LOOP_LANE_PLACE, lw_distributed_parts(k), d->unit,
                                           d->written_out.weight};
    k->scope.var[d->node->var] = d->own;
    *m = d->own_mask;
    for (uint32_t i = 0; i < d->kept.len; i++)
        VEC_PUSH(k->l->arena, &k->known.registers, d->kept.data[i]);
}

void lw_distribute(kernel *k, simt_builder *b) {
    distributed_steps *d = k->distributed;
    lower_axis *a = &k->digits.axis[d->axis];
    d->there = true;
    if (d->been) {
        deal_again(k);
        return;
    }
    d->mark = lw_enter(&k->known);
    d->written_out = *a;
    d->memo = k->known.memo;
    d->bound = k->scope.var[d->node->var];
    k->known.memo = memo_without(k, AXIS(d->axis));
    *a = (lower_axis){LOOP_LANE_PLACE, lw_distributed_parts(k), d->unit, a->weight};
    lw_bind(k, b, d->node, d->round->own, d->round->round);
    loop_mask *m = mask_of(k, d->node);
    d->mask = *m;
    *m = k->scope.masks.data[--k->scope.masks.len];
}

// The next time, the lanes of a walk know what they know now.
static void keep_known(kernel *k) {
    distributed_steps *d = k->distributed;
    d->been = true;
    d->known = k->known.memo;
    d->own = k->scope.var[d->node->var];
    d->own_mask = *mask_of(k, d->node);
    d->kept.len = 0;
    for (uint32_t i = d->mark.registers; i < k->known.registers.len; i++)
        VEC_PUSH(k->l->arena, &d->kept, k->known.registers.data[i]);
    k->known.registers.len = d->mark.registers;
    k->known.log.len = d->mark.log;
}

void lw_distribute_back(kernel *k) {
    distributed_steps *d = k->distributed;
    d->there = false;
    if (lw_distributes_walk(k)) keep_known(k);
    else lw_leave(&k->known, d->mark);
    k->known.memo = d->memo;
    k->digits.axis[d->axis] = d->written_out;
    k->scope.var[d->node->var] = d->bound;
    *mask_of(k, d->node) = d->mask;
}
