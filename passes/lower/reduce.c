// Reductions: states in registers, one an instance of the left variables' digits and of the loops inside;
// what a loop walks is combined into them in order. Afterwards the copies of bound digits are combined, then
// vector lanes, then lanes by shuffles, then groups through shared memory, always in the same order, and
// every thread knows the state.

#include "lower/values.h"
#include "lower/sums.h"
#include "lower/loops.h"
#include "lower/matrix/matrix.h"
#include <math.h>

// ---- Opening ---------------------------------------------------------------------------------------------
// Whether an expression of the loops inside, whose variables are not bound yet, differs between lanes of the
// vector.
static bool varies(kernel *k, tensor_expr e) {
    for (tensor_var v = 0; v < k->l->op->vars.len; v++)
        if (k->var[v].kind != BOUND_NOT && lw_vector_free(k, lw_var_depends(k, v)) && lw_mentions(k->l, e, v))
            return true;
    return false;
}

// Whether some lanes contribute where others do not: a condition, or rows of different lengths.
static bool tests_inside(kernel *k, const loop_body *body) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        if (n->kind == LOOP_IF || tests_inside(k, &n->body)) return true;
        if (n->kind == LOOP_FOR && n->pad && n->ndigits && n->digits[0].place == LOOP_VECTOR_PLACE)
            return true;
        if (n->kind == LOOP_FOR && (varies(k, n->lo) || varies(k, n->hi))) return true;
        if (n->kind == LOOP_LET && varies(k, n->value)) return true;
    }
    return false;
}

// Whether parts may be of nothing for some lanes alone: what chooses the terms differs between them.
static bool parts_differ(kernel *k, const tensor_stage *st, const loop_body *body) {
    bool differ = false;
    for (uint32_t i = 0; i < st->nfilters; i++) differ |= varies(k, st->filters[i]);
    for (uint32_t i = 0; i < st->nkeys; i++) differ |= varies(k, st->keys[i].lhs) || varies(k, st->keys[i].rhs);
    if (!differ) return false;
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        if (parts_differ(k, st, &n->body) || (n->kind == LOOP_CONTRIBUTE && n->valid && varies(k, n->valid))) return true;
    }
    return false;
}

axis_set lw_enter_loops(kernel *k, const loop_body *body) {
    axis_set s = 0;
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        if (n->kind == LOOP_FOR) s |= lw_axes_enter(k, n);
        s |= lw_enter_loops(k, &n->body);
    }
    return s;
}

void lw_leave_loops(kernel *k, const loop_body *body) {
    for (uint32_t i = 0; i < body->len; i++) {
        if (body->data[i]->kind == LOOP_FOR) lw_axes_leave(k, body->data[i]);
        lw_leave_loops(k, &body->data[i]->body);
    }
}

// The digits of loops around a contribution to the stage.
static bool bound_digits(kernel *k, const loop_body *body, uint32_t stage, axis_set *out) {
    bool any = false;
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        if (n->kind == LOOP_CONTRIBUTE && n->stages[0] == stage) any = true;
        if (!bound_digits(k, &n->body, stage, out)) continue;
        if (n->kind == LOOP_FOR) *out |= lw_axes_enter(k, n);
        any = true;
    }
    return any;
}

static axis_set places(const kernel *k, axis_set s, loop_place p) {
    axis_set out = 0;
    for (uint32_t i = 0; i < LOWER_MAX_AXES; i++)
        if (s & AXIS(i) && k->axis[i].place == p) out |= AXIS(i);
    return out;
}

static axis_set vector_of(const kernel *k, axis_set s) {
    return k->vector == LOWER_NO_AXIS ? 0 : s & AXIS(k->vector);
}

// Parts that may be empty are combined only where both are not, unless the identity is neutral.
static bool parts_may_be_empty(const kernel *k, const reduction *r) {
    return !tensor_reducer_neutral(k->l->op, r->r) && (r->bound & ~places(k, r->bound, LOOP_UNROLL_PLACE));
}

