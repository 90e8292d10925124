// A stage whose numbers all have 16 bits is stored in them: nothing is lost, and its readers move
// half the bytes.
//     stage h : f32[N, F]   h[n, f] = round(f16, h.sum[n, f])   →  stage h : f16[N, F]
#include "tensor_internal.h"

enum { ANY = -1, NONE = -2 };   // a constant that both types have; a number of neither

static int both(int a, int b) { return a == ANY ? b : b == ANY || a == b ? a : NONE; }

static int constant_in(double x) {
    for (ir_dtype t = 0; ir_dtype_is_float(t); t++)
        if (ir_dtype_is_narrow(t) && ir_dtype_round(t, x) != x) return NONE;
    return ANY;
}

static int held_in(const tensor_op *op, tensor_expr e) {
    const tensor_node *n = tensor_node_at(op, e);
    if (!tensor_type_is_float(n->type)) return NONE;
    switch ((tensor_opcode)n->op) {
    case TENSOR_CONST_OP: return constant_in(n->imm.f);
    case TENSOR_ROUND_OP: return ir_dtype_is_narrow((ir_dtype)n->imm.i) ? (int)n->imm.i : NONE;
    case TENSOR_LOAD_OP:
        return ir_dtype_is_narrow(op->vals.data[n->imm.i].type) ? (int)op->vals.data[n->imm.i].type
                                                                : NONE;
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

typedef struct {   // per value, its writers; per writer, its stage, its target and the next one
    uint32_t *first, *stage, *target, *next;
} writers;

enum { LAST = UINT32_MAX };

static writers writers_of(const tensor_op *op) {
    uint32_t n = 0, nvals = op->vals.len;
    for (uint32_t i = 0; i < op->stages.len; i++) n += op->stages.data[i].ntargets;
    writers w = {ARENA_ARRAY(op->arena, uint32_t, nvals + 1),
                 ARENA_ARRAY(op->arena, uint32_t, n + 1), ARENA_ARRAY(op->arena, uint32_t, n + 1),
                 ARENA_ARRAY(op->arena, uint32_t, n + 1)};
    for (tensor_val v = 0; v < nvals; v++) w.first[v] = LAST;
    for (uint32_t i = op->stages.len; i-- > 0;)
        for (uint32_t t = 0; t < op->stages.data[i].ntargets; t++) {
            tensor_val v = op->stages.data[i].targets[t].val;
            w.stage[--n] = i, w.target[n] = t;
            w.next[n] = w.first[v];
            w.first[v] = n;
        }
    return w;
}

// The type that all stages of v fill it with numbers of.
static int filled_with(const tensor_op *op, const writers *w, tensor_val v) {
    int to = ANY;
    for (uint32_t k = w->first[v]; k != LAST; k = w->next[k]) {
        const tensor_stage *s = &op->stages.data[w->stage[k]];
        to = both(to, s->reducer == TENSOR_NO_REDUCER ? held_in(op, s->body[w->target[k]]) : NONE);
    }
    return to;
}

void tensor_narrow(tensor_op *op) {
    writers w = writers_of(op);
    for (tensor_val v = op->nparams; v < op->vals.len; v++) {
        tensor_val_info *i = &op->vals.data[v];
        if (i->role != VAL_STAGE || i->type != DT_F32) continue;   // both are computed with as f32
        int to = filled_with(op, &w, v);
        if (to >= 0) i->type = (ir_dtype)to;
    }
}
