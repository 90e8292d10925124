// Inside the lowering of loop plans to simt IR: lower/lower.c adds to the program, lower/kernel.c makes a kernel
// and its parameters, lower/digits.c says which digits a value depends on, lower/loop.c loops,
// lower/body.c what stands in them, lower/phase.c barriers, lower/reduce.c and lower/carry.c states and what combines them,
// lower/ahead.c the loads of several steps, lower/dealt.c steps that
// lanes go on with one each, lower/store.c stores, lower/check.c what is refused, lower/memory.c
// addresses, loads and shared memory, lower/adjacent.c loads that copies share, lower/expr.c scalar
// expressions, lower/matrix/eights.c pieces that four lanes have of a row, lower/maximum.c differences from a maximum, lower/elsewhere.c masked steps past the end, lower/divide.c positions divided by sizes,
// lower/rows.c maps at the points of a row, lower/held.c what lanes hold for each other, lower/fetch.c rows that blocks copy for rounds,
// lower/round_ahead.c what a round reads of the next one.
//
// A value is known once for each of the *instances* it differs in: the digits of loops in scope that are
// written out (register, unroll). Digits of threads (lane, group) make it differ between threads. One vector
// digit at a time is the lanes of simt vectors; while a lane is fixed, the same expressions are scalars of
// that lane.
//
// What is taken for granted, and guarded by the version: loops with a vector digit begin at and run to
// multiples of its extent, and rows it accesses are aligned to its accesses; in narrow mode, sizes and
// element offsets fit 31 bits.
#ifndef GNNC_LOWER_H
#define GNNC_LOWER_H

#include "plan.h"

typedef struct {   // instructions of a region that take a product's parts, which a barrier comes first of; region 0: nowhere
    simt_region region;
    uint32_t begin, end;
} lw_join;

typedef struct {   // what the kernels of a plan share
    arena *arena;
    const loop_plan *plan;
    const tensor_op *op;   // the plan's
    program *p;
    program_version *v;
    const lower_options *o;
    uint32_t *temp_of;       // per value: its temporary; UINT32_MAX: not met yet
    uint32_t *prepared_of;   // per value: UINT32_MAX: not prepared
    uint8_t *none_facts;     // per expression: see base/scalar.h
    bool *nonpositive;       // per exponential: see lower/maximum.c
    bool *bare;              // likewise: something reads it where no choice of 0 is around for a difference from -inf
    uint32_t *visited, visits;
} lowering;

// ---- Digits of loops in scope ----------------------------------------------------------------------------
enum { LOWER_WARP = 32, LOWER_MAX_AXES = 64, LOWER_NO_AXIS = LOWER_MAX_AXES };
typedef uint64_t axis_set;
#define AXIS(i) ((axis_set)1 << (i))
typedef struct {
    loop_place place;   // REGISTER, UNROLL: written out; VECTOR; LANE, GROUP
    uint32_t extent, unit;
    uint32_t weight;   // of the digit in the position
} lower_axis;
typedef struct {
    const loop_node *node;
    uint32_t first;   // axis of the outermost digit; a rest that is written out comes before
    bool entered;
} loop_axes;

// A position: a scalar; or for each lane l of the vector, at + l (ALONG: the loop's own, aligned; SHIFTED:
// another); or any vector.
typedef enum { POSITION_ONE, POSITION_ALONG, POSITION_SHIFTED, POSITION_ANY } position_shape;
//
// Of a padded loop, `at` may lie past the last position of its space: who holds no padding takes `last` for it.
typedef struct {
    simt_value at;
    position_shape shape;
    uint32_t pad;      // 0: not of one, and it is a position of its space
    simt_value last;   // of the space
    simt_value step, inside;   // of a masked step: where it is, which may be past the end, and whether it is not; 0: of none
} position;

typedef enum { BOUND_NOT, BOUND_LOOP, BOUND_LET, BOUND_GIVEN } binding_kind;
typedef struct {
    binding_kind kind;
    axis_set axes;       // what it depends on
    axis_set own;        // LOOP: those that `of` is indexed by
    simt_value *of;      // LOOP: position at vector lane 0
    simt_value *step, *inside;   // LOOP: of masked steps, see position; NULL: it has none
    bool along;          // LOOP: one of its digits is the vector
    bool columns;        // LOOP: of the columns of a factor, which other lanes hold of the product
    uint32_t pad;        // LOOP: positions go on to a multiple; 0: to the end of the space
    simt_value last;     // where pad is: the last position of the space
    uint32_t whole;      // likewise: copies that have no padding come first
    simt_value base, end;   // LOOP: the first position that the block has at once, and the end of all
    tensor_expr value;   // LET
    position given;      // GIVEN
} binding;

