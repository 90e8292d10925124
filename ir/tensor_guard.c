// What must not be read where the condition it stands under does not hold: at an index that may be
// none, or that is computed and may lie outside of its space.
//     m[e] != none ? x[m[e], f] : 0        k[e] > 0 ? x[k[e] - 1, f] : 0
#include "tensor_guard.h"
#include "tensor_build.h"

typedef struct {
    int64_t least, most;
    bool known;
} range;

static range range_of(const tensor_op *op, tensor_expr e, uint32_t depth);

static range range_of_two(const tensor_op *op, const tensor_node *n, uint32_t depth) {
    enum { FAR = 1 << 30 };   // products of two such do not overflow
    const range x = range_of(op, n->args[0], depth), y = range_of(op, n->args[1], depth);
    const bool near = x.known && y.known && x.least > -FAR && y.least > -FAR && x.most < FAR &&
                      y.most < FAR;
    if (!near) return (range){0};
    switch (n->op) {
    case TENSOR_ADD_OP: return (range){x.least + y.least, x.most + y.most, true};
    case TENSOR_SUB_OP: return (range){x.least - y.most, x.most - y.least, true};
    case TENSOR_MUL_OP:
        return (range){x.least * y.least, x.most * y.most, x.least >= 0 && y.least >= 0};
    case TENSOR_QUOT_OP:
        return (range){x.least / y.most, x.most / y.least, x.least >= 0 && y.least > 0};
    case TENSOR_MOD_OP: return (range){0, y.most - 1, y.least > 0};
    default: return (range){0};
    }
}

static range range_of(const tensor_op *op, tensor_expr e, uint32_t depth) {
    enum { DEEPEST = 16 };
    const tensor_node *n = tensor_node_at(op, e);
    if (depth > DEEPEST) return (range){0};
    if (n->op == TENSOR_CONST_OP) return (range){n->imm.i, n->imm.i, n->type.type == DT_I64};
    if (n->op == TENSOR_INDEX_OP || n->op == TENSOR_CVT_OP)
        return range_of(op, n->args[0], depth + 1);
    if (n->op == TENSOR_VAR_OP) {
        const tensor_space_info *s = &op->spaces.data[op->vars.data[n->imm.i].space];
        return (range){0, s->size - 1, s->kind == SPACE_CONST};
    }
    if (n->op == TENSOR_SELECT_OP) {   // what it chooses between is proven by what chooses
        const range x = range_of(op, n->args[1], depth + 1),
                    y = range_of(op, n->args[2], depth + 1);
        const tensor_node *rest = tensor_node_at(op, n->args[2]);
        if (rest->op == TENSOR_CONST_OP) return y;
        return (range){x.least < y.least ? x.least : y.least, x.most > y.most ? x.most : y.most,
                       x.known && y.known};
    }
    return n->nargs == 2 ? range_of_two(op, n, depth + 1) : (range){0};
}

static bool may_lie_outside(const tensor_op *op, tensor_expr index) {
    const tensor_node *n = tensor_node_at(op, index);
    if (n->op == TENSOR_LOAD_OP) return op->vals.data[n->imm.i].facts & FACT_PARTIAL;
    if (n->op == TENSOR_VAR_OP) return false;
    const tensor_space_info *s = &op->spaces.data[n->type.space];
    const range r = range_of(op, index, 0);
    return n->op != TENSOR_INDEX_OP || !r.known || r.least < 0 || s->kind != SPACE_CONST ||
           r.most >= s->size;
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
