// Inside the planner, from tensor IR and a schedule to a loop plan: plan.c puts kernels in order,
// tensor/types.c gives numbers their types, tensor/counts.c takes counts from maps, tensor/rewrite.c inlines stages and keys, axes/loops.c nests indices,
// kernels/group.c says which stages share a kernel, kernels/gather.c, nests/fuse.c and nests/sweep.c which the schedule
// fuses and how, nests/keep.c where values live, nests/nest.c builds its loops, axes/cut.c deals an index out by
// the schedule's cells, axes/pad.c rounds extents up, axes/flat.c takes indices as one, axes/tiles.c gives
// blocks tiles of a map, kernels/window.c gives warps windows of rows, axes/walk.c walks what a reduction reduces,
// axes/held.c says what lanes hold for it, axes/prepared.c names prepared arrays, nests/parts.c, axes/cut_rows.c
// and axes/runs.c cut reductions across blocks, base/guard.c what a version takes for granted.
#ifndef GNNC_PLANNER_H
#define GNNC_PLANNER_H

#include "plan.h"

typedef VEC(uint32_t)
    stage_group;   // stages of one kernel, in order; the loops of one are a prefix of the next one's
typedef struct {
    tensor_val map;   // a parameter, classes or a prepared composition
    bool sorted;
    tensor_space domain, into;
} plan_map;
typedef enum {
    PART_RANGE,   // of all points
    PART_TILE,    // of a row, by a prepared table
    PART_ROW,     // of a row that is cut, or all of one that is not, by a prepared table: see axes/cut_rows.c
    PART_RUNS     // a range of positions sorted by their rows: runs of rows
} part_kind;
typedef struct {   // of a reduction across blocks: see nests/parts.c
    uint32_t stage;
    tensor_var var;   // the bound variable that is cut
    tensor_var part;
    part_kind kind;
    bool atomic;              // it is combined with the result in memory, and leaves no state
    tensor_expr lo, hi;       // its points in a part
    tensor_expr first, end;   // parts of a row
    uint32_t nstates;
    const tensor_expr *states;   // loads, at the part
    tensor_expr valid;           // whether anything was contributed to it; 0: it does not matter
    plan_map map;   // of rows that are cut, and of runs
    // ROW
    tensor_val row_of;   // of each part
    tensor_val heads;    // the first part of each row that is cut
    tensor_expr cut;     // how many parts belong to those
    tensor_var head;     // which of those rows
    // RUNS: see axes/runs.c
    uint32_t key;                         // of the stage: that says which row, by `map`
    tensor_var row, row_begin, row_end;   // its positions
    int64_t points, groups;               // of a participant; participants of a block
    int64_t rows;                         // groups of the second kernel's rows
    const tensor_expr *last;              // loads: the run cut at its end; states: at its begin
} plan_part;
typedef struct {   // made of one the op has; two of those may bear one name
    uint32_t of, made;
    bool some;              // its last component says whether anything was contributed: see nests/parts.c
    ir_dtype args, state;   // or it takes and holds floats of these types: see tensor/types.c
} made_reducer;

typedef struct {   // a left index whose points are all held while a reduced one is walked: see axes/loops.c
    tensor_var var, around;
    const schedule_cell *cell;
} loop_inside;

typedef struct {   // a stage that is computed in a walk, as what reads it is: see tensor/recompute.c
    const char *stage;
    const schedule_cell *walk;
} plan_again;

typedef struct {
    arena *arena;
    diag_set *ds;
    loop_plan *plan;
    tensor_op *op;   // the plan's
    schedule *s;
    const machine *machine;
    version_facts *facts;
    uint32_t nspaces;              // of the op as it came; later ones are the plan's own
    uint32_t inserted;             // stages added before those still to come
    bool failed;                   // a refusal was reported
    const stage_group *at_hand;    // stages of the kernel that is made; NULL: none is
    bool fused_at_hand;            // a statement fuses them
    const tensor_stage *blamed;    // of those, whose numbers do not go with another one's; NULL: the last
    VEC(const char *) scaled;      // stages whose sums are held times a factor
    VEC(const char *) counted;     // stages that only count, and reduce no more
    VEC(const char *) finished;       // stages that finish what a reduction before them left
    VEC(const char *) online, behind, chosen;   // stages that are maxima found on the run; those of them that sums follow at a distance; sums of which terms may not need them: see tensor/online.c
    VEC(plan_again) again;         // reductions of an edge that walks compute for themselves
    VEC(plan_part) parts;          // of the kernel at hand
    loop_node *within;                  // of rows that are taken whole, in the group at hand; NULL: there are none
    const schedule_cell *within_cell;   // that says so
    tensor_stage within_stage;          // the first that walks it
    bool within_apart;                  // threads of a block have rows of their own
    tensor_val within_counted;          // takes at most so many points to each of the rows; 0: that is not known
    int64_t within_most;
    bool leaving;                  // it is the one that walks points and leaves states
    int64_t more_groups;           // it takes up rows of many parts, by so many times the groups; 0: it does not
    schedule *whole;        // of classes that are dealt out at hand: the one with the bucket; NULL: there are none
    uint32_t taken_up;             // the step from which on rows that are cut are taken up; UINT32_MAX: there is none
    const tensor_var *carried;     // a left variable that the key says, while its runs are walked; NULL: none
    VEC(made_reducer) reducers;    // of those of the op, each once
    const struct plan_window *window;   // of the kernel at hand; NULL: there are none
    tensor_var window_row;              // of the loop over the rows of one
    const struct plan_cells *cells;     // of the walk at hand; NULL: it is of no windows
    VEC(loop_inside) inside;
    VEC(struct held_loop *) held;     // loops of the kernel at hand: see axes/held.c
    VEC(struct dealt_loop *) dealt;   // and those of axes/dealt.c
    VEC(stage_group *) live;   // of a fused kernel: a stage that is added moves later ones up in all of them
} planner;

