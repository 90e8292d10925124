// Vectors of SIMT IR: what is made of lanes, and operations in which scalars meet vectors by being splat.

#include "lower/scope/scope.h"

simt_value lw_widen(simt_builder *b, simt_value x, uint32_t lanes) {
    simt_type t = simt_typeof(b->func, x);
    if (t.lanes > 1 || lanes == 1) return x;
    t.lanes = (uint8_t)lanes;
    return simt_result(b->func, simt_build_op(b, SIMT_SPLAT, &x, 1, &t, 1), 0);
}

simt_value lw_pick(simt_builder *b, simt_value x, uint32_t lane) {
    simt_type t = simt_typeof(b->func, x);
    if (t.lanes == 1) return x;
    t.lanes = 1;
    simt_instr i = simt_build_op(b, SIMT_EXTRACT, &x, 1, &t, 1);
    b->func->instrs.data[i].imm.i = lane;
    return simt_result(b->func, i, 0);
}

simt_value lw_slice(simt_builder *b, simt_value x, uint32_t first, uint32_t lanes) {
    simt_type t = simt_typeof(b->func, x);
    if (t.lanes == 1) return x;
    if (lanes == 1) return lw_pick(b, x, first);
    t.lanes = (uint8_t)lanes;
    simt_instr i = simt_build_op(b, SIMT_SLICE, &x, 1, &t, 1);
    b->func->instrs.data[i].imm.i = first;
    return simt_result(b->func, i, 0);
}

simt_value lw_insert(simt_builder *b, simt_value v, simt_value x, uint32_t lane) {
    simt_type t = simt_typeof(b->func, v);
    simt_instr i = simt_build_op(b, SIMT_INSERT, (simt_value[]){v, x}, 2, &t, 1);
    b->func->instrs.data[i].imm.i = lane;
    return simt_result(b->func, i, 0);
}

simt_value lw_gather(simt_builder *b, const simt_value *x, uint32_t n) {
    if (n == 1) return x[0];
    simt_value v = lw_widen(b, x[0], n);
    for (uint32_t lane = 1; lane < n; lane++)
        if (x[lane] != x[0]) v = lw_insert(b, v, x[lane], lane);
    return v;
}

uint32_t lw_lanes_of(const simt_builder *b, simt_value x) { return simt_typeof(b->func, x).lanes; }

uint32_t lw_match(simt_builder *b, simt_value *x, simt_value *y) {
    uint32_t n = lw_lanes_of(b, *x) > lw_lanes_of(b, *y) ? lw_lanes_of(b, *x) : lw_lanes_of(b, *y);
    *x = lw_widen(b, *x, n);
    *y = lw_widen(b, *y, n);
    return n;
}

simt_value lw_two(simt_builder *b, simt_op op, simt_value x, simt_value y) {
    lw_match(b, &x, &y);
    return simt_build_binary(b, op, x, y);
}

simt_value lw_convert(simt_builder *b, simt_element e, simt_value x) {
    return simt_build_cvt(b, (simt_type){e, (uint8_t)lw_lanes_of(b, x)}, x);
}

simt_value lw_choose(simt_builder *b, simt_value c, simt_value x, simt_value y) {
    uint32_t n = lw_match(b, &x, &y);
    if (lw_lanes_of(b, c) > n) {
        n = lw_lanes_of(b, c);
        x = lw_widen(b, x, n);
        y = lw_widen(b, y, n);
    }
    return simt_build_select(b, c, x, y);
}

// The maths library is scalar: lane by lane.
simt_value lw_maths(kernel *k, simt_builder *b, const char *name, const simt_value *args, uint32_t n) {
    simt_func *f = simt_math(k->f->module, name, (simt_element)simt_typeof(b->func, args[0]).element);
    if (!f) ICE("the maths library has no '%s'", name);
    simt_value of[16];
    uint32_t lanes = 1;
    for (uint32_t i = 0; i < n; i++)
        if (lw_lanes_of(b, args[i]) > lanes) lanes = lw_lanes_of(b, args[i]);
    for (uint32_t lane = 0; lane < lanes; lane++) {
        simt_value one[2] = {0, 0};
        for (uint32_t i = 0; i < n; i++) one[i] = lw_pick(b, args[i], lane);
        of[lane] = simt_build_call(b, f, one, n);
    }
    return lw_gather(b, of, lanes);
}
