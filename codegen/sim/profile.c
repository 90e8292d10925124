// What was counted, by source line, and remarks on accesses that take more than they must.
#include "counts.h"

#include <stdlib.h>

const char *sim_counter_title(sim_counter c) {
    static const char *const titles[SIM_COUNTERS] = {
#define COUNTER(id, title) title,
#include "counters.def"
#undef COUNTER
    };
    return titles[c];
}

static void add(uint64_t *to, const uint64_t *n) {
    for (uint32_t c = 0; c < SIM_COUNTERS; c++) to[c] += n[c];
}

static span place_of(const sim_counts *x, uint32_t step) {
    const sim_code *c = &x->kernel->code.data[step];
    return c->instr ? c->func->instrs.data[c->instr].at : NO_SPAN;
}

// ---- Lines --------------------------------------------------------------------------------------
static bool same_line(source_map *m, span a, span b) {
    source_position x = source_map_position(m, a.lo), y = source_map_position(m, b.lo);
    return x.file == y.file && x.line == y.line;
}

static sim_line *line_at(arena *a, source_map *m, sim_profile *p, span at) {
    for (uint32_t k = 0; k < p->lines.len; k++)
        if (same_line(m, p->lines.data[k].at, at)) return &p->lines.data[k];
    VEC_PUSH(a, &p->lines, (sim_line){.at = at});
    return &p->lines.data[p->lines.len - 1];
}

static uint64_t spare(const uint64_t *n) {
    return n[SIM_COUNT_SECTORS] - n[SIM_COUNT_LEAST] + n[SIM_COUNT_CONFLICTS];
}

static uint64_t moved(const uint64_t *n) { return n[SIM_COUNT_SECTORS] + n[SIM_COUNT_SHARED]; }

static int falling(uint64_t a, uint64_t b) { return (a < b) - (a > b); }

static int worst_first(const void *a, const void *b) {
    const sim_line *x = a, *y = b;
    int by = falling(spare(x->counts), spare(y->counts));
    if (!by) by = falling(moved(x->counts), moved(y->counts));
    if (!by) by = falling(x->counts[SIM_COUNT_INSTRUCTIONS], y->counts[SIM_COUNT_INSTRUCTIONS]);
    return by ? by : falling(y->at.lo, x->at.lo);
}

static void fill_lines(sim *s, arena *a, const sim_counts *x, sim_profile *p) {
    for (uint32_t k = 0; k < x->kernel->code.len; k++)
        if (x->tallies[k].n[SIM_COUNT_INSTRUCTIONS])
            add(line_at(a, diag_sources(s->ds), p, place_of(x, k))->counts, x->tallies[k].n);
    if (p->lines.len) qsort(p->lines.data, p->lines.len, sizeof *p->lines.data, worst_first);
}

static void fill_buffers(sim *s, arena *a, const sim_counts *x, sim_profile *p) {
    for (uint32_t k = 0; k < x->touched.len; k++) {
        const sim_touched *t = &x->touched.data[k];
        sim_footprint f = {arena_strdup(a, s->buffers.data[k].name), t->lines, t->requests};
        if (t->lines) VEC_PUSH(a, &p->buffers, f);
    }
}

// ---- Remarks ------------------------------------------------------------------------------------
// The requests to one buffer by what stands at one place, however often it was written out.
typedef struct {
    span at;
    const char *verb;
    sim_tally tally;
} site;
typedef VEC(site) sites;

static const char *verb_of(const sim_code *c) {
    switch ((int)c->func->instrs.data[c->instr].op) {
    case SIMT_LD:
    case SIMT_LD_SOME:
    case SIMT_LDMATRIX:
    case SIMT_LDMATRIX_TRANS: return "read";
    case SIMT_ST:
    case SIMT_ST_SOME: return "write";
    }
    return "update";
}

// The stride of more pairs stands; pairs are all of them, so what it says of the most stays true.
static void add_stride(sim_stride *to, const sim_stride *x) {
    uint64_t pairs = to->pairs + x->pairs;
    if (to->bytes == x->bytes) to->agreed += x->agreed;
    else if (to->agreed < x->agreed) *to = *x;
    to->pairs = pairs;
}