// ---- Refusals of the default (retreat.c) --------------------------------------------------------------
void plan_note_refused(planner *p, const char *text);
bool plan_refused_for_tests(planner *p);   // the kernel at hand: see pass_options.refused
void plan_blame(planner *p, const tensor_stage *one, const tensor_stage *other);   // the later one

// ---- Sums of rows (tensor/rfactor.c) -----------------------------------------------------------------------
void plan_rfactor(planner *p);
// NULL: it may be reduced row by row.
const char *plan_why_no_rows(const planner *p, const tensor_stage *st, tensor_val map);

// ---- Types (tensor/types.c) -------------------------------------------------------------------------------
void plan_types(planner *p);   // of arithmetic and of accumulators
// The factor of a sum, over the stage's left variables (tensor/scale.c); what it needs may be put before the stage. typed: in
// the type of the sum's terms.
bool plan_factor(planner *p, uint32_t *stage, const schedule_cell *c, tensor_expr *factor);
void plan_scale(planner *p, uint32_t stage, const schedule_cell *cell, tensor_expr c, tensor_expr typed);
bool plan_divides(const planner *p, uint32_t stage);   // the one after it, by its factor
uint32_t plan_every(const planner *p, const tensor_stage *st);   // terms that the factor is applied to at once; 0: there is none

// ---- Counts (tensor/counts.c) ------------------------------------------------------------------------------
void plan_drop_else(planner *p);   // `else` that says what a reduction of nothing gives
void plan_counts(planner *p, bool alone);   // alone: of stages that count and do nothing else
void plan_matrix_counts(planner *p);        // of those that tensor cores should sum, before they have their types
const char *plan_name_inside(const planner *p, const char *stage, const char *what);   // STAGE.WHAT, unlike all others
bool plan_counted(const planner *p, const char *stage);
bool plan_finishes(const planner *p, const char *stage);   // a reduction that was taken apart

// ---- The whole (plan.c) ----------------------------------------------------------------------------------
planner plan_new(arena *a, diag_set *ds, const tensor_op *op, schedule *s, const machine *m, version_facts *facts);
bool plan_equations(planner *p, bool whole);   // the passes from tensor IR to tensor IR; whole: reductions are taken apart; false: one refused

// ---- Expressions (tensor/rewrite.c) ------------------------------------------------------------------------
// Stages that are computed where they are read vanish into their readers' expressions; inside a reduction the
// bound side of a key is replaced by its free side, which it equals there: a.max[dst[e], h] under dst[e] == v
// is a.max[v, h].
void plan_rewrite(planner *p);
const tensor_expr *plan_substitute(planner *p, const tensor_expr *e, uint32_t n,
                                   const tensor_expr *vars);   // 0: itself
tensor_expr plan_inline_loads(planner *p, tensor_expr e);
tensor_stage plan_inlined_stage(planner *p, uint32_t stage);   // its body with what is computed there
typedef tensor_expr plan_replacement(void *user,
                                     tensor_expr load);   // for a load, whose indices are replaced already
void plan_replace_loads(planner *p, uint32_t stage, plan_replacement *by, void *user);
// Of an expression not seen yet: operations, all functions of the maths library being as many; and instructions, of which those that mention v
// (UINT32_MAX: all) count once a copy (kernels/length.c).
int64_t plan_operations(const planner *p, tensor_expr e, uint8_t *seen);
int64_t plan_length(const planner *p, tensor_expr e, tensor_var v, int64_t copies, uint8_t *seen);
bool plan_mentions(const planner *p, tensor_expr e, tensor_var v);
bool plan_inlined(const planner *p, uint32_t stage);
bool plan_named(const planner *p, const char *stage);   // by a statement of the schedule
typedef bool plan_visit(void *user, const tensor_node *load);
// Calls visit for every load in what a stage evaluates; stops and gives false where visit does.
bool plan_loads(const planner *p, const tensor_stage *st, plan_visit *visit, void *user);

// ---- Reductions of an edge, computed again in each walk (tensor/recompute.c) ---------------------------------
bool plan_may_recompute(const planner *p, const tensor_stage *st);   // a statement says so, and nobody else gets it
void plan_recompute(planner *p);
const schedule_cell *plan_again_in(const planner *p, const char *stage);   // the walk's; NULL: it is none

// ---- Maxima found on the run (tensor/online.c) ------------------------------------------------------------
bool plan_online_inlines(const planner *p, uint32_t stage);   // of an edge, it reads what its walk sums up
void plan_online(planner *p);   // factors that are final after the walk stand outside of its sums
bool plan_is_online(const planner *p, uint32_t stage);   // a maximum
bool plan_walks_at(const planner *p, const schedule_cell *fuse, uint32_t stage);    // of the statement's walk
bool plan_final_after(const planner *p, const schedule_cell *fuse, uint32_t stage);   // known after that
void plan_take_apart(planner *p, const schedule_cell *fuse, uint32_t stage);   // a sum of it (tensor/online_terms.c)
void plan_run_maxima(planner *p, const uint32_t *stages, uint32_t n, loop_node *reduce);   // of the stages, those that others follow
void plan_part_maxima(planner *p, uint32_t stage, loop_node *contribute);   // what states of parts hold differences from

// ---- Nesting (axes/loops.c) ------------------------------------------------------------------------------
void plan_loops(planner *p);
bool plan_index_is(const planner *p, const char *word,
                   tensor_var v);   // or one that lowering made of it: e, e', e'2
const char *plan_index_text(const planner *p, tensor_var v);   // as the source calls it, for messages

