// Reducers other than sums, products and extremes of floats. A plan may combine the pieces of a
// commutative reducer by any tree, so a bound must hold for all. Of a component that is combined by
// add, mul, max or min alone, a tally knows it. Of others (Welford's mean of a piece, say) no one
// formula does: they are evaluated in several orders, which differ in what costs accuracy: chains
// and trees, large terms first and last, infinities and NaN first and last. The bound covers each
// order's result and what that order may err, doubled, as an order that was not tried may err more;
// what rounds nothing in one order is taken to round in another.
#include "eval_tally.h"

#include <string.h>

// ---- What is known of a component ---------------------------------------------------------------

// Products by parts are added up part by part, and A B may be (1 + 2^-11)^2 |a b|, with the others
// of the other sign.
static const double ROOM = 0x1p-8;

static eval_component component(const evaluator *ev, const tensor_reducer *r, uint32_t i) {
    eval_component c = {.kind = COMPONENT_MIXED,
                        .is_float = tensor_type_is_float(r->state_types[i]),
                        .precision = *eval_precision_in(ev, r->state_types[i].type)};
    if (r->roundings) c.precision.u *= r->roundings, c.precision.room = ROOM;
    if (r->kind != REDUCE_USER) c.kind = COMPONENT_ALONE;   // integers and conditions
    else if (tensor_combined_by(ev->op, r, i, &c.by))
        c.kind = c.is_float ? COMPONENT_TALLIED : COMPONENT_ALONE;
    return c;
}

// ---- Preparation --------------------------------------------------------------------------------

static uint32_t *compile_all(eval_program *p, const tensor_expr *exprs, uint32_t n) {
    uint32_t *nodes = ARENA_ARRAY(p->ev->temp, uint32_t, n);
    for (uint32_t i = 0; i < n; i++) nodes[i] = eval_compile(p, exprs[i]);
    return nodes;
}

static void evaluate_all(eval_program *p, const uint32_t *nodes, eval_value *out, uint32_t n) {
    eval_move(p, 1);
    for (uint32_t i = 0; i < n; i++) out[i] = eval_node_value(p, nodes[i]);
}

// What an order of combination happens not to round, another does.
static void round_in_any_order(eval_program *p, uint32_t node) {
    eval_node *n = &p->nodes.data[node];
    if (n->any_order) return;
    n->any_order = true;
    for (uint32_t i = 0; i < n->nargs; i++) round_in_any_order(p, n->args[i]);
}

eval_states *eval_states_new(evaluator *ev, const tensor_reducer *r, uint32_t name) {
    eval_states *s = ARENA_NEW(ev->temp, eval_states);
    s->reducer = r;
    s->name = name;
    s->program = eval_program_new(ev, arena_printf(ev->temp, "reducer '%s'", r->name), 1);
    s->nodes.identity = compile_all(s->program, r->identity, r->nstate);
    s->nodes.lift = compile_all(s->program, r->lift, r->nstate);
    s->nodes.combine = compile_all(s->program, r->combine, r->nstate);
    s->nodes.finish = compile_all(s->program, r->finish, r->nresults);
    for (uint32_t i = 0; i < r->nstate && !ev->why; i++)
        s->program->nodes.data[s->nodes.lift[i]].contracts = true;
    eval_ready(s->program);
    s->components = ARENA_ARRAY(ev->temp, eval_component, r->nstate);
    for (uint32_t i = 0; i < r->nstate; i++) {
        s->components[i] = component(ev, r, i);
        s->mixed |= s->components[i].kind == COMPONENT_MIXED;
    }
    for (uint32_t i = 0; s->mixed && i < r->nstate && !ev->why; i++)
        round_in_any_order(s->program, s->nodes.combine[i]);
    eval_value **states[] = {&s->nothing,  &s->next,     &s->finite,   &s->special,
                             &s->total[0], &s->total[1], &s->total[2], &s->total[3]};
    for (uint32_t k = 0; k < sizeof states / sizeof *states; k++)
        *states[k] = ARENA_ARRAY(ev->temp, eval_value, r->nstate);
    s->other = ARENA_ARRAY(ev->temp, eval_value, r->nresults);
    s->terms = ARENA_ARRAY(ev->temp, eval_value, EVAL_CHUNK * r->nstate);
    s->work = ARENA_ARRAY(ev->temp, eval_value, EVAL_CHUNK * r->nstate);
    s->single = ARENA_ARRAY(ev->temp, eval_value, EVAL_SINGLE * r->nstate);
    evaluate_all(s->program, s->nodes.identity, s->nothing, r->nstate);
    return s;
}

