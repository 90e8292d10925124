// Values of pairs of points, as scores of all nodes of a graph, are computed where they are read:
// an array of them has the square of a graph's nodes, of which a key leaves a few. A short sum of
// each pair is written out, and what holds at some pairs alone is a condition of what reads them.
//     s[n, m] = sum {d:_2} q[n, d] * k[m, d]    p[n, m] = batch[m] == batch[n] ? exp(s[n, m]) : 0
//     y[n] = sum {m} p[n, m] * x[m]
//  →  y[n] = sum {m : batch[m] == batch[n]} exp(q[n, 0] * k[m, 0] + q[n, 1] * k[m, 1]) * x[m]
#include "tensor/tensor.h"
#include "base/base.h"
#include "kernels/kernels.h"

enum {
    MOST_TERMS = 32,        // of a sum that is written out
    MOST_OPERATIONS = 512   // of a value that is computed where it is read
};

// ---- Which --------------------------------------------------------------------------------------
static bool leads_on(const tensor_op *op, tensor_space s) {
    bool any = false;
    for (tensor_val v = 0; v < op->vals.len; v++)
        any |= op->vals.data[v].role == VAL_MAP && op->vals.data[v].rank &&
               op->vals.data[v].axes[0] == s;
    return any && op->spaces.data[s].kind == SPACE_FREE;
}

static bool plain(const tensor_op *op, const tensor_stage *st) {
    bool each = st->ntargets == 1 && st->targets[0].rank == st->nleft;
    for (uint32_t i = 0; i < st->nleft && each; i++) {
        const tensor_node *n = tensor_node_at(op, st->targets[0].index[i]);
        each = n->op == TENSOR_VAR_OP && (tensor_var)n->imm.i == st->left[i];
    }
    return each && st->loop == TENSOR_NO_LOOP && !st->nelse &&
           op->vals.data[st->targets[0].val].role == VAL_STAGE;
}

static bool of_pairs(const tensor_op *op, const tensor_stage *st) {
    uint32_t points = 0;
    for (uint32_t i = 0; i < st->nleft; i++)
        points += leads_on(op, op->vars.data[st->left[i]].space);
    return points > 1 && plain(op, st);
}

static int64_t terms_of(const tensor_op *op, const tensor_stage *st) {
    int64_t terms = 1;
    for (uint32_t i = 0; i < st->nbound; i++) {
        const tensor_space_info *s = &op->spaces.data[op->vars.data[st->bound[i]].space];
        if (s->kind != SPACE_CONST || s->size > MOST_TERMS) return MOST_TERMS + 1;
        terms *= s->size;
        if (terms > MOST_TERMS) return terms;
    }
    return terms;
}

static bool is_written_out(const tensor_op *op, const tensor_stage *st) {
    if (st->reducer == TENSOR_NO_REDUCER) return true;
    return op->reducers.data[st->reducer].kind == REDUCE_SUM && !st->nkeys &&
           terms_of(op, st) <= MOST_TERMS && terms_of(op, st) > 0;
}

static bool written_once(const tensor_op *op, tensor_val v) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < op->stages.len; i++)
        for (uint32_t t = 0; t < op->stages.data[i].ntargets; t++)
            n += op->stages.data[i].targets[t].val == v;
    return n == 1;
}

// ---- Written out --------------------------------------------------------------------------------
static tensor_expr term_at(planner *p, const tensor_stage *st, tensor_expr e, int64_t at) {
    tensor_expr *by = ARENA_ARRAY(p->arena, tensor_expr, p->op->vars.len + 1);
    for (uint32_t i = st->nbound; i-- > 0;) {
        const tensor_space s = p->op->vars.data[st->bound[i]].space;
        const int64_t size = p->op->spaces.data[s].size;
        by[st->bound[i]] = tensor_index(p->op, s, tensor_int(p->op, at % size), NO_SPAN);
        at /= size;
    }
    return *plan_substitute(p, &e, 1, by);
}

static tensor_expr masked(planner *p, tensor_expr holds, tensor_expr value, tensor_expr zero) {
    return holds ? tensor_select(p->op, holds, value, zero, NO_SPAN) : value;
}

static tensor_expr both(planner *p, tensor_expr x, tensor_expr y) {
    return !x ? y : !y || x == y ? x : tensor_binary(p->op, TENSOR_AND_OP, x, y, NO_SPAN);
}

