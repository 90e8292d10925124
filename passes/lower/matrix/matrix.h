// What the lowerings of matrix operations share: lower/matrix/matrix.c, of a warp; lower/matrix/group.c, of
// four; lower/matrix/pieces.c, operands in shared memory.
#ifndef GNNC_LOWER_MATRIX_H
#define GNNC_LOWER_MATRIX_H

#include "lower/lower.h"

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
// which decide whether it is there. rest: what is left of it beyond the digits of `of`, where it is taken apart.
typedef struct {
    axis_set axes;
    uint32_t pieces;
    simt_value *of, *rest;
} operands;
operands lm_operands(kernel *k, simt_builder *b, const reduction *r, const pieces *p, axis_set steps, simt_mma_operand o,
                     tensor_expr e);

// While the columns are those of B, or a variable is bound otherwise, what is known of what depends on it is not, and not
// after that.
typedef struct {
    memo_cell *memo;
    binding *var;
    uint32_t log;
} outside;
outside lm_enter(kernel *k, simt_builder *b, tensor_var v, binding as);
outside lm_enter_columns(kernel *k, simt_builder *b, const pieces *p);
void lm_leave(kernel *k, outside o);

// Operands that lie in shared memory as the operation has them (lower/matrix/pieces.c); NULL: they do not.
// axes: of the instances that are asked for.
typedef struct lm_pieces lm_pieces;
lm_pieces *lm_pieces_of(kernel *k, simt_builder *b, const reduction *r, const pieces *p, simt_mma_operand o, tensor_expr e,
                        axis_set axes);
uint32_t lm_pair(const lm_pieces *x);   // the axis that two instances at once are along, an even one and the next; LOWER_NO_AXIS: one at a time
simt_value lm_load_pieces(kernel *k, simt_builder *b, const lm_pieces *x);   // of the instance at hand, or those two

// Numbers of f32 taken apart in two of f16 each (lower/matrix/apart.c): times a power of two, which is undone
// afterwards.
enum { LM_REST = 1 << 11 };   // so much larger are rests
typedef struct {
    simt_value by, back;
} lm_factor;
lm_factor lm_factor_of(simt_builder *b, simt_value largest);   // of numbers whose largest it is
simt_value lm_absolute(simt_builder *b, simt_value largest, simt_value x);   // the larger one; largest 0: there is none yet
simt_value lm_largest(simt_builder *b, simt_value x, uint32_t lanes);   // of neighbouring lanes
simt_value lm_take_apart(simt_builder *b, simt_value x, simt_value by, simt_value *rest);
simt_value lm_plane(kernel *k, simt_builder *b, const fetched_rows *f, uint32_t plane, uint32_t more);   // where it begins, and as many bytes further
// Of rows that follow one another, from row + more.
simt_value lm_row_factors(kernel *k, simt_builder *b, const fetched_rows *f, simt_value row, uint32_t more, uint32_t lanes);

// Of an element of C, in the instance at hand.
simt_value *lm_slot(kernel *k, const reduction *r, const pieces *p, uint32_t element);

// Operations of four warps (lower/matrix/group.c). steps: axes of the depth; sums: those of the sums.
void lm_group(kernel *k, simt_builder *b, const reduction *r, const pieces *p, axis_set steps, axis_set sums);

bool lm_is_zero(const simt_func *f, simt_value v);   // C is zeros where all of it are
// Likewise, of rows that a round has fetched in panels (lower/matrix/panels.c); false: it has not.
bool lm_panels(kernel *k, simt_builder *b, const reduction *r, const pieces *p, axis_set steps, axis_set sums);

typedef struct {
    const loop_node *loop;
    axis_set axes;        // of its innermost digits, but for that of lanes
    uint32_t n, digits;   // how many eights they count
} lower_eights;

// ---- apart.c --------------------------------------------------------------------------------------------
void lw_take_rows_apart(kernel *k, simt_builder *b, const fetched_rows *f);   // f32 that was copied into panels

// ---- matrix.c -------------------------------------------------------------------------------------------
void lw_bind_columns(kernel *k, simt_builder *b, const loop_node *n, const round_of *r, simt_value last);
axis_set lw_depth_axes(kernel *k, const loop_node *reduce);   // of its pieces along what is reduced
void lw_contribute_product(kernel *k, simt_builder *b, const reduction *r);

// ---- eights.c -------------------------------------------------------------------------------------------
bool lw_in_eights(kernel *k, tensor_val v, const tensor_expr *index, uint32_t rank, lower_eights *r);
simt_value lw_load_eights(kernel *k, simt_builder *b, tensor_expr load);   // where whole warps are, at the instance at hand; 0: it is not so
void lw_store_eights(kernel *k, simt_builder *b, uint32_t stage, axis_set left, const lower_eights *r);

#endif
