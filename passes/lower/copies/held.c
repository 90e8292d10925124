// Entries that lanes hold. At the head of a round lane i loads the entries i, i + lanes, … of the
// round, so that the loads are coalesced. Each use takes its entry from that lane by a shuffle.
// Hand-written kernels load indices and edge values so: GE-SpMM, G-Sparse, HalfGNN's first phase.
//     for e in lo .. hi [serial 32, serial] hold (src[e]) lanes 32 { … x[src[e], f] … }
//  →  for base = lo to hi step 32 { held = src[min(base + lane, hi - 1)]
//       for i = 0 to min(32, hi - base) { … x[shfl(held, i), f] … } }

#include "lower/copies/copies.h"

static simt_value i32(simt_builder *b, int64_t x) { return simt_build_int(b, SIMT_T(I32), x); }

static simt_value shuffle(simt_builder *b, simt_op op, simt_value x, simt_value lane,
                          uint32_t width) {
    simt_type t = simt_typeof(b->func, x);
    simt_instr i = simt_build_op(b, op, (simt_value[]){x, lane}, 2, &t, 1);
    b->func->instrs.data[i].imm.i = width;
    return simt_result(b->func, i, 0);
}

// ---- Loading ------------------------------------------------------------------------------------
static bool takes_threads(const loop_digit *d) {
    return d->place == LOOP_LANE_PLACE || d->place == LOOP_GROUP_PLACE;
}

// How many of a thread's entries one step of the digit goes over; of digit n->ndigits, the whole
// round. Digits of threads do not count: those threads have other positions.
static uint32_t entries_below(const loop_node *n, uint32_t digit) {
    uint32_t entries = 1;
    for (uint32_t i = 0; i < digit; i++)
        if (!takes_threads(&n->digits[i])) entries *= n->digits[i].extent;
    return entries;
}

// How many positions are between one entry of a thread and its next.
static uint32_t apart(const loop_node *n) {
    uint32_t points = 1;
    for (uint32_t i = 0; i < n->ndigits && takes_threads(&n->digits[i]); i++)
        points *= n->digits[i].extent;
    return points;
}

static uint32_t registers_of(const loop_node *n) {
    return (entries_below(n, n->ndigits) + n->holding.lanes - 1) / n->holding.lanes;
}

// The entries at a position of this thread.
static void load_entries(kernel *k, simt_builder *b, const loop_node *n, simt_value at,
                         simt_value *out, uint32_t stride) {
    lw_rebinding outer = lw_rebind(k, n->var, at);
    for (uint32_t i = 0; i < n->holding.n; i++)
        out[i * stride] = lw_expr(k, b, n->holding.loads[i]);
    lw_restore(k, &outer);
}

// The largest number of entries that are left to a lane of the warp: all lanes go through the same
// steps.
static simt_value most_left(simt_builder *b, simt_value left, uint32_t by) {
    for (uint32_t m = by; m < 32; m *= 2)
        left = simt_build_binary(b, SIMT_MAX, left,
                                 shuffle(b, SIMT_SHFL_BFLY, left, i32(b, m), 32));
    return shuffle(b, SIMT_SHFL_IDX, left, i32(b, 0), 32);
}

static bool differs_in_warp(const kernel *k, const loop_node *n, const loop_round *r) {
    bool differs = r->round.maybe_none;
    for (uint32_t i = 0; i < n->ndigits; i++) {
        const loop_digit *d = &n->digits[i];
        uint32_t stride = d->place == LOOP_GROUP_PLACE ? d->unit * k->plan->lanes : d->unit;
        differs |= takes_threads(d) && d->extent > 1 && stride % 32;
    }
    return differs;
}

// How many parts of that size x has; the last part may not be full. If x is negative, as for a
// thread that is through, there are no parts.
static simt_value parts(kernel *k, simt_builder *b, simt_value x, uint32_t size) {
    if (size == 1) return x;
    simt_value up = simt_build_binary(b, SIMT_ADD, x, lw_ix(k, b, (int64_t)size - 1));
    up = simt_build_binary(b, SIMT_MAX, up, lw_ix(k, b, 0));
    return simt_build_binary(b, SIMT_UDIV, up, lw_ix(k, b, size));
}

static simt_value entries_left(kernel *k, simt_builder *b, const loop_node *n, const loop_round *r,
                               simt_value own) {
    simt_value left = parts(k, b, simt_build_binary(b, SIMT_SUB, r->round.hi, own), apart(n));
    return differs_in_warp(k, n, r) ? most_left(b, left, n->holding.lanes) : left;
}

