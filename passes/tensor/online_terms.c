// Sums of a walk without what is known only after it: terms are products of what an edge has and of
// what the row will have, which is taken times the sum of the former. Sums of several such products
// become several sums.
//     dq[v] = sum {e} (da[e] + d[v]) * k[src[e]]
//  →  dq.reduced[v] = sum {e} da[e] * k[src[e]]    dq.reduced.2[v] = sum {e} k[src[e]]
//     dq[v] = dq.reduced[v] + d[v] * dq.reduced.2[v]
#include "tensor/tensor.h"
#include "base/base.h"
#include "kernels/kernels.h"

#include <math.h>

enum { MOST_TERMS = 4, MOST_NUMBER = 256 };

typedef struct {
    tensor_expr factor, own;   // of the row, of the edge; 0: 1
} row_term;
typedef VEC(row_term) row_terms;
typedef struct {   // their sum, times
    row_terms terms;
    tensor_expr common, outer;   // what the edge has, and the row; 0: 1
} split_terms;

typedef struct {   // of what is known before the walk
    bool met;
    tensor_expr common, outer;
} known_parts;

typedef struct {
    planner *p;
    const schedule_cell *fuse;
    uint32_t stage;
    tensor_expr where;   // edges of which a choice takes the terms at all; 0: all
    bool closed;         // that choice is behind
    uint32_t nchoices;   // of one or the other, around
    bool failed;
    uint32_t asked;          // how often an expression was split that is not known before the walk
    known_parts *parts[2];   // per expression, without and with choices around
} taking;

// ---- What is known when -------------------------------------------------------------------------
typedef struct {
    const taking *t;
    bool any, final;   // what the walk finds, and rows make of that; known after it
} reading;

static bool visit(void *user, const tensor_node *load) {
    reading *r = user;
    const planner *p = r->t->p;
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        const tensor_stage *st = plan_stage(r->t->p, i);
        bool is = false;
        for (uint32_t k = 0; k < st->ntargets; k++)
            is |= st->targets[k].val == (tensor_val)load->imm.i;
        if (!is || i == r->t->stage) continue;
        bool final = plan_final_after(p, r->t->fuse, i);
        r->any |= final || plan_walks_at(p, r->t->fuse, i);
        r->final |= final;
    }
    return true;
}

static reading read_in(const taking *t, tensor_expr e) {
    reading r = {.t = t};
    tensor_stage only = {.nbody = 1, .body = &e};
    plan_loads(t->p, &only, visit, &r);
    return r;
}

static bool of_row(const taking *t, tensor_expr e) {
    return !plan_mentions(t->p, e, plan_stage(t->p, t->stage)->bound[0]);
}

// ---- Terms --------------------------------------------------------------------------------------
static tensor_expr number(const taking *t, tensor_expr like, double x) {
    tensor_op *o = t->p->op;
    return tensor_cvt(o, tensor_typeof(o, like), tensor_float(o, DT_F64, x), NO_SPAN);
}

static bool is_zero(const taking *t, tensor_expr e) {
    const tensor_node *n = tensor_node_at(t->p->op, e);
    return n->op == TENSOR_CONST_OP && ir_dtype_is_float(n->type.type) && n->imm.f == 0;
}

static tensor_expr times(taking *t, tensor_expr x, tensor_expr y) {
    return x && y ? tensor_binary(t->p->op, TENSOR_MUL_OP, x, y, NO_SPAN) : x ? x : y;
}

static void add(taking *t, row_terms *to, tensor_expr factor, tensor_expr own) {
    VEC_PUSH(t->p->arena, to, ((row_term){factor, own}));
}

static split_terms split(taking *t, tensor_expr e);

static split_terms one_term(taking *t, tensor_expr common, tensor_expr outer) {
    split_terms all = {.common = common, .outer = outer};
    add(t, &all.terms, 0, 0);
    return all;
}

static split_terms give_up(taking *t, tensor_expr e) {
    t->failed = true;
    return one_term(t, e, 0);
}

static split_terms product(taking *t, const tensor_node *n) {
    split_terms x = split(t, n->args[0]), y = split(t, n->args[1]), all = {0};
    for (uint32_t i = 0; i < x.terms.len; i++)
        for (uint32_t k = 0; k < y.terms.len; k++)
            add(t, &all.terms, times(t, x.terms.data[i].factor, y.terms.data[k].factor),
                times(t, x.terms.data[i].own, y.terms.data[k].own));
    all.common = times(t, x.common, y.common);
    all.outer = times(t, x.outer, y.outer);
    return all;
}

