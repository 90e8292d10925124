// Sums of products whose depth groups share out: each group has the sum of its own points. It
// leaves all of it in shared memory at once, and takes what the others left. The order is the same
// for all, so that every group ends with the same bits.
//     reduce s by m16n8k16.f16 (v, e.slot, d) {
//       for d … [register 8, lane 4, register 2, group 4] { contribute s } }
//  →  c = mma …  st s + thread, c  barrier  c = ld s + 0 + ld s + 32 + …

#include "lower/sums/sums.h"

enum { WORD = 4, WORDS = 4 };   // bytes of a number; numbers of an access

typedef struct {
    simt_value *of;   // numbers, in the order of states
    uint32_t n, lanes;
} numbers;

static numbers numbers_of(kernel *k, simt_builder *b, const reduction *r) {
    numbers x = {.lanes = r->types[0].lanes};
    uint32_t states = lw_instances(&k->digits, r->copies);
    x.of = ARENA_ARRAY(k->l->arena, simt_value, states * x.lanes);
    for (uint32_t i = 0; i < states; i++)
        for (uint32_t l = 0; l < x.lanes; l++) x.of[x.n++] = simt_pick(b, r->slot[i], l);
    return x;
}

static void set_numbers(kernel *k, simt_builder *b, const reduction *r, const numbers *x) {
    for (uint32_t i = 0; i < lw_instances(&k->digits, r->copies); i++)
        r->slot[i] = simt_gather(b, &x->of[i * x->lanes], x->lanes);
}

// How many numbers one access has, from that one on.
static uint32_t at_once(const numbers *x, uint32_t at) {
    uint32_t n = WORDS;
    while (n > x->n - at) n /= 2;
    return n;
}

// Lanes lie side by side: a thread leaves its part of an access beside that of the next thread.
static simt_value place(kernel *k, simt_builder *b, uint32_t room, const numbers *x, uint32_t at,
                        simt_value thread) {
    uint32_t bytes = at_once(x, at) * WORD;
    return simt_build_addr(b, lw_shared(k, b, room + at * WORD * k->plan->threads), thread, bytes,
                           0);
}

// The round began with a barrier, so nobody still reads what the round before left.
static bool has_met(const kernel *k, const reduction *r) {
    const loop_node *round = r->masks ? k->scope.masks.data[r->masks - 1].node : NULL;
    bool one = round != NULL;   // a round has one product
    for (uint32_t i = 0; one && i < round->ndigits; i++)
        one = round->digits[i].place != LOOP_SERIAL_PLACE;
    return one && lw_round_meets(k, round);
}

// ---- One barrier for two ------------------------------------------------------------------------
static bool is_in(const bool *moved, const simt_func *f, const simt_instr_info *i) {
    for (uint32_t a = 0; a < i->nargs; a++)
        if (moved[f->values.data[i->args[a]].def]) return true;
    for (uint32_t r = 0; r < i->nregions; r++) {
        const simt_region_info *inside = &f->regions.data[i->regions[r]];
        for (uint32_t k = 0; k < inside->instrs.len; k++)
            if (is_in(moved, f, &f->instrs.data[inside->instrs.data[k]])) return true;
    }
    return false;
}

// The loads of the sum before, and the barrier ahead of them, move down to here if nothing since
// needs them. So groups wait for each other once.
//     st s, c  barrier  c = ld s …  d = mma …  st t, d  barrier  d = ld t …
//  →  st s, c  d = mma …  st t, d  barrier  c = ld s …  d = ld t …
static bool wait_later(kernel *k, simt_region_info *region, lw_join *before) {
    if (before->region != k->shared.join.region) return false;
    const simt_func *f = k->f;
    uint32_t n = region->instrs.len, stay = before->begin, later = 0;
    bool *moved = ARENA_ARRAY(k->l->arena, bool, f->instrs.len + 1);
    simt_instr *at = region->instrs.data, *after = ARENA_ARRAY(k->l->arena, simt_instr, n + 1);
    for (uint32_t i = before->begin; i < n; i++) {
        const simt_instr_info *x = &f->instrs.data[at[i]];
        bool takes = i < before->end && (x->op == SIMT_BARRIER || x->op == SIMT_LD),
             needs = is_in(moved, f, x);
        if (needs && i >= before->end) return false;
        moved[at[i]] = takes || needs;
    }
    for (uint32_t i = before->begin; i < n; i++)
        if (moved[at[i]]) after[later++] = at[i];
    for (uint32_t i = before->begin; i < n; i++)
        if (!moved[at[i]]) at[stay++] = at[i];
    for (uint32_t i = 0; i < later; i++) at[stay + i] = after[i];
    before->begin = stay;
    return true;
}

