// A key that takes an index of a few numbers to another one, some numbers further, leaves one point
// of it at most: that one stands in its place.
//     d[e, i] = sum {a:_3, q : index(_9, a + 5) == i} g[e, q] * w[a, q]
//  →  d[e, i] = sum {q : i >= 5, i < 8} g[e, q] * w[i - 5, q]
#include "tensor/tensor.h"
#include "base/base.h"

typedef struct {
    uint32_t key, at;   // of the stage; of what it reduces
    tensor_var from;    // that is reduced
    tensor_var to;      // on the left
    int64_t further;
} solution;

static bool is_number(const tensor_op *op, tensor_var v) {
    return op->spaces.data[op->vars.data[v].space].kind == SPACE_CONST;
}

static bool solve(const tensor_op *op, const tensor_stage *st, solution *s) {
    if (st->reducer == TENSOR_NO_REDUCER || st->loop != TENSOR_NO_LOOP || st->nbound < 2)
        return false;
    for (s->key = 0; s->key < st->nkeys; s->key++) {
        const tensor_node *to = tensor_node_at(op, st->keys[s->key].rhs);
        plan_shifted from;
        if (to->op != TENSOR_VAR_OP || !plan_shifted_of(op, st->keys[s->key].lhs, &from)) continue;
        s->from = from.var, s->further = from.further;
        s->to = (tensor_var)to->imm.i;
        for (s->at = 0; s->at < st->nbound; s->at++)
            if (st->bound[s->at] == s->from) return is_number(op, s->from) && is_number(op, s->to);
    }
    return false;
}

// ---- In its place -------------------------------------------------------------------------------
static tensor_expr compared(tensor_op *op, tensor_opcode o, tensor_expr x, int64_t y) {
    return tensor_binary(op, o, x, tensor_int(op, y), NO_SPAN);
}

// Where there is such a point; 0: everywhere.
static tensor_expr holds(const planner *p, const solution *s, tensor_expr at) {
    const int64_t end = s->further + p->op->spaces.data[p->op->vars.data[s->from].space].size,
                  all = p->op->spaces.data[p->op->vars.data[s->to].space].size;
    tensor_expr low = s->further > 0 ? compared(p->op, TENSOR_GE_OP, at, s->further) : 0,
                high = end < all ? compared(p->op, TENSOR_LT_OP, at, end) : 0;
    return low && high ? tensor_binary(p->op, TENSOR_AND_OP, low, high, NO_SPAN) : low ? low : high;
}

static void put(planner *p, tensor_stage *st, const solution *s) {
    tensor_op *op = p->op;
    tensor_expr *by = ARENA_ARRAY(p->arena, tensor_expr, op->vars.len + 1),
                *filters = ARENA_ARRAY(p->arena, tensor_expr, st->nfilters + 2);
    const tensor_expr at = tensor_cvt(op, TENSOR_TYPE(I64), tensor_var_expr(op, s->to, NO_SPAN),
                                      NO_SPAN),
                      here = holds(p, s, at);
    tensor_expr own = s->further ? compared(op, TENSOR_SUB_OP, at, s->further) : at;
    if (here) own = tensor_select(op, here, own, tensor_int(op, 0), NO_SPAN);
    by[s->from] = tensor_index(op, op->vars.data[s->from].space, own, NO_SPAN);
    tensor_var *bound = ARENA_ARRAY(p->arena, tensor_var, st->nbound + 1);
    tensor_key *keys = ARENA_ARRAY(p->arena, tensor_key, st->nkeys + 1);
    uint32_t nbound = 0, nkeys = 0, nfilters = 0;
    for (uint32_t i = 0; i < st->nbound; i++)
        if (i != s->at) bound[nbound++] = st->bound[i];
    for (uint32_t k = 0; k < st->nkeys; k++)
        if (k != s->key)
            keys[nkeys++] = (tensor_key){*plan_substitute(p, &st->keys[k].lhs, 1, by),
                                         *plan_substitute(p, &st->keys[k].rhs, 1, by)};
    const tensor_expr *others = plan_substitute(p, st->filters, st->nfilters, by);
    if (here) filters[nfilters++] = here;
    for (uint32_t i = 0; i < st->nfilters; i++) filters[nfilters++] = others[i];
    st->body = plan_substitute(p, st->body, st->nbody, by);
    st->bound = bound, st->nbound = nbound;
    st->keys = keys, st->nkeys = nkeys;
    st->filters = filters, st->nfilters = nfilters;
}

bool plan_solved(planner *p) {
    bool any = false;
    solution s;
    for (uint32_t i = 0; i < p->op->stages.len; i++)
        while (solve(p->op, &p->op->stages.data[i], &s)) {
            tensor_stage st = p->op->stages.data[i];
            put(p, &st, &s);
            p->op->stages.data[i] = st;
            any = true;
        }
    return any;
}
