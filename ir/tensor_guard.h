// Reads that a condition guards (tensor_guard.c).
#ifndef GNNC_TENSOR_GUARD_H
#define GNNC_TENSOR_GUARD_H

#include "tensor_op.h"

// It reads at an index that may be none, or is not known to lie in its space: where the condition
// does not hold that it stands under, it must not be computed.
bool tensor_needs_guard(const tensor_op *op, tensor_expr e);

// A side of a key that stands under a condition (0: under none): none where that does not hold, if
// it reads at a computed index that the condition alone may prove.
tensor_expr tensor_guarded_side(tensor_op *op, tensor_expr side, tensor_expr holds);

#endif