// What the row knows before the walk stays with its terms: where it is infinite, so are they, and
// their sum may be no number.
static bool is_plain_number(const taking *t, tensor_expr e) {
    double x;
    // products of several stay finite
    return plan_number(t->p, e, &x) && fabs(x) <= MOST_NUMBER && fabs(x) >= 1.0 / MOST_NUMBER;
}

static split_terms quotient(taking *t, tensor_expr e, const tensor_node *n) {
    reading r = read_in(t, n->args[1]);
    bool row = of_row(t, n->args[1]);
    if (!row && r.any) return give_up(t, e);
    split_terms all = split(t, n->args[0]);
    tensor_expr *x = row && (r.any || is_plain_number(t, n->args[1])) ? &all.outer : &all.common;
    *x = tensor_binary(t->p->op, TENSOR_DIV_OP, *x ? *x : number(t, n->args[1], 1), n->args[1],
                       n->at);
    return all;
}

// What one side has in common stays with its terms.
static void add_side(taking *t, row_terms *to, const split_terms *side, bool negative) {
    for (uint32_t i = 0; i < side->terms.len; i++) {
        const row_term *x = &side->terms.data[i];
        tensor_expr own = times(t, x->own, side->common), factor = times(t, x->factor, side->outer);
        if (negative && factor) factor = tensor_unary(t->p->op, TENSOR_NEG_OP, factor, NO_SPAN);
        else if (negative && own) own = tensor_unary(t->p->op, TENSOR_NEG_OP, own, NO_SPAN);
        add(t, to, factor, own);
    }
}

static split_terms both(taking *t, const tensor_node *n) {
    split_terms x = split(t, n->args[0]), y = split(t, n->args[1]), all = {0};
    add_side(t, &all.terms, &x, false);
    add_side(t, &all.terms, &y, n->op == TENSOR_SUB_OP);
    return all;
}

// 0 where something of the edge does not hold, on one side or the other.
static bool is_choice(const taking *t, const tensor_node *n, bool *other) {
    *other = n->op == TENSOR_SELECT_OP && is_zero(t, n->args[1]);
    return n->op == TENSOR_SELECT_OP && !read_in(t, n->args[0]).any &&
           (*other || is_zero(t, n->args[2]));
}

static split_terms choice(taking *t, const tensor_node *n, bool other) {
    tensor_op *o = t->p->op;
    tensor_expr c = other ? tensor_unary(o, TENSOR_NOT_OP, n->args[0], n->at) : n->args[0],
                zero = n->args[other ? 1 : 2];
    t->where = t->where ? tensor_binary(o, TENSOR_AND_OP, t->where, c, n->at) : c;
    split_terms all = split(t, n->args[other ? 2 : 1]);
    t->closed = true;   // a factor of one choice and one of another would not be of the same edges
    // of edges left out nothing is taken, not even times 0
    for (uint32_t i = 0; i < all.terms.len; i++) {
        tensor_expr *own = &all.terms.data[i].own, x = times(t, *own, all.common);
        if (!x) x = number(t, zero, 1);
        *own = tensor_select(o, n->args[0], other ? zero : x, other ? x : zero, n->at);
    }
    all.common = 0;
    return all;
}

static tensor_expr own_of(taking *t, const row_terms *of, tensor_expr factor, tensor_expr like) {
    tensor_expr own = number(t, like, 0), one = number(t, like, 1);
    for (uint32_t i = 0; i < of->len; i++)
        if (of->data[i].factor == factor) own = of->data[i].own ? of->data[i].own : one;
    return own;
}

static row_terms merged(taking *t, const row_terms *all);

static bool has_factor(const row_terms *of, tensor_expr factor) {
    for (uint32_t i = 0; i < of->len; i++)
        if (of->data[i].factor == factor) return true;
    return false;
}

// Edges of which the one or the other has terms.
static tensor_expr where_of(taking *t, const tensor_node *n, tensor_expr one, tensor_expr other) {
    tensor_op *o = t->p->op;
    if (one == other) return one;
    tensor_expr not = tensor_unary(o, TENSOR_NOT_OP, n->args[0], n->at),
                x = one ? tensor_binary(o, TENSOR_AND_OP, n->args[0], one, n->at) : n->args[0],
                y = other ? tensor_binary(o, TENSOR_AND_OP, not, other, n->at) : not;
    return tensor_binary(o, TENSOR_OR_OP, x, y, n->at);
}