// ---- Orders of combination ----------------------------------------------------------------------

typedef enum { IN_ORDER, REVERSED, SHUFFLED } permutation;
typedef enum { CHAIN, HALVES, RANDOM_CUTS } shape;
// Of each chunk. Those that keep the order of the terms are for every reducer; the first one gives
// the value.
static const struct {
    permutation terms;
    shape shape;
} ORDERS[EVAL_ORDERS] = {
    {IN_ORDER, CHAIN}, {IN_ORDER, HALVES}, {REVERSED, CHAIN}, {SHUFFLED, RANDOM_CUTS}};

static bool applies(const eval_states *s, uint32_t k) {
    return k == 0 || (s->mixed && (s->reducer->commutative || ORDERS[k].terms == IN_ORDER));
}

static void copy_state(const eval_states *s, eval_value *to, const eval_value *from) {
    memcpy(to, from, s->reducer->nstate * sizeof *to);
}

static void combine_into(eval_states *s, eval_value *out, const eval_value *left,
                         const eval_value *right) {
    s->program->left = left;
    s->program->right = right;
    evaluate_all(s->program, s->nodes.combine, s->next, s->reducer->nstate);
    copy_state(s, out, s->next);
}

static eval_value *at(const eval_states *s, eval_value *states, uint32_t i) {
    return states + (size_t)i * s->reducer->nstate;
}

// splitmix64's finaliser: the same numbers in every run.
static uint32_t random_below(uint32_t seed, uint32_t n) {
    uint64_t z = (seed + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z >> 32) % n);
}

// s->work: the terms permuted.
static void permute(eval_states *s, permutation how) {
    for (uint32_t i = 0; i < s->waiting; i++) {
        uint32_t to = how == REVERSED   ? s->waiting - 1 - i
                      : how == SHUFFLED ? random_below(i, i + 1)
                                        : i;
        if (how == SHUFFLED)
            copy_state(s, at(s, s->work, i), at(s, s->work, to));   // Fisher and Yates, inside out
        copy_state(s, at(s, s->work, to), at(s, s->terms, i));
    }
}

// Leaves the combination of [from, to) of s->work at its first. No identity stands between them.
static eval_value *fold_tree(eval_states *s, shape how, uint32_t from, uint32_t to) {
    eval_value *left = at(s, s->work, from);
    if (to - from == 1) return left;
    uint32_t cut = how == HALVES ? from + (to - from) / 2
                                 : from + 1 + random_below(from ^ to << 10, to - from - 1);
    fold_tree(s, how, from, cut);
    combine_into(s, left, left, fold_tree(s, how, cut, to));
    return left;
}

static void fold_chunk(eval_states *s, uint32_t k) {
    eval_value *total = s->total[k];
    permute(s, ORDERS[k].terms);
    if (ORDERS[k].shape == CHAIN) {
        for (uint32_t i = 0; i < s->waiting; i++) combine_into(s, total, total, at(s, s->work, i));
        return;
    }
    eval_value *chunk = fold_tree(s, ORDERS[k].shape, 0, s->waiting);
    bool before = ORDERS[k].terms == SHUFFLED;   // so that chunks, too, come in another order
    combine_into(s, total, before ? chunk : total, before ? total : chunk);
}

// ---- Infinities and NaN -------------------------------------------------------------------------

static bool is_special(const eval_states *s, const eval_value *term) {
    for (uint32_t k = 0; k < s->reducer->nstate; k++)
        if (s->components[k].is_float && !isfinite(term[k].v)) return true;
    return false;
}

// Which of them comes out may depend on whether such a term comes first or last: they are kept
// apart.
static void fold_apart(eval_states *s) {
    for (uint32_t i = 0; i < s->waiting; i++) {
        eval_value *x = at(s, s->terms, i);
        if (!is_special(s, x)) {
            combine_into(s, s->finite, s->finite, x);
            continue;
        }
        if (s->nspecial < EVAL_SINGLE) copy_state(s, at(s, s->single, (uint32_t)s->nspecial), x);
        if (s->nspecial++) combine_into(s, s->special, s->special, x);
        else copy_state(s, s->special, x);
    }
}

