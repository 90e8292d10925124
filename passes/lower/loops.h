// A kernel, its loops and their bodies, barriers, launches that overlap, loops of the host.
#ifndef GNNC_LOWER_LOOPS_H
#define GNNC_LOWER_LOOPS_H

#include "lower/lower.h"

// A serial loop of the host whose long sums are those of blocks (lower/blocks.c).
typedef struct lower_blocks {
    const loop_node *node;
    slot_list sums;
    simt_value lo, hi;
    uint32_t step;
    loop_round *round;
    void (*loop)(kernel *k, simt_builder *b, const loop_node *n, simt_value lo, simt_value hi, uint32_t step, loop_round *r);
} lower_blocks;

typedef void region_body(kernel *k, simt_builder *b, const loop_node *n, void *user);

typedef struct {
    shared_use phases, all;   // since the last barrier
} meeting;

// ---- kernel.c -------------------------------------------------------------------------------------------
void lw_kernel(lowering *l, uint32_t step);   // a launch of the plan
simt_value lw_arg(kernel *k, arg_kind kind, uint32_t index, uint32_t axis);
simt_value lw_size(kernel *k, simt_builder *b, tensor_space s);   // i64
simt_value lw_number(kernel *k, tensor_expr e);                   // i64
simt_value lw_ix(kernel *k, simt_builder *b, int64_t x);
simt_value lw_to_ix(kernel *k, simt_builder *b, simt_value x);
bool lw_constant(const tensor_op *op, tensor_expr e, int64_t *out);
uint32_t lw_step(const loop_node *n);   // positions a round of the rest covers

// ---- early.c --------------------------------------------------------------------------------------------
// Launches that overlap (lower/early.c).
const loop_kernel *lw_launch_at(const lowering *l, uint32_t step);   // NULL: the step is none
bool lw_together(const lowering *l, uint32_t step);   // it is in the launch of the one before
void lw_find_unsettled(kernel *k, uint32_t step);
void lw_find_left(kernel *k, uint32_t step);   // whether it waits to write
void lw_begin_early(kernel *k, simt_builder *b, uint32_t step);
void lw_end_early(kernel *k, simt_builder *b);
void lw_wait_late(kernel *k);   // when all is built: the wait goes as far down as it may

// ---- loop.c ---------------------------------------------------------------------------------------------
void lw_for(kernel *k, simt_builder *b, const loop_node *n);
bool lw_has_one_round(const kernel *k, const loop_node *n);   // of known bounds
void lw_bind(kernel *k, simt_builder *b, const loop_node *n, axis_set own, round_of r);   // its positions and mask
slot_list lw_slots(kernel *k, const loop_body *body);   // of open reductions, by what stands in body
void lw_serial_loop(kernel *k, simt_builder *b, const loop_node *n, simt_value lo, simt_value hi, uint32_t step, loop_round *r);
void lw_last_round(kernel *k, simt_builder *b, const loop_node *n, void *user);   // a loop_round
// The body under a condition; states of open reductions that it updates are results.
simt_instr lw_build_if(kernel *k, simt_builder *b, simt_value c, const loop_node *n, region_body *body, void *user);
simt_value lw_masks(kernel *k, simt_builder *b, uint32_t from);   // all loops in scope from there on; 0: true
simt_value lw_digit(kernel *k, simt_builder *b, const lower_axis *a);   // this thread's; i32
simt_value lw_thread_position(kernel *k, simt_builder *b, const loop_node *n,
                              simt_value base);   // base + what its digits add
// The position of the copy at hand, of those that stand at base; past the end it is the last one, and not inside.
simt_value lw_copy_position(kernel *k, simt_builder *b, axis_set copies, simt_value base, const round_of *r,
                            simt_value last, simt_value *step, simt_value *inside);

// ---- body.c ---------------------------------------------------------------------------------------------
void lw_body(kernel *k, simt_builder *b, const loop_body *body);
void lw_node(kernel *k, simt_builder *b, const loop_node *n);
// Of masked steps: what the contributions that follow one another from there on need, or the store there.
void lw_given(kernel *k, simt_builder *b, const loop_node *n);

// ---- padded.c -------------------------------------------------------------------------------------------
// Padded loops of the host (lower/padded.c), and bodies for likely sizes of what they pad (lower/sizes.c).
bool lw_pads_rounds(const kernel *k, const loop_node *n);   // it is one, and no loop around may be at its padding
void lw_padded_rounds(kernel *k, simt_builder *b, const loop_node *n, loop_round *r);

// ---- sizes.c --------------------------------------------------------------------------------------------
void lw_body_by_sizes(kernel *k, simt_builder *b, const loop_body *body);

// ---- blocks.c -------------------------------------------------------------------------------------------
slot_list lw_long_sums(kernel *k, const loop_node *n);   // none: it needs no blocks
void lw_in_blocks(kernel *k, simt_builder *b, const lower_blocks *x);

// ---- within.c -------------------------------------------------------------------------------------------
void lw_within(kernel *k, simt_builder *b, const loop_node *n);

// ---- dealt.c --------------------------------------------------------------------------------------------
bool lw_deals(const kernel *k, axis_set left);   // and they are among these digits
uint32_t lw_dealt_parts(const kernel *k);        // room that lw_fold_dealt takes
simt_value *lw_fold_dealt(kernel *k, simt_builder *b, const reduction *r, simt_value **part);   // by step
void lw_deal(kernel *k, simt_builder *b);   // from here on the steps are the lanes'
void lw_deal_back(kernel *k);

// ---- dealt_walk.c ---------------------------------------------------------------------------------------
bool lw_deals_walk(const kernel *k);   // the innermost loop that deals its steps is such a walk
// Before the i-th node of a body in the walk: where its steps should be, and what the body has given is so there.
void lw_deal_for(kernel *k, simt_builder *b, const loop_body *body, uint32_t i);
simt_value *lw_fold_steps(kernel *k, simt_builder *b, const reduction *r, simt_value *x, const loop_digit *lanes);   // of lanes that had one step each

// ---- phase.c --------------------------------------------------------------------------------------------
meeting lw_meeting(const kernel *k);
void lw_meet(kernel *k, simt_builder *b, const loop_node *n,
             meeting *m);   // a barrier before n, if one is needed
void lw_meet_again(const kernel *k, simt_builder *b,
                   const loop_body *body);   // … before a body that runs again
void lw_find_read(kernel *k, const loop_body *body);
void lw_forget_tiles(kernel *k, tensor_var v);   // those whose origin mentions v, which is no longer bound
void lw_barrier(simt_builder *b);

#endif
