// An XOR swizzle of a tile that a round fetches, in place of padding between its rows: pieces of 16
// bytes change places in their row, by bits of the row. Which bits is found by search, and proved
// by counting: all requests that lanes read and copy the tile by are free of bank conflicts.
// Rows that have none side by side lie so.
//     keep w shared swizzle   w[k] pitch 72 skew 16 every 8  →  w[k] pitch 64 swizzle (16, 0, 8)
#include "finish/finish.h"
#include "base/base.h"

#include <string.h>

// What nobody wrote, such as a version for data that lies otherwise, goes without.
static bool refuse(planner *p, diag_code code, const schedule_cell *c, const char *help,
                   const char *words) {
    if (p->s->automatic) return true;
    diagnostic *d = plan_refuse(p, code, c->at, "%s", words);
    if (d) diag_help(d, "%s", help);
    return false;
}
#define REFUSE(p, code, c, help, ...)                                                              \
    refuse((p), (code), (c), (help), arena_printf((p)->arena, __VA_ARGS__))

// ---- The search ---------------------------------------------------------------------------------
enum { MOST_ROW_BITS = 10 };

static uint32_t log2_of(uint32_t x) {   // rounded up
    uint32_t n = 0;
    while (n < 31 && UINT32_C(1) << n < x) n++;
    return n;
}

// Operations of an address: bits that move by the same distance move together.
static uint32_t cost_of(const loop_swizzle *s) {
    uint64_t distances = 0;
    uint32_t bits = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        if (!s->rows[i]) continue;
        bits++;
        distances |= UINT64_C(1) << (32 + i - log2_of(s->rows[i]));
    }
    return (uint32_t)__builtin_popcountll(distances) * (LOOP_SWIZZLE_BITS + 1) + bits;
}

// The map of this number: bit i of a piece is flipped by no bit of the row, or by one.
static loop_swizzle map_of(uint32_t number, uint32_t bits, uint32_t row_bits) {
    loop_swizzle s = {0};
    for (uint32_t i = 0; i < bits; i++, number /= row_bits + 1) {
        uint32_t by = number % (row_bits + 1);
        s.rows[i] = by ? UINT32_C(1) << (by - 1) : 0;
        if (by) s.n = i + 1;
    }
    return s;
}

// The one of fewest operations without conflicts; n 0: there is none, and *fewest is the least that
// one has.
static loop_swizzle find_map(const plan_banks *b, loop_fetch f, uint32_t bits, uint32_t row_bits,
                             uint32_t *fewest) {
    loop_swizzle best = {0};
    uint32_t maps = 1;
    for (uint32_t i = 0; i < bits; i++) maps *= row_bits + 1;
    *fewest = UINT32_MAX;
    for (uint32_t i = 0; i < maps; i++) {
        f.swizzle = map_of(i, bits, row_bits);
        bool better = !best.n || cost_of(&f.swizzle) < cost_of(&best);
        uint32_t first = better ? plan_first_conflicts(b, &f) : 0;
        if (!better || first > *fewest) continue;
        uint32_t all = first ? first : plan_bank_conflicts(b, &f);
        if (all < *fewest) *fewest = all;
        if (!all && f.swizzle.n) best = f.swizzle;
    }
    return best;
}

// ---- The statement ------------------------------------------------------------------------------
// Bits of a piece's number that may be flipped, if rows have so many pieces.
static uint32_t bits_of(uint32_t pieces) {
    uint32_t bits = 0;
    while (bits < LOOP_SWIZZLE_BITS && pieces % (UINT32_C(2) << bits) == 0) bits++;
    return bits;
}

static bool swizzle(planner *p, const schedule_cell *keep, const plan_banks *b,
                    const loop_tile *tile, uint32_t pieces, loop_fetch *f) {
    const char *name = p->op->vals.data[f->val].name;
    uint32_t row_bits = log2_of(tile->rows), bits = bits_of(pieces), fewest;
    loop_fetch to = *f;
    to.pitch = tile->columns;
    to.every = to.skew = 0;
    if (!plan_bank_conflicts(b, &to)) {   // side by side, as they are
        if (f->pitch == to.pitch && !f->every)
            return REFUSE(
                p, E0540, keep, "leave `swizzle` out",
                "'swizzle' has nothing to do here: rows of '%s' lie side by side, and lanes read "
                "them without bank conflicts",
                name);
        *f = to;
        return true;
    }
    if (!bits)
        return REFUSE(
            p, E0542, keep,
            "give a block columns of 32, 64 or 128 bytes, or a multiple, or leave `swizzle` out",
            "a row of the tile of '%s' has %u pieces of %d bytes, of which no two change places",
            name, (unsigned)pieces, (int)LOOP_SWIZZLE_PIECE);
    to.swizzle = find_map(b, to, bits, row_bits < MOST_ROW_BITS ? row_bits : MOST_ROW_BITS,
                          &fewest);
    if (!to.swizzle.n)
        return REFUSE(
            p, E0530, keep,
            "give lanes longer vectors of the last index of what is kept, or none, or leave "
            "`swizzle` out",
            "no swizzle of '%s' lets lanes read it without bank conflicts: a request takes %u "
            "wavefronts more at least",
            name, (unsigned)fewest);
    *f = to;
    return true;
}

bool plan_swizzle(planner *p, const schedule_cell *keep, const loop_kernel *k, const plan_matrix *m,
                  const plan_tile_loops *t, const loop_tile *tile, loop_fetch *f) {
    if (!schedule_value_of(keep, "swizzle")) return true;
    uint32_t element = (uint32_t)ir_dtype_bytes(p->op->vals.data[f->val].type);
    bool second = t->of_rows == m->columns || t->of_columns == m->columns;
    if (!t->rows || !t->columns)
        return plan_refuse_swizzle(p, keep, "no loop of the kernel is over one of its axes");
    if (second && simt_mma_table(m->kind)->warps > 1)
        return plan_refuse_swizzle(
            p, keep, "operations of four warps multiply by it, whose swizzle is the hardware's");
    uint32_t row = tile->columns * element;
    if (row % LOOP_SWIZZLE_PIECE || !tile->bytes)
        return REFUSE(
            p, E0542, keep,
            "give a block columns of a multiple of 32 bytes, or leave `swizzle` out",
            "a row of the tile of '%s' has %u bytes, which are no pieces of %d to swizzle",
            p->op->vals.data[f->val].name, (unsigned)row, (int)LOOP_SWIZZLE_PIECE);
    return swizzle(p, keep, plan_banks_of(p, k, m, t, f, tile), tile, row / LOOP_SWIZZLE_PIECE, f);
}
