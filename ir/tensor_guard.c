// What must not be read where the condition it stands under does not hold: at an index that may be
// none, or that is computed and may lie outside of its space.
//     m[e] != none ? x[m[e], f] : 0        k[e] > 0 ? x[k[e] - 1, f] : 0
#include "tensor_guard.h"
#include "tensor_bounds.h"

static bool is_unproven(const tensor_op *op, tensor_expr index, const tensor_node *n) {
    return n->op != TENSOR_INDEX_OP || !tensor_in_space(op, index, n->type.space, NULL, 0, NULL);
}

static bool may_lie_outside(const tensor_op *op, tensor_expr index, bool computed) {
    const tensor_node *n = tensor_node_at(op, index);
    if (n->op == TENSOR_VAR_OP) return false;
    if (n->op == TENSOR_LOAD_OP) return !computed && op->vals.data[n->imm.i].facts & FACT_PARTIAL;
    return (n->op == TENSOR_INDEX_OP || !computed) && is_unproven(op, index, n);
}

static bool reads_outside(const tensor_op *op, tensor_expr e, bool computed, uint8_t *seen) {
    const tensor_node *n = tensor_node_at(op, e);
    if (seen[e] || !n->loads) return false;
    seen[e] = 1;
    for (uint32_t i = 0; i < n->nargs; i++)
        if ((n->op == TENSOR_LOAD_OP && may_lie_outside(op, n->args[i], computed)) ||
            reads_outside(op, n->args[i], computed, seen))
            return true;
    return false;
}

bool tensor_needs_guard(const tensor_op *op, tensor_expr e) {
    return reads_outside(op, e, false, ARENA_ARRAY(op->arena, uint8_t, op->exprs.len + 1));
}

// A key is asked before all conditions, and finds none by itself alone where a map leads nowhere.
tensor_expr tensor_guarded_side(tensor_op *op, tensor_expr side, tensor_expr holds) {
    uint8_t *seen = ARENA_ARRAY(op->arena, uint8_t, op->exprs.len + 1);
    if (!holds || !reads_outside(op, side, true, seen)) return side;
    const tensor_expr none = tensor_node_new(
        op, (tensor_node){.op = TENSOR_NONE_OP, .type = tensor_typeof(op, side)});
    return tensor_select(op, holds, side, none, NO_SPAN);
}
