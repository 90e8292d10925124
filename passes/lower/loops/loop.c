// Loops and their rounds. A loop carries the states of the reductions around it that its body
// updates. Positions past the end are moved onto the last one and masked, so that warps stay
// together.

#include "lower/loops/loops.h"

// ---- What a body does ---------------------------------------------------------------------------
static bool spreads(const loop_body *body) {   // over threads, whose states are combined afterwards
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        for (uint32_t d = 0; n->kind == LOOP_FOR && d < n->ndigits; d++)
            if (n->digits[d].place == LOOP_LANE_PLACE || n->digits[d].place == LOOP_GROUP_PLACE)
                return true;
        if (spreads(&n->body)) return true;
    }
    return false;
}

static bool lw_meets(const kernel *k, const loop_body *body) {
    for (uint32_t i = 0; lw_threads(k) && i < body->len; i++) {
        const loop_node *n = body->data[i];
        if (n->kind == LOOP_PHASE || n->holding.n || n->fetch.n || n->distributed.to.extent ||
            ((n->kind == LOOP_REDUCE || n->kind == LOOP_CARRY) && spreads(&n->body)) ||
            lw_meets(k, &n->body))
            return true;
    }
    return false;
}

// ---- Rounds -------------------------------------------------------------------------------------
static reduction *carried_by(const kernel *k, const loop_node *n) {
    for (uint32_t i = 0; i < k->sums.all.len; i++)
        if (k->sums.all.data[i]->carry.walk == n) return k->sums.all.data[i];
    return NULL;
}

static bool is_scanned(const kernel *k, const loop_node *n) {   // by lanes, in each round
    const reduction *carry = carried_by(k, n);
    return carry && carry->carry.lanes;
}

static void at_positions(kernel *k, simt_builder *b, const loop_node *n, void *user) {
    const loop_round *r = user;
    reduction *carry = carried_by(k, n);
    if (carry) lw_carry_body(k, b, carry, r);
    else lw_body(k, b, &n->body);
}

static uint32_t written_out_axis(kernel *k, const loop_node *n) {
    uint32_t first = lw_axes_of(k, n)->first, i = first;
    if (n->rest == LOOP_SERIAL_PLACE && n->rounds.unroll > 1) return first;
    while (k->digits.axis[i].place != LOOP_UNROLL_PLACE) i++;
    return i;
}

// Lanes that are through take part in shuffles, and read nothing.
static void positions_body(kernel *k, simt_builder *b, const loop_node *n, loop_round *r) {
    uint32_t masks = k->scope.masks.len, rows = k->scope.rows.len, columns = k->scope.columns.len;
    distributed_steps *outer = k->distributed, distributed = {.node = n, .round = r};
    if (n->distributed.steps) {
        distributed.axis = written_out_axis(k, n);
        distributed.unit = n->distributed.to.unit;
        k->distributed = &distributed;
    }
    lw_bind(k, b, n, r->own, r->round);
    if (n->holding.n) lw_take_held(k, b, n, r);
    lw_walk_row(k, n);
    bool through = n->holding.n && r->round.maybe_none && !is_scanned(k, n) &&
                   !lw_meets(k, &n->body);
    if (through)
        lw_build_if(k, b, simt_build_cmp(b, SIMT_LT, r->round.base, r->round.hi), n, at_positions,
                    r);
    else at_positions(k, b, n, r);
    k->distributed = outer;
    k->scope.masks.len = masks;
    k->scope.rows.len = rows;
    k->scope.columns.len = columns;
    lw_forget_tiles(k, n->var);
    k->scope.var[n->var] = (binding){0};
}

static simt_value *with_held(kernel *k, const slot_list *s, const simt_value *held, uint32_t n) {
    simt_value *v = ARENA_ARRAY(k->l->arena, simt_value, s->len + n + 1);
    for (uint32_t i = 0; i < s->len; i++) v[i] = *s->data[i];
    for (uint32_t i = 0; i < n; i++) v[s->len + i] = held[i];
    return v;
}

