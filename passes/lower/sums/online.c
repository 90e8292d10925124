// Maxima that are found on the run (online softmax). While one is found, it reads as the largest
// number so far. If it grows from m to m', sums of terms relative to it are multiplied by exp(m -
// m'). Threads and copies may have maxima of their own, and then they have sums of their own, until
// all take the maximum of all. A stored state is relative to the maximum of its part.

#include "lower/sums/sums.h"
#include "base/scalar.h"

// ---- Which --------------------------------------------------------------------------------------
// The load of the maximum in a sum's terms; 0: they do not read it.
static tensor_expr load_of(const kernel *k, uint32_t sum, uint32_t maximum) {
    const tensor_stage *st = &k->l->op->stages.data[sum];
    return loop_load_of(k->l->op, st->body[0], lw_target_of(k->l->op, maximum));
}

static bool is_lazy_by_plan(const loop_node *n, uint32_t stage) {
    for (uint32_t i = 0; i < n->reduce.nmaxima; i++)
        if (n->reduce.maxima[i].stage == stage) return n->reduce.maxima[i].lazy;
    return false;
}

// ---- Factors ------------------------------------------------------------------------------------
// exp(from - to), of which `to` is no less. It is 1 where they are equal, also if they are
// infinite.
static simt_value factor(kernel *k, simt_builder *b, simt_value from, simt_value to) {
    simt_value below = simt_two(b, SIMT_SUB, from, to);
    simt_type t = simt_typeof(k->f, below);
    const char *name = t.element == SIMT_F32 ? "exp_nonpositive" : "exp";
    simt_value same = simt_build_cmp(b, SIMT_EQ, simt_widen(b, from, t.lanes),
                                     simt_widen(b, to, t.lanes));
    return simt_choose(b, same, simt_build_float(b, t, 1), scalar_maths(b, name, &below, 1));
}

// A choice in the terms may leave out what would make NaN of them. Then a maximum that is NaN
// leaves them as they are: what is computed from their sum knows of it.
static simt_value but_nan(simt_builder *b, simt_value factor, simt_value to) {
    simt_type t = simt_typeof(b->func, factor);
    to = simt_widen(b, to, t.lanes);
    return simt_choose(b, simt_build_cmp(b, SIMT_EQ, to, to), factor, simt_build_float(b, t, 1));
}

static bool may_leave_out(const kernel *k, const reduction *sum, uint32_t maximum) {
    const tensor_stage *st = &k->l->op->stages.data[sum->stage];
    return !loop_always_rescales(k->l->arena, k->l->op, st->body[0],
                                 lw_target_of(k->l->op, maximum));
}

static simt_value times(kernel *k, simt_builder *b, const reduction *sum, simt_value x,
                        simt_value by) {
    simt_type t = simt_typeof(k->f, by);
    t.element = sum->types[0].element;
    return simt_two(b, SIMT_MUL, x, simt_build_cvt(b, t, by));
}

static simt_value factor_here(kernel *k, simt_builder *b, lw_growth *c) {
    uint32_t was = lw_instance(&k->digits, c->copies),
             is = lw_instance(&k->digits, c->maximum->copies);
    simt_value from = c->before[was * c->maximum->n], to = c->maximum->slot[is * c->maximum->n];
    if (from == to) return 0;
    if (!c->factors[was]) c->factors[was] = factor(k, b, from, to);
    return c->factors[was];
}

static void rescale(kernel *k, simt_builder *b, reduction *sum, lw_growth *c) {
    axis_set all = lw_written_out(&k->digits, sum->copies | c->copies);
    if (lw_written_out(&k->digits, c->copies) & ~sum->copies)
        ICE("'%s': %s has copies that %s has not", k->plan->name,
            k->l->op->stages.data[c->maximum->stage].name, k->l->op->stages.data[sum->stage].name);
    bool leaves_out = may_leave_out(k, sum, c->maximum->stage);
    for (instance_walk w = lw_walk_begin(&k->digits, all); lw_walk_next(&w);) {
        simt_value by = factor_here(k, b, c),
                   *x = &sum->slot[lw_instance(&k->digits, sum->copies) * sum->n],
                   to = c->maximum
                            ->slot[lw_instance(&k->digits, c->maximum->copies) * c->maximum->n];
        if (by) *x = times(k, b, sum, *x, leaves_out ? but_nan(b, by, to) : by);
    }
}

static void rescale_all(kernel *k, simt_builder *b, lw_growth *c) {
    for (uint32_t i = 0; i < k->sums.all.len; i++) {
        reduction *sum = k->sums.all.data[i];
        if (sum->node == c->maximum->node && sum != c->maximum &&
            load_of(k, sum->stage, c->maximum->stage))
            rescale(k, b, sum, c);
    }
}

// ---- When it grows ------------------------------------------------------------------------------
static simt_value *copied(kernel *k, const simt_value *x, uint32_t n) {
    simt_value *out = ARENA_ARRAY(k->l->arena, simt_value, n + 1);
    for (uint32_t i = 0; i < n; i++) out[i] = x[i];
    return out;
}

static lw_growth growth_of(kernel *k, const reduction *r) {
    uint32_t n = lw_instances(&k->digits, r->copies);
    return (lw_growth){.maximum = r,
                       .before = copied(k, r->slot, n * r->n),
                       .copies = r->copies,
                       .factors = ARENA_ARRAY(k->l->arena, simt_value, n + 1)};
}

