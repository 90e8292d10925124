// Positions of a loop: what a thread's digits and a copy's digits add to the first position of a
// round, and which positions are inside.

#include "lower/scope/scope.h"

// ---- Digits of threads --------------------------------------------------------------------------
static bool of_threads(const lower_axis *a) {
    return a->place == LOOP_LANE_PLACE || a->place == LOOP_GROUP_PLACE;
}

bool lw_varies_in_warp(const kernel *k, axis_set s) {
    for (uint32_t i = 0; i < LOWER_MAX_AXES; i++)
        if (s & AXIS(i) && of_threads(&k->digits.axis[i]) && lw_stride(k, &k->digits.axis[i]) % 32)
            return true;
    return false;
}

bool lw_varies_in_block(const lower_digits *d, axis_set s) {
    for (uint32_t i = 0; i < LOWER_MAX_AXES; i++)
        if (s & AXIS(i) && of_threads(&d->axis[i])) return true;
    return false;
}

simt_value lw_digit(kernel *k, simt_builder *b, const lower_axis *a) {
    bool lane = a->place == LOOP_LANE_PLACE;
    simt_type i32 = SIMT_T(I32);
    simt_value x = lane ? k->thread.lane : k->thread.group;
    if (!x || a->extent == 1) return simt_build_int(b, i32, 0);
    uint32_t of = lane ? k->plan->lanes : k->plan->threads / k->plan->lanes;
    if (a->unit > 1) x = simt_build_binary(b, SIMT_UDIV, x, simt_build_int(b, i32, a->unit));
    if (a->unit * a->extent >= of) return x;
    return simt_build_binary(b, SIMT_UREM, x, simt_build_int(b, i32, a->extent));
}

simt_value lw_times(kernel *k, simt_builder *b, simt_value x, uint32_t by) {
    return simt_build_binary(b, SIMT_MUL, lw_to_ix(k, b, x), lw_ix(k, b, by));
}

// ---- Positions ----------------------------------------------------------------------------------
// base, and what this thread's digits add.
simt_value lw_thread_position(kernel *k, simt_builder *b, const loop_node *n, simt_value base) {
    const loop_axes *a = lw_axes_of(k, n);
    for (uint32_t i = 0; i < n->ndigits + (n->rest == LOOP_UNROLL_PLACE || n->rounds.unroll > 1);
         i++) {
        const lower_axis *x = &k->digits.axis[a->first + i];
        if (!of_threads(x)) continue;
        base = simt_build_binary(b, SIMT_ADD, base, lw_times(k, b, lw_digit(k, b, x), x->weight));
    }
    return base;
}

simt_value lw_copy_position(kernel *k, simt_builder *b, axis_set copies, simt_value base,
                            const round_of *r, simt_value last, simt_value *step,
                            simt_value *inside) {
    simt_value at = base;
    for (uint32_t i = 0; i < LOWER_MAX_AXES; i++)
        if (copies & AXIS(i))
            at = simt_build_binary(
                b, SIMT_ADD, at, lw_ix(k, b, (int64_t)k->digits.at[i] * k->digits.axis[i].weight));
    *step = at;
    if (!r->masked) return at;
    *inside = simt_build_cmp(b, SIMT_LT, at, r->hi);
    at = simt_build_binary(b, SIMT_MIN, at, last);
    return r->maybe_none ? simt_build_binary(b, SIMT_MAX, at, lw_ix(k, b, 0)) : at;
}

simt_value lw_masks(kernel *k, simt_builder *b, uint32_t from) {
    simt_value c = 0;
    for (uint32_t i = from; i < k->scope.masks.len; i++)
        if (k->scope.masks.data[i].of)
            c = lw_both(
                b, c,
                k->scope.masks.data[i].of[lw_instance(&k->digits, k->scope.masks.data[i].axes)]);
    return c;
}

// ---- Lanes and padding --------------------------------------------------------------------------
simt_value lw_position_lane(kernel *k, simt_builder *b, position p, uint32_t lane) {
    if (p.shape == POSITION_ONE) return p.at;
    if (p.shape == POSITION_ANY) return simt_pick(b, p.at, lane);
    return simt_build_binary(b, SIMT_ADD, p.at, lw_ix(k, b, lane));
}

simt_value lw_not_padding(simt_builder *b, position p, simt_value at) {
    return simt_build_cmp(b, SIMT_LE, at, simt_widen(b, p.last, simt_typeof(b->func, at).lanes));
}
