// Neighbours that a thread has of a packed value, taken as one access.
#ifndef GNNC_LOOP_BESIDE_H
#define GNNC_LOOP_BESIDE_H

#include "loop_plan.h"

// How many neighbours along the axis before the last one access of a packed value has: those that a
// thread holds, where one vector has all of the last axis. 0: each has an access of its own. The
// loops are over the two axes.
uint32_t loop_side_by_side(const tensor_op *op, tensor_val v, const loop_node *before,
                           const loop_node *last);
// Likewise of the last axis itself, by elements.
uint32_t loop_in_a_row(const tensor_op *op, tensor_val v, const loop_node *last);
enum { LOOP_EIGHT = 8 };
// Or how many eights of 16 bits, of which a thread has two neighbours each and three other lanes
// the rest: four of them change places, an access each. 0: they do not.
uint32_t loop_in_eights(const tensor_op *op, tensor_val v, const loop_node *last);

#endif
