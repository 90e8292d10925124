// The walk over the nodes of a kernel: loops, bodies, reductions, stores.
#ifndef GNNC_LOWER_LOOPS_H
#define GNNC_LOWER_LOOPS_H

#include "lower/sums/sums.h"

typedef struct lower_blocks {
    const loop_node *node;
    slot_list sums;
    simt_value lo, hi;
    uint32_t step;
    loop_round *round;
    void (*loop)(kernel *k, simt_builder *b, const loop_node *n, simt_value lo, simt_value hi,
                 uint32_t step, loop_round *r);
} lower_blocks;

typedef struct {
    const kernel *k;
    bool *reads, *writes;   // per value
    uint8_t *seen;          // per expression
} shared_use;

typedef struct {
    shared_use phases, all;   // since the last barrier
} meeting;

// ---- body.c -------------------------------------------------------------------------------------
void lw_body(kernel *k, simt_builder *b, const loop_body *body);
void lw_node(kernel *k, simt_builder *b, const loop_node *n);

// ---- loop.c -------------------------------------------------------------------------------------
void lw_for(kernel *k, simt_builder *b, const loop_node *n);
void lw_serial_loop(kernel *k, simt_builder *b, const loop_node *n, simt_value lo, simt_value hi,
                    uint32_t step, loop_round *r);
// user: a loop_round
void lw_last_round(kernel *k, simt_builder *b, const loop_node *n, void *user);

// ---- bind.c -------------------------------------------------------------------------------------
// The loop's variable gets its positions in the round, and the loop its mask. The caller cuts masks
// back.
void lw_bind(kernel *k, simt_builder *b, const loop_node *n, axis_set own, round_of r);

// ---- stay.c -------------------------------------------------------------------------------------
// A loop in whose rounds pieces of inputs stay in registers: they are loaded before it.
void lw_stay(kernel *k, simt_builder *b, const loop_node *n);

// ---- reduce.c -----------------------------------------------------------------------------------
void lw_reduce(kernel *k, simt_builder *b, const loop_node *n);
void lw_level(kernel *k, simt_builder *b, const loop_node *n);
// a state times the factor of its sum, in the wider of their types
simt_value lw_times_factor(kernel *k, simt_builder *b, const reduction *r, simt_value x);

// ---- again.c ------------------------------------------------------------------------------------
// Computes the stages' sums once more where they are not finite.
void lw_again(kernel *k, simt_builder *b, const loop_node *reduce, reduction *const *all);

// ---- carry.c ------------------------------------------------------------------------------------
void lw_carry(kernel *k, simt_builder *b, const loop_node *n);
// the body of its walk
void lw_carry_body(kernel *k, simt_builder *b, reduction *r, const loop_round *round);
// Where c holds, every instance of the state goes to `place`. Threads that differ in digits of
// `each` store a run each.
typedef enum { RUN_WHOLE, RUN_FIRST, RUN_LAST } run_place;
void lw_place_run(kernel *k, simt_builder *b, const reduction *r, simt_value c, axis_set each,
                  run_place place);
simt_value lw_began_before(simt_builder *b, const reduction *r);   // the run at hand; by its key

// ---- scan.c -------------------------------------------------------------------------------------
// A round of a carry whose lanes have positions side by side: each has those of `side`. The body's
// nodes from `lets` on contribute.
void lw_scan(kernel *k, simt_builder *b, reduction *r, axis_set side, const round_of *round,
             uint32_t lets);

// ---- store.c ------------------------------------------------------------------------------------
void lw_store(kernel *k, simt_builder *b, const loop_node *n);
void lw_clear(kernel *k, simt_builder *b, const loop_node *n);
void lw_combine(kernel *k, simt_builder *b, const loop_node *n);
void lw_store_state(kernel *k, simt_builder *b, const loop_node *n);
// In memory, at the instance at hand, by this thread: values, combined values, the raw state.
// masked: all loops in scope have their masks.
void lw_store_targets(kernel *k, simt_builder *b, uint32_t stage, bool masked);
void lw_combine_targets(kernel *k, simt_builder *b, uint32_t stage);
void lw_store_slots(kernel *k, simt_builder *b, const reduction *r, const tensor_expr *slots);

// ---- phase.c ------------------------------------------------------------------------------------
meeting lw_meeting(const kernel *k);
// Bodies without phases need no barriers inside.
bool lw_has_phases(const loop_body *body);
// A barrier before n, if one is needed; before a body that runs again.
void lw_meet(kernel *k, simt_builder *b, const loop_node *n, meeting *m);
void lw_meet_again(const kernel *k, simt_builder *b, const loop_body *body);
void lw_find_read(kernel *k, const loop_body *body);   // what the nodes load
// The variable is no longer bound: tiles whose origin mentions it are not what they were.
void lw_forget_tiles(kernel *k, tensor_var v);

// ---- distributed.c, distributed_walk.c --------------------------------------------------------
// From here on the steps are a digit of lanes; and written out again.
void lw_distribute(kernel *k, simt_builder *b);
void lw_distribute_back(kernel *k);
// Before the i-th node of a body in the walk, the steps become what that node needs.
void lw_distribute_for(kernel *k, simt_builder *b, const loop_body *body, uint32_t i);

// ---- within.c -----------------------------------------------------------------------------------
void lw_within(kernel *k, simt_builder *b, const loop_node *n);

// ---- padded.c, sizes.c, blocks.c: of the host ---------------------------------------------------
// no loop around may be at its padding, either
bool lw_pads_rounds(const kernel *k, const loop_node *n);
void lw_padded_rounds(kernel *k, simt_builder *b, const loop_node *n, loop_round *r);
void lw_body_by_sizes(kernel *k, simt_builder *b, const loop_body *body);
slot_list lw_long_sums(kernel *k, const loop_node *n);   // those that need blocks
void lw_in_blocks(kernel *k, simt_builder *b, const lower_blocks *x);

#endif
