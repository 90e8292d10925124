// What blocks may combine in memory as they come.
#include "loop.h"

#include <string.h>

// Roundings of its own are those of tensor cores, whose sums are added up as others are.
static bool adds(const tensor_op *op, const tensor_stage *st) {
    const tensor_reducer *r = &op->reducers.data[st->reducer];
    tensor_reduce_kind by;
    return r->kind == REDUCE_SUM || (r->roundings && r->nstate == 1 && r->nresults == 1 &&
                                     tensor_combined_by(op, r, 0, &by) && by == REDUCE_SUM &&
                                     tensor_node_at(op, r->finish[0])->op == TENSOR_LEFT_OP);
}

// The words follow "its states cannot be combined in memory: ".
const char *loop_atomic_fault(const tensor_op *op, const tensor_stage *st) {
    const tensor_reducer *r = &op->reducers.data[st->reducer];
    if (!adds(op, st) && r->kind != REDUCE_MAX && r->kind != REDUCE_MIN)
        return "an atomic operation adds, or takes the larger or smaller";
    if (st->nelse) return "nothing tells whether something was contributed, which 'else' asks";
    ir_dtype state = r->state_types[0].type, stored = op->vals.data[st->targets[0].val].type;
    if (ir_dtype_is_float(state) && !adds(op, st))
        return "the larger of two floats may be either of two zeros";
    bool wraps = adds(op, st) && state == DT_I64 && stored == DT_I32;   // as the sum of all would
    return state == stored || wraps ? NULL : "it is stored as another type than its states have";
}

bool loop_atomic_exact(const tensor_op *op, const tensor_stage *st) {
    return !ir_dtype_is_float(op->reducers.data[st->reducer].state_types[0].type);
}

static const loop_node *inexact(const tensor_op *op, const loop_body *body) {
    const loop_node *found = NULL;
    for (uint32_t i = 0; i < body->len && !found; i++) {
        const loop_node *n = body->data[i];
        bool atomic = n->kind == LOOP_COMBINE || (n->kind == LOOP_CARRY && !n->state.n);
        if (atomic && !loop_atomic_exact(op, &op->stages.data[n->stages[0]])) return n;
        found = inexact(op, &n->body);
    }
    return found;
}

const loop_node *loop_unordered(const loop_plan *p) {
    const loop_node *found = NULL;
    for (uint32_t i = 0; i < p->steps.len && !found; i++)
        if (p->steps.data[i].kind == LOOP_LAUNCH)
            found = inexact(p->op, &p->steps.data[i].kernel->body);
    return found;
}
