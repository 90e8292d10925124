// Reverse mode, stage by stage from the last to the first: when a stage is met, all that read what
// it wrote have said what they add to its adjoint. An adjoint is the sum of those terms.
#include "gradient_internal.h"
#include "tensor_factor.h"
#include "tensor_hoist.h"
#include "tensor_nested.h"

#include <string.h>

// ---- What depends on what is asked for ----------------------------------------------------------
static bool reads_active(const gradient *g, tensor_expr e, uint8_t *seen) {
    const tensor_node *n = tensor_node_at(g->op, e);
    if (seen[e]) return false;
    seen[e] = 1;
    if (n->op == TENSOR_STOP_OP) return false;
    bool active = n->op == TENSOR_LOAD_OP && g->active[n->imm.i];
    for (uint32_t i = 0; i < n->nargs && n->op != TENSOR_LOAD_OP && !active; i++)
        active = reads_active(g, n->args[i], seen);
    return active;
}

static bool any_active(const gradient *g, const tensor_expr *e, uint32_t n) {
    uint8_t *seen = arena_alloc(g->arena, g->op->exprs.len);
    bool active = false;
    for (uint32_t i = 0; i < n; i++) active |= reads_active(g, e[i], seen);
    return active;
}

static bool is_float(const gradient *g, tensor_val v) {
    return ir_dtype_is_float(g->op->vals.data[v].type);
}

// Stages are in order, but those of a loop, which read what a later one left.
static void find_active(gradient *g) {
    bool more = true;
    while (more) {
        more = false;
        for (uint32_t i = 0; i < g->nstages; i++) {
            const tensor_stage *s = &g->op->stages.data[i];
            bool active = any_active(g, s->body, s->nbody) || any_active(g, s->orelse, s->nelse);
            for (uint32_t t = 0; active && t < s->ntargets; t++) {
                tensor_val v = s->targets[t].val;
                if (!is_float(g, v) || g->active[v]) continue;
                g->active[v] = more = true;
            }
        }
    }
}

// ---- Adjoints -----------------------------------------------------------------------------------
static tensor_expr at_point(gradient *g, const gradient_term *t, const tensor_var *vars,
                            uint32_t rank) {
    tensor_expr *as = ARENA_ARRAY(g->arena, tensor_expr, g->op->vars.len);
    for (uint32_t i = 0; i < rank; i++) as[t->vars[i]] = tensor_var_expr(g->op, vars[i], NO_SPAN);
    return gradient_replace(g, t->value, as);
}

const tensor_expr *gradient_index_of(gradient *g, const tensor_var *vars, uint32_t n) {
    tensor_expr *index = ARENA_ARRAY(g->arena, tensor_expr, n + 1);
    for (uint32_t i = 0; i < n; i++) index[i] = tensor_var_expr(g->op, vars[i], NO_SPAN);
    return index;
}

// Rounded to 16 bits: so is its adjoint, as a framework has gradients of what it holds in half
// precision. What only passes on such numbers has one that is not rounded.
static bool is_rounded(const gradient *g, tensor_val v) {
    const tensor_val_info *i = &g->op->vals.data[v];
    if (i->role != VAL_STAGE || !ir_dtype_is_narrow(i->type)) return false;
    for (uint32_t s = 0; s < g->nstages; s++) {
        const tensor_stage *st = &g->op->stages.data[s];
        for (uint32_t t = 0; t < st->ntargets; t++)
            if (st->targets[t].val == v &&
                tensor_node_at(g->op, st->body[t])->op == TENSOR_ROUND_OP)
                return true;
    }
    return false;
}

// to = the sum of what is there.
static void push_sum(gradient *g, tensor_val of, tensor_val to, tensor_val before) {
    if (before == TENSOR_NO_VAL && gradient_push_parts(g, of, to)) return;
    const gradient_of *x = &g->of[of];
    uint32_t rank = g->op->vals.data[of].rank;
    const tensor_var *vars = gradient_axes(g, of);
    const tensor_expr *index = gradient_index_of(g, vars, rank);
    tensor_expr sum = before == TENSOR_NO_VAL ? 0
                                              : tensor_load(g->op, before, index, rank, NO_SPAN);
    for (uint32_t i = 0; i < x->terms.len; i++)
        sum = gradient_add(g->op, sum, at_point(g, &x->terms.data[i], vars, rank));
    ir_dtype type = g->op->vals.data[to].type;
    bool rounds = g->op->vals.data[to].role == VAL_STAGE && ir_dtype_is_narrow(type);
    if (rounds) sum = tensor_round(g->op, type, sum, NO_SPAN);
    tensor_target t = {to, rank, index};
    gradient_push(g, (tensor_stage){.name = g->op->vals.data[to].name,
                                    .ntargets = 1,
                                    .targets = &t,
                                    .nleft = rank,
                                    .left = vars,
                                    .reducer = TENSOR_NO_REDUCER,
                                    .nbody = 1,
                                    .body = &sum});
}

