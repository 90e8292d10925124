// How long expressions are: about as many instructions as an assembler makes of them.
#include "kernels/kernels.h"
#include "base/base.h"

// of a function, where it does not matter which, or math.def has no row for it
enum { FUNCTION = 24, DIVISION = 8 };

// A function of a constant or a size, such as sqrt(D): worked out once, before any loop.
static bool of_size(const planner *p, tensor_expr e) {
    const tensor_node *n = tensor_node_at(p->op, e);
    if (n->nargs == 1) return n->op != TENSOR_LOAD_OP && of_size(p, n->args[0]);
    return n->op == TENSOR_CONST_OP || n->op == TENSOR_SIZE_OP;
}

// Of a function of the maths library, as its text has them; of a short one as many as of those it
// has no text of.
static int64_t function_length(const tensor_node *n) {
    const tensor_maths *f = tensor_maths_of((tensor_opcode)n->op);
    int64_t length = f ? f->length[n->type.type == DT_F64] : 0;
    return length > FUNCTION ? length : FUNCTION;
}

static int64_t own_length(const tensor_node *n, bool alike) {
    if (tensor_op_table((tensor_opcode)n->op)->kind == TENSOR_MATHS || n->op == TENSOR_RAND_OP)
        return alike ? FUNCTION : function_length(n);
    return n->op == TENSOR_DIV_OP ? DIVISION : n->nargs != 0;
}

static int64_t length_of(const planner *p, tensor_expr e, tensor_var v, int64_t copies, bool alike,
                         uint8_t *seen) {
    const tensor_node *n = tensor_node_at(p->op, e);
    if (seen[e] || of_size(p, e)) return 0;
    seen[e] = 1;
    bool copied = copies > 1 && (v == UINT32_MAX || plan_mentions(p, e, v));
    int64_t sum = own_length(n, alike) * (copied ? copies : 1);
    for (uint32_t i = 0; i < n->nargs; i++) sum += length_of(p, n->args[i], v, copies, alike, seen);
    return sum;
}

int64_t plan_operations(const planner *p, tensor_expr e, uint8_t *seen) {
    return length_of(p, e, UINT32_MAX, 1, true, seen);
}

int64_t plan_length(const planner *p, tensor_expr e, tensor_var v, int64_t copies, uint8_t *seen) {
    return length_of(p, e, v, copies, false, seen);
}
