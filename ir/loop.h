// Loop IR: how an op is computed. A plan is kernels in order; a kernel is loops over positions, dealt out to blocks,
// groups, lanes, registers and vectors, around the stages of the op. Scalar expressions are those of tensor IR.
//
// Enters: built by passes/ from tensor IR and a schedule, or read from text. Leaves: lowered to simt IR by
// passes/lower/. Memory: the arena of the plan. Text form: LOOP.md.
//
//     kernel spmm threads 128 lanes 32 {
//       for v in 0 .. size(V) [group 4, block] {              // a block owns four rows, a group of lanes one
//         for f in 0 .. size(F) [vector 4, lane 32, serial] { // 128 features at a time
//           reduce y.sum {
//             for p in offsets.dst[v] .. offsets.dst[v + 1] [serial] {
//               let e = p
//               contribute y.sum                              // lift and combine the stage's body here
//             }
//           }
//           store y                                           // finish, round, store
//         }
//       }
//     }
#ifndef GNNC_LOOP_H
#define GNNC_LOOP_H

#include "tensor.h"

// ---- Layouts ---------------------------------------------------------------------------------------------
// A loop visits lo … hi. Its position is written in mixed radix, innermost digit first; a digit names who takes its
// values. What the digits do not cover is the rest: the outermost digit, of unknown extent, taken by steps of their
// product (`serial`) or by blocks (`block`); `whole` says the digits cover hi - lo. A position at or past hi is masked:
// nothing is contributed or stored there.
#define LOOP_PLACES(X)                                                                                      \
    X(VECTOR, "vector")     /* elements of one vector access; innermost digit alone */                      \
    X(REGISTER, "register") /* copies a thread holds, written out */                                        \
    X(LANE, "lane")         /* lanes of a group: threads that may shuffle */                                \
    X(GROUP, "group")       /* groups of a block */                                                         \
    X(SERIAL, "serial")     /* one after the other */                                                       \
    X(UNROLL, "unroll")     /* serial, written out */                                                       \
    X(BLOCK, "block")       /* blocks of the grid; a rest alone */                                          \
    X(WHOLE, "whole")       /* a rest alone: there is none */
typedef enum {
#define X(name, text) LOOP_##name##_PLACE,
    LOOP_PLACES(X)
#undef X
    LOOP_PLACE_COUNT
} loop_place;
const char *loop_place_text(loop_place p);

typedef struct {
    loop_place place;
    uint32_t extent;
    uint32_t unit;   // LANE, GROUP: the digit is (number / unit) % extent of the thread's lane or group number
} loop_digit;
enum { LOOP_MAX_DIGITS = 8 };

// ---- Nodes -----------------------------------------------------------------------------------------------
typedef enum {
    LOOP_FOR,          // var lo hi digits rest; body
    LOOP_LET,          // var := value, for the nodes after it in the same body
    LOOP_GIVEN,        // key is value, in the nodes after it in the same body: what its loops have made sure of
    LOOP_IF,           // value: bool; body
    LOOP_PHASE,        // body; phases of one body meet at barriers where one reads what another writes in shared memory
    LOOP_REDUCE,       // stages; body walks their bound variables; after it their states are known at the left variables
    LOOP_CONTRIBUTE,   // stages[0], inside its REDUCE: lift its body and combine; with states: combine those instead
    LOOP_STORE,        // stages[0]: its targets. A reduction's state, finished, or its else; otherwise its body
    LOOP_CLEAR,        // stages[0]: its targets get what it has where nothing is contributed, for COMBINE
    LOOP_COMBINE,      // stages[0]: its state is combined with its cleared targets in memory, whoever else does so at a time
    LOOP_STORE_STATE,  // stages[0]: its raw state into the vals of `states` at index: what another kernel combines
    LOOP_CARRY,        // stages; walks sorted keys: see below
    LOOP_WITHOUT,      // var; body: the loop around that binds var does not count there, so its threads are free
    LOOP_WITHIN,       // sizes lo hi; body: where no lane of the warp has more than so many positions lo … hi, its loops of such
                       // ranges are taken whole; the least size that does counts
    LOOP_LEVEL,        // stages, inside their REDUCE: what body contributes, times the first factor of their bodies
    LOOP_AGAIN,        // body, at the end of a REDUCE by matrix operations: reduces anew what is not finite
    LOOP_NODE_COUNT
} loop_node_kind;

