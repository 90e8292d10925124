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

// ---- banks.c ------------------------------------------------------------------------------------
typedef struct {   // of what a round fetches of a value
    // whose points are its rows, and its columns; NULL: there is none
    const loop_node *rows, *columns;
    tensor_var of_rows, of_columns;   // of the sum
    bool tile, round;   // of points of both; its columns are those of the loop that goes round
} plan_tile_loops;
// Requests of a warp, of those that read it and of those that copy it.
typedef struct plan_banks plan_banks;
plan_banks *plan_banks_of(planner *p, const loop_kernel *k, const plan_matrix *m,
                          const plan_tile_loops *t, const loop_fetch *f, const loop_tile *tile);
// Wavefronts that a request takes more than it must, as rows lie: the most that one of all takes;
// the most of two, the first of each kind.
uint32_t plan_bank_conflicts(const plan_banks *b, const loop_fetch *f);
uint32_t plan_first_conflicts(const plan_banks *b, const loop_fetch *f);

// ---- swizzle.c ----------------------------------------------------------------------------------
// in place of what lies between rows, where the statement asks for it; false: refused
bool plan_swizzle(planner *p, const schedule_cell *keep, const loop_kernel *k, const plan_matrix *m,
                  const plan_tile_loops *t, const loop_tile *tile, loop_fetch *f);

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
