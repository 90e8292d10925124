// A reduction over rows by what a choice of each row is taken to: the chosen points are reduced
// instead, as maps take those to their rows, and can be walked.
//     best[v] = argmax {e : dst[e] == v} (t[e], e)
//     dx[u, f] = sum {v : src[best[v]] == u} dy[v, f] * t[best[v]]
//  →  dx[u, f] = sum {e : src[e] == u, best[dst[e]] == e} dy[dst[e], f] * t[e]
// A point is chosen by the row alone that its keys take it to, so both name the same terms; what
// chooses nothing has no key, and no point. The order of the terms is another one.
#include "passes.h"
#include "tensor/tensor.h"
#include "base/base.h"

// ---- Choices ------------------------------------------------------------------------------------
typedef struct {
    tensor_stage by;           // what chooses
    tensor_val val;            // best
    tensor_var point;          // e, over which it reduces
    const tensor_expr *rows;   // dst[e], for each index of best
} choice;

static bool all_total(const tensor_op *op, tensor_expr e) {
    const tensor_node *n = tensor_node_at(op, e);
    bool total = n->op == TENSOR_VAR_OP || n->op == TENSOR_LOAD_OP;
    if (n->op == TENSOR_LOAD_OP) {
        const tensor_val_info *v = &op->vals.data[n->imm.i];
        total = v->role == VAL_MAP && !(v->facts & (FACT_PARTIAL | FACT_PREFIX));
    }
    for (uint32_t i = 0; i < n->nargs && total; i++) total = all_total(op, n->args[i]);
    return total;
}

// One of the components i of the states that are combined, or none.
static bool picks(const tensor_op *op, tensor_expr e, uint32_t i) {
    const tensor_node *n = tensor_node_at(op, e);
    switch ((tensor_opcode)n->op) {
    case TENSOR_NONE_OP: return true;
    case TENSOR_LEFT_OP:
    case TENSOR_RIGHT_OP: return n->imm.i == i;
    case TENSOR_MIN_OP:
    case TENSOR_MAX_OP: return picks(op, n->args[0], i) && picks(op, n->args[1], i);
    case TENSOR_SELECT_OP: return picks(op, n->args[1], i) && picks(op, n->args[2], i);
    default: return false;
    }
}

// The argument of which a reducer returns that of one of the points, or none; false: it does not.
static bool picked(const tensor_op *op, const tensor_reducer *r, uint32_t *argument) {
    const tensor_node *n = tensor_node_at(op, r->finish[0]);
    if (r->nresults != 1 || n->op != TENSOR_LEFT_OP) return false;
    const uint32_t i = (uint32_t)n->imm.i;
    const tensor_node *lift = tensor_node_at(op, r->lift[i]);
    *argument = (uint32_t)lift->imm.i;
    return lift->op == TENSOR_ARG_OP && tensor_node_at(op, r->identity[i])->op == TENSOR_NONE_OP &&
           picks(op, r->combine[i], i);
}

static bool is_var(const tensor_op *op, tensor_expr e, tensor_var *v) {
    const tensor_node *n = tensor_node_at(op, e);
    *v = (tensor_var)n->imm.i;
    return n->op == TENSOR_VAR_OP;
}

// What a key says that the left-hand variable is at a point; 0: none does.
static tensor_expr row_of(const tensor_op *op, const tensor_stage *st, tensor_var row) {
    tensor_var v;
    for (uint32_t k = 0; k < st->nkeys; k++)
        if (is_var(op, st->keys[k].rhs, &v) && v == row)
            return all_total(op, st->keys[k].lhs) ? st->keys[k].lhs : 0;
    return 0;
}

static bool choice_of(const planner *p, uint32_t stage, choice *c) {
    const tensor_op *op = p->op;
    const tensor_stage *st = &op->stages.data[stage];
    tensor_var v;
    uint32_t argument;
    if (st->reducer == TENSOR_NO_REDUCER || st->nbound != 1 || st->loop != TENSOR_NO_LOOP ||
        st->nelse || st->ntargets != 1 || st->targets[0].rank != st->nleft)
        return false;
    if (!picked(op, &op->reducers.data[st->reducer], &argument) ||
        !is_var(op, st->body[argument], &v) || v != st->bound[0])
        return false;
    tensor_expr *rows = ARENA_ARRAY(p->arena, tensor_expr, st->nleft + 1);
    for (uint32_t i = 0; i < st->nleft; i++) {
        if (!is_var(op, st->targets[0].index[i], &v)) return false;
        rows[i] = row_of(op, st, v);
        if (!rows[i]) return false;
    }
    *c = (choice){*st, st->targets[0].val, st->bound[0], rows};
    return st->nleft > 0;
}

// ---- Keys ---------------------------------------------------------------------------------------
static bool binds(const tensor_stage *st, tensor_var v) {
    bool bound = false;
    for (uint32_t i = 0; i < st->nbound; i++) bound |= st->bound[i] == v;
    return bound;
}

