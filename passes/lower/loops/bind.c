// A loop's variable is bound to its positions in a round, and steps past the end get a mask.

#include "lower/loops/loops.h"

void lw_bind(kernel *k, simt_builder *b, const loop_node *n, axis_set own, round_of r) {
    binding *v = &k->scope.var[n->var];
    axis_set bounds = lw_depends(k, n->lo) | lw_depends(k, n->hi);
    bool along = k->digits.vector != LOWER_NO_AXIS && own & AXIS(k->digits.vector);
    axis_set copies = lw_written_out(&k->digits, own);
    *v = (binding){.kind = BOUND_LOOP,
                   .axes = own | bounds,
                   .own = copies,
                   .along = along,
                   .base = r.base,
                   .end = r.hi};
    v->of = ARENA_ARRAY(k->l->arena, simt_value, lw_instances(&k->digits, copies));
    if (loop_has_padding(k->l->op, n) && !r.full) {
        v->pad = n->rounds.pad;
        v->whole = r.whole;
        v->last = simt_build_binary(
            b, SIMT_SUB, lw_to_ix(k, b, lw_size(k, b, k->l->op->vars.data[n->var].space)),
            lw_ix(k, b, 1));
    }
    loop_mask mask = {.node = n, .axes = copies};
    if (r.masked) mask.of = ARENA_ARRAY(k->l->arena, simt_value, lw_instances(&k->digits, copies));
    if (r.masked && n->rounds.masked && lw_threads(k) && !along) {
        v->step = ARENA_ARRAY(k->l->arena, simt_value, lw_instances(&k->digits, copies));
        v->inside = mask.of;
    }
    simt_value base = lw_thread_position(k, b, n, r.base);
    simt_value last = 0;
    if (r.masked)
        last = simt_build_binary(b, SIMT_SUB, r.hi, lw_ix(k, b, along ? lw_lanes(&k->digits) : 1));
    for (instance_walk w = lw_walk_begin(&k->digits, copies); lw_walk_next(&w);) {
        simt_value step, inside = 0;
        v->of[lw_instance(&k->digits, copies)] = lw_copy_position(k, b, copies, base, &r, last,
                                                                  &step, &inside);
        if (v->step) v->step[lw_instance(&k->digits, copies)] = step;
        if (r.masked) mask.of[lw_instance(&k->digits, copies)] = inside;
    }
    lw_bind_columns(k, b, n, &r, last);
    VEC_PUSH(k->l->arena, &k->scope.masks, mask);
}