// One or the other, by something of the edge: for each factor what either has with it.
static split_terms either(taking *t, const tensor_node *n) {
    const taking before = *t;
    t->nchoices++;
    split_terms x = split(t, n->args[1]), all = {0};
    const taking after = *t;
    t->where = before.where;
    t->closed = before.closed;
    split_terms y = split(t, n->args[2]);
    t->where = where_of(t, n, after.where, t->where);
    t->closed |= after.closed;
    t->nchoices--;
    row_terms one = {0}, other = {0}, both = {0};
    add_side(t, &one, &x, false);
    add_side(t, &other, &y, false);
    one = merged(t, &one);
    other = merged(t, &other);
    for (uint32_t i = 0; i < one.len; i++) add(t, &both, one.data[i].factor, 0);
    for (uint32_t i = 0; i < other.len; i++)
        if (!has_factor(&one, other.data[i].factor)) add(t, &both, other.data[i].factor, 0);
    // else an infinite one would count where it is not taken
    for (uint32_t i = 0; i < both.len; i++) {
        tensor_expr factor = both.data[i].factor;
        t->failed |= factor && !(has_factor(&one, factor) && has_factor(&other, factor));
    }
    for (uint32_t i = 0; i < both.len; i++)
        add(t, &all.terms, both.data[i].factor,
            tensor_select(t->p->op, n->args[0], own_of(t, &one, both.data[i].factor, n->args[1]),
                          own_of(t, &other, both.data[i].factor, n->args[1]), n->at));
    return all;
}

static split_terms negative(taking *t, const tensor_node *n) {
    split_terms all = split(t, n->args[0]);
    tensor_expr *x = all.outer ? &all.outer : &all.common;
    *x = *x ? tensor_unary(t->p->op, TENSOR_NEG_OP, *x, n->at) : number(t, n->args[0], -1);
    return all;
}

static tensor_expr wider(taking *t, tensor_type type, tensor_expr x) {
    return x ? tensor_cvt(t->p->op, type, x, NO_SPAN) : 0;
}

static split_terms converted(taking *t, const tensor_node *n) {
    split_terms all = split(t, n->args[0]);
    for (uint32_t i = 0; i < all.terms.len; i++) {
        row_term *x = &all.terms.data[i];
        *x = (row_term){wider(t, n->type, x->factor), wider(t, n->type, x->own)};
    }
    all.common = wider(t, n->type, all.common);
    all.outer = wider(t, n->type, all.outer);
    return all;
}

// What matrix operations multiply is what the edge has of it, so that is what they round.
static split_terms rounded(taking *t, const tensor_node *n) {
    split_terms all = split(t, n->args[0]);
    for (uint32_t i = 0; i < all.terms.len; i++) {
        tensor_expr *own = &all.terms.data[i].own, x = times(t, *own, all.common);
        tensor_node as = *n;
        as.args = &x;
        *own = x ? tensor_node_new(t->p->op, as) : 0;
    }
    all.common = 0;
    return all;
}

static bool rounds(const tensor_node *n) {
    return n->op == TENSOR_ROUND_OP || n->op == TENSOR_TF32_OP || n->op == TENSOR_PARTS_OP;
}

static split_terms split_as_read(taking *t, tensor_expr e, reading r) {
    const tensor_node n = *tensor_node_at(t->p->op, e);
    bool other;
    if (of_row(t, e) && (r.final || (!t->nchoices && is_plain_number(t, e))))
        return one_term(t, 0, e);
    if (n.op == TENSOR_MUL_OP) return product(t, &n);
    if (n.op == TENSOR_DIV_OP) return quotient(t, e, &n);
    if (!r.any) return one_term(t, e, 0);
    if (is_choice(t, &n, &other)) return t->closed ? give_up(t, e) : choice(t, &n, other);
    if (!r.final) return one_term(t, e, 0);
    if (n.op == TENSOR_ADD_OP || n.op == TENSOR_SUB_OP) return both(t, &n);
    if (n.op == TENSOR_SELECT_OP && !read_in(t, n.args[0]).any) return either(t, &n);
    if (n.op == TENSOR_NEG_OP) return negative(t, &n);
    if (rounds(&n)) return rounded(t, &n);
    bool widens = n.op == TENSOR_CVT_OP &&
                  ir_dtype_holds(n.type.type, tensor_typeof(t->p->op, n.args[0]).type);
    return widens ? converted(t, &n) : give_up(t, e);
}

