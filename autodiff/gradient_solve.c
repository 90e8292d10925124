// Which point reads an element: x[n + k - 1] is read at n = row - k + 1, where that is a point.
// What would be a sum over all n with that key is its one term.
#include "gradient_internal.h"
#include "tensor_bounds.h"

static tensor_expr whole(tensor_op *op, tensor_expr e) {
    const tensor_type t = tensor_typeof(op, e);
    return t.type == DT_INDEX ? tensor_cvt(op, TENSOR_TYPE(I64), e, NO_SPAN) : e;
}

static bool has(const tensor_op *op, tensor_expr e, tensor_var x) {
    return tensor_mentions(op, e, x);
}

typedef struct {
    tensor_op *op;
    tensor_var x;
    tensor_expr holds;   // where there is such an x; 0: everywhere
} solving;

static tensor_expr solved(solving *s, tensor_expr e, tensor_expr is);

static tensor_expr of_two(solving *s, const tensor_node *n, tensor_expr is) {
    tensor_op *op = s->op;
    const bool second = has(op, n->args[1], s->x);
    if (n->type.type != DT_I64 || second == has(op, n->args[0], s->x)) return 0;
    const tensor_expr mine = n->args[second], other = n->args[!second];
    const tensor_node by = *tensor_node_at(op, other);
    switch ((tensor_opcode)n->op) {
    case TENSOR_ADD_OP:
        return solved(s, mine, tensor_binary(op, TENSOR_SUB_OP, is, other, NO_SPAN));
    case TENSOR_SUB_OP:
        return solved(s, mine,
                      second ? tensor_binary(op, TENSOR_SUB_OP, other, is, NO_SPAN)
                             : tensor_binary(op, TENSOR_ADD_OP, is, other, NO_SPAN));
    case TENSOR_MUL_OP:
        if (by.op != TENSOR_CONST_OP || by.imm.i < 1) return 0;
        s->holds = gradient_both(op, s->holds,
                                 tensor_binary(op, TENSOR_EQ_OP,
                                               tensor_binary(op, TENSOR_MOD_OP, is, other, NO_SPAN),
                                               tensor_int(op, 0), NO_SPAN));
        return solved(s, mine, tensor_binary(op, TENSOR_QUOT_OP, is, other, NO_SPAN));
    default: return 0;
    }
}

// x where e is `is`, as an integer; 0: it is not solved.
static tensor_expr solved(solving *s, tensor_expr e, tensor_expr is) {
    const tensor_node n = *tensor_node_at(s->op, e);
    switch ((tensor_opcode)n.op) {
    case TENSOR_VAR_OP: return (tensor_var)n.imm.i == s->x ? is : 0;
    case TENSOR_CVT_OP:
        if (tensor_typeof(s->op, n.args[0]).type != DT_INDEX) return 0;
        return solved(s, n.args[0], is);
    case TENSOR_INDEX_OP: return solved(s, n.args[0], is);
    case TENSOR_ADD_OP:
    case TENSOR_SUB_OP:
    case TENSOR_MUL_OP: return of_two(s, &n, is);
    default: return 0;
    }
}

tensor_expr gradient_solve(gradient *g, tensor_key key, tensor_var x, tensor_expr *holds) {
    tensor_op *op = g->op;
    solving s = {op, x, 0};
    if (tensor_node_at(op, key.lhs)->op != TENSOR_INDEX_OP || has(op, key.rhs, x)) return 0;
    const tensor_expr at = solved(&s, key.lhs, whole(op, key.rhs));
    if (!at) return 0;
    const tensor_space space = op->vars.data[x].space;
    const tensor_expr is = tensor_index(op, space, at, NO_SPAN);
    bool least, most;
    tensor_ends_in_space(op, is, space, &least, &most);
    *holds = s.holds;
    if (!least)
        *holds = gradient_both(op, *holds,
                               tensor_binary(op, TENSOR_GE_OP, at, tensor_int(op, 0), NO_SPAN));
    if (!most)
        *holds = gradient_both(
            op, *holds,
            tensor_binary(op, TENSOR_LT_OP, at, tensor_size(op, space, NO_SPAN), NO_SPAN));
    return is;
}
