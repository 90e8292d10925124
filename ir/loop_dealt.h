// Steps of a loop that are dealt out to the lanes that reduce inside it.
#ifndef GNNC_LOOP_DEALT_H
#define GNNC_LOOP_DEALT_H

#include "loop_plan.h"

uint32_t loop_steps_written_out(const loop_node *n);   // 1: none
bool loop_reduces(const loop_body *body);              // a REDUCE stands in it
// Whether the steps of a loop may be dealt; *lanes: those that reduce.
typedef enum {
    LOOP_DEALT_WELL,
    LOOP_DEALT_STEPS,   // none are written out, or their number is no power of two
    LOOP_DEALT_BARE,    // a walk's are not masked
    LOOP_DEALT_LANES,   // what is reduced inside is not by one digit of lanes, the same everywhere
    LOOP_DEALT_FEW,     // more steps than lanes
    LOOP_DEALT_READ,    // of a walk: a reduction reads what another one found of the step
    LOOP_DEALT_OTHERS   // something else stands inside than reductions and stores that follow them
} loop_dealt_fault;
loop_dealt_fault loop_check_dealt(arena *a, const tensor_op *op, const loop_node *n,
                                  uint32_t *lanes);
// Of a walk: what its steps compute without `apart`, the loop over deal_of, that loop's lanes take.
loop_dealt_fault loop_check_dealt_walk(arena *a, const tensor_op *op, const loop_node *n,
                                       const loop_node *apart);

#endif
