// Digits of the loops in scope, and walks over the instances of those that are written out.
//
// Axes are numbered so that a later one is faster: an outer loop comes before an inner one, and a
// loop's rest before its digits, of which the innermost comes last. Loops that are never in scope
// together share numbers. Loops inside one reduction do not, because its states are indexed by all
// of them.

#include "lower/scope/scope.h"

// ---- Numbers ------------------------------------------------------------------------------------
static bool rest_written_out(const loop_node *n) {
    return n->rest == LOOP_UNROLL_PLACE || (n->rest == LOOP_SERIAL_PLACE && n->rounds.unroll > 1);
}

static uint32_t number_loop(kernel *k, const loop_node *n, uint32_t next) {
    if (k) VEC_PUSH(k->l->arena, &k->digits.loops, ((loop_axes){.node = n, .first = next}));
    return next + n->ndigits + rest_written_out(n);
}

// No kernel: they are counted.
static uint32_t number_in(kernel *k, const loop_body *body, uint32_t next, bool reducing) {
    uint32_t most = next;
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        uint32_t at = reducing ? most : next;
        if (n->kind == LOOP_FOR) at = number_loop(k, n, at);
        uint32_t end = number_in(k, &n->body, at,
                                 reducing || n->kind == LOOP_REDUCE || n->kind == LOOP_CARRY);
        if (end > most) most = end;
    }
    return most;
}

void lw_number_axes(kernel *k) { number_in(k, &k->plan->body, 0, false); }

uint32_t lw_count_axes(const loop_body *body) { return number_in(NULL, body, 0, false); }

loop_axes *lw_axes_of(kernel *k, const loop_node *n) {
    for (uint32_t i = 0; i < k->digits.loops.len; i++)
        if (k->digits.loops.data[i].node == n) return &k->digits.loops.data[i];
    ICE("a loop of '%s' is not numbered", k->plan->name);
}

uint32_t lw_axis(kernel *k, const loop_node *n, uint32_t digit) {
    return lw_axes_of(k, n)->first + rest_written_out(n) + n->ndigits - 1 - digit;
}

// ---- Scope --------------------------------------------------------------------------------------
static bool vector_extent(uint32_t n) { return n == 2 || n == 4 || n == 8 || n == 16; }

static axis_set enter_digit(lower_digits *d, uint32_t axis, const loop_digit *digit,
                            uint32_t weight) {
    loop_place place = digit->place;
    if (place == LOOP_VECTOR_PLACE) {   // a second vector, or one of another width, is written out
        if (d->vector == LOWER_NO_AXIS && vector_extent(digit->extent)) d->vector = axis;
        else place = LOOP_REGISTER_PLACE;
    }
    d->axis[axis] = (lower_axis){place, digit->extent, digit->unit, weight};
    d->at[axis] = -1;
    return AXIS(axis);
}

static axis_set loop_set(const loop_axes *a) {
    axis_set s = 0;
    for (uint32_t i = 0; i < a->node->ndigits + rest_written_out(a->node); i++)
        s |= AXIS(a->first + i);
    return s;
}

axis_set lw_axes_enter(kernel *k, const loop_node *n) {
    loop_axes *a = lw_axes_of(k, n);
    if (a->entered) return loop_set(a);
    a->entered = true;
    uint32_t weight = 1, rest = rest_written_out(n);
    for (uint32_t i = 0; i < n->ndigits; i++) {
        enter_digit(&k->digits, a->first + rest + n->ndigits - 1 - i, &n->digits[i], weight);
        weight *= n->digits[i].extent;
    }
    if (rest) {
        uint32_t extent = n->rounds.unroll;
        int64_t lo, hi;
        if (n->rest == LOOP_UNROLL_PLACE) {
            if (!lw_constant(k->l->op, n->lo, &lo) || !lw_constant(k->l->op, n->hi, &hi))
                ICE("'%s': a loop of unknown extent is to be written out", k->plan->name);
            extent = hi > lo ? (uint32_t)((hi - lo + weight - 1) / weight) : 0;
        }
        enter_digit(&k->digits, a->first, &(loop_digit){LOOP_UNROLL_PLACE, extent, 1}, weight);
    }
    return loop_set(a);
}

