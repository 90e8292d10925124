// Kernels launched early, or in one launch: what they may not touch at the same time.
#ifndef GNNC_LOOP_OVERLAP_H
#define GNNC_LOOP_OVERLAP_H

#include "loop_plan.h"

typedef struct {            // per value, in memory
    bool *reads, *writes;   // writes: it, or what shares its memory
    // where writes: the stages that store points of it, the last one first
    const struct loop_points **points_of;
} loop_uses;
struct loop_points {
    uint32_t stage;   // UINT32_MAX: it is written in another way
    const struct loop_points *before;
};
loop_uses loop_uses_of(arena *a, const loop_plan *p, const loop_kernel *k);
// so that both can be of one launch
bool loop_blocks_alike(const loop_kernel *a, const loop_kernel *b);
const char *loop_blocks_text(arena *a, const loop_kernel *k);   // what has to be alike
// A stage's value lies in memory, as large as it is, and the kernel does not write it: others did
// before.
bool loop_stored_before(arena *a, const loop_plan *p, const loop_kernel *k, tensor_val v);
// A value because of which two kernels may not run at the same time; TENSOR_NO_VAL: they may.
tensor_val loop_uses_meet(const loop_plan *p, const loop_uses *a, const loop_uses *b);
// of a launch: why it may not start as it does
// uses: of each step, once they were asked for
const char *loop_start_fault(arena *a, const loop_plan *p, uint32_t step, const loop_uses **uses);

#endif