typedef struct {   // an expression's values, by instance; see lower/digits.c
    bool known;    // its axes are
    axis_set axes;
    simt_value *of;
} memo_cell;
typedef struct {
    tensor_expr expr;
    uint32_t slot;   // UINT32_MAX: that the axes are known
} memo_entry;

typedef struct {
    const loop_node *node;
    axis_set axes;
    simt_value *of;   // NULL: never past the end
} loop_mask;

// A carry: the key of the run at hand, whether it began before the range, whether there is one.
enum { CARRY_KEY, CARRY_BEFORE, CARRY_OPEN, CARRY_SLOTS };

typedef struct {   // of a reduction: while it is open, slots are carried through loops and branches
    const loop_node *node;
    uint32_t stage;
    const tensor_reducer *r;
    bool open, level;       // level: the factor of its body is left out
    bool product;           // a matrix operation sums it
    axis_set round;         // lanes that go on with one maximum, known in each round of matrix operations
    bool some;              // some: whether anything was combined is a last component
    loop_digit steps;       // lanes that had a step each of a walk's rounds, and states of their own; extent 0: all had all
    bool chained;           // lanes of a vector contribute one after the other to one state
    axis_set left, bound;   // digits of the left variables; of the loops inside
    axis_set copies;        // those that slots are indexed by
    uint32_t masks;         // loops in scope where it began
    VEC(tensor_expr) cells; // of matrix operations, and what is reduced beside them: conditions around, where they hold a cell of rows and depth is not 0
    simt_type *types;       // of components
    uint32_t n;
    simt_value *slot;        // instance × component
    simt_value *most;        // of a maximum that slots follow at a distance: by instance, what this lane has met; NULL: of none
    simt_value scale;        // a positive constant that its terms are products with, met without it; 0: of none
    tensor_expr scaled;      // what they are without it
    const loop_node *walk;   // CARRY: the loop over its positions; else NULL
    simt_value run[CARRY_SLOTS], has_before,
        *fresh;   // CARRY: has_before: there are positions before the range
} reduction;

typedef struct {   // a value the thread knows: of home REGISTERS, or of another and read again in the kernel
    tensor_val val;
    position index[8];
    simt_value value;
} register_value;

typedef struct {   // of a loop over the columns of matrix operations, those that lanes hold of B: see lower/matrix/matrix.c
    const loop_node *node;
    binding at;
} matrix_columns;

typedef struct {   // rows or a tile that lie in shared memory in a round of a loop in scope: see lower/fetch.c
    const loop_node *node;
    const loop_fetch *rows;
    const loop_node *beside;   // of a tile; NULL: rows
    loop_tile tile;
    uint32_t at;        // bytes: of the first buffer
    simt_value buffer;  // i32: bytes from there to the round's
    simt_value factors; // i32: likewise, to those of its rows that were taken apart, f32: see lower/matrix/apart.c
    simt_value base, hi;   // of the round
    const struct filling *next;        // whose indices are read while the round goes on; NULL: none
    const simt_value *next_rows;       // those indices
} fetched_rows;

typedef struct {   // where the first buffer of what a loop fetches lies, bytes
    const loop_fetch *of;
    uint32_t at;
} fetched_room;

typedef struct {   // the round at hand of a loop in scope: of the index, which starts there
    const loop_node *node;
    simt_value index, start;
} counted_round;

typedef struct {   // map[point] is row: the loop over point walks that row
    tensor_val map;
    tensor_var point, row;
} walked_row;

