// The walk over the nodes of a kernel: loops, bodies, reductions, stores.
#ifndef GNNC_LOWER_LOOPS_H
#define GNNC_LOWER_LOOPS_H

#include "lower/sums/sums.h"

// A serial loop of the host whose long sums are those of blocks (lower/loops/blocks.c).
typedef struct lower_blocks {
    const loop_node *node;
    slot_list sums;
    simt_value lo, hi;
    uint32_t step;
    loop_round *round;
    void (*loop)(kernel *k, simt_builder *b, const loop_node *n, simt_value lo, simt_value hi, uint32_t step,
                 loop_round *r);
} lower_blocks;

typedef struct {
    const kernel *k;
    bool *reads, *writes;   // per value
    uint8_t *seen;
} shared_use;

typedef struct {
    shared_use phases, all;   // since the last barrier
} meeting;

// ---- loop.c --------------------------------------------------------------------------------------------
void lw_serial_loop(kernel *k, simt_builder *b, const loop_node *n, simt_value lo, simt_value hi,
                    uint32_t step, loop_round *r);
void lw_last_round(kernel *k, simt_builder *b, const loop_node *n, void *user);   // a loop_round
void lw_for(kernel *k, simt_builder *b, const loop_node *n);

// ---- bind.c --------------------------------------------------------------------------------------------
// Its positions and mask.
void lw_bind(kernel *k, simt_builder *b, const loop_node *n, axis_set own, round_of r);

// ---- body.c --------------------------------------------------------------------------------------------
void lw_node(kernel *k, simt_builder *b, const loop_node *n);
void lw_body(kernel *k, simt_builder *b, const loop_body *body);

// ---- reduce.c ------------------------------------------------------------------------------------------
void lw_level(kernel *k, simt_builder *b, const loop_node *n);
void lw_reduce(kernel *k, simt_builder *b, const loop_node *n);

// ---- carry.c -------------------------------------------------------------------------------------------
void lw_carry_body(kernel *k, simt_builder *b, reduction *r, axis_set own);   // of its walk
void lw_carry(kernel *k, simt_builder *b, const loop_node *n);

// ---- again.c -------------------------------------------------------------------------------------------
// Lower/loops/again.c: all its stages.
void lw_again(kernel *k, simt_builder *b, const loop_node *reduce, reduction *const *all);

// ---- within.c ------------------------------------------------------------------------------------------
void lw_within(kernel *k, simt_builder *b, const loop_node *n);

// ---- padded.c ------------------------------------------------------------------------------------------
// Padded loops of the host (lower/loops/padded.c), and bodies for likely sizes of what they pad
// (lower/loops/sizes.c). It is one, and no loop around may be at its padding.
bool lw_pads_rounds(const kernel *k, const loop_node *n);
void lw_padded_rounds(kernel *k, simt_builder *b, const loop_node *n, loop_round *r);

// ---- sizes.c -------------------------------------------------------------------------------------------
void lw_body_by_sizes(kernel *k, simt_builder *b, const loop_body *body);

// ---- blocks.c ------------------------------------------------------------------------------------------
slot_list lw_long_sums(kernel *k, const loop_node *n);   // none: it needs no blocks
void lw_in_blocks(kernel *k, simt_builder *b, const lower_blocks *x);

// ---- store.c -------------------------------------------------------------------------------------------
// In memory, at the instance at hand; masked: under the masks of all loops in scope.
void lw_store_targets(kernel *k, simt_builder *b, uint32_t stage, bool masked);
void lw_store(kernel *k, simt_builder *b, const loop_node *n);
void lw_clear(kernel *k, simt_builder *b, const loop_node *n);
void lw_combine_targets(kernel *k, simt_builder *b, uint32_t stage);   // in memory, at the instance at hand
void lw_combine(kernel *k, simt_builder *b, const loop_node *n);
void lw_store_slots(kernel *k, simt_builder *b, const reduction *r,
                    const tensor_expr *slots);   // the raw state at hand
void lw_store_state(kernel *k, simt_builder *b, const loop_node *n);

// ---- deal.c --------------------------------------------------------------------------------------------
void lw_deal(kernel *k, simt_builder *b);   // from here on the steps are the lanes'
void lw_deal_back(kernel *k);

// ---- deal_walk.c ---------------------------------------------------------------------------------------
// Before the i-th node of a body in the walk: where its steps should be, and what the body has given is so
// there.
void lw_deal_for(kernel *k, simt_builder *b, const loop_body *body, uint32_t i);

// ---- phase.c -------------------------------------------------------------------------------------------
void lw_find_read(kernel *k, const loop_body *body);
meeting lw_meeting(const kernel *k);
void lw_meet(kernel *k, simt_builder *b, const loop_node *n,
             meeting *m);   // a barrier before n, if one is needed
void lw_meet_again(const kernel *k, simt_builder *b,
                   const loop_body *body);   // … before a body that runs again
void lw_forget_tiles(kernel *k, tensor_var v);   // those whose origin mentions v, which is no longer bound

#endif