// ---- Kernels (kernels/group.c) ------------------------------------------------------------------------------
// Whether a stage joins one before it in a kernel, of which either may be a sum by matrix operations.
bool plan_matrix_joins(bool before_is, const tensor_stage *st, bool is);
bool plan_joins(planner *p, const stage_group *g, uint32_t stage);
// The place of a variable among a stage's loops; a recurrence's step stands for itself, outside of them. UINT32_MAX: it is none.
uint32_t plan_place(const planner *p, const tensor_stage *st, tensor_var v);
const tensor_stage *plan_deepest(const planner *p, const stage_group *g);   // whose loops are those of the kernel
bool plan_is_step(const planner *p, const tensor_stage *st, tensor_var v);
uint32_t plan_left(const planner *p, const tensor_stage *st,
                   tensor_var *vars);   // without a recurrence's step, and what is carried
bool plan_owner_alone(const planner *p, const tensor_stage *writer,
                      const tensor_stage *reader);   // no other thread needs what it computes from what it overwrites
bool plan_same_keys(const planner *p, const tensor_stage *a, const tensor_stage *b);
// Reductions that walk the same points and do not read each other: one walk serves them.
bool plan_same_walk(const planner *p, const tensor_stage *a, const tensor_stage *b);
uint32_t plan_run_end(const planner *p, const stage_group *g,
                      uint32_t from);   // of stages from there on that share one

// Values that a kernel both stores and reads get a home in registers beside the one in memory (tensor/private.c).
void plan_private(planner *p, stage_group *g);
bool plan_read_outside(const planner *p, const stage_group *g, tensor_val v);
bool plan_stays_inside(const planner *p, const stage_group *g, const tensor_stage *st, tensor_val v);   // nobody outside the kernel reads it
bool plan_read_by(const planner *p, uint32_t stage, tensor_val v);
bool plan_reads_val(const planner *p, const tensor_stage *st, tensor_val v);
const tensor_var *plan_own_vars(planner *p, const tensor_var *of, uint32_t n, tensor_expr *vars);   // new ones, and what stands for those of `of` then
// A stage without a reduction that stores a value, over the left variables of another, at that one's target; with variables of its own.
tensor_stage plan_of_points(planner *p, const tensor_stage *of, uint32_t target, const char *name, tensor_expr value);
// The value of a stage to come, in memory; of narrow numbers as f32.
tensor_val plan_stage_val(planner *p, const char *name, tensor_type t, const tensor_space *axes, uint32_t rank, span at);
void plan_put_stage(planner *p, uint32_t at, tensor_stage st);   // before there are kernels; later ones move up
void plan_insert_stage(planner *p, stage_group *g, uint32_t at, tensor_stage st);

typedef VEC(loop_node *) loop_list;

// ---- Matrix operations (kernels/matrix.c) -------------------------------------------------------------------
typedef enum { MATRIX_NONE, MATRIX_ROWS, MATRIX_COLUMNS, MATRIX_DEPTH } matrix_role;
typedef struct {   // a sum that `mma` is about
    const schedule_cell *cell, *window;   // window: its rows have windows; NULL: they have not
    simt_mma kind;
    tensor_var rows, columns, depth;   // of the stage
    const tensor_stage *stage;   // the sum
    bool cells;                  // rows and columns are those of the windows it is summed in: see axes/window_walk.c
} plan_matrix;
#define PLAN_OF_CELLS ((tensor_var)(UINT32_MAX - 1))   // which are no variables of the stage
void plan_matrix_types(planner *p, uint32_t stage);   // its factors and its sum; refuses what is no contraction
bool plan_asks_matrix(const planner *p, const tensor_stage *st);   // a schedule says `mma` of what it reduces
void plan_matrix_check(planner *p);   // refuses sums of which rewriting left one factor
void plan_outside(planner *p);   // numbers that all terms of a sum in windows have stand outside of it (tensor/outside.c)
bool plan_number(const planner *p, tensor_expr e, double *x);   // of literals and constant extents; false: it is none, or depends on more
bool plan_adds(const planner *p, const tensor_stage *st);          // it is a sum, by whichever operation
bool plan_matrix_sums(const planner *p, const tensor_stage *st);   // it adds in f32, which a matrix operation can do
// The expression mentions v, but for what it reads by the map of that name (NULL: none), whose value is given.
bool plan_depends(const planner *p, tensor_expr e, tensor_var v, const char *given);
bool plan_matrix_of(const planner *p, const tensor_stage *st, plan_matrix *m);
bool plan_group_along(planner *p, const plan_matrix *m, tensor_var v, const loop_node *n);   // that it has all points of v, in their order
bool plan_group_check(planner *p, const tensor_stage *st, const plan_matrix *m, const loop_list *levels, const loop_node *rows, const loop_node *columns, const loop_node *depth);   // depth: NULL in windows
void plan_matrix_fit(planner *p, const stage_group *g, const loop_kernel *k);   // what all its matrices take of shared memory
int64_t plan_matrix_room(const planner *p, const loop_kernel *k);   // bytes of shared memory that its matrices leave
matrix_role plan_matrix_role(const planner *p, const tensor_stage *st, tensor_var v, plan_matrix *m);   // of an index of the sum, or of what reads it by points
void plan_matrix_reduce(planner *p, const tensor_stage *st, const loop_list *levels, loop_node *reduce);
void plan_accumulators(planner *p, const plan_matrix *m, const loop_node *reduce, loop_matrix *made);   // as the statement says, or refused
void plan_matrix_alone(planner *p, const tensor_stage *st, const char *why);   // refuses it there
// Rows in windows (kernels/window.c).
schedule_cell *plan_window_cell(const planner *p, const tensor_stage *st, tensor_var *row);   // NULL: they have none
// Who plays which role, and what is multiplied: what stands in cells, the other factor; false: refused.
bool plan_window_factors(planner *p, const tensor_stage *st, plan_matrix *m, tensor_expr *cell, tensor_expr *other);
bool plan_window_roles(const planner *p, const tensor_stage *st, plan_matrix *m);   // once it is multiplied so
tensor_val plan_window_rows_map(const planner *p, const tensor_stage *st, tensor_var row);   // that takes its entries to rows; TENSOR_NO_VAL: none alone does
bool plan_window_check(planner *p, const plan_matrix *m);   // its maps and counts; false: refused
tensor_val plan_window_source(const planner *p, const schedule_cell *window);   // the map whose values have slots
// Walks of windows (axes/window_walk.c): of one sum, or of all that a fused walk has, with what is computed on the way.
struct plan_inside;
void plan_window_walk(planner *p, const uint32_t *stages, uint32_t n, const plan_matrix *m, loop_node *reduce, loop_list *made,
                      const struct plan_inside *inside);
