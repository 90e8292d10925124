// Steps of a loop that are distributed to the lanes that reduce inside it.
#ifndef GNNC_LOOP_DISTRIBUTED_H
#define GNNC_LOOP_DISTRIBUTED_H

#include "loop_plan.h"

uint32_t loop_steps_written_out(const loop_node *n);   // 1: none
bool loop_reduces(const loop_body *body);              // a REDUCE stands in it
// Whether the steps of a loop may be distributed; *lanes: those that reduce.
typedef enum {
    LOOP_DISTRIBUTED_WELL,
    LOOP_DISTRIBUTED_STEPS,   // none are written out, or their number is no power of two
    LOOP_DISTRIBUTED_TWICE,   // another digit is written out, too
    LOOP_DISTRIBUTED_BARE,    // a walk's are not masked
    // what is reduced inside is not by one digit of lanes, the same everywhere
    LOOP_DISTRIBUTED_LANES,
    LOOP_DISTRIBUTED_FEW,    // more steps than lanes
    LOOP_DISTRIBUTED_READ,   // of a walk: a reduction reads what another one found of the step
    // something else stands inside than reductions and stores that follow them
    LOOP_DISTRIBUTED_OTHERS
} loop_distributed_fault;
loop_distributed_fault loop_check_distributed(arena *a, const tensor_op *op, const loop_node *n,
                                              uint32_t *lanes);
// Of a walk: what its steps compute without `apart`, the loop over deal_of, that loop's lanes take.
loop_distributed_fault loop_check_distributed_walk(arena *a, const tensor_op *op,
                                                   const loop_node *n, const loop_node *apart);

#endif