// How often a serial digit goes round: not past the end, if all threads of the block agree on it.
static simt_value serial_steps(kernel *k, simt_builder *b, const loop_node *n, uint32_t digit,
                               uint32_t weight, const loop_round *r) {
    if (n->holding.n) return lw_held_steps(k, b, n, digit, r);
    simt_value steps = lw_ix(k, b, n->digits[digit].extent);
    if (!r->round.masked ||
        lw_varies_in_block(&k->digits, lw_depends(k, n->lo) | lw_depends(k, n->hi)))
        return steps;
    simt_value left = simt_build_binary(b, SIMT_SUB, r->round.hi, r->round.base),
               up = simt_build_binary(b, SIMT_ADD, left, lw_ix(k, b, (int64_t)weight - 1));
    up = simt_build_binary(b, SIMT_MAX, up, lw_ix(k, b, 0));
    return simt_build_binary(b, SIMT_MIN, steps,
                             simt_build_binary(b, SIMT_UDIV, up, lw_ix(k, b, weight)));
}

// Where the rounds of a serial digit end, for copies of rows: rows after that belong to another
// block.
static simt_value end_of_rounds(simt_builder *b, const loop_node *n, const loop_round *r) {
    if (n->rest != LOOP_BLOCK_PLACE) return r->round.hi;
    simt_value mine = simt_build_with(b, SIMT_ADD, r->round.base, lw_step(n));
    return simt_build_binary(b, SIMT_MIN, r->round.hi, mine);
}

// The buffer of the round with that number, and the buffer that is filled in it.
static void fetch_numbered(kernel *k, simt_builder *b, const loop_node *n, simt_value base,
                           simt_value number, simt_value hi) {
    simt_value slot = simt_build_with(b, SIMT_UREM, number, n->fetch.buffers),
               next = simt_build_with(b, SIMT_UREM,
                                      simt_build_with(b, SIMT_ADD, number, n->fetch.buffers - 1),
                                      n->fetch.buffers);
    lw_fetch_round(k, b, n, base, slot, next, hi, NULL);
}

// Serial digits are loops around the body, the outermost first.
static void serial_digits(kernel *k, simt_builder *b, const loop_node *n, uint32_t digits,
                          loop_round r) {
    uint32_t d = digits, weight = 1;
    while (d > 0 && n->digits[d - 1].place != LOOP_SERIAL_PLACE) d--;
    if (!d) {
        positions_body(k, b, n, &r);
        return;
    }
    for (uint32_t i = 0; i + 1 < d; i++) weight *= n->digits[i].extent;
    slot_list slots = lw_slots(k, &n->body);
    uint32_t turns = lw_held_turns(n, d - 1), count = slots.len + turns;
    simt_value steps = serial_steps(k, b, n, d - 1, weight, &r);
    simt_value end = n->fetch.n ? end_of_rounds(b, n, &r) : 0;
    if (n->fetch.n) lw_fetch_first(k, b, n, r.round.base, end, NULL);
    simt_instr loop;
    simt_builder in = simt_build_for(b, lw_ix(k, b, 0), steps, lw_ix(k, b, 1),
                                     with_held(k, &slots, r.held, turns), count, &loop);
    for (uint32_t i = 0; i < slots.len; i++) *slots.data[i] = simt_for_carried(k->f, loop, i);
    if (turns) r.held = ARENA_ARRAY(k->l->arena, simt_value, turns);
    for (uint32_t i = 0; i < turns; i++) r.held[i] = simt_for_carried(k->f, loop, slots.len + i);
    region_mark m = lw_enter(&k->known);
    lw_meet_again(k, &in, &n->body);
    if (n->holding.n) lw_held_step(k, &in, n, d - 1, simt_for_index(k->f, loop), &r);
    r.round.base = simt_build_binary(&in, SIMT_ADD, r.round.base,
                                     lw_times(k, &in, simt_for_index(k->f, loop), weight));
    uint32_t fetched = k->rounds.fetched.len, rounds = k->rounds.counted.len;
    VEC_PUSH(k->l->arena, &k->rounds.counted,
             ((counted_round){n, simt_for_index(k->f, loop), lw_ix(k, &in, 0)}));
    if (n->fetch.n)
        fetch_numbered(k, &in, n, r.round.base,
                       simt_build_cvt(&in, SIMT_T(I32), simt_for_index(k->f, loop)), end);
    serial_digits(k, &in, n, d - 1, r);
    k->rounds.fetched.len = fetched;
    k->rounds.counted.len = rounds;
    lw_leave(&k->known, m);
    simt_value *next = ARENA_ARRAY(k->l->arena, simt_value, turns + 1);
    if (turns) lw_held_turn(n, d - 1, r.held, next);
    simt_build_yield(&in, with_held(k, &slots, next, turns), count);
    lw_slots_set(k, &slots, loop);
}

