// Rows of f32 in panels: each number is taken apart in two of f16, which lie in planes of their
// own. The first is the nearest f16, the second what that leaves. f16 has few exponents, so the row
// is multiplied by the power of two that brings its largest number just below 2^15, and the second
// number by 2^11 more. The factors that undo this lie behind the planes. Two numbers of f16 take
// the place of one of f32: a thread reads eight, and writes them there.
//     fetch 2 k[…] panels                                        # of f32
//  →  copy.wait; barrier; x = ld k, …; m = max |x|; m = shfl.bfly …
//     a = f16(x by); r = f16((x by - a) 2^11); st k, a; st k + plane, r; st k + …, 1 / by
// Three products of half as many digits add up to one: Markidis et al., "NVIDIA Tensor Core
// Programmability, Performance & Precision", 2018.

#include "lower/copies/copies.h"
#include <math.h>

enum { EIGHT = 8, FOUR = 4, WORD = 4, TURN = 8 };
static simt_value i32(simt_builder *b, int64_t x) { return simt_build_int(b, SIMT_T(I32), x); }

simt_value lm_largest(simt_builder *b, simt_value x, uint32_t lanes) {
    for (uint32_t m = 1; m < lanes; m *= 2)
        x = simt_build_binary(b, SIMT_MAX, x, lw_exchanged(b, x, i32(b, m)));
    return x;
}

// The factor is built from exponents: 2^(141 - e) for a largest number between 2^(e - 127) and its
// double, and 2^(e - 141) undoes it. Below 2^-112 it is the factor of 2^-112. If the largest number
// is infinite or NaN, what undoes the factor is NaN. Then so are the sums, which are computed
// again.
lm_factor lm_factor_of(simt_builder *b, simt_value largest) {
    const int64_t one = INT64_C(1) << 23, exponent = 255 * one, least = 15 * one, both = 268 * one,
                  below = 14 * one;
    simt_value e = simt_build_with(b, SIMT_AND, simt_build_bitcast(b, SIMT_T(I32), largest),
                                   exponent);
    e = simt_build_binary(b, SIMT_MAX, e, i32(b, least));
    simt_value by = simt_build_binary(b, SIMT_SUB, i32(b, both), e),
               back = simt_build_with(b, SIMT_SUB, e, below),
               none = simt_build_cmp(b, SIMT_EQ, e, i32(b, exponent));
    back = simt_build_select(b, none, simt_build_float(b, SIMT_T(F32), (double)NAN),
                             simt_build_bitcast(b, SIMT_T(F32), back));
    return (lm_factor){simt_build_bitcast(b, SIMT_T(F32), by), back};
}

// x times the factor, rounded to f16. rest: LM_REST times what that leaves, rounded to f16. So the
// rest is about as large as the first number, and keeps all its digits as long as that does.
simt_value lm_take_apart(simt_builder *b, simt_value x, simt_value by, simt_value *rest) {
    simt_type wide = simt_typeof(b->func, x), half = {SIMT_F16, wide.lanes};
    simt_value of = simt_build_binary(b, SIMT_MUL, x, simt_widen(b, by, wide.lanes)),
               near = simt_build_cvt(b, half, of);
    simt_value left = simt_build_binary(b, SIMT_SUB, of, simt_build_cvt(b, wide, near));
    *rest = simt_build_cvt(
        b, half,
        simt_build_binary(b, SIMT_MUL, left,
                          simt_widen(b, simt_build_float(b, SIMT_T(F32), LM_REST), wide.lanes)));
    return near;
}

simt_value lm_absolute(simt_builder *b, simt_value largest, simt_value x) {
    simt_value most = simt_build_unary(b, SIMT_ABS, x);
    return largest ? simt_build_binary(b, SIMT_MAX, largest, most) : most;
}

// ---- Where they lie -----------------------------------------------------------------------------
static uint32_t lm_plane_bytes(const fetched_rows *f) {
    return f->tile.elements * (uint32_t)sizeof(uint16_t);
}

simt_value lm_plane(kernel *k, simt_builder *b, const fetched_rows *f, uint32_t plane,
                    uint32_t more) {
    return simt_build_addr(b, lw_shared(k, b, f->at), f->buffer, 1,
                           (int64_t)plane * lm_plane_bytes(f) + more);
}

simt_value lm_row_factors(kernel *k, simt_builder *b, const fetched_rows *f, simt_value row,
                          uint32_t more, uint32_t lanes) {
    simt_value first = simt_build_addr(b, lw_shared(k, b, f->at), f->factors, 1, 0);
    return simt_build_load(b, (simt_type){SIMT_F32, (uint8_t)lanes},
                           simt_build_addr(b, first, row, WORD, (int64_t)more * WORD));
}

// ---- A round's rows -----------------------------------------------------------------------------
// Eight lanes share a row, as a panel has eight pieces of it, which lie in different banks. A
// thread reads several rows before it writes any of them, so that it does not wait for them one
// after the other. MOST_EIGHTS: of a lane's row; AT_ONCE: that a thread has in registers.
enum { LANES = 8, MOST_EIGHTS = LOOP_MOST_PARTS / (LANES * EIGHT), AT_ONCE = 4 };

typedef struct {
    kernel *k;
    const fetched_rows *f;
    uint32_t each;            // eights that a lane has of a row
    simt_value lane, first;   // i32: the lane among those of the row; the first row
} taking;

typedef struct {
    uint32_t more;                    // rows after the first one
    simt_value there;                 // the row is there; 0: it always is
    simt_value of[2 * MOST_EIGHTS];   // two fours an eight
    lm_factor by;
} taken_row;