// A term that is all of a value needs no other one.
static tensor_val alone(const gradient *g, tensor_val of) {
    const gradient_of *x = &g->of[of];
    const gradient_term *t = &x->terms.data[0];
    const tensor_node *n = x->terms.len == 1 && x->adjoint == TENSOR_NO_VAL
                               ? tensor_node_at(g->op, t->value)
                               : NULL;
    bool same = n && n->op == TENSOR_LOAD_OP && (tensor_val)n->imm.i >= g->nvals &&
                n->nargs == g->op->vals.data[of].rank;
    for (uint32_t i = 0; same && i < n->nargs; i++) {
        const tensor_node *at = tensor_node_at(g->op, n->args[i]);
        same = at->op == TENSOR_VAR_OP && (tensor_var)at->imm.i == t->vars[i];
    }
    return same ? (tensor_val)n->imm.i : TENSOR_NO_VAL;
}

ir_dtype gradient_type_of(const gradient *g, tensor_val of) {
    const tensor_val_info *v = &g->op->vals.data[of];
    return is_rounded(g, of) ? v->type : tensor_type_of_storage(v->type, v->into).type;
}

static tensor_val add_value(gradient *g, tensor_val of, const char *name, tensor_role role,
                            ir_dtype type) {
    const tensor_val_info *v = &g->op->vals.data[of];
    return tensor_add_val(g->op, (tensor_val_info){.name = name,
                                                   .role = role,
                                                   .type = type,
                                                   .into = TENSOR_NO_SPACE,
                                                   .sorted_by = TENSOR_NO_VAL,
                                                   .inplace = TENSOR_NO_VAL,
                                                   .rank = v->rank,
                                                   .axes = v->axes,
                                                   .at = v->at});
}

tensor_val gradient_adjoint_of(gradient *g, tensor_val of) {
    gradient_of *x = &g->of[of];
    if (!x->terms.len) return x->adjoint;
    bool narrow = is_rounded(g, of);
    tensor_val one = narrow ? TENSOR_NO_VAL : alone(g, of), before = x->adjoint;
    if (one == TENSOR_NO_VAL) {
        one = add_value(g, of, gradient_name(g, gradient_adjoint(g, of), NULL), VAL_STAGE,
                        gradient_type_of(g, of));
        push_sum(g, of, one, before);
    }
    x = &g->of[of];
    x->adjoint = one;
    x->terms.len = 0;
    return one;
}

// ---- One stage ----------------------------------------------------------------------------------
// Of the stage's variables, those that are indices of the load by themselves: of w[n, n] one.
static uint32_t plain_indices(const gradient *g, const tensor_node *load) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < load->nargs; i++) {
        const tensor_node *x = tensor_node_at(g->op, load->args[i]);
        bool first = x->op == TENSOR_VAR_OP;
        for (uint32_t k = 0; k < i; k++) {
            const tensor_node *before = tensor_node_at(g->op, load->args[k]);
            first &= before->op != TENSOR_VAR_OP || before->imm.i != x->imm.i;
        }
        n += first;
    }
    return n;
}

// What is summed least comes first: what is summed more may go on from there.
static void contribute_all(gradient *g, const tensor_stage *s, const tensor_expr *adjoint,
                           uint32_t all, bool of_else) {
    g->partials.len = 0;
    for (uint32_t left = s->nleft + s->nbound + 1; left-- > 0;)
        for (tensor_expr e = 1; e < all; e++) {
            const tensor_node n = *tensor_node_at(g->op, e);
            if (n.op == TENSOR_LOAD_OP && adjoint[e] && g->active[n.imm.i] &&
                !(g->closed && g->closed[n.imm.i]) && plain_indices(g, &n) == left)
                gradient_contribute(g, s, &n, adjoint[e], of_else);
        }
}

