// What rounds bring into shared memory or into lanes, and what they read ahead.
#ifndef GNNC_LOWER_COPIES_H
#define GNNC_LOWER_COPIES_H

#include "lower/lower.h"

typedef struct {   // a variable that stands at another position: what is computed for it is known until it comes back
    memo_cell *memo;
    tensor_var v;
    binding was;
    uint32_t log;
} lw_journey;

typedef struct read_ahead read_ahead;

// ---- held.c ---------------------------------------------------------------------------------------------
void lw_hold(kernel *k, simt_builder *b, const loop_node *n, loop_round *r);   // at the head of a round
simt_value lw_held_steps(kernel *k, simt_builder *b, const loop_node *n, uint32_t digit, const loop_round *r);
uint32_t lw_held_turns(const loop_node *n, uint32_t digit);   // registers that steps of it carry
void lw_held_turn(const loop_node *n, uint32_t digit, const simt_value *held, simt_value *out);
void lw_held_step(kernel *k, simt_builder *b, const loop_node *n, uint32_t digit, simt_value step, loop_round *r);
void lw_take_held(kernel *k, simt_builder *b, const loop_node *n, const loop_round *r);   // at a position

// ---- round_ahead.c --------------------------------------------------------------------------------------
lw_journey lw_go_to(kernel *k, tensor_var v, simt_value at);
void lw_come_back(kernel *k, const lw_journey *from);
void lw_pin(const kernel *k, simt_value x);   // loaded where it is asked for, not where it is used
read_ahead *lw_read_ahead(kernel *k, simt_builder *b, const loop_node *n, simt_value lo, simt_value hi, slot_list *carried);   // NULL: nothing
const simt_value *lw_read_begin(const read_ahead *a);   // indices of rows of the rounds that are copied before the first one
const simt_value *lw_read_next(kernel *k, simt_builder *b, read_ahead *a, simt_value base, simt_value hi);   // in the round at base: indices of rows
simt_value lw_round_has_cells(kernel *k, simt_builder *b, const loop_node *n);   // for some row of the warp; 0: not known
void lw_read_done(read_ahead *a);   // at its end

// ---- fetch.c --------------------------------------------------------------------------------------------
void lw_fetch_first(kernel *k, simt_builder *b, const loop_node *n, simt_value base, simt_value hi, const simt_value *indices);   // before the first round; indices: of rows, NULL: they are read
// At the head of the round at base: its rows are there, and those of a later one on their way. slot, next: the buffers of both, i32. The
// caller sets the length of what is fetched back.
void lw_fetch_round(kernel *k, simt_builder *b, const loop_node *n, simt_value base, simt_value slot, simt_value next, simt_value hi,
                    const simt_value *indices);   // NULL: none are known
simt_value lw_buffer_beside(simt_builder *b, const loop_node *n, simt_value slot, bool after);
uint32_t lw_fetch_index_count(kernel *k, const loop_node *n);   // indices that a thread reads a round before; 0: it does not
void lw_fetch_indices(kernel *k, simt_builder *b, const loop_node *n, simt_value base, simt_value hi, simt_value *out);   // of the round at base
void lw_fetch_end(kernel *k, simt_builder *b, const loop_node *n);    // of a round
bool lw_round_meets(const kernel *k, const loop_node *n);   // whether each round begins with a barrier of the block
void lw_fetch_last(simt_builder *b);   // after all of them, where indices were read a round before, or rows of the block's own are copied
bool lw_fetches_own(const loop_node *n);
uint32_t lw_panel_rows(const fetched_rows *f);   // of one
simt_value lw_in_panels(simt_builder *b, const fetched_rows *f, uint32_t row_bytes, simt_value row, simt_value part);   // bytes to a row's piece of 16
// When a thread has taken all it reads of the one buffer's rows to its registers: those of the next round come there.
void lw_fetch_next(kernel *k, simt_builder *b, tensor_expr by);

// ---- fetched.c ------------------------------------------------------------------------------------------
uint32_t lw_fetched_element_bytes(const kernel *k, const loop_fetch *f);
// From the first row to another, without the pitch of `plus` rows more.
simt_value lw_rows_apart(simt_builder *b, const loop_fetch *f, simt_value row, int64_t plus, uint32_t bytes);
const fetched_rows *lw_fetched_panels(const kernel *k, const tensor_node *load);   // likewise, in panels
const fetched_rows *lw_fetched(const kernel *k, const tensor_node *load);   // that the load is of; NULL: none
// Of the row at the instance at hand, the elements at `last` on the other axis.
simt_value lw_fetched_part(kernel *k, simt_builder *b, const fetched_rows *f, const tensor_node *load);   // of a row of several axes: where the last one's begins, in elements
simt_value lw_load_fetched(kernel *k, simt_builder *b, const fetched_rows *f, const tensor_node *load, position last,
                           uint32_t lanes);
// A load of such a row, but for its type, which is zeros wherever masks of the loops in scope from there on fail.
bool lw_is_fetched(const kernel *k, tensor_expr e, uint32_t from);

// ---- ahead.c --------------------------------------------------------------------------------------------
void lw_load_ahead(kernel *k, simt_builder *b, const loop_body *body, uint32_t from);

#endif