bool plan_windowed(const planner *p, uint32_t stage, plan_matrix *m);   // it is fused in a walk of windows; m: of a sum there
matrix_role plan_window_role(const planner *p, uint32_t stage, tensor_var v, plan_matrix *m);
tensor_var plan_window_slot(const loop_node *reduce);   // of a reduction whose walk is of windows
void plan_window_column(planner *p, tensor_var entry, loop_body *at);   // what the source says at an entry of the walk at hand
bool plan_window_product(planner *p, const uint32_t *stage, loop_body *at, loop_list *own);   // what an entry sums; false: in no window

// ---- Dealing out (axes/cut.c) ----------------------------------------------------------------------------
typedef struct {
    const tensor_stage *stage;
    tensor_var var;
    bool bound;
    int64_t block, groups, tile, registers, lanes, vector, unroll;   // 0: no cell
    bool strided, masked, dealt;   // registers; steps written out, twice
    int64_t pad;   // what its extent is rounded up to; 0: it is not
    const schedule_cell *cell[SCHEDULE_VERB_COUNT];   // where each comes from
    matrix_role matrix;     // how lanes and registers are numbered
    simt_mma matrix_kind;
    bool fetches;           // rows of its rounds come into shared memory
    int64_t matrix_run;   // of its depth or rows, points that a lane has side by side; 0: they are not
} index_cut;
void plan_matrix_cut(planner *p, index_cut *c);
void plan_window_alone(planner *p, const index_cut *c, const plan_matrix *m);   // refuses what else deals out its rows
bool plan_matrix_apart(planner *p, const index_cut *c, const index_cut *o);   // refuses that they share a loop
bool plan_matrix_alike(const planner *p, const tensor_stage *st);   // all rows are the same, which lanes are dealt out to
void plan_matrix_units(planner *p, const tensor_stage *st, const loop_list *levels);
void plan_matrix_lanes(planner *p, const tensor_stage *st, uint32_t lanes);   // refuses other than those of a warp
typedef void plan_digit(loop_node *n, loop_place place, int64_t extent);   // adds one, unless of 1
void plan_matrix_digits(const index_cut *c, plan_digit *add, loop_node *n);
index_cut plan_cut(planner *p, const tensor_stage *st, tensor_var v, bool bound);
static inline int64_t plan_or_one(int64_t n) { return n ? n : 1; }   // of what no statement says there is one
// Whether v of a and w of b, on their left, are dealt out alike; blocks aside.
bool plan_same_cut(planner *p, const tensor_stage *a, tensor_var v, const tensor_stage *b, tensor_var w);
// Loads of the stage that end on an index and mention the other: memory runs along it.
int64_t plan_ends_on(const planner *p, const tensor_stage *st, tensor_var last, tensor_var other);
int64_t plan_parts_of(const index_cut *c);                        // points that are dealt out at once
void plan_digits(planner *p, const index_cut *c, loop_node *n);   // units are given by plan_units
// Gives the lane or group digits of loops their units: outer ones, outermost first, and inner ones, innermost
// first; false: their product does not divide the total.
bool plan_units(loop_node *const *outer, uint32_t nouter, loop_node *const *inner, uint32_t ninner,
                loop_place place, uint32_t total);

// ---- Rows copied for rounds (finish/fetch.c) ---------------------------------------------------------------
bool plan_fetches(const planner *p, const stage_group *g);   // a stage has `pipeline`
// The loop whose points are those of v, NULL: there is none; value: what v is there, by the loop's index.
loop_node *plan_loop_behind(planner *p, const loop_kernel *k, tensor_var v, tensor_expr *value);
bool plan_fetch_same(planner *p, const loop_kernel *k, const loop_node *n, tensor_expr e);   // around n, for all threads of a block
bool plan_fetch_alike(planner *p, const schedule_cell *pipeline, const loop_kernel *k, const loop_node *n);   // for all threads of a block
bool plan_fetch_shape(planner *p, tensor_val v, const schedule_cell *keep);   // rows of floats, of a known size
void plan_fetch_into(planner *p, const tensor_stage *st, const schedule_cell *pipeline, const loop_kernel *k, loop_node *n,
                     const loop_fetch *fetched, uint32_t count);   // where there is room
void plan_fetch_slots(planner *p, const plan_matrix *m, schedule_cell *pipeline, const loop_kernel *k);   // of a walk of windows (finish/fetch_slots.c)
void plan_fetch(planner *p, const stage_group *g, loop_kernel *k);   // when its loops are made

// ---- Padding (axes/pad.c) --------------------------------------------------------------------------------
int64_t plan_pad(const planner *p, const tensor_stage *st, tensor_var v);   // 0: none, or the extent is a multiple
int64_t plan_padded_extent(const planner *p, const tensor_stage *st, tensor_expr index,
                           int64_t extent);   // of an axis that the stage stores at the index
// Before its digits are made; why_not: the loop is none that can be padded, NULL: its range says.
void plan_pad_loop(planner *p, const index_cut *c, loop_node *n, const char *why_not);
void plan_pads(planner *p);   // of values, when all loops are made