struct dealt_steps;
typedef struct {
    lowering *l;
    const loop_kernel *plan;
    simt_func *f;
    simt_type ix;   // of positions
    VEC(program_arg) args;
    VEC(simt_value) values;               // of the args
    bool *written;                        // per value: the kernel stores it, or what shares its memory
    bool *read;                           // per value: the kernel loads it
    bool *unsettled;                      // per value: a kernel before may still use it when this one starts; NULL: none does
    bool waits_to_write;                  // it waits at its end, and before it leaves what parts of rows have found
    bool *held;                           // per value: lanes hold entries of it, or did
    double **elsewhere;                   // per value: what masked steps past the end take for it; NULL: nobody asked
    simt_value owner;   // 0, or: only where it holds is memory loaded that the kernel overwrites in place
    uint32_t *shared_at;                  // per value: byte offset + 1
    VEC(fetched_room) fetched_at;         // of what loops fetch, each met
    uint32_t scratch_at, scratch_bytes;   // of the states that groups exchange
    lw_join join;                         // where they did last
    simt_value lane, group, thread;       // i32; of blocks of more than one thread
    VEC(loop_axes) loops;
    lower_axis axis[LOWER_MAX_AXES];
    int32_t at[LOWER_MAX_AXES];   // coordinate at hand of what is written out, or vector lane; -1: not fixed
    uint32_t vector;              // the axis that is the lanes of vectors
    VEC(const loop_node *) block_loops;
    simt_value *block_at;   // per block loop
    binding *var;
    memo_cell *memo, *spare;   // spare: an empty one, or NULL
    VEC(memo_entry) log;
    const simt_value *arg, *left, *right;   // of the reducer expression at hand
    VEC(loop_mask) masks;
    VEC(reduction *) reductions;
    bool *carried;   // per variable: a carry's key says what it is
    VEC(register_value) registers;
    VEC(tensor_val) tiles;   // filled, in scope
    VEC(walked_row) rows;    // of loops in scope
    const bool *even;            // per space: what pads it has no padding; NULL: it may have
    uint32_t within;             // the size of the case at hand; 0: loops go round
    struct dealt_steps *dealt;   // of the loop in scope that deals its steps; NULL: there is none
    VEC(matrix_columns) columns;   // of loops in scope
    VEC(const loop_node *) given;  // GIVEN nodes in scope
    simt_value cell;               // that an entry stands in the cell of a window at hand; 0: no cell is
    simt_region whole;             // where whole warps read a product's first factor; 0: nowhere
    bool again;                    // what is not finite is found once more (lower/again.c)
    axis_set cell_axes;            // that depends on them
    const struct read_ahead *ahead;   // of the loop whose round is at hand; NULL: nothing was read a round before
    VEC(fetched_rows) fetched;     // of loops in scope
    VEC(counted_round) rounds;     // of loops in scope, that go round
} kernel;

// ---- Kernels (lower/kernel.c) ----------------------------------------------------------------------------
void lw_kernel(lowering *l, uint32_t step);   // a launch of the plan
// Launches that overlap (lower/early.c).
const loop_kernel *lw_launch_at(const lowering *l, uint32_t step);   // NULL: the step is none
bool lw_together(const lowering *l, uint32_t step);   // it is in the launch of the one before
void lw_find_unsettled(kernel *k, uint32_t step);
void lw_find_left(kernel *k, uint32_t step);   // whether it waits to write
void lw_begin_early(kernel *k, simt_builder *b, uint32_t step);
void lw_end_early(kernel *k, simt_builder *b);
void lw_wait_late(kernel *k);   // when all is built: the wait goes as far down as it may
simt_value lw_arg(kernel *k, arg_kind kind, uint32_t index, uint32_t axis);
simt_value lw_size(kernel *k, simt_builder *b, tensor_space s);   // i64
simt_value lw_number(kernel *k, tensor_expr e);                   // i64
simt_value lw_ix(kernel *k, simt_builder *b, int64_t x);
simt_value lw_to_ix(kernel *k, simt_builder *b, simt_value x);
static inline bool lw_threads(const kernel *k) { return k->plan->threads > 1; }
bool lw_constant(const tensor_op *op, tensor_expr e, int64_t *out);
uint32_t lw_step(const loop_node *n);   // positions a round of the rest covers

// ---- Digits (lower/digits.c) -----------------------------------------------------------------------------
void lw_number_axes(kernel *k);
loop_axes *lw_axes_of(kernel *k, const loop_node *n);
uint32_t lw_axis(kernel *k, const loop_node *n, uint32_t digit);
axis_set lw_axes_enter(kernel *k,
                       const loop_node *n);   // its digits; may have been entered by a reduction around it
void lw_axes_leave(kernel *k, const loop_node *n);
axis_set lw_written_out(const kernel *k, axis_set s);
axis_set lw_depends(kernel *k, tensor_expr e);
axis_set lw_var_depends(kernel *k, tensor_var v);
bool lw_is_known(const kernel *k, tensor_expr e);   // at the instance at hand, the first of those that are not fixed
bool lw_know(kernel *k, tensor_expr e, axis_set s);   // that it depends on s; false: what it depends on is known
simt_value lw_remember(kernel *k, tensor_expr e, simt_value v);   // at the instance at hand
simt_value lw_remembered(const kernel *k, tensor_expr e);   // likewise
bool lw_mentions(lowering *l, tensor_expr e, tensor_var v);
bool lw_vector_free(const kernel *k, axis_set s);   // holds the vector digit, and no lane is fixed
uint32_t lw_lanes(const kernel *k);
uint32_t lw_instances(const kernel *k,
                      axis_set s);   // of the digits in s that are written out, and of vector lanes