// src[best[v]]: maps alone take what is chosen to the row, and v is reduced; gives best[v].
static const tensor_node *chosen_in(const tensor_op *op, const tensor_stage *st, tensor_val best,
                                    tensor_expr key) {
    const tensor_node *n = tensor_node_at(op, key);
    tensor_var v, w;
    while (n->op == TENSOR_LOAD_OP && n->nargs == 1 && (tensor_val)n->imm.i != best) {
        if (op->vals.data[n->imm.i].role != VAL_MAP) return NULL;
        n = tensor_node_at(op, n->args[0]);
    }
    if (n->op != TENSOR_LOAD_OP || (tensor_val)n->imm.i != best) return NULL;
    for (uint32_t i = 0; i < n->nargs; i++) {
        if (!is_var(op, n->args[i], &v) || !binds(st, v)) return NULL;
        for (uint32_t k = 0; k < i; k++)
            if (is_var(op, n->args[k], &w) && w == v) return NULL;
    }
    return n;
}

// The maps that take what is chosen to the row take each point there.
static bool maps_total(const tensor_op *op, tensor_expr key, tensor_val best) {
    const tensor_node *n = tensor_node_at(op, key);
    bool total = true;
    for (; (tensor_val)n->imm.i != best; n = tensor_node_at(op, n->args[0]))
        total &= !(op->vals.data[n->imm.i].facts & FACT_PARTIAL);
    return total;
}

static bool mentions_one(const tensor_op *op, tensor_expr e, const tensor_node *load) {
    bool any = false;
    for (uint32_t i = 0; i < load->nargs; i++)
        any |= tensor_mentions(op, e, (tensor_var)tensor_node_at(op, load->args[i])->imm.i);
    return any;
}

// The key that looks at every row; none other leads there from the rows.
static const tensor_node *chosen_key(const tensor_op *op, const tensor_stage *st, tensor_val best,
                                     uint32_t *key) {
    const tensor_node *found = NULL;
    for (uint32_t k = 0; k < st->nkeys && !found; k++) {
        found = chosen_in(op, st, best, st->keys[k].lhs);
        *key = k;
    }
    for (uint32_t k = 0; k < st->nkeys && found; k++)
        if (k != *key && mentions_one(op, st->keys[k].lhs, found)) return NULL;
    return found;
}

// A guarded one, `best[v] != none && src[best[v]] == u`, tests each row, and is a key of points.
// Gives the stage with it.
static tensor_stage with_key(planner *p, const tensor_stage *st, tensor_val best) {
    tensor_stage made = *st;
    tensor_key *keys = ARENA_ARRAY(p->arena, tensor_key, st->nkeys + st->nfilters + 1);
    tensor_expr *filters = ARENA_ARRAY(p->arena, tensor_expr, st->nfilters + 1);
    for (uint32_t k = 0; k < st->nkeys; k++) keys[k] = st->keys[k];
    made.keys = keys, made.filters = filters, made.nfilters = 0;
    for (uint32_t i = 0; i < st->nfilters; i++) {
        const tensor_node *n = tensor_node_at(p->op, st->filters[i]);
        tensor_var v;
        bool key = n->op == TENSOR_EQ_OP && is_var(p->op, n->args[1], &v) && !binds(st, v) &&
                   chosen_in(p->op, st, best, n->args[0]) && maps_total(p->op, n->args[0], best);
        if (key) keys[made.nkeys++] = (tensor_key){n->args[0], n->args[1]};
        else filters[made.nfilters++] = st->filters[i];
    }
    return made;
}

// ---- Points instead of rows ---------------------------------------------------------------------
typedef struct {
    const planner *p;
    const tensor_node *load;   // best[v]
    tensor_expr point;         // e
} putting;

static tensor_expr put_point(void *user, tensor_expr e) {
    const putting *r = user;
    const tensor_node *n = tensor_node_at(r->p->op, e);
    bool same = n->imm.i == r->load->imm.i;
    for (uint32_t i = 0; i < n->nargs && same; i++) same = n->args[i] == r->load->args[i];
    return same ? r->point : e;
}

static tensor_expr *at_point(planner *p, const choice *c, tensor_expr point) {
    tensor_expr *by = ARENA_ARRAY(p->arena, tensor_expr, p->op->vars.len + 1);
    by[c->point] = point;
    tensor_expr *rows = ARENA_ARRAY(p->arena, tensor_expr, c->by.nleft + 1);
    for (uint32_t i = 0; i < c->by.nleft; i++) rows[i] = *plan_substitute(p, &c->rows[i], 1, by);
    return rows;
}

// What is left to be reduced: the rows go, and the point comes in place of the first.
static void bind(planner *p, tensor_stage *st, const tensor_expr *by, tensor_var point) {
    tensor_var *bound = ARENA_ARRAY(p->arena, tensor_var, st->nbound + 1);
    uint32_t n = 0;
    bool there = point == UINT32_MAX;
    for (uint32_t i = 0; i < st->nbound; i++)
        if (!by[st->bound[i]]) bound[n++] = st->bound[i];
        else if (!there) bound[n++] = point, there = true;
    st->bound = bound, st->nbound = n;
}

