// A loop's variable bound to its positions in a round, and the mask of those past the end.

#include "lower/loops/loops.h"

void lw_bind(kernel *k, simt_builder *b, const loop_node *n, axis_set own, round_of r) {
    binding *v = &k->var[n->var];
    axis_set bounds = lw_depends(k, n->lo) | lw_depends(k, n->hi);
    bool along = k->vector != LOWER_NO_AXIS && own & AXIS(k->vector);
    axis_set copies = lw_written_out(k, own);
    *v = (binding){
        .kind = BOUND_LOOP, .axes = own | bounds, .own = copies, .along = along, .base = r.base, .end = r.hi};
    v->of = ARENA_ARRAY(k->l->arena, simt_value, lw_instances(k, copies));
    if (loop_has_padding(k->l->op, n) && !r.full) {
        v->pad = n->pad;
        v->whole = r.whole;
        v->last = simt_build_binary(
            b, SIMT_SUB, lw_to_ix(k, b, lw_size(k, b, k->l->op->vars.data[n->var].space)), lw_ix(k, b, 1));
    }
    loop_mask mask = {.node = n, .axes = copies};
    if (r.masked) mask.of = ARENA_ARRAY(k->l->arena, simt_value, lw_instances(k, copies));
    if (r.masked && n->masked && lw_threads(k) && !along) {
        v->step = ARENA_ARRAY(k->l->arena, simt_value, lw_instances(k, copies));
        v->inside = mask.of;
    }
    simt_value base = lw_thread_position(k, b, n, r.base);
    simt_value last = 0;
    if (r.masked) last = simt_build_binary(b, SIMT_SUB, r.hi, lw_ix(k, b, along ? lw_lanes(k) : 1));
    for (instance_walk w = lw_walk_begin(k, copies); lw_walk_next(&w);) {
        simt_value step, inside = 0;
        v->of[lw_instance(k, copies)] = lw_copy_position(k, b, copies, base, &r, last, &step, &inside);
        if (v->step) v->step[lw_instance(k, copies)] = step;
        if (r.masked) mask.of[lw_instance(k, copies)] = inside;
    }
    lw_bind_columns(k, b, n, &r, last);
    VEC_PUSH(k->l->arena, &k->masks, mask);
}
