// Inside the planner, from tensor IR and a schedule to a loop plan: plan.c puts kernels in order,
// plan_rewrite.c inlines stages and keys, plan_group.c says which stages share a kernel, plan_fuse.c and
// plan_keep.c which the schedule fuses and where values live, plan_nest.c builds its loops, plan_cut.c deals
// an index out by the schedule's cells, plan_flat.c takes indices as one, plan_walk.c walks what a reduction
// reduces, plan_prepared.c names prepared arrays, plan_parts.c cuts reductions across blocks, plan_guard.c
// what a version takes for granted.
#ifndef GNNC_PLANNER_H
#define GNNC_PLANNER_H

#include "plan.h"

typedef VEC(uint32_t)
    stage_group;   // stages of one kernel, in order; the loops of one are a prefix of the next one's
typedef struct {   // of a reduction across blocks: see plan_parts.c
    uint32_t stage;
    tensor_var var;   // the bound variable that is cut
    tensor_var part;
    bool tiles;               // of rows, by a prepared table; else ranges of all points
    tensor_expr lo, hi;       // its points in a part
    tensor_expr first, end;   // parts of a row
    uint32_t nstates;
    const tensor_expr *states;   // loads, at the part
    tensor_expr valid;           // whether anything was contributed to it; 0: it does not matter
} plan_part;

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
    VEC(plan_part) parts;          // of the kernel at hand
    bool leaving;                  // it is the one that walks points and leaves states
    VEC(uint32_t) some_reducers;   // whose last component says whether anything was contributed
    VEC(stage_group *) live;   // of a fused kernel: a stage that is added moves later ones up in all of them
} planner;

// ---- Expressions (plan_rewrite.c) ------------------------------------------------------------------------
// Stages that are computed where they are read vanish into their readers' expressions; inside a reduction the
// bound side of a key is replaced by its free side, which it equals there: a.max[dst[e], h] under dst[e] == v
// is a.max[v, h].
void plan_rewrite(planner *p);
const tensor_expr *plan_substitute(planner *p, const tensor_expr *e, uint32_t n,
                                   const tensor_expr *vars);   // 0: itself
typedef tensor_expr plan_replacement(void *user,
                                     tensor_expr load);   // for a load, whose indices are replaced already
void plan_replace_loads(planner *p, uint32_t stage, plan_replacement *by, void *user);
// Operations of an expression not seen yet, a function of the maths library being many; those that mention v (UINT32_MAX: all)
// count once a copy.
int64_t plan_operations(const planner *p, tensor_expr e, tensor_var v, int64_t copies, uint8_t *seen);
bool plan_mentions(const planner *p, tensor_expr e, tensor_var v);
bool plan_inlined(const planner *p, uint32_t stage);
bool plan_named(const planner *p, const char *stage);   // by a statement of the schedule
typedef bool plan_visit(void *user, const tensor_node *load);
// Calls visit for every load in what a stage evaluates; stops and gives false where visit does.
bool plan_loads(const planner *p, const tensor_stage *st, plan_visit *visit, void *user);

// ---- Kernels (plan_group.c) ------------------------------------------------------------------------------
bool plan_joins(const planner *p, const stage_group *g, uint32_t stage);
bool plan_is_step(const planner *p, const tensor_stage *st, tensor_var v);
uint32_t plan_left(const planner *p, const tensor_stage *st,
                   tensor_var *vars);   // without a recurrence's step
// Reductions that walk the same points and do not read each other: one walk serves them.
bool plan_same_walk(const planner *p, const tensor_stage *a, const tensor_stage *b);
uint32_t plan_run_end(const planner *p, const stage_group *g,
                      uint32_t from);   // of stages from there on that share one

// Values that a kernel both stores and reads get a home in registers beside the one in memory
// (plan_private.c).
void plan_private(planner *p, stage_group *g);
bool plan_read_outside(const planner *p, const stage_group *g, tensor_val v);
bool plan_read_by(const planner *p, uint32_t stage, tensor_val v);
void plan_insert_stage(planner *p, stage_group *g, uint32_t at, tensor_stage st);

