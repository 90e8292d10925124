// What a request costs. Global memory moves sectors of 32 bytes, however few of them are used;
// shared memory has 32 banks of 4 bytes, each of which gives one word a wavefront, to all lanes
// that want it.
#include "counts.h"

enum { SECTOR = 32, LINE = 128, BANKS = 32, WORD = 4 };

// ---- Addresses in order -------------------------------------------------------------------------
// By insertion: most requests are in order already.
sim_ordered sim_request_ordered(const sim_request *q) {
    sim_ordered o = {0};
    for (uint32_t i = 0; i < SIM_LANES; i++) {
        if (!sim_lane(q->lanes, i)) continue;
        uint32_t k = o.n++;
        for (; k && o.at[k - 1] > q->at[i]; k--) o.at[k] = o.at[k - 1];
        o.at[k] = q->at[i];
    }
    return o;
}

// ---- Global memory ------------------------------------------------------------------------------
static void touch(sim *s, sim_counts *k, uint64_t line) {
    uint32_t number = sim_request_buffer(line * LINE);
    while (k->touched.len <= number) VEC_PUSH(s->memory, &k->touched, (sim_touched){0});
    sim_touched *t = &k->touched.data[number];
    uint64_t at = line & ((UINT64_C(1) << SIM_OFFSET_BITS) / LINE - 1);
    if (!t->touched)
        t->touched = arena_alloc(s->memory, s->buffers.data[number].bytes / LINE / 8 + 2);
    t->requests++;
    t->lines += !(t->touched[at / 8] >> at % 8 & 1);
    t->touched[at / 8] |= (uint8_t)(1 << at % 8);
}

// Pieces of `unit` bytes that [from, to) is in, but for those before `next`, the first not counted
// yet.
static uint64_t pieces(uint64_t from, uint64_t to, uint64_t unit, uint64_t *next) {
    uint64_t first = from / unit > *next ? from / unit : *next, last = (to - 1) / unit;
    if (last < first) return 0;
    *next = last + 1;
    return last + 1 - first;
}

void sim_request_global(sim *s, sim_counts *k, sim_tally *t, const sim_request *q) {
    sim_ordered o = sim_request_ordered(q);
    uint64_t byte = 0, sector = 0, line = 0, used = 0;
    for (uint32_t i = 0; i < o.n; i++) {
        uint64_t from = o.at[i], to = from + q->bytes;
        used += pieces(from, to, 1, &byte);
        t->n[SIM_COUNT_SECTORS] += pieces(from, to, SECTOR, &sector);
        for (uint64_t n = pieces(from, to, LINE, &line); n; n--) touch(s, k, line - n);
    }
    t->n[SIM_COUNT_BYTES] += used;
    t->n[SIM_COUNT_LEAST] += (used + SECTOR - 1) / SECTOR;
}

// ---- Shared memory ------------------------------------------------------------------------------
// How many wavefronts the lanes from `first` on take: the most different words of one bank.
static uint32_t wavefronts(const sim_request *q, uint32_t first, uint32_t lanes) {
    uint64_t words[BANKS];
    uint32_t n = 0, most = 0, of_bank[BANKS] = {0}, each = q->bytes < WORD ? 1 : q->bytes / WORD;
    for (uint32_t k = 0; k < lanes * each; k++) {
        if (!sim_lane(q->lanes, first + k / each)) continue;
        uint64_t word = q->at[first + k / each] / WORD + k % each;
        uint32_t i = 0;
        while (i < n && words[i] != word) i++;
        if (i < n) continue;
        words[n++] = word;
        uint32_t taken = ++of_bank[word % BANKS];
        if (taken > most) most = taken;
    }
    return most;
}

// Accesses of 8 and 16 bytes are served by halves and quarters of a warp, a wavefront each at
// least.
static uint32_t served_at_once(const sim_request *q) {
    return q->bytes > 8 ? SIM_LANES / 4 : q->bytes > WORD ? SIM_LANES / 2 : SIM_LANES;
}

void sim_request_shared(sim_tally *t, const sim_request *q) {
    uint32_t lanes = served_at_once(q);
    t->n[SIM_COUNT_SHARED]++;
    for (uint32_t first = 0; first < SIM_LANES; first += lanes) {
        uint32_t n = wavefronts(q, first, lanes);
        t->n[SIM_COUNT_CONFLICTS] += n ? n - 1 : 0;
    }
}

uint32_t sim_request_wavefronts(const sim_request *q) {
    uint32_t lanes = served_at_once(q), n = 0;
    for (uint32_t first = 0; first < SIM_LANES; first += lanes) n += wavefronts(q, first, lanes);
    return n;
}

// ---- Both ---------------------------------------------------------------------------------------
// Lanes that update one address take turns.
void sim_request_atomic(sim_tally *t, const sim_request *q) {
    sim_ordered o = sim_request_ordered(q);
    uint32_t most = 0, same = 0;
    for (uint32_t i = 0; i < o.n; i++) {
        same = i && o.at[i] == o.at[i - 1] ? same + 1 : 1;
        if (same > most) most = same;
    }
    t->n[SIM_COUNT_ATOMICS]++;
    t->n[SIM_COUNT_COLLISIONS] += most - 1;
}

void sim_request_stride(sim_stride *s, const sim_request *q) {
    for (sim_mask pairs = q->lanes & q->lanes >> 1; pairs; pairs &= pairs - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(pairs);
        int64_t bytes = (int64_t)(q->at[i + 1] - q->at[i]);
        s->pairs++;
        if (!s->lead) *s = (sim_stride){.bytes = bytes, .pairs = s->pairs};
        if (s->bytes == bytes) s->agreed++, s->lead++;
        else s->lead--;
    }
}
