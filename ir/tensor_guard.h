// Reads that a condition guards (tensor_guard.c).
#ifndef GNNC_TENSOR_GUARD_H
#define GNNC_TENSOR_GUARD_H

#include "tensor_op.h"

// It reads at an index that may be none, or is not known to lie in its space: where the condition
// does not hold that it stands under, it must not be computed.
bool tensor_needs_guard(const tensor_op *op, tensor_expr e);

#endif
