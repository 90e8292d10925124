// What a reduction takes at each of its points as a stage of its own (`terms`), read also by other
// stages that compute the same: a softmax's exponentials are taken once.
//     a.sum[v] = sum {e : dst[e] == v} exp(s[e] - a.max[v])
//     a[e] = exp(s[e] - a.max[dst[e]]) / a.sum[dst[e]]
//  →  a.sum.terms[e] = exp(s[e] - a.max[dst[e]])
//     a.sum[v] = sum {e : dst[e] == v} a.sum.terms[e]
//     a[e] = a.sum.terms[e] / a.sum[dst[e]]
#include "tensor/tensor.h"
#include "base/base.h"

#include <string.h>

enum { MOST_LEFT = 8 };

typedef struct {
    planner *p;
    tensor_stage made;   // STAGE.terms
    tensor_expr value;   // of its points
    tensor_expr *memo;   // of a stage that may read it: per expression
    const tensor_expr *index;
    tensor_expr found;   // in that stage: its value there
} taking;

// ---- Which --------------------------------------------------------------------------------------
static uint32_t left_of(const tensor_op *op, const tensor_stage *st, tensor_expr e) {
    const tensor_node *n = tensor_node_at(op, e);
    uint32_t i = 0;
    while (n->op == TENSOR_VAR_OP && i < st->nleft && st->left[i] != (tensor_var)n->imm.i) i++;
    return n->op == TENSOR_VAR_OP && i < st->nleft ? i : UINT32_MAX;
}

// Of a map, or of one that a class of tuples is made of.
static bool is_partial(const tensor_op *op, tensor_expr key) {
    const tensor_node *n = tensor_node_at(op, key);
    if (n->op != TENSOR_LOAD_OP) return false;
    const tensor_val_info *map = &op->vals.data[n->imm.i];
    bool partial = map->facts & FACT_PARTIAL;
    for (uint32_t k = 0; k < map->nkeys; k++)
        partial |= (op->vals.data[map->keys[k]].facts & FACT_PARTIAL) != 0;
    return partial;
}

static const char *why_not(planner *p, const tensor_stage *st) {
    if (schedule_find(p->s, st->id, SCHEDULE_ONLINE, st->id))
        return "the walk that finds it computes them on the run, by `online`";
    if (st->nbody != 1) return "it takes several numbers at each";
    if (st->loop != TENSOR_NO_LOOP) return "it is part of a recurrence";
    if (st->nfilters) return "a condition leaves some out";
    if (tensor_typeof(p->op, st->body[0]).type == DT_INDEX) return "they are indices";
    if (st->nleft + st->nbound > MOST_LEFT) return "they have more than eight indices";
    for (uint32_t k = 0; k < st->nkeys; k++)
        if (left_of(p->op, st, st->keys[k].rhs) == UINT32_MAX)
            return "a key is no index of its rows";
    for (uint32_t k = 0; k < st->nkeys; k++)
        if (is_partial(p->op, st->keys[k].lhs))
            return "its map has no value at some points, whose terms are of no row";
    return NULL;
}

// ---- The stage ----------------------------------------------------------------------------------
static bool is_keyed(const tensor_op *op, const tensor_stage *st, uint32_t left) {
    bool keyed = false;
    for (uint32_t k = 0; k < st->nkeys; k++) keyed |= left_of(op, st, st->keys[k].rhs) == left;
    return keyed;
}

// Over what is reduced, and the left indices that no key finds from that.
static void make(taking *t, const tensor_stage *st) {
    planner *p = t->p;
    tensor_op *op = p->op;
    tensor_expr *vars = ARENA_ARRAY(p->arena, tensor_expr, op->vars.len + 1);
    for (uint32_t k = 0; k < st->nkeys; k++)
        vars[st->left[left_of(op, st, st->keys[k].rhs)]] = st->keys[k].lhs;
    const tensor_expr *body = plan_substitute(p, st->body, 1, vars);
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, MOST_LEFT + 1);
    tensor_space *axes = ARENA_ARRAY(p->arena, tensor_space, MOST_LEFT + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < st->nbound; i++) left[n++] = st->bound[i];
    for (uint32_t i = 0; i < st->nleft; i++)
        if (!is_keyed(op, st, i)) left[n++] = st->left[i];
    for (uint32_t i = 0; i < n; i++) axes[i] = op->vars.data[left[i]].space;
    const char *name = plan_name_inside(p, st->name, "terms");
    tensor_target *to = ARENA_NEW(p->arena, tensor_target);
    tensor_expr *index = ARENA_ARRAY(p->arena, tensor_expr, n + 1),
                *own = ARENA_ARRAY(p->arena, tensor_expr, op->vars.len + 1);
    const tensor_var *mine = plan_own_vars(p, left, n, own);
    for (uint32_t i = 0; i < n; i++) index[i] = tensor_var_expr(op, mine[i], NO_SPAN);
    *to = (tensor_target){plan_stage_val(p, name, tensor_typeof(op, *body), axes, n, st->at), n,
                          index};
    t->made = (tensor_stage){.name = name,
                             .id = tensor_id_of_path(op->ids, name),
                             .ntargets = 1,
                             .targets = to,
                             .nleft = n,
                             .left = mine,
                             .reducer = TENSOR_NO_REDUCER,
                             .nbody = 1,
                             .body = plan_substitute(p, body, 1, own),
                             .loop = TENSOR_NO_LOOP,
                             .at = st->at};
    t->value = t->made.body[0];
}

