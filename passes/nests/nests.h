// The loops of a kernel as a whole: one nest, fused phases, walks of edges, stages that follow,
// parts and their kernels.
#ifndef GNNC_PLAN_NESTS_H
#define GNNC_PLAN_NESTS_H

#include "base/making.h"

// ---- nest.c -------------------------------------------------------------------------------------
void plan_kernel(planner *p, stage_group *g);
// the kernel after those that leave states
void plan_take_up(planner *p, const stage_group *g, const row_class *rows, uint32_t number);
plan_nest plan_nest_start(planner *p, const tensor_stage *deepest, uint32_t number);
// Gives where the loops of the deepest stage end.
loop_body *plan_nest_group(plan_nest *n, const stage_group *g, const row_class *rows,
                           loop_body *at);
void plan_nest_end(plan_nest *n);   // threads are dealt out to all its loops
// its loops are opened one by one
void plan_nest_begin(plan_nest *n, const stage_group *g, const row_class *rows);
loop_body *plan_nest_open(plan_nest *n, uint32_t level, loop_body *to);
// Stages [from, to) of the group, which share a walk or are one; the loops of the walk are
// appended.
// gives where what comes after goes
loop_body *plan_nest_run(plan_nest *n, uint32_t from, uint32_t to, loop_body *at, loop_list *walk);
bool plan_alike(planner *p, const index_cut *c, const index_cut *o);   // two stages in one loop
void plan_bound_vectors(planner *p, const tensor_stage *st);
void plan_choose_home(planner *p, const stage_group *g, const tensor_stage *st);

// ---- parts.c ------------------------------------------------------------------------------------
// false: refused
bool plan_cut_walk(planner *p, const stage_group *g, uint32_t sums, row_class *rows);
// NULL: blocks may combine the stage in memory
diagnostic *plan_refuse_atomic(planner *p, const tensor_stage *st, const schedule_cell *way);
// the kernels that leave states
void plan_parts(planner *p, const stage_group *g, const row_class *rows, uint32_t number);

// ---- fuse.c -------------------------------------------------------------------------------------
void plan_fusion(planner *p, const stage_group *g, const schedule_cell *c);
bool plan_fusion_map(fusion *f, tensor_space domain);   // there is one, and it leads from there
// of the block's rows, or edges
bool plan_fusion_owns(fusion *f, const tensor_stage *reader, bool edges, tensor_expr index);
// all points of edges that are needed belong to rows
bool plan_fusion_reaches(fusion *f, const tensor_stage *st);

// ---- owned.c ------------------------------------------------------------------------------------
// of which the variable is; NULL: it is of none
const plan_owned *plan_owned_index(const owned_list *all, tensor_var v);
bool plan_find_owned(fusion *f);   // false: refused
void plan_own_made(fusion *f);     // by stages that were made since
// the loops over the blocks of them; gives where those of a block go
loop_body *plan_open_owned(fusion *f, loop_body *to);

// ---- keep.c -------------------------------------------------------------------------------------
bool plan_kept_apart(planner *p,
                     // by a statement about itself, not about what it lies in
                     const tensor_stage *st);
bool plan_keeps_shared(planner *p, const stage_group *g,
                       bool walk);                        // all stages are computed in one walk
void plan_check_kept(planner *p, const stage_group *g);   // registers are where the readers are
void plan_keep_inputs(fusion *f);
void plan_keep_values(fusion *f);

// ---- scatter.c ----------------------------------------------------------------------------------
// sums of edges that blocks add to memory, fused with what is computed at the edges
bool plan_scatters(const planner *p, const stage_group *g, const schedule_cell *fuse);
void plan_scatter(planner *p, stage_group *g, const schedule_cell *fuse);

// ---- follow.c -----------------------------------------------------------------------------------
bool plan_follower(const fusion *f, uint32_t stage);   // over the points of rows (nests/follow.c)
// it may follow in the loops of the phase's rows
bool plan_follows(fusion *f, const plan_phase *ph, uint32_t stage);
void plan_follow(plan_nest *n, const uint32_t *stage, const plan_map *m, loop_body *at);

// ---- sweep.c ------------------------------------------------------------------------------------
// it is at an index that rows are walked by, which the stages over it share
bool plan_sweeps(fusion *f);
void plan_sweep(fusion *f);   // (nests/sweep.c)

#endif
