// States of steps that are distributed to lanes, combined by a butterfly. At its first levels lanes
// send half of the states one way and half the other way, so that each level halves their number.
// The pairs and their order are those of one state at a time, and so are the bits.

#include "lower/sums/sums.h"

static const lower_axis *reducing_axis(const kernel *k, axis_set bound) {
    for (uint32_t i = 0; i < LOWER_MAX_AXES; i++)
        if (bound & AXIS(i) && k->digits.axis[i].place == LOOP_LANE_PLACE &&
            k->digits.axis[i].extent > 1)
            return &k->digits.axis[i];
    ICE("'%s': steps are distributed, and no lanes reduce", k->plan->name);
}

static uint32_t power_from(uint32_t n) {
    uint32_t p = 1;
    while (p < n) p *= 2;
    return p;
}

bool lw_distributes(const kernel *k, axis_set left) {
    return k->distributed && left & AXIS(k->distributed->axis) &&
           k->digits.at[k->distributed->axis] < 0;
}

// Lanes whose bit is set keep one state and send the other. The others do it the other way round.
static void exchange(kernel *k, simt_builder *b, const reduction *r, simt_value **pair,
                     simt_value upper, uint32_t mask, simt_value **out) {
    simt_value *own = ARENA_ARRAY(k->l->arena, simt_value, r->n),
               *sent = ARENA_ARRAY(k->l->arena, simt_value, r->n);
    for (uint32_t c = 0; c < r->n; c++) {
        own[c] = simt_build_select(b, upper, pair[1][c], pair[0][c]);
        sent[c] = simt_build_select(b, upper, pair[0][c], pair[1][c]);
    }
    *out = lw_fold_pairs(k, b, r, own, sent, simt_build_int(b, SIMT_T(I32), mask));
}

simt_value *lw_fold_distributed(kernel *k, simt_builder *b, const reduction *r, simt_value **part) {
    const lower_axis *lanes = reducing_axis(k, r->bound);
    uint32_t some = k->digits.axis[k->distributed->axis].extent, n = power_from(some),
             m = lw_stride(k, lanes);
    k->distributed->unit = lanes->unit;
    // a step that is none: any state will do
    for (uint32_t i = some; i < n; i++) part[i] = part[some - 1];
    for (; n > 1; n /= 2, m *= 2) {
        simt_value bit = simt_build_binary(b, SIMT_AND, k->thread.number,
                                           simt_build_int(b, SIMT_T(I32), m));
        simt_value upper = simt_build_cmp(b, SIMT_NE, bit, simt_build_int(b, SIMT_T(I32), 0));
        for (uint32_t i = 0; i < n / 2; i++)
            exchange(k, b, r, part + 2 * (size_t)i, upper, m, &part[i]);
    }
    for (; m < lw_stride(k, lanes) * lanes->extent; m *= 2)
        part[0] = lw_fold_pairs(k, b, r, part[0], part[0], simt_build_int(b, SIMT_T(I32), m));
    return part[0];
}

uint32_t lw_distributed_parts(const kernel *k) {
    return power_from(k->digits.axis[k->distributed->axis].extent);
}
bool lw_distributes_walk(const kernel *k) {
    return k->distributed && k->distributed->node->distributed.to.extent;
}

simt_value *lw_fold_steps(kernel *k, simt_builder *b, const reduction *r, simt_value *x,
                          const loop_digit *lanes) {
    for (uint32_t m = lanes->unit; m < lanes->unit * lanes->extent; m *= 2)
        x = lw_fold_pairs(k, b, r, x, x, simt_build_int(b, SIMT_T(I32), m));
    return x;
}
