// Rounds of a loop, what they bring into shared memory, and how shared memory is laid out.
#ifndef GNNC_LOWER_ROUNDS_H
#define GNNC_LOWER_ROUNDS_H

#include "lower/scope/instance.h"

// ---- Rounds -------------------------------------------------------------------------------------
typedef struct {
    simt_value base, hi;
    bool masked;       // it may pass hi
    bool maybe_none;   // there may be no position at all: some other thread of the warp has one
    bool full;         // of a padded loop: it has no padding
    uint32_t whole;    // or its first copies have none
} round_of;

typedef struct {
    axis_set own;
    round_of round;
    // Of a loop that lanes hold entries for:
    simt_value *held;   // entry × register
    simt_value entry;   // of the steps so far, in its register; 0: the first
    simt_value left;    // entries from there on, to some lane of the warp
    simt_value tile;    // i32: where those of the row begin in shared memory
    simt_value start;   // of the first round
} loop_round;

// the round at hand of a loop that goes round: `start` is the index of the first one
typedef struct {
    const loop_node *node;
    simt_value index, start;
} counted_round;

// ---- What is fetched ----------------------------------------------------------------------------
// Rows or a tile that lie in shared memory in a round of a loop in scope (lower/copies/fetch.c).
typedef struct {
    const loop_node *node;
    const loop_fetch *rows;
    const loop_node *beside;   // of a tile; NULL: rows
    loop_tile tile;
    uint32_t at;         // bytes: of the first buffer
    simt_value buffer;   // i32: bytes from there to the round's
    // i32: bytes to those of rows that were taken apart (lower/copies/split_operand.c)
    simt_value factors;
    simt_value base, hi;           // of the round
    const struct filling *next;    // whose indices are read while the round goes on; NULL: none
    const simt_value *next_rows;   // those indices
} fetched_rows;

typedef struct {
    VEC(fetched_rows) fetched;    // of loops in scope
    VEC(counted_round) counted;   // likewise
    // of the loop whose round is at hand; NULL: nothing was read ahead
    const struct read_ahead *ahead;
    // pieces that stay in registers, of reductions in loops in scope
    VEC(struct lw_staying *) staying;
} lower_rounds;

// ---- Shared memory ------------------------------------------------------------------------------
typedef struct {   // where the first buffer of what a loop fetches lies, bytes
    const loop_fetch *of;
    uint32_t at;
} fetched_room;

typedef struct {   // likewise of an entry that lanes hold there
    const tensor_expr *of;
    uint32_t at;
} held_room;

// Instructions of a region that take a product's parts, of which the first is a barrier; region 0:
// nowhere.
typedef struct {
    simt_region region;
    uint32_t begin, end;
} lw_join;

typedef struct {
    uint32_t *at;                         // per value: byte offset + 1
    VEC(fetched_room) fetched;            // of all that loops fetch, once each
    VEC(held_room) held;                  // likewise of entries
    uint32_t scratch_at, scratch_bytes;   // of the states that groups exchange
    lw_join join;                         // where groups exchanged last
} lower_shared;

// ---- Steps that are distributed -----------------------------------------------------------------
typedef struct distributed_steps {
    const loop_node *node;
    const loop_round *round;
    uint32_t axis, unit;   // of the steps; of the lanes that reduce
    // Of a walk (distributed.to), which goes back and forth:
    bool there;       // the steps are the lanes' now
    bool been;        // and have been: what follows is what they know
    axis_set apart;   // of loops that steps stand without
    memo_cell *known;
    binding own;
    loop_mask own_mask;
    VEC(register_value) kept;
    // What holds again behind what the lanes do one step each:
    lower_axis written_out;
    memo_cell *memo;
    binding bound;
    loop_mask mask;
    region_mark mark;
} distributed_steps;

#endif
