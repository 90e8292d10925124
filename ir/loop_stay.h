// Pieces of matrices that stay while a loop goes round.
#ifndef GNNC_LOOP_STAY_H
#define GNNC_LOOP_STAY_H

#include "loop_plan.h"

// a thread has all positions of the loop at once: it has one round, of constant bounds
bool loop_held_at_once(const tensor_op *op, const loop_node *n);
// the input that matrix operations multiply by on the right; TENSOR_NO_VAL: it is none
tensor_val loop_matrix_right(const tensor_op *op, const loop_node *reduce);
bool loop_stays(const loop_node *n, tensor_val v);   // for all rounds of the loop
// NULL, or why the pieces of the input cannot stay; its name goes before the words
const char *loop_stay_fault(arena *a, const loop_plan *p, const loop_node *n, tensor_val v);

#endif
