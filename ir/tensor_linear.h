// Sums of multiples: what sizes and indices are compared by (tensor_linear.c).
#ifndef GNNC_TENSOR_LINEAR_H
#define GNNC_TENSOR_LINEAR_H

#include "tensor_build.h"

enum { LINEAR_TERMS = 6 };
typedef struct {
    uint32_t of;   // the size of a space; from op->spaces.len on, an expression
    int64_t by;    // not 0
} linear_term;
typedef struct {   // a constant and multiples of sizes and expressions, in their order
    bool known;
    int64_t constant;
    uint32_t n;
    linear_term terms[LINEAR_TERMS];
} linear;
extern const linear linear_unknown;

linear linear_constant(int64_t c);
linear linear_symbol(uint32_t of);
linear linear_add(linear a, linear b, int64_t sign);
linear linear_product(linear a, linear b);   // unknown where neither is a constant
linear linear_of_space(const tensor_op *op, tensor_space s);   // by its size and preconditions
// Whether it is so, as preconditions and declared sizes say; false where it names an expression.
bool linear_at_least(const tensor_op *op, linear l, int64_t least);

#endif