// A reduction by matrix operations of a warp, whose pieces its loops deal out as simt_mma_at has them: see LOOP.md.
#define LOOP_NO_ROWS ((tensor_var)UINT32_MAX)   // what stands on the left is the same for all rows
typedef struct {
    simt_mma kind;
    tensor_var rows, columns, depth;   // of the loops over what stands on the left, on the right, and is reduced
    uint32_t accumulators;             // that products which follow one another along the depth take in turn
} loop_matrix;
#define LOOP_MOST_ACCUMULATORS 4

// What a block has of an input in shared memory in a round of a loop: rows, one for each point of the round, or of another loop; or a tile, of the
// points of the round and of those that the block has at once of another loop, on two axes, of which one is the last.
#define LOOP_NO_BESIDE ((tensor_var)UINT32_MAX)
typedef struct {
    tensor_val val;
    const tensor_expr *index;   // of each axis; of rows, of two axes, the first one's alone
    uint32_t nindex;
    tensor_var beside;          // of the other loop; LOOP_NO_BESIDE: rows
    bool own;                   // rows of the points that the block has of that loop around, there in all rounds; they come last
    uint32_t pitch;             // elements from one row to the next; of panels 0
    uint32_t skew, every;       // and so many more from each so many of them to the next; 0: none
    bool panels;                // rows lie in panels, as operations of four warps have them (simt_mma_row_at), and nothing else reads them there
} loop_fetch;

// A maximum that is found while sums of the same walk take exponentials of differences from it (loop_online.c).
typedef struct {
    uint32_t stage;     // into op->stages
    tensor_expr slot;   // CONTRIBUTE: a LOAD of what was the maximum for the states
    bool behind;        // sums follow it once it is larger by more than 8 than what they are relative to, where the kernel is approximate
} loop_maximum;

typedef struct loop_node loop_node;
typedef VEC(loop_node *) loop_body;
struct loop_node {
    loop_node_kind kind;
    span at;              // of the statement or stage it comes from
    loop_body body;
    // FOR, LET, WITHOUT
    tensor_var var;
    tensor_expr lo, hi;   // i64 or index
    loop_digit digits[LOOP_MAX_DIGITS];
    uint32_t ndigits;
    loop_place rest;      // SERIAL, UNROLL (extent is constant), BLOCK or WHOLE
    uint32_t unroll;      // rest SERIAL: rounds written out at a time; 0, 1: none
    bool within;          // rest SERIAL, masked: its range is that of the WITHIN around
    bool masked;          // unroll > 1: also where fewer are left, a mask each; else those are taken one at a time
    bool dealt;           // what is left to do after the reductions inside: lanes that reduce take a written out step each
    loop_digit deal_to;   // dealt, of a walk whose steps need none of a loop around: that loop's lanes; extent 0: it is none
    tensor_var deal_of;   // that loop's
    uint32_t step;        // rest BLOCK, without digits: a block is at one position in so many; 0, 1: each
    uint32_t pad;         // hi is the size of var's space, rounded up to a multiple: what lies past the size repeats the last
                          // position; 0: it ends where the space does
    uint32_t nheld;
    const tensor_expr *held;    // FOR: loads at var that lanes hold for a round of the rest, each an entry of it
    uint32_t held_by;           // so many lanes, neighbours in their warp
    uint32_t nfetched;
    const loop_fetch *fetched;  // FOR: what lies in shared memory in a round of its outermost serial digit or rest
    uint32_t buffers;           // rounds whose rows are there or on their way
    uint32_t nreread;
    const tensor_val *reread;   // FOR: inputs of which what all rounds read alike is read again by each, which no thread has room for
    // WITHIN
    uint32_t nsizes;
    const uint32_t *sizes;   // growing
    bool alone;              // no range is longer than the greatest
    // LET, GIVEN, IF
    tensor_expr value;
    // REDUCE, CONTRIBUTE, STORE, STORE_STATE, CARRY
    uint32_t nstages;
    const uint32_t *stages;     // into op->stages
    const loop_matrix *matrix;  // REDUCE: by matrix operations; NULL: by itself
    // REDUCE: those of its stages whose maximum is known so far only, where its other stages read it; CONTRIBUTE with states: what
    // those hold differences from
    uint32_t nmaxima;
    const loop_maximum *maxima;
    // CONTRIBUTE, STORE_STATE: the states, loads or vals. CARRY: of the slot `first`; none: what is cut is combined in memory
    uint32_t nstates;
    const tensor_expr *states;  // LOAD expressions: what is read, or where is written
    tensor_expr valid;          // CONTRIBUTE with states: bool, whether there is one; 0: always
    // CARRY: see LOOP.md
    tensor_expr key;            // of the position at hand: index; GIVEN: a load of an index
    const tensor_expr *last;    // LOADs of a slot by participant, as `states`: runs cut at its end; those at its begin
};

