// Differences of a number from a maximum over it and others, s[e] - max {e' : dst[e'] == v} s[e']
// or x - max(x, y). They are at most 0, so their exponentials cannot overflow. If the maximum is
// -inf, so is the number, and its difference from 0 has the same exponential.
//     m == -inf ? 0 : exp(s[e] - m)  →  exp(s[e] - (m == -inf ? 0 : m)), of which all but s[e] is the row's

#include "lower/values/values.h"
#include <math.h>

typedef struct {
    const lowering *l;
    const tensor_op *op;
    const tensor_stage *in, *of;   // where the difference stands; what finds the maximum
    const tensor_node *load;       // of the maximum
    // per bound variable of `of`: the point it is; 0: it was not met yet
    tensor_expr *at;
    tensor_expr *as;   // per expression of `of`: what it was the same as; 0: not met yet
} match;

static bool same(match *m, tensor_expr of, tensor_expr in);

static bool same_variable(match *m, tensor_var v, tensor_expr of, tensor_expr in) {
    const tensor_target *t = &m->of->targets[0];
    for (uint32_t i = 0; i < t->rank; i++) {
        const tensor_node *x = tensor_node_at(m->op, t->index[i]);
        if (x->op == TENSOR_VAR_OP && (tensor_var)x->imm.i == v) return m->load->args[i] == in;
    }
    for (uint32_t i = 0; i < m->of->nbound; i++) {
        if (m->of->bound[i] != v) continue;
        if (!m->at[i]) m->at[i] = in;
        return m->at[i] == in;
    }
    return of == in;
}

// The expressions are the same, if the maximum is found at the place that is loaded. In 16 bits one
// may be rounded differently.
static bool same(match *m, tensor_expr of, tensor_expr in) {
    const tensor_node *x = tensor_node_at(m->op, of), *y = tensor_node_at(m->op, in);
    if (tensor_type_is_narrow(x->type)) return false;
    if (x->op == TENSOR_VAR_OP) return same_variable(m, (tensor_var)x->imm.i, of, in);
    if ((of == in && !x->nargs) || m->as[of] == in) return true;
    bool alike = x->op == y->op && x->nargs == y->nargs && x->imm.i == y->imm.i &&
                 x->imm2 == y->imm2 && tensor_type_equal(x->type, y->type) && x->nargs;
    for (uint32_t i = 0; alike && i < x->nargs; i++) alike = same(m, x->args[i], y->args[i]);
    if (alike) m->as[of] = in;
    return alike;
}

// The key dst[e'] == v of the maximum holds: by the place that is loaded, or because this stage has
// the same key.
static bool same_key(match *m, const tensor_key *k) {
    const tensor_node *v = tensor_node_at(m->op, k->rhs);
    const tensor_target *t = &m->of->targets[0];
    for (uint32_t i = 0; i < t->rank && v->op == TENSOR_VAR_OP; i++) {
        if (t->index[i] != k->rhs) continue;
        if (same(m, k->lhs, m->load->args[i])) return true;
        for (uint32_t j = 0; j < m->in->nkeys; j++)
            if (m->in->keys[j].rhs == m->load->args[i] && same(m, k->lhs, m->in->keys[j].lhs))
                return true;
    }
    return false;
}

static bool same_filter(match *m, tensor_expr filter) {
    for (uint32_t i = 0; i < m->in->nfilters; i++)
        if (same(m, filter, m->in->filters[i])) return true;
    return false;
}

static const tensor_stage *maximum(const lowering *l, tensor_val v, tensor_type t) {
    const tensor_stage *of = NULL;
    const loop_value *w = &l->plan->values.data[v];
    if (l->op->vals.data[v].role != VAL_STAGE || l->op->vals.data[v].type != t.type) return NULL;
    if (w->home == LOOP_SHARED && w->type != t.type) return NULL;
    for (uint32_t i = 0; i < l->op->stages.len; i++) {
        const tensor_stage *st = &l->op->stages.data[i];
        for (uint32_t k = 0; k < st->ntargets; k++)
            if (st->targets[k].val == v) {
                if (of) return NULL;
                of = st;
            }
    }
    if (!of || of->reducer == TENSOR_NO_REDUCER || of->ntargets != 1 || of->loop != TENSOR_NO_LOOP)
        return NULL;
    const tensor_reducer *r = &l->op->reducers.data[of->reducer];
    return r->kind == REDUCE_MAX && tensor_type_equal(r->state_types[0], t) ? of : NULL;
}