static bool rounds_inside(const kernel *k, const loop_body *body) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        bool rounds = n->kind == LOOP_FOR && !lw_has_one_round(k, n);
        for (uint32_t d = 0; n->kind == LOOP_FOR && d < n->ndigits; d++)
            rounds |= n->digits[d].place == LOOP_SERIAL_PLACE && n->digits[d].extent > 1;
        if (rounds || rounds_inside(k, &n->body)) return true;
    }
    return false;
}

// What goes round has a state for each lane of the vector, so that no contribution waits for the one before.
// What does not would combine these states in as many operations as it makes contributions.
//     s8 = fma(x8, y8, 0), s = s8[0] + … + s8[7]  →  s = fma(x8[7], y8[7], … fma(x8[0], y8[0], 0))
static bool is_chained(const kernel *k, const loop_node *n, const reduction *r) {
    return vector_of(k, r->bound) && !n->matrix && !rounds_inside(k, &n->body);
}

static bool is_found(const loop_node *n, uint32_t stage) {   // on the run
    for (uint32_t i = 0; i < n->nmaxima; i++)
        if (n->maxima[i].stage == stage) return true;
    return false;
}

static reduction *reduction_new(kernel *k, const loop_node *n, uint32_t stage) {
    arena *a = k->l->arena;
    const tensor_stage *st = &k->l->op->stages.data[stage];
    reduction *r = ARENA_NEW(a, reduction);
    *r = (reduction){.node = n, .stage = stage, .open = true, .masks = k->masks.len};
    r->r = &k->l->op->reducers.data[st->reducer];
    for (uint32_t i = 0; i < st->nleft; i++) r->left |= lw_var_depends(k, st->left[i]);
    bound_digits(k, &n->body, stage, &r->bound);
    r->copies = lw_written_out(k, r->left);
    r->product = loop_multiplies(k->l->op, n, stage);
    if (r->product)
        r->bound &= ~lw_depth_axes(k, n);   // the operation adds them up, and pieces one after the other
    else if (!n->matrix) r->copies |= places(k, r->bound, LOOP_REGISTER_PLACE);
    else if (is_found(n, stage)) r->round = r->bound, r->bound = 0;
    r->some = st->nelse || parts_may_be_empty(k, r) || (n->kind == LOOP_AGAIN && lw_reduction(k, stage)->some);   // as it is there
    r->n = r->r->nstate + r->some;
    r->chained = is_chained(k, n, r);
    axis_set vector = vector_of(k, r->chained ? r->left : r->left | r->bound);
    uint8_t lanes = vector && k->at[k->vector] < 0 ? (uint8_t)lw_lanes(k) : 1;
    r->types = ARENA_ARRAY(a, simt_type, r->n);
    for (uint32_t i = 0; i < r->r->nstate; i++)
        r->types[i] = (simt_type){lw_value_element(k, r->r->state_types[i].type), lanes};
    if (r->some) r->types[r->r->nstate] = (simt_type){SIMT_PRED, tests_inside(k, &n->body) || parts_differ(k, st, &n->body) ? lanes : 1};
    return r;
}

static void start_states(kernel *k, simt_builder *b, reduction *r) {
    uint32_t count = lw_instances(k, r->copies);
    simt_value *first = ARENA_ARRAY(k->l->arena, simt_value, r->n);
    lw_reducer(k, b, r->r->identity, r->r->nstate, NULL, NULL, NULL, first);
    if (r->some) first[r->r->nstate] = simt_build_pred(b, false);
    r->slot = ARENA_ARRAY(k->l->arena, simt_value, count * r->n);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t c = 0; c < r->n; c++) r->slot[i * r->n + c] = lw_widen(b, first[c], r->types[c].lanes);
}

reduction *lw_reduction(kernel *k, uint32_t stage) {
    for (uint32_t i = k->reductions.len; i-- > 0;)
        if (k->reductions.data[i]->stage == stage) return k->reductions.data[i];
    ICE("'%s': no state of %s is known here", k->plan->name, k->l->op->stages.data[stage].name);
}

