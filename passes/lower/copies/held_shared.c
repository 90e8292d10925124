// Entries in shared memory. At the head of a round the lanes that share a row copy its entries,
// those at i, i + lanes, … each, and meet. Each use reads the entry's place. Where there are
// several buffers, rounds are copied asynchronously, ahead of the one at hand.
//     for e in lo .. hi [serial 64, serial] hold (src[e]) lanes 32 shared 1 { … x[src[e], f] … }
//  →  for base = lo to hi step 64 { warp.sync  tile[i] = src[min(base + i, hi - 1)]  warp.sync
//       for i = 0 to min(64, hi - base) { … x[tile[i], f] … } }
// This is the shared tile of GE-SpMM and of G-Sparse, one for each row that a block has at once.

#include "lower/copies/copies.h"

static simt_value i32(simt_builder *b, int64_t x) { return simt_build_int(b, SIMT_T(I32), x); }

static bool takes_threads(const loop_digit *d) {
    return d->place == LOOP_LANE_PLACE || d->place == LOOP_GROUP_PLACE;
}

// ---- Rooms --------------------------------------------------------------------------------------
static uint32_t points(const loop_node *n) {   // of a thread in a round
    uint32_t points = 1;
    for (uint32_t i = 0; i < n->ndigits; i++)
        if (!takes_threads(&n->digits[i])) points *= n->digits[i].extent;
    return points;
}

static uint32_t apart(const loop_node *n) {   // positions from one entry of a thread to the next
    uint32_t points = 1;
    for (uint32_t i = 0; i < n->ndigits && takes_threads(&n->digits[i]); i++)
        points *= n->digits[i].extent;
    return points;
}

static tensor_val value_of(const kernel *k, const loop_node *n, uint32_t entry) {
    return (tensor_val)tensor_node_at(k->l->op, n->holding.loads[entry])->imm.i;
}

static uint32_t bytes_of(const kernel *k, tensor_val v) {
    return simt_element_bits(lw_memory_element(k, lw_stored_type(k, v))) / 8;
}

// Entries of a buffer, of all rows that the block has at once.
static uint32_t buffer_entries(const kernel *k, const loop_node *n) {
    return k->plan->threads / n->holding.lanes * points(n);
}

// A loop that is met several times has the same room each time.
static uint32_t room_of(kernel *k, const loop_node *n, uint32_t entry) {
    const tensor_expr *of = &n->holding.loads[entry];
    for (uint32_t i = 0; i < k->shared.held.len; i++)
        if (k->shared.held.data[i].of == of) return k->shared.held.data[i].at;
    uint32_t entries = n->holding.shared * buffer_entries(k, n);
    held_room r = {of, lw_shared_take(k, entries * bytes_of(k, value_of(k, n, entry)))};
    VEC_PUSH(k->l->arena, &k->shared.held, r);
    return r.at;
}

// The place of an entry of the thread's row in the buffer: its number and a constant.
static simt_value place(kernel *k, simt_builder *b, const loop_node *n, uint32_t entry,
                        simt_value number, uint32_t plus) {
    uint32_t bytes = bytes_of(k, value_of(k, n, entry));
    return simt_build_addr(b, lw_shared(k, b, room_of(k, n, entry)), number, bytes,
                           (int64_t)plus * bytes);
}

static void meet(simt_builder *b, const loop_node *n) {
    if (lw_holds_in_block(n)) lw_barrier(b);
    else simt_build_op(b, SIMT_WARP_SYNC, NULL, 0, NULL, 0);
}

// Where the tile of the thread's row begins, in that buffer; 0: in the only one.
static simt_value tile_at(kernel *k, simt_builder *b, const loop_node *n, simt_value buffer) {
    simt_value row = simt_build_with(b, SIMT_UDIV, k->thread.number, n->holding.lanes),
               at = simt_build_with(b, SIMT_MUL, row, points(n));
    if (!buffer) return at;
    return simt_build_binary(b, SIMT_ADD, at,
                             simt_build_with(b, SIMT_MUL, buffer, buffer_entries(k, n)));
}

// ---- Copying ------------------------------------------------------------------------------------
typedef struct {
    const loop_node *node;
    simt_value own, hi, tile;   // the thread's first position; the end; where its tile begins
    bool ahead;                 // of a later round, which may not come
} filling;

static void indices(kernel *k, simt_builder *b, const tensor_node *load, position *at) {
    for (uint32_t i = 0; i < load->nargs; i++) at[i] = lw_position(k, b, load->args[i]);
}

// there: the round has the entry.
static void copy_later(kernel *k, simt_builder *b, tensor_val v, const position *at, simt_value to,
                       simt_value there, uint32_t entries) {
    simt_value index[8];
    for (uint32_t i = 0; i < k->l->op->vals.data[v].rank; i++) index[i] = at[i].at;
    simt_value args[] = {to, lw_address(k, b, v, index), there};
    simt_instr copy = simt_build_op(b, SIMT_COPY, args, 3, NULL, 0);
    k->f->instrs.data[copy].imm.i = entries * bytes_of(k, v);
}

