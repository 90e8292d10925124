// Building SIMT IR. A builder appends to one region. Constants and types must agree exactly; a
// mismatch is an ICE. Pure operations on constants fold and identical constants are shared.
#ifndef GNNC_SIMT_BUILD_H
#define GNNC_SIMT_BUILD_H

#include "simt_func.h"

typedef struct {
    simt_func *func;
    simt_region region;
    span at;   // given to what is built
} simt_builder;
simt_builder simt_builder_at_end(simt_func *f);   // in the body
static inline simt_type simt_typeof(const simt_func *f, simt_value v) {
    return f->values.data[v].type;
}

simt_value simt_build_int(simt_builder *b, simt_type t, int64_t x);
// x is rounded to nearest even into t
simt_value simt_build_float(simt_builder *b, simt_type t, double x);
simt_value simt_build_pred(simt_builder *b, bool x);
simt_value simt_build_sreg(simt_builder *b, simt_sreg r);
simt_value simt_build_unary(simt_builder *b, simt_op op, simt_value x);
simt_value simt_build_binary(simt_builder *b, simt_op op, simt_value x, simt_value y);
// y of the type of x
simt_value simt_build_with(simt_builder *b, simt_op op, simt_value x, int64_t y);
simt_value simt_build_fma(simt_builder *b, simt_value x, simt_value y, simt_value z);
// x y + z
simt_value simt_build_mma(simt_builder *b, simt_mma k, simt_value x, simt_value y, simt_value z);
simt_value simt_build_cmp(simt_builder *b, simt_predicate p, simt_value x, simt_value y);
simt_value simt_build_select(simt_builder *b, simt_value c, simt_value x, simt_value y);
// x itself where it has that type
simt_value simt_build_cvt(simt_builder *b, simt_type t, simt_value x);
simt_value simt_build_ucvt(simt_builder *b, simt_type t, simt_value x);
simt_value simt_build_bitcast(simt_builder *b, simt_type t, simt_value x);
simt_value simt_build_addr(simt_builder *b, simt_value ptr, simt_value index, uint32_t scale,
                           int64_t offset);
simt_value simt_build_load(simt_builder *b, simt_type t, simt_value ptr);
void simt_build_store(simt_builder *b, simt_value ptr, simt_value x);
// one result
simt_value simt_build_call(simt_builder *b, const simt_func *callee, const simt_value *args,
                           uint32_t n);
// Vectors (simt_vector.c). A scalar is splat where it meets a vector. Who picks a lane of a scalar,
// or a slice, gets the scalar.
uint32_t simt_lanes_of(const simt_builder *b, simt_value x);
simt_value simt_widen(simt_builder *b, simt_value x, uint32_t lanes);   // a vector stays as it is
simt_value simt_pick(simt_builder *b, simt_value x, uint32_t lane);
simt_value simt_slice(simt_builder *b, simt_value x, uint32_t first, uint32_t lanes);
simt_value simt_insert(simt_builder *b, simt_value v, simt_value x, uint32_t lane);
simt_value simt_gather(simt_builder *b, const simt_value *x, uint32_t n);   // scalars as a vector
// both get as many lanes: how many
uint32_t simt_match(simt_builder *b, simt_value *x, simt_value *y);
simt_value simt_two(simt_builder *b, simt_op op, simt_value x, simt_value y);
simt_value simt_choose(simt_builder *b, simt_value c, simt_value x, simt_value y);
simt_value simt_as(simt_builder *b, simt_element e, simt_value x);   // each lane is converted
// Any other operation: results by type; returns the instruction, whose attributes may then be set.
simt_instr simt_build_op(simt_builder *b, simt_op op, const simt_value *args, uint32_t nargs,
                         const simt_type *results, uint32_t nresults);
simt_value simt_result(const simt_func *f, simt_instr i, uint32_t k);
// The bits a float constant (imm.f) has in its format, NaN payloads included.
uint64_t simt_const_bits(simt_element e, double x);
void simt_build_return(simt_builder *b, const simt_value *values, uint32_t n);
void simt_build_yield(simt_builder *b, const simt_value *values, uint32_t n);

// for (i = lo; i < hi; i += step) with carried values: builds the loop and gives a builder inside
// its body.
//     simt_builder in = simt_build_for(&b, lo, hi, step, init, 1, &loop);
//     simt_value i = simt_for_index(f, loop), acc = simt_for_carried(f, loop, 0);
//     ... simt_build_yield(&in, &next, 1);      simt_value sum = simt_result(f, loop, 0);
simt_builder simt_build_for(simt_builder *b, simt_value lo, simt_value hi, simt_value step,
                            const simt_value *init, uint32_t n, simt_instr *loop);
simt_value simt_for_index(const simt_func *f, simt_instr loop);
simt_value simt_for_carried(const simt_func *f, simt_instr loop, uint32_t k);
// while: `test` yields pred then n values; where pred holds they enter `body`, which yields the
// next n, else they are the results. simt_while_carried gives what test (in_body false) or body
// (true) got.
simt_instr simt_build_while(simt_builder *b, const simt_value *init, uint32_t n, simt_builder *test,
                            simt_builder *body);
simt_value simt_while_carried(const simt_func *f, simt_instr loop, bool in_body, uint32_t k);
// Both arms must be ended by simt_build_yield with values of the given types. else_arm may be NULL
// where n is 0.
simt_instr simt_build_if(simt_builder *b, simt_value condition, const simt_type *results,
                         uint32_t n, simt_builder *then_arm, simt_builder *else_arm);
simt_region simt_region_new(simt_func *f);   // with nothing in it, of no instruction yet

#endif