// ---- Contributions ---------------------------------------------------------------------------------------
static void combine(kernel *k, simt_builder *b, const reduction *r, const simt_value *x, const simt_value *y,
                    uint8_t lanes, simt_value *out) {
    lw_reducer(k, b, r->r->combine, r->r->nstate, NULL, x, y, out);
    for (uint32_t c = 0; c < r->r->nstate; c++) out[c] = lw_widen(b, out[c], lanes);
}

tensor_expr lw_lifted(const kernel *k, const reduction *r, uint32_t i) {
    tensor_expr e = k->l->op->stages.data[r->stage].body[i];
    return r->level ? tensor_node_at(k->l->op, e)->args[1] : e;
}

static void lift(kernel *k, simt_builder *b, const reduction *r, const loop_node *n, simt_value *out) {
    if (n->nstates) {
        for (uint32_t i = 0; i < n->nstates; i++) {
            simt_value x = lw_expr(k, b, n->states[i]);   // widened by the load
            out[i] = simt_build_cvt(b, (simt_type){r->types[i].element, simt_typeof(k->f, x).lanes}, x);
        }
        if (n->nmaxima) out[0] = lw_relative(k, b, r, n, out[0]);
        return;
    }
    simt_value *arg = ARENA_ARRAY(k->l->arena, simt_value, r->r->nargs + 1);
    for (uint32_t i = 0; i < r->r->nargs; i++) arg[i] = lw_expr(k, b, r->scale ? r->scaled : lw_lifted(k, r, i));
    lw_reducer(k, b, r->r->lift, r->r->nstate, arg, NULL, NULL, out);
}

axis_set lw_threads_in(const kernel *k, axis_set s) {
    return places(k, s, LOOP_LANE_PLACE) | places(k, s, LOOP_GROUP_PLACE);
}

// Digits of the stage's other loops: those threads and copies walk something else, and one of them does this.
static simt_value only_once(kernel *k, simt_builder *b, const reduction *r) {
    axis_set here = 0;
    for (uint32_t i = r->masks; i < k->masks.len; i++) here |= lw_axes_enter(k, k->masks.data[i].node);
    simt_value c = 0;
    for (uint32_t i = 0; i < LOWER_MAX_AXES; i++) {
        if (!(lw_threads_in(k, r->bound & ~here) & AXIS(i))) continue;
        simt_value d = lw_digit(k, b, &k->axis[i]);
        c = lw_both(b, c, simt_build_cmp(b, SIMT_EQ, d, simt_build_int(b, SIMT_T(I32), 0)));
    }
    return c;
}

static simt_value both_lanes(simt_builder *b, simt_value x, simt_value y) {
    if (!x || !y) return x ? x : y;
    uint32_t n = simt_typeof(b->func, x).lanes, m = simt_typeof(b->func, y).lanes;
    return lw_both(b, lw_widen(b, x, n > m ? n : m), lw_widen(b, y, n > m ? n : m));
}

// That no loop inside is at its padding: where one runs along the vector, of each lane.
static simt_value not_padding(kernel *k, simt_builder *b, const reduction *r) {
    simt_value c = 0;
    for (uint32_t i = r->masks; i < k->masks.len; i++) {
        position p = lw_var_position(k, b, k->masks.data[i].node->var);
        uint32_t lanes = p.shape == POSITION_ONE ? 1 : lw_lanes(k);
        simt_value x[16];
        if (!p.pad) continue;
        for (uint32_t l = 0; l < lanes; l++) x[l] = lw_position_lane(k, b, p, l);
        c = both_lanes(b, c, lw_not_padding(b, p, lw_gather(b, x, lanes)));
    }
    return c;
}

// A lifted state, combined where `when` holds (0: everywhere); as_is: it is one that changes nothing
// elsewhere.
static void take_in(kernel *k, simt_builder *b, const reduction *r, const simt_value *lifted, simt_value when,
                    bool as_is, uint8_t lanes, simt_value *state) {
    simt_value *after = ARENA_ARRAY(k->l->arena, simt_value, r->n);
    combine(k, b, r, state, lifted, lanes, after);
    if (r->some)
        after[r->r->nstate] = lw_widen(b, simt_build_pred(b, true),
                                       simt_typeof(k->f, state[r->r->nstate]).lanes);
    for (uint32_t c = 0; c < r->n; c++)
        state[c] = when && !(as_is && c < r->r->nstate) ? simt_build_select(b, when, after[c], state[c]) : after[c];
}

