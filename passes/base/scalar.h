// What the lowering of a loop plan and the naive plan build alike of scalar expressions.
#ifndef GNNC_PASSES_SCALAR_H
#define GNNC_PASSES_SCALAR_H

#include "plan.h"

// Facts of an expression, whatever is known where it stands: it may be none; something in it is
// read at what may be none, so that it must not be evaluated where its condition fails.
enum { MAYBE_NONE = 1, READS_AT_NONE = 2 };
uint8_t *scalar_none_facts(arena *a, const tensor_op *op);   // per expression

// What an index is: in a register, and in memory.
typedef struct {
    simt_element index;
    uint32_t index_bits;
} scalar_types;
// of an expression of that type
simt_element scalar_value_element(ir_dtype t, simt_element index);

// What the operation makes of the values of its arguments (base/plain.c). Scalars are splat where
// they meet vectors.
simt_value scalar_plain(simt_builder *b, const scalar_types *t, const tensor_node *n,
                        const simt_value *x);
// A function of the maths library.
simt_value scalar_maths(simt_builder *b, const char *name, const simt_value *x, uint32_t n);

// Integers of 64 bits, both of as many lanes. x - floor(x / y) * y; floor(x / y); 0 where y is 0.
simt_value scalar_mod(simt_builder *b, simt_value x, simt_value y);
simt_value scalar_quot(simt_builder *b, simt_value x, simt_value y);
// whether bit i of 0 … 31 is set; i = p + c, c a constant: p is no less than 0
simt_value scalar_bit(simt_builder *b, simt_value x, simt_value i);
// x but what is added to it at last
simt_value scalar_without_constant(const simt_builder *b, simt_value x, int64_t *constant);

// rand(): splitmix64's finaliser over the hash of what came before and one argument more; then f32
// in [0, 1).
// before 0: the first argument
simt_value scalar_hash(simt_builder *b, simt_value before, simt_value argument);
simt_value scalar_uniform(simt_builder *b, simt_value hash);

#endif
