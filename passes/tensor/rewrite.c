// Stages computed where they are read, and keys put to use, as rewrites of the equations before any
// loop exists.
//     s[e, h] = l[dst[e], h] + r[src[e], h]          a.max[v, h] = max {e : dst[e] == v} s[e, h]
//  →                                                 a.max[v, h] = max {e : dst[e] == v} l[v, h] + r[src[e],
//  h]
#include "base/base.h"
#include "kernels/kernels.h"
#include "tensor/tensor.h"

#include <stdlib.h>
#include <string.h>

// ---- Rewriting expressions ----------------------------------------------------------------------
typedef struct {
    planner *p;
    tensor_expr *memo;          // per expression there was when the rewriting began
    const tensor_expr *vars;    // per variable: what replaces it; 0: itself
    const tensor_stage *keys;   // a reduction whose keys hold here; NULL: none
    bool inlines;               // loads of inlined stages are replaced
    plan_replacement *by;       // any load is, NULL: none
    void *user;
} rewriting;

static tensor_expr rewrite(rewriting *r, tensor_expr e);

static const tensor_stage *inlined_stage(const planner *p, tensor_val v) {
    const loop_value *w = &p->plan->values.data[v];
    return w->home == LOOP_INLINE ? &p->op->stages.data[w->stage] : NULL;
}

// Whether something in it is replaced. Most of what is asked about is as it was.
static bool may_change(const rewriting *r, tensor_expr e) {
    const tensor_node *n = tensor_node_at(r->p->op, e);
    bool may = r->by && n->loads;
    for (uint32_t i = 0; r->vars && n->vars && i < n->vars->n && !may; i++)
        may = r->vars[n->vars->at[i]];
    for (uint32_t i = 0; r->inlines && n->loads && i < n->loads->n && !may; i++)
        may = inlined_stage(r->p, n->loads->at[i]) != NULL;
    for (uint32_t k = 0; r->keys && k < r->keys->nkeys && !may; k++) {
        const tensor_node *key = tensor_node_at(r->p->op, r->keys->keys[k].lhs);
        may = tensor_set_all(n->vars, key->vars) && tensor_set_all(n->loads, key->loads);
    }
    return may;
}

// An entry for each expression, or variable. It goes with the rewriting, not with the arena: there
// are thousands of them.
static tensor_expr *none_replaced(uint32_t n) {
    tensor_expr *memo = xmalloc((n + 1) * sizeof *memo);
    return memset(memo, 0, (n + 1) * sizeof *memo);
}

static tensor_expr rewrite_all(rewriting *r, tensor_expr e) {
    if (!may_change(r, e)) return e;
    r->memo = none_replaced(r->p->op->exprs.len);
    const tensor_expr to = rewrite(r, e);
    free(r->memo);
    return to;
}

static tensor_expr rewrite_in(planner *p, tensor_expr e, const tensor_expr *vars,
                              const tensor_stage *keys, bool inlines) {
    rewriting r = {.p = p, .vars = vars, .keys = keys, .inlines = inlines};
    return rewrite_all(&r, e);
}

// The stage's body with its variables at the load's indices.
static tensor_expr body_at(planner *p, const tensor_stage *st, const tensor_expr *index) {
    tensor_expr *vars = none_replaced(p->op->vars.len);
    for (uint32_t i = 0; i < st->targets[0].rank; i++)
        vars[tensor_node_at(p->op, st->targets[0].index[i])->imm.i] = index[i];
    const tensor_expr to = rewrite_in(p, st->body[0], vars, NULL, false);
    free(vars);
    return to;
}

static tensor_expr rewrite_node(rewriting *r, tensor_expr e) {
    tensor_node n = *tensor_node_at(r->p->op, e);
    if (n.op == TENSOR_VAR_OP) return r->vars && r->vars[n.imm.i] ? r->vars[n.imm.i] : e;
    tensor_expr *args = ARENA_ARRAY(r->p->arena, tensor_expr, n.nargs + 1u);
    bool same = true;
    for (uint32_t i = 0; i < n.nargs; i++) {
        args[i] = rewrite(r, n.args[i]);
        same = same && args[i] == n.args[i];
    }
    const tensor_stage *inlined = r->inlines && n.op == TENSOR_LOAD_OP
                                      ? inlined_stage(r->p, (tensor_val)n.imm.i)
                                      : NULL;
    if (inlined) return body_at(r->p, inlined, args);
    n.args = args;
    tensor_expr made = same ? e : tensor_node_new(r->p->op, n);
    return r->by && n.op == TENSOR_LOAD_OP ? r->by(r->user, made) : made;
}

static tensor_expr rewrite(rewriting *r, tensor_expr e) {
    if (r->memo[e]) return r->memo[e];
    if (!may_change(r, e)) return r->memo[e] = e;
    tensor_expr to = 0;
    for (uint32_t k = 0; r->keys && k < r->keys->nkeys; k++)
        if (r->keys->keys[k].lhs == e && tensor_node_at(r->p->op, e)->op != TENSOR_VAR_OP)
            to = r->keys->keys[k].rhs;
    return r->memo[e] = to ? to : rewrite_node(r, e);
}

// ---- The whole ----------------------------------------------------------------------------------
static const tensor_expr *rewrite_list(planner *p, const tensor_expr *e, uint32_t n,
                                       const tensor_expr *vars, const tensor_stage *keys) {
    tensor_expr *out = ARENA_ARRAY(p->arena, tensor_expr, n + 1);
    for (uint32_t i = 0; i < n; i++)
        out[i] = rewrite_in(p, rewrite_in(p, e[i], vars, NULL, true), NULL, keys, false);
    return out;
}

