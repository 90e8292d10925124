// Which stages are no kernels of their own: reduction-free ones so cheap that every reader computes
// them again. Nothing is rounded between stages, so it makes no difference to the result.
#include "naive/naive.h"

#define INLINE_COST 24   // operations, those of stages inlined into it included

static bool plain_target(const naive *n, const tensor_stage *st) {
    const tensor_target *t = &st->targets[0];
    for (uint32_t i = 0; i < t->rank; i++)
        if (tensor_node_at(n->op, t->index[i])->op != TENSOR_VAR_OP) return false;
    return st->ntargets == 1 && t->rank == st->nleft && n->op->vals.data[t->val].role == VAL_STAGE;
}

// Distinct operations of e, counted into *sum until it passes the limit.
static void count_cost(naive *n, tensor_expr e, uint32_t *sum) {
    const tensor_node *x = tensor_node_at(n->op, e);
    if (*sum > INLINE_COST || !first_visit(n, e)) return;
    bool dear = tensor_op_table((tensor_opcode)x->op)->kind == TENSOR_MATHS ||
                x->op == TENSOR_RAND_OP || x->op == TENSOR_DIV_OP;
    *sum += dear ? INLINE_COST : x->nargs != 0;
    if (x->op == TENSOR_LOAD_OP && n->inlined[x->imm.i])
        count_cost(n, n->inlined[x->imm.i]->body[0], sum);
    for (uint32_t i = 0; i < x->nargs; i++) count_cost(n, x->args[i], sum);
}

static uint32_t cost(naive *n, tensor_expr e) {
    uint32_t sum = 0;
    n->visits++;
    count_cost(n, e, &sum);
    return sum;
}

// What a stage reads must not change between it and its readers: results that share memory with a
// parameter do.
static bool reads_overwritten_in(naive *n, tensor_expr e) {
    const tensor_node *x = tensor_node_at(n->op, e);
    for (tensor_val v = 0; x->op == TENSOR_LOAD_OP && v < n->op->nparams; v++)
        if (n->op->vals.data[v].inplace == (tensor_val)x->imm.i) return true;
    for (uint32_t i = 0; i < x->nargs; i++)
        if (first_visit(n, x->args[i]) && reads_overwritten_in(n, x->args[i])) return true;
    return false;
}

static bool reads_overwritten(naive *n, tensor_expr e) {
    n->visits++;
    return reads_overwritten_in(n, e);
}

// Values that one stage defines, and that are no keys: those need maps in memory when they are
// scanned, which the map's stage then fills.
static bool *defined_once(const naive *n) {
    const tensor_op *op = n->op;
    bool *once = ARENA_ARRAY(n->arena, bool, op->vals.len + 1),
         *more = ARENA_ARRAY(n->arena, bool, op->vals.len + 1);
    for (uint32_t i = 0; i < op->stages.len; i++)
        for (uint32_t t = 0; t < op->stages.data[i].ntargets; t++) {
            tensor_val v = op->stages.data[i].targets[t].val;
            more[v] |= once[v];
            once[v] = true;
        }
    for (uint32_t i = 0; i < op->vals.len; i++) {
        once[i] &= !more[i];
        for (uint32_t k = 0; k < op->vals.data[i].nkeys; k++) more[op->vals.data[i].keys[k]] = true;
    }
    for (uint32_t i = 0; i < op->vals.len; i++) once[i] &= !more[i];
    return once;
}

void choose_inlined(naive *n) {
    const bool *once = defined_once(n);
    for (uint32_t i = 0; i < n->op->stages.len; i++) {
        const tensor_stage *st = &n->op->stages.data[i];
        if (st->reducer != TENSOR_NO_REDUCER || st->loop != TENSOR_NO_LOOP || !plain_target(n, st))
            continue;
        tensor_val v = st->targets[0].val;
        if (once[v] && !reads_overwritten(n, st->body[0]) && cost(n, st->body[0]) <= INLINE_COST)
            n->inlined[v] = st;
    }
}

bool stage_inlined(const naive *n, const tensor_stage *st) {
    return n->inlined[st->targets[0].val] == st;
}
