// Factors of products that are worth a stage of their own (tensor_factor.c).
#ifndef GNNC_TENSOR_FACTOR_H
#define GNNC_TENSOR_FACTOR_H

#include "tensor_op.h"

bool tensor_split_factors(tensor_op *op);   // false: there are none

#endif