// ---- Order (axes/order.c) --------------------------------------------------------------------------------
typedef enum { ROWS_OF_GRID, ROWS_OF_BLOCK, ROWS_OF_TILE, ROWS_OF_WINDOW, EDGES_OF_BLOCK } row_place;
typedef struct plan_window {   // of rows of a matrix operation: see kernels/window.c
    const schedule_cell *cell;
    int64_t rows, warps;   // that share them
    int64_t slots;         // of a block, where more rows come at a time than by default; else 0
    tensor_var number;     // of the window at hand
    tensor_val places;     // of entries, in windows that may end early; TENSOR_NO_VAL: each has all its rows
    tensor_expr first;     // row of the window
} plan_window;
typedef struct {   // points whose value of a map is one: see axes/tiles.c
    schedule_cell *cell;
    tensor_val named;   // the map, as the schedule says it
    plan_map map;
    int64_t points, group, round;
    int64_t tiles;   // that a block owns at once, a group of lanes each; 0: it owns one
    tensor_val values, by_size;   // of each tile; of values from the largest on: TENSOR_NO_VAL: as they are
    tensor_var number, rank, value;   // of the tile at hand
} plan_tile;
typedef struct {
    uint32_t level;     // of the index among left ones
    tensor_val order;   // positions lo … hi of it are the points; TENSOR_NO_VAL: positions are points
    tensor_expr lo, hi;
    tensor_val counted;     // with `most`: the map that takes at most so many points to each; most 0: it is not known
    int64_t most;
    const tensor_var *at;   // the position; NULL: a new one
    const tensor_val *by;   // positions are what it says of others: the rows that are cut; NULL: they are not
    schedule *schedule;     // that deals them out
    row_place place;
    int64_t points;          // ROWS_OF_BLOCK, ROWS_OF_TILE: that the digits cover
    const plan_tile *tile;   // ROWS_OF_TILE
    const plan_window *window;   // ROWS_OF_WINDOW
    loop_node *
        around;   // EDGES_OF_BLOCK: the loop over the rows they belong to; NULL: they are walked as one range
    bool everyone;   // dealt out to all threads of the kernel
} row_class;
void plan_window_rows(planner *p, tensor_var row, const plan_matrix *m, row_class *out);
loop_node *plan_open_windows(planner *p, const plan_window *w, const index_cut *c, loop_body *to);
bool plan_key_fits(planner *p, const schedule_cell *c, tensor_space of, tensor_var var);   // is of points that the index runs over
schedule *plan_whole_schedule(const planner *p);   // that says what is fused: that of a class does not

// ---- Tiles (axes/tiles.c) --------------------------------------------------------------------------------
const schedule_value *
plan_tiled(const schedule_cell *block);   // the map by which it deals out tiles; NULL: it does not
bool plan_same_tiles(const schedule_cell *a, const schedule_cell *b);
bool plan_tile_rows(planner *p, tensor_var row, schedule_cell *block, schedule_cell *order, row_class *out);
void plan_tile_digits(planner *p, const plan_tile *t, index_cut c, loop_node *node);
void plan_check_tiles(planner *p, const index_cut *c, const row_class *rows);   // refuses them
loop_node *plan_open_tiles(planner *p, const plan_tile *t, loop_body *to);
// Refuse groups along the points of tiles, and along what a stage reduces in them, where each group owns a tile.
void plan_check_groups(planner *p, const plan_tile *t, const index_cut *c);
void plan_check_meeting(planner *p, const plan_tile *t, const tensor_stage *st, const loop_list *walk);
void plan_given(planner *p, const plan_tile *t, tensor_var v, loop_body *to);   // what the map says at v
// The points of a tile, of n at most, of that value, whose first tile is `first`.
void plan_tile_range(planner *p, const plan_map *m, int64_t n, tensor_expr tile, tensor_expr first,
                     tensor_expr value, tensor_expr *lo, tensor_expr *hi);

// ---- Loops (nests/nest.c, axes/walk.c) --------------------------------------------------------------------
void plan_kernel(planner *p, stage_group *g);
void plan_take_up(planner *p, const stage_group *g, const row_class *rows,
                  uint32_t number);   // the kernel after those that leave states
typedef struct {
    uint32_t stage;
    loop_list outer, inner;   // outermost first; innermost first
    loop_list contracted;     // by a matrix operation, whose lanes are no concern of the others: their groups are
    bool shuffles;
    bool before;   // lanes along what is reduced are neighbours, not those along the left-hand index
    bool takes_up;   // states of parts, which are numbers like others, also those of a matrix operation
} plan_dealing;
typedef struct {   // a kernel in the making: loops of one group, or of several one after the other
    planner *p;
    loop_kernel *kernel;
    const stage_group *group;
    const row_class *rows;   // which points of the outermost index, and in which order
    tensor_var *vars;        // of the deepest stage
    uint32_t depth;
    loop_list levels;             // a loop a variable, outermost first
    loop_node *tiles;             // the loop around the one over the points of a tile; NULL: there are none
    uint32_t tiled;               // of levels: that one
    VEC(plan_dealing) dealings;   // of each walk and stage
    uint32_t dealt;               // of them: before the group's
    loop_list everyone;           // loops that all threads share
} plan_nest;
plan_nest plan_nest_start(planner *p, const tensor_stage *deepest, uint32_t number);
// Gives where the loops of the deepest stage end.
loop_body *plan_nest_group(plan_nest *n, const stage_group *g, const row_class *rows, loop_body *at);
// Threads are dealt out to the stages that share the walk of a stage, in so many levels of loops.
void plan_deal(plan_nest *n, uint32_t stage, uint32_t levels, const loop_list *walk);
void plan_settle(plan_nest *n);   // the lanes and groups of the kernel, by its dealings (axes/deal.c)
void plan_nest_end(plan_nest *n);   // threads are dealt out to all its loops
void plan_nest_begin(plan_nest *n, const stage_group *g, const row_class *rows);   // its loops are opened one by one
loop_body *plan_nest_open(plan_nest *n, uint32_t level, loop_body *to);
// Stages [from, to) of the group, which share a walk or are one; the loops of the walk are appended.
loop_body *plan_nest_run(plan_nest *n, uint32_t from, uint32_t to, loop_body *at, loop_list *walk);   // gives where what comes after goes
bool plan_shuffles(const loop_list *walk);
bool plan_alike(planner *p, const index_cut *c, const index_cut *o);   // two stages in one loop
void plan_bound_vectors(planner *p, const tensor_stage *st);
void plan_choose_home(planner *p, const stage_group *g, const tensor_stage *st);
void plan_store(planner *p, loop_body *to, const uint32_t *stage);
// For all rows of a kernel, or for each class of them by a schedule of its own.
typedef void plan_emit(planner *p, const row_class *rows, uint32_t number, void *user);
bool plan_shares_rows(planner *p, const stage_group *g);   // of a fused kernel; false: refused
void plan_each_class(planner *p, const tensor_stage *deepest, plan_emit *emit, void *user);
// The walk of reductions that share one, as the body of `reduce`; the loops made are appended to *made.
typedef struct plan_inside {   // what else is done at each point of the first bound variable, before anything is contributed
    void (*emit)(void *user, loop_body *at);
    void *user;
    const stage_group *points;   // stages that are computed there
} plan_inside;
loop_body *plan_walk_row(planner *p, const tensor_stage *st, const plan_map *m, loop_body *at, loop_list *made);
void plan_walk(planner *p, const uint32_t *stages, uint32_t n, loop_node *reduce, loop_list *made,
               const plan_inside *inside);   // NULL: nothing
