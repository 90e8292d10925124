// Sizes of what is prepared of maps, as expressions of an op: parts, tiles, windows.
#ifndef GNNC_LOOP_PREPARED_H
#define GNNC_LOOP_PREPARED_H

#include "loop_plan.h"

// Parts of rows, the values of a map, as part_rows has them.
tensor_expr loop_parts(tensor_op *op, tensor_val map, int64_t extent);
// those of rows of several
tensor_expr loop_cut_parts(tensor_op *op, tensor_val map, int64_t extent);
// those of the first so many, in an order of theirs
tensor_expr loop_class_parts(tensor_op *op, tensor_val map, int64_t extent, tensor_expr rows);
// how many rows that are
tensor_expr loop_cut_rows(tensor_op *op, tensor_val map, int64_t extent);
// The most tiles of `extent` points that a map cuts the domain into, none of which crosses a value.
tensor_expr loop_most_tiles(tensor_op *op, tensor_space domain, tensor_space into, int64_t extent);
// Windows of so many rows; the most slots that those of the values of a map have, a block of them
// with others at its end.
tensor_expr loop_windows(tensor_op *op, tensor_space rows, int64_t extent);
// in windows, some of which end early
tensor_expr loop_places(tensor_op *op, tensor_space rows, int64_t extent);
// size of the space of numbers of so many bits: of 32 they are signed
int64_t loop_masks(int64_t slots);
tensor_expr loop_most_slots(tensor_op *op, tensor_val map, int64_t extent, int64_t block);
// the row of a value that b makes; NULL: it is none
const loop_prepared *loop_prepared_by(const loop_plan *p, tensor_val val, prepared_builder b);
// of a map's values, the greatest first, of all degrees above `least`
bool loop_by_degree(const loop_plan *p, tensor_val order, tensor_val map, int64_t least);

#endif
