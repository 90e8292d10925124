// Threads of a block among each other: which of them writes, where they meet, what lanes exchange.

#include "lower/scope/scope.h"

simt_value lw_both(simt_builder *b, simt_value x, simt_value y) {
    return !x ? y : !y ? x : simt_build_binary(b, SIMT_AND, x, y);
}

// ---- One thread ---------------------------------------------------------------------------------
static simt_value is_zero(simt_builder *b, simt_value x, uint32_t unit, uint32_t extent,
                          bool last) {
    simt_type i32 = SIMT_T(I32);
    if (unit > 1) x = simt_build_binary(b, SIMT_UDIV, x, simt_build_int(b, i32, unit));
    if (!last) x = simt_build_binary(b, SIMT_UREM, x, simt_build_int(b, i32, extent));
    return simt_build_cmp(b, SIMT_EQ, x, simt_build_int(b, i32, 0));
}

// A number 0 … count - 1 is made of digits. Those that are not in s must be 0.
static simt_value rest_is_zero(lower_digits *d, simt_builder *b, simt_value number, uint32_t count,
                               loop_place place, axis_set s) {
    simt_value c = 0;
    uint32_t unit = 1;
    while (number && unit < count) {
        const lower_axis *next = NULL;
        for (uint32_t i = 0; i < LOWER_MAX_AXES; i++) {
            const lower_axis *a = &d->axis[i];
            if (!(s & AXIS(i)) || a->place != place || a->extent == 1 || a->unit < unit) continue;
            if (!next || a->unit < next->unit) next = a;
        }
        uint32_t until = next ? next->unit : count;
        if (until > unit) c = lw_both(b, c, is_zero(b, number, unit, until / unit, !next));
        unit = next ? next->unit * next->extent : count;
    }
    return c;
}

simt_value lw_first_thread(kernel *k, simt_builder *b, axis_set s) {
    if (!lw_threads(k)) return 0;
    simt_value lane = rest_is_zero(&k->digits, b, k->thread.lane, k->plan->lanes, LOOP_LANE_PLACE,
                                   s);
    return lw_both(b, lane,
                   rest_is_zero(&k->digits, b, k->thread.group, k->plan->threads / k->plan->lanes,
                                LOOP_GROUP_PLACE, s));
}

// ---- Together -----------------------------------------------------------------------------------
void lw_barrier(simt_builder *b) { simt_build_op(b, SIMT_BARRIER, NULL, 0, NULL, 0); }

// A truth value moves as a word.
simt_value lw_shuffled(simt_builder *b, simt_op op, simt_value x, simt_value lane, uint32_t width) {
    simt_type t = simt_typeof(b->func, x), word = {SIMT_I32, t.lanes};
    simt_value moved = t.element == SIMT_PRED ? simt_build_cvt(b, word, x) : x;
    simt_value args[2] = {moved, lane};
    simt_type as = simt_typeof(b->func, moved);
    simt_instr i = simt_build_op(b, op, args, 2, &as, 1);
    b->func->instrs.data[i].imm.i = width;
    return simt_build_cvt(b, t, simt_result(b->func, i, 0));
}

simt_value lw_exchanged(simt_builder *b, simt_value x, simt_value mask) {
    return lw_shuffled(b, SIMT_SHFL_BFLY, x, mask, 32);
}