simt_value lw_enter_cell(kernel *k, simt_builder *b, const reduction *r) {
    simt_value c = 0;
    axis_set axes = 0;
    for (uint32_t i = 0; i < r->cells.len; i++) {
        c = lw_both(b, c, lw_expr(k, b, r->cells.data[i]));
        axes |= lw_depends(k, r->cells.data[i]);
    }
    k->cell = c, k->cell_axes = axes;
    return c;
}

// A maximum takes -inf for what an empty cell has: its exponential does, too (lower/maximum.c), and one
// choice is both.
static simt_value least_elsewhere(simt_builder *b, const reduction *r, simt_value x, simt_value inside) {
    simt_type t = simt_typeof(b->func, x);
    if (r->r->kind != REDUCE_MAX || r->level || t.element != SIMT_F32 || t.lanes != 1) return x;
    return simt_build_select(b, inside, x, simt_build_float(b, t, (double)-INFINITY));
}

static void contribute_one(kernel *k, simt_builder *b, const reduction *r, const loop_node *n,
                           simt_value *slot) {
    arena *a = k->l->arena;
    simt_value *lifted = ARENA_ARRAY(a, simt_value, r->n), *state = ARENA_ARRAY(a, simt_value, r->n),
               *one = ARENA_ARRAY(a, simt_value, r->n);
    bool inside = vector_of(k, r->left | r->bound) && k->at[k->vector] >= 0;
    bool laned = inside && r->types[0].lanes > 1;
    uint32_t lane = laned ? (uint32_t)k->at[k->vector] : 0, turns = r->chained && !inside ? lw_lanes(k) : 1;
    for (uint32_t c = 0; c < r->n; c++) state[c] = laned ? lw_pick(b, slot[c], lane) : slot[c];
    simt_value when = lw_both(b, lw_masks(k, b, r->masks), only_once(k, b, r)), cell = lw_enter_cell(k, b, r);
    when = lw_both(b, when, cell);
    if (n->valid) when = lw_both(b, when, lw_expr(k, b, n->valid));
    when = both_lanes(b, when, not_padding(k, b, r));
    lift(k, b, r, n, lifted);
    k->cell = 0;
    if (cell) lifted[0] = least_elsewhere(b, r, lifted[0], when);
    bool as_is = when && r->r->nstate == 1 && lw_adds_nothing(k, r, lifted[0], when);
    for (uint32_t t = 0; t < turns; t++) {
        for (uint32_t c = 0; c < r->r->nstate; c++) one[c] = turns > 1 ? lw_pick(b, lifted[c], t) : lifted[c];
        take_in(k, b, r, one, when && turns > 1 ? lw_pick(b, when, t) : when, as_is,
                laned ? 1 : r->types[0].lanes, state);
    }
    for (uint32_t c = 0; c < r->n; c++)
        slot[c] = laned && r->types[c].lanes > 1 ? lw_insert(b, slot[c], state[c], lane) : state[c];
}

static void contribute_all(kernel *k, simt_builder *b, reduction *r, const loop_node *n) {
    axis_set walked = lw_written_out(k, r->left);
    for (uint32_t i = r->masks; i < k->masks.len; i++)
        walked |= lw_written_out(k, lw_axes_enter(k, k->masks.data[i].node));
    if (n->valid) walked |= vector_of(k, lw_depends(k, n->valid));
    for (instance_walk w = lw_walk_begin(k, walked); lw_walk_next(&w);)
        contribute_one(k, b, r, n, &r->slot[lw_instance(k, r->copies) * r->n]);
}

