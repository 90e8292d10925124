// Whether exponentials of an op are weights of results of 16 bits, such as those of a softmax: the
// machine's own are precise enough for these.
#include "default/ask/ask.h"
#include "base/base.h"
#include "tensor/tensor.h"
#include "loop/loop.h"

typedef struct {
    const planner *p;
    const plan_having *has;   // per expression
    uint8_t *seen;            // likewise, a bit each where it is a factor, and where not
} weighing;

static bool all_have(const weighing *w, const tensor_node *n) {
    bool all = true;
    for (uint32_t i = 0; i < n->nargs && all; i++) all = w->has[n->args[i]] == PLAN_HAS;
    return all;
}

// Of differences, as the weights of a softmax are, and factors of all that is summed or stored:
// 2^-18 of one is far below what 16 bits hold. What has none and is added may leave as little as
// that.
static bool are_weights(const weighing *w, tensor_expr e, bool factor) {
    const tensor_node *n = tensor_node_at(w->p->op, e);
    if (w->has[e] != PLAN_HAS || w->seen[e] & 1 << factor) return true;
    w->seen[e] |= (uint8_t)(1 << factor);
    bool weight = factor && n->op == TENSOR_EXP_OP &&
                  tensor_node_at(w->p->op, n->args[0])->op == TENSOR_SUB_OP,
         are = n->op != TENSOR_EXP_OP || weight,
         terms = (n->op == TENSOR_ADD_OP || n->op == TENSOR_SUB_OP) && all_have(w, n);
    factor &= terms || n->op == TENSOR_MUL_OP || n->op == TENSOR_DIV_OP ||
              n->op == TENSOR_SELECT_OP || n->op == TENSOR_CVT_OP;
    for (uint32_t i = 0; i < n->nargs && are; i++) are = are_weights(w, n->args[i], factor);
    return are;
}

static bool stage_has_weights(planner *p, uint32_t stage) {
    bool weights = true;
    for (uint32_t i = 0; i < p->op->stages.data[stage].nbody && weights; i++) {
        tensor_expr e = plan_inline_loads(p, p->op->stages.data[stage].body[i]);
        const weighing w = {p, plan_exponentials(p, e),
                            ARENA_ARRAY(p->arena, uint8_t, p->op->exprs.len + 1)};
        weights = are_weights(&w, e, true);
    }
    return weights;
}

static bool has_narrow_results(const planner *p) {
    bool narrow = true;
    for (tensor_val v = 0; v < p->op->nparams; v++) {
        const tensor_val_info *i = &p->op->vals.data[v];
        bool kept = i->facts & FACT_SAVED;
        if (i->role == VAL_RESULT && !kept) narrow &= ir_dtype_is_narrow(i->type);
    }
    return narrow;
}

bool default_approximates(planner *p) {
    bool weights = p->machine->gpu && has_narrow_results(p);
    for (uint32_t i = 0; i < p->op->stages.len && weights; i++)
        weights = plan_inlined(p, i) || stage_has_weights(p, i);
    return weights;
}