// ---- Where values live -----------------------------------------------------------------------------------
typedef enum {
    LOOP_MEMORY,      // parameters, results; stages in workspace
    LOOP_SHARED,      // shared memory of the block
    LOOP_REGISTERS,   // known to the thread that computed it, at the point where it was stored
    LOOP_INLINE       // computed again wherever it is read
} loop_home;
typedef struct {
    loop_home home;
    uint32_t extent[8];       // SHARED: elements an axis, constant
    tensor_expr origin[8];    // SHARED: index of the first element on an axis; 0: the first of its space
    ir_dtype type;            // SHARED: storage type
    tensor_val of;            // SHARED: the value it is a tile of, read through it in the body of `scope`; else TENSOR_NO_VAL
    uint32_t stage;           // INLINE: of op->stages
    uint32_t pad[8];          // of a stage, in MEMORY or SHARED: an axis has room up to a multiple, and every store fills it; 0: not
    tensor_expr pitch[8];     // where pad is: elements of the axis
} loop_value;
enum { LOOP_MAX_PAD = 1 << 16, LOOP_MAX_SIZES = 8, LOOP_MAX_BUFFERS = 8 };   // sizes of a WITHIN

// ---- Plans -----------------------------------------------------------------------------------------------
typedef struct {
    tensor_val val;        // in memory
    simt_cache cache;
} loop_hint;
typedef enum {
    LOOP_START_IN_TURN,      // when all kernels before have ended
    LOOP_START_WAIT_FIRST,   // early, while the one before runs; it waits until that has ended before anything could tell
    LOOP_START_WAIT_LAST,    // early; it waits before it ends, as it meets no kernel that may still run
    LOOP_START_TOGETHER,     // in the launch of the one before, whose blocks come first; it meets none of that launch either
    LOOP_START_ALTERNATE     // likewise, and its blocks alternate with those of the others
} loop_start;
static inline bool loop_shares_launch(loop_start s) { return s == LOOP_START_TOGETHER || s == LOOP_START_ALTERNATE; }
typedef struct {
    const char *name;      // the kernel's: "spmm_f32_y"
    uint32_t threads;      // of a block on a GPU; groups × lanes
    uint32_t lanes;        // of a group; a power of two where lanes shuffle
    uint32_t occupancy;    // threads a multiprocessor should have room for; 0: the assembler says how many registers each has
    bool fits;             // or for fewer, where the kernel needs more registers than that leaves
    uint32_t persistent;   // blocks a multiprocessor, each of which takes one share of the grid after the other; 0: all blocks
    bool approximate;      // exponentials are the GPU's own instruction
    loop_start start;
    bool seldom;           // few graphs have anything for it; of no concern but where passes choose how it starts
    VEC(loop_hint) hints;  // how its loads and stores of a value are cached
    loop_body body;
    span at;
} loop_kernel;

typedef struct {           // what the runtime prepares: a val of role VAL_PREPARED
    tensor_val val;
    prepared_builder builder;
    uint32_t nargs;
    const tensor_val *args;   // maps and other prepared vals
    int64_t extent;           // of tiles, parts, windows; else 0
    int64_t slots;            // of a block of windows, where that is said; else 0
} loop_prepared;

