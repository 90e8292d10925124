// Contributions to a reduction: what a loop walks is lifted to a state, and combined with the state
// at hand in order.

#include "lower/sums/sums.h"
#include <math.h>

static void lift(kernel *k, simt_builder *b, const reduction *r, const loop_node *n,
                 simt_value *out) {
    if (n->state.n) {
        for (uint32_t i = 0; i < n->state.n; i++) {
            simt_value x = lw_expr(k, b, n->state.loads[i]);   // the load widened it
            out[i] = simt_build_cvt(b, (simt_type){r->types[i].element, simt_typeof(k->f, x).lanes},
                                    x);
        }
        if (n->reduce.nmaxima) out[0] = lw_relative(k, b, r, n, out[0]);
        return;
    }
    simt_value *arg = ARENA_ARRAY(k->l->arena, simt_value, r->r->nargs + 1);
    for (uint32_t i = 0; i < r->r->nargs; i++)
        arg[i] = lw_expr(k, b, r->lazy.scale ? r->lazy.scaled : lw_lifted(k->l->op, r, i));
    lw_reducer(k, b, r->r->lift, r->r->nstate, arg, NULL, NULL, out);
}

// Digits of the other loops of the stage: their threads and copies walk something else, so one of
// them contributes here.
static simt_value only_once(kernel *k, simt_builder *b, const reduction *r) {
    axis_set here = 0;
    for (uint32_t i = r->masks; i < k->scope.masks.len; i++)
        here |= lw_axes_enter(k, k->scope.masks.data[i].node);
    simt_value c = 0;
    axis_set left = lw_threads_in(&k->digits, r->bound & ~here);
    for (; left; left = lw_other_axes(left)) {
        simt_value d = lw_digit(k, b, &k->digits.axis[lw_first_axis(left)]);
        c = lw_both(b, c, simt_build_cmp(b, SIMT_EQ, d, simt_build_int(b, SIMT_T(I32), 0)));
    }
    return c;
}

static simt_value both_lanes(simt_builder *b, simt_value x, simt_value y) {
    if (!x || !y) return x ? x : y;
    uint32_t n = simt_typeof(b->func, x).lanes, m = simt_typeof(b->func, y).lanes;
    return lw_both(b, simt_widen(b, x, n > m ? n : m), simt_widen(b, y, n > m ? n : m));
}

// No loop inside is at its padding. Along the vector each lane has its own answer.
static simt_value not_padding(kernel *k, simt_builder *b, const reduction *r) {
    simt_value c = 0;
    for (uint32_t i = r->masks; i < k->scope.masks.len; i++) {
        position p = lw_var_position(k, b, k->scope.masks.data[i].node->var);
        uint32_t lanes = p.shape == POSITION_ONE ? 1 : lw_lanes(&k->digits);
        simt_value x[16];
        if (!p.pad) continue;
        for (uint32_t l = 0; l < lanes; l++) x[l] = lw_position_lane(k, b, p, l);
        c = both_lanes(b, c, lw_not_padding(b, p, simt_gather(b, x, lanes)));
    }
    return c;
}

// Combines a lifted state where `when` holds; 0: everywhere. as_is: elsewhere it is one that
// changes nothing.
static void take_in(kernel *k, simt_builder *b, const reduction *r, const simt_value *lifted,
                    simt_value when, bool as_is, uint8_t lanes, simt_value *state) {
    simt_value *after = ARENA_ARRAY(k->l->arena, simt_value, r->n);
    lw_combine_into(k, b, r, state, lifted, lanes, after);
    if (r->some)
        after[r->r->nstate] = simt_widen(b, simt_build_pred(b, true),
                                         simt_typeof(k->f, state[r->r->nstate]).lanes);
    for (uint32_t c = 0; c < r->n; c++)
        state[c] = when && !(as_is && c < r->r->nstate)
                       ? simt_build_select(b, when, after[c], state[c])
                       : after[c];
}

// For an empty cell a maximum takes -inf. So does the exponential of the cell
// (lower/values/exponential.c), and one choice makes both.
static simt_value least_elsewhere(simt_builder *b, const reduction *r, simt_value x,
                                  simt_value inside) {
    simt_type t = simt_typeof(b->func, x);
    if (r->r->kind != REDUCE_MAX || r->level || t.element != SIMT_F32 || t.lanes != 1) return x;
    return simt_build_select(b, inside, x, simt_build_float(b, t, (double)-INFINITY));
}

// The t-th n lanes of x, which may be the same in all.
static simt_value some_lanes(simt_builder *b, simt_value x, uint32_t t, uint32_t n) {
    if (n == 1) return simt_pick(b, x, t);
    bool all = simt_typeof(b->func, x).lanes == 1;
    return all ? simt_widen(b, x, n) : simt_slice(b, x, t * n, n);
}

