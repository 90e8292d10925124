// Maxima found on the run: sums of the same walk follow them.
#ifndef GNNC_LOOP_ONLINE_H
#define GNNC_LOOP_ONLINE_H

#include "loop_plan.h"

// of floats, by itself, and known as it is held
bool loop_is_maximum(const tensor_op *op, const tensor_stage *st);
// Whether a term is held times exp(m - m') where it is to be one of the maximum m' and was one of
// m, which val is.
bool loop_rescales(arena *a, const tensor_op *op, tensor_expr term, tensor_val val);
// and no choice leaves the exponential out
bool loop_always_rescales(arena *a, const tensor_op *op, tensor_expr term, tensor_val val);
// the first in it; 0: it does not read it
tensor_expr loop_load_of(const tensor_op *op, tensor_expr e, tensor_val val);
// NULL: it is none of its maxima
const loop_maximum *loop_running(const loop_node *reduce, const tensor_op *op, tensor_val val);

#endif
