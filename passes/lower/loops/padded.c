// Padded loops of the host, whose vectors may begin anywhere. Full rounds do not look for the end
// of a row. The round that has padding has no more vectors than it needs, and the last vector ends
// early.
//     for f in 0 .. size(F) pad 64 [vector 16, register 4, serial]
//  →  for f in 0 .. F - F % 64 step 64 { 4 vectors }
//     if 0 < F % 64 <= 16 { 1 that ends early }   if 16 < F % 64 <= 32 { 2 } …

#include "lower/loops/loops.h"

static bool is_padding(const kernel *k) {   // some loop in scope may be at its padding
    for (uint32_t i = 0; i < k->scope.masks.len; i++)
        if (k->scope.var[k->scope.masks.data[i].node->var].pad) return true;
    return false;
}

bool lw_pads_rounds(const kernel *k, const loop_node *n) {
    return !k->l->o->machine->aligned && n->rounds.pad && n->rounds.pad == lw_step(n) &&
           n->rounds.unroll <= 1 && !is_padding(k);
}

// The digit of copies of the loop; NULL: it has none, or a reduction around has a state for each.
static lower_axis *copies_of(kernel *k, const loop_node *n) {
    lower_axis *held = NULL;
    if (lw_slots(k, &n->body).len) return NULL;
    for (uint32_t d = 0; d < n->ndigits; d++)
        if (n->digits[d].place == LOOP_REGISTER_PLACE) held = &k->digits.axis[lw_axis(k, n, d)];
    return held;
}

// ---- Of any size --------------------------------------------------------------------------------
static simt_value among(kernel *k, simt_builder *b, simt_value x, uint32_t above, uint32_t to) {
    simt_value low = simt_build_cmp(b, SIMT_LT, lw_ix(k, b, above), x),
               high = simt_build_cmp(b, SIMT_LE, x, lw_ix(k, b, to));
    return simt_build_binary(b, SIMT_AND, low, high);
}

// Of many copies, a power of two.
static void lower_rest(kernel *k, simt_builder *b, const loop_node *n, simt_value rest,
                       loop_round *r) {
    enum { FEW = 4 };
    lower_axis *held = copies_of(k, n);
    const uint32_t all = held ? held->extent : 1, each = n->rounds.pad / all;
    for (uint32_t copies = 1, below = 0;
         below<all; below = copies, copies += all> FEW ? copies : 1) {
        if (!held || copies > all) copies = all;
        if (held) held->extent = copies;
        r->round.whole = below;
        lw_build_if(k, b, among(k, b, rest, below * each, copies * each), n, lw_last_round, r);
    }
    if (held) held->extent = all;
}

static void rounds_of_any(kernel *k, simt_builder *b, const loop_node *n, simt_value size,
                          loop_round *r) {
    simt_value hi = r->round.hi,
               rest = simt_build_binary(b, SIMT_UREM, size, lw_ix(k, b, n->rounds.pad)),
               end = simt_build_binary(b, SIMT_SUB, size, rest);
    r->round = (round_of){.hi = end, .full = true};
    lw_serial_loop(k, b, n, lw_ix(k, b, 0), end, n->rounds.pad, r);
    r->round = (round_of){.base = end, .hi = hi};
    lower_rest(k, b, n, rest, r);
}

// ---- Of a known size ----------------------------------------------------------------------------
// What is known in one round is not known in the next.
static void one_round(kernel *k, simt_builder *b, const loop_node *n, loop_round *r) {
    region_mark m = lw_enter(&k->known);
    lw_last_round(k, b, n, r);
    lw_leave(&k->known, m);
}

static void known_rest(kernel *k, simt_builder *b, const loop_node *n, int64_t from, uint32_t rest,
                       loop_round *r) {
    lower_axis *held = copies_of(k, n);
    const uint32_t all = held ? held->extent : 1, each = n->rounds.pad / all;
    if (held) held->extent = (rest + each - 1) / each;
    r->round = (round_of){.base = lw_ix(k, b, from),
                          .hi = lw_ix(k, b, from + n->rounds.pad),
                          .whole = rest / each,
                          .full = rest % each == 0};
    one_round(k, b, n, r);
    if (held) held->extent = all;
}

static void rounds_of_known(kernel *k, simt_builder *b, const loop_node *n, int64_t size,
                            loop_round *r) {
    const int64_t rest = size % n->rounds.pad, end = size - rest;
    r->round = (round_of){.base = lw_ix(k, b, 0), .hi = lw_ix(k, b, end), .full = true};
    if (end == n->rounds.pad) one_round(k, b, n, r);
    else if (end) lw_serial_loop(k, b, n, lw_ix(k, b, 0), lw_ix(k, b, end), n->rounds.pad, r);
    if (rest) known_rest(k, b, n, end, (uint32_t)rest, r);
}

void lw_padded_rounds(kernel *k, simt_builder *b, const loop_node *n, loop_round *r) {
    const tensor_space s = k->l->op->vars.data[n->var].space;
    const tensor_space_info *space = &k->l->op->spaces.data[s];
    if (space->kind == SPACE_CONST) {
        rounds_of_known(k, b, n, space->size, r);
        return;
    }
    simt_value size = lw_to_ix(k, b, lw_size(k, b, s));
    r->round.full = k->sizes.even && k->sizes.even[s];
    if (r->round.full) lw_serial_loop(k, b, n, lw_ix(k, b, 0), size, n->rounds.pad, r);
    else rounds_of_any(k, b, n, size, r);
}