// Rows of products go on with one maximum.
static void fold_round(kernel *k, simt_builder *b, reduction *r) {
    for (instance_walk w = lw_walk_begin(k, r->copies); lw_walk_next(&w);) {
        simt_value *slot = &r->slot[lw_instance(k, r->copies) * r->n], *all = lw_fold_threads(k, b, r, r->round, slot);
        for (uint32_t c = 0; c < r->n; c++) slot[c] = all[c];
    }
}

// Of a walk's lanes that have a step each, what a maximum is so far is that of all.
static void contribute_steps(kernel *k, simt_builder *b, reduction *r, const loop_node *n) {
    contribute_all(k, b, r, n);
    if (r->round && !r->most) fold_round(k, b, r);
    if (!lw_deals_walk(k) || !k->dealt->there) return;
    r->steps = (loop_digit){LOOP_LANE_PLACE, lw_dealt_parts(k), k->dealt->unit};
    for (uint32_t i = 0; i < r->node->nmaxima; i++) {
        if (r->node->maxima[i].stage != r->stage) continue;
        for (instance_walk w = lw_walk_begin(k, lw_written_out(k, r->copies)); lw_walk_next(&w);) {
            simt_value *slot = &r->slot[lw_instance(k, r->copies) * r->n],
                       *all = lw_fold_steps(k, b, r, slot, &r->steps);
            for (uint32_t c = 0; c < r->n; c++) slot[c] = all[c];
        }
    }
}

void lw_contribute(kernel *k, simt_builder *b, const loop_node *n) {
    reduction *r = lw_reduction(k, n->stages[0]);
    if (r->product) lw_contribute_product(k, b, r);
    else lw_grow(k, b, r, contribute_steps, n);
}

// ---- Combining parts -------------------------------------------------------------------------------------
// x, then y, both of n components; where one of them is empty, the other.
static void combine_parts(kernel *k, simt_builder *b, const reduction *r, const simt_value *x,
                          const simt_value *y, simt_value *out) {
    uint32_t n = r->r->nstate;
    uint8_t lanes = simt_typeof(k->f, x[0]).lanes;
    combine(k, b, r, x, y, lanes, out);
    if (!r->some) return;
    for (uint32_t c = 0; c < n && parts_may_be_empty(k, r); c++)
        out[c] = simt_build_select(b, y[n], simt_build_select(b, x[n], out[c], y[c]), x[c]);
    out[n] = simt_build_binary(b, SIMT_OR, x[n], y[n]);
}

simt_value *lw_state_new(kernel *k, const reduction *r) {
    return ARENA_ARRAY(k->l->arena, simt_value, r->n);
}

simt_value *lw_combined(kernel *k, simt_builder *b, const reduction *r, const simt_value *x,
                            const simt_value *y) {
    simt_value *out = lw_state_new(k, r);
    combine_parts(k, b, r, x, y, out);
    return out;
}

static simt_value *fold_copies(kernel *k, simt_builder *b, const reduction *r, axis_set bound) {
    simt_value **part = ARENA_ARRAY(k->l->arena, simt_value *, lw_instances(k, bound) + 1);
    uint32_t n = 0;
    for (instance_walk w = lw_walk_begin(k, bound); lw_walk_next(&w);)
        part[n++] = &r->slot[lw_instance(k, r->copies) * r->n];
    for (; n > 1; n = (n + 1) / 2)
        for (uint32_t i = 0; i < (n + 1) / 2; i++)
            part[i] = 2 * i + 1 < n ? lw_combined(k, b, r, part[2 * i], part[2 * i + 1]) : part[2 * i];
    return part[0];
}

static simt_value *fold_lanes(kernel *k, simt_builder *b, const reduction *r, simt_value *x) {
    for (uint32_t lanes = simt_typeof(k->f, x[0]).lanes / 2u; lanes > 0; lanes /= 2) {
        simt_value *lo = lw_state_new(k, r), *hi = lw_state_new(k, r);
        for (uint32_t c = 0; c < r->n; c++) {
            lo[c] = lw_slice(b, x[c], 0, lanes);
            hi[c] = lw_slice(b, x[c], lanes, lanes);
        }
        x = lw_combined(k, b, r, lo, hi);
    }
    return x;
}