// ---- Dealing out (plan_cut.c) ----------------------------------------------------------------------------
typedef struct {
    const tensor_stage *stage;
    tensor_var var;
    bool bound;
    int64_t block, groups, tile, registers, lanes, vector, unroll;   // 0: no cell
    bool strided;
    const schedule_cell *cell[SCHEDULE_VERB_COUNT];   // where each comes from
} index_cut;
index_cut plan_cut(planner *p, const tensor_stage *st, tensor_var v, bool bound);
void plan_digits(planner *p, const index_cut *c, loop_node *n);   // units are given by plan_units
// Gives the lane or group digits of loops their units: outer ones, outermost first, and inner ones, innermost
// first; false: their product does not divide the total.
bool plan_units(loop_node *const *outer, uint32_t nouter, loop_node *const *inner, uint32_t ninner,
                loop_place place, uint32_t total);

// ---- Order (plan_order.c) --------------------------------------------------------------------------------
typedef enum { ROWS_OF_GRID, ROWS_OF_BLOCK, EDGES_OF_BLOCK } row_place;
typedef struct {
    tensor_val order;   // positions lo … hi of it are the points; TENSOR_NO_VAL: positions are points
    tensor_expr lo, hi;
    const tensor_var *at;   // the position; NULL: a new one
    schedule *schedule;     // that deals them out
    row_place place;
    int64_t points;   // ROWS_OF_BLOCK: that the digits cover
    loop_node *
        around;   // EDGES_OF_BLOCK: the loop over the rows they belong to; NULL: they are walked as one range
    bool everyone;   // dealt out to all threads of the kernel
} row_class;
bool plan_key_order(planner *p, const schedule_cell *c, tensor_val *order);
bool plan_classes(planner *p, const schedule_cell *bucket, row_class *out,
                  uint32_t *n);   // by degree, the lowest first

// ---- Loops (plan_nest.c, plan_walk.c) --------------------------------------------------------------------
void plan_kernel(planner *p, stage_group *g);
typedef VEC(loop_node *) loop_list;
typedef struct {
    uint32_t stage;
    loop_list outer, inner;   // outermost first; innermost first
    bool shuffles;
} plan_dealing;
typedef struct {   // a kernel in the making: loops of one group, or of several one after the other
    planner *p;
    loop_kernel *kernel;
    const stage_group *group;
    const row_class *rows;   // which points of the outermost index, and in which order
    tensor_var *vars;        // of the deepest stage
    uint32_t depth;
    loop_list levels;             // a loop a variable, outermost first
    VEC(plan_dealing) dealings;   // of each walk and stage
    loop_list everyone;           // loops that all threads share
} plan_nest;
plan_nest plan_nest_start(planner *p, const tensor_stage *deepest, uint32_t number);
void plan_nest_group(plan_nest *n, const stage_group *g, const row_class *rows, loop_body *at);
void plan_nest_end(plan_nest *n);   // threads are dealt out to all its loops
// The walk of reductions that share one, as the body of `reduce`; the loops made are appended to *made.
void plan_walk(planner *p, const uint32_t *stages, uint32_t n, loop_node *reduce, loop_list *made);
void plan_let(planner *p, loop_body *to, tensor_var v, tensor_expr value, span at);
// What the schedule says of the launch of a kernel whose loops are made (plan_cache.c, plan_persistent.c).
void plan_cache(planner *p, loop_kernel *k);
void plan_persistent(planner *p, loop_kernel *k);
// Where the loop opened last ends a list of `flat`, its loops become one; gives the body of the innermost
// (plan_flat.c).
loop_body *plan_flatten(planner *p, const stage_group *g, loop_list *levels, uint32_t level, loop_body *at);
void plan_let(planner *p, loop_body *to, tensor_var v, tensor_expr value, span at);

// ---- Reductions across blocks (plan_parts.c) -------------------------------------------------------------
int64_t plan_part_points(const planner *p, const tensor_stage *st);   // 0: it is not cut
void plan_parts(planner *p, const stage_group *g, const row_class *rows,
                uint32_t number);   // the kernels that leave states
