// Carries whose lanes have positions side by side, as the parallel reduction of GeoT does. In each
// round a lane reduces its own positions, and lanes of one key are scanned by shuffles. A run that
// ends in the round is stored by the lane where it ends; the last one is carried to the next round.
//     carry y by dst[e] { for e in lo .. hi [lane 4, serial] { let v = dst[e]  contribute y } }
//  →  for round in lo .. hi step 4:            keys      3 3 5 5   carried: key 3, state c
//       t = x[round + lane], the first c + t   t         c+a b d e
//       scan t over lanes of equal keys        t         c+a c+a+b d d+e
//       y[key] = t where the next key differs            store     carried: key 5, state d+e
// The order in which states are combined follows from positions and keys alone, so bits repeat, and
// the state on the left always comes first.

#include "lower/loops/loops.h"

// What a lane finds in a round.
typedef struct {
    uint32_t count;             // of values in the state of all instances
    simt_value number, first;   // of the lane along the positions; it is 0
    simt_value key;             // of its last run
    simt_value first_key;       // of its first position
    simt_value *head;           // its first run, if that ends in the lane
    simt_value head_key, has_head;
} lane_runs;

// ---- Lanes --------------------------------------------------------------------------------------
static const lower_axis *lane_axis(const kernel *k, const reduction *r) {
    return &k->digits.axis[lw_first_axis(r->carry.lanes)];
}

// x of the lane so many before it, so many behind it, or of the lane with that number.
static simt_value moved(kernel *k, simt_builder *b, const reduction *r, simt_op op, simt_value x,
                        uint32_t by) {
    const lower_axis *a = lane_axis(k, r);
    uint32_t stride = lw_stride(k, a);
    simt_value lane = simt_build_int(b, SIMT_T(I32), by * stride);
    if (op == SIMT_SHFL_IDX && stride > 1) {   // of those that differ in the digit alone
        simt_value below = simt_build_with(b, SIMT_UREM, k->thread.number, stride);
        lane = simt_build_binary(b, SIMT_ADD, lane, below);
    }
    return lw_shuffled(b, op, x, lane, a->extent * stride);
}

static simt_value *moved_state(kernel *k, simt_builder *b, const reduction *r, simt_op op,
                               const simt_value *x, uint32_t by) {
    simt_value *out = lw_state_new(k, r);
    for (uint32_t c = 0; c < r->n; c++) out[c] = moved(k, b, r, op, x[c], by);
    return out;
}

static simt_value same(simt_builder *b, simt_value x, simt_value y) {
    return simt_build_cmp(b, SIMT_EQ, x, y);
}

static simt_value at_least(simt_builder *b, simt_value x, uint32_t n) {
    return simt_build_cmp(b, SIMT_GE, x, simt_build_int(b, SIMT_T(I32), n));
}

// Where c holds, the lane so many before it comes first, in all instances of the state.
static void join(kernel *k, simt_builder *b, const reduction *r, simt_value c,
                 const simt_value *from, uint32_t by, simt_value *to, uint32_t count) {
    for (uint32_t i = 0; i < count; i += r->n) {
        simt_value *other = moved_state(k, b, r, SIMT_SHFL_UP, &from[i], by),
                   *all = lw_combined(k, b, r, other, &to[i]);
        for (uint32_t s = 0; s < r->n; s++) to[i + s] = simt_build_select(b, c, all[s], to[i + s]);
    }
}

// ---- A lane's own positions ---------------------------------------------------------------------
static void choose(simt_builder *b, simt_value c, const simt_value *then, simt_value *x,
                   uint32_t count) {
    for (uint32_t i = 0; i < count; i++) x[i] = simt_build_select(b, c, then[i], x[i]);
}

// The state goes to its key, or to the slot of the run that began before the range.
static void store_run(kernel *k, simt_builder *b, reduction *r, simt_value c, simt_value key,
                      simt_value *state) {
    simt_value *slot = r->slot, carried = r->carry.run[CARRY_KEY];
    uint32_t masks = k->scope.masks.len;
    k->scope.masks.len = r->masks;   // a run that ends has positions
    r->slot = state;
    r->carry.run[CARRY_KEY] = key;
    simt_builder then;
    simt_build_if(b, c, NULL, 0, &then, NULL);
    region_mark m = lw_enter(&k->known);
    simt_value before = lw_began_before(&then, r);
    lw_place_run(k, &then, r, before, r->carry.lanes, RUN_FIRST);
    lw_place_run(k, &then, r, simt_build_unary(&then, SIMT_NOT, before), r->carry.lanes, RUN_WHOLE);
    lw_leave(&k->known, m);
    simt_build_yield(&then, NULL, 0);
    r->slot = slot;
    r->carry.run[CARRY_KEY] = carried;
    k->scope.masks.len = masks;
}