uint32_t lw_instance(const kernel *k, axis_set s);          // the one at hand
uint32_t lw_stride(const kernel *k, const lower_axis *a);   // between threads whose digit differs by one
// All instances of the digits in s that are not fixed, the last one fastest:
//     for (instance_walk w = walk_begin(k, s); walk_next(&w);) …
typedef struct {
    kernel *k;
    uint32_t n;
    bool begun;
    uint8_t axis[LOWER_MAX_AXES];
} instance_walk;
instance_walk lw_walk_begin(kernel *k, axis_set s);   // the vector digit only where s holds it
bool lw_walk_next(instance_walk *w);

typedef struct {
    uint32_t log, registers;
} region_mark;
region_mark lw_enter(const kernel *k);
void lw_forget(kernel *k, uint32_t log);   // what was remembered since the log was so long
void lw_leave(kernel *k, region_mark m);

// ---- Loops (lower/loop.c) --------------------------------------------------------------------------------
void lw_for(kernel *k, simt_builder *b, const loop_node *n);
bool lw_has_one_round(const kernel *k, const loop_node *n);   // of known bounds
typedef struct {
    simt_value base, hi;
    bool masked;       // may pass hi
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
} loop_round;
void lw_bind(kernel *k, simt_builder *b, const loop_node *n, axis_set own, round_of r);   // its positions and mask
void lw_body(kernel *k, simt_builder *b, const loop_body *body);
void lw_node(kernel *k, simt_builder *b, const loop_node *n);
typedef VEC(simt_value *) slot_list;
slot_list lw_slots(kernel *k, const loop_body *body);   // of open reductions, by what stands in body
void lw_serial_loop(kernel *k, simt_builder *b, const loop_node *n, simt_value lo, simt_value hi, uint32_t step, loop_round *r);
void lw_last_round(kernel *k, simt_builder *b, const loop_node *n, void *user);   // a loop_round
// Padded loops of the host (lower/padded.c), and bodies for likely sizes of what they pad (lower/sizes.c).
bool lw_pads_rounds(const kernel *k, const loop_node *n);   // it is one, and no loop around may be at its padding
void lw_padded_rounds(kernel *k, simt_builder *b, const loop_node *n, loop_round *r);
void lw_body_by_sizes(kernel *k, simt_builder *b, const loop_body *body);
// A serial loop of the host whose long sums are those of blocks (lower/blocks.c).
typedef struct lower_blocks {
    const loop_node *node;
    slot_list sums;
    simt_value lo, hi;
    uint32_t step;
    loop_round *round;
    void (*loop)(kernel *k, simt_builder *b, const loop_node *n, simt_value lo, simt_value hi, uint32_t step, loop_round *r);
} lower_blocks;
slot_list lw_long_sums(kernel *k, const loop_node *n);   // none: it needs no blocks
void lw_in_blocks(kernel *k, simt_builder *b, const lower_blocks *x);
typedef void region_body(kernel *k, simt_builder *b, const loop_node *n, void *user);
// The body under a condition; states of open reductions that it updates are results.
simt_instr lw_build_if(kernel *k, simt_builder *b, simt_value c, const loop_node *n, region_body *body, void *user);
simt_value lw_masks(kernel *k, simt_builder *b, uint32_t from);   // all loops in scope from there on; 0: true
simt_value lw_digit(kernel *k, simt_builder *b, const lower_axis *a);   // this thread's; i32
simt_value lw_thread_position(kernel *k, simt_builder *b, const loop_node *n,
                              simt_value base);   // base + what its digits add
bool lw_meets(const kernel *k, const loop_body *body);   // something in it must be reached by whole warps

// ---- Rows taken whole (lower/within.c) ---------------------------------------------------------------------
enum { LOWER_MAX_SIZES = LOOP_MAX_SIZES };
void lw_within(kernel *k, simt_builder *b, const loop_node *n);

// ---- What lanes hold for rounds (lower/held.c) ------------------------------------------------------------
void lw_hold(kernel *k, simt_builder *b, const loop_node *n, loop_round *r);   // at the head of a round
simt_value lw_held_steps(kernel *k, simt_builder *b, const loop_node *n, uint32_t digit, const loop_round *r);
uint32_t lw_held_turns(const loop_node *n, uint32_t digit);   // registers that steps of it carry
void lw_held_turn(const loop_node *n, uint32_t digit, const simt_value *held, simt_value *out);
void lw_held_step(kernel *k, simt_builder *b, const loop_node *n, uint32_t digit, simt_value step, loop_round *r);
void lw_take_held(kernel *k, simt_builder *b, const loop_node *n, const loop_round *r);   // at a position