static bool nonpositive(const lowering *l, const tensor_stage *in, tensor_expr e) {
    const tensor_node *x = tensor_node_at(l->op, e);
    if (x->op != TENSOR_SUB_OP || x->type.type != DT_F32) return false;
    const tensor_node *most = tensor_node_at(l->op, x->args[1]);
    if (most->op == TENSOR_STOP_OP) most = tensor_node_at(l->op, most->args[0]);
    if (most->op == TENSOR_MAX_OP)
        return most->args[0] == x->args[0] || most->args[1] == x->args[0];
    if (most->op != TENSOR_LOAD_OP) return false;
    const tensor_stage *of = maximum(l, (tensor_val)most->imm.i, x->type);
    if (!of) return false;
    match m = {l,
               l->op,
               in,
               of,
               most,
               ARENA_ARRAY(l->arena, tensor_expr, of->nbound + 1),
               ARENA_ARRAY(l->arena, tensor_expr, l->op->exprs.len + 1)};
    bool good = same(&m, of->body[0], x->args[0]);
    for (uint32_t i = 0; good && i < of->nkeys; i++) good = same_key(&m, &of->keys[i]);
    for (uint32_t i = 0; good && i < of->nfilters; i++) good = same_filter(&m, of->filters[i]);
    return good;
}

static bool is_constant(const tensor_op *op, tensor_expr e, double c) {
    const tensor_node *x = tensor_node_at(op, e);
    return x->op == TENSOR_CONST_OP && ir_dtype_is_float(x->type.type) && x->imm.f == c;
}

// ---- What is chosen 0 ---------------------------------------------------------------------------
// A gradient may be given a softmax's denominator, which is -inf for rows whose scores all are
// -inf. What is made of the exponentials of such a row is 0.
//     m == -inf ? 0 : exp(s[e] - m) * d[e]
enum { DEEPEST = 16 };

bool lw_is_chosen(const tensor_op *op, const tensor_node *choice, tensor_expr *most) {
    if (choice->op != TENSOR_SELECT_OP) return false;
    const tensor_node *c = tensor_node_at(op, choice->args[0]);
    if (c->op != TENSOR_EQ_OP) return false;
    *most = c->args[0];
    return is_constant(op, c->args[1], (double)-INFINITY) && is_constant(op, choice->args[1], 0);
}

static bool is_exp_below(const tensor_op *op, const tensor_node *x, tensor_expr most) {
    const tensor_node *of = x->op == TENSOR_EXP_OP ? tensor_node_at(op, x->args[0]) : x;
    return x->op == TENSOR_EXP_OP && of->op == TENSOR_SUB_OP && of->args[1] == most;
}

static void find_bare(lowering *l, tensor_expr e, bool *seen);

static void find_bare_below(lowering *l, tensor_expr e, tensor_expr most, uint32_t depth,
                            bool *seen) {
    const tensor_node *x = tensor_node_at(l->op, e);
    bool exp = is_exp_below(l->op, x, most),
         arithmetic = x->op == TENSOR_MUL_OP || x->op == TENSOR_ADD_OP || x->op == TENSOR_NEG_OP;
    if (exp) find_bare(l, x->args[0], seen);
    else if (!arithmetic || depth > DEEPEST) find_bare(l, e, seen);
    for (uint32_t i = 0; arithmetic && depth <= DEEPEST && i < x->nargs; i++)
        find_bare_below(l, x->args[i], most, depth + 1, seen);
}

