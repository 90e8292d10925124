// Building vectors of SIMT IR: what is made of lanes, and operations in which scalars meet vectors
// by being splat.

#include "simt_internal.h"

simt_value simt_widen(simt_builder *b, simt_value x, uint32_t lanes) {
    simt_type t = simt_typeof(b->func, x);
    if (t.lanes > 1 || lanes == 1) return x;
    t.lanes = (uint8_t)lanes;
    return simt_result(b->func, simt_build_op(b, SIMT_SPLAT, &x, 1, &t, 1), 0);
}

simt_value simt_pick(simt_builder *b, simt_value x, uint32_t lane) {
    simt_type t = simt_typeof(b->func, x);
    if (t.lanes == 1) return x;
    t.lanes = 1;
    simt_instr i = simt_build_op(b, SIMT_EXTRACT, &x, 1, &t, 1);
    b->func->instrs.data[i].imm.i = lane;
    return simt_result(b->func, i, 0);
}

simt_value simt_slice(simt_builder *b, simt_value x, uint32_t first, uint32_t lanes) {
    simt_type t = simt_typeof(b->func, x);
    if (t.lanes == 1) return x;
    if (lanes == 1) return simt_pick(b, x, first);
    t.lanes = (uint8_t)lanes;
    simt_instr i = simt_build_op(b, SIMT_SLICE, &x, 1, &t, 1);
    b->func->instrs.data[i].imm.i = first;
    return simt_result(b->func, i, 0);
}

simt_value simt_insert(simt_builder *b, simt_value v, simt_value x, uint32_t lane) {
    simt_type t = simt_typeof(b->func, v);
    simt_instr i = simt_build_op(b, SIMT_INSERT, (simt_value[]){v, x}, 2, &t, 1);
    b->func->instrs.data[i].imm.i = lane;
    return simt_result(b->func, i, 0);
}

simt_value simt_gather(simt_builder *b, const simt_value *x, uint32_t n) {
    if (n == 1) return x[0];
    simt_value v = simt_widen(b, x[0], n);
    for (uint32_t lane = 1; lane < n; lane++)
        if (x[lane] != x[0]) v = simt_insert(b, v, x[lane], lane);
    return v;
}

uint32_t simt_lanes_of(const simt_builder *b, simt_value x) {
    return simt_typeof(b->func, x).lanes;
}

uint32_t simt_match(simt_builder *b, simt_value *x, simt_value *y) {
    uint32_t n = simt_lanes_of(b, *x) > simt_lanes_of(b, *y) ? simt_lanes_of(b, *x)
                                                             : simt_lanes_of(b, *y);
    *x = simt_widen(b, *x, n);
    *y = simt_widen(b, *y, n);
    return n;
}

simt_value simt_two(simt_builder *b, simt_op op, simt_value x, simt_value y) {
    simt_match(b, &x, &y);
    return simt_build_binary(b, op, x, y);
}

simt_value simt_as(simt_builder *b, simt_element e, simt_value x) {
    return simt_build_cvt(b, (simt_type){e, (uint8_t)simt_lanes_of(b, x)}, x);
}

simt_value simt_choose(simt_builder *b, simt_value c, simt_value x, simt_value y) {
    uint32_t n = simt_match(b, &x, &y);
    if (simt_lanes_of(b, c) > n) {
        n = simt_lanes_of(b, c);
        x = simt_widen(b, x, n);
        y = simt_widen(b, y, n);
    }
    return simt_build_select(b, c, x, y);
}