void lw_hold(kernel *k, simt_builder *b, const loop_node *n, loop_round *r) {
    uint32_t registers = registers_of(n), points = apart(n);
    simt_value own = lw_thread_position(k, b, n, r->round.base);
    r->entry = 0;
    if (n->holding.shared) {
        r->left = entries_left(k, b, n, r, own);
        r->tile = lw_hold_shared(k, b, n, r, own);
        return;
    }
    simt_value lane = lw_to_ix(
        k, b, simt_build_binary(b, SIMT_AND, k->thread.number, i32(b, n->holding.lanes - 1)));
    if (points > 1) lane = simt_build_binary(b, SIMT_MUL, lane, lw_ix(k, b, points));
    simt_value first = simt_build_binary(b, SIMT_ADD, own, lane);
    simt_value last = simt_build_binary(b, SIMT_SUB, r->round.hi, lw_ix(k, b, 1));
    r->left = entries_left(k, b, n, r, own);
    r->held = ARENA_ARRAY(k->l->arena, simt_value, n->holding.n * registers + 1);
    for (uint32_t i = 0; i < registers; i++) {
        simt_value at = simt_build_binary(b, SIMT_ADD, first,
                                          lw_ix(k, b, (int64_t)i * n->holding.lanes * points));
        at = simt_build_binary(b, SIMT_MIN, at, last);
        if (r->round.maybe_none) at = simt_build_binary(b, SIMT_MAX, at, lw_ix(k, b, 0));
        load_entries(k, b, n, at, r->held + i, registers);
    }
}

// ---- Steps --------------------------------------------------------------------------------------
// How many steps of a serial digit some lane of the warp has an entry at.
simt_value lw_held_steps(kernel *k, simt_builder *b, const loop_node *n, uint32_t digit,
                         const loop_round *r) {
    simt_value steps = parts(k, b, r->left, entries_below(n, digit));
    return simt_build_binary(b, SIMT_MIN, steps, lw_ix(k, b, n->digits[digit].extent));
}

// If a step is as long as a register, the registers turn: the next step's entries come first.
uint32_t lw_held_turns(const loop_node *n, uint32_t digit) {
    return n->holding.n && !n->holding.shared && entries_below(n, digit) % n->holding.lanes == 0
               ? n->holding.n * registers_of(n)
               : 0;
}

void lw_held_turn(const loop_node *n, uint32_t digit, const simt_value *held, simt_value *out) {
    uint32_t registers = registers_of(n), by = entries_below(n, digit) / n->holding.lanes;
    for (uint32_t i = 0; i < n->holding.n * registers; i++)
        out[i] = held[i / registers * registers + (i + by) % registers];
}

void lw_held_step(kernel *k, simt_builder *b, const loop_node *n, uint32_t digit, simt_value step,
                  loop_round *r) {
    uint32_t entries = entries_below(n, digit);
    simt_value done = simt_build_binary(b, SIMT_MUL, step, lw_ix(k, b, entries));
    r->left = simt_build_binary(b, SIMT_SUB, r->left, done);
    if (!n->holding.shared && entries % n->holding.lanes == 0) return;
    simt_value entry = simt_build_cvt(b, SIMT_T(I32), done);
    r->entry = r->entry ? simt_build_binary(b, SIMT_ADD, r->entry, entry) : entry;
}

// ---- Uses ---------------------------------------------------------------------------------------
// A value that its load widened moves in its narrow type.
static simt_value moved(simt_builder *b, simt_value x, simt_value lane, uint32_t width) {
    simt_type t = simt_typeof(b->func, x);
    simt_instr def = b->func->values.data[x].def;
    const simt_instr_info *made = def ? &b->func->instrs.data[def] : NULL;
    if (t.element == SIMT_PRED) x = simt_build_cvt(b, SIMT_T(I32), x);
    else if (made && made->op == SIMT_CVT &&
             simt_element_bits(simt_typeof(b->func, made->args[0]).element) <
                 simt_element_bits(t.element))
        x = made->args[0];
    return simt_build_cvt(b, t, shuffle(b, SIMT_SHFL_IDX, x, lane, width));
}

// Each copy of the position takes its entries, where loads in the body find them.
void lw_take_held(kernel *k, simt_builder *b, const loop_node *n, const loop_round *r) {
    uint32_t registers = registers_of(n);
    axis_set copies = lw_written_out(&k->digits, r->own);
    wide_entries *last = ARENA_ARRAY(k->l->arena, wide_entries, n->holding.n);
    for (instance_walk w = lw_walk_begin(&k->digits, copies); lw_walk_next(&w);) {
        uint32_t at = 0;
        for (uint32_t i = 0; i < LOWER_MAX_AXES; i++)
            if (copies & AXIS(i))
                at += (uint32_t)k->digits.at[i] * k->digits.axis[i].weight / apart(n);
        simt_value lane = i32(b, at % n->holding.lanes);
        if (r->entry && !n->holding.shared) lane = simt_build_binary(b, SIMT_ADD, r->entry, lane);
        for (uint32_t i = 0; i < n->holding.n; i++) {
            const tensor_node *x = tensor_node_at(k->l->op, n->holding.loads[i]);
            register_value v = {.val = (tensor_val)x->imm.i};
            for (uint32_t a = 0; a < x->nargs; a++) v.index[a] = lw_position(k, b, x->args[a]);
            v.value = n->holding.shared ? lw_held_in_shared(k, b, n, i, r, at, &last[i])
                                        : moved(b, r->held[i * registers + at / n->holding.lanes],
                                                lane, n->holding.lanes);
            k->access.held[v.val] = true;
            VEC_PUSH(k->l->arena, &k->known.registers, v);
        }
    }
}