typedef enum { LOOP_LAUNCH, LOOP_ROUNDS, LOOP_ROUNDS_END } loop_step_kind;
typedef struct {
    loop_step_kind kind;
    loop_kernel *kernel;   // LAUNCH
    uint32_t loop;         // ROUNDS: of op->loops
} loop_step;

typedef struct loop_plan {
    arena *arena;
    tensor_op *op;             // a copy of the op's, extended by positions, prepared arrays and partial states
    VEC(loop_value) values;    // per val of op
    bool together;             // guards see to it that what loop_side_by_side, loop_in_a_row and loop_in_eights tell of is aligned as one access
    VEC(loop_prepared) prepared;
    VEC(loop_step) steps;
    const tensor_op *typed;    // the op as it came, in the types its schedule asks for; NULL: in its own
    const uint32_t *every;     // of typed, as tensor_eval_input has it
    VEC(const char *) apart;   // stages whose sums are taken apart, likewise
    VEC(const char *) relative;   // stages whose products are rounded relative to a maximum found on the run, or of approximate exponentials
    bool narrow;               // those in cells of windows are, differences among them of numbers rounded apart
    bool near;                 // some exponentials are the machine's approximations
    bool any_strides;          // arrays may lie as they do: nothing is taken for granted of them for the sake of addresses
} loop_plan;

// A text (LOOP.md): versions of an op, each a plan and what it takes for granted, and the op as it is defined; or a plan alone.
typedef struct {
    const char *name;            // NULL: a plan alone, whose guards its loops tell
    VEC(program_guard) guards;   // of the definition's spaces and parameters
} loop_version;
typedef struct loop_text {
    tensor_op *definition;       // NULL: of a plan alone
    VEC(loop_plan *) plans;
    VEC(loop_version) versions;  // of each plan
} loop_text;

loop_plan *loop_plan_new(arena *a, const tensor_op *op);   // copies op, each stage with variables of its own; all in memory, no steps
tensor_val loop_add_val(loop_plan *p, tensor_val_info info, loop_value where);
loop_node *loop_node_new(loop_plan *p, loop_node_kind kind, span at);
bool loop_contributes(const loop_body *body, uint32_t stage);   // at any depth
loop_node *loop_over_var(const loop_body *body, tensor_var v);   // the first loop over it, at any depth; NULL: none
static inline void loop_append(loop_plan *p, loop_body *to, loop_node *n) { VEC_PUSH(p->arena, to, n); }
// The most tiles of `extent` points that a map cuts the domain into, none of which crosses a value.
// Parts of rows, the values of a map, as part_rows has them.
tensor_expr loop_parts(tensor_op *op, tensor_val map, int64_t extent);
tensor_expr loop_cut_parts(tensor_op *op, tensor_val map, int64_t extent);   // those of rows of several
const loop_prepared *loop_prepared_by(const loop_plan *p, tensor_val val, prepared_builder b);   // the row of a value that b makes; NULL: it is none
bool loop_by_degree(const loop_plan *p, tensor_val order, tensor_val map, int64_t least);   // of a map's values, the greatest first, of all degrees above `least`
tensor_expr loop_class_parts(tensor_op *op, tensor_val map, int64_t extent, tensor_expr rows);   // those of the first so many, in an order of theirs
tensor_expr loop_cut_rows(tensor_op *op, tensor_val map, int64_t extent);    // how many rows that are
tensor_expr loop_most_tiles(tensor_op *op, tensor_space domain, tensor_space into, int64_t extent);
// Windows of so many rows; the most slots that those of the values of a map have, a block of them with others at its end.
tensor_expr loop_windows(tensor_op *op, tensor_space rows, int64_t extent);
tensor_expr loop_places(tensor_op *op, tensor_space rows, int64_t extent);   // in windows, some of which end early
int64_t loop_masks(int64_t slots);   // size of the space of numbers of so many bits: of 32 they are signed
tensor_expr loop_most_slots(tensor_op *op, tensor_val map, int64_t extent, int64_t block);
uint32_t loop_digits_product(const loop_node *n);
enum { LOOP_MOST_PARTS = 512, LOOP_MOST_APART = 64 };   // numbers of a row that are taken apart; columns of their product at once
bool loop_fetch_parts(const tensor_op *op, const loop_fetch *f);   // f32 in panels: two planes of f16 in its room, and a factor of each row, f32, behind
uint32_t loop_fetch_room(const tensor_op *op, const loop_node *n, const loop_fetch *f, const loop_node *beside);   // bytes of all its buffers
static inline uint32_t loop_fetch_buffers(const loop_node *n, const loop_fetch *f) { return f->own ? 1 : n->buffers; }   // of what it fetches
uint32_t loop_fetch_rows(const loop_node *n);   // points a round of it covers, of which each row fetched is one
const tensor_node *loop_matrix_factor(const tensor_op *op, tensor_expr e);   // what an operand of a matrix operation is made of, without what rounds or widens it
typedef struct {   // in shared memory
    uint32_t row_axis;        // whose index tells the row
    bool along;               // a tile's last axis is that of the round
    uint32_t rows, columns;   // of one buffer
    uint32_t bytes;           // that are copied at once, 2, 4, 8 or 16; 0: rows are not made of such
    uint32_t elements;        // of one buffer, with what lies between rows
} loop_tile;
loop_tile loop_fetch_tile(const tensor_op *op, const loop_node *n, const loop_fetch *f, const loop_node *beside);   // beside: its loop, NULL: rows