void lw_axes_leave(kernel *k, const loop_node *n) {
    loop_axes *a = lw_axes_of(k, n);
    a->entered = false;
    if (k->digits.vector != LOWER_NO_AXIS && loop_set(a) & AXIS(k->digits.vector))
        k->digits.vector = LOWER_NO_AXIS;
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

// ---- Sets ---------------------------------------------------------------------------------------
axis_set lw_written_out(const lower_digits *d, axis_set s) {
    axis_set out = 0;
    for (; s; s = lw_other_axes(s)) {
        loop_place place = d->axis[lw_first_axis(s)].place;
        if (place == LOOP_REGISTER_PLACE || place == LOOP_UNROLL_PLACE)
            out |= AXIS(lw_first_axis(s));
    }
    return out;
}

uint32_t lw_stride(const kernel *k, const lower_axis *a) {
    return a->place == LOOP_GROUP_PLACE ? a->unit * k->plan->lanes : a->unit;
}

axis_set lw_placed(const lower_digits *d, axis_set s, loop_place p) {
    axis_set out = 0;
    for (; s; s = lw_other_axes(s))
        if (d->axis[lw_first_axis(s)].place == p) out |= AXIS(lw_first_axis(s));
    return out;
}

axis_set lw_threads_in(const lower_digits *d, axis_set s) {
    return lw_placed(d, s, LOOP_LANE_PLACE) | lw_placed(d, s, LOOP_GROUP_PLACE);
}

axis_set lw_vector_of(const lower_digits *d, axis_set s) {
    return d->vector == LOWER_NO_AXIS ? 0 : s & AXIS(d->vector);
}

// ---- Vectors ------------------------------------------------------------------------------------
static bool has_vector(const lower_digits *d, axis_set s) {
    return d->vector != LOWER_NO_AXIS && s & AXIS(d->vector);
}

bool lw_vector_free(const lower_digits *d, axis_set s) {
    return has_vector(d, s) && d->at[d->vector] < 0;
}
uint32_t lw_lanes(const lower_digits *d) { return d->axis[d->vector].extent; }

// ---- Instances ----------------------------------------------------------------------------------
uint32_t lw_instances(const lower_digits *d, axis_set s) {
    uint32_t n = has_vector(d, s) ? 1 + lw_lanes(d) : 1;
    for (axis_set left = lw_written_out(d, s); left; left = lw_other_axes(left)) {
        uint32_t extent = d->axis[lw_first_axis(left)].extent;
        n *= extent ? extent : 1;
    }
    return n;
}

uint32_t lw_instance(const lower_digits *d, axis_set s) {
    uint32_t n = 0;
    for (axis_set left = lw_written_out(d, s); left; left = lw_other_axes(left)) {
        uint32_t i = lw_first_axis(left);
        n = n * d->axis[i].extent + (uint32_t)(d->at[i] < 0 ? 0 : d->at[i]);
    }
    return has_vector(d, s) ? n * (1 + lw_lanes(d)) + (uint32_t)(d->at[d->vector] + 1) : n;
}

instance_walk lw_walk_begin(lower_digits *d, axis_set s) {
    instance_walk w = {.digits = d};
    axis_set walked = lw_written_out(d, s) | (lw_vector_free(d, s) ? AXIS(d->vector) : 0);
    for (; walked; walked = lw_other_axes(walked))
        if (d->at[lw_first_axis(walked)] < 0) w.axis[w.n++] = (uint8_t)lw_first_axis(walked);
    return w;
}

bool lw_walk_next(instance_walk *w) {
    lower_digits *d = w->digits;
    if (!w->begun) {
        w->begun = true;
        bool some = true;
        for (uint32_t i = 0; i < w->n; i++) some &= d->axis[w->axis[i]].extent > 0;
        for (uint32_t i = 0; i < w->n && some; i++) d->at[w->axis[i]] = 0;
        return some;
    }
    for (uint32_t i = w->n; i-- > 0;) {
        if (++d->at[w->axis[i]] < (int32_t)d->axis[w->axis[i]].extent) return true;
        d->at[w->axis[i]] = 0;
    }
    for (uint32_t i = 0; i < w->n; i++) d->at[w->axis[i]] = -1;
    return false;
}