// ---- What rounds read a round before (lower/round_ahead.c) ------------------------------------------------
typedef struct {   // a variable that stands at another position: what is computed for it is known until it comes back
    memo_cell *memo;
    tensor_var v;
    binding was;
    uint32_t log;
} lw_journey;
lw_journey lw_go_to(kernel *k, tensor_var v, simt_value at);
void lw_come_back(kernel *k, const lw_journey *from);
void lw_pin(const kernel *k, simt_value x);   // loaded where it is asked for, not where it is used
typedef struct read_ahead read_ahead;
read_ahead *lw_read_ahead(kernel *k, simt_builder *b, const loop_node *n, simt_value lo, simt_value hi, slot_list *carried);   // NULL: nothing
const simt_value *lw_read_begin(const read_ahead *a);   // indices of rows of the rounds that are copied before the first one
const simt_value *lw_read_next(kernel *k, simt_builder *b, read_ahead *a, simt_value base, simt_value hi);   // in the round at base: indices of rows
simt_value lw_round_has_cells(kernel *k, simt_builder *b, const loop_node *n);   // for some row of the warp; 0: not known
void lw_read_done(read_ahead *a);   // at its end

// ---- Rows copied into shared memory for rounds (lower/fetch.c) --------------------------------------------
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
uint32_t lw_fetched_element_bytes(const kernel *k, const loop_fetch *f);
// From the first row to another, without the pitch of `plus` rows more.
simt_value lw_rows_apart(simt_builder *b, const loop_fetch *f, simt_value row, int64_t plus, uint32_t bytes);
uint32_t lw_panel_rows(const fetched_rows *f);   // of one
simt_value lw_in_panels(simt_builder *b, const fetched_rows *f, uint32_t row_bytes, simt_value row, simt_value part);   // bytes to a row's piece of 16
void lw_take_rows_apart(kernel *k, simt_builder *b, const fetched_rows *f);   // f32 that was copied into panels
// When a thread has taken all it reads of the one buffer's rows to its registers: those of the next round come there.
void lw_fetch_next(kernel *k, simt_builder *b, tensor_expr by);
const fetched_rows *lw_fetched_panels(const kernel *k, const tensor_node *load);   // likewise, in panels
const fetched_rows *lw_fetched(const kernel *k, const tensor_node *load);   // that the load is of; NULL: none
// Of the row at the instance at hand, the elements at `last` on the other axis.
simt_value lw_fetched_part(kernel *k, simt_builder *b, const fetched_rows *f, const tensor_node *load);   // of a row of several axes: where the last one's begins, in elements
simt_value lw_load_fetched(kernel *k, simt_builder *b, const fetched_rows *f, const tensor_node *load, position last,
                           uint32_t lanes);
// A load of such a row, but for its type, which is zeros wherever masks of the loops in scope from there on fail.
bool lw_is_fetched(const kernel *k, tensor_expr e, uint32_t from);

// ---- Steps dealt to lanes (lower/dealt.c) -----------------------------------------------------------------
typedef struct dealt_steps {
    const loop_node *node;
    const loop_round *round;
    uint32_t axis, unit;   // of the steps; of the lanes that reduce
    // Of a walk (deal_to), which goes back and forth:
    bool there;            // the steps are the lanes' now
    bool been;             // and have been: what follows is what they know
    axis_set apart;        // of loops that steps stand without
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
} dealt_steps;
bool lw_deals(const kernel *k, axis_set left);   // and they are among these digits
uint32_t lw_dealt_parts(const kernel *k);        // room that lw_fold_dealt takes
simt_value *lw_fold_dealt(kernel *k, simt_builder *b, const reduction *r, simt_value **part);   // by step
void lw_deal(kernel *k, simt_builder *b);   // from here on the steps are the lanes'
void lw_deal_back(kernel *k);
bool lw_deals_walk(const kernel *k);   // the innermost loop that deals its steps is such a walk
// Before the i-th node of a body in the walk: where its steps should be, and what the body has given is so there.
void lw_deal_for(kernel *k, simt_builder *b, const loop_body *body, uint32_t i);
simt_value *lw_fold_steps(kernel *k, simt_builder *b, const reduction *r, simt_value *x, const loop_digit *lanes);   // of lanes that had one step each
// The position of the copy at hand, of those that stand at base; past the end it is the last one, and not inside.
simt_value lw_copy_position(kernel *k, simt_builder *b, axis_set copies, simt_value base, const round_of *r,
                            simt_value last, simt_value *step, simt_value *inside);