// What lanes hold of inputs for a tile of the walk (axes/held.c).
typedef struct {
    const tensor_stage *stage;
    tensor_var var;        // of it, that is walked
    uint32_t within;       // bound variables from there on are bound by the loop, or inside
    bool points;           // so are left ones
    const bool *walked;    // keys that no point is tested by; NULL: none
} held_reader;
typedef VEC(held_reader) held_readers;
void plan_hold(planner *p, const held_readers *by, const index_cut *c, tensor_expr at,
               loop_node *n);   // at: the point of the index in it
void plan_held_lanes(planner *p, const loop_kernel *k);   // when its threads are dealt out
// Steps that are dealt to the lanes that reduce inside (axes/dealt.c): noted where the loop is made, checked in its kernel.
void plan_deal_steps(planner *p, const index_cut *c, loop_node *n);
void plan_deal_walk(planner *p, const loop_node *walk, const loop_node *apart);   // of which an edge's stages stand without the loop
void plan_dealt_steps(planner *p);
// The loop of a left index that lies inside a reduced one, in the loops of `around` (axes/loops.c).
void plan_write_out(planner *p, tensor_var v, const loop_list *around, loop_node *n);
// Rows that are taken whole (kernels/whole.c): where the deepest stages of the nest stand; the loops that walk their rows.
loop_body *plan_whole_open(plan_nest *n, loop_body *at);
void plan_whole_loop(planner *p, const tensor_stage *st, tensor_var v, bool part, loop_node *n);
void plan_whole_lanes(const plan_nest *n, uint32_t lanes);   // of the kernel: refuses those that could not ask one another
// What the schedule says of the launch of a kernel whose loops are made (finish/cache.c, finish/persistent.c).
void plan_cache(planner *p, loop_kernel *k);
void plan_persistent(planner *p, loop_kernel *k);
void plan_approximate(planner *p);   // likewise (loop/approximate.c)
typedef enum { PLAN_NOT_SEEN, PLAN_HAS, PLAN_HAS_NOT } plan_having;
const plan_having *plan_exponentials(const planner *p, tensor_expr e);   // per expression below and e: whether one of f32 is in it
bool plan_stage_has_exponential(planner *p, uint32_t stage);
void plan_composed(planner *p);   // when all loops are made (loop/composed.c)
void plan_row_begins(planner *p);   // likewise (axes/row_begins.c)
// Where the loop opened last ends a list of `flat`, its loops become one; gives the body of the innermost (axes/flat.c).
loop_body *plan_flatten(planner *p, const stage_group *g, loop_list *levels, uint32_t level, loop_body *at);
void plan_let(planner *p, loop_body *to, tensor_var v, tensor_expr value, span at);

// ---- Reductions across blocks (nests/parts.c) -------------------------------------------------------------
int64_t plan_part_points(const planner *p, const tensor_stage *st);   // 0: it is not cut
bool plan_cut_walk(planner *p, const stage_group *g, uint32_t sums, row_class *rows);   // false: refused
void plan_parts(planner *p, const stage_group *g, const row_class *rows,
                uint32_t number);   // the kernels that leave states
const plan_part *plan_part_of(const planner *p, uint32_t stage);
void plan_leave_state(planner *p, loop_body *to, uint32_t stage);
void plan_take_parts(planner *p, const uint32_t *stages, uint32_t n, loop_node *reduce, loop_list *made);
bool plan_takes_up(const planner *p, const tensor_stage *st);   // the kernel in the making combines what parts of it left
bool plan_spreads(const planner *p);         // its results go to as many blocks as there may be
index_cut plan_spread(index_cut c);          // how an index of theirs is dealt out there
index_cut plan_taken_sums(const planner *p, index_cut c);   // how rows and columns of a matrix operation are dealt out there
void plan_check_combine(planner *p, const tensor_stage *st, const index_cut *c,
                        bool runs);   // they walk runs
void plan_check_part(planner *p, const tensor_stage *st, tensor_var v,
                     bool walked);   // refuses parts of what is not walked so