// How many entries are copied at once, where the round has them all.
static uint32_t at_once(const kernel *k, const filling *x, uint32_t entry) {
    enum { WIDEST = 16 };
    const loop_node *n = x->node;
    const tensor_node *load = tensor_node_at(k->l->op, n->holding.loads[entry]);
    const tensor_node *at = tensor_node_at(k->l->op, load->args[0]);
    uint32_t most = WIDEST / bytes_of(k, (tensor_val)load->imm.i);
    bool in_a_row = load->nargs == 1 && at->op == TENSOR_VAR_OP && (tensor_var)at->imm.i == n->var;
    if (!x->ahead || !in_a_row || n->holding.aligned < 2) return 1;
    return most < n->holding.aligned ? most : n->holding.aligned;
}

// The entry at one position. Past the end it is that of the last position: what is read at it is
// there.
static void copy_entry(kernel *k, simt_builder *b, const filling *x, uint32_t entry, simt_value at,
                       simt_value slot, uint32_t plus) {
    const loop_node *n = x->node;
    const tensor_node *load = tensor_node_at(k->l->op, n->holding.loads[entry]);
    tensor_val v = (tensor_val)load->imm.i;
    simt_value there = simt_build_cmp(b, SIMT_LT, at, x->hi),
               to = place(k, b, n, entry, simt_build_binary(b, SIMT_ADD, x->tile, slot), plus);
    position from[8];
    at = simt_build_binary(b, SIMT_MIN, at, simt_build_with(b, SIMT_SUB, x->hi, 1));
    at = simt_build_binary(b, SIMT_MAX, at, lw_ix(k, b, 0));
    lw_rebinding outer = lw_rebind(k, n->var, at);
    indices(k, b, load, from);
    if (x->ahead && bytes_of(k, v) >= 4) copy_later(k, b, v, from, to, there, 1);
    else simt_build_store(b, to, lw_bits_in_a_row(k, b, v, from, 1));
    lw_restore(k, &outer);
}

// Several entries, where the round has all of them; else one by one.
static void copy_side_by_side(kernel *k, simt_builder *b, const filling *x, uint32_t entry,
                              simt_value at, simt_value slot, uint32_t entries) {
    const loop_node *n = x->node;
    tensor_val v = value_of(k, n, entry);
    simt_builder then, other;
    simt_value last = simt_build_with(b, SIMT_ADD, at, (int64_t)entries - 1);
    simt_build_if(b, simt_build_cmp(b, SIMT_LT, last, x->hi), NULL, 0, &then, &other);
    region_mark m = lw_enter(&k->known);
    simt_value to = place(k, &then, n, entry, simt_build_binary(&then, SIMT_ADD, x->tile, slot), 0);
    copy_later(k, &then, v, (position[]){lw_at(at)}, to, simt_build_pred(&then, true), entries);
    simt_build_yield(&then, NULL, 0);
    lw_leave(&k->known, m);
    for (uint32_t i = 0; i < entries; i++)
        copy_entry(k, &other, x, entry, simt_build_with(&other, SIMT_ADD, at, i), slot, i);
    simt_build_yield(&other, NULL, 0);
    lw_leave(&k->known, m);
}

// A lane's copies of an entry: those at its number, and as many lanes further each.
static void fill_entry(kernel *k, simt_builder *b, const filling *x, uint32_t entry) {
    const loop_node *n = x->node;
    uint32_t lanes = n->holding.lanes, entries = at_once(k, x, entry), all = points(n) / entries;
    simt_value lane = simt_build_with(b, SIMT_UREM, k->thread.number, lanes);
    for (uint32_t first = 0; first < all; first += lanes) {
        simt_value copy = simt_build_with(b, SIMT_ADD, lane, first);
        simt_builder then = *b;
        bool some = first + lanes > all;
        if (some)
            simt_build_if(b, simt_build_cmp(b, SIMT_LT, copy, i32(b, all)), NULL, 0, &then, NULL);
        region_mark m = lw_enter(&k->known);
        simt_builder *in = some ? &then : b;
        simt_value slot = simt_build_with(in, SIMT_MUL, copy, entries),
                   at = simt_build_binary(in, SIMT_ADD, x->own, lw_times(k, in, slot, apart(n)));
        if (entries > 1) copy_side_by_side(k, in, x, entry, at, slot, entries);
        else copy_entry(k, in, x, entry, at, slot, 0);
        lw_leave(&k->known, m);
        if (some) simt_build_yield(&then, NULL, 0);
    }
}

static void fill(kernel *k, simt_builder *b, const filling *x) {
    for (uint32_t i = 0; i < x->node->holding.n; i++) fill_entry(k, b, x, i);
}

