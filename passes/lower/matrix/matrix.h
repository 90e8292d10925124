// Sums by matrix operations: of a warp, and of four.
#ifndef GNNC_LOWER_MATRIX_H
#define GNNC_LOWER_MATRIX_H

#include "lower/copies/copies.h"

typedef struct {
    const loop_matrix *m;
    const simt_mma_info *info;
    uint32_t rows, columns;   // axes: of the two pieces of rows 8 apart, of two neighbouring columns
    uint32_t low, high;   // of the depth: of what shares a register (LOWER_NO_AXIS: nothing), of registers
    uint32_t run;         // or of what a lane has side by side; LOWER_NO_AXIS: nothing
    axis_set all;         // of those
    uint32_t tiles;       // pieces of columns that alternate: elements of the vector along them
    uint32_t deep;        // operations of what a lane has side by side
    bool vector;          // it is one
} pieces;

// Per instance of what the operand depends on, but for its pieces, operation and piece; steps: of the depth,
// which decide whether it is there. rest: what is left of it beyond the digits of `of`, where it is taken
// apart.
typedef struct {
    axis_set axes;
    uint32_t pieces;
    simt_value *of, *rest;
} operands;

// While the columns are those of B, or a variable is bound otherwise, what is known of what depends on it is
// not, and not after that.
typedef struct {
    memo_cell *memo;
    binding *var;
    uint32_t log;
} outside;

// Operands that lie in shared memory as the operation has them (lower/matrix/pieces.c); NULL: they do not.
// axes: of the instances that are asked for.
typedef struct lm_pieces lm_pieces;

// ---- matrix.c ------------------------------------------------------------------------------------------
axis_set lw_depth_axes(kernel *k, const loop_node *reduce);   // of its pieces along what is reduced
void lw_bind_columns(kernel *k, simt_builder *b, const loop_node *n, const round_of *r, simt_value last);
void lw_contribute_product(kernel *k, simt_builder *b, const reduction *r);

// ---- operands.c ----------------------------------------------------------------------------------------
outside lm_enter(kernel *k, simt_builder *b, tensor_var v, binding as);
outside lm_enter_columns(kernel *k, simt_builder *b, const pieces *p);
void lm_leave(kernel *k, outside o);
operands lm_operands(kernel *k, simt_builder *b, const reduction *r, const pieces *p, axis_set steps,
                     simt_mma_operand o, tensor_expr e);
// Of an element of C, in the instance at hand.
simt_value *lm_slot(lower_digits *d, const reduction *r, const pieces *p, uint32_t element);
bool lm_is_zero(const simt_func *f, simt_value v);   // C is zeros where all of it are

// ---- not_finite.c --------------------------------------------------------------------------------------
// Of this reduction, or of the one that takes what it finds.
bool lm_is_found_again(kernel *k, const reduction *r);

// ---- group.c -------------------------------------------------------------------------------------------
// Operations of four warps (lower/matrix/group.c). steps: axes of the depth; sums: those of the sums.
void lm_group(kernel *k, simt_builder *b, const reduction *r, const pieces *p, axis_set steps, axis_set sums);

// ---- panels.c ------------------------------------------------------------------------------------------
// Likewise, of rows that a round has fetched in panels (lower/matrix/panels.c); false: it has not.
bool lm_panels(kernel *k, simt_builder *b, const reduction *r, const pieces *p, axis_set steps,
               axis_set sums);

// ---- pieces.c ------------------------------------------------------------------------------------------
lm_pieces *lm_pieces_of(kernel *k, simt_builder *b, const reduction *r, const pieces *p, simt_mma_operand o,
                        tensor_expr e, axis_set axes);
// The axis that two instances at once are along, an even one and the next; LOWER_NO_AXIS: one at a time.
uint32_t lm_pair(const lm_pieces *x);
// Of the instance at hand, or those two.
simt_value lm_load_pieces(kernel *k, simt_builder *b, const lm_pieces *x);

#endif
