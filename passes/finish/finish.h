// What the loops of one kernel get when they are made: copies for rounds, cache hints, blocks that
// walk the work.
#ifndef GNNC_PLAN_FINISH_H
#define GNNC_PLAN_FINISH_H

#include "base/making.h"

// ---- fetch.c ------------------------------------------------------------------------------------
bool plan_fetches(const planner *p, const stage_group *g);   // a stage has `pipeline`
// The loop whose points are those of v, NULL: there is none; value: what v is there, by the loop's
// index.
loop_node *plan_loop_behind(planner *p, const loop_kernel *k, tensor_var v, tensor_expr *value);
// around n, for all threads of a block
bool plan_fetch_same(planner *p, const loop_kernel *k, const loop_node *n, tensor_expr e);
// for all threads of a block
bool plan_fetch_alike(planner *p, const schedule_cell *pipeline, const loop_kernel *k,
                      const loop_node *n);
// rows of floats, of a known size
bool plan_fetch_shape(planner *p, tensor_val v, const schedule_cell *keep);
void plan_fetch_into(planner *p, const tensor_stage *st, const schedule_cell *pipeline,
                     const loop_kernel *k, loop_node *n, const loop_fetch *fetched,
                     uint32_t count);                                // where there is room
void plan_fetch(planner *p, const stage_group *g, loop_kernel *k);   // when its loops are made

// ---- fetch_slots.c ------------------------------------------------------------------------------
// of a walk of windows (finish/fetch_slots.c)
void plan_fetch_slots(planner *p, const plan_matrix *m, schedule_cell *pipeline,
                      const loop_kernel *k);

// ---- cache.c ------------------------------------------------------------------------------------
// What the schedule says of the launch of a kernel whose loops are made (finish/cache.c,
// finish/persistent.c).
void plan_cache(planner *p, loop_kernel *k);

// ---- persistent.c -------------------------------------------------------------------------------
void plan_persistent(planner *p, loop_kernel *k);

#endif
