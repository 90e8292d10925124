// Sums by matrix operations: of a warp, and of four.
#ifndef GNNC_LOWER_MATRIX_H
#define GNNC_LOWER_MATRIX_H

#include "lower/copies/copies.h"

// Which digits of the loops are the pieces (fragments) that a lane has. LOWER_NO_AXIS: no digit is.
typedef struct {
    const loop_matrix *m;
    const simt_mma_info *info;
    uint32_t rows;        // of two pieces of rows, 8 apart
    uint32_t columns;     // of two neighbouring columns
    uint32_t low, high;   // of the depth: of numbers that share a register, of registers
    uint32_t run;         // or of the numbers that a lane has side by side
    axis_set all;         // of those
    uint32_t tiles;       // pieces of columns that alternate: elements of the vector along them
    uint32_t deep;        // operations on what a lane has side by side
    bool vector;          // the run is a vector
} pieces;

// An operand's registers, by instance of its digits other than the pieces', by operation and piece.
// rest: where a number is taken apart, what is left of it beyond the digits of `of`.
typedef struct {
    axis_set axes;
    uint32_t pieces;
    simt_value *of, *rest;
} operands;

// What was known, and how variables were bound, before one of them was bound otherwise.
typedef struct {
    memo_cell *memo;
    binding *var;
    uint32_t log;
} outside;

// An operand that lies in shared memory as the operation reads it.
typedef struct lm_pieces lm_pieces;

// ---- matrix.c -----------------------------------------------------------------------------------
void lw_contribute_product(kernel *k, simt_builder *b, const reduction *r);
axis_set lw_depth_axes(kernel *k, const loop_node *reduce);   // the pieces' digits along the depth
// Where lanes hold columns of B, which are not the columns of C that they hold.
void lw_bind_columns(kernel *k, simt_builder *b, const loop_node *n, const round_of *r,
                     simt_value last);

// Loads the pieces that the reduction multiplies by on the right, or brings them to shared memory
// for operations of four warps, where its columns and depth are bound. From then on, until the
// caller cuts rounds.staying back, they are there.
void lw_stay_right(kernel *k, simt_builder *b, const loop_node *reduce);

// ---- operands.c ---------------------------------------------------------------------------------
// steps: digits of the depth that say whether an element is there.
operands lm_operands(kernel *k, simt_builder *b, const reduction *r, const pieces *p,
                     axis_set steps, simt_mma_operand o, tensor_expr e);
// The state of an element of C, at the instance at hand.
simt_value *lm_slot(lower_digits *d, const reduction *r, const pieces *p, uint32_t element);
bool lm_is_zero(const simt_func *f, simt_value v);   // it is the constant 0, or a vector of it
// A variable is bound otherwise: the second function has columns stand where lanes hold B.
outside lm_enter(kernel *k, simt_builder *b, tensor_var v, binding as);
outside lm_enter_columns(kernel *k, simt_builder *b, const pieces *p);
void lm_leave(kernel *k, outside o);

// ---- not_finite.c -------------------------------------------------------------------------------
// If the reduction's sum is not finite it is computed again, or the sum that reads it is.
bool lm_is_found_again(kernel *k, const reduction *r);

// ---- group.c, panels.c --------------------------------------------------------------------------
// Operations of four warps. steps: digits of the depth; sums: digits of C. The first function
// brings B to shared memory, and says where; so does the second one, unless it is there (brought:
// where). For the third one a round has fetched it in panels; false: it has not.
uint32_t lm_bring(kernel *k, simt_builder *b, const reduction *r, const pieces *p, axis_set steps,
                  axis_set sums);
void lm_group(kernel *k, simt_builder *b, const reduction *r, const pieces *p, axis_set steps,
              axis_set sums, const uint32_t *brought);
bool lm_panels(kernel *k, simt_builder *b, const reduction *r, const pieces *p, axis_set steps,
               axis_set sums);

// ---- pieces.c -----------------------------------------------------------------------------------
// NULL: the operand does not lie in shared memory so. axes: of the instances that are asked for.
lm_pieces *lm_pieces_of(kernel *k, simt_builder *b, const reduction *r, const pieces *p,
                        simt_mma_operand o, tensor_expr e, axis_set axes);
// One load may have two instances, an even one and the next: the axis they are along, or
// LOWER_NO_AXIS.
uint32_t lm_pair(const lm_pieces *x);
// at the instance at hand
simt_value lm_load_pieces(kernel *k, simt_builder *b, const lm_pieces *x);

#endif