bool loop_multiplies(const tensor_op *op, const loop_node *reduce, uint32_t stage);   // whether the matrix operation of a REDUCE sums that one of its stages
const loop_node *loop_again(const loop_node *reduce);   // what a reduction by matrix operations ends with; NULL: nothing
uint32_t loop_matrix_held(simt_mma kind);   // points of the depth that a lane has of an operation
uint32_t loop_matrix_products(const loop_node *depth, simt_mma kind);   // that follow one another in a step along the depth, of each sum
bool loop_matrix_alternate(const loop_node *columns);   // columns of several pieces, which a lane has adjacent
uint32_t loop_matrix_run(const loop_node *depth, simt_mma kind);   // adjacent points of the depth that a lane has; 0: they are not
// Whether every value of a float expression is one that the operands of a matrix operation have (loop_verify_matrix.c).
bool loop_matrix_holds(const loop_plan *p, tensor_expr e, simt_mma kind);
ir_dtype loop_matrix_type(simt_mma kind);   // of rows that it multiplies as they lie in panels

// ---- Maxima found on the run (loop_online.c) -------------------------------------------------------------
bool loop_is_maximum(const tensor_op *op, const tensor_stage *st);   // of floats, by itself, and known as it is held
// Whether a term is held times exp(m - m') where it is to be one of the maximum m' and was one of m, which val is.
bool loop_rescales(arena *a, const tensor_op *op, tensor_expr term, tensor_val val);
bool loop_always_rescales(arena *a, const tensor_op *op, tensor_expr term, tensor_val val);   // and no choice leaves the exponential out
tensor_expr loop_load_of(arena *a, const tensor_op *op, tensor_expr e, tensor_val val);   // the first in it; 0: it does not read it
const loop_maximum *loop_running(const loop_node *reduce, const tensor_op *op, tensor_val val);   // NULL: it is none of its maxima

