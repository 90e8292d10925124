// Steps, by operation, and what they ask of memory; faults.
#ifndef GNNC_SIM_STEPS_H
#define GNNC_SIM_STEPS_H

#include "machine.h"

// ---- translate.c --------------------------------------------------------------------------------
sim_kernel *sim_translate(arena *a, const simt_func *f);
// a value equal in all lanes and elements
void sim_put_all(uint8_t *at, simt_type t, uint64_t bits);

// ---- Steps: each gives the one for an operation, NULL where it has none -------------------------
// arithmetic, comparisons, shape
sim_step sim_lanes_step(const simt_func *f, const simt_instr_info *i);
sim_step sim_convert_step(const simt_func *f, const simt_instr_info *i);   // CVT, UCVT
sim_step sim_memory_step(simt_op op);
sim_step sim_warp_step(simt_op op);
sim_step sim_copy_step(simt_op op);   // COPY, COPY_END, COPY_WAIT
// a fault where a lane does not take part
void sim_need_whole_warp(sim_warp *w, const sim_code *c);
void sim_mma(sim_warp *w, const sim_code *c);         // MMA
void sim_ldmatrix(sim_warp *w, const sim_code *c);    // LDMATRIX, LDMATRIX_TRANS
void sim_mma_group(sim_warp *w, const sim_code *c);   // MMA_GROUP
void sim_fence_mma(sim_warp *w, const sim_code *c);   // FENCE_MMA
// which MMA_GROUP does not see until the warp's next fence
void sim_wrote_shared(sim_warp *w, size_t offset, uint32_t bytes);
// control.c: what the translation puts in by itself
typedef enum {
    SIM_COPY,
    SIM_BLEND,
    SIM_IF,
    SIM_ELSE,
    SIM_END,
    SIM_FOR,
    SIM_NEXT,
    SIM_WHILE,
    SIM_LEAVE,
    SIM_STAY,
    SIM_AGAIN,
    SIM_CALL,
    SIM_RETURN,
    SIM_FINISH,
    SIM_CONTROLS
} sim_control;
sim_step sim_control_step(sim_control k);
bool sim_is_control(const sim_code *c);

// ---- memory.c -----------------------------------------------------------------------------------
// by parameter: whether a store may reach it
const bool *sim_written_params(arena *a, const simt_func *f);
bool sim_overlaps(const simt_func *f);
// Where a lane's access of so many bytes lies in its buffer, which it may be to; NULL: a fault says
// why not.
sim_buffer *sim_reach(sim_warp *w, const sim_code *c, bool writes, uint32_t bytes, uint32_t lane,
                      uint64_t pointer, size_t *offset);
// written there from now on
void sim_arrive(sim_warp *w, const sim_code *c, uint32_t bytes, uint32_t lane, size_t offset);

// ---- report.c -----------------------------------------------------------------------------------
// A fault of the lanes given, of which the first is named; other: the instruction it collides with,
// or 0.
void sim_fault_at(sim_warp *w, const sim_code *c, diag_code code, sim_mask lanes, simt_instr other,
                  const char *format, ...) SUP_PRINTF(6, 7);

#endif
