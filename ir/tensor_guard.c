// What must not be read where the condition it stands under does not hold: at an index that may be
// none, or that is computed and may lie outside of its space.
//     m[e] != none ? x[m[e], f] : 0        k[e] > 0 ? x[k[e] - 1, f] : 0
#include "tensor_guard.h"
#include "tensor_bounds.h"

static bool may_lie_outside(const tensor_op *op, tensor_expr index) {
    const tensor_node *n = tensor_node_at(op, index);
    if (n->op == TENSOR_LOAD_OP) return op->vals.data[n->imm.i].facts & FACT_PARTIAL;
    if (n->op == TENSOR_VAR_OP) return false;
    return n->op != TENSOR_INDEX_OP || !tensor_in_space(op, index, n->type.space, NULL, 0, NULL);
}

static bool reads_outside(const tensor_op *op, tensor_expr e, uint8_t *seen) {
    const tensor_node *n = tensor_node_at(op, e);
    if (seen[e] || !n->loads) return false;
    seen[e] = 1;
    for (uint32_t i = 0; i < n->nargs; i++)
        if ((n->op == TENSOR_LOAD_OP && may_lie_outside(op, n->args[i])) ||
            reads_outside(op, n->args[i], seen))
            return true;
    return false;
}

bool tensor_needs_guard(const tensor_op *op, tensor_expr e) {
    return reads_outside(op, e, ARENA_ARRAY(op->arena, uint8_t, op->exprs.len + 1));
}
