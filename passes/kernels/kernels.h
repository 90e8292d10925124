// Which stages make up a kernel, and what form its sums take: matrix operations, windows of rows,
// whole rows.
#ifndef GNNC_PLAN_KERNELS_H
#define GNNC_PLAN_KERNELS_H

#include "base/making.h"

typedef void plan_digit(loop_node *n, loop_place place, int64_t extent);   // adds one, unless of 1

// ---- length.c -----------------------------------------------------------------------------------
// Of an expression not seen yet: operations, all functions of the maths library being as many; and
// instructions, of which those that mention v (UINT32_MAX: all) count once a copy
// (kernels/length.c).
int64_t plan_operations(const planner *p, tensor_expr e, uint8_t *seen);
int64_t plan_length(const planner *p, tensor_expr e, tensor_var v, int64_t copies, uint8_t *seen);

// ---- group.c ------------------------------------------------------------------------------------
// Whether a stage joins one before it in a kernel, of which either may be a sum by matrix
// operations.
bool plan_matrix_joins(const planner *p, const stage_group *g, uint32_t before, bool before_is,
                       uint32_t stage, bool is);
// Whether it can join a kernel of those; whether it does, unless a schedule says otherwise.
// Whether a load reads what another step of a recurrence has left: z[t] beside z[t + 1].
bool plan_at_other_step(const planner *p, const tensor_stage *writer, const tensor_target *t,
                        const tensor_node *load);
bool plan_may_join(planner *p, const stage_group *g, uint32_t stage);
bool plan_joins(planner *p, const stage_group *g, uint32_t stage);
// The place of a variable among a stage's loops; a recurrence's step stands for itself, outside of
// them. UINT32_MAX: it is none.
uint32_t plan_place(const planner *p, const tensor_stage *st, tensor_var v);
// whose loops are those of the kernel
const tensor_stage *plan_deepest(const planner *p, const stage_group *g);
// without a recurrence's step, and what is carried
uint32_t plan_left(const planner *p, const tensor_stage *st, tensor_var *vars);
bool plan_owner_alone(const planner *p, const tensor_stage *writer,
                      // no other thread needs what it computes from what it overwrites
                      const tensor_stage *reader);
bool plan_same_keys(const planner *p, const tensor_stage *a, const tensor_stage *b);
// Reductions that walk the same points and do not read each other: one walk serves them.
bool plan_same_walk(const planner *p, const tensor_stage *a, const tensor_stage *b);
// of stages from there on that share one
uint32_t plan_run_end(const planner *p, const stage_group *g, uint32_t from);

// ---- matrix.c -----------------------------------------------------------------------------------
// its factors and its sum; refuses what is no contraction
void plan_matrix_types(planner *p, uint32_t stage);
// a schedule says `mma` of what it reduces
bool plan_asks_matrix(const planner *p, const tensor_stage *st);
void plan_matrix_check(planner *p);   // refuses sums of which rewriting left one factor
// it is a sum, by whichever operation
bool plan_adds(const planner *p, const tensor_stage *st);
// it adds in f32, which a matrix operation can do
bool plan_matrix_sums(const planner *p, const tensor_stage *st);
// TENSOR_NO_VAL: its blocks own no tiles
tensor_val plan_tiled_by(const planner *p, const tensor_stage *st, tensor_var v);
bool plan_matrix_of(const planner *p, const tensor_stage *st, plan_matrix *m);
void plan_matrix_reduce(planner *p, const tensor_stage *st, const loop_list *levels,
                        loop_node *reduce);
// as the statement says, or refused
void plan_accumulators(planner *p, const plan_matrix *m, const loop_node *reduce,
                       loop_matrix *made);
void plan_matrix_alone(planner *p, const tensor_stage *st, const char *why);   // refuses it there
void plan_matrix_cut(planner *p, index_cut *c);
// refuses that they share a loop
bool plan_matrix_apart(planner *p, const index_cut *c, const index_cut *o);
// all rows are the same, which lanes are dealt out to
bool plan_matrix_alike(const planner *p, const tensor_stage *st);
void plan_matrix_units(planner *p, const tensor_stage *st, const loop_list *levels);
// refuses other than those of a warp
void plan_matrix_lanes(planner *p, const tensor_stage *st, uint32_t lanes);
void plan_matrix_digits(const index_cut *c, plan_digit *add, loop_node *n);

