// How kernels are launched: which share a launch, and which begin while the one before runs.
#ifndef GNNC_PASSES_PLAN_LAUNCH_H
#define GNNC_PASSES_PLAN_LAUNCH_H

#include "base/planner.h"

bool plan_says(planner *p, const loop_body *body, schedule_verb verb);   // takes such statements about what a kernel stores
void plan_overlap(planner *p);   // when all kernels are made (loop/overlap.c)
bool plan_blocks_alike(const loop_kernel *a, const loop_kernel *b);   // so that one launch can have both (axes/order.c)
const char *plan_blocks_text(arena *a, const loop_kernel *k);
#endif
