// How an index becomes a loop: digits, order, classes, tiles, parts of rows, and the walks of what
// is reduced.
#ifndef GNNC_PLAN_AXES_H
#define GNNC_PLAN_AXES_H

#include "base/making.h"

// For all rows of a kernel, or for each class of them by a schedule of its own.
typedef void plan_emit(planner *p, const row_class *rows, uint32_t number, void *user);

// ---- loops.c ------------------------------------------------------------------------------------
void plan_loops(planner *p);
// The loop of a left index that lies inside a reduced one, in the loops of `around` (axes/loops.c).
void plan_write_out(planner *p, tensor_var v, const loop_list *around, loop_node *n);

// ---- window_walk.c ------------------------------------------------------------------------------
void plan_window_walk(planner *p, const uint32_t *stages, uint32_t n, const plan_matrix *m,
                      loop_node *reduce, loop_list *made, const struct plan_inside *inside);
// what the source says at an entry of the walk at hand
void plan_window_column(planner *p, tensor_var entry, loop_body *at);
// what an entry sums; false: in no window
bool plan_window_product(planner *p, const uint32_t *stage, loop_body *at, loop_list *own);

// ---- cut.c --------------------------------------------------------------------------------------
index_cut plan_cut(planner *p, const tensor_stage *st, tensor_var v, bool bound);
// Whether v of a and w of b, on their left, are dealt out alike; blocks aside.
bool plan_same_cut(planner *p, const tensor_stage *a, tensor_var v, const tensor_stage *b,
                   tensor_var w);
// points that are dealt out at once
int64_t plan_parts_of(const index_cut *c);
void plan_digits(planner *p, const index_cut *c, loop_node *n);   // units are given by plan_units
// Gives the lane or group digits of loops their units: outer ones, outermost first, and inner ones,
// innermost first; false: their product does not divide the total.
bool plan_units(loop_node *const *outer, uint32_t nouter, loop_node *const *inner, uint32_t ninner,
                loop_place place, uint32_t total);

// ---- pad.c --------------------------------------------------------------------------------------
// 0: none, or the extent is a multiple
int64_t plan_pad(const planner *p, const tensor_stage *st, tensor_var v);
// of an axis that the stage stores at the index
int64_t plan_padded_extent(const planner *p, const tensor_stage *st, tensor_expr index,
                           int64_t extent);
// Before its digits are made; why_not: the loop is none that can be padded, NULL: its range says.
void plan_pad_loop(planner *p, const index_cut *c, loop_node *n, const char *why_not);
void plan_pads(planner *p);   // of values, when all loops are made

// ---- order.c ------------------------------------------------------------------------------------
// is of points that the index runs over
bool plan_key_fits(planner *p, const schedule_cell *c, tensor_space of, tensor_var var);
bool plan_shares_rows(planner *p, const stage_group *g);   // of a fused kernel; false: refused
void plan_each_class(planner *p, const tensor_stage *deepest, plan_emit *emit, void *user);

// ---- tile_chains.c ------------------------------------------------------------------------------
// The loop over chains of tiles, where something stays for those of one value; NULL: nothing does.
loop_node *plan_open_chains(planner *p, const plan_tile *t, const stage_group *g, loop_body **to);
bool plan_stays(const planner *p, const tensor_stage *st, tensor_val v);   // the stage has it so
bool plan_chained(const plan_tile *t, const loop_node *n);                 // it is such a loop
void plan_check_chains(planner *p, const stage_group *g, const loop_kernel *k);

// ---- tiles.c ------------------------------------------------------------------------------------
bool plan_same_tiles(const schedule_cell *a, const schedule_cell *b);
bool plan_tile_rows(planner *p, tensor_var row, schedule_cell *block, schedule_cell *order,
                    row_class *out);
void plan_tile_digits(planner *p, const plan_tile *t, index_cut c, loop_node *node);
void plan_check_tiles(planner *p, const index_cut *c, const row_class *rows);   // refuses them
loop_node *plan_open_tiles(planner *p, const plan_tile *t, const stage_group *g, loop_body **to);
// Refuse groups along the points of tiles, and along what a stage reduces in them, where each group
// owns a tile.
void plan_check_groups(planner *p, const plan_tile *t, const index_cut *c);
void plan_check_meeting(planner *p, const plan_tile *t, const tensor_stage *st,
                        const loop_list *walk);
