// What a block copies into shared memory for the rounds of a loop: rows, bytes, tiles.
#ifndef GNNC_LOOP_FETCH_H
#define GNNC_LOOP_FETCH_H

#include "loop_plan.h"

uint32_t loop_digits_product(const loop_node *n);
// f32 in panels: two planes of f16 in its room, and a factor of each row, f32, behind
bool loop_fetch_parts(const tensor_op *op, const loop_fetch *f);
// bytes of all its buffers
uint32_t loop_fetch_room(const tensor_op *op, const loop_node *n, const loop_fetch *f,
                         const loop_node *beside);
static inline uint32_t loop_fetch_buffers(const loop_node *n, const loop_fetch *f) {
    return f->own ? 1 : n->fetch.buffers;
}   // of what it fetches
// points a round of it covers, of which each row fetched is one
uint32_t loop_fetch_rows(const loop_node *n);
typedef struct {              // in shared memory
    uint32_t row_axis;        // whose index tells the row
    bool along;               // a tile's last axis is that of the round
    uint32_t rows, columns;   // of one buffer
    // that are copied at once, 2, 4, 8 or 16; 0: rows are not made of such
    uint32_t bytes;
    uint32_t elements;   // of one buffer, with what lies between rows
} loop_tile;
// What a position is a multiple of, as its text says; 0: of anything.
int64_t loop_multiple_of(const tensor_op *op, tensor_expr e);
// beside: its loop, NULL: rows
loop_tile loop_fetch_tile(const tensor_op *op, const loop_node *n, const loop_fetch *f,
                          const loop_node *beside);

// ---- Swizzles -----------------------------------------------------------------------------------
// what the number of a piece of the row is XORed with; rows after which that repeats
uint32_t loop_swizzle_of(const loop_swizzle *s, uint32_t row);
uint32_t loop_swizzle_turn(const loop_swizzle *s);
// It is a bijection: no two elements of a tile have one place, and each row keeps its own bytes.
bool loop_swizzle_keeps(const loop_swizzle *s, uint32_t row_bytes);
// where a byte of a row of the tile lies
uint32_t loop_fetch_at(const loop_fetch *f, uint32_t element_bytes, uint32_t row, uint32_t byte);

#endif