// best[dst[e]] == e before what else holds; that e is none never does.
static void must_be_chosen(planner *p, tensor_stage *st, tensor_expr best, tensor_expr point) {
    tensor_expr *filters = ARENA_ARRAY(p->arena, tensor_expr, st->nfilters + 1);
    uint32_t n = 0;
    filters[n++] = tensor_binary(p->op, TENSOR_EQ_OP, best, point, NO_SPAN);
    for (uint32_t i = 0; i < st->nfilters; i++) {
        const tensor_node *f = tensor_node_at(p->op, st->filters[i]);
        bool some = f->op == TENSOR_NE_OP && f->args[0] == point &&
                    tensor_node_at(p->op, f->args[1])->op == TENSOR_NONE_OP;
        if (!some) filters[n++] = st->filters[i];
    }
    st->filters = filters, st->nfilters = n;
}

// A sum of nothing but the one point that the row itself is.
static void sum_of_one(planner *p, tensor_stage *st) {
    tensor_expr *body = ARENA_NEW(p->arena, tensor_expr);
    *body = st->body[0];
    const tensor_expr zero = p->op->reducers.data[st->reducer].identity[0];
    for (uint32_t i = st->nfilters; i-- > 0;)
        *body = tensor_select(p->op, st->filters[i], *body, zero, NO_SPAN);
    st->body = body;
    st->reducer = TENSOR_NO_REDUCER;
    st->nbound = st->nkeys = st->nfilters = 0;
}

static void by_points(planner *p, uint32_t stage, const choice *c, const tensor_node load,
                      uint32_t key) {
    const bool itself = tensor_node_at(p->op, p->op->stages.data[stage].keys[key].lhs)->imm.i ==
                        load.imm.i;
    tensor_var e = UINT32_MAX;
    tensor_expr point = p->op->stages.data[stage].keys[key].rhs;
    if (!itself) {
        const tensor_var_info v = p->op->vars.data[c->point];
        e = tensor_add_var(p->op, arena_printf(p->arena, "%s_chosen", v.name), v.space);
        point = tensor_var_expr(p->op, e, NO_SPAN);
    }
    plan_replace_loads(p, stage, put_point, &(putting){p, &load, point});
    tensor_stage st = p->op->stages.data[stage];
    const tensor_expr *rows = at_point(p, c, point);
    tensor_expr *by = ARENA_ARRAY(p->arena, tensor_expr, p->op->vars.len + 1);
    for (uint32_t i = 0; i < load.nargs; i++)
        by[tensor_node_at(p->op, load.args[i])->imm.i] = rows[i];
    tensor_key *keys = ARENA_ARRAY(p->arena, tensor_key, st.nkeys + 1);
    uint32_t nkeys = 0;
    for (uint32_t k = 0; k < st.nkeys; k++)
        if (!itself || k != key)
            keys[nkeys++] = (tensor_key){*plan_substitute(p, &st.keys[k].lhs, 1, by),
                                         *plan_substitute(p, &st.keys[k].rhs, 1, by)};
    st.keys = keys, st.nkeys = nkeys;
    st.body = plan_substitute(p, st.body, st.nbody, by);
    st.filters = plan_substitute(p, st.filters, st.nfilters, by);
    must_be_chosen(p, &st, tensor_load(p->op, c->val, rows, load.nargs, NO_SPAN), point);
    bind(p, &st, by, e);
    if (!st.nbound) sum_of_one(p, &st);
    p->op->stages.data[stage] = st;
}

// Whether the terms of a stage may come in another order, and one of its own where it is left with
// a single point.
static bool may_turn(const planner *p, const tensor_stage *st, const tensor_node *load,
                     uint32_t key) {
    const tensor_op *op = p->op;
    tensor_var v;
    const tensor_reducer *r = &op->reducers.data[st->reducer];
    const bool itself = tensor_node_at(op, st->keys[key].lhs)->imm.i == load->imm.i;
    if (st->loop != TENSOR_NO_LOOP || !r->commutative) return false;
    return !itself || (is_var(op, st->keys[key].rhs, &v) && !binds(st, v) &&
                       (st->nbound > load->nargs || r->kind == REDUCE_SUM) && !st->nelse);
}

bool plan_chosen(planner *p) {
    bool any = false;
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        choice c;
        if (!choice_of(p, i, &c)) continue;
        for (uint32_t k = i + 1; k < p->op->stages.len; k++) {
            uint32_t key;
            const tensor_stage st = with_key(p, &p->op->stages.data[k], c.val);
            const tensor_node *load = chosen_key(p->op, &st, c.val, &key);
            if (!load || !may_turn(p, &st, load, key)) continue;
            p->op->stages.data[k] = st;
            by_points(p, k, &c, *load, key);
            any = true;
        }
    }
    return any;
}
