// NaN on its way to sums that are computed again where they are not finite. Taking a score apart
// may make NaN of infinity. That is right if the NaN reaches such a sum, and no comparison decides
// by it.

#include "lower/matrix/matrix.h"

typedef enum {
    READ_UNKNOWN,
    READ_NOT,
    READ_PASSES,
    READ_STOPS
} reading;   // does NaN of what is read make NaN of the expression?

typedef struct {
    const tensor_op *op;
    const bool *of;   // per value: it may be NaN where it should not
    uint8_t *known;   // per expression
} nan_search;

static bool is_passed(const tensor_node *n) {
    switch (n->op) {
    case TENSOR_ADD_OP:
    case TENSOR_SUB_OP:
    case TENSOR_MUL_OP:
    case TENSOR_DIV_OP:
    case TENSOR_MIN_OP:
    case TENSOR_MAX_OP:
    case TENSOR_NEG_OP:
    case TENSOR_SELECT_OP:
    case TENSOR_ROUND_OP:
    case TENSOR_TF32_OP:
    case TENSOR_PARTS_OP:
    case TENSOR_STOP_OP:
    case TENSOR_SQRT_OP: return true;
    default: break;
    }
    const tensor_maths *f = tensor_maths_of((tensor_opcode)n->op);
    return f && f->nan;
}

static reading read_in(const nan_search *s, tensor_expr e) {
    const tensor_node *n = tensor_node_at(s->op, e);
    if (s->known[e]) return (reading)s->known[e];
    reading all = n->op == TENSOR_LOAD_OP && s->of[n->imm.i] ? READ_PASSES : READ_NOT;
    for (uint32_t i = 0; i < n->nargs && n->op != TENSOR_LOAD_OP; i++) {
        reading r = read_in(s, n->args[i]);
        if (r == READ_PASSES && (!is_passed(n) || (n->op == TENSOR_SELECT_OP && !i)))
            r = READ_STOPS;
        if (r > all) all = r;
    }
    s->known[e] = (uint8_t)all;
    return all;
}

// What the stage makes of the value: NaN, also by a sum or a maximum of it, which is computed
// again.
static reading read_by(const nan_search *s, const tensor_stage *st) {
    reading all = READ_NOT;
    for (uint32_t i = 0; i < st->nbody; i++) {
        reading r = read_in(s, st->body[i]);
        if (r > all) all = r;
    }
    if (all != READ_PASSES || st->reducer == TENSOR_NO_REDUCER) return all;
    const tensor_reducer *r = &s->op->reducers.data[st->reducer];
    bool passed = r->roundings || r->kind == REDUCE_SUM || r->kind == REDUCE_MAX ||
                  r->kind == REDUCE_MIN;
    return passed ? READ_PASSES : READ_STOPS;
}

// NaN of this score, which the exact score is not, reaches sums that are computed again for it. No
// comparison decides by it.
static bool passes_nan(kernel *k, uint32_t stage) {
    const tensor_op *op = k->l->op;
    bool *of = ARENA_ARRAY(k->l->arena, bool, op->vals.len + 1), more = true;
    of[op->stages.data[stage].targets[0].val] = true;
    while (more) {
        nan_search s = {op, of, ARENA_ARRAY(k->l->arena, uint8_t, op->exprs.len + 1)};
        more = false;
        for (uint32_t i = 0; i < op->stages.len; i++) {
            const tensor_stage *st = &op->stages.data[i];
            reading r = read_by(&s, st);
            if (r == READ_STOPS) return false;
            for (uint32_t t = 0;
                 t < st->ntargets && r == READ_PASSES && st->reducer == TENSOR_NO_REDUCER; t++) {
                more |= !of[st->targets[t].val];
                of[st->targets[t].val] = true;
            }
        }
    }
    return true;
}

// This reduction is computed again, or the one that takes what it finds.
bool lm_is_found_again(kernel *k, const reduction *r) {
    bool again = false;
    for (uint32_t i = 0; i < k->sums.all.len; i++)
        again |= k->sums.all.data[i]->open && loop_again(k->sums.all.data[i]->node) != NULL;
    return again && (loop_again(r->node) || passes_nan(k, r->stage));
}