static void round_body(kernel *k, simt_builder *b, const loop_node *n, void *user) {
    loop_round r = *(const loop_round *)user;
    if (n->holding.n) lw_hold(k, b, n, &r);
    serial_digits(k, b, n, n->ndigits, r);
}

static void bounds_of(kernel *k, simt_builder *b, const loop_node *n, simt_value *lo,
                      simt_value *hi) {
    *lo = lw_to_ix(k, b, lw_expr(k, b, n->lo));
    *hi = lw_to_ix(k, b, lw_expr(k, b, n->hi));
}

// Some lane of the warp, or thread of the block, has a position left.
static simt_value some_more(kernel *k, simt_builder *b, simt_value at, simt_value hi, simt_op of) {
    simt_value more = simt_build_cmp(b, SIMT_LT, at, hi);
    simt_type t = SIMT_T(PRED);
    return simt_result(k->f, simt_build_op(b, of, &more, 1, &t, 1), 0);
}

static simt_value any_more(kernel *k, simt_builder *b, simt_value at, simt_value hi) {
    return some_more(k, b, at, hi, SIMT_VOTE_ANY);
}

static bool binds(const loop_node *n, tensor_var v) {
    bool any = (n->kind == LOOP_FOR || n->kind == LOOP_LET) && n->var == v;
    for (uint32_t i = 0; i < n->body.len && !any; i++) any = binds(n->body.data[i], v);
    return any;
}

// The expression is of variables that are bound outside of the loop. A variable that it binds may
// still be bound from before.
static bool is_bound(const kernel *k, const loop_node *outside, tensor_expr e) {
    const tensor_node *x = tensor_node_at(k->l->op, e);
    if (x->op == TENSOR_VAR_OP)
        return k->scope.var[x->imm.i].kind != BOUND_NOT && !binds(outside, (tensor_var)x->imm.i);
    for (uint32_t i = 0; i < x->nargs; i++)
        if (!is_bound(k, outside, x->args[i])) return false;
    return true;
}

// Copies of rows wait for the indices between the bounds of their walk. So bounds of walks inside
// are loaded along with those of the loop around: otherwise a block would wait for one more access
// to memory.
static void ask_bounds(kernel *k, simt_builder *b, const loop_node *around, const loop_body *body) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        simt_value lo, hi;
        if (n->kind == LOOP_FOR && n->fetch.n && is_bound(k, around, n->lo) &&
            is_bound(k, around, n->hi)) {
            bounds_of(k, b, n, &lo, &hi);
            lw_pin(k, lo);
            lw_pin(k, hi);
        }
        ask_bounds(k, b, around, &n->body);
    }
}