// ---- Matrix operations (lower/matrix/matrix.c) ------------------------------------------------------------------
void lw_bind_columns(kernel *k, simt_builder *b, const loop_node *n, const round_of *r, simt_value last);
axis_set lw_depth_axes(kernel *k, const loop_node *reduce);   // of its pieces along what is reduced
void lw_contribute_product(kernel *k, simt_builder *b, const reduction *r);

// ---- Rows (lower/rows.c) ---------------------------------------------------------------------------------
void lw_walk_row(kernel *k, const loop_node *n);   // the loop is entered; the caller sets the length back
bool lw_row(const kernel *k, const tensor_node *load, tensor_var *row);   // the load gives a row being walked

// ---- Phases (lower/phase.c) ------------------------------------------------------------------------------
typedef struct {
    const kernel *k;
    bool *reads, *writes;   // per value
    uint8_t *seen;
} shared_use;
typedef struct {
    shared_use phases, all;   // since the last barrier
} meeting;
meeting lw_meeting(const kernel *k);
void lw_meet(kernel *k, simt_builder *b, const loop_node *n,
             meeting *m);   // a barrier before n, if one is needed
void lw_meet_again(const kernel *k, simt_builder *b,
                   const loop_body *body);   // … before a body that runs again
void lw_find_read(kernel *k, const loop_body *body);
void lw_forget_tiles(kernel *k, tensor_var v);   // those whose origin mentions v, which is no longer bound
void lw_barrier(simt_builder *b);

// ---- Reductions (lower/reduce.c) -------------------------------------------------------------------------
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
void lw_again(kernel *k, simt_builder *b, const loop_node *reduce, reduction *const *all);   // lower/again.c: all its stages
void lw_carry(kernel *k, simt_builder *b, const loop_node *n);
void lw_carry_body(kernel *k, simt_builder *b, reduction *r, axis_set own);   // of its walk
reduction *lw_reduction(kernel *k, uint32_t stage);
tensor_expr lw_lifted(const kernel *k, const reduction *r, uint32_t i);   // the i-th argument of its lift
// Maxima found on the run (lower/online.c).
axis_set lw_running_axes(const kernel *k, const tensor_node *load);   // of a load of one; else none
simt_value lw_running(kernel *k, simt_builder *b, const tensor_node *load);   // the largest so far; 0: it is of none
typedef void lw_contribution(kernel *k, simt_builder *b, reduction *r, const loop_node *n);
void lw_follow(kernel *k, simt_builder *b, reduction *r);   // a maximum that is opened, where sums of products follow it at a distance
void lw_grow(kernel *k, simt_builder *b, reduction *r, lw_contribution *contribute, const loop_node *n);   // sums follow
void lw_close_maxima(kernel *k, simt_builder *b, const loop_node *n);   // before the sums
// A state that was stored, as one of differences from what the maximum is here.
simt_value lw_relative(kernel *k, simt_builder *b, const reduction *r, const loop_node *n, simt_value state);
void lw_finish(kernel *k, simt_builder *b, const reduction *r, simt_value *results);
// The state x with the one that the lane whose number differs in `mask` has sent.
// Parts of threads (lower/reduce_threads.c), of what lower/reduce.c combines in one.
void lw_join_groups(kernel *k, simt_builder *b, reduction *r);   // a product's sums of groups (lower/reduce_groups.c)
simt_value lw_exchanged(simt_builder *b, simt_value x, simt_value mask);   // what the lane has whose number differs in `mask`
simt_value *lw_fold_threads(kernel *k, simt_builder *b, const reduction *r, axis_set bound, simt_value *x);
simt_value *lw_combined(kernel *k, simt_builder *b, const reduction *r, const simt_value *x, const simt_value *y);
simt_value *lw_state_new(kernel *k, const reduction *r);
axis_set lw_threads_in(const kernel *k, axis_set s);   // digits that lanes and groups have
simt_value *lw_fold_pairs(kernel *k, simt_builder *b, const reduction *r, simt_value *x, const simt_value *sent,
                          simt_value mask);

// ---- Loads of several steps (lower/ahead.c) --------------------------------------------------------------
// Of masked steps: what the contributions that follow one another from there on need, or the store there.
void lw_given(kernel *k, simt_builder *b, const loop_node *n);
void lw_load_ahead(kernel *k, simt_builder *b, const loop_body *body, uint32_t from);