// What many arguments share is split once, where no choice of the walk's takes part.
static split_terms split(taking *t, tensor_expr e) {
    enum { MOST = 1 << 14 };   // of powers of powers there are countless terms
    const reading r = read_in(t, e);
    if (r.any) return t->asked++ < MOST ? split_as_read(t, e, r) : give_up(t, e);
    known_parts *x = &t->parts[t->nchoices > 0][e];
    if (!x->met) {
        const split_terms all = split_as_read(t, e, r);
        *x = (known_parts){true, all.common, all.outer};
    }
    split_terms all = one_term(t, x->common, x->outer);
    return all;
}

// Terms with one factor are one.
static row_terms merged(taking *t, const row_terms *all) {
    row_terms out = {0};
    for (uint32_t i = 0; i < all->len; i++) {
        row_term x = all->data[i];
        uint32_t k = 0;
        while (k < out.len && out.data[k].factor != x.factor) k++;
        if (k == out.len) add(t, &out, x.factor, x.own);
        else {
            tensor_expr one = number(t, plan_stage(t->p, t->stage)->body[0], 1),
                        *own = &out.data[k].own;
            *own = tensor_binary(t->p->op, TENSOR_ADD_OP, *own ? *own : one, x.own ? x.own : one,
                                 NO_SPAN);
        }
    }
    return out;
}

// ---- Rows without edges -------------------------------------------------------------------------
static tensor_expr at_nothing(const taking *t, tensor_expr e);

static tensor_expr load_at_nothing(const taking *t, tensor_expr e, const tensor_node *n) {
    const planner *p = t->p;
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        const tensor_stage *st = plan_stage(t->p, i);
        if (st->ntargets != 1 || st->targets[0].val != (tensor_val)n->imm.i) continue;
        if (plan_final_after(p, t->fuse, i) && st->reducer == TENSOR_NO_REDUCER)
            return at_nothing(t, st->body[0]);
        if (!plan_walks_at(p, t->fuse, i)) continue;
        const tensor_reducer *r = &p->op->reducers.data[st->reducer];
        if (plan_sums_wide(p, st)) return number(t, e, 0);
        return r->kind == REDUCE_MAX ? number(t, e, (double)-INFINITY) : e;
    }
    return e;
}

// What an expression of a row is where the walk finds nothing, as far as that is known.
static tensor_expr at_nothing(const taking *t, tensor_expr e) {
    tensor_op *o = t->p->op;
    tensor_node n = *tensor_node_at(o, e);
    tensor_expr x[3] = {0};
    if (n.op == TENSOR_LOAD_OP) return load_at_nothing(t, e, &n);
    if (!n.nargs || n.nargs > 3) return e;
    for (uint32_t i = 0; i < n.nargs; i++) x[i] = at_nothing(t, n.args[i]);
    if (n.op == TENSOR_SELECT_OP) return tensor_select(o, x[0], x[1], x[2], n.at);
    if (n.op == TENSOR_CVT_OP) return tensor_cvt(o, n.type, x[0], n.at);
    if (n.op == TENSOR_STOP_OP) return x[0];
    if (n.nargs == 2) return tensor_binary(o, (tensor_opcode)n.op, x[0], x[1], n.at);
    return n.op == TENSOR_NEG_OP || n.op == TENSOR_NOT_OP
               ? tensor_unary(o, (tensor_opcode)n.op, x[0], n.at)
               : e;
}

static bool is_finite(const taking *t, tensor_expr e) {
    const tensor_node *n = tensor_node_at(t->p->op, at_nothing(t, e));
    return n->op == TENSOR_CONST_OP && ir_dtype_is_float(n->type.type) && isfinite(n->imm.f);
}

// ---- Stages -------------------------------------------------------------------------------------
static tensor_expr *vars_of(const planner *p) {
    return ARENA_ARRAY(p->arena, tensor_expr, p->op->vars.len + 1);
}

