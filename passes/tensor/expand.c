// Sums of a few terms as expressions: they are computed in registers where they are read, as what
// reduces nothing is.
//     m[e, f] = sum{i} d[e, i] * w[i, f]
//  →  m[e, f] = d[e, 0] * w[0, f] + d[e, 1] * w[1, f] + …
#include "tensor/tensor.h"
#include "base/base.h"

enum { MOST_TERMS = 32 };

// ---- A reducer's expressions --------------------------------------------------------------------
typedef struct {
    planner *p;
    tensor_expr arg, left, right;   // what stands for them
} state;

static tensor_expr stands(const state *s, tensor_expr e) {
    const tensor_node n = *tensor_node_at(s->p->op, e);
    if (n.op == TENSOR_ARG_OP) return s->arg;
    if (n.op == TENSOR_LEFT_OP) return s->left;
    if (n.op == TENSOR_RIGHT_OP) return s->right;
    if (!n.nargs) return e;
    tensor_expr *args = ARENA_ARRAY(s->p->arena, tensor_expr, n.nargs + 1u);
    for (uint32_t i = 0; i < n.nargs; i++) args[i] = stands(s, n.args[i]);
    tensor_node made = n;
    made.args = args;
    return tensor_node_new(s->p->op, made);
}

// ---- Terms --------------------------------------------------------------------------------------
int64_t plan_few_terms(const planner *p, const tensor_stage *st) {
    int64_t all = 1;
    for (uint32_t i = 0; i < st->nbound && all <= MOST_TERMS; i++) {
        const tensor_space_info *s = &p->op->spaces.data[p->op->vars.data[st->bound[i]].space];
        if (s->kind != SPACE_CONST) return 0;
        all *= s->size;
    }
    return all <= MOST_TERMS ? all : 0;
}

static bool plain_target(const planner *p, const tensor_stage *st) {
    const tensor_target *t = &st->targets[0];
    bool plain = st->ntargets == 1 && t->rank == st->nleft;
    for (uint32_t i = 0; i < t->rank && plain; i++)
        plain = tensor_node_at(p->op, t->index[i])->op == TENSOR_VAR_OP;
    return plain && p->op->vals.data[t->val].role == VAL_STAGE;
}

bool plan_may_expand(const planner *p, uint32_t stage) {
    const tensor_stage *st = plan_stage(p, stage);
    if (st->reducer == TENSOR_NO_REDUCER || st->nbody != 1 || st->loop != TENSOR_NO_LOOP ||
        !plain_target(p, st) || tensor_marked(st, TENSOR_FINISHES))
        return false;
    const tensor_reducer *r = &p->op->reducers.data[st->reducer];
    return r->nargs == 1 && r->nstate == 1 && r->nresults == 1 && st->nbound && !st->nkeys &&
           !st->nfilters && !st->nelse && plan_few_terms(p, st);
}

// Indices of the n-th term, in the order of combination.
static void put_term(planner *p, const tensor_stage *st, int64_t n, tensor_expr *vars) {
    for (uint32_t i = st->nbound; i-- > 0;) {
        const tensor_space s = p->op->vars.data[st->bound[i]].space;
        const int64_t size = p->op->spaces.data[s].size;
        vars[st->bound[i]] = tensor_index(p->op, s, tensor_int(p->op, n % size), st->at);
        n /= size;
    }
}

// What filters and keys say of it; 0: nothing.
static tensor_expr condition(planner *p, const tensor_stage *st, const tensor_expr *vars) {
    tensor_expr all = 0;
    for (uint32_t i = 0; i < st->nfilters + st->nkeys; i++) {
        tensor_expr one = 0;
        if (i < st->nfilters) {
            one = *plan_substitute(p, &st->filters[i], 1, vars);
        } else {
            const tensor_key *k = &st->keys[i - st->nfilters];
            one = tensor_binary(p->op, TENSOR_EQ_OP, *plan_substitute(p, &k->lhs, 1, vars),
                                *plan_substitute(p, &k->rhs, 1, vars), NO_SPAN);
        }
        all = all ? tensor_binary(p->op, TENSOR_AND_OP, all, one, NO_SPAN) : one;
    }
    return all;
}

static bool is_bool(const planner *p, tensor_expr e, bool x) {
    const tensor_node *n = tensor_node_at(p->op, e);
    return n->op == TENSOR_CONST_OP && (n->imm.i != 0) == x;
}

tensor_expr plan_written_out(planner *p, const tensor_stage *st, tensor_expr *vars) {
    const tensor_reducer r = p->op->reducers.data[st->reducer];
    const int64_t n = plan_few_terms(p, st);
    state s = {.p = p};
    for (int64_t i = 0; i < n; i++) {
        put_term(p, st, i, vars);
        const tensor_expr where = condition(p, st, vars), before = s.left ? s.left : r.identity[0];
        if (where && is_bool(p, where, false)) continue;
        s.arg = *plan_substitute(p, st->body, 1, vars);
        s.right = stands(&s, r.lift[0]);
        s.left = s.left ? stands(&s, r.combine[0]) : s.right;
        if (where && !is_bool(p, where, true))
            s.left = tensor_select(p->op, where, s.left, before, NO_SPAN);
    }
    if (!s.left) s.left = r.identity[0];
    return stands(&s, r.finish[0]);
}

tensor_expr plan_expanded(planner *p, const tensor_stage *st) {
    return plan_written_out(p, st, ARENA_ARRAY(p->arena, tensor_expr, p->op->vars.len + 1));
}

// ---- Where it is read ---------------------------------------------------------------------------
typedef struct {
    planner *p;
    const tensor_stage *of, *reader;
    tensor_expr body;
} writing;

static tensor_expr in_place(void *user, tensor_expr load) {
    const writing *w = user;
    planner *p = w->p;
    const tensor_node n = *tensor_node_at(p->op, load);
    const tensor_target *t = &w->of->targets[0];
    if ((tensor_val)n.imm.i != t->val) return load;
    tensor_expr *vars = ARENA_ARRAY(p->arena, tensor_expr, p->op->vars.len + 1);
    for (uint32_t i = 0; i < t->rank; i++)
        vars[tensor_node_at(p->op, t->index[i])->imm.i] = n.args[i];
    const tensor_expr here = *plan_substitute(p, &w->body, 1, vars);
    return w->reader->reducer == TENSOR_NO_REDUCER ? here : plan_by_keys(p, here, w->reader);
}

void plan_expand(planner *p, uint32_t stage, uint32_t reader) {
    const tensor_stage of = *plan_stage(p, stage), at = *plan_stage(p, reader);
    writing w = {p, &of, &at, plan_expanded(p, &of)};
    plan_replace_loads(p, reader, in_place, &w);
}
