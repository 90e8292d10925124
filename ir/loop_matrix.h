// Reductions by matrix operations of a warp.
#ifndef GNNC_LOOP_MATRIX_H
#define GNNC_LOOP_MATRIX_H

#include "loop_plan.h"

// numbers of a row that are taken apart; columns of their product at once
enum { LOOP_MOST_PARTS = 512, LOOP_MOST_APART = 64 };
// what an operand of a matrix operation is made of, without what rounds or widens it
const tensor_node *loop_matrix_factor(const tensor_op *op, tensor_expr e);
// whether the matrix operation of a REDUCE sums that one of its stages
bool loop_multiplies(const tensor_op *op, const loop_node *reduce, uint32_t stage);
// what a reduction by matrix operations ends with; NULL: nothing
const loop_node *loop_again(const loop_node *reduce);
uint32_t loop_matrix_held(simt_mma kind);   // points of the depth that a lane has of an operation
// that follow one another in a step along the depth, of each sum
uint32_t loop_matrix_products(const loop_node *depth, simt_mma kind);
// a lane has adjacent points of it
bool loop_matrix_adjacent(const loop_node *n);
bool loop_matrix_vector(const loop_node *n);   // likewise, in a vector
// columns of several pieces, which a lane has adjacent
bool loop_matrix_alternate(const loop_node *columns);
// the first column of B that the lane has of a warp's
uint32_t loop_matrix_column(const loop_node *columns, uint32_t lane);
// which digit is the two columns of a piece of C that a lane has
uint32_t loop_matrix_pair(const loop_node *columns);
// adjacent points of the depth that a lane has; 0: they are not
uint32_t loop_matrix_run(const loop_node *depth, simt_mma kind);
// its rounds fetch rows in panels
bool loop_fetches_panels(const loop_node *n);
// Whether every value of a float expression is one that the operands of a matrix operation have.
bool loop_matrix_holds(const loop_plan *p, tensor_expr e, simt_mma kind);
ir_dtype loop_matrix_type(simt_mma kind);   // of rows that it multiplies as they lie in panels

#endif