// ---- Its readers --------------------------------------------------------------------------------
static tensor_expr replaced(taking *t, tensor_expr e) {
    planner *p = t->p;
    if (t->memo[e]) return t->memo[e];
    const tensor_node was = *tensor_node_at(p->op, e);
    tensor_node n = was;
    if (e == t->found) {
        tensor_expr read = tensor_load(p->op, t->made.targets[0].val, t->index, t->made.nleft,
                                       n.at);
        return t->memo[e] = tensor_cvt(p->op, n.type, read, n.at);
    }
    tensor_expr *args = ARENA_ARRAY(p->arena, tensor_expr, n.nargs + 1u);
    bool same = true;
    for (uint32_t i = 0; i < n.nargs; i++) {
        args[i] = replaced(t, n.args[i]);
        same = same && args[i] == was.args[i];
    }
    n.args = args;
    return t->memo[e] = same ? e : tensor_node_new(p->op, n);
}

static const tensor_expr *replaced_all(taking *t, const tensor_expr *e, uint32_t n) {
    tensor_expr *to = ARENA_ARRAY(t->p->arena, tensor_expr, n + 1);
    for (uint32_t i = 0; i < n; i++) to[i] = replaced(t, e[i]);
    return to;
}

static void put_to_use(taking *t, uint32_t stage, tensor_expr value, const tensor_expr *index) {
    tensor_stage st = t->p->op->stages.data[stage];
    t->found = value;
    t->index = index;
    t->memo = ARENA_ARRAY(t->p->arena, tensor_expr, t->p->op->exprs.len + 1);
    st.body = replaced_all(t, st.body, st.nbody);
    st.filters = replaced_all(t, st.filters, st.nfilters);
    st.orelse = replaced_all(t, st.orelse, st.nelse);
    t->p->op->stages.data[stage] = st;
}

// Each way to call the indices of the terms by those of a stage, of the same spaces.
static void try_indices(taking *t, uint32_t stage, uint32_t n, tensor_expr *vars,
                        tensor_expr *index) {
    planner *p = t->p;
    const tensor_stage st = p->op->stages.data[stage];
    if (n == t->made.nleft) {
        tensor_expr value = *plan_substitute(p, &t->value, 1, vars);
        put_to_use(t, stage, value, index);
        put_to_use(t, stage, plan_by_keys(p, value, &st), index);
        return;
    }
    tensor_space s = p->op->vars.data[t->made.left[n]].space;
    for (uint32_t i = 0; i < st.nleft + st.nbound; i++) {
        tensor_var v = i < st.nleft ? st.left[i] : st.bound[i - st.nleft];
        if (p->op->vars.data[v].space != s) continue;
        vars[t->made.left[n]] = index[n] = tensor_var_expr(p->op, v, NO_SPAN);
        try_indices(t, stage, n + 1, vars, index);
    }
}

static void take_terms(planner *p, uint32_t stage) {
    taking t = {.p = p};
    const tensor_stage st = p->op->stages.data[stage];
    make(&t, &st);
    plan_put_stage(p, stage, t.made);
    tensor_expr *vars = ARENA_ARRAY(p->arena, tensor_expr, p->op->vars.len + 1),
                *index = ARENA_ARRAY(p->arena, tensor_expr, MOST_LEFT + 1);
    for (uint32_t i = stage + 1; i < p->op->stages.len; i++) try_indices(&t, i, 0, vars, index);
}

// ---- The whole ----------------------------------------------------------------------------------
static void refuse(planner *p, const tensor_stage *st, const schedule_cell *c, const char *why) {
    diagnostic *d = plan_refuse(p, E0557, c->at, "the terms of '%s' are no stage: %s", st->name,
                                why);
    if (d) diag_note(d, st->at, "'%s' is computed here", st->name);
    if (d) diag_help(d, "leave it out, or write them as an equation of their own");
}

void plan_terms(planner *p) {
    for (uint32_t i = 0; i < p->op->stages.len && !p->failed; i++) {
        const tensor_stage *st = &p->op->stages.data[i];
        schedule_cell *c = schedule_find(p->s, st->id, SCHEDULE_TERMS, st->id);
        if (!c || st->reducer == TENSOR_NO_REDUCER) continue;
        const char *why = why_not(p, st);
        c->consumed = true;
        if (why) refuse(p, st, c, why);
        else take_terms(p, i++);
    }
}

bool plan_has_terms(const planner *p, tensor_id stage) {
    bool has = false;
    for (uint32_t c = 0; c < p->s->cells.len; c++) {
        const schedule_cell *cell = &p->s->cells.data[c];
        for (uint32_t i = 0; cell->verb == SCHEDULE_TERMS && i < cell->about.n; i++)
            has |= tensor_id_inside(p->op->ids, cell->about.data[i], "terms") == stage;
    }
    return has;
}