// The lane's run ends where another key comes. Of its first run the beginning may lie in other
// lanes; others are complete.
static void arrive(kernel *k, simt_builder *b, reduction *r, lane_runs *l, simt_value key,
                   bool first) {
    simt_value when = lw_masks(k, b, r->masks);
    simt_value ends = lw_both(b, when, simt_build_cmp(b, SIMT_NE, key, l->key));
    simt_value heads = first ? ends : lw_both(b, ends, simt_build_unary(b, SIMT_NOT, l->has_head));
    if (!first) store_run(k, b, r, lw_both(b, ends, l->has_head), l->key, r->slot);
    choose(b, heads, r->slot, l->head, l->count);
    l->head_key = simt_build_select(b, heads, l->key, l->head_key);
    l->has_head = first ? ends : simt_build_binary(b, SIMT_OR, l->has_head, ends);
    for (uint32_t i = 0; i < l->count; i++)
        r->slot[i] = simt_build_select(b, ends, r->carry.fresh[i % r->n], r->slot[i]);
    l->key = key;
}

// Positions past the end repeat the last one's key; a range without positions left goes on with
// the key at hand.
static simt_value key_here(kernel *k, simt_builder *b, const reduction *r, const round_of *round) {
    simt_value key = lw_to_ix(k, b, lw_expr(k, b, r->node->key));
    if (!round->maybe_none) return key;
    simt_value some = simt_build_cmp(b, SIMT_LT, round->base, round->hi);
    return simt_build_select(b, some, key, r->carry.run[CARRY_KEY]);
}

static void own_positions(kernel *k, simt_builder *b, reduction *r, axis_set side,
                          const round_of *round, uint32_t lets, lane_runs *l) {
    const loop_body *body = &r->carry.walk->body;
    bool first = true;
    for (instance_walk w = lw_walk_begin(&k->digits, side); lw_walk_next(&w); first = false) {
        simt_value key = key_here(k, b, r, round);
        if (first) {   // the first lane goes on with what is carried
            l->first_key = key;
            l->key = simt_build_select(b, l->first, r->carry.run[CARRY_KEY], key);
            l->head_key = l->key;
            for (uint32_t i = 0; i < l->count; i++)
                r->slot[i] = simt_build_select(b, l->first, r->slot[i], r->carry.fresh[i % r->n]);
        }
        arrive(k, b, r, l, key, first);
        for (uint32_t i = lets; i < body->len; i++) lw_node(k, b, body->data[i]);
    }
}

// ---- The round ----------------------------------------------------------------------------------
static void scan_lanes(kernel *k, simt_builder *b, const reduction *r, const lane_runs *l) {
    for (uint32_t by = 1; by < lane_axis(k, r)->extent; by *= 2) {
        simt_value c = same(b, moved(k, b, r, SIMT_SHFL_UP, l->key, by), l->key);
        join(k, b, r, lw_both(b, c, at_least(b, l->number, by)), r->slot, by, r->slot, l->count);
    }
}

// A head goes on from the lane before, if that ends with its key.
static void join_heads(kernel *k, simt_builder *b, const reduction *r, lane_runs *l) {
    simt_value c = same(b, moved(k, b, r, SIMT_SHFL_UP, l->key, 1), l->head_key);
    join(k, b, r, lw_both(b, c, at_least(b, l->number, 1)), r->slot, 1, l->head, l->count);
}

static void store_ended(kernel *k, simt_builder *b, reduction *r, const lane_runs *l) {
    uint32_t last = lane_axis(k, r)->extent - 1;
    simt_value next = moved(k, b, r, SIMT_SHFL_DOWN, l->first_key, 1);
    simt_value ends = lw_both(b, simt_build_cmp(b, SIMT_NE, next, l->key),
                              simt_build_unary(b, SIMT_NOT, at_least(b, l->number, last)));
    store_run(k, b, r, l->has_head, l->head_key, l->head);
    store_run(k, b, r, ends, l->key, r->slot);
}

