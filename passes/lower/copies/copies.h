// What rounds bring into shared memory or into lanes, and what they read ahead.
#ifndef GNNC_LOWER_COPIES_H
#define GNNC_LOWER_COPIES_H

#include "lower/values/values.h"

typedef struct read_ahead read_ahead;

// Numbers of f32 taken apart in two of f16 each (lower/copies/apart.c): times a power of two, which is undone
// afterwards.
// Bytes of a piece of a row in panels; pieces after which rows lie alike.
enum { PANEL_PIECE = 16, PANEL_TURN = SIMT_PANEL_ROW / PANEL_PIECE };

enum { LM_REST = 1 << 11 };   // so much larger are rests

typedef struct {
    simt_value by, back;
} lm_factor;

// ---- fetch.c -------------------------------------------------------------------------------------------
bool lw_fetches_own(const loop_node *n);
// Whether each round begins with a barrier of the block.
bool lw_round_meets(const kernel *k, const loop_node *n);
void lw_fetch_end(kernel *k, simt_builder *b, const loop_node *n);    // of a round
// When a thread has taken all it reads of the one buffer's rows to its registers: those of the next round
// come there.
void lw_fetch_next(kernel *k, simt_builder *b, tensor_expr by);
// Before the first round; indices: of rows, NULL: they are read.
void lw_fetch_first(kernel *k, simt_builder *b, const loop_node *n, simt_value base, simt_value hi,
                    const simt_value *indices);
simt_value lw_buffer_beside(simt_builder *b, const loop_node *n, simt_value slot, bool after);
// At the head of the round at base: its rows are there, and those of a later one on their way. slot, next:
// the buffers of both, i32. The caller sets the length of what is fetched back.
void lw_fetch_round(kernel *k, simt_builder *b, const loop_node *n, simt_value base, simt_value slot,
                    simt_value next, simt_value hi,
                    const simt_value *indices);   // NULL: none are known
// Indices that a thread reads a round before; 0: it does not.
uint32_t lw_fetch_index_count(kernel *k, const loop_node *n);
// Of the round at base.
void lw_fetch_indices(kernel *k, simt_builder *b, const loop_node *n, simt_value base, simt_value hi,
                      simt_value *out);
// After all of them, where indices were read a round before, or rows of the block's own are copied.
void lw_fetch_last(simt_builder *b);

// ---- panels.c ------------------------------------------------------------------------------------------
uint32_t lw_panel_rows(const fetched_rows *f);   // of one
// Bytes to a row's piece of 16.
simt_value lw_in_panels(simt_builder *b, const fetched_rows *f, uint32_t row_bytes, simt_value row,
                        simt_value part);

// ---- apart.c -------------------------------------------------------------------------------------------
simt_value lm_largest(simt_builder *b, simt_value x, uint32_t lanes);   // of neighbouring lanes
lm_factor lm_factor_of(simt_builder *b, simt_value largest);   // of numbers whose largest it is
simt_value lm_take_apart(simt_builder *b, simt_value x, simt_value by, simt_value *rest);
// The larger one; largest 0: there is none yet.
simt_value lm_absolute(simt_builder *b, simt_value largest, simt_value x);
simt_value lm_plane(kernel *k, simt_builder *b, const fetched_rows *f, uint32_t plane,
                    uint32_t more);   // where it begins, and as many bytes further
// Of rows that follow one another, from row + more.
simt_value lm_row_factors(kernel *k, simt_builder *b, const fetched_rows *f, simt_value row, uint32_t more,
                          uint32_t lanes);
// F32 that was copied into panels.
void lw_take_rows_apart(kernel *k, simt_builder *b, const fetched_rows *f);

// ---- held.c --------------------------------------------------------------------------------------------
void lw_hold(kernel *k, simt_builder *b, const loop_node *n, loop_round *r);   // at the head of a round
simt_value lw_held_steps(kernel *k, simt_builder *b, const loop_node *n, uint32_t digit, const loop_round *r);
uint32_t lw_held_turns(const loop_node *n, uint32_t digit);   // registers that steps of it carry
void lw_held_turn(const loop_node *n, uint32_t digit, const simt_value *held, simt_value *out);
void lw_held_step(kernel *k, simt_builder *b, const loop_node *n, uint32_t digit, simt_value step,
                  loop_round *r);
void lw_take_held(kernel *k, simt_builder *b, const loop_node *n, const loop_round *r);   // at a position

// ---- round_ahead.c -------------------------------------------------------------------------------------
void lw_pin(const kernel *k, simt_value x);   // loaded where it is asked for, not where it is used
// NULL: nothing.
read_ahead *lw_read_ahead(kernel *k, simt_builder *b, const loop_node *n, simt_value lo, simt_value hi,
                          slot_list *carried);
// Indices of rows of the rounds that are copied before the first one.
const simt_value *lw_read_begin(const read_ahead *a);
// In the round at base: indices of rows.
const simt_value *lw_read_next(kernel *k, simt_builder *b, read_ahead *a, simt_value base, simt_value hi);
// For some row of the warp; 0: not known.
simt_value lw_round_has_cells(kernel *k, simt_builder *b, const loop_node *n);
void lw_read_done(read_ahead *a);   // at its end

#endif