void plan_given(planner *p, const plan_tile *t, tensor_var v, loop_body *to);   // of the map, at v
// The points of a tile, of n at most, of that value, whose first tile is `first`.
void plan_tile_range(planner *p, const plan_map *m, int64_t n, tensor_expr tile, tensor_expr first,
                     tensor_expr value, tensor_expr *lo, tensor_expr *hi);

// ---- deal.c -------------------------------------------------------------------------------------
// Threads are dealt out to the stages that share the walk of a stage, in so many levels of loops.
void plan_deal(plan_nest *n, uint32_t stage, uint32_t levels, const loop_list *walk);
// the lanes and groups of the kernel, by its dealings (axes/deal.c)
void plan_settle(plan_nest *n);
bool plan_shuffles(const loop_list *walk);

// ---- walk.c -------------------------------------------------------------------------------------
loop_body *plan_walk_row(planner *p, const tensor_stage *st, const plan_map *m, loop_body *at,
                         loop_list *made);
// NULL: nothing
void plan_walk(planner *p, const uint32_t *stages, uint32_t n, loop_node *reduce, loop_list *made,
               const plan_inside *inside);
void plan_let(planner *p, loop_body *to, tensor_var v, tensor_expr value, span at);
// A point of a stage at an edge: the row that a key says, behind tests whether the stage has it.
loop_body *plan_point(planner *p, const tensor_stage *st, uint32_t key, tensor_var row,
                      tensor_var edge, loop_body *at);

// ---- held.c -------------------------------------------------------------------------------------
void plan_hold(planner *p, const held_readers *by, const index_cut *c, tensor_expr at,
               loop_node *n);                             // at: the point of the index in it
void plan_held_lanes(planner *p, const loop_kernel *k);   // when its threads are dealt out

// ---- held_shared.c ------------------------------------------------------------------------------
// A stage reads entries of a tile of an input that is kept shared. inside: at points of its own, too.
bool plan_reads_tile(planner *p, const tensor_stage *st, tensor_val v, bool inside);
bool plan_kept_in_tiles(planner *p, const stage_group *g, tensor_val v, bool inside);
// no stage of which the same is said reads it otherwise
bool plan_check_kept_tiles(planner *p, const stage_group *g, tensor_val v, bool inside);
void plan_hold_ahead(planner *p, const index_cut *cut, loop_node *n);   // by `pipeline`
// what the kernel's loops hold in shared memory fits it, when lanes are known
bool plan_check_held_room(planner *p, const loop_kernel *k, const loop_node *n,
                          const schedule_cell *c, const char *name);

// ---- distributed.c ------------------------------------------------------------------------------
// Steps that are distributed to the lanes that reduce inside: noted where the loop is made, checked
// in its kernel.
void plan_distribute_steps(planner *p, const index_cut *c, loop_node *n);
// of which an edge's stages stand without the loop
void plan_distribute_walk(planner *p, const loop_node *walk, const loop_node *apart);
void plan_distributed_steps(planner *p, const stage_group *g);   // g: what the kernel computes

// ---- row_begins.c -------------------------------------------------------------------------------
void plan_row_begins(planner *p);   // likewise (axes/row_begins.c)

// ---- collapse.c ---------------------------------------------------------------------------------
// Where the loop opened last ends a list of `collapse`, its loops become one; gives the body of the
// innermost (axes/collapse.c).
loop_body *plan_collapse(planner *p, const stage_group *g, loop_list *levels, uint32_t level,
                         loop_body *at);

// ---- taken.c ------------------------------------------------------------------------------------
void plan_take_parts(planner *p, const uint32_t *stages, uint32_t n, loop_node *reduce,
                     loop_list *made);
