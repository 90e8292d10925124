// Sums that other sums add up (tensor_nested.c).
#ifndef GNNC_TENSOR_NESTED_H
#define GNNC_TENSOR_NESTED_H

#include "tensor_op.h"

bool tensor_merge_sums(tensor_op *op);   // false: there are none

#endif
