// Reductions are closed: a thread combines the copies of bound digits, then vector lanes; then
// lanes combine by shuffles, and groups through shared memory. The order is always the same.
// Afterwards every thread knows the state.

#include "lower/sums/sums.h"

static simt_value *fold_copies(kernel *k, simt_builder *b, const reduction *r, axis_set bound) {
    simt_value **part = ARENA_ARRAY(k->l->arena, simt_value *, lw_instances(&k->digits, bound) + 1);
    uint32_t n = 0;
    for (instance_walk w = lw_walk_begin(&k->digits, bound); lw_walk_next(&w);)
        part[n++] = &r->slot[lw_instance(&k->digits, r->copies) * r->n];
    for (; n > 1; n = (n + 1) / 2)
        for (uint32_t i = 0; i < (n + 1) / 2; i++)
            part[i] = 2 * i + 1 < n ? lw_combined(k, b, r, part[2 * i], part[2 * i + 1])
                                    : part[2 * i];
    return part[0];
}

static simt_value *fold_lanes(kernel *k, simt_builder *b, const reduction *r, simt_value *x) {
    for (uint32_t lanes = simt_typeof(k->f, x[0]).lanes / 2u; lanes > 0; lanes /= 2) {
        simt_value *lo = lw_state_new(k, r), *hi = lw_state_new(k, r);
        for (uint32_t c = 0; c < r->n; c++) {
            lo[c] = simt_slice(b, x[c], 0, lanes);
            hi[c] = simt_slice(b, x[c], lanes, lanes);
        }
        x = lw_combined(k, b, r, lo, hi);
    }
    return x;
}

static simt_value *fold_between(kernel *k, simt_builder *b, const reduction *r, simt_value *x) {
    if (r->steps.extent > 1) x = lw_fold_steps(k, b, r, x, &r->steps);
    return lw_fold_threads(k, b, r, r->bound, x);
}

// The part of the state at hand that this thread has.
static simt_value *fold_own(kernel *k, simt_builder *b, const reduction *r, axis_set bound) {
    simt_value *x = fold_copies(k, b, r, bound);
    return lw_vector_of(&k->digits, r->bound) ? fold_lanes(k, b, r, x) : x;
}

static simt_value *fold_steps(kernel *k, simt_builder *b, const reduction *r, axis_set bound) {
    simt_value **part = ARENA_ARRAY(k->l->arena, simt_value *, lw_distributed_parts(k));
    uint32_t n = 0;
    for (instance_walk w = lw_walk_begin(&k->digits, AXIS(k->distributed->axis)); lw_walk_next(&w);)
        part[n++] = fold_own(k, b, r, bound);
    return lw_fold_distributed(k, b, r, part);
}

void lw_close(kernel *k, simt_builder *b, reduction *r) {
    axis_set left = lw_written_out(&k->digits, r->left),
             bound = lw_written_out(&k->digits, r->copies & ~left);
    axis_set in_order = lw_placed(&k->digits, r->bound, LOOP_UNROLL_PLACE) |
                        lw_placed(&k->digits, r->bound, LOOP_SERIAL_PLACE);
    if (!r->r->commutative && (r->bound & ~in_order))
        ICE("'%s': parts of %s are combined out of order", k->plan->name,
            k->l->op->stages.data[r->stage].name);
    lw_join_groups(k, b, r);
    bool distributed = lw_distributes(k, left);
    if (distributed) left &= ~AXIS(k->distributed->axis);
    simt_value *slot = ARENA_ARRAY(k->l->arena, simt_value, lw_instances(&k->digits, left) * r->n);
    for (instance_walk w = lw_walk_begin(&k->digits, left); lw_walk_next(&w);) {
        simt_value *x = distributed ? fold_steps(k, b, r, bound)
                                    : fold_between(k, b, r, fold_own(k, b, r, bound));
        for (uint32_t c = 0; c < r->n; c++) slot[lw_instance(&k->digits, left) * r->n + c] = x[c];
    }
    r->slot = slot;
    r->copies = left;
    r->open = false;
}

void lw_finish(kernel *k, simt_builder *b, const reduction *r, simt_value *results) {
    const tensor_stage *st = &k->l->op->stages.data[r->stage];
    simt_value *state = lw_state_new(k, r);
    bool laned = lw_vector_of(&k->digits, r->left) && k->digits.at[k->digits.vector] >= 0;
    for (uint32_t c = 0; c < r->n; c++) {
        state[c] = r->slot[lw_instance(&k->digits, r->copies) * r->n + c];
        if (laned) state[c] = simt_pick(b, state[c], (uint32_t)k->digits.at[k->digits.vector]);
    }
    lw_reducer(k, b, r->r->finish, r->r->nresults, NULL, state, NULL, results);
    for (uint32_t i = 0; i < st->nelse; i++)
        results[i] = lw_else(k, b, state[r->r->nstate], results[i], st->orelse[i]);
}