static void contribute_one(kernel *k, simt_builder *b, const reduction *r, const loop_node *n,
                           simt_value *slot) {
    arena *a = k->l->arena;
    simt_value *lifted = ARENA_ARRAY(a, simt_value, r->n),
               *state = ARENA_ARRAY(a, simt_value, r->n), *one = ARENA_ARRAY(a, simt_value, r->n);
    bool inside = lw_vector_of(&k->digits, r->left | r->bound) &&
                  k->digits.at[k->digits.vector] >= 0;
    bool laned = inside && r->types[0].lanes > 1;
    uint32_t lane = laned ? (uint32_t)k->digits.at[k->digits.vector] % r->types[0].lanes : 0,
             turns = r->chained && !inside ? lw_lanes(&k->digits) / r->chained : 1;
    for (uint32_t c = 0; c < r->n; c++) state[c] = laned ? simt_pick(b, slot[c], lane) : slot[c];
    simt_value when = lw_both(b, lw_masks(k, b, r->masks), only_once(k, b, r)),
               cell = lw_enter_cell(k, b, r);
    when = lw_both(b, when, cell);
    if (n->state.valid) when = lw_both(b, when, lw_expr(k, b, n->state.valid));
    when = both_lanes(b, when, not_padding(k, b, r));
    lift(k, b, r, n, lifted);
    k->product.cell = 0;
    if (cell) lifted[0] = least_elsewhere(b, r, lifted[0], when);
    bool as_is = when && r->r->nstate == 1 && lw_adds_nothing(k, r, lifted[0], when);
    for (uint32_t t = 0; t < turns; t++) {
        for (uint32_t c = 0; c < r->r->nstate; c++)
            one[c] = turns > 1 ? some_lanes(b, lifted[c], t, r->chained) : lifted[c];
        take_in(k, b, r, one, when && turns > 1 ? some_lanes(b, when, t, r->chained) : when, as_is,
                laned ? 1 : r->types[0].lanes, state);
    }
    for (uint32_t c = 0; c < r->n; c++)
        slot[c] = laned && r->types[c].lanes > 1 ? simt_insert(b, slot[c], state[c], lane)
                                                 : state[c];
}

static void contribute_all(kernel *k, simt_builder *b, reduction *r, const loop_node *n) {
    axis_set walked = lw_written_out(&k->digits, r->left);
    for (uint32_t i = r->masks; i < k->scope.masks.len; i++)
        walked |= lw_written_out(&k->digits, lw_axes_enter(k, k->scope.masks.data[i].node));
    if (n->state.valid) walked |= lw_vector_of(&k->digits, lw_depends(k, n->state.valid));
    for (instance_walk w = lw_walk_begin(&k->digits, walked); lw_walk_next(&w);)
        contribute_one(k, b, r, n, &r->slot[lw_instance(&k->digits, r->copies) * r->n]);
}

// Rows of products go on with one maximum.
static void fold_round(kernel *k, simt_builder *b, reduction *r) {
    for (instance_walk w = lw_walk_begin(&k->digits, r->copies); lw_walk_next(&w);) {
        simt_value *slot = &r->slot[lw_instance(&k->digits, r->copies) * r->n],
                   *all = lw_fold_threads(k, b, r, r->round, slot);
        for (uint32_t c = 0; c < r->n; c++) slot[c] = all[c];
    }
}

// If lanes of a walk have a step each, the maximum so far is that of all lanes.
static void contribute_steps(kernel *k, simt_builder *b, reduction *r, const loop_node *n) {
    contribute_all(k, b, r, n);
    if (r->round && !r->lazy.most) fold_round(k, b, r);
    if (!lw_distributes_walk(k) || !k->distributed->there) return;
    r->steps = (loop_digit){LOOP_LANE_PLACE, lw_distributed_parts(k), k->distributed->unit};
    for (uint32_t i = 0; i < r->node->reduce.nmaxima; i++) {
        if (r->node->reduce.maxima[i].stage != r->stage) continue;
        for (instance_walk w = lw_walk_begin(&k->digits, lw_written_out(&k->digits, r->copies));
             lw_walk_next(&w);) {
            simt_value *slot = &r->slot[lw_instance(&k->digits, r->copies) * r->n],
                       *all = lw_fold_steps(k, b, r, slot, &r->steps);
            for (uint32_t c = 0; c < r->n; c++) slot[c] = all[c];
        }
    }
}

void lw_contribute(kernel *k, simt_builder *b, const loop_node *n) {
    reduction *r = lw_reduction(k, n->stages[0]);
    if (r->product) {
        lw_contribute_product(k, b, r);
        return;
    }
    lw_growth growth = lw_grow_begin(k, r);
    contribute_steps(k, b, r, n);
    lw_grow_end(k, b, r, &growth);
}