static bool is_mapped(const gradient *g, tensor_expr e) {
    const tensor_node *n = tensor_node_at(g->op, e);
    return n->op == TENSOR_LOAD_OP && g->op->vals.data[n->imm.i].role == VAL_MAP;
}

// The adjoint of pairs that a key takes to each other, batch[m] == batch[n], is 0 at others: what
// that says goes on with it, so that a key of what comes from it says it again; 0: nothing.
static tensor_expr pairs_of(gradient *g, tensor_val adjoint, const tensor_target *at) {
    const tensor_stage *by = NULL;
    for (uint32_t i = g->nstages; i < g->op->stages.len; i++)
        if (g->op->stages.data[i].targets[0].val == adjoint) by = &g->op->stages.data[i];
    if (!by || by->reducer != TENSOR_NO_REDUCER || by->nleft != at->rank) return 0;
    const gradient_masked m = gradient_masked_of(g->op, by->body[0]);
    const tensor_node n = *tensor_node_at(g->op, m.condition ? m.condition : by->body[0]);
    if (!m.condition || n.op != TENSOR_EQ_OP || !is_mapped(g, n.args[0]) ||
        !is_mapped(g, n.args[1]))
        return 0;
    tensor_expr *as = ARENA_ARRAY(g->arena, tensor_expr, g->op->vars.len);
    for (uint32_t i = 0; i < by->nleft; i++) {
        const tensor_node *x = tensor_node_at(g->op, by->targets[0].index[i]);
        if (x->op != TENSOR_VAR_OP) return 0;
        as[x->imm.i] = at->index[i];
    }
    return gradient_replace(g, m.condition, as);
}

// The adjoints of what the stage wrote, at the point it wrote it; false: all are 0.
static bool targets_of(gradient *g, const tensor_stage *s, tensor_expr *out) {
    bool any = false;
    for (uint32_t t = 0; t < s->ntargets; t++) {
        tensor_val v = s->targets[t].val,
                   d = g->active[v] ? gradient_adjoint_of(g, v) : TENSOR_NO_VAL;
        out[t] = d == TENSOR_NO_VAL
                     ? 0
                     : tensor_load(g->op, d, s->targets[t].index, s->targets[t].rank, NO_SPAN);
        if (out[t]) out[t] = gradient_under(g->op, pairs_of(g, d, &s->targets[t]), out[t]);
        any |= out[t] != 0;
    }
    return any;
}

static void through_else(gradient *g, const tensor_stage *s, const tensor_expr *targets) {
    tensor_expr *seeds = ARENA_ARRAY(g->arena, tensor_expr, s->nelse + 1);
    if (!any_active(g, s->orelse, s->nelse)) return;
    for (uint32_t t = 0; t < s->nelse; t++)
        seeds[t] = targets[t] ? gradient_of_else(g, s, targets[t]) : 0;
    uint32_t all = g->op->exprs.len;
    contribute_all(g, s, gradient_below(g, s->orelse, seeds, s->nelse), all, true);
}

bool gradient_through(gradient *g, const tensor_stage *stage) {
    const tensor_stage s = *stage;
    tensor_expr *targets = ARENA_ARRAY(g->arena, tensor_expr, s.ntargets + 1),
                *seeds = ARENA_ARRAY(g->arena, tensor_expr, s.nbody + 1);
    if (!targets_of(g, &s, targets)) return true;
    if (s.reducer == TENSOR_NO_REDUCER) memcpy(seeds, targets, s.ntargets * sizeof *seeds);
    else if (any_active(g, s.body, s.nbody) && !gradient_of_reduction(g, &s, targets, seeds))
        return false;
    uint32_t all = g->op->exprs.len;
    contribute_all(g, &s, gradient_below(g, s.body, seeds, s.nbody), all, false);
    through_else(g, &s, targets);
    return true;
}

// ---- The op -------------------------------------------------------------------------------------
// A d before the name, and as many underscores behind it as no parameter has.
static const char *adjoint_name(gradient *g, tensor_val of, uint32_t given) {
    const char *name = arena_printf(g->arena, "d%s", g->op->vals.data[of].name);
    for (tensor_val v = 0; v < g->op->vals.len; v++) {
        const tensor_val_info *i = &g->op->vals.data[v];
        bool there = (v < g->op->nparams && i->role != VAL_RESULT) ||
                     (v >= g->nvals && v < g->nvals + given);
        if (!there || strcmp(i->name, name)) continue;
        name = arena_printf(g->arena, "%s_", name);
        v = UINT32_MAX;   // from the first
    }
    return name;
}