// ---- Parts --------------------------------------------------------------------------------------
// What the group with that digit left, from that number on.
static simt_value part_of(kernel *k, simt_builder *b, uint32_t room, const numbers *x, uint32_t at,
                          simt_value thread) {
    return simt_build_load(b, (simt_type){SIMT_F32, (uint8_t)at_once(x, at)},
                           place(k, b, room, x, at, thread));
}

// If there are two parts, each group has its own, and either order gives the same bits.
static void take_parts(kernel *k, simt_builder *b, const reduction *r, const lower_axis *a,
                       uint32_t room, numbers *x) {
    simt_value stride = simt_build_int(b, SIMT_T(I32), lw_stride(k, a)), digit = lw_digit(k, b, a),
               thread[32],
               first = simt_build_binary(b, SIMT_SUB, k->thread.number,
                                         simt_build_binary(b, SIMT_MUL, digit, stride));
    bool two = a->extent == 2;
    for (uint32_t g = 0; g < a->extent; g++)
        thread[g] = simt_build_with(b, SIMT_ADD, first, (int64_t)g * lw_stride(k, a));
    if (two)
        thread[0] = simt_build_binary(b, SIMT_ADD, first,
                                      simt_build_binary(b, SIMT_SUB, thread[1], k->thread.number));
    for (uint32_t at = 0, n = 0; at < x->n; at += n) {
        n = at_once(x, at);
        simt_value sum = two ? simt_gather(b, &x->of[at], n)
                             : part_of(k, b, room, x, at, thread[0]);
        for (uint32_t g = 1; g < a->extent; g++) {
            simt_value part = part_of(k, b, room, x, at, thread[two ? 0 : g]);
            sum = *lw_combined(k, b, r, &sum, &part);
        }
        for (uint32_t i = 0; i < n; i++) x->of[at + i] = simt_pick(b, sum, i);
    }
}

static void join(kernel *k, simt_builder *b, const reduction *r, const lower_axis *a) {
    numbers x = numbers_of(k, b, r);
    bool met = has_met(k, r);
    uint32_t bytes = x.n * WORD * k->plan->threads,
             room = met ? lw_shared_take(k, bytes) : lw_shared_scratch(k, bytes);
    if (!met) lw_barrier(b);
    for (uint32_t at = 0; at < x.n; at += at_once(&x, at))
        simt_build_store(b, place(k, b, room, &x, at, k->thread.number),
                         simt_gather(b, &x.of[at], at_once(&x, at)));
    lw_join before = k->shared.join;
    simt_region_info *region = &k->f->regions.data[b->region];
    k->shared.join = (lw_join){met ? b->region : 0, region->instrs.len, 0};
    if (met && wait_later(k, region, &before)) k->shared.join.begin = before.begin;
    else lw_barrier(b);
    take_parts(k, b, r, a, room, &x);
    set_numbers(k, b, r, &x);
    k->shared.join.end = k->f->regions.data[b->region].instrs.len;
}

void lw_join_groups(kernel *k, simt_builder *b, reduction *r) {
    if (!r->product || r->n != 1 || r->types[0].element != SIMT_F32) return;
    axis_set left = lw_placed(&k->digits, r->bound, LOOP_GROUP_PLACE);
    for (; left; left = lw_other_axes(left)) {
        lower_axis *a = &k->digits.axis[lw_first_axis(left)];
        if (a->extent > 1) join(k, b, r, a);
        r->bound &= ~AXIS(lw_first_axis(left));
    }
}
