// Reductions: their states, what is contributed to them, and how parts are combined.
#ifndef GNNC_LOWER_SUMS_H
#define GNNC_LOWER_SUMS_H

#include "lower/matrix/matrix.h"

// What a maximum was before a contribution. If its sums follow it at a distance, that is not
// needed: the contribution is to what was met, and `followed` are the slots.
typedef struct {
    const reduction *maximum;   // NULL: no maximum grows, or it is followed
    const simt_value *before;
    axis_set copies;       // the digits that `before` is indexed by
    simt_value *factors;   // likewise; 0: it is not made yet
    simt_value *followed;
} lw_growth;

// ---- open.c -------------------------------------------------------------------------------------
reduction *lw_open(kernel *k, simt_builder *b, const loop_node *n, uint32_t stage);
void lw_start_states(kernel *k, simt_builder *b, reduction *r);   // all states are the identity

// ---- contribute.c -------------------------------------------------------------------------------
void lw_contribute(kernel *k, simt_builder *b, const loop_node *n);

// ---- combine.c ----------------------------------------------------------------------------------
// A part may be of nothing, and the reducer's identity is not neutral: then the other part is the
// result.
bool lw_may_be_empty(const kernel *k, const reduction *r);
// By the reducer's expression alone.
void lw_combine_into(kernel *k, simt_builder *b, const reduction *r, const simt_value *x,
                     const simt_value *y, uint8_t lanes, simt_value *out);
// Two parts, of which either may be of nothing.
void lw_combine_parts(kernel *k, simt_builder *b, const reduction *r, const simt_value *x,
                      const simt_value *y, simt_value *out);
simt_value *lw_combined(kernel *k, simt_builder *b, const reduction *r, const simt_value *x,
                        const simt_value *y);
simt_value *lw_state_new(kernel *k, const reduction *r);

// ---- close.c ------------------------------------------------------------------------------------
// afterwards every thread knows its states
void lw_close(kernel *k, simt_builder *b, reduction *r);
void lw_finish(kernel *k, simt_builder *b, const reduction *r, simt_value *results);

// ---- threads.c ----------------------------------------------------------------------------------
// The states of threads that differ in these digits, combined.
simt_value *lw_fold_threads(kernel *k, simt_builder *b, const reduction *r, axis_set bound,
                            simt_value *x);
// The state x with the one that the lane whose number differs in `mask` has sent.
simt_value *lw_fold_pairs(kernel *k, simt_builder *b, const reduction *r, simt_value *x,
                          const simt_value *sent, simt_value mask);

// ---- groups.c -----------------------------------------------------------------------------------
// the sums of products that groups have
void lw_join_groups(kernel *k, simt_builder *b, reduction *r);

// ---- distributed.c ------------------------------------------------------------------------------
bool lw_distributes(const kernel *k,
                    axis_set left);   // steps are distributed, and are among these digits
// the innermost loop that deals its steps is a walk
bool lw_distributes_walk(const kernel *k);
uint32_t lw_distributed_parts(const kernel *k);   // states that lw_fold_distributed takes
// by step
simt_value *lw_fold_distributed(kernel *k, simt_builder *b, const reduction *r, simt_value **part);
// The states of lanes that had one step each, combined.
simt_value *lw_fold_steps(kernel *k, simt_builder *b, const reduction *r, simt_value *x,
                          const loop_digit *lanes);

// ---- online.c -----------------------------------------------------------------------------------
// A maximum is opened: its sums may follow it at a distance.
void lw_follow(kernel *k, simt_builder *b, reduction *r);
// Around a contribution to any reduction: where a maximum grows by it, sums are rescaled.
lw_growth lw_grow_begin(kernel *k, reduction *r);
void lw_grow_end(kernel *k, simt_builder *b, reduction *r, lw_growth *c);
// before the sums are closed
void lw_close_maxima(kernel *k, simt_builder *b, const loop_node *n);
// A stored state, relative to what the maximum is here.
simt_value lw_relative(kernel *k, simt_builder *b, const reduction *r, const loop_node *n,
                       simt_value state);

#endif