static void find_bare(lowering *l, tensor_expr e, bool *seen) {
    const tensor_node *x = tensor_node_at(l->op, e);
    tensor_expr most = 0;
    if (seen[e]) return;
    seen[e] = l->bare[e] = true;
    bool chosen = lw_is_chosen(l->op, x, &most);
    for (uint32_t i = 0; i < x->nargs; i++)
        if (chosen && i == 2) find_bare_below(l, x->args[i], most, 0, seen);
        else find_bare(l, x->args[i], seen);
}

// The expression is 0 where its exponentials are 0, if its numbers are finite.
bool lw_is_zero_with(const lowering *l, tensor_expr e, tensor_expr most, uint32_t depth) {
    const tensor_node *x = tensor_node_at(l->op, e);
    if (depth > DEEPEST) return false;
    if (is_exp_below(l->op, x, most)) return !l->bare[e];
    bool first = x->nargs && lw_is_zero_with(l, x->args[0], most, depth + 1);
    if (x->op == TENSOR_NEG_OP) return first;
    if (x->op == TENSOR_MUL_OP) return first || lw_is_zero_with(l, x->args[1], most, depth + 1);
    return x->op == TENSOR_ADD_OP && first && lw_is_zero_with(l, x->args[1], most, depth + 1);
}

// ---- All ----------------------------------------------------------------------------------------
static void find_in(lowering *l, const tensor_stage *in, tensor_expr e, bool *seen) {
    const tensor_node *x = tensor_node_at(l->op, e);
    if (seen[e]) return;
    seen[e] = true;
    for (uint32_t i = 0; i < x->nargs; i++) find_in(l, in, x->args[i], seen);
    if (x->op == TENSOR_EXP_OP) l->nonpositive[e] = nonpositive(l, in, x->args[0]);
}

void lw_find_nonpositive(lowering *l) {
    l->nonpositive = ARENA_ARRAY(l->arena, bool, l->op->exprs.len + 1);
    l->bare = ARENA_ARRAY(l->arena, bool, l->op->exprs.len + 1);
    bool *seen = ARENA_ARRAY(l->arena, bool, l->op->exprs.len + 1),
         *seen_bare = ARENA_ARRAY(l->arena, bool, l->op->exprs.len + 1);
    for (uint32_t i = 0; i < l->op->stages.len; i++)
        for (uint32_t k = 0; k < l->op->stages.data[i].nbody; k++) {
            find_in(l, &l->op->stages.data[i], l->op->stages.data[i].body[k], seen);
            find_bare(l, l->op->stages.data[i].body[k], seen_bare);
        }
    for (uint32_t i = 0; i < l->op->stages.len; i++) {
        const tensor_stage *st = &l->op->stages.data[i];
        for (uint32_t k = 0; k < st->nfilters; k++) find_bare(l, st->filters[k], seen_bare);
        for (uint32_t k = 0; k < st->nelse; k++) find_bare(l, st->orelse[k], seen_bare);
    }
    for (uint32_t i = 0; i < l->op->reducers.len; i++)   // a reducer loads nothing
        for (uint32_t k = 0; k < l->op->reducers.data[i].nstate; k++)
            find_in(l, NULL, l->op->reducers.data[i].combine[k], seen);
}

const tensor_node *lw_below(const lowering *l, const tensor_node *choice) {
    if (choice->op != TENSOR_SELECT_OP) return NULL;
    const tensor_node *c = tensor_node_at(l->op, choice->args[0]),
                      *x = tensor_node_at(l->op, choice->args[2]);
    if (x->op != TENSOR_EXP_OP || !l->nonpositive[choice->args[2]] || c->op != TENSOR_EQ_OP)
        return NULL;
    const tensor_node *below = tensor_node_at(l->op, x->args[0]);
    bool spares = c->args[0] == below->args[1] &&
                  is_constant(l->op, c->args[1], (double)-INFINITY) &&
                  is_constant(l->op, choice->args[1], 0);
    return spares ? below : NULL;
}