// One round: of a block, or of a loop that its digits cover. If there is no position, nothing runs,
// where a thread can tell that for its whole warp.
static void lower_one_round(kernel *k, simt_builder *b, const loop_node *n, axis_set own,
                            bool together) {
    simt_value lo, hi;
    int64_t first, end;
    bounds_of(k, b, n, &lo, &hi);
    bool known = lw_constant(k->l->op, n->lo, &first) && lw_constant(k->l->op, n->hi, &end),
         covered = lw_spans(k->l->op, n, lw_step(n));
    loop_round r = {.own = own,
                    .round = {lo, hi, !lw_ends_exactly(k->l->op, n, lw_step(n)), false}};
    if (n->rest == LOOP_BLOCK_PLACE)
        for (uint32_t i = 0; i < k->grid.loops.len; i++)
            if (k->grid.loops.data[i] == n)
                r.round.base = simt_build_binary(b, SIMT_ADD, lo,
                                                 lw_times(k, b, k->grid.at[i], lw_step(n)));
    region_mark m = lw_enter(&k->known);
    if (n->rest == LOOP_BLOCK_PLACE || covered || (known && end > first)) round_body(k, b, n, &r);
    else if (!known) {
        ask_bounds(k, b, n, &n->body);
        simt_value some = together ? any_more(k, b, lo, hi) : simt_build_cmp(b, SIMT_LT, lo, hi);
        r.round.maybe_none = together;
        lw_build_if(k, b, some, n, round_body, &r);
    }
    lw_leave(&k->known, m);
}

// If no row of the warp has a cell in the round, nothing is computed. What rows alone have may be
// read before that: it is there.
static void round_of_cells(kernel *k, simt_builder *b, const loop_node *n, loop_round *r) {
    simt_value some = lw_round_has_cells(k, b, n);
    if (!some) {
        round_body(k, b, n, r);
        return;
    }
    simt_instr branch = lw_build_if(k, b, some, n, round_body, r);
    k->f->instrs.data[branch].aux = SIMT_IF_MASK;
}

static simt_value rounds_since(kernel *k, simt_builder *b, simt_value lo, simt_value base,
                               uint32_t step) {
    simt_value since = simt_build_binary(b, SIMT_SUB, base, lo);
    return simt_build_cvt(b, SIMT_T(I32),
                          simt_build_binary(b, SIMT_UDIV, since, lw_ix(k, b, step)));
}

static void rounds_loop(kernel *k, simt_builder *b, const loop_node *n, simt_value lo,
                        simt_value hi, uint32_t step, loop_round *r) {
    slot_list slots = lw_slots(k, &n->body);
    read_ahead *ahead = lw_read_ahead(k, b, n, lo, hi, &slots);
    if (n->fetch.n) lw_fetch_first(k, b, n, lo, hi, ahead ? lw_read_begin(ahead) : NULL);
    lw_hold_first(k, b, n, lo, hi, 0);
    r->start = lo;
    // The buffer is carried if a round reads ahead. Elsewhere a register costs more than a
    // division.
    simt_value slot = ahead ? simt_build_int(b, SIMT_T(I32), 0) : 0;
    if (ahead) VEC_PUSH(k->l->arena, &slots, &slot);
    simt_instr loop;
    simt_value *init = ARENA_ARRAY(k->l->arena, simt_value, slots.len + 1);
    for (uint32_t i = 0; i < slots.len; i++) init[i] = *slots.data[i];
    simt_builder in = simt_build_for(b, lo, hi, lw_ix(k, b, step), init, slots.len, &loop);
    k->f->instrs.data[loop].aux = SIMT_LOOP_ROLLED;   // the plan alone unrolls
    for (uint32_t i = 0; i < slots.len; i++) *slots.data[i] = simt_for_carried(k->f, loop, i);
    region_mark m = lw_enter(&k->known);
    r->round.base = simt_for_index(k->f, loop);
    lw_meet_again(k, &in, &n->body);
    uint32_t fetched = k->rounds.fetched.len, rounds = k->rounds.counted.len;
    VEC_PUSH(k->l->arena, &k->rounds.counted, ((counted_round){n, r->round.base, lo}));
    const simt_value *indices = ahead ? lw_read_next(k, &in, ahead, r->round.base, hi) : NULL;
    if (ahead)
        lw_fetch_round(k, &in, n, r->round.base, slot, lw_buffer_beside(&in, n, slot, false), hi,
                       indices);
    else if (n->fetch.n)
        fetch_numbered(k, &in, n, r->round.base, rounds_since(k, &in, lo, r->round.base, step), hi);
    if (ahead) slot = lw_buffer_beside(&in, n, slot, true);
    const read_ahead *outer = k->rounds.ahead;
    k->rounds.ahead = ahead;
    round_of_cells(k, &in, n, r);
    k->rounds.ahead = outer;
    if (n->fetch.n) lw_fetch_end(k, &in, n);
    if (ahead) lw_read_done(ahead);
    k->rounds.fetched.len = fetched;
    k->rounds.counted.len = rounds;
    lw_leave(&k->known, m);
    simt_build_yield(&in, lw_slot_values(k, &slots), slots.len);
    lw_slots_set(k, &slots, loop);
    if (ahead || lw_fetches_own(n)) lw_fetch_last(b);
    lw_hold_last(b, n);
}

