// Passes over all kernels of a plan, and statements that nothing consumed.
#ifndef GNNC_PLAN_LOOP_H
#define GNNC_PLAN_LOOP_H

#include "base/making.h"

typedef enum { PLAN_NOT_SEEN, PLAN_HAS, PLAN_HAS_NOT } plan_having;

// ---- approximate.c ------------------------------------------------------------------------------
void plan_approximate(planner *p);   // likewise (loop/approximate.c)
// per expression below and e: whether one of f32 is in it
const plan_having *plan_exponentials(const planner *p, tensor_expr e);
bool plan_stage_has_exponential(planner *p, uint32_t stage);

// ---- composed.c ---------------------------------------------------------------------------------
void plan_composed(planner *p);   // when all loops are made (loop/composed.c)

// ---- unused.c -----------------------------------------------------------------------------------
// reports statements, of the classes of buckets too, that no pass consumed
void plan_unused(planner *p);

// ---- overlap.c ----------------------------------------------------------------------------------
// takes such statements about what a kernel stores
bool plan_says(planner *p, const loop_body *body, schedule_verb verb);
// when all kernels are made: which share a launch, and which begin while the one before runs
void plan_overlap(planner *p);

#endif
