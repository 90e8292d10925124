// Nodes of loop IR.
#ifndef GNNC_LOOP_NODE_H
#define GNNC_LOOP_NODE_H

#include "loop_digit.h"
#include "tensor.h"

// ---- Nodes --------------------------------------------------------------------------------------
typedef enum {
#define LOOP_KIND(id, text, body, around, why) LOOP_##id,
#include "loop_node.def"
    LOOP_NODE_COUNT
} loop_node_kind;

// Members that are rows of loop_field.def, by how they stand in the text.
#define LOOP_TYPE_count uint32_t
#define LOOP_TYPE_pad uint32_t
#define LOOP_TYPE_flag bool
#define LOOP_MEMBER(form, member, ...) LOOP_TYPE_##form member;

// A reduction by matrix operations of a warp, whose pieces its loops deal out as simt_mma_at has
// them: see LOOP.md.
#define LOOP_NO_ROWS ((tensor_var)UINT32_MAX)   // what stands on the left is the same for all rows
typedef struct {
    simt_mma kind;
    // of the loops over what stands on the left, on the right, and is reduced
    tensor_var rows, columns, depth;
#define LOOP_MATRIX_FIELD LOOP_MEMBER
#include "loop_field.def"
} loop_matrix;
#define LOOP_MOST_ACCUMULATORS 4

// An XOR swizzle: which bits of a row's number flip each bit of the number of a piece in it. It is
// linear over GF(2), and changes the last bits alone, so each row's pieces change places.
enum {
    LOOP_SWIZZLE_SHIFT = 4,
    LOOP_SWIZZLE_PIECE = 1 << LOOP_SWIZZLE_SHIFT,   // bytes, of which 8 have all banks
    LOOP_SWIZZLE_BITS = 3
};
typedef struct {
    uint32_t n;   // of bits
    uint32_t rows[LOOP_SWIZZLE_BITS];
} loop_swizzle;

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
    loop_swizzle swizzle;   // n 0: none
#define LOOP_FETCH_FIELD LOOP_MEMBER
#include "loop_field.def"
} loop_fetch;

// A maximum that is found while sums of the same walk take exponentials of differences from it
// (loop_online.c).
typedef struct {
    uint32_t stage;     // into op->stages
    tensor_expr slot;   // CONTRIBUTE: a LOAD of what was the maximum for the states
#define LOOP_MAXIMUM_FIELD LOOP_MEMBER
#include "loop_field.def"
} loop_maximum;

// ---- What belongs to some kinds -----------------------------------------------------------------
// FOR: rounds of its rest.
typedef struct {
#define LOOP_ROUNDS_FIELD LOOP_MEMBER
#include "loop_field.def"
} loop_rounds;

// FOR: what is left to do after the reductions inside is distributed: lanes that reduce take a step
// each.
typedef struct {
    bool steps;      // those that are written out
    loop_digit to;   // of a walk whose steps need none of a loop around: that loop's lanes; extent
                     // 0: it is none
    tensor_var of;   // that loop's
} loop_distribution;

// FOR: loads at var that lanes hold for a round of the rest, each an entry of it.
typedef struct {
    uint32_t n;
    const tensor_expr *loads;
    uint32_t lanes;    // neighbours that share entries out
    uint32_t shared;   // rounds whose entries are in shared memory, or on their way; 0: registers
    // lo is a multiple, and arrays read at var itself are aligned: up to 16 bytes, and so many
    // entries, are copied at once; 1: they may begin anywhere
    uint32_t aligned;
} loop_holding;

// FOR: what lies in shared memory in a round of its outermost serial digit or rest, what each round
// reads again, and what none does.
typedef struct {
    uint32_t n;
    const loop_fetch *rows;
    uint32_t buffers;   // rounds whose rows are there or on their way
    uint32_t nreread;
    // inputs of which all rounds read the same, for which no thread has room
    const tensor_val *reread;
    uint32_t nstay;
    // inputs whose pieces that matrix operations multiply by stay for all rounds
    const tensor_val *stay;
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
    // CARRY: so many terms of a run are added up before the factor of the sum is applied; 0: one
    uint32_t level;
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
    loop_distribution distributed;
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