// ---- Stores (lower/store.c) ------------------------------------------------------------------------------
void lw_store(kernel *k, simt_builder *b, const loop_node *n);
// In memory, at the instance at hand; masked: under the masks of all loops in scope.
void lw_store_targets(kernel *k, simt_builder *b, uint32_t stage, bool masked);
// x where something was combined, else the value that stands for nothing.
simt_value lw_else(kernel *k, simt_builder *b, simt_value some, simt_value x, tensor_expr orelse);
void lw_stage_values(kernel *k, simt_builder *b, uint32_t stage, simt_value *x);   // at the instance at hand, one a target
void lw_clear(kernel *k, simt_builder *b, const loop_node *n);
void lw_combine(kernel *k, simt_builder *b, const loop_node *n);
void lw_combine_targets(kernel *k, simt_builder *b, uint32_t stage);   // in memory, at the instance at hand
void lw_store_state(kernel *k, simt_builder *b, const loop_node *n);
void lw_store_slots(kernel *k, simt_builder *b, const reduction *r,
                    const tensor_expr *slots);   // the raw state at hand
// That this thread is the first of those that differ only in digits outside s; 0: there is one only.
simt_value lw_first_thread(kernel *k, simt_builder *b, axis_set s);
simt_value lw_both(simt_builder *b, simt_value x, simt_value y);   // and; 0 is true

// ---- Memory (lower/memory.c) -----------------------------------------------------------------------------
simt_element lw_memory_element(const kernel *k, ir_dtype t);
simt_element lw_value_element(const kernel *k, ir_dtype t);   // of an expression of that type
simt_value lw_load_from(kernel *k, simt_builder *b, tensor_val v, const position *index);
void lw_store_to(kernel *k, simt_builder *b, tensor_val v, const position *index, simt_value x);
void lw_red_to(kernel *k, simt_builder *b, tensor_val v, const position *index, simt_value x,
               simt_atomic how);   // scalars
bool lw_same_size(const size_expr *x, const size_expr *y);
bool lw_unchanged(const kernel *k, tensor_val v);   // lies in memory, which this kernel does not write
uint32_t lw_shared_take_at(kernel *k, uint32_t bytes, uint32_t align);   // likewise, a multiple of so much
uint32_t lw_shared_take(kernel *k, uint32_t bytes);      // offset
simt_value lw_shared(kernel *k, simt_builder *b, uint32_t offset);   // pointer
simt_value lw_address(kernel *k, simt_builder *b, tensor_val v, const simt_value *index);   // where it lives
// What lies there in shared memory, as memory has the value; align: bytes.
simt_value lw_load_shared(kernel *k, simt_builder *b, tensor_val v, simt_value address, uint32_t lanes, uint32_t align);
uint32_t lw_shared_scratch(kernel *k, uint32_t bytes);   // offset; the same for all, between barriers
simt_value lw_position_lane(kernel *k, simt_builder *b, position p, uint32_t lane);
static inline position lw_at(simt_value x) { return (position){.at = x, .shape = POSITION_ONE}; }
simt_value lw_not_padding(simt_builder *b, position p, simt_value at);   // `at` of p: is it one of its space?

// Aligned to their size: n of a value of one axis; so many elements of a packed one that follow each other.
simt_value lw_load_whole(kernel *k, simt_builder *b, tensor_val v, position first, uint32_t n);
simt_value lw_load_in_a_row(kernel *k, simt_builder *b, tensor_val v, const position *first, uint32_t lanes);
simt_value lw_bits_in_a_row(kernel *k, simt_builder *b, tensor_val v, const position *first, uint32_t lanes);   // likewise, as they lie there
simt_value lw_value_of_bits(kernel *k, simt_builder *b, tensor_val v, simt_value x);
void lw_store_in_a_row(kernel *k, simt_builder *b, tensor_val v, const position *first, simt_value x);   // aligned to its size, too

// ---- Neighbouring positions (lower/adjacent.c) -----------------------------------------------------------
typedef struct {
    kernel *k;
    const loop_node *loop;
    axis_set axes;        // of its innermost digits, which are copies
    uint32_t n, digits;   // positions they count
} lower_copies;
void lw_stand_at(const lower_copies *r, uint32_t i);
const loop_node *lw_loop_over(const kernel *k, tensor_expr index);   // whose variable the index is, where it never passes its end; NULL: none
// The copies whose elements of the target lie in a row; false: each is stored by itself.
bool lw_copies_in_a_row(kernel *k, const tensor_target *t, lower_copies *r);
// For all copies that stand next to each other, at the one at hand; 0: they do not. Of a prepared value; of a
// packed array along its last axis, or the one before that, where all of it is a vector.
simt_value lw_load_adjacent(kernel *k, simt_builder *b, tensor_expr load);