// dy of each float result, which is where adjoints begin.
static void give(gradient *g, tensor_val *given, uint32_t *ngiven) {
    for (tensor_val v = 0; v < g->op->nparams; v++) {
        const tensor_val_info i = g->op->vals.data[v];
        if (i.role != VAL_RESULT || !ir_dtype_is_float(i.type)) continue;
        tensor_val d = add_value(g, v, adjoint_name(g, v, *ngiven), VAL_TENSOR, i.type);
        g->op->vals.data[d].adjoint_of = i.name;
        given[(*ngiven)++] = d;
        g->of[v].adjoint = d;
    }
}

// A stage that alone makes the adjoint writes the result.
static void retarget(gradient *g, tensor_val from, tensor_val to) {
    for (uint32_t i = g->nstages; i < g->op->stages.len; i++) {
        tensor_stage *s = &g->op->stages.data[i];
        if (s->targets[0].val != from) continue;
        tensor_target *t = ARENA_NEW(g->arena, tensor_target);
        *t = s->targets[0];
        t->val = to;
        s->targets = t;
        s->name = g->op->vals.data[to].name;
    }
}

// What nothing depends on has zeros.
static void push_zeros(gradient *g, tensor_val of, tensor_val to) {
    const tensor_val_info v = g->op->vals.data[of];
    gradient_term zero = {tensor_float(g->op, tensor_type_of_storage(v.type, v.into).type, 0),
                          gradient_axes(g, of), false, NULL};
    VEC_PUSH(g->arena, &g->of[of].terms, zero);
    push_sum(g, of, to, TENSOR_NO_VAL);
}

static tensor_val finish(gradient *g, tensor_val of, uint32_t given) {
    const char *name = adjoint_name(g, of, given);
    tensor_val one = g->of[of].terms.len && g->of[of].terms.data[0].sum ? alone(g, of)
                                                                        : TENSOR_NO_VAL;
    for (tensor_val v = 0; v < g->op->vals.len; v++)   // what is computed on the way gives way
        if (!strcmp(g->op->vals.data[v].name, name))
            g->op->vals.data[v].name = gradient_name(g, name, "of");
    tensor_val out = add_value(g, of, name, VAL_RESULT, g->op->vals.data[of].type);
    g->op->vals.data[out].adjoint_of = g->op->vals.data[of].name;
    if (one != TENSOR_NO_VAL) retarget(g, one, out);
    else if (g->of[of].terms.len) push_sum(g, of, out, TENSOR_NO_VAL);
    else push_zeros(g, of, out);
    return out;
}

static void begin(gradient *g, const gradient_request *r) {
    g->nvals = g->op->vals.len;
    g->nstages = g->op->stages.len;
    g->active = ARENA_ARRAY(g->arena, bool, g->nvals);
    g->of = ARENA_ARRAY(g->arena, gradient_of, g->nvals);
    g->may_give = ARENA_ARRAY(g->arena, bool, g->nvals);
    g->given = ARENA_ARRAY(g->arena, tensor_val, g->nvals);
    for (tensor_val v = 0; v < g->nvals; v++) {
        g->of[v].adjoint = g->given[v] = TENSOR_NO_VAL;
        g->op->vals.data[v].adjoint_of = NULL;   // of the op, if that is a gradient itself
    }
    for (uint32_t i = 0; i < r->nwrt; i++) g->active[r->wrt[i]] = true;
    for (uint32_t i = 0; i < r->ngiven; i++) g->may_give[r->given[i]] = true;
    find_active(g);
}

// What is handed over, results first.
static void add_given(gradient *g, tensor_val *given, uint32_t *n) {
    const uint32_t adjoints = *n;
    for (tensor_val v = 0; v < g->nvals; v++)
        if (g->given[v] != TENSOR_NO_VAL) given[(*n)++] = g->given[v];
    uint32_t results = *n - adjoints;
    tensor_val *turned = ARENA_ARRAY(g->arena, tensor_val, *n + 1);
    for (uint32_t i = 0; i < *n; i++) turned[i] = given[i < results ? adjoints + i : i - results];
    memcpy(given, turned, *n * sizeof *turned);
}

