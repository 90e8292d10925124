// Reductions: states, what combines them, runs of a key, maxima found on the run.
#ifndef GNNC_LOWER_SUMS_H
#define GNNC_LOWER_SUMS_H

#include "lower/lower.h"

typedef void lw_contribution(kernel *k, simt_builder *b, reduction *r, const loop_node *n);

// ---- reduce.c -------------------------------------------------------------------------------------------
void lw_reduce(kernel *k, simt_builder *b, const loop_node *n);
void lw_level(kernel *k, simt_builder *b, const loop_node *n);
const loop_node *lw_products(const kernel *k);   // the innermost reduction that is open, where it is by matrix operations; else NULL
void lw_add_cell(kernel *k, tensor_expr condition);   // holds the cells of that one, until it is taken
void lw_take_cell(kernel *k);
// The condition of the cell at hand, which `cell` is from then on; 0: there are no cells.
simt_value lw_enter_cell(kernel *k, simt_builder *b, const reduction *r);
void lw_contribute(kernel *k, simt_builder *b, const loop_node *n);
axis_set lw_enter_loops(kernel *k, const loop_body *body);   // those in it, at any depth
void lw_leave_loops(kernel *k, const loop_body *body);
reduction *lw_open(kernel *k, simt_builder *b, const loop_node *n,
                   uint32_t stage);   // states at the identity
void lw_close(kernel *k, simt_builder *b, reduction *r);   // every thread knows its states then
reduction *lw_reduction(kernel *k, uint32_t stage);
tensor_expr lw_lifted(const kernel *k, const reduction *r, uint32_t i);   // the i-th argument of its lift
void lw_finish(kernel *k, simt_builder *b, const reduction *r, simt_value *results);
simt_value *lw_combined(kernel *k, simt_builder *b, const reduction *r, const simt_value *x, const simt_value *y);
simt_value *lw_state_new(kernel *k, const reduction *r);
axis_set lw_threads_in(const kernel *k, axis_set s);   // digits that lanes and groups have

// ---- again.c --------------------------------------------------------------------------------------------
void lw_again(kernel *k, simt_builder *b, const loop_node *reduce, reduction *const *all);   // lower/again.c: all its stages

// ---- carry.c --------------------------------------------------------------------------------------------
void lw_carry(kernel *k, simt_builder *b, const loop_node *n);
void lw_carry_body(kernel *k, simt_builder *b, reduction *r, axis_set own);   // of its walk

// ---- online.c -------------------------------------------------------------------------------------------
// Maxima found on the run (lower/online.c).
axis_set lw_running_axes(const kernel *k, const tensor_node *load);   // of a load of one; else none
simt_value lw_running(kernel *k, simt_builder *b, const tensor_node *load);   // the largest so far; 0: it is of none
void lw_follow(kernel *k, simt_builder *b, reduction *r);   // a maximum that is opened, where sums of products follow it at a distance
void lw_grow(kernel *k, simt_builder *b, reduction *r, lw_contribution *contribute, const loop_node *n);   // sums follow
void lw_close_maxima(kernel *k, simt_builder *b, const loop_node *n);   // before the sums
// A state that was stored, as one of differences from what the maximum is here.
simt_value lw_relative(kernel *k, simt_builder *b, const reduction *r, const loop_node *n, simt_value state);

// ---- reduce_groups.c ------------------------------------------------------------------------------------
// The state x with the one that the lane whose number differs in `mask` has sent.
// Parts of threads (lower/reduce_threads.c), of what lower/reduce.c combines in one.
void lw_join_groups(kernel *k, simt_builder *b, reduction *r);   // a product's sums of groups (lower/reduce_groups.c)

// ---- reduce_threads.c -----------------------------------------------------------------------------------
simt_value lw_exchanged(simt_builder *b, simt_value x, simt_value mask);   // what the lane has whose number differs in `mask`
simt_value *lw_fold_threads(kernel *k, simt_builder *b, const reduction *r, axis_set bound, simt_value *x);
simt_value *lw_fold_pairs(kernel *k, simt_builder *b, const reduction *r, simt_value *x, const simt_value *sent,
                          simt_value mask);

#endif
