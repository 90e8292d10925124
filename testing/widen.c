// An op whose every float is f64 and that rounds none: what finite differences need, as a step of
// an input must not be lost, and as the evaluator does not know what is near a singularity by the
// bounds of a narrower type.
#include "widen.h"

static void widen_type(tensor_type *t) {
    if (tensor_type_is_float(*t)) t->type = DT_F64;
}

static const tensor_type *widened(tensor_op *op, const tensor_type *types, uint32_t n) {
    tensor_type *wide = ARENA_ARRAY(op->arena, tensor_type, n + 1);
    for (uint32_t i = 0; i < n; i++) wide[i] = types[i], widen_type(&wide[i]);
    return wide;
}

// From a float to a float.
static bool only_rounds(const tensor_op *op, const tensor_node *n) {
    switch ((tensor_opcode)n->op) {
    case TENSOR_ROUND_OP:
    case TENSOR_TF32_OP:
    case TENSOR_PARTS_OP: return true;
    case TENSOR_CVT_OP:
        return tensor_type_is_float(n->type) && tensor_type_is_float(tensor_typeof(op, n->args[0]));
    default: return false;
    }
}

void tensor_widen(tensor_op *op) {
    for (tensor_val v = 0; v < op->vals.len; v++)
        if (ir_dtype_is_float(op->vals.data[v].type)) op->vals.data[v].type = DT_F64;
    tensor_own_nodes(op);
    for (tensor_expr e = 1; e < op->exprs.len; e++) {
        tensor_node *n = &op->exprs.data[e];
        // the value it is given
        if (only_rounds(op, n)) n->op = TENSOR_STOP_OP, n->imm.i = n->imm2 = 0;
        widen_type(&n->type);
    }
    for (uint32_t i = 0; i < op->reducers.len; i++) {
        tensor_reducer *r = &op->reducers.data[i];
        r->arg_types = widened(op, r->arg_types, r->nargs);
        r->state_types = widened(op, r->state_types, r->nstate);
        r->result_types = widened(op, r->result_types, r->nresults);
    }
}