// Runs that end go to memory. The state of the last lane's run is left, with its key.
static void scan_round(kernel *k, simt_builder *b, reduction *r, lane_runs *l, bool heads) {
    uint32_t last = lane_axis(k, r)->extent - 1;
    scan_lanes(k, b, r, l);
    if (heads) join_heads(k, b, r, l);   // else only the first lane may have one
    store_ended(k, b, r, l);
    for (uint32_t i = 0; i < l->count; i++)
        r->slot[i] = moved(k, b, r, SIMT_SHFL_IDX, r->slot[i], last);
    r->carry.run[CARRY_KEY] = moved(k, b, r, SIMT_SHFL_IDX, l->key, last);
}

// No run ends: every lane takes part in the one at hand.
static void reduce_round(kernel *k, simt_builder *b, reduction *r, uint32_t count) {
    for (uint32_t i = 0; i < count; i += r->n) {
        simt_value *all = lw_fold_threads(k, b, r, r->carry.lanes, &r->slot[i]);
        for (uint32_t s = 0; s < r->n; s++) r->slot[i + s] = all[s];
    }
}

// All lanes of the warp have the key that is carried.
static simt_value is_uniform(kernel *k, simt_builder *b, const reduction *r, const lane_runs *l) {
    simt_value c = same(b, l->key, r->carry.run[CARRY_KEY]);
    simt_type t = SIMT_T(PRED);
    return simt_result(k->f, simt_build_op(b, SIMT_VOTE_ALL, &c, 1, &t, 1), 0);
}

static void one_of_two(kernel *k, simt_builder *b, reduction *r, lane_runs *l, bool heads) {
    simt_value key = r->carry.run[CARRY_KEY],
               *before = ARENA_ARRAY(k->l->arena, simt_value, l->count + 1);
    simt_type *types = ARENA_ARRAY(k->l->arena, simt_type, l->count + 1);
    for (uint32_t i = 0; i < l->count; i++) before[i] = r->slot[i];
    before[l->count] = key;
    for (uint32_t i = 0; i <= l->count; i++) types[i] = simt_typeof(k->f, before[i]);
    simt_builder then, other;
    simt_instr branch = simt_build_if(b, is_uniform(k, b, r, l), types, l->count + 1, &then,
                                      &other);
    for (int scans = 0; scans < 2; scans++) {
        simt_builder *in = scans ? &other : &then;
        region_mark m = lw_enter(&k->known);
        for (uint32_t i = 0; i < l->count; i++) r->slot[i] = before[i];
        r->carry.run[CARRY_KEY] = key;
        if (scans) scan_round(k, in, r, l, heads);
        else reduce_round(k, in, r, l->count);
        simt_value *after = ARENA_ARRAY(k->l->arena, simt_value, l->count + 1);
        for (uint32_t i = 0; i < l->count; i++) after[i] = r->slot[i];
        after[l->count] = r->carry.run[CARRY_KEY];
        lw_leave(&k->known, m);
        simt_build_yield(in, after, l->count + 1);
    }
    for (uint32_t i = 0; i < l->count; i++) r->slot[i] = simt_result(k->f, branch, i);
    r->carry.run[CARRY_KEY] = simt_result(k->f, branch, l->count);
}

void lw_scan(kernel *k, simt_builder *b, reduction *r, axis_set side, const round_of *round,
             uint32_t lets) {
    lane_runs l = {.count = lw_instances(&k->digits, r->copies) * r->n};
    l.number = lw_digit(k, b, lane_axis(k, r));
    l.first = simt_build_cmp(b, SIMT_EQ, l.number, simt_build_int(b, SIMT_T(I32), 0));
    l.head = ARENA_ARRAY(k->l->arena, simt_value, l.count);
    for (uint32_t i = 0; i < l.count; i++) l.head[i] = r->carry.fresh[i % r->n];
    own_positions(k, b, r, side, round, lets, &l);
    if (r->carry.uniform) one_of_two(k, b, r, &l, side != 0);
    else scan_round(k, b, r, &l, side != 0);
}