// ---- Eights that four lanes have (lower/matrix/eights.c) ----------------------------------------------------------
typedef struct {
    const loop_node *loop;
    axis_set axes;        // of its innermost digits, but for that of lanes
    uint32_t n, digits;   // how many eights they count
} lower_eights;
bool lw_in_eights(kernel *k, tensor_val v, const tensor_expr *index, uint32_t rank, lower_eights *r);
simt_value lw_load_eights(kernel *k, simt_builder *b, tensor_expr load);   // where whole warps are, at the instance at hand; 0: it is not so
void lw_store_eights(kernel *k, simt_builder *b, uint32_t stage, axis_set left, const lower_eights *r);

// ---- Past the end (lower/elsewhere.c) --------------------------------------------------------------------
void lw_take_elsewhere(kernel *k, const reduction *r);   // of what it reads, what leaves its state as it is
double lw_taken_elsewhere(kernel *k, tensor_val v);
// That what is contributed leaves the state as it is where `inside` does not hold.
bool lw_adds_nothing(const kernel *k, const reduction *r, simt_value lifted, simt_value inside);
// That it is 0 there; lenient: or 0 times what may be infinite or NaN, whose sum is found again.
bool lw_is_zero_elsewhere(const kernel *k, simt_value x, simt_value inside, bool lenient);

// ---- Differences from a maximum (lower/maximum.c) ---------------------------------------------------------
void lw_find_nonpositive(lowering *l);
simt_value lw_chosen_below(kernel *k, simt_builder *b, tensor_expr choice);   // without the choice, where what is summed is 0 all the same; 0: it is not
// m == -inf ? 0 : exp(x - m), where m is the maximum of what x is one of; 0, NULL: it is not that. Of it x - m.
const tensor_node *lw_below(const lowering *l, const tensor_node *choice);
simt_value lw_exp_below(kernel *k, simt_builder *b, tensor_expr choice);
// A finite constant above 0, by which a product is as large as its other factor is.
bool lw_is_positive(const simt_builder *b, simt_value x, double *of);
bool lw_is_narrow(const kernel *k);   // tensor cores take what is computed with the 11 bits of f16 or tf32, or the 8 of bf16; beside them, in cells
bool lw_is_approximate(const kernel *k);   // all exponentials of f32 are, as the plan says
simt_value lw_exp_times(kernel *k, simt_builder *b, const tensor_node *product);   // of an exponential and a power of two; 0: of others
simt_value lw_exp(kernel *k, simt_builder *b, tensor_expr e);   // of an exponential

// ---- Expressions (lower/expr.c) --------------------------------------------------------------------------
simt_value lw_expr(kernel *k, simt_builder *b, tensor_expr e);
position lw_position(kernel *k, simt_builder *b, tensor_expr e);   // of an index expression
position lw_var_position(kernel *k, simt_builder *b, tensor_var v);
bool lw_needs_guard(kernel *k, tensor_expr e);
// What this thread keeps of a value at that place, among its registers from there on; 0: nothing.
simt_value lw_known(const kernel *k, tensor_val v, const position *index, uint32_t rank, uint32_t from);
simt_value lw_widen(simt_builder *b, simt_value x, uint32_t lanes);   // splat unless it is a vector already
simt_value lw_pick(simt_builder *b, simt_value x, uint32_t lane);     // of a vector; a scalar itself
simt_value lw_slice(simt_builder *b, simt_value x, uint32_t first, uint32_t lanes);   // of a vector; a scalar itself
simt_value lw_insert(simt_builder *b, simt_value v, simt_value x, uint32_t lane);
simt_value lw_gather(simt_builder *b, const simt_value *x, uint32_t n);   // scalars as a vector
// Scalars are splat where they meet vectors.
simt_value lw_two(simt_builder *b, simt_op op, simt_value x, simt_value y);
simt_value lw_choose(simt_builder *b, simt_value c, simt_value x, simt_value y);
simt_value lw_maths(kernel *k, simt_builder *b, const char *name, const simt_value *args, uint32_t n);
// The quotient or remainder of a position by a size; 0: it is not that (lower/divide.c).
simt_value lw_divide(kernel *k, simt_builder *b, const tensor_node *n);
bool lw_divides_loop(const kernel *k, const tensor_node *quotient, const loop_node *n);   // whose positions of one round share it
bool lw_divides_round(kernel *k, const tensor_node *n, axis_set *axes);   // that is so of a loop around
bool lw_multiple_of(const kernel *k, tensor_expr e, int64_t by);
// A reducer's expressions over arguments or states; known for this use alone.
void lw_reducer(kernel *k, simt_builder *b, const tensor_expr *e, uint32_t n, const simt_value *arg,
                const simt_value *left, const simt_value *right, simt_value *out);

#endif
