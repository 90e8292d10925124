// What is known of sizes and computed indices (tensor_linear.c, tensor_bounds.c).
#ifndef GNNC_TENSOR_BOUNDS_H
#define GNNC_TENSOR_BOUNDS_H

#include "tensor_build.h"

// ---- Sizes --------------------------------------------------------------------------------------
// s has base + more points
bool tensor_space_size_is(const tensor_op *op, tensor_space s, tensor_space base, int64_t more);
bool tensor_size_is_constant(const tensor_op *op, tensor_expr size, int64_t *out);
bool tensor_size_is_of(const tensor_op *op, tensor_expr size, tensor_space s);
// A free space that a precondition says to have that size.
bool tensor_size_is_required(const tensor_op *op, tensor_expr size, tensor_space *out);

// ---- Indices ------------------------------------------------------------------------------------
typedef struct {   // a condition, and whether it holds or doesn't
    tensor_expr condition;
    bool holds;
} tensor_known;

// Whether 0 <= index < the size of s. Bit i of `used` is set where the proof takes entry i of what
// is known; those behind the first 64 are not looked at.
bool tensor_in_space(const tensor_op *op, tensor_expr index, tensor_space s,
                     const tensor_known *known, uint32_t nknown, uint64_t *used);

// Likewise of no conditions, and each end by itself: 0 <= index; index < the size.
void tensor_ends_in_space(const tensor_op *op, tensor_expr index, tensor_space s, bool *least,
                          bool *most);

bool tensor_never_holds(const tensor_op *op, tensor_known known);   // whatever its indices are

bool tensor_maybe_none(const tensor_op *op, tensor_expr e);   // of an index

#endif
