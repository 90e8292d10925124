// How long a block takes that has a multiprocessor for itself: a warp issues its instructions in
// order, each once what it reads is there. L1 keeps the lines that its blocks asked for last.
#include "counts.h"
#include "steps.h"

enum { SECTOR = 32, LINE = 128, OF_LINE = LINE / SECTOR };

// ---- What an operation takes --------------------------------------------------------------------
typedef enum { OF_ANY, OF_HALF, OF_FLOAT, OF_DOUBLE, OF_INT, OF_LONG } computed_in;
typedef struct {
    int op;
    computed_in of;
    sim_unit unit;
    uint32_t instructions, cycles;
} cost_row;
#define SIMT_COUNT SIMT_OP_COUNT
static const cost_row costs[] = {
#define COST(op, of, unit, instructions, cycles)                                                   \
    {SIMT_##op, OF_##of, SIM_UNIT_##unit, instructions, cycles},
#include "costs.def"
};

const char *sim_unit_title(sim_unit u) {
    static const char *const titles[SIM_UNITS] = {
#define UNIT(id, title) title,
#include "units.def"
    };
    return titles[u];
}

static computed_in computes_in(simt_element e) {
    switch (e) {
    case SIMT_F16:
    case SIMT_BF16: return OF_HALF;
    case SIMT_F32: return OF_FLOAT;
    case SIMT_F64: return OF_DOUBLE;
    case SIMT_I64: return OF_LONG;
    default: return OF_INT;
    }
}

static const cost_row *row_of(simt_op op, computed_in of) {
    const cost_row *r = costs;
    while (!((r->op == (int)op || r->op == SIMT_OP_COUNT) && (r->of == of || r->of == OF_ANY))) r++;
    return r;
}

static sim_cost arithmetic(const sim_code *c, simt_op op) {
    enum { CONVERSION = 20 };
    // a comparison, or a conversion to something narrower, is of what it reads
    bool reads = op == SIMT_CMP || op == SIMT_CVT || op == SIMT_UCVT;
    simt_type t = reads ? c->from : c->to;
    computed_in of = computes_in((simt_element)t.element);
    const cost_row *r = row_of(op, of);
    uint32_t n = t.lanes ? t.lanes : 1;
    if (of == OF_HALF && n > 1) n /= 2;   // pairs
    sim_cost x = {TIMED_PLAIN, r->unit, r->instructions * n, r->cycles, false};
    bool mixed = reads && op != SIMT_CMP &&
                 simt_is_float((simt_element)c->from.element) !=
                     simt_is_float((simt_element)c->to.element);
    if (mixed) x.unit = SIM_UNIT_SPECIAL, x.cycles = CONVERSION;
    return x;
}

static sim_cost matrix(const sim_code *c, const simt_instr_info *i) {
    enum { WARP = 33, GROUP = 60 };
    const simt_mma_info *m = simt_mma_table((simt_mma)i->aux);
    uint32_t products = (uint32_t)m->m * m->n * m->k,
             times = simt_mma_splits((simt_mma)i->aux) ? 3 : 1;
    if (m->element == SIMT_F32) products *= 2;   // tf32 has half the rate of 16 bits
    if (i->op != SIMT_MMA) products *= i->nresults * (uint32_t)c->imm;
    return (sim_cost){TIMED_PLAIN, SIM_UNIT_MATRIX, products * times,
                      i->op == SIMT_MMA ? WARP : GROUP + 16 * (uint32_t)c->imm, false};
}

static sim_cost control(const sim_code *c, bool folded) {
    static const struct {
        sim_control k;
        sim_timed_as as;
    } rows[] = {{SIM_COPY, TIMED_MOVE},    {SIM_BLEND, TIMED_JOIN}, {SIM_IF, TIMED_BRANCH},
                {SIM_LEAVE, TIMED_BRANCH}, {SIM_FOR, TIMED_LOOP},   {SIM_NEXT, TIMED_LOOP}};
    enum { BRANCH = 2, CYCLES = 8 };
    for (uint32_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (c->step == sim_control_step(rows[k].k)) {
            bool moves = rows[k].as == TIMED_MOVE || rows[k].as == TIMED_JOIN;
            bool free = moves || (folded && rows[k].k == SIM_IF);
            return (sim_cost){rows[k].as, SIM_UNIT_INTEGER, free ? 0 : BRANCH, free ? 0 : CYCLES,
                              false};
        }
    return (sim_cost){.as = TIMED_NOTHING};
}

sim_cost sim_cost_of(const sim_code *c, sim_folding folded) {
    enum { SHUFFLE = 24, BARRIER = 20, STORE = 1 };
    if (sim_is_control(c)) return control(c, folded == SIM_FOLDED);
    if (folded == SIM_FOLDED) return (sim_cost){.as = TIMED_PLAIN};
    const simt_instr_info *i = &c->func->instrs.data[c->instr];
    switch ((int)i->op) {
    case SIMT_LD:
    case SIMT_LD_SOME:
    case SIMT_ATOM:
    case SIMT_ATOM_CAS:
    case SIMT_LDMATRIX:
    case SIMT_LDMATRIX_TRANS: return (sim_cost){TIMED_PLAIN, SIM_UNIT_MEMORY, 1, 0, true};
    case SIMT_ST:
    case SIMT_ST_SOME:
    case SIMT_RED: return (sim_cost){TIMED_PLAIN, SIM_UNIT_MEMORY, 1, STORE, false};
    case SIMT_SHFL_IDX:
    case SIMT_SHFL_UP:
    case SIMT_SHFL_DOWN:
    case SIMT_SHFL_BFLY: {
        uint32_t words = (sim_element_bytes(c->to) * c->to.lanes + 3) / 4;
        return (sim_cost){TIMED_PLAIN, SIM_UNIT_MEMORY, words, SHUFFLE + words, false};
    }
    case SIMT_MMA:
    case SIMT_MMA_GROUP:
    case SIMT_MMA_ROWS:
    case SIMT_MMA_ROWS_TRANS:
    case SIMT_MMA_ROWS_BOTH: return matrix(c, i);
    case SIMT_BARRIER:
    case SIMT_BARRIER_ANY: return (sim_cost){TIMED_BARRIER, SIM_UNIT_INTEGER, 1, BARRIER, false};
    case SIMT_COPY: return (sim_cost){TIMED_COPY, SIM_UNIT_MEMORY, 1, 0, true};
    case SIMT_COPY_END: return (sim_cost){TIMED_COPY_END, SIM_UNIT_INTEGER, 1, 0, false};
    case SIMT_COPY_WAIT: return (sim_cost){TIMED_COPY_WAIT, SIM_UNIT_INTEGER, 1, 0, false};
    case SIMT_SHARED:
    case SIMT_SPLAT:
    case SIMT_EXTRACT:
    case SIMT_INSERT:
    case SIMT_SLICE:
    case SIMT_CONCAT:
    case SIMT_BITCAST: return (sim_cost){.as = TIMED_PLAIN};
    }
    return arithmetic(c, folded == SIM_SHIFTED ? SIMT_LSHR : (simt_op)i->op);
}

// ---- A kernel's ---------------------------------------------------------------------------------
typedef struct {
    uint32_t *asked;    // by line: the number of the request for it that L1 passed on last; 0: none
    uint8_t *sectors;   // of the line, that L1 has, a bit each
    double lines, fetched, stored;
    double spans;           // lines from the first to the last one that a block asked for
    uint64_t first, last;   // of the block at hand; last is behind it, 0: none so far
} cached_buffer;
struct sim_timing {
    sim_times sum;
    uint32_t window;   // lines that L1 has room for, of one block
    uint32_t asked;    // lines so far
    uint32_t waits;    // cycles until what the step asks for is there
    VEC(cached_buffer) buffers;
};
enum { GROUPS = 8 };   // of copies, under way
struct sim_clock {
    uint32_t now;                     // cycles since the block began
    uint32_t copies;                  // when those of the group at hand are there
    uint32_t ended, groups[GROUPS];   // groups ended, when each is there
    uint32_t *ready;                  // by place of a frame: when the value is there
    uint32_t places;
};
enum { PLACE = 64 };   // bytes that values begin at multiples of

sim_timing *sim_timing_new(sim *s, const sim_kernel *k) {
    sim_timing *t = ARENA_NEW(s->memory, sim_timing);
    const uint32_t half = 1024;   // threads, of a multiprocessor that has room for twice as many
    uint64_t bytes = (uint64_t)s->sampling->cache_bytes * k->func->block / half;
    t->window = (uint32_t)((bytes < s->sampling->cache_bytes ? bytes : s->sampling->cache_bytes) /
                           LINE);
    return t;
}

static sim_timing *timing_of(const sim_block *b) { return b->counts ? b->counts->timing : NULL; }

static sim_clock *clock_new(sim_block *b) {
    sim_clock *c = ARENA_NEW(b->arena, sim_clock);
    c->places = b->kernel->frame / PLACE + 1;
    c->ready = ARENA_ARRAY(b->arena, uint32_t, c->places);
    return c;
}

void sim_time_begin(sim_block *b) {
    sim_timing *t = timing_of(b);
    if (!t) return;
    t->asked += t->window;   // what the block before had
    for (uint32_t k = 0; k < b->nwarps; k++) {
        sim_warp *w = &b->warps[k];
        if (!w->clock) w->clock = clock_new(b);
        uint32_t *ready = w->clock->ready, places = w->clock->places;
        memset(ready, 0, places * sizeof *ready);
        *w->clock = (sim_clock){.ready = ready, .places = places};
    }
}

void sim_time_end(sim_block *b) {
    sim_timing *t = timing_of(b);
    uint32_t last = 0;
    if (!t) return;
    for (uint32_t k = 0; k < b->nwarps; k++)
        if (b->warps[k].clock->now > last) last = b->warps[k].clock->now;
    for (uint32_t k = 0; k < t->buffers.len; k++) {
        cached_buffer *c = &t->buffers.data[k];
        c->spans += b->weight * (double)(c->last - c->first);
        c->first = c->last = 0;
    }
    t->sum.ran += b->weight > 0;
    t->sum.cycles += b->weight * last;
    if (last > t->sum.longest) t->sum.longest = last;
}

void sim_time_barrier(sim_block *b) {
    enum { CYCLES = 20 };
    uint32_t last = 0;
    if (!timing_of(b)) return;
    for (uint32_t k = 0; k < b->nwarps; k++)
        if (b->warps[k].clock->now > last) last = b->warps[k].clock->now;
    for (uint32_t k = 0; k < b->nwarps; k++) b->warps[k].clock->now = last + CYCLES;
}

// ---- Requests -----------------------------------------------------------------------------------
static cached_buffer *buffer_at(sim *s, sim_timing *t, uint32_t number) {
    while (t->buffers.len <= number) VEC_PUSH(s->memory, &t->buffers, (cached_buffer){0});
    cached_buffer *c = &t->buffers.data[number];
    if (!c->asked) {
        size_t lines = s->buffers.data[number].bytes / LINE + 2;
        c->asked = sim_shadow(s, lines * sizeof *c->asked);
        c->sectors = sim_shadow(s, lines);
    }
    return c;
}

// Whether L1 has not got it.
static bool fetch(sim_timing *t, cached_buffer *c, uint64_t line, uint32_t sector, double weight) {
    uint8_t bit = (uint8_t)(1 << sector);
    uint32_t asked = c->asked[line];
    bool there = asked && t->asked - asked < t->window;
    if (!c->last || line < c->first) c->first = line;
    if (line >= c->last) c->last = line + 1;
    if (there && c->sectors[line] & bit) return false;
    if (!there) {
        c->lines += asked ? 0 : weight;
        c->asked[line] = ++t->asked;
        c->sectors[line] = 0;
        t->sum.lines += weight;
    }
    c->sectors[line] |= bit;
    c->fetched += weight;
    t->sum.fetched += weight;
    return true;
}

static void store(sim_timing *t, cached_buffer *c, uint64_t line, double weight) {
    if (!c->asked[line]) c->lines += weight;
    if (!c->asked[line]) c->asked[line] = 1;
    c->stored += weight;
    t->sum.stored += weight;
}

void sim_time_global(sim_block *b, const sim_request *q, bool stores, bool atomic) {
    sim_timing *t = timing_of(b);
    if (!t) return;
    sim_ordered o = sim_request_ordered(q);
    uint64_t next = 0, offsets = (UINT64_C(1) << SIM_OFFSET_BITS) - 1;
    uint32_t sectors = 0, missed = 0;
    cached_buffer *c = buffer_at(b->sim, t, sim_request_buffer(o.at[0]));
    for (uint32_t i = 0; i < o.n; i++) {
        uint64_t from = (o.at[i] & offsets) / SECTOR,
                 to = ((o.at[i] & offsets) + q->bytes - 1) / SECTOR;
        for (uint64_t k = from > next ? from : next; k <= to; k++, sectors++) {
            if (stores || atomic) store(t, c, k / OF_LINE, b->weight);
            else missed += fetch(t, c, k / OF_LINE, (uint32_t)(k % OF_LINE), b->weight);
        }
        next = to + 1 > next ? to + 1 : next;
    }
    const uint32_t wavefronts = (sectors + OF_LINE - 1) / OF_LINE;
    t->sum.wavefronts[0] += b->weight * wavefronts;
    const sim_sampling *m = b->sim->sampling;
    uint32_t waits = missed || atomic ? m->missed + 2 * missed : m->cached + sectors / OF_LINE;
    if (!stores && waits > t->waits) t->waits = waits;
}

void sim_time_shared(sim_block *b, const sim_request *q) {
    sim_timing *t = timing_of(b);
    if (!t) return;
    uint32_t n = sim_request_wavefronts(q), waits = b->sim->sampling->shared + n;
    t->sum.wavefronts[1] += b->weight * n;
    if (waits > t->waits) t->waits = waits;
}

// ---- Steps --------------------------------------------------------------------------------------
static void wait_for(sim_clock *k, sim_place p) {
    if (k->ready[p / PLACE] > k->now) k->now = k->ready[p / PLACE];
}

static void wait_for_arguments(sim_clock *k, const sim_code *c, const simt_instr_info *i) {
    if (c->places) {
        for (uint32_t n = 0; n < i->nargs; n++) wait_for(k, c->places[i->args[n]]);
        return;
    }
    if (i->nargs > 0) wait_for(k, c->a);
    if (i->nargs > 1) wait_for(k, c->b);
    if (i->nargs > 2) wait_for(k, c->c);
}

static void put_results(sim_clock *k, const sim_code *c, const simt_instr_info *i, uint32_t at) {
    for (uint32_t n = 0; c->places && n < i->nresults; n++)
        k->ready[c->places[i->results[n]] / PLACE] = at;
    if (!c->places && i->nresults) k->ready[c->r / PLACE] = at;
}

// Registers are no instructions: the value is there when those it is made of are.
static void put_register(sim_clock *k, const sim_code *c, const simt_instr_info *i) {
    uint32_t at = 0;
    const sim_place from[] = {c->a, c->b};
    for (uint32_t n = 0; n < i->nargs && n < 2; n++)
        if (k->ready[from[n] / PLACE] > at) at = k->ready[from[n] / PLACE];
    k->ready[c->r / PLACE] = at;
}

static void plain(sim_timing *t, sim_clock *k, const sim_code *c, const sim_cost *x) {
    const simt_instr_info *i = &c->func->instrs.data[c->instr];
    if (!x->instructions) {
        put_register(k, c, i);
        return;
    }
    wait_for_arguments(k, c, i);
    uint32_t issues = x->unit == SIM_UNIT_MATRIX ? 1 : x->instructions;
    put_results(k, c, i, k->now + issues - 1 + (x->request ? t->waits : x->cycles));
    k->now += issues;
}

static void move(sim_clock *k, const sim_code *c, bool joins) {
    uint32_t *to = &k->ready[c->r / PLACE], from = k->ready[c->a / PLACE];
    if (!joins || from > *to) *to = from;
}

static void branch(sim_clock *k, const sim_code *c, const sim_cost *x) {
    wait_for(k, c->a);
    if (x->as == TIMED_LOOP) wait_for(k, c->b);
    k->now += x->cycles;
}

static void wait_for_copies(sim_clock *k, const sim_code *c) {
    uint32_t left = c->imm < GROUPS ? (uint32_t)c->imm : GROUPS;
    for (uint32_t n = left; n < GROUPS && n < k->ended; n++) {
        uint32_t there = k->groups[(k->ended - 1 - n) % GROUPS];
        if (there > k->now) k->now = there;
    }
}

static void copies(sim_timing *t, sim_clock *k, const sim_code *c, const sim_cost *x) {
    if (x->as == TIMED_COPY_WAIT) {
        wait_for_copies(k, c);
    } else if (x->as == TIMED_COPY_END) {
        k->groups[k->ended++ % GROUPS] = k->copies;
    } else {
        wait_for_arguments(k, c, &c->func->instrs.data[c->instr]);
        if (k->now + t->waits > k->copies) k->copies = k->now + t->waits;
    }
    k->now += x->instructions;
}

void sim_time_step(sim_warp *w, const sim_code *c, const sim_cost *x) {
    sim_timing *t = timing_of(w->block);
    double weight = w->block->weight;
    switch (x->as) {
    case TIMED_PLAIN: plain(t, w->clock, c, x); break;
    case TIMED_MOVE:
    case TIMED_JOIN: move(w->clock, c, x->as == TIMED_JOIN); break;
    case TIMED_BRANCH:
    case TIMED_LOOP: branch(w->clock, c, x); break;
    case TIMED_COPY:
    case TIMED_COPY_END:
    case TIMED_COPY_WAIT: copies(t, w->clock, c, x); break;
    case TIMED_BARRIER: w->clock->now++; break;
    case TIMED_NOTHING: break;
    }
    t->waits = 0;
    t->sum.units[x->unit] += weight * x->instructions;
    t->sum.issued += weight * (x->unit == SIM_UNIT_MATRIX ? 1 : x->instructions);
}

// ---- A sample cut short -------------------------------------------------------------------------
// What the blocks so far told, for those that were to follow.
static void stretch(double *now, double before, double by) { *now = before + (*now - before) * by; }

void sim_time_stretch(sim_block *b, const sim_timing *before, double by) {
    sim_timing *t = timing_of(b);
    sim_times *now = &t->sum;
    const sim_times *then = &before->sum;
    stretch(&now->cycles, then->cycles, by);
    stretch(&now->issued, then->issued, by);
    for (sim_unit u = 0; u < SIM_UNITS; u++) stretch(&now->units[u], then->units[u], by);
    for (uint32_t k = 0; k < 2; k++) stretch(&now->wavefronts[k], then->wavefronts[k], by);
    stretch(&now->fetched, then->fetched, by);
    stretch(&now->lines, then->lines, by);
    stretch(&now->stored, then->stored, by);
    for (uint32_t k = 0; k < t->buffers.len; k++) {
        const cached_buffer none = {0},
                            *old = k < before->buffers.len ? &before->buffers.data[k] : &none;
        cached_buffer *c = &t->buffers.data[k];
        stretch(&c->lines, old->lines, by);
        stretch(&c->fetched, old->fetched, by);
        stretch(&c->stored, old->stored, by);
        stretch(&c->spans, old->spans, by);
    }
}

sim_timing *sim_time_noted(sim_block *b) {
    sim_timing *copy = ARENA_NEW(b->arena, sim_timing);
    const sim_timing *t = timing_of(b);
    *copy = *t;
    copy->buffers.data = ARENA_ARRAY(b->arena, cached_buffer, t->buffers.len + 1);
    memcpy(copy->buffers.data, t->buffers.data, t->buffers.len * sizeof *t->buffers.data);
    return copy;
}

double sim_time_issued(const sim_block *b, const sim_timing *since) {
    return (timing_of(b)->sum.issued - since->sum.issued) / b->weight;
}

// ---- What it comes to ---------------------------------------------------------------------------
const sim_times *sim_timing_told(sim *s, arena *a, const sim_timing *t) {
    sim_times *out = ARENA_NEW(a, sim_times);
    *out = t->sum;
    memset(&out->buffers, 0, sizeof out->buffers);
    for (uint32_t k = 0; k < t->buffers.len; k++) {
        const cached_buffer *c = &t->buffers.data[k];
        double most = (double)s->buffers.data[k].bytes / LINE + 1;
        if (!c->asked) continue;
        sim_traffic x = {.name = arena_strdup(a, s->buffers.data[k].name),
                         .lines = c->lines < most ? c->lines : most,
                         .fetched = c->fetched,
                         .spans = c->spans,
                         .stored = c->stored};
        VEC_PUSH(a, &out->buffers, x);
    }
    return out;
}