// the kernel in the making combines what parts of it left
bool plan_takes_up(const planner *p, const tensor_stage *st);
// the cut of an index at which rows are cleared whose sums are cut as others' loops
index_cut plan_cleared_cut(const planner *p, index_cut c, uint32_t level, uint32_t depth);
bool plan_spreads(const planner *p);   // its results go to as many blocks as there may be
index_cut plan_spread(index_cut c);    // how an index of theirs is dealt out there
// how rows and columns of a matrix operation are dealt out there
index_cut plan_taken_sums(const planner *p, index_cut c);

// ---- runs.c -------------------------------------------------------------------------------------
// the body of an IF
loop_body *plan_test_part(planner *p, loop_body *at, const plan_part *part, tensor_expr condition);
// false: refused
bool plan_runs(planner *p, const tensor_stage *st, plan_part *part, const row_class *rows);
// that groups of the kernel that left runs can take up
void plan_count_rows(planner *p, const plan_nest *n);
loop_node *plan_carry(planner *p, const plan_part *part);
// where rows are taken up
loop_body *plan_cut_rows(planner *p, const plan_part *part, loop_body *at);
void plan_take_runs(planner *p, const plan_part *part, loop_node *reduce);
// of the second kernel
index_cut plan_deal_rows(planner *p, const plan_part *part, index_cut c, bool blocks);

// ---- cut_rows.c ---------------------------------------------------------------------------------
// Rows that are cut, and those that are not (axes/cut_rows.c).
bool plan_begins_at_0(const planner *p, const row_class *rows);   // or as a whole
// sums: the first so many are
bool plan_cuts_rows(const planner *p, const stage_group *g, uint32_t first, uint32_t sums,
                    const plan_map *m, const row_class *rows, int64_t n);
void plan_part_row(planner *p, plan_part *part, tensor_var row, const plan_map *m, int64_t n,
                   row_class *rows);
void plan_cut_or_whole(planner *p, const plan_part *part, loop_body *to, loop_body **cut,
                       loop_body **whole);   // the bodies of rows' parts
loop_body *plan_leave_or_store(planner *p, const plan_part *part, const uint32_t *stages,
                               uint32_t n, loop_body *at);
// where rows are not cut
void plan_know_degree(planner *p, const plan_part *part, const tensor_stage *st, loop_body *to);
row_class plan_taken_rows(planner *p, plan_part *part, const row_class *rows);
// How many times the groups of a kernel that takes up rows those of many parts have in one of their
// own; 1: there is none.
int64_t plan_many_parts(planner *p, const stage_group *g, const plan_part *part,
                        const row_class *rows, loop_kernel *k, row_class *many);
// where a part leaves its state
void plan_cut_slot(planner *p, const plan_part *part, tensor_space *axis, tensor_expr *index);
index_cut plan_taken_cut(index_cut row);   // how rows that are cut are dealt out
void plan_taken_parts(planner *p, const tensor_stage *st, index_cut *parts);   // and their parts

// ---- prepared.c ---------------------------------------------------------------------------------
// none is nowhere: of classes and compositions, of all that they are made of
bool plan_is_total(const planner *p, tensor_val map);
// of at least so many, which smaller ones are told as
tensor_val plan_degrees_from(planner *p, tensor_val map, int64_t least);
// Tiles of at most n entries, none of which crosses a value: the first one of each value; the value
// of each.
tensor_val plan_tiles(planner *p, prepared_builder b, const plan_map *m, int64_t n);
// Parts of rows of more than n entries, then the other rows, in an order or by their numbers:
// TENSOR_NO_VAL.
tensor_val plan_row_parts(planner *p, prepared_builder b, const plan_map *m, tensor_val order,
                          int64_t n);
// where whole rows begin, or end, in an order
tensor_val plan_row_ends(planner *p, prepared_builder b, tensor_val map, tensor_val order);
// Of windows of `extent` rows (0: it is not said): of a map and another one, or the slots that are
// made of it.
tensor_val plan_window_values(planner *p, prepared_builder b, tensor_val map, tensor_val other,
                              int64_t extent, int64_t slots, tensor_space windows);
tensor_val plan_order(planner *p, const plan_map *m);
// fails where a map of one is not known when the plan is made
void plan_prepare_classes(planner *p);

#endif
