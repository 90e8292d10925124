// A stage whose numbers all have 16 bits is stored in them: nothing is lost, and its readers move half the
// bytes.
//     stage h : f32[N, F]   h[n, f] = round(f16, h.sum[n, f])   →  stage h : f16[N, F]
#include "tensor_internal.h"

enum { ANY = -1, NONE = -2 };   // a constant that both types have; a number of neither

static int both(int a, int b) { return a == ANY ? b : b == ANY || a == b ? a : NONE; }

static bool is_half(ir_dtype t) { return t == DT_F16 || t == DT_BF16; }

static int constant_in(double x) {
    return ir_dtype_round(DT_F16, x) == x && ir_dtype_round(DT_BF16, x) == x ? ANY : NONE;
}

static int held_in(const tensor_op *op, tensor_expr e) {
    const tensor_node *n = tensor_node_at(op, e);
    if (!tensor_type_is_float(n->type)) return NONE;
    switch ((tensor_opcode)n->op) {
    case TENSOR_CONST_OP: return constant_in(n->imm.f);
    case TENSOR_ROUND_OP: return is_half((ir_dtype)n->imm.i) ? (int)n->imm.i : NONE;
    case TENSOR_LOAD_OP:
        return is_half(op->vals.data[n->imm.i].type) ? (int)op->vals.data[n->imm.i].type : NONE;
    case TENSOR_SELECT_OP: return both(held_in(op, n->args[1]), held_in(op, n->args[2]));
    case TENSOR_NEG_OP:
    case TENSOR_STOP_OP: return held_in(op, n->args[0]);
    default: return NONE;
    }
}

ir_dtype tensor_held_in(const tensor_op *op, tensor_expr e) {
    int t = held_in(op, e);
    return t < 0 ? DT_COUNT : (ir_dtype)t;
}

bool tensor_holds(const tensor_op *op, const tensor_stage *s, uint32_t target, ir_dtype type) {
    int t = s->reducer == TENSOR_NO_REDUCER ? held_in(op, s->body[target]) : NONE;
    return t == ANY || t == (int)type;
}

// The type that all stages of v fill it with numbers of.
static int filled_with(const tensor_op *op, tensor_val v) {
    int to = ANY;
    for (uint32_t i = 0; i < op->stages.len; i++) {
        const tensor_stage *s = &op->stages.data[i];
        for (uint32_t t = 0; t < s->ntargets; t++)
            if (s->targets[t].val == v)
                to = both(to, s->reducer == TENSOR_NO_REDUCER ? held_in(op, s->body[t]) : NONE);
    }
    return to;
}

void tensor_narrow(tensor_op *op) {
    for (tensor_val v = op->nparams; v < op->vals.len; v++) {
        tensor_val_info *i = &op->vals.data[v];
        if (i->role != VAL_STAGE || i->type != DT_F32) continue;   // both are computed with as f32
        int to = filled_with(op, v);
        if (to >= 0) i->type = (ir_dtype)to;
    }
}