// A range of n points, up to the end: its variable and bounds.
void plan_add_part(planner *p, plan_part *part, tensor_space points, int64_t n, tensor_expr end);
loop_node *plan_states(planner *p, loop_node_kind kind, const plan_part *part);
loop_body *plan_test_part(planner *p, loop_body *at, const plan_part *part, tensor_expr condition);   // the body of an IF
// Rows that are cut, and those that are not (axes/cut_rows.c).
bool plan_begins_at_0(const planner *p, const row_class *rows);   // or as a whole
bool plan_cuts_rows(const planner *p, const stage_group *g, uint32_t first, uint32_t sums, const plan_map *m, const row_class *rows, int64_t n);   // sums: the first so many are
void plan_part_row(planner *p, plan_part *part, tensor_var row, const plan_map *m, int64_t n, row_class *rows);
loop_body *plan_leave_or_store(planner *p, const plan_part *part, const uint32_t *stages, uint32_t n, loop_body *at);
void plan_know_degree(planner *p, const plan_part *part, const tensor_stage *st, loop_body *to);   // where rows are not cut
row_class plan_taken_rows(planner *p, plan_part *part, const row_class *rows);
// How many times the groups of a kernel that takes up rows those of many parts have in one of their own; 1: there is none.
int64_t plan_many_parts(planner *p, const stage_group *g, const plan_part *part, const row_class *rows, loop_kernel *k, row_class *many);
void plan_cut_slot(planner *p, const plan_part *part, tensor_space *axis, tensor_expr *index);   // where a part leaves its state
index_cut plan_taken_cut(index_cut row);   // how rows that are cut are dealt out
void plan_taken_parts(planner *p, const tensor_stage *st, index_cut *parts);   // and their parts
// Runs of sorted keys (axes/runs.c).
bool plan_carries(planner *p, const tensor_stage *st);   // is it cut along what a key takes to its rows?
bool plan_runs(planner *p, const tensor_stage *st, plan_part *part,
               const row_class *rows);   // false: refused
void plan_count_rows(planner *p,
                     const plan_nest *n);   // that groups of the kernel that left runs can take up
loop_node *plan_carry(planner *p, const plan_part *part);
bool plan_atomic(const planner *p,
                 const tensor_stage *st);   // parts of it are combined in memory as they come
loop_body *plan_cut_rows(planner *p, const plan_part *part, loop_body *at);   // where rows are taken up
void plan_take_runs(planner *p, const plan_part *part, loop_node *reduce);
index_cut plan_deal_rows(planner *p, const plan_part *part, index_cut c,
                         bool blocks);   // of the second kernel

// ---- Fusing and keeping (kernels/gather.c, nests/fuse.c, nests/sweep.c, nests/keep.c) --------------------------
// A kernel of several phases: blocks own rows, and the points that a map takes to them.
typedef struct {
    stage_group group;
    bool edges;   // over the domain of the map, else over rows, and then stages that follow in a row's loops
    bool tile;    // copies of inputs
} plan_phase;
typedef struct {
    planner *p;
    const schedule_cell *cell;   // NULL: what is kept asks for it
    span at;
    stage_group stages;   // all of them
    tensor_space rows;
    uint32_t level;   // of the index at which they are fused, among their left ones
    bool mapped;      // there is a map
    plan_map map;
    VEC(plan_phase) phases;
    schedule *whole;      // that fuses; classes of rows are dealt out by others
    bool apart;           // rows of a block lie anywhere: there are classes, or an order and several rows
    const row_class *of;  // of the kernel at hand
    int64_t points;       // rows a block owns
    tensor_expr lo, hi;   // those of the block at hand
} fusion;
const schedule_cell *plan_fuse_cell(const planner *p, uint32_t stage);
bool plan_fuses(const planner *p, const schedule_cell *c, uint32_t stage);
bool plan_same_statement(const schedule_cell *a, const schedule_cell *b);   // `fuse`
void plan_fuse_order(planner *p);   // stages of one statement next to each other
bool plan_reads_stage(const planner *p, uint32_t reader, uint32_t writer);
void plan_fusion(planner *p, const stage_group *g, const schedule_cell *c);
typedef enum { KEPT_ANYWHERE, KEPT_REGISTERS, KEPT_SHARED, KEPT_GLOBAL } kept_place;
kept_place plan_kept(planner *p, const tensor_stage *st, tensor_val v);
bool plan_kept_apart(planner *p,
                     const tensor_stage *st);   // by a statement about itself, not about what it lies in
bool plan_keeps_shared(planner *p, const stage_group *g);
int64_t plan_largest_row(const planner *p, tensor_val map);   // by preconditions and conditions; 0: none says it
void plan_check_kept(planner *p, const stage_group *g);   // registers are where the readers are
bool plan_fusion_map(fusion *f, tensor_space domain);     // there is one, and it leads from there
bool plan_fusion_owns(fusion *f, const tensor_stage *reader, bool edges,
                      tensor_expr index);   // of the block's rows, or edges
bool plan_index_named(const char *index, const char *var);   // or one that lowering made of it
bool plan_fusion_reaches(fusion *f, const tensor_stage *st);   // all points of edges that are needed belong to rows
bool plan_follower(const fusion *f, uint32_t stage);   // over the points of rows (nests/follow.c)
bool plan_follows(fusion *f, const plan_phase *ph, uint32_t stage);   // it may follow in the loops of the phase's rows
void plan_follow(plan_nest *n, const uint32_t *stage, const plan_map *m, loop_body *at);
bool plan_sweeps(fusion *f);   // it is at an index that rows are walked by, which the stages over it share
void plan_sweep(fusion *f);    // (nests/sweep.c)
void plan_keep_inputs(fusion *f);
void plan_keep_values(fusion *f);