// Equations may share variables; loops of one kernel bind each once, so a stage gets some of its
// own.
static const tensor_var *own_vars(planner *p, const tensor_stage *st, const tensor_var *v,
                                  uint32_t n, bool *taken, uint32_t ntaken, tensor_expr *vars) {
    tensor_var *own = ARENA_ARRAY(p->arena, tensor_var, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        own[i] = v[i];
        if (v[i] >= ntaken || plan_is_step(p, st, v[i])) continue;
        if (taken[v[i]]) {
            own[i] = tensor_add_var_of(
                p->op, v[i],
                arena_printf(p->arena, "%s'%u", plan_var_name(p, v[i]), p->op->vars.len));
            vars[v[i]] = tensor_var_expr(p->op, own[i], NO_SPAN);
        }
        taken[v[i]] = true;
    }
    return own;
}

static const tensor_target *rewrite_targets(planner *p, const tensor_stage *st,
                                            const tensor_expr *vars) {
    tensor_target *out = ARENA_ARRAY(p->arena, tensor_target, st->ntargets + 1);
    for (uint32_t t = 0; t < st->ntargets; t++)
        out[t] = (tensor_target){
            st->targets[t].val, st->targets[t].rank,
            rewrite_list(p, st->targets[t].index, st->targets[t].rank, vars, NULL)};
    return out;
}

static void rewrite_stage(planner *p, uint32_t i, bool *taken, uint32_t ntaken) {
    tensor_stage st = p->op->stages.data[i];
    tensor_expr *vars = ARENA_ARRAY(p->arena, tensor_expr, p->op->vars.len + 1);
    const tensor_var *left = own_vars(p, &st, st.left, st.nleft, taken, ntaken, vars);
    st.bound = own_vars(p, &st, st.bound, st.nbound, taken, ntaken, vars);
    st.left = left;
    tensor_key *keys = ARENA_ARRAY(p->arena, tensor_key, st.nkeys + 1);
    for (uint32_t k = 0; k < st.nkeys; k++) {
        keys[k].lhs = rewrite_in(p, st.keys[k].lhs, vars, NULL, true);
        keys[k].rhs = rewrite_in(p, st.keys[k].rhs, vars, NULL, true);
    }
    st.keys = keys;
    st.targets = rewrite_targets(p, &st, vars);
    st.body = rewrite_list(p, st.body, st.nbody, vars, &st);
    st.filters = rewrite_list(p, st.filters, st.nfilters, vars, &st);
    st.orelse = rewrite_list(p, st.orelse, st.nelse, vars, NULL);
    p->op->stages.data[i] = st;
}

void plan_rewrite(planner *p) {
    uint32_t ntaken = p->op->vars.len;
    bool *taken = ARENA_ARRAY(p->arena, bool, ntaken + 1);
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        rewrite_stage(p, i, taken, ntaken);
        const tensor_stage *st = &p->op->stages.data[i];
        if (plan_inlines(p, st))
            p->plan->values.data[st->targets[0].val] = (loop_value){
                .home = LOOP_INLINE, .stage = i, .of = TENSOR_NO_VAL};
    }
    if (!p->failed) plan_matrix_check(p);
}

// ---- Rewriting on request -----------------------------------------------------------------------
const tensor_expr *plan_substitute(planner *p, const tensor_expr *e, uint32_t n,
                                   const tensor_expr *vars) {
    tensor_expr *out = ARENA_ARRAY(p->arena, tensor_expr, n + 1);
    for (uint32_t i = 0; i < n; i++) out[i] = rewrite_in(p, e[i], vars, NULL, false);
    return out;
}

tensor_expr plan_by_keys(planner *p, tensor_expr e, const tensor_stage *st) {
    return rewrite_in(p, e, NULL, st, false);
}

static const tensor_expr *replaced(planner *p, const tensor_expr *e, uint32_t n,
                                   plan_replacement *by, void *user) {
    tensor_expr *out = ARENA_ARRAY(p->arena, tensor_expr, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        rewriting r = {.p = p, .by = by, .user = user};
        out[i] = rewrite_all(&r, e[i]);
    }
    return out;
}

tensor_expr plan_replaced(planner *p, tensor_expr e, plan_replacement *by, void *user) {
    return *replaced(p, &e, 1, by, user);
}

tensor_expr plan_inline_loads(planner *p, tensor_expr e) {
    return rewrite_in(p, e, NULL, NULL, true);
}

void plan_replace_loads(planner *p, uint32_t stage, plan_replacement *by, void *user) {
    tensor_stage st = p->op->stages.data[stage];
    tensor_key *keys = ARENA_ARRAY(p->arena, tensor_key, st.nkeys + 1);
    for (uint32_t k = 0; k < st.nkeys; k++)
        keys[k] = (tensor_key){*replaced(p, &st.keys[k].lhs, 1, by, user),
                               *replaced(p, &st.keys[k].rhs, 1, by, user)};
    st.keys = keys;
    st.body = replaced(p, st.body, st.nbody, by, user);
    st.filters = replaced(p, st.filters, st.nfilters, by, user);
    st.orelse = replaced(p, st.orelse, st.nelse, by, user);
    p->op->stages.data[stage] = st;
}