void lw_serial_loop(kernel *k, simt_builder *b, const loop_node *n, simt_value lo, simt_value hi,
                    uint32_t step, loop_round *r) {
    lower_blocks blocks = {n, lw_long_sums(k, n), lo, hi, step, r, rounds_loop};
    if (blocks.sums.len) lw_in_blocks(k, b, &blocks);
    else rounds_loop(k, b, n, lo, hi, step, r);
}

// Lanes of a warp, or warps of a block, walk different intervals and meet inside: all go on until
// the last one is done. Whether they go on is carried, so that it is known before the loop for the
// first round.
static void loop_together(kernel *k, simt_builder *b, const loop_node *n, simt_value lo,
                          simt_value hi, loop_round *r) {
    enum { MORE, AT, SLOTS };
    slot_list slots = lw_slots(k, &n->body);
    uint32_t count = SLOTS + slots.len;
    simt_value *v = ARENA_ARRAY(k->l->arena, simt_value, count);
    const simt_op some = lw_holds_in_block(n) ? SIMT_BARRIER_ANY : SIMT_VOTE_ANY;
    v[MORE] = some_more(k, b, lo, hi, some);
    v[AT] = lo;
    for (uint32_t i = 0; i < slots.len; i++) v[SLOTS + i] = *slots.data[i];
    lw_hold_first(k, b, n, lo, hi, v[MORE]);
    r->start = lo;
    simt_builder test, body;
    simt_instr loop = simt_build_while(b, v, count, &test, &body);
    simt_value *again = ARENA_ARRAY(k->l->arena, simt_value, count + 1);
    for (uint32_t i = 0; i < count; i++) again[i + 1] = simt_while_carried(k->f, loop, false, i);
    again[0] = again[1 + MORE];
    simt_build_yield(&test, again, count + 1);
    for (uint32_t i = 0; i < slots.len; i++)
        *slots.data[i] = simt_while_carried(k->f, loop, true, SLOTS + i);
    region_mark m = lw_enter(&k->known);
    r->round = (round_of){.base = simt_while_carried(k->f, loop, true, AT),
                          .hi = hi,
                          .masked = true,
                          .maybe_none = true};
    lw_meet_again(k, &body, &n->body);
    round_body(k, &body, n, r);
    lw_leave(&k->known, m);
    uint32_t step = lw_step(n) * (n->rounds.masked ? n->rounds.unroll : 1);
    v[AT] = simt_build_binary(&body, SIMT_ADD, r->round.base, lw_ix(k, &body, step));
    v[MORE] = some_more(k, &body, v[AT], hi, some);
    for (uint32_t i = 0; i < slots.len; i++) v[SLOTS + i] = *slots.data[i];
    simt_build_yield(&body, v, count);
    for (uint32_t i = 0; i < slots.len; i++) *slots.data[i] = simt_result(k->f, loop, SLOTS + i);
    lw_hold_last(b, n);
}