// ---- Prepared arrays (axes/prepared.c) -------------------------------------------------------------------
bool plan_is_total(const planner *p, tensor_val map);   // none is nowhere: of classes and compositions, of all that they are made of
bool plan_map_of(planner *p, tensor_val v, plan_map *out);   // known when the plan is made
bool plan_map_of_key(planner *p, tensor_expr key, tensor_var var, plan_map *out);
tensor_val plan_prepare(planner *p, prepared_builder b, const tensor_val *args, uint32_t n, tensor_space into,
                        tensor_space axis);
tensor_val plan_degrees_from(planner *p, tensor_val map, int64_t least);   // of at least so many, which smaller ones are told as
// Tiles of at most n entries, none of which crosses a value: the first one of each value; the value of each.
tensor_val plan_tiles(planner *p, prepared_builder b, const plan_map *m, int64_t n);
// Parts of rows of more than n entries, then the other rows, in an order or by their numbers: TENSOR_NO_VAL.
tensor_val plan_row_parts(planner *p, prepared_builder b, const plan_map *m, tensor_val order, int64_t n);
tensor_val plan_row_ends(planner *p, prepared_builder b, tensor_val map, tensor_val order);   // where whole rows begin, or end, in an order
// Of windows of `extent` rows (0: it is not said): of a map and another one, or the slots that are made of it.
tensor_val plan_window_values(planner *p, prepared_builder b, tensor_val map, tensor_val other, int64_t extent, int64_t slots, tensor_space windows);
// Places in such windows of the values of a map, then of its entries.
tensor_val plan_window_places(planner *p, tensor_val map, tensor_val other, int64_t extent, tensor_val *of_entries);
tensor_val plan_window_starts(planner *p, tensor_val places, int64_t extent, tensor_space windows);
tensor_val plan_offsets(planner *p, const plan_map *m);
tensor_val plan_order(planner *p, const plan_map *m);
bool plan_prepare_classes(planner *p);
tensor_expr plan_wide(planner *p, tensor_expr index);   // as i64
tensor_expr plan_offset_at(planner *p, tensor_val offsets, tensor_expr key,
                           int64_t plus);                                  // offsets[key + plus]
tensor_space plan_space(planner *p, const char *name, tensor_expr size);   // of that size; made at first use

// ---- Guards (base/guard.c) -------------------------------------------------------------------------------
void plan_copy_guards(planner *p, tensor_val val, uint32_t bytes);   // rows of a matrix that are copied so many bytes at once
void plan_row_guards(planner *p, tensor_val val, uint32_t from);   // that its axes from one on lie one behind the other
bool plan_vector_guards(planner *p, const tensor_stage *st, tensor_var v, uint32_t width,
                        bool padded);   // to a multiple of it; false: it cannot be
void plan_packed_guards(planner *p);   // when the loops are there
void plan_beside_guards(planner *p);   // likewise
void plan_whole_guards(planner *p);    // likewise
void plan_narrow_guards(planner *p);
void plan_holds(planner *p, size_expr e, const char *text);
void plan_narrow_product(planner *p, const tensor_space *axes,
                         uint32_t n);   // positions of a product fit too

// ---- Refusals (loop/unused.c) ----------------------------------------------------------------------------
// The statement with that verb that deals out an index of the stage, what it reduces first; the next one after `after`.
schedule_cell *plan_statement(const planner *p, const tensor_stage *st, schedule_verb verb,
                              schedule_cell *after);
span plan_statement_at(const planner *p, const tensor_stage *st,
                       schedule_verb verb);   // the schedule's where there is none
void plan_unused(planner *p);   // reports statements, of the classes of buckets too, that no pass consumed
diagnostic *plan_refuse(planner *p, diag_code code, span at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

// ---- What all rooms ask (base/) ----------------------------------------------------------------------------
static inline const tensor_stage *plan_stage(const planner *p, uint32_t i) { return &p->op->stages.data[i]; }
static inline const char *plan_var_name(const planner *p, tensor_var v) { return p->op->vars.data[v].name; }
// The i-th index of a stage: left ones first, then those that it reduces.
static inline tensor_var plan_var_at(const tensor_stage *st, uint32_t i) { return i < st->nleft ? st->left[i] : st->bound[i - st->nleft]; }
uint32_t plan_name_place(const stage_names *g, const char *name);   // the last, where it is none of them
bool plan_has_name(const char *const *names, uint32_t n, const char *name);
tensor_val plan_prepare_by(planner *p, prepared_builder b, const tensor_val *args, uint32_t n, int64_t extent,
                           tensor_space into, tensor_space axis);   // extent: what the builder takes besides; 0: nothing
tensor_val plan_prepare_blocks(planner *p, prepared_builder b, const tensor_val *args, uint32_t n, int64_t extent, int64_t slots,
                               tensor_space into, tensor_space axis);   // slots: of a block; 0: by default
tensor_space plan_ends_of(planner *p, tensor_space s);   // of one more point
// The statements that cut what a stage reduces, the index that is cut, and the number of a part (nests/parts.c).
schedule_cell *plan_split_cell(const planner *p, const tensor_stage *st, tensor_var v);
schedule_cell *plan_part_cell(const planner *p, const tensor_stage *st, tensor_var v);
schedule_cell *plan_combine_cell(const planner *p, const tensor_stage *st, tensor_var v);
tensor_var plan_part_variable(const planner *p, const tensor_stage *st);
tensor_var plan_part_position(planner *p, const plan_part *part, tensor_space parts);
bool plan_run_key(planner *p, const tensor_stage *st, tensor_var v, plan_part *part);   // the key by which v is sorted
const schedule_cell *plan_block_of(const planner *p, const tensor_stage *st, tensor_var v);
// `keep` of a value of the stage.
schedule_cell *plan_kept_cell(const planner *p, const tensor_stage *st, tensor_val v);
kept_place plan_kept_place(const schedule_cell *c);
kept_place plan_take_kept(planner *p, schedule_cell *c);   // and its options, of which those without a pass are refused
void plan_kept_options(planner *p, const schedule_cell *c);

#endif