// The reduction of a body by a reducer into a value of its own, with variables of its own, over so
// many of the stage's left ones; a load of the value at the stage's own variables.
static tensor_expr reduce(planner *p, uint32_t at, const tensor_stage *of, uint32_t nleft,
                          uint32_t reducer, tensor_expr body, const char *what) {
    tensor_type held = p->op->reducers.data[reducer].state_types[0];
    tensor_expr *vars = vars_of(p), *index = ARENA_ARRAY(p->arena, tensor_expr, nleft + 1),
                *here = ARENA_ARRAY(p->arena, tensor_expr, nleft + 1);
    tensor_space *axes = ARENA_ARRAY(p->arena, tensor_space, nleft + 1);
    tensor_stage st = *of;
    st.nleft = nleft;
    st.left = plan_own_vars(p, of->left, nleft, vars);
    st.bound = plan_own_vars(p, of->bound, of->nbound, vars);
    tensor_key *keys = ARENA_ARRAY(p->arena, tensor_key, of->nkeys + 1);
    for (uint32_t k = 0; k < of->nkeys; k++)
        keys[k] = (tensor_key){*plan_substitute(p, &of->keys[k].lhs, 1, vars),
                               *plan_substitute(p, &of->keys[k].rhs, 1, vars)};
    for (uint32_t i = 0; i < nleft; i++) {
        axes[i] = p->op->vars.data[of->left[i]].space;
        index[i] = tensor_var_expr(p->op, st.left[i], NO_SPAN);
        here[i] = tensor_var_expr(p->op, of->left[i], NO_SPAN);
    }
    st.keys = keys;
    st.filters = plan_substitute(p, of->filters, of->nfilters, vars);
    st.body = plan_substitute(p, &body, 1, vars);
    st.reducer = reducer;
    st.name = plan_name_inside(p, of->name, what);
    st.marks = 0;
    tensor_target *target = ARENA_NEW(p->arena, tensor_target);
    target->val = plan_stage_val(p, st.name, held, axes, nleft, of->at);
    target->rank = nleft;
    target->index = index;
    st.targets = target;
    plan_put_stage(p, at, st);
    return tensor_load(p->op, target->val, here, nleft, of->at);
}

// Whether a row has an edge that has the terms, over those of its indices that say so; 0: it makes
// no difference.
static tensor_expr any_chosen(const taking *t, uint32_t at, const tensor_stage *of,
                              const split_terms *all) {
    planner *p = t->p;
    bool finite = !all->outer || is_finite(t, all->outer);
    for (uint32_t i = 0; i < all->terms.len; i++)
        finite = finite && (!all->terms.data[i].factor || is_finite(t, all->terms.data[i].factor));
    if (!t->where && finite) return 0;
    tensor_expr where = t->where ? t->where : tensor_bool(p->op, true);
    uint32_t nleft = of->nleft;
    while (nleft > 1 && !plan_mentions(p, where, of->left[nleft - 1])) nleft--;
    uint32_t any = tensor_builtin_reducer(p->op, REDUCE_ANY, TENSOR_TYPE(BOOL));
    return reduce(p, at, of, nleft, any, where, "chosen");
}

// Or NaN where a maximum that some term needed is.
static tensor_expr or_nan(const taking *t, const tensor_stage *of, tensor_expr x) {
    tensor_op *o = t->p->op;
    for (uint32_t i = 0; i < o->stages.len && t->where; i++) {
        tensor_expr m = plan_is_online(t->p, i) && plan_walks_at(t->p, t->fuse, i)
                            ? loop_load_of(o, of->body[0], o->stages.data[i].targets[0].val)
                            : 0;
        if (!m) continue;
        tensor_expr nan = tensor_binary(o, TENSOR_NE_OP, m, m, NO_SPAN);
        x = tensor_select(o, nan, tensor_cvt(o, tensor_typeof(o, x), m, NO_SPAN), x, NO_SPAN);
    }
    return x;
}

static tensor_expr plus(const taking *t, tensor_expr x, tensor_expr y) {
    return x ? tensor_binary(t->p->op, TENSOR_ADD_OP, x, y, NO_SPAN) : y;
}

// A sum that is taken times an infinite factor and then meets another is what differences of
// infinities would be.
static tensor_expr or_infinite(const taking *t, tensor_expr value, tensor_expr factor) {
    tensor_op *o = t->p->op;
    tensor_expr zero = number(t, factor, 0),
                // NaN where it is infinite
        nothing = tensor_binary(o, TENSOR_MUL_OP, factor, zero, NO_SPAN);
    return tensor_select(o, tensor_binary(o, TENSOR_EQ_OP, nothing, nothing, NO_SPAN), value,
                         nothing, NO_SPAN);
}