// unroll n: full rounds, n at a time and without masks. Returns where they end.
static simt_value full_rounds(kernel *k, simt_builder *b, const loop_node *n, simt_value lo,
                              simt_value hi, loop_round *r) {
    uint32_t tile = lw_step(n) * n->rounds.unroll;
    simt_value span = simt_build_binary(b, SIMT_MAX, simt_build_binary(b, SIMT_SUB, hi, lo),
                                        lw_ix(k, b, 0));
    simt_value rest = simt_build_binary(b, SIMT_UREM, span, lw_ix(k, b, tile));
    simt_value end = simt_build_binary(b, SIMT_SUB, simt_build_binary(b, SIMT_ADD, lo, span), rest);
    r->round.masked = false;
    lw_serial_loop(k, b, n, lo, end, tile, r);
    return end;
}

// If lanes have a step each, a walk has at least two steps, so that no step belongs to every lane.
static uint32_t steps_written_out(const loop_node *n, uint32_t steps) {
    return n->distributed.to.extent && steps < 2 ? 2 : steps;
}

void lw_last_round(kernel *k, simt_builder *b, const loop_node *n, void *user) {
    lw_meet_again(k, b, &n->body);
    round_body(k, b, n, user);
}

// Steps past the end are masked, in a round after the full ones. If lanes of a warp walk ranges of
// their own, all rounds are masked: otherwise a masked round would wait for the full rounds of the
// longest range.
static void lower_masked(kernel *k, simt_builder *b, const loop_node *n, simt_value lo,
                         simt_value hi, bool apart, loop_round *r) {
    uint32_t step = lw_step(n), tile = step * n->rounds.unroll;
    r->round.masked = !lw_ends_exactly(k->l->op, n, tile);
    if (apart || !r->round.masked) {
        lw_serial_loop(k, b, n, lo, hi, tile, r);
        return;
    }
    lo = full_rounds(k, b, n, lo, hi, r);
    r->round = (round_of){.base = lo, .hi = hi, .masked = true};
    // If a step has one position, one step less is left.
    k->digits.axis[lw_axes_of(k, n)->first].extent = steps_written_out(n, (tile - 1 + step - 1) /
                                                                              step);
    lw_build_if(k, b, simt_build_cmp(b, SIMT_LT, lo, hi), n, lw_last_round, r);
}

// Rows of a known size: all steps are written out, in one round.
static void lower_whole(kernel *k, simt_builder *b, const loop_node *n, axis_set own) {
    lower_axis *steps = &k->digits.axis[lw_axes_of(k, n)->first];
    loop_round r = {.own = own, .round = {.masked = true, .maybe_none = true}};
    bounds_of(k, b, n, &r.round.base, &r.round.hi);
    region_mark m = lw_enter(&k->known);
    steps->extent = steps_written_out(n, (k->sizes.within + lw_step(n) - 1) / lw_step(n));
    round_body(k, b, n, &r);
    lw_leave(&k->known, m);
    steps->extent = n->rounds.unroll;
}

static void lower_serial(kernel *k, simt_builder *b, const loop_node *n, axis_set own, bool apart,
                         bool together) {
    simt_value lo, hi;
    bounds_of(k, b, n, &lo, &hi);
    loop_round r = {.own = own, .round = {.hi = hi}};
    // what is copied ahead is copied before the first round
    bool one = lw_has_one_round(k->l->op, n) && !n->fetch.n && n->holding.shared < 2;
    lower_axis *steps = n->rounds.unroll > 1 ? &k->digits.axis[lw_axes_of(k, n)->first] : NULL;
    bool rest = steps && !n->rounds.masked && !together &&
                !one;   // a loop over less than a full round follows
    if (rest) lo = full_rounds(k, b, n, lo, hi, &r);
    if (steps && (!n->rounds.masked || one))
        steps->extent = 1;   // the rest goes one step at a time
    if (lw_pads_rounds(k, n)) lw_padded_rounds(k, b, n, &r);
    else if (one) lower_one_round(k, b, n, own, together);
    else if (together) loop_together(k, b, n, lo, hi, &r);
    else if (n->rounds.masked) lower_masked(k, b, n, lo, hi, apart, &r);
    else {
        r.round.masked = !lw_ends_exactly(k->l->op, n, lw_step(n));
        (rest ? rounds_loop : lw_serial_loop)(k, b, n, lo, hi, lw_step(n), &r);
    }
    if (steps) steps->extent = n->rounds.unroll;
}

