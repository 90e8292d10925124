// Maxima and minima of 16 bits by default: found in the type that is stored.
//     y[v, f] = max{e : dst[e] == v} x[src[e], f], all f16   →  y: accumulate f16
#include "default/ask/ask.h"
#include "default/cells/cells.h"
#include "default/stages/stages.h"

static bool is_exact(const tensor_op *op, tensor_expr e, ir_dtype t) {
    const tensor_node *n = tensor_node_at(op, e);
    return n->op == TENSOR_CONST_OP && tensor_type_is_float(n->type) &&
           ir_dtype_round(t, n->imm.f) == n->imm.f;
}

// The largest or the smallest of such numbers, which is stored as one of them: pairs are compared
// at once, and nothing is lost. What computes goes on in f32: an exponential wants to know what is
// subtracted from what.
void default_extremes(making *m, const stage_group *g) {
    const planner *p = m->p;
    for (uint32_t i = 0; i < g->len && p->machine->gpu; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        if (st->reducer == TENSOR_NO_REDUCER) continue;
        const tensor_reducer *r = &p->op->reducers.data[st->reducer];
        tensor_reduce_kind by;
        bool extreme = r->nargs == 1 && r->nstate == 1 && tensor_combined_by(p->op, r, 0, &by) &&
                       (by == REDUCE_MAX || by == REDUCE_MIN) &&
                       tensor_node_at(p->op, r->lift[0])->op == TENSOR_ARG_OP;
        ir_dtype t = extreme ? default_narrow_type(p->op, st->body[0]) : DT_COUNT;
        if (t == DT_COUNT || !is_exact(p->op, r->identity[0], t)) continue;
        const tensor_val_info *to = &p->op->vals.data[st->targets[0].val];
        if (to->role != VAL_RESULT || to->type != t) continue;
        default_say(m, default_cell(SCHEDULE_ACCUMULATE, st),
                    default_word(t == DT_F16 ? SCHEDULE_TYPE_F16 : SCHEDULE_TYPE_BF16));
    }
}
