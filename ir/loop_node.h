// Nodes of loop IR.
#ifndef GNNC_LOOP_NODE_H
#define GNNC_LOOP_NODE_H

#include "loop_digit.h"
#include "tensor.h"

// ---- Nodes --------------------------------------------------------------------------------------
typedef enum {
    LOOP_FOR,   // var lo hi digits rest; body
    LOOP_LET,   // var := value, for the nodes after it in the same body
    // key is value, in the nodes after it in the same body: what its loops have made sure of
    LOOP_GIVEN,
    LOOP_IF,   // value: bool; body
    // body; phases of one body meet at barriers where one reads what another writes in shared
    // memory
    LOOP_PHASE,
    // stages; body walks their bound variables; after it their states are known at the left
    // variables
    LOOP_REDUCE,
    // stages[0], inside its REDUCE: lift its body and combine; with states: combine those instead
    LOOP_CONTRIBUTE,
    // stages[0]: its targets. A reduction's state, finished, or its else; otherwise its body
    LOOP_STORE,
    // stages[0]: its targets get what it has where nothing is contributed, for COMBINE
    LOOP_CLEAR,
    // stages[0]: its state is combined with its cleared targets in memory, whoever else does so at
    // a time
    LOOP_COMBINE,
    // stages[0]: its raw state into the vals of `states` at index: what another kernel combines
    LOOP_STORE_STATE,
    LOOP_CARRY,   // stages; walks sorted keys: see below
    // var; body: the loop around that binds var does not count there, so its threads are free
    LOOP_WITHOUT,
    // sizes lo hi; body: where no lane of the warp has more than so many positions lo … hi, its
    // loops of such ranges are taken whole; the least size that does counts
    LOOP_WITHIN,
    // stages, inside their REDUCE: what body contributes, times the first factor of their bodies
    LOOP_LEVEL,
    // body, at the end of a REDUCE by matrix operations: reduces anew what is not finite
    LOOP_AGAIN,
    LOOP_NODE_COUNT
} loop_node_kind;

// A reduction by matrix operations of a warp, whose pieces its loops deal out as simt_mma_at has
// them: see LOOP.md.
#define LOOP_NO_ROWS ((tensor_var)UINT32_MAX)   // what stands on the left is the same for all rows
typedef struct {
    simt_mma kind;
    // of the loops over what stands on the left, on the right, and is reduced
    tensor_var rows, columns, depth;
    // that products which follow one another along the depth take in turn
    uint32_t accumulators;
} loop_matrix;
#define LOOP_MOST_ACCUMULATORS 4

// What a block has of an input in shared memory in a round of a loop: rows, one for each point of
// the round, or of another loop; or a tile, of the points of the round and of those that the block
// has at once of another loop, on two axes, of which one is the last.
#define LOOP_NO_BESIDE ((tensor_var)UINT32_MAX)
typedef struct {
    tensor_val val;
    const tensor_expr *index;   // of each axis; of rows, of two axes, the first one's alone
    uint32_t nindex;
    tensor_var beside;   // of the other loop; LOOP_NO_BESIDE: rows
    // rows of the points that the block has of that loop around, there in all rounds; they come
    // last
    bool own;
    uint32_t pitch;         // elements from one row to the next; of panels 0
    uint32_t skew, every;   // and so many more from each so many of them to the next; 0: none
    // rows lie in panels, as operations of four warps have them (simt_mma_row_at), and nothing else
    // reads them there
    bool panels;
} loop_fetch;

// A maximum that is found while sums of the same walk take exponentials of differences from it
// (loop_online.c).
typedef struct {
    uint32_t stage;     // into op->stages
    tensor_expr slot;   // CONTRIBUTE: a LOAD of what was the maximum for the states
    // sums follow it once it is larger by more than 8 than what they are relative to, where the
    // kernel is approximate
    bool behind;
} loop_maximum;

// ---- What belongs to some kinds -----------------------------------------------------------------
// FOR: rounds of its rest.
typedef struct {
    uint32_t unroll;   // rest SERIAL: rounds written out at a time; 0, 1: none
    bool within;       // rest SERIAL, masked: its range is that of the WITHIN around
    bool masked;   // unroll > 1: also where fewer are left, a mask each; else those are taken one
                   // at a time
    // rest BLOCK, without digits: a block is at one position in so many; 0, 1: each
    uint32_t step;
    uint32_t pad;   // hi is the size of var's space, rounded up to a multiple: what lies past the
                    // size repeats the last position; 0: it ends where the space does
} loop_rounds;

// FOR: what is left to do after the reductions inside is dealt out: lanes that reduce take a step
// each.
typedef struct {
    bool steps;      // those that are written out
    loop_digit to;   // of a walk whose steps need none of a loop around: that loop's lanes; extent
                     // 0: it is none
    tensor_var of;   // that loop's
} loop_deal;

// FOR: loads at var that lanes hold for a round of the rest, each an entry of it.
typedef struct {
    uint32_t n;
    const tensor_expr *loads;
    uint32_t lanes;   // neighbours in their warp
} loop_holding;

// FOR: what lies in shared memory in a round of its outermost serial digit or rest, and what each
// round reads again.
typedef struct {
    uint32_t n;
    const loop_fetch *rows;
    uint32_t buffers;   // rounds whose rows are there or on their way
    uint32_t nreread;
    // inputs of which all rounds read the same, for which no thread has room
    const tensor_val *reread;
} loop_copies;

// WITHIN: how many positions its ranges have at most.
typedef struct {
    uint32_t n;
    const uint32_t *most;   // growing
    bool alone;             // no range is longer than the greatest
} loop_ranges;

// REDUCE: how it is computed. Maxima: those of its stages whose maximum is known so far only, where
// its other stages read it; of a CONTRIBUTE with states, what those hold differences from.
typedef struct {
    const loop_matrix *matrix;   // by matrix operations; NULL: by itself
    uint32_t nmaxima;
    const loop_maximum *maxima;
} loop_reducing;

// CONTRIBUTE, STORE_STATE: the states. CARRY: of the slot `first`; none: what is cut is combined in
// memory.
typedef struct {
    uint32_t n;
    const tensor_expr *loads;   // what is read, or where is written
    tensor_expr valid;          // CONTRIBUTE: bool, whether there is one; 0: always
    // CARRY: of a slot by participant: runs cut at its end; those at its begin
    const tensor_expr *last;
} loop_state;

typedef struct loop_node loop_node;
typedef VEC(loop_node *) loop_body;
struct loop_node {
    loop_node_kind kind;
    span at;   // of the statement or stage it comes from
    loop_body body;
    // FOR, LET, WITHOUT
    tensor_var var;
    tensor_expr lo, hi;   // i64 or index
    loop_digit digits[LOOP_MAX_DIGITS];
    uint32_t ndigits;
    loop_place rest;   // SERIAL, UNROLL (extent is constant), BLOCK or WHOLE
    loop_rounds rounds;
    loop_deal deal;
    loop_holding holding;
    loop_copies fetch;
    loop_ranges ranges;   // WITHIN
    tensor_expr value;    // LET, GIVEN, IF
    // CARRY, see LOOP.md: of the position at hand: index; GIVEN: a load of an index
    tensor_expr key;
    // REDUCE, CONTRIBUTE, STORE, STORE_STATE, CARRY
    uint32_t nstages;
    const uint32_t *stages;   // into op->stages
    loop_reducing reduce;
    loop_state state;
};

#endif