// ---- Rounds -------------------------------------------------------------------------------------
// The round at base, where `comes` holds, into that buffer; comes 0: if it has a position.
static void fill_ahead(kernel *k, simt_builder *b, const loop_node *n, simt_value base,
                       simt_value hi, simt_value buffer, simt_value comes) {
    simt_builder then;
    if (!comes) comes = simt_build_cmp(b, SIMT_LT, base, hi);
    simt_build_if(b, comes, NULL, 0, &then, NULL);
    region_mark m = lw_enter(&k->known);
    filling x = {n, lw_thread_position(k, &then, n, base), hi, tile_at(k, &then, n, buffer), true};
    fill(k, &then, &x);
    lw_leave(&k->known, m);
    simt_build_yield(&then, NULL, 0);
    simt_build_op(b, SIMT_COPY_END, NULL, 0, NULL, 0);
}

void lw_hold_first(kernel *k, simt_builder *b, const loop_node *n, simt_value lo, simt_value hi,
                   simt_value comes) {
    if (n->holding.shared < 2) return;
    meet(b, n);   // the loop may have run before
    for (uint32_t i = 0; i + 1 < n->holding.shared; i++)
        fill_ahead(k, b, n, simt_build_with(b, SIMT_ADD, lo, (int64_t)i * lw_step(n)), hi,
                   i32(b, i), comes);
}

// Copies past the last round end before anything else fills their buffers.
void lw_hold_last(simt_builder *b, const loop_node *n) {
    if (n->holding.shared > 1) simt_build_op(b, SIMT_COPY_WAIT, NULL, 0, NULL, 0);
}

static simt_value number_of(kernel *k, simt_builder *b, const loop_node *n, const loop_round *r) {
    simt_value since = simt_build_binary(b, SIMT_SUB, r->round.base, r->start);
    return simt_build_cvt(b, SIMT_T(I32),
                          simt_build_binary(b, SIMT_UDIV, since, lw_ix(k, b, lw_step(n))));
}

static simt_value one_buffer(kernel *k, simt_builder *b, const loop_node *n, const loop_round *r,
                             simt_value own) {
    filling x = {n, own, r->round.hi, tile_at(k, b, n, 0), false};
    // a block whose rows differ has met to find out that some row goes on
    if (!lw_holds_in_block(n) || !r->round.maybe_none) meet(b, n);
    fill(k, b, &x);
    meet(b, n);
    return x.tile;
}

static simt_value next_buffer(kernel *k, simt_builder *b, const loop_node *n, const loop_round *r) {
    uint32_t buffers = n->holding.shared, ahead = buffers - 1;
    simt_value number = number_of(k, b, n, r),
               slot = simt_build_with(b, SIMT_UREM, number, buffers),
               next = simt_build_with(b, SIMT_UREM, simt_build_with(b, SIMT_ADD, number, ahead),
                                      buffers);
    simt_instr wait = simt_build_op(b, SIMT_COPY_WAIT, NULL, 0, NULL, 0);
    k->f->instrs.data[wait].imm.i = ahead - 1;
    meet(b, n);
    // threads that are through may still read what their row has, where others go on
    fill_ahead(k, b, n, simt_build_with(b, SIMT_ADD, r->round.base, (int64_t)ahead * lw_step(n)),
               r->round.hi, next, r->round.maybe_none ? simt_build_pred(b, true) : 0);
    return tile_at(k, b, n, slot);
}

simt_value lw_hold_shared(kernel *k, simt_builder *b, const loop_node *n, const loop_round *r,
                          simt_value own) {
    return n->holding.shared > 1 ? next_buffer(k, b, n, r) : one_buffer(k, b, n, r, own);
}

// ---- Uses ---------------------------------------------------------------------------------------
// Entries of neighbouring copies, which one access has: steps begin at multiples of them.
static uint32_t read_at_once(const loop_node *n, uint32_t bytes) {
    enum { WIDEST = 16 };
    uint32_t written = 1, most = bytes < 2 ? 1 : WIDEST / bytes;
    for (uint32_t i = 0; i < n->ndigits && n->digits[i].place != LOOP_SERIAL_PLACE; i++)
        if (!takes_threads(&n->digits[i])) written *= n->digits[i].extent;
    while (most > 1 && (written % most || points(n) % most)) most /= 2;
    return most;
}

simt_value lw_held_in_shared(kernel *k, simt_builder *b, const loop_node *n, uint32_t entry,
                             const loop_round *r, uint32_t at, wide_entries *last) {
    tensor_val v = value_of(k, n, entry);
    uint32_t bytes = bytes_of(k, v), most = read_at_once(n, bytes);
    if (!last->value || last->at != at / most) {
        simt_value number = r->entry ? simt_build_binary(b, SIMT_ADD, r->tile, r->entry) : r->tile,
                   from = place(k, b, n, entry, number, at - at % most);
        *last = (wide_entries){lw_load_shared(k, b, v, from, most, most * bytes), at / most};
    }
    return most > 1 ? simt_pick(b, last->value, at % most) : last->value;
}