// ---- At a distance ------------------------------------------------------------------------------
// Sums of rows of products are many numbers, and in most rounds some row meets a larger one. So
// they stay relative to an older maximum, with exponentials up to e^8, until a row has met a number
// that is larger by more than that, or the walk ends (as in FlashAttention-4). Until then no lane
// asks the others what they have met.
//
// Other walks do so where the plan says it. Their exponentials are approximate, which may be of
// numbers above 0.
enum { DISTANCE = 8 };

// The expression has nothing but numbers and sizes.
static bool is_number(const kernel *k, tensor_expr e) {
    const tensor_node *x = tensor_node_at(k->l->op, e);
    bool number = x->nargs || x->op == TENSOR_CONST_OP || x->op == TENSOR_SIZE_OP;
    for (uint32_t i = 0; i < x->nargs && number; i++) number = is_number(k, x->args[i]);
    return number && x->op != TENSOR_LOAD_OP;
}

// The largest of c x is c times the largest x, if c is a positive constant: numbers are met without
// it.
static void leave_out_scale(kernel *k, simt_builder *b, reduction *r) {
    const tensor_node *x = tensor_node_at(k->l->op, lw_lifted(k->l->op, r, 0));
    double positive;
    for (uint32_t i = 0; i < 2 && x->op == TENSOR_MUL_OP && !r->lazy.scale; i++) {
        simt_value c = is_number(k, x->args[i]) ? lw_expr(k, b, x->args[i]) : 0;
        if (c && lw_is_positive(b, c, &positive))
            r->lazy.scale = c, r->lazy.scaled = x->args[1 - i];
    }
}

void lw_follow(kernel *k, simt_builder *b, reduction *r) {
    bool one = r->n == 1 && r->types[0].element == SIMT_F32,
         walk = one && !r->node->reduce.matrix && lw_is_approximate(k) &&
                is_lazy_by_plan(r->node, r->stage);
    if (!walk && (!r->round || !one || r->types[0].lanes > 1)) return;
    r->lazy.most = copied(k, r->slot, lw_instances(&k->digits, r->copies));
    if (!walk) leave_out_scale(k, b, r);
}

static simt_value scaled(simt_builder *b, const reduction *r, simt_value x) {
    return r->lazy.scale ? simt_build_binary(b, SIMT_MUL, x, r->lazy.scale) : x;
}

static void catch_up(kernel *k, simt_builder *b, reduction *r) {
    for (instance_walk w = lw_walk_begin(&k->digits, r->copies); lw_walk_next(&w);) {
        uint32_t i = lw_instance(&k->digits, r->copies);
        r->lazy.most[i] = lw_fold_threads(k, b, r, r->round, &r->lazy.most[i])[0];
        r->slot[i] = scaled(b, r, r->lazy.most[i]);
    }
}

static void catch_up_all(kernel *k, simt_builder *b, const loop_node *n, void *user) {
    reduction *r = user;
    lw_growth c = growth_of(k, r);
    (void)n;
    catch_up(k, b, r);
    rescale_all(k, b, &c);
}

// Matrix operations need all lanes of a warp, so that the answer is that of some lane.
static simt_value must_catch_up(kernel *k, simt_builder *b, const reduction *r) {
    simt_type f32 = r->types[0], t = SIMT_T(PRED);
    simt_value any = 0;
    for (instance_walk w = lw_walk_begin(&k->digits, r->copies); lw_walk_next(&w);) {
        uint32_t i = lw_instance(&k->digits, r->copies);
        simt_value to = simt_build_binary(b, SIMT_ADD, r->slot[i],
                                          simt_build_float(b, f32, DISTANCE)),
                   more = simt_build_cmp(b, SIMT_LT, to, scaled(b, r, r->lazy.most[i]));
        for (uint32_t l = 0; l < f32.lanes; l++) {
            simt_value one = simt_pick(b, more, l);
            any = any ? simt_build_binary(b, SIMT_OR, any, one) : one;
        }
    }
    return r->round ? simt_result(k->f, simt_build_op(b, SIMT_VOTE_ANY, &any, 1, &t, 1), 0) : any;
}

// ---- All ----------------------------------------------------------------------------------------
lw_growth lw_grow_begin(kernel *k, reduction *r) {
    if (!lw_is_online(r->node, r->stage)) return (lw_growth){0};
    if (!r->lazy.most) return growth_of(k, r);
    lw_growth c = {.followed = r->slot};
    r->slot = r->lazy.most;
    return c;
}

void lw_grow_end(kernel *k, simt_builder *b, reduction *r, lw_growth *c) {
    if (c->maximum) rescale_all(k, b, c);
    if (!c->followed) return;
    r->slot = c->followed;
    lw_build_if(k, b, must_catch_up(k, b, r), r->node, catch_up_all, r);
}

void lw_close_maxima(kernel *k, simt_builder *b, const loop_node *n) {
    for (uint32_t i = 0; i < n->reduce.nmaxima; i++) {
        reduction *r = lw_reduction(k, n->reduce.maxima[i].stage);
        lw_growth c = growth_of(k, r);
        if (r->lazy.most) catch_up(k, b, r);
        lw_close(k, b, r);
        rescale_all(k, b, &c);
    }
}

// ---- States of parts ----------------------------------------------------------------------------
simt_value lw_relative(kernel *k, simt_builder *b, const reduction *r, const loop_node *n,
                       simt_value state) {
    for (uint32_t i = 0; i < n->reduce.nmaxima; i++) {
        simt_value was = lw_expr(k, b, n->reduce.maxima[i].slot),
                   is = lw_expr(k, b, load_of(k, r->stage, n->reduce.maxima[i].stage)),
                   by = factor(k, b, was, is);
        state = times(k, b, r, state,
                      may_leave_out(k, r, n->reduce.maxima[i].stage) ? but_nan(b, by, is) : by);
    }
    return state;
}