const plan_part *plan_part_of(const planner *p, uint32_t stage);
void plan_leave_state(planner *p, loop_body *to, uint32_t stage);
void plan_take_parts(planner *p, const uint32_t *stages, uint32_t n, loop_node *reduce, loop_list *made);
void plan_check_combine(planner *p, const tensor_stage *st, const index_cut *c);
void plan_check_part(planner *p, const tensor_stage *st, tensor_var v,
                     bool walked);   // refuses parts of what is not walked so

// ---- Fusing and keeping (plan_fuse.c, plan_keep.c) -------------------------------------------------------
typedef struct {
    tensor_val map;   // a parameter, classes or a prepared composition
    bool sorted;
    tensor_space domain, into;
} plan_map;
// A kernel of several phases: blocks own rows, and the points that a map takes to them.
typedef struct {
    stage_group group;
    bool edges;   // over the domain of the map, else over rows
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
    int64_t points;       // rows a block owns
    tensor_expr lo, hi;   // those of the block at hand
} fusion;
const schedule_cell *plan_fuse_cell(const planner *p, uint32_t stage);
bool plan_fuses(const planner *p, const schedule_cell *c, uint32_t stage);
void plan_fuse_order(planner *p);   // stages of one statement next to each other
void plan_fusion(planner *p, const stage_group *g, const schedule_cell *c);
typedef enum { KEPT_ANYWHERE, KEPT_REGISTERS, KEPT_SHARED, KEPT_GLOBAL } kept_place;
kept_place plan_kept(planner *p, const tensor_stage *st, tensor_val v);
bool plan_kept_apart(planner *p,
                     const tensor_stage *st);   // by a statement about itself, not about what it lies in
bool plan_keeps_shared(planner *p, const stage_group *g);
void plan_check_kept(planner *p, const stage_group *g);   // registers are where the readers are
bool plan_fusion_map(fusion *f, tensor_space domain);     // there is one, and it leads from there
bool plan_fusion_owns(fusion *f, const tensor_stage *reader, bool edges,
                      tensor_expr index);   // of the block's rows, or edges
void plan_keep_inputs(fusion *f);
void plan_keep_values(fusion *f);

// ---- Prepared arrays (plan_prepared.c) -------------------------------------------------------------------
bool plan_map_of_key(planner *p, tensor_expr key, tensor_var var, plan_map *out);
tensor_val plan_prepare(planner *p, prepared_builder b, const tensor_val *args, uint32_t n,
                        tensor_space into, tensor_space axis);
// Tiles of at most n entries, none of which crosses a value: the first one of each value; the value of each.
tensor_val plan_tiles(planner *p, prepared_builder b, const plan_map *m, int64_t n);
tensor_val plan_offsets(planner *p, const plan_map *m);
tensor_val plan_order(planner *p, const plan_map *m);
bool plan_prepare_classes(planner *p);
tensor_expr plan_offset_at(planner *p, tensor_val offsets, tensor_expr key,
                           int64_t plus);                                  // offsets[key + plus]
tensor_space plan_space(planner *p, const char *name, tensor_expr size);   // of that size; made at first use

// ---- Guards (plan_guard.c) -------------------------------------------------------------------------------
bool plan_vector_guards(planner *p, const tensor_stage *st, tensor_var v,
                        uint32_t width);   // false: it cannot be
void plan_narrow_guards(planner *p);
void plan_narrow_product(planner *p, const tensor_space *axes,
                         uint32_t n);   // positions of a product fit too
void plan_holds(planner *p, size_expr e, const char *text);
void plan_narrow_product(planner *p, const tensor_space *axes,
                         uint32_t n);   // positions of a product fit too

// ---- Refusals (plan_unused.c) ----------------------------------------------------------------------------
// The statement with that verb that deals out an index of the stage, what it reduces first; the next one
// after `after`.
schedule_cell *plan_statement(const planner *p, const tensor_stage *st, schedule_verb verb,
                              schedule_cell *after);
span plan_statement_at(const planner *p, const tensor_stage *st,
                       schedule_verb verb);   // the schedule's where there is none
void plan_unused(planner *p);   // reports statements, of the classes of buckets too, that no pass consumed
diagnostic *plan_refuse(planner *p, diag_code code, span at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
