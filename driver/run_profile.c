// gnnc run --target=sim --profile: what was counted, a table a kernel and its source lines, and
// what it touches of each buffer.
#include "run_sim.h"
#include "table.h"

#include <string.h>

static void totals(const sim_profile *p, uint64_t *n) {
    memset(n, 0, SIM_COUNTERS * sizeof *n);
    for (uint32_t k = 0; k < p->lines.len; k++)
        for (sim_counter c = 0; c < SIM_COUNTERS; c++) n[c] += p->lines.data[k].counts[c];
}

static const char *cell_of(arena *a, const uint64_t *n, sim_counter c) {
    double lanes = 32 * (double)n[SIM_COUNT_INSTRUCTIONS];
    return c == SIM_COUNT_ACTIVE ? arena_printf(a, "%.1f%%", lanes ? 100 * (double)n[c] / lanes : 0)
                                 : arena_printf(a, "%llu", (unsigned long long)n[c]);
}

static const char *place_of(const driver *d, span at) {
    source_position p = source_map_position(diag_sources(d->ds), at.lo);
    if (!p.file) return "elsewhere";
    const char *name = strrchr(p.file->path, '/');
    return arena_printf(d->arena, "%s:%u", name ? name + 1 : p.file->path, p.line);
}

// Columns in which nothing was counted are left out.
static void put_row(arena *a, const char ***cell, const uint64_t *sum, const uint64_t *n,
                    const char *place) {
    *(*cell)++ = place;
    for (sim_counter c = 0; c < SIM_COUNTERS; c++)
        if (sum[c]) *(*cell)++ = n ? cell_of(a, n, c) : sim_counter_title(c);
}

static void print_lines(const driver *d, const sim_profile *p, FILE *out) {
    uint64_t sum[SIM_COUNTERS];
    totals(p, sum);
    const char **cells = ARENA_ARRAY(d->arena, const char *,
                                     (p->lines.len + 2) * (SIM_COUNTERS + 1)),
               **end = cells;
    put_row(d->arena, &end, sum, NULL, "line");
    uint32_t columns = (uint32_t)(end - cells);
    for (uint32_t k = 0; k < p->lines.len; k++)
        put_row(d->arena, &end, sum, p->lines.data[k].counts, place_of(d, p->lines.data[k].at));
    put_row(d->arena, &end, sum, sum, "all");
    text_table t = {.rows = p->lines.len + 2,
                    .columns = columns,
                    .first_number = 1,
                    .last_number = columns - 1,
                    .cells = cells};
    table_print(d->arena, &t, out);
}

static void print_buffers(arena *a, const sim_profile *p, FILE *out) {
    enum { COLUMNS = 4, LINE = 128, KIB = 1024 };
    const char **cells = ARENA_ARRAY(a, const char *, (p->buffers.len + 1) * COLUMNS);
    const char *title[COLUMNS] = {"buffer", "128-byte lines", "KiB", "requests a line"};
    memcpy(cells, title, sizeof title);
    for (uint32_t k = 0; k < p->buffers.len; k++) {
        const sim_footprint *f = &p->buffers.data[k];
        const char *row[COLUMNS] = {
            f->name, arena_printf(a, "%llu", (unsigned long long)f->lines),
            arena_printf(a, "%.1f", (double)f->lines * LINE / KIB),
            arena_printf(a, "%.1f", (double)f->requests / (double)f->lines)};
        memcpy(cells + (k + 1) * COLUMNS, row, sizeof row);
    }
    text_table t = {.rows = p->buffers.len + 1,
                    .columns = COLUMNS,
                    .first_number = 1,
                    .last_number = COLUMNS - 1,
                    .cells = cells};
    if (p->buffers.len) table_print(a, &t, out);
}

bool run_profiles(driver *d) {
    if (!option_given(d, OPT_PROFILE)) return false;
    if (option_is(d, OPT_TARGET, "sim")) return true;
    usage(d, E0812, "--profile tells what the simulator counts: it takes --target=sim");
    return false;
}

void run_profile(driver *d, sim *s, FILE *out) {
    const sim_profile *p;
    uint32_t n = sim_counted(s, d->arena, &p);
    for (uint32_t k = 0; k < n; k++) {
        fprintf(out, "%s: %llu launch%s, %llu block%s of %u threads\n", p[k].kernel,
                (unsigned long long)p[k].launches, p[k].launches == 1 ? "" : "es",
                (unsigned long long)p[k].blocks, p[k].blocks == 1 ? "" : "s", p[k].block);
        print_lines(d, &p[k], out);
        print_buffers(d->arena, &p[k], out);
        fputs("\n", out);
    }
}