// What stays is loaded if there is a round.
typedef struct {
    axis_set own;
    bool apart, together;
} staying_rounds;

static void staying_body(kernel *k, simt_builder *b, const loop_node *n, void *user) {
    const staying_rounds *s = user;
    const uint32_t staying = k->rounds.staying.len;
    lw_stay(k, b, n);
    lower_serial(k, b, n, s->own, s->apart, s->together);
    k->rounds.staying.len = staying;
}

static void lower_staying(kernel *k, simt_builder *b, const loop_node *n, axis_set own, bool apart,
                          bool together) {
    simt_value lo, hi;
    staying_rounds s = {own, apart, together};
    bounds_of(k, b, n, &lo, &hi);
    lw_build_if(k, b, simt_build_cmp(b, SIMT_LT, lo, hi), n, staying_body, &s);
}

// All rounds are written out: they are instances.
static void lower_written_out(kernel *k, simt_builder *b, const loop_node *n, axis_set own) {
    simt_value lo, hi;
    bounds_of(k, b, n, &lo, &hi);
    loop_round r = {.own = own,
                    .round = {lo, hi, !lw_ends_exactly(k->l->op, n, lw_step(n)), false}};
    region_mark m = lw_enter(&k->known);
    if (k->digits.axis[lw_axes_of(k, n)->first].extent) round_body(k, b, n, &r);
    lw_leave(&k->known, m);
}

// Steps around that are written out, if a reducer takes terms in order: the body runs for one step
// after the other.
static axis_set steps_in_order(kernel *k, const loop_node *n) {
    axis_set s = 0;
    for (uint32_t i = 0; i < k->sums.all.len; i++) {
        const reduction *r = k->sums.all.data[i];
        if (!r->open || r->r->commutative || !loop_contributes(&n->body, r->stage)) continue;
        for (uint32_t m = r->masks; m < k->scope.masks.len; m++) s |= k->scope.masks.data[m].axes;
    }
    return s;
}

void lw_for(kernel *k, simt_builder *b, const loop_node *n) {
    bool entered = lw_axes_of(k, n)->entered;
    axis_set own = lw_axes_enter(k, n), bounds = lw_depends(k, n->lo) | lw_depends(k, n->hi);
    bool apart = lw_threads(k) && (lw_holds_in_block(n) ? lw_varies_in_block(&k->digits, bounds)
                                                        : lw_varies_in_warp(k, bounds)),
         together = apart && (n->holding.n || n->distributed.to.extent || is_scanned(k, n) ||
                              lw_meets(k, &n->body));
    axis_set copies = bounds | steps_in_order(k, n);
    for (instance_walk w = lw_walk_begin(&k->digits, copies); lw_walk_next(&w);) switch (n->rest) {
        case LOOP_BLOCK_PLACE:
        case LOOP_WHOLE_PLACE: lower_one_round(k, b, n, own, together); break;
        case LOOP_SERIAL_PLACE:
            if (n->fetch.nstay) lower_staying(k, b, n, own, apart, together);
            else if (n->rounds.within && k->sizes.within) lower_whole(k, b, n, own);
            else lower_serial(k, b, n, own, apart, together);
            break;
        case LOOP_UNROLL_PLACE: lower_written_out(k, b, n, own); break;
        case LOOP_VECTOR_PLACE:
        case LOOP_REGISTER_PLACE:
        case LOOP_LANE_PLACE:
        case LOOP_GROUP_PLACE:
        case LOOP_PLACE_COUNT: ICE("'%s': no such rest of a loop", k->plan->name);
        }
    if (!entered) lw_axes_leave(k, n);
}