static tensor_expr written(planner *p, const tensor_stage *st) {
    if (st->reducer == TENSOR_NO_REDUCER) return st->body[0];
    const tensor_expr zero = p->op->reducers.data[st->reducer].identity[0];
    tensor_expr all = 0, sum = 0;
    for (uint32_t f = 0; f < st->nfilters; f++) {
        bool same = true;   // at all terms
        for (uint32_t i = 0; i < st->nbound; i++)
            same &= !plan_mentions(p, st->filters[f], st->bound[i]);
        if (same) all = both(p, all, st->filters[f]);
    }
    for (int64_t at = 0; at < terms_of(p->op, st); at++) {
        tensor_expr holds = 0;
        for (uint32_t f = 0; f < st->nfilters; f++)
            holds = both(p, holds, term_at(p, st, st->filters[f], at));
        tensor_expr one = term_at(p, st, st->body[0], at);
        if (holds != all) one = masked(p, holds, one, zero);
        sum = sum ? plan_plus(p, sum, one) : one;
    }
    return masked(p, all, sum, zero);
}

typedef struct {
    planner *p;
    const tensor_stage *of;
    tensor_expr value;
} putting;

static tensor_expr put_value(void *user, tensor_expr load) {
    const putting *r = user;
    const tensor_node n = *tensor_node_at(r->p->op, load);
    if ((tensor_val)n.imm.i != r->of->targets[0].val) return load;
    tensor_expr *by = ARENA_ARRAY(r->p->arena, tensor_expr, r->p->op->vars.len + 1);
    for (uint32_t i = 0; i < n.nargs; i++) by[r->of->left[i]] = n.args[i];
    return *plan_substitute(r->p, &r->value, 1, by);
}

// ---- Conditions ---------------------------------------------------------------------------------
static bool is_zero(const tensor_op *op, tensor_expr e) {
    const tensor_node *n = tensor_node_at(op, e);
    return n->op == TENSOR_CONST_OP && tensor_type_is_float(n->type) && n->imm.f == 0;
}

// The condition of a term that is 0 elsewhere; 0: there is none. A product with 0 is none: it need
// not be 0.
static tensor_expr take_off(planner *p, tensor_expr *e) {
    const tensor_node n = *tensor_node_at(p->op, *e);
    if (n.op == TENSOR_SELECT_OP && is_zero(p->op, n.args[2])) {
        *e = n.args[1];
        tensor_expr more = take_off(p, e);
        return both(p, n.args[0], more);
    }
    tensor_expr x = n.nargs ? n.args[0] : 0, y = n.nargs > 1 ? n.args[1] : 0;
    if (n.op == TENSOR_NEG_OP) {
        tensor_expr holds = take_off(p, &x);
        *e = tensor_unary(p->op, TENSOR_NEG_OP, x, n.at);
        return holds;
    }
    tensor_expr holds = n.op == TENSOR_ADD_OP ? take_off(p, &x) : 0;
    if (!holds || take_off(p, &y) != holds) return 0;
    *e = tensor_binary(p->op, TENSOR_ADD_OP, x, y, n.at);
    return holds;
}

// A sum of terms that are 0 but where a condition holds is one of those where it does.
static bool filter(planner *p, uint32_t stage) {
    tensor_stage *st = &p->op->stages.data[stage];
    if (st->reducer == TENSOR_NO_REDUCER || st->nbody != 1 ||
        p->op->reducers.data[st->reducer].kind != REDUCE_SUM)
        return false;
    tensor_expr *body = ARENA_NEW(p->arena, tensor_expr);
    *body = st->body[0];
    tensor_expr holds = take_off(p, body);
    st = &p->op->stages.data[stage];
    if (!holds) return false;
    tensor_expr *filters = ARENA_ARRAY(p->arena, tensor_expr, st->nfilters + 1);
    for (uint32_t i = 0; i < st->nfilters; i++) filters[i] = st->filters[i];
    filters[st->nfilters++] = holds;
    st->filters = filters;
    st->body = body;
    return true;
}

// ---- All ----------------------------------------------------------------------------------------
static void forget(tensor_op *op, uint32_t stage) {
    for (uint32_t i = stage; i + 1 < op->stages.len; i++)
        op->stages.data[i] = op->stages.data[i + 1];
    op->stages.len--;
}

bool plan_pairs(planner *p) {
    bool any = false;
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        const tensor_stage st = p->op->stages.data[i];
        if (!of_pairs(p->op, &st) || !is_written_out(p->op, &st) ||
            !written_once(p->op, st.targets[0].val))
            continue;
        const tensor_expr value = written(p, &st);
        uint8_t *seen = ARENA_ARRAY(p->arena, uint8_t, p->op->exprs.len + 1);
        if (plan_operations(p, value, seen) > MOST_OPERATIONS) continue;
        for (uint32_t k = i + 1; k < p->op->stages.len; k++) {
            if (!plan_reads_val(p, &p->op->stages.data[k], st.targets[0].val)) continue;
            plan_replace_loads(p, k, put_value, &(putting){p, &st, value});
            filter(p, k);
        }
        forget(p->op, i--);
        any = true;
    }
    if (any) tensor_normalise(p->op);
    return any;
}