// ---- matrix_group.c -----------------------------------------------------------------------------
// that it has all points of v, in their order
bool plan_group_along(planner *p, const plan_matrix *m, tensor_var v, const loop_node *n);
// depth: NULL in windows
bool plan_group_check(planner *p, const tensor_stage *st, const plan_matrix *m,
                      const loop_list *levels, const loop_node *rows, const loop_node *columns,
                      const loop_node *depth);
// what all its matrices take of shared memory
void plan_matrix_fit(planner *p, const stage_group *g, const loop_kernel *k);
// bytes of shared memory that its matrices leave
int64_t plan_matrix_room(const planner *p, const loop_kernel *k);

// ---- matrix_role.c ------------------------------------------------------------------------------
// of an index of the sum, or of what reads it by points
matrix_role plan_matrix_role(const planner *p, const tensor_stage *st, tensor_var v,
                             plan_matrix *m);

// ---- window.c -----------------------------------------------------------------------------------
// Rows in windows (kernels/window.c).
// NULL: they have none
schedule_cell *plan_window_cell(const planner *p, const tensor_stage *st, tensor_var *row);
// Who plays which role, and what is multiplied: what stands in cells, the other factor; false:
// refused.
bool plan_window_factors(planner *p, const tensor_stage *st, plan_matrix *m, tensor_expr *cell,
                         tensor_expr *other);
// once it is multiplied so
bool plan_window_roles(const planner *p, const tensor_stage *st, plan_matrix *m);
// that takes its entries to rows; TENSOR_NO_VAL: none alone does
tensor_val plan_window_rows_map(const planner *p, const tensor_stage *st, tensor_var row);
bool plan_window_check(planner *p, const plan_matrix *m);   // its maps and counts; false: refused
// the map whose values have slots
tensor_val plan_window_source(const planner *p, const schedule_cell *window);
// refuses what else deals out its rows
void plan_window_alone(planner *p, const index_cut *c, const plan_matrix *m);
void plan_window_rows(planner *p, tensor_var row, const plan_matrix *m, row_class *out);
loop_node *plan_open_windows(planner *p, const plan_window *w, const index_cut *c, loop_body *to);

// ---- window_role.c ------------------------------------------------------------------------------
// of the statement's walk
bool plan_walks_at(const planner *p, const schedule_cell *fuse, uint32_t stage);
// it is fused in a walk of windows; m: of a sum there
bool plan_windowed(const planner *p, uint32_t stage, plan_matrix *m);
matrix_role plan_window_role(const planner *p, uint32_t stage, tensor_var v, plan_matrix *m);
tensor_var plan_window_slot(const loop_node *reduce);   // of a reduction whose walk is of windows

// ---- specialize.c -------------------------------------------------------------------------------
// Rows that are specialized (kernels/specialize.c): where the deepest stages of the nest stand; the
// loops that walk their rows.
loop_body *plan_specialize_open(plan_nest *n, loop_body *at);
void plan_specialize_loop(planner *p, const tensor_stage *st, tensor_var v, bool part,
                          loop_node *n);
// of the kernel: refuses those that could not ask one another
void plan_specialize_lanes(const plan_nest *n, uint32_t lanes);

// ---- gather.c -----------------------------------------------------------------------------------
const schedule_cell *plan_fuse_cell(const planner *p, uint32_t stage);
bool plan_fuses(const planner *p, const schedule_cell *c, uint32_t stage);
bool plan_same_statement(const schedule_cell *a, const schedule_cell *b);   // `fuse`
void plan_fuse_order(planner *p);   // stages of one statement next to each other
void plan_permute(planner *p, const stage_group *order);   // stages stand in that order
bool plan_reads_stage(const planner *p, uint32_t reader, uint32_t writer);

// ---- window_places.c ----------------------------------------------------------------------------
// Places in such windows of the values of a map, then of its entries.
tensor_val plan_window_places(planner *p, tensor_val map, tensor_val other, int64_t extent,
                              tensor_val *of_entries);

#endif
