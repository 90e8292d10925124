// Kernels of a plan, and launches that overlap.
#ifndef GNNC_LOWER_H
#define GNNC_LOWER_H

#include "lower/loops/loops.h"

// ---- kernel.c -----------------------------------------------------------------------------------
void lw_kernel(lowering *l, uint32_t step);   // a launch of the plan

// ---- early.c ------------------------------------------------------------------------------------
const loop_kernel *lw_launch_at(const lowering *l, uint32_t step);   // NULL: the step is no launch
bool lw_shares_launch(const lowering *l,
                      uint32_t step);   // it shares the launch of the step before
// Which values kernels before may still use, and whether this kernel waits before it writes.
void lw_find_unsettled(kernel *k, uint32_t step);
void lw_find_left(kernel *k, uint32_t step);
void lw_begin_early(kernel *k, simt_builder *b, uint32_t step);
void lw_end_early(kernel *k, simt_builder *b);
void lw_wait_late(kernel *k);   // when all is built, the wait goes as far down as it may

#endif
