// What the form of a reducer says: of which parts of its state one knows how they are combined.
#include "tensor_internal.h"

#include <math.h>

static bool is_side(const tensor_op *op, tensor_expr e, tensor_opcode side, uint32_t i) {
    const tensor_node *n = tensor_node_at(op, e);
    return n->op == side && n->imm.i == i;
}

static bool joins_own_sides(const tensor_op *op, const tensor_node *n, uint32_t i) {
    if (n->nargs != 2) return false;
    return (is_side(op, n->args[0], TENSOR_LEFT_OP, i) &&
            is_side(op, n->args[1], TENSOR_RIGHT_OP, i)) ||
           (is_side(op, n->args[0], TENSOR_RIGHT_OP, i) &&
            is_side(op, n->args[1], TENSOR_LEFT_OP, i));
}

bool tensor_combined_by(const tensor_op *op, const tensor_reducer *r, uint32_t i,
                        tensor_reduce_kind *by) {
    const tensor_node *n = tensor_node_at(op, r->combine[i]);
    if (!joins_own_sides(op, n, i)) return false;
    switch (n->op) {
    case TENSOR_ADD_OP: *by = REDUCE_SUM; return true;
    case TENSOR_MUL_OP: *by = REDUCE_PROD; return true;
    case TENSOR_MAX_OP: *by = REDUCE_MAX; return true;
    case TENSOR_MIN_OP: *by = REDUCE_MIN; return true;
    case TENSOR_OR_OP: *by = REDUCE_ANY; return true;
    case TENSOR_AND_OP: *by = REDUCE_ALL; return true;
    default: return false;
    }
}

static double neutral(tensor_reduce_kind by) {
    return by == REDUCE_MAX   ? (double)-INFINITY
           : by == REDUCE_MIN ? (double)INFINITY
                              : by == REDUCE_PROD;
}

static int64_t neutral_int(tensor_reduce_kind by) {
    return by == REDUCE_MAX   ? INT64_MIN
           : by == REDUCE_MIN ? INT64_MAX
                              : by == REDUCE_PROD || by == REDUCE_ALL;
}

bool tensor_reducer_neutral(const tensor_op *op, const tensor_reducer *r) {
    if (r->kind != REDUCE_USER) return true;
    for (uint32_t i = 0; i < r->nstate; i++) {
        const tensor_node *c = tensor_node_at(op, r->identity[i]);
        tensor_reduce_kind by;
        if (c->op != TENSOR_CONST_OP || !tensor_combined_by(op, r, i, &by)) return false;
        if (tensor_type_is_float(c->type) ? c->imm.f != neutral(by) : c->imm.i != neutral_int(by))
            return false;
    }
    return true;
}
