// Reductions: their states, what is contributed to them, and how parts are combined.
#ifndef GNNC_LOWER_SUMS_H
#define GNNC_LOWER_SUMS_H

#include "lower/matrix/matrix.h"

typedef void lw_contribution(kernel *k, simt_builder *b, reduction *r, const loop_node *n);

// ---- open.c --------------------------------------------------------------------------------------------
void lw_start_states(kernel *k, simt_builder *b, reduction *r);   // at the identity
reduction *lw_open(kernel *k, simt_builder *b, const loop_node *n,
                   uint32_t stage);   // states at the identity

// ---- combine.c -----------------------------------------------------------------------------------------
// Parts are combined only where both have something.
bool lw_may_be_empty(const kernel *k, const reduction *r);
// Two states.
void lw_combine_into(kernel *k, simt_builder *b, const reduction *r, const simt_value *x, const simt_value *y,
                     uint8_t lanes, simt_value *out);
// Two parts; where one of them is empty, the other.
void lw_combine_parts(kernel *k, simt_builder *b, const reduction *r, const simt_value *x,
                      const simt_value *y, simt_value *out);
simt_value *lw_state_new(kernel *k, const reduction *r);
simt_value *lw_combined(kernel *k, simt_builder *b, const reduction *r, const simt_value *x,
                        const simt_value *y);

// ---- contribute.c --------------------------------------------------------------------------------------
void lw_contribute(kernel *k, simt_builder *b, const loop_node *n);

// ---- close.c -------------------------------------------------------------------------------------------
void lw_close(kernel *k, simt_builder *b, reduction *r);   // every thread knows its states then
void lw_finish(kernel *k, simt_builder *b, const reduction *r, simt_value *results);

// ---- threads.c -----------------------------------------------------------------------------------------
simt_value *lw_fold_pairs(kernel *k, simt_builder *b, const reduction *r, simt_value *x,
                          const simt_value *sent, simt_value mask);
simt_value *lw_fold_threads(kernel *k, simt_builder *b, const reduction *r, axis_set bound, simt_value *x);

// ---- groups.c ------------------------------------------------------------------------------------------
// The state x with the one that the lane whose number differs in `mask` has sent.
// Parts of threads (lower/sums/threads.c), of what lower/sums/contribute.c combines in one.
// A product's sums of groups (lower/sums/groups.c).
void lw_join_groups(kernel *k, simt_builder *b, reduction *r);

// ---- dealt.c -------------------------------------------------------------------------------------------
bool lw_deals(const kernel *k, axis_set left);   // and they are among these digits
simt_value *lw_fold_dealt(kernel *k, simt_builder *b, const reduction *r, simt_value **part);   // by step
uint32_t lw_dealt_parts(const kernel *k);        // room that lw_fold_dealt takes
bool lw_deals_walk(const kernel *k);   // the innermost loop that deals its steps is such a walk
// Of lanes that had one step each.
simt_value *lw_fold_steps(kernel *k, simt_builder *b, const reduction *r, simt_value *x,
                          const loop_digit *lanes);

// ---- online.c ------------------------------------------------------------------------------------------
// A maximum that is opened, where sums of products follow it at a distance.
void lw_follow(kernel *k, simt_builder *b, reduction *r);
// Sums follow.
void lw_grow(kernel *k, simt_builder *b, reduction *r, lw_contribution *contribute, const loop_node *n);
void lw_close_maxima(kernel *k, simt_builder *b, const loop_node *n);   // before the sums
// A state that was stored, as one of differences from what the maximum is here.
simt_value lw_relative(kernel *k, simt_builder *b, const reduction *r, const loop_node *n, simt_value state);

#endif