// ---- Levels ----------------------------------------------------------------------------------------------
static simt_value as_element(simt_builder *b, simt_element e, simt_value x) {
    return simt_build_cvt(b, (simt_type){e, simt_typeof(b->func, x).lanes}, x);
}

// A state times the factor, in the wider of their types.
static simt_value times_factor(kernel *k, simt_builder *b, const reduction *r, simt_value x) {
    tensor_expr factor = tensor_node_at(k->l->op, k->l->op->stages.data[r->stage].body[0])->args[0];
    ir_dtype held = r->r->state_types[0].type, of = tensor_typeof(k->l->op, factor).type;
    ir_dtype wide = ir_dtype_holds(held, of) ? held : ir_dtype_holds(of, held) ? of : DT_F32;
    simt_element e = lw_value_element(k, wide);
    simt_value f = lw_widen(b, as_element(b, e, lw_expr(k, b, factor)), r->types[0].lanes);
    return as_element(b, r->types[0].element, simt_build_binary(b, SIMT_MUL, as_element(b, e, x), f));
}

static simt_value *copied(kernel *k, const simt_value *x, uint32_t n) {
    simt_value *out = ARENA_ARRAY(k->l->arena, simt_value, n + 1);
    for (uint32_t i = 0; i < n; i++) out[i] = x[i];
    return out;
}

// The state begins anew for what is inside, and is combined with what it was before.
void lw_level(kernel *k, simt_builder *b, const loop_node *n) {
    simt_value **before = ARENA_ARRAY(k->l->arena, simt_value *, n->nstages + 1);
    for (uint32_t s = 0; s < n->nstages; s++) {
        reduction *r = lw_reduction(k, n->stages[s]);
        simt_value *slot = r->slot;
        before[s] = copied(k, slot, lw_instances(k, r->copies) * r->n);
        start_states(k, b, r);
        simt_value *fresh = r->slot;
        r->slot = slot;
        for (instance_walk w = lw_walk_begin(k, r->copies); lw_walk_next(&w);)
            for (uint32_t c = 0, at = lw_instance(k, r->copies) * r->n; c < r->n; c++)
                slot[at + c] = fresh[at + c];
        r->level = true;
    }
    lw_body(k, b, &n->body);
    for (uint32_t s = 0; s < n->nstages; s++) {
        reduction *r = lw_reduction(k, n->stages[s]);
        r->level = false;
        for (instance_walk w = lw_walk_begin(k, r->copies); lw_walk_next(&w);) {
            simt_value *x = &r->slot[lw_instance(k, r->copies) * r->n],
                       *outer = &before[s][lw_instance(k, r->copies) * r->n];
            x[0] = times_factor(k, b, r, x[0]);
            combine_parts(k, b, r, outer, copied(k, x, r->n), x);
        }
    }
}

// ---- The whole -------------------------------------------------------------------------------------------
static simt_value *fold_between(kernel *k, simt_builder *b, const reduction *r, simt_value *x) {
    if (r->steps.extent > 1) x = lw_fold_steps(k, b, r, x, &r->steps);
    return lw_fold_threads(k, b, r, r->bound, x);
}

// What this thread has of the state at hand.
static simt_value *fold_own(kernel *k, simt_builder *b, const reduction *r, axis_set bound) {
    simt_value *x = fold_copies(k, b, r, bound);
    return vector_of(k, r->bound) ? fold_lanes(k, b, r, x) : x;
}

static simt_value *fold_steps(kernel *k, simt_builder *b, const reduction *r, axis_set bound) {
    simt_value **part = ARENA_ARRAY(k->l->arena, simt_value *, lw_dealt_parts(k));
    uint32_t n = 0;
    for (instance_walk w = lw_walk_begin(k, AXIS(k->dealt->axis)); lw_walk_next(&w);)
        part[n++] = fold_own(k, b, r, bound);
    return lw_fold_dealt(k, b, r, part);
}

