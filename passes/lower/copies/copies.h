// What rounds bring into shared memory or into lanes, and what they read ahead.
#ifndef GNNC_LOWER_COPIES_H
#define GNNC_LOWER_COPIES_H

#include "lower/values/values.h"

typedef struct read_ahead read_ahead;

typedef struct {   // neighbours of an entry in shared memory, which one access reads
    simt_value value;
    uint32_t at;   // how many accesses are before it
} wide_entries;

// ---- fetch.c ------------------------------------------------------------------------------------
// Before the first round: the copies of all rounds that are ahead of it. indices: of rows; NULL:
// they are read.
void lw_fetch_first(kernel *k, simt_builder *b, const loop_node *n, simt_value base, simt_value hi,
                    const simt_value *indices);
// At the head of the round at base. Its rows are there, and those of a later round are under way.
// slot and next, i32, are the buffers of both. The caller cuts rounds.fetched back.
void lw_fetch_round(kernel *k, simt_builder *b, const loop_node *n, simt_value base,
                    simt_value slot, simt_value next, simt_value hi, const simt_value *indices);
void lw_fetch_end(kernel *k, simt_builder *b, const loop_node *n);   // at the end of a round
// After all rounds, if indices were read a round before, or the block copied rows of its own.
void lw_fetch_last(simt_builder *b);
// Where a thread has read all rows of the only buffer into registers: the next round's rows are
// copied there.
void lw_fetch_next(kernel *k, simt_builder *b, tensor_expr by);
// Row indices that a thread reads a round before: how many, and their values in the round at base.
uint32_t lw_fetch_index_count(kernel *k, const loop_node *n);
void lw_fetch_indices(kernel *k, simt_builder *b, const loop_node *n, simt_value base,
                      simt_value hi, simt_value *out);
simt_value lw_buffer_beside(simt_builder *b, const loop_node *n, simt_value slot, bool after);
bool lw_fetches_own(const loop_node *n);   // some rows are the block's own: it copies them once
// each round begins with a barrier of the block
bool lw_round_meets(const kernel *k, const loop_node *n);

// ---- panels.c -----------------------------------------------------------------------------------
// Bytes of a row's piece in a panel; rows after which the swizzle repeats.
enum { PANEL_PIECE = 16, PANEL_TURN = SIMT_PANEL_ROW / PANEL_PIECE };
uint32_t lw_panel_rows(const fetched_rows *f);   // of one panel
// Bytes from the start of the panels to piece `part` of the row.
simt_value lw_in_panels(simt_builder *b, const fetched_rows *f, uint32_t row_bytes, simt_value row,
                        simt_value part);

// ---- split_operand.c ----------------------------------------------------------------------------
// A number of f32 is multiplied by a power of two, and taken apart: the nearest f16, and LM_REST
// times what that leaves. `back` undoes the factor.
enum { LM_REST = 1 << 11 };
typedef struct {
    simt_value by, back;
} lm_factor;
lm_factor lm_factor_of(simt_builder *b, simt_value largest);   // for numbers up to that one
simt_value lm_take_apart(simt_builder *b, simt_value x, simt_value by, simt_value *rest);
// the larger; 0: there is none
simt_value lm_absolute(simt_builder *b, simt_value largest, simt_value x);
// among neighbouring lanes
simt_value lm_largest(simt_builder *b, simt_value x, uint32_t lanes);
// The address of a plane of f16, `more` bytes further.
simt_value lm_plane(kernel *k, simt_builder *b, const fetched_rows *f, uint32_t plane,
                    uint32_t more);
// What undoes the factors of rows that follow one another, from row + more.
simt_value lm_row_factors(kernel *k, simt_builder *b, const fetched_rows *f, simt_value row,
                          uint32_t more, uint32_t lanes);
// those that lie in panels
void lw_take_rows_apart(kernel *k, simt_builder *b, const fetched_rows *f);

// ---- held.c -------------------------------------------------------------------------------------
// At the head of a round each lane loads entries; at a position each copy takes its entry from a
// lane.
void lw_hold(kernel *k, simt_builder *b, const loop_node *n, loop_round *r);
void lw_take_held(kernel *k, simt_builder *b, const loop_node *n, const loop_round *r);
// Of a serial digit: its steps, where a step begins, and the registers that a loop over it carries.
simt_value lw_held_steps(kernel *k, simt_builder *b, const loop_node *n, uint32_t digit,
                         const loop_round *r);
void lw_held_step(kernel *k, simt_builder *b, const loop_node *n, uint32_t digit, simt_value step,
                  loop_round *r);
uint32_t lw_held_turns(const loop_node *n, uint32_t digit);
void lw_held_turn(const loop_node *n, uint32_t digit, const simt_value *held, simt_value *out);

// ---- held_shared.c ------------------------------------------------------------------------------
// Of entries in shared memory: before the first round and after the last, where there are several
// buffers; at the head of a round, from the thread's first position on, where its tile begins, i32.
static inline bool lw_holds_in_block(const loop_node *n) {   // several warps share what they copy
    return n->holding.shared && n->holding.lanes > LOWER_WARP;
}
// comes: some thread has a position; 0: each thread's bounds say whether it has.
void lw_hold_first(kernel *k, simt_builder *b, const loop_node *n, simt_value lo, simt_value hi,
                   simt_value comes);
void lw_hold_last(simt_builder *b, const loop_node *n);
simt_value lw_hold_shared(kernel *k, simt_builder *b, const loop_node *n, const loop_round *r,
                          simt_value own);
// The entry of the copy that many entries from the step at hand. last: what was read before.
simt_value lw_held_in_shared(kernel *k, simt_builder *b, const loop_node *n, uint32_t entry,
                             const loop_round *r, uint32_t at, wide_entries *last);

// ---- round_ahead.c ------------------------------------------------------------------------------
// NULL: the loop reads nothing ahead. What it reads ahead is carried.
read_ahead *lw_read_ahead(kernel *k, simt_builder *b, const loop_node *n, simt_value lo,
                          simt_value hi, slot_list *carried);
// row indices of rounds before the first one
const simt_value *lw_read_begin(const read_ahead *a);
// In the round at base: row indices that were read the round before.
const simt_value *lw_read_next(kernel *k, simt_builder *b, read_ahead *a, simt_value base,
                               simt_value hi);
void lw_read_done(read_ahead *a);   // at the end of the round
// Some row of the warp has a cell in this round; 0: that is not known.
simt_value lw_round_has_cells(kernel *k, simt_builder *b, const loop_node *n);
void lw_pin(const kernel *k, simt_value x);   // the load behind x stays where it was built

#endif