static tensor_expr times_factor(const taking *t, tensor_expr x, tensor_expr factor) {
    tensor_op *o = t->p->op;
    if (!factor) return x;
    return tensor_binary(o, TENSOR_MUL_OP, x, tensor_cvt(o, tensor_typeof(o, x), factor, NO_SPAN),
                         NO_SPAN);
}

// Where no edge has the terms nothing is taken times the factors, whatever they are.
static tensor_expr value_of(const taking *t, const tensor_stage *of, const split_terms *all,
                            const tensor_expr *sums, tensor_expr any) {
    tensor_op *o = t->p->op;
    tensor_expr value = 0, none = 0;
    uint32_t n = all->terms.len;
    for (uint32_t i = 0; i < n; i++) {
        value = plus(t, value, times_factor(t, sums[i], all->terms.data[i].factor));
        none = plus(t, none, sums[i]);
    }
    for (uint32_t i = 0; i < n && n > 1; i++) {
        tensor_expr f = all->terms.data[i].factor;
        if (f) value = or_infinite(t, value, tensor_cvt(o, tensor_typeof(o, value), f, NO_SPAN));
    }
    value = times_factor(t, value, all->outer);
    return any ? tensor_select(o, any, or_nan(t, of, value), none, NO_SPAN) : value;
}

static void put_stages(taking *t, const split_terms *all) {
    planner *p = t->p;
    const tensor_stage was = *plan_stage(t->p, t->stage);
    const tensor_type type = tensor_typeof(p->op, was.body[0]);
    tensor_expr *sums = ARENA_ARRAY(p->arena, tensor_expr, all->terms.len + 1);
    uint32_t at = t->stage;
    tensor_expr any = any_chosen(t, at, &was, all);
    at += any != 0;
    for (uint32_t i = 0; i < all->terms.len; i++) {
        tensor_expr body = times(t, all->terms.data[i].own, all->common);
        if (!body) body = number(t, was.body[0], 1);
        sums[i] = reduce(p, at, &was, was.nleft, was.reducer,
                         tensor_cvt(p->op, type, body, NO_SPAN), "reduced");
        if (any) tensor_set_mark(&p->op->stages.data[at], TENSOR_CHOSEN);
        at++;
    }
    p->op->stages.data[at] = plan_of_points(p, &was, 0, was.name,
                                            value_of(t, &was, all, sums, any));
    p->op->stages.data[at].marks = was.marks;
}

// ---- Which --------------------------------------------------------------------------------------
typedef struct {
    // it reads a maximum found on the run; some term may lack its exponential
    bool any, some_without;
} weighing;

static weighing weighs(const taking *t, tensor_expr e) {
    const planner *p = t->p;
    weighing w = {0};
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        tensor_val v = plan_stage(t->p, i)->targets[0].val;
        if (!plan_is_online(p, i) || !plan_walks_at(p, t->fuse, i)) continue;
        if (!loop_load_of(p->op, e, v)) continue;
        w.any = true;
        w.some_without |= !loop_always_rescales(p->arena, p->op, e, v);
    }
    return w;
}

// A quotient by a sum that stands for itself, as in w[e] / sum(w), is exact where a row has one
// edge; of sums it is not, so those of exponentials alone are taken apart, and differences.
void plan_take_apart(planner *p, const schedule_cell *fuse, uint32_t stage) {
    taking t = {.p = p, .fuse = fuse, .stage = stage};
    const tensor_stage *st = plan_stage(t.p, stage);
    if (st->nelse || st->ntargets != 1 || !plan_adds(p, st)) return;
    const tensor_expr body = st->body[0];
    bool final = read_in(&t, body).final;
    weighing w = weighs(&t, body);
    if (!final && !w.some_without) return;
    for (uint32_t i = 0; i < 2; i++)
        t.parts[i] = ARENA_ARRAY(p->arena, known_parts, p->op->exprs.len);
    split_terms all = split(&t, body);
    all.terms = merged(&t, &all.terms);
    bool fits = !t.failed && all.terms.len <= MOST_TERMS && (w.any || all.terms.len > 1);
    // what is left of two may be their roundings
    if (p->op->reducers.data[st->reducer].roundings && all.terms.len > 1) fits = false;
    if (!fits || (!final && !t.where)) return;   // the walk says what is not final
    VEC_PUSH(p->plan->arena, &p->plan->apart, st->name);
    if (w.any) VEC_PUSH(p->plan->arena, &p->plan->relative, st->name);
    put_stages(&t, &all);
}