static void fold(eval_states *s) {
    for (uint32_t k = 0; k < EVAL_ORDERS && s->waiting; k++)
        if (applies(s, k)) fold_chunk(s, k);
    if (s->mixed && s->reducer->commutative) fold_apart(s);
    s->waiting = 0;
}

// ---- A reduction --------------------------------------------------------------------------------

void eval_states_start(eval_states *s) {
    s->nterms = s->nspecial = 0;
    s->waiting = 0;
    for (uint32_t k = 0; k < EVAL_ORDERS; k++) copy_state(s, s->total[k], s->nothing);
    copy_state(s, s->finite, s->nothing);
    for (uint32_t i = 0; i < s->reducer->nstate; i++) eval_tally_start(&s->components[i].tally);
}

void eval_states_add(eval_states *s, const eval_value *args, bool included, bool unsure) {
    const tensor_reducer *r = s->reducer;
    eval_value *x = at(s, s->terms, s->waiting);
    s->program->arg = args;
    evaluate_all(s->program, included ? s->nodes.lift : s->nodes.identity, x, r->nstate);
    for (uint32_t i = 0; i < r->nstate; i++) {
        eval_component *c = &s->components[i];
        if (unsure) x[i] = eval_unsure(x[i]);
        if (c->kind == COMPONENT_TALLIED) eval_tally_add(&c->tally, c->by, x[i], included, unsure);
    }
    s->nterms++;
    if (++s->waiting == EVAL_CHUNK) fold(s);
}

// What an implementation has that took the one order or the other.
static eval_value one_of(bool is_float, eval_value x, eval_value y) {
    if (!is_float) return eval_choose(false, x, y, true);
    if (isinf(x.bound) || isinf(y.bound)) return eval_float(x.v, (double)INFINITY);
    if (isnan(x.v) && isnan(y.v)) return x;
    double apart = x.v == y.v ? 0 : fabs(x.v - y.v);
    return eval_float(x.v, isfinite(apart) ? fmax(x.bound, apart + y.bound) : (double)INFINITY);
}

static eval_value either(bool is_float, eval_value x, eval_value y) {
    eval_value z = one_of(is_float, x, y);
    z.beyond = x.beyond ? x.beyond : y.beyond;
    return z;
}

static void finish_one(eval_states *s, eval_value *state, eval_value *results) {
    const tensor_reducer *r = s->reducer;
    for (uint32_t i = 0; i < r->nstate; i++) {
        eval_component *c = &s->components[i];
        if (c->kind == COMPONENT_TALLIED && s->nterms)
            state[i] = eval_tally_finish(s->program->ev, &c->tally, c->by, &c->precision, s->name);
        else if (s->nterms > 1) state[i].bound *= 2;
    }
    s->program->left = state;
    evaluate_all(s->program, s->nodes.finish, results, r->nresults);
}

static void finish_other(eval_states *s, eval_value *state, eval_value *results) {
    const tensor_reducer *r = s->reducer;
    finish_one(s, state, s->other);
    for (uint32_t i = 0; i < r->nresults; i++)
        results[i] = either(tensor_type_is_float(r->result_types[i]), results[i], s->other[i]);
}

void eval_states_finish(eval_states *s, eval_value *results) {
    fold(s);
    finish_one(s, s->total[0], results);
    for (uint32_t k = 1; k < EVAL_ORDERS && s->nterms; k++)
        if (applies(s, k)) finish_other(s, s->total[k], results);
    if (!s->nspecial) return;
    // one after another: the variance of a, inf and -inf is inf so
    copy_state(s, s->total[0], s->finite);
    for (uint32_t i = 0; i < s->nspecial && i < EVAL_SINGLE; i++)
        combine_into(s, s->total[0], s->total[0], at(s, s->single, i));
    finish_other(s, s->total[0], results);
    combine_into(s, s->total[0], s->finite, s->special);    // last
    combine_into(s, s->total[1], s->nothing, s->special);   // first
    combine_into(s, s->total[1], s->total[1], s->finite);
    finish_other(s, s->total[0], results);
    finish_other(s, s->total[1], results);
}