// ---- Padding (loop_pad.c) --------------------------------------------------------------------------------
tensor_expr loop_padded(tensor_op *op, tensor_space s, uint32_t pad);   // its size rounded up to a multiple
uint32_t loop_steps_written_out(const loop_node *n);   // 1: none
bool loop_reduces(const loop_body *body);              // a REDUCE stands in it
// The one digit of threads that walks what is reduced, where it is of lanes and a power of two; false: it is none of these.
bool loop_reducing_lanes(const loop_node *reduce, loop_digit *out);
// Whether the steps of a loop may be dealt; *lanes: those that reduce.
typedef enum {
    LOOP_DEALT_WELL,
    LOOP_DEALT_STEPS,    // none are written out, or their number is no power of two
    LOOP_DEALT_BARE,     // a walk's are not masked
    LOOP_DEALT_LANES,    // what is reduced inside is not by one digit of lanes, the same everywhere
    LOOP_DEALT_FEW,      // more steps than lanes
    LOOP_DEALT_READ,     // of a walk: a reduction reads what another one found of the step
    LOOP_DEALT_OTHERS    // something else stands inside than reductions and stores that follow them
} loop_dealt_fault;
loop_dealt_fault loop_check_dealt(arena *a, const tensor_op *op, const loop_node *n, uint32_t *lanes);
// Of a walk: what its steps compute without `apart`, the loop over deal_of, that loop's lanes take.
loop_dealt_fault loop_check_dealt_walk(arena *a, const tensor_op *op, const loop_node *n, const loop_node *apart);
bool loop_has_padding(const tensor_op *op, const loop_node *n);   // past the size of its space
// How many neighbours along the axis before the last one access of a packed value has: those that a thread holds, where
// one vector has all of the last axis. 0: each has an access of its own. The loops are over the two axes.
uint32_t loop_side_by_side(const tensor_op *op, tensor_val v, const loop_node *before, const loop_node *last);
// Likewise of the last axis itself, by elements.
uint32_t loop_in_a_row(const tensor_op *op, tensor_val v, const loop_node *last);
enum { LOOP_EIGHT = 8 };
// Or how many eights of 16 bits, of which a thread has two neighbours each and three other lanes the rest: four of them change
// places, an access each. 0: they do not.
uint32_t loop_in_eights(const tensor_op *op, tensor_val v, const loop_node *last);
// Per value and axis, at [8 * val + axis]: what all its stores are padded to; 0: one of them is not.
const uint32_t *loop_stored_pads(arena *a, const loop_plan *p);
bool loop_may_pad(const loop_plan *p, tensor_val v, uint32_t axis, uint32_t pad);   // it has the room, or may have it

// ---- Kernels launched early (loop_overlap.c) -------------------------------------------------------------
typedef struct {           // per value, in memory
    bool *reads, *writes;  // writes: it, or what shares its memory
    const struct loop_points **points_of;   // where writes: the stages that store points of it, the last one first
} loop_uses;
struct loop_points {
    uint32_t stage;   // UINT32_MAX: it is written in another way
    const struct loop_points *before;
};
loop_uses loop_uses_of(arena *a, const loop_plan *p, const loop_kernel *k);
bool loop_blocks_alike(const loop_kernel *a, const loop_kernel *b);   // so that both can be of one launch
// A stage's value lies in memory, as large as it is, and the kernel does not write it: others did before.
bool loop_stored_before(arena *a, const loop_plan *p, const loop_kernel *k, tensor_val v);
// A value because of which two kernels may not run at the same time; TENSOR_NO_VAL: they may.
tensor_val loop_uses_meet(const loop_plan *p, const loop_uses *a, const loop_uses *b);
const char *loop_start_fault(arena *a, const loop_plan *p, uint32_t step);   // of a launch: why it may not start as it does

// ---- States combined in memory (loop_atomic.c) -----------------------------------------------------------
const char *loop_atomic_fault(const tensor_op *op, const tensor_stage *st);   // NULL, or why a stage's states cannot be
bool loop_atomic_exact(const tensor_op *op, const tensor_stage *st);          // they give the same bits in any order
const loop_node *loop_unordered(const loop_plan *p);                          // a node whose bits depend on time; NULL: none

// ---- Text and verification -------------------------------------------------------------------------------
void loop_print(textbuf *out, const loop_plan *p);   // the op in tensor IR, then the plan
void loop_print_text(textbuf *out, const loop_text *t);   // likewise each plan, with its version, and the definition
// false: ds tells why. What loop_print and loop_print_text write reads back to the same text.
bool loop_parse(arena *a, diag_set *ds, const source_file *text, loop_text *out);
const char *loop_verify(arena *a, const loop_plan *p);   // NULL, or what is wrong, in words

#endif
