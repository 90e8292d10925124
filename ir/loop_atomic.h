// States combined in memory, by several blocks at a time.
#ifndef GNNC_LOOP_ATOMIC_H
#define GNNC_LOOP_ATOMIC_H

#include "loop_plan.h"

// NULL, or why a stage's states cannot be
const char *loop_atomic_fault(const tensor_op *op, const tensor_stage *st);
// they give the same bits in any order
bool loop_atomic_exact(const tensor_op *op, const tensor_stage *st);
// a node whose bits depend on time; NULL: none
const loop_node *loop_unordered(const loop_plan *p);

#endif