void lw_close(kernel *k, simt_builder *b, reduction *r) {
    axis_set left = lw_written_out(k, r->left), bound = lw_written_out(k, r->copies & ~left);
    axis_set in_order = places(k, r->bound, LOOP_UNROLL_PLACE) | places(k, r->bound, LOOP_SERIAL_PLACE);
    if (!r->r->commutative && (r->bound & ~in_order))
        ICE("'%s': parts of %s are combined out of order", k->plan->name,
            k->l->op->stages.data[r->stage].name);
    lw_join_groups(k, b, r);
    bool deals = lw_deals(k, left);
    if (deals) left &= ~AXIS(k->dealt->axis);
    simt_value *slot = ARENA_ARRAY(k->l->arena, simt_value, lw_instances(k, left) * r->n);
    for (instance_walk w = lw_walk_begin(k, left); lw_walk_next(&w);) {
        simt_value *x = deals ? fold_steps(k, b, r, bound) : fold_between(k, b, r, fold_own(k, b, r, bound));
        for (uint32_t c = 0; c < r->n; c++) slot[lw_instance(k, left) * r->n + c] = x[c];
    }
    r->slot = slot;
    r->copies = left;
    r->open = false;
}

reduction *lw_open(kernel *k, simt_builder *b, const loop_node *n, uint32_t stage) {
    reduction *r = reduction_new(k, n, stage);
    start_states(k, b, r);
    lw_follow(k, b, r);
    VEC_PUSH(k->l->arena, &k->reductions, r);
    return r;
}

static const loop_node *innermost(const kernel *k) {
    uint32_t i = k->reductions.len;
    while (i > 0 && !k->reductions.data[i - 1]->open) i--;
    return i ? k->reductions.data[i - 1]->node : NULL;
}

const loop_node *lw_products(const kernel *k) {
    const loop_node *n = innermost(k);
    return n && n->matrix ? n : NULL;
}

void lw_add_cell(kernel *k, tensor_expr condition) {
    const loop_node *n = innermost(k);
    for (uint32_t i = 0; i < k->reductions.len; i++)
        if (k->reductions.data[i]->node == n) VEC_PUSH(k->l->arena, &k->reductions.data[i]->cells, condition);
}

void lw_take_cell(kernel *k) {
    const loop_node *n = innermost(k);
    for (uint32_t i = 0; i < k->reductions.len; i++)
        if (k->reductions.data[i]->node == n) k->reductions.data[i]->cells.len--;
}

// ---- The node --------------------------------------------------------------------------------------------
void lw_reduce(kernel *k, simt_builder *b, const loop_node *n) {
    region_mark m = lw_enter(k);
    uint32_t first = k->reductions.len;
    lw_enter_loops(k, &n->body);
    for (uint32_t i = 0; i < n->nstages; i++) lw_open(k, b, n, n->stages[i]);
    lw_body(k, b, &n->body);
    lw_close_maxima(k, b, n);
    for (uint32_t i = 0; i < n->nstages; i++)
        if (k->reductions.data[first + i]->open) lw_close(k, b, k->reductions.data[first + i]);
    if (loop_again(n)) lw_again(k, b, n, &k->reductions.data[first]);
    lw_leave_loops(k, &n->body);
    lw_leave(k, m);
}

void lw_finish(kernel *k, simt_builder *b, const reduction *r, simt_value *results) {
    const tensor_stage *st = &k->l->op->stages.data[r->stage];
    simt_value *state = lw_state_new(k, r);
    bool laned = vector_of(k, r->left) && k->at[k->vector] >= 0;
    for (uint32_t c = 0; c < r->n; c++) {
        state[c] = r->slot[lw_instance(k, r->copies) * r->n + c];
        if (laned) state[c] = lw_pick(b, state[c], (uint32_t)k->at[k->vector]);
    }
    lw_reducer(k, b, r->r->finish, r->r->nresults, NULL, state, NULL, results);
    for (uint32_t i = 0; i < st->nelse; i++)
        results[i] = lw_else(k, b, state[r->r->nstate], results[i], st->orelse[i]);
}