static simt_value place(const taking *t, simt_builder *b, uint32_t more, uint32_t eight,
                        uint32_t plane) {
    // Then addresses differ by more than a constant.
    bool apart = more % TURN || lw_panel_rows(t->f) < t->f->tile.rows;
    simt_value row = apart ? simt_build_with(b, SIMT_ADD, t->first, more) : t->first,
               lane = simt_build_with(b, SIMT_ADD, t->lane, eight * LANES),
               at = lw_in_panels(b, t->f, t->f->tile.columns * (uint32_t)sizeof(uint16_t), row,
                                 lane);
    return simt_build_addr(b, lm_plane(t->k, b, t->f, plane, 0), at, 1,
                           apart ? 0 : (int64_t)more * SIMT_PANEL_ROW);
}

static void load_all(const taking *t, simt_builder *b, taken_row *row) {
    for (uint32_t i = 0; i < 2 * t->each; i++)
        row->of[i] = simt_build_load(b, (simt_type){SIMT_F32, FOUR},
                                     place(t, b, row->more, i / 2, i % 2));
}

// All lanes of a warp find factors together. Lanes that have no row find the factor of zeros.
static void load_row(const taking *t, simt_builder *b, taken_row *row) {
    simt_builder then, otherwise;
    simt_type types[2 * MOST_EIGHTS];
    simt_value zeros[2 * MOST_EIGHTS];
    if (!row->there) {
        load_all(t, b, row);
        return;
    }
    for (uint32_t i = 0; i < 2 * t->each; i++) types[i] = (simt_type){SIMT_F32, FOUR};
    simt_instr loaded = simt_build_if(b, row->there, types, 2 * t->each, &then, &otherwise);
    region_mark m = lw_enter(&t->k->known);
    load_all(t, &then, row);
    simt_build_yield(&then, row->of, 2 * t->each);
    for (uint32_t i = 0; i < 2 * t->each; i++)
        zeros[i] = simt_widen(&otherwise, simt_build_float(&otherwise, SIMT_T(F32), 0), FOUR);
    simt_build_yield(&otherwise, zeros, 2 * t->each);
    lw_leave(&t->k->known, m);
    for (uint32_t i = 0; i < 2 * t->each; i++) row->of[i] = simt_result(t->k->f, loaded, i);
}

static lm_factor factor_of_row(const taking *t, simt_builder *b, const taken_row *row) {
    simt_value largest = 0;
    for (uint32_t i = 0; i < 2 * t->each * FOUR; i++)
        largest = lm_absolute(b, largest, simt_pick(b, row->of[i / FOUR], i % FOUR));
    return lm_factor_of(b, lm_largest(b, largest, LANES));
}

static void store_all(const taking *t, simt_builder *b, const taken_row *row) {
    simt_builder then;
    for (uint32_t i = 0; i < t->each; i++) {
        simt_value x[EIGHT], rest;
        for (uint32_t n = 0; n < EIGHT; n++)
            x[n] = simt_pick(b, row->of[2 * i + n / FOUR], n % FOUR);
        simt_value near = lm_take_apart(b, simt_gather(b, x, EIGHT), row->by.by, &rest);
        simt_build_store(b, place(t, b, row->more, i, 0), near);
        simt_build_store(b, place(t, b, row->more, i, 1), rest);
    }
    simt_build_if(b, simt_build_cmp(b, SIMT_EQ, t->lane, i32(b, 0)), NULL, 0, &then, NULL);
    simt_value to = simt_build_addr(&then, lw_shared(t->k, &then, t->f->at), t->f->factors, 1, 0);
    simt_build_store(&then, simt_build_addr(&then, to, t->first, WORD, (int64_t)row->more * WORD),
                     row->by.back);
    simt_build_yield(&then, NULL, 0);
}

static void store_row(const taking *t, simt_builder *b, const taken_row *row) {
    simt_builder then;
    if (!row->there) {
        store_all(t, b, row);
        return;
    }
    simt_build_if(b, row->there, NULL, 0, &then, NULL);
    region_mark m = lw_enter(&t->k->known);
    store_all(t, &then, row);
    lw_leave(&t->k->known, m);
    simt_build_yield(&then, NULL, 0);
}

void lw_take_rows_apart(kernel *k, simt_builder *b, const fetched_rows *f) {
    const uint32_t rows = f->tile.rows, threads = k->plan->threads / LANES;
    taking t = {.k = k, .f = f, .each = f->tile.columns / EIGHT / LANES};
    if (!t.each || t.each > MOST_EIGHTS)
        ICE("'%s': rows of %u numbers are taken apart", k->plan->name, (unsigned)f->tile.columns);
    t.lane = simt_build_with(b, SIMT_UREM, k->thread.number, LANES);
    t.first = simt_build_with(b, SIMT_UDIV, k->thread.number, LANES);
    taken_row all[AT_ONCE];
    const uint32_t at_once = t.each < AT_ONCE ? AT_ONCE / t.each : 1;
    for (uint32_t more = 0; more < rows;) {
        uint32_t n = 0;
        for (; n < at_once && more < rows; n++, more += threads) {
            all[n] = (taken_row){.more = more};
            if (rows - more < threads)
                all[n].there = simt_build_cmp(b, SIMT_LT, t.first, i32(b, rows - more));
            load_row(&t, b, &all[n]);
        }
        for (uint32_t i = 0; i < n; i++) all[i].by = factor_of_row(&t, b, &all[i]);
        for (uint32_t i = 0; i < n; i++) store_row(&t, b, &all[i]);
    }
}
