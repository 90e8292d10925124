// Extents rounded up to a multiple, and the room for them.
#ifndef GNNC_LOOP_PAD_H
#define GNNC_LOOP_PAD_H

#include "loop_plan.h"

// its size rounded up to a multiple
tensor_expr loop_padded(tensor_op *op, tensor_space s, uint32_t pad);
bool loop_has_padding(const tensor_op *op, const loop_node *n);   // past the size of its space
// Per value and axis, at [8 * val + axis]: what all its stores are padded to; 0: one of them is
// not.
const uint32_t *loop_stored_pads(arena *a, const loop_plan *p);
// it has the room, or may have it
bool loop_may_pad(const loop_plan *p, tensor_val v, uint32_t axis, uint32_t pad);

#endif