static void add_site(arena *a, sites *all, const sim_counts *x, uint32_t step) {
    const sim_tally *t = &x->tallies[step];
    span at = place_of(x, step);
    const char *verb = verb_of(&x->kernel->code.data[step]);
    for (uint32_t k = 0; k < all->len; k++) {
        site *q = &all->data[k];
        if (q->at.lo != at.lo || q->at.hi != at.hi || q->verb != verb ||
            q->tally.buffer != t->buffer)
            continue;
        add(q->tally.n, t->n);
        add_stride(&q->tally.stride, &t->stride);
        return;
    }
    VEC_PUSH(a, all, ((site){at, verb, *t}));
}

typedef enum { SCATTERED, BROKEN, STRIDED } pattern;

// What most neighbouring lanes do.
static pattern pattern_of(const sim_tally *t) {
    const sim_stride *x = &t->stride;
    if (x->agreed * 2 <= x->pairs) return SCATTERED;
    return x->bytes <= (int64_t)t->bytes && -x->bytes <= (int64_t)t->bytes ? BROKEN : STRIDED;
}

static const char *pattern_text(arena *a, const site *q, const char *name) {
    int64_t apart = q->tally.stride.bytes < 0 ? -q->tally.stride.bytes : q->tally.stride.bytes;
    switch (pattern_of(&q->tally)) {
    case SCATTERED:
        return arena_printf(a, "neighbouring lanes %s %s at no common distance", q->verb, name);
    case BROKEN:
        return arena_printf(a, "lanes %s %s side by side in short runs only", q->verb, name);
    case STRIDED: break;
    }
    return arena_printf(a, "neighbouring lanes %s %s at addresses %lld bytes apart", q->verb, name,
                        (long long)apart);
}

static double per_request(const sim_tally *t, uint64_t n) {
    uint64_t requests = t->n[SIM_COUNT_LOADS] + t->n[SIM_COUNT_STORES] + t->n[SIM_COUNT_SHARED];
    return (double)n / (double)(requests ? requests : t->n[SIM_COUNT_ATOMICS]);
}

static void remark_sectors(sim *s, arena *a, const char *kernel, const site *q) {
    const sim_tally *t = &q->tally;
    const char *name = s->buffers.data[t->buffer].name;
    diagnostic *d = diag(
        s->ds, P0730, q->at, "kernel '%s': %.1f sectors a request where %.1f would do: %s", kernel,
        per_request(t, t->n[SIM_COUNT_SECTORS]), per_request(t, t->n[SIM_COUNT_LEAST]),
        pattern_text(a, q, arena_printf(a, "'%s'", name)));
    diag_help(d, "deal lanes to the last index of '%s'%s", name,
              pattern_of(t) == STRIDED
                  ? ""
                  : ", or order points so that neighbours are neighbours there");
}

static void remark_banks(sim *s, arena *a, const char *kernel, const site *q) {
    const sim_tally *t = &q->tally;
    diagnostic *d = diag(s->ds, P0731, q->at, "kernel '%s': %.1f bank conflicts a request: %s",
                         kernel, per_request(t, t->n[SIM_COUNT_CONFLICTS]),
                         pattern_text(a, q, "shared memory"));
    diag_help(d, "deal lanes to the last index of what is kept there");
}

static void remark(sim *s, arena *a, const sim_counts *x) {
    sites all = {0};
    for (uint32_t k = 0; k < x->kernel->code.len; k++)
        if (x->tallies[k].buffer) add_site(a, &all, x, k);
    for (uint32_t k = 0; k < all.len; k++) {
        const uint64_t *n = all.data[k].tally.n;
        const char *kernel = x->kernel->func->name;
        if (n[SIM_COUNT_SECTORS] > 2 * n[SIM_COUNT_LEAST])
            remark_sectors(s, a, kernel, &all.data[k]);
        if (n[SIM_COUNT_CONFLICTS]) remark_banks(s, a, kernel, &all.data[k]);
    }
}

// ---- All of it ----------------------------------------------------------------------------------
uint32_t sim_counted(sim *s, arena *a, const sim_profile **out) {
    sim_profile *all = ARENA_ARRAY(a, sim_profile, s->counts.len + 1);
    for (uint32_t k = 0; k < s->counts.len; k++) {
        const sim_counts *x = s->counts.data[k];
        const simt_func *f = x->kernel->func;
        all[k] = (sim_profile){
            .kernel = f->name, .block = f->block, .launches = x->launches, .blocks = x->blocks};
        fill_lines(s, a, x, &all[k]);
        fill_buffers(s, a, x, &all[k]);
        if (x->timing) all[k].times = sim_timing_told(s, a, x->timing);
        else remark(s, a, x);
    }
    *out = all;
    s->counting = false;
    return s->counts.len;
}