tensor_op *tensor_gradient(arena *a, diag_set *ds, const tensor_op *op, const gradient_request *r) {
    gradient g = {.arena = a, .ds = ds, .at = r->at, .op = tensor_op_copy(a, op)};
    tensor_val *given = ARENA_ARRAY(a, tensor_val, 2 * op->nparams + 1),
               *results = ARENA_ARRAY(a, tensor_val, r->nwrt + 1);
    uint32_t ngiven = 0;
    tensor_merge_sums(g.op);      // whose adjoints would have the indices of both
    tensor_hoist_rows(g.op);      // whose adjoints would be sums over points
    tensor_split_factors(g.op);   // whose adjoints would compute them again, too
    if (!gradient_write_steps(&g)) return NULL;
    begin(&g, r);
    give(&g, given, &ngiven);
    for (uint32_t s = g.nstages, first; s > 0; s = first) {
        first = s - 1;
        const uint32_t loop = g.op->stages.data[first].loop;
        while (loop != TENSOR_NO_LOOP && first && g.op->stages.data[first - 1].loop == loop)
            first--;
        const tensor_stage one = g.op->stages.data[first];
        if (loop == TENSOR_NO_LOOP ? !gradient_through(&g, &one)
                                   : !gradient_of_rounds(&g, first, s))
            return NULL;
    }
    for (uint32_t i = 0; i < r->nwrt; i++) results[i] = finish(&g, r->wrt[i], ngiven);
    add_given(&g, given, &ngiven);
    gradient_join_sums(&g);
    gradient_join_steps(&g);
    tensor_narrow(g.op);
    tensor_op *made = gradient_keep(&g, &(gradient_kept){.name = r->name,
                                                         .given = given,
                                                         .results = results,
                                                         .ngiven = ngiven,
                                                         .nresults = r->nwrt,
                                                         .saved = r->saved,
                                                         .nsaved = r->nsaved});
    made->gradient_of = op->name;
    return made;
}

// What is kept in another type is a copy: the op itself goes on with what it computed.
static gradient_saved in_its_type(gradient *g, gradient_saved x) {
    const tensor_val_info *v = &g->op->vals.data[x.val];
    const bool softmax = x.sum != TENSOR_NO_VAL;
    if (v->type == x.type && !softmax) return x;
    const char *name = softmax ? gradient_name(g, gradient_saved_name(g->arena, g->op, &x), NULL)
                               : gradient_name(g, v->name, "saved");
    tensor_val copy = add_value(g, x.val, name, VAL_STAGE, v->type);
    const tensor_var *vars = gradient_axes(g, x.val);
    uint32_t rank = g->op->vals.data[copy].rank;
    const tensor_expr *index = gradient_index_of(g, vars, rank);
    tensor_expr value = tensor_load(g->op, x.val, index, rank, NO_SPAN);
    if (softmax) {
        tensor_expr sum = tensor_load(g->op, x.sum, index, rank, NO_SPAN);
        value = tensor_binary(g->op, TENSOR_ADD_OP, value,
                              tensor_unary(g->op, TENSOR_LOG_OP, sum, NO_SPAN), NO_SPAN);
    }
    gradient_term term = {value, vars, false, NULL};
    VEC_PUSH(g->arena, &g->of[x.val].terms, term);
    push_sum(g, x.val, copy, TENSOR_NO_VAL);
    return (gradient_saved){copy, x.type, TENSOR_NO_VAL};
}

tensor_op *tensor_saving(arena *a, const tensor_op *op, const char *name,
                         const gradient_saved *saved, uint32_t nsaved) {
    gradient g = {.arena = a, .at = op->at, .op = tensor_op_copy(a, op)};
    gradient_saved *as = ARENA_ARRAY(a, gradient_saved, nsaved + 1);
    begin(&g, &(gradient_request){.name = name, .at = op->at});
    for (uint32_t i = 0; i < nsaved; i++) as[i] = in_its_type(&g, saved[i]);
    tensor_val *results = ARENA_ARRAY(a, tensor_val, op->nparams + 1);
    uint32_t n = 0;
    for (tensor_val v = 0; v < op->nparams; v++)
        if (op->vals.data[v].role == VAL_RESULT) results[n++] = v;
    return gradient_keep(&g, &(gradient_kept){.name = name,
                                              .results = results,
                                              .nresults = n,
                                              .saved = as,
                                              .nsaved = nsaved,
                                              .saves = true});
}
