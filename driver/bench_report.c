// What gnnc bench prints: a table, or a line of JSON an op.
#include "bench.h"
#include "estimate.h"
#include "roofline.h"
#include "table.h"

#include <jansson.h>
#include <string.h>

// Of the time the memory needs for what must move, over the time it took.
static double floor_share(const bench_session *s, const bench_figures *f) {
    return f->traffic.compulsory / s->bandwidth / (f->median * 1e-3);
}

static const char *check_text(const run_session *r, const run_row *w) {
    if (!w->checked) return "-";
    if (w->check.one_in < 2)
        return arena_printf(r->d->arena, "all %lld", (long long)w->check.compared);
    return arena_printf(r->d->arena, "%lld, 1 in %llu", (long long)w->check.compared,
                        (unsigned long long)w->check.one_in);
}

// ---- Table --------------------------------------------------------------------------------------

enum { COLUMNS = 19, FIRST_TIME = 6, TIMES = 7 };
static const char *const title[COLUMNS] = {
    "op",          "target", "type", "plan",    "sizes",  "compared", "median",
    "fastest",     "q1",     "q3",   "hot",     "replay", "prepare",  "must MB",
    "gathered MB", "floor",  "GB/s", "GFLOP/s", "verdict"};

static void row_cells(const run_session *r, const run_row *w, const char **cell) {
    arena *a = r->d->arena;
    const bench_figures *f = w->figures;
    const char *plain[COLUMNS] = {w->name, w->target, w->type, w->plan, w->sizes, check_text(r, w)};
    memcpy(cell, plain, sizeof plain);
    for (uint32_t k = FIRST_TIME; k < COLUMNS; k++) cell[k] = "-";
    cell[COLUMNS - 1] = w->verdict;
    if (!f) return;
    if (f->behind) cell[0] = arena_printf(a, "%s, %s", f->behind, w->name);
    const double times[TIMES] = {f->median,        f->fastest,    f->first_quarter,
                                 f->third_quarter, f->shares.hot, f->shares.replay,
                                 f->prepare.ms};
    for (uint32_t k = 0; k < TIMES; k++)
        if (times[k] > 0) cell[FIRST_TIME + k] = table_time_text(a, times[k]);
    cell += FIRST_TIME + TIMES;
    cell[0] = arena_printf(a, "%.3f", f->traffic.compulsory / 1e6);
    cell[1] = arena_printf(a, "%.3f", f->traffic.gathered / 1e6);
    cell[2] = arena_printf(a, "%.1f%%", 100 * floor_share((const bench_session *)r, f));
    cell[3] = arena_printf(a, "%.2f", f->traffic.compulsory / f->median / 1e6);
    cell[4] = arena_printf(a, "%.2f", f->traffic.flops / f->median / 1e6);
}

static const char *graphs_text(const run_session *r) {
    const char *all = NULL;
    for (uint32_t i = 0; i < r->graphs.len; i++)
        if (r->graphs.data[i].given)
            all = all ? arena_printf(r->d->arena, "%s, %s", all, r->graphs.data[i].text)
                      : r->graphs.data[i].text;
    return all ? all : "none";
}

static void print_kernels(const run_session *r, const run_row *w, FILE *out) {
    enum { FIELDS = 4 };
    const bench_kernel_list *l = w->figures ? &w->figures->kernels : NULL;
    if (!l || !l->len) return;
    arena *a = r->d->arena;
    double all = 0;
    for (uint32_t i = 0; i < l->len; i++) all += l->data[i].median;
    text_table t = {.rows = l->len + 1, .columns = FIELDS, .first_number = 1, .last_number = 3};
    const char **cells = ARENA_ARRAY(a, const char *, t.rows *FIELDS);
    const char *titles[FIELDS] = {arena_printf(a, "kernel of %s", w->name), "launches", "median",
                                  "share"};
    memcpy(cells, titles, sizeof titles);
    for (uint32_t i = 0; i < l->len; i++) {
        const bench_kernel *k = &l->data[i];
        const char **row = cells + (size_t)(i + 1) * FIELDS;
        row[0] = k->name;
        row[1] = arena_printf(a, "%lld", (long long)k->launches);
        row[2] = table_time_text(a, k->median);
        row[3] = arena_printf(a, "%.1f%%", all > 0 ? 100 * k->median / all : 0);
    }
    t.cells = cells;
    fputs("\n", out);
    table_print(a, &t, out);
}

static void print_table(const run_session *r, const run_rows *rows, FILE *out) {
    const bench_session *s = (const bench_session *)r;
    text_table t = {
        .rows = rows->len + 1, .columns = COLUMNS, .first_number = 5, .last_number = COLUMNS - 2};
    const char **cells = ARENA_ARRAY(r->d->arena, const char *, t.rows *COLUMNS);
    memcpy(cells, title, sizeof title);
    for (uint32_t i = 0; i < rows->len; i++)
        row_cells(r, &rows->data[i], cells + (i + 1) * COLUMNS);
    t.cells = cells;
    if (s->bandwidth > 0)
        fprintf(out,
                "graph %s; memory %.1f GB/s, %s; before each launch the last-level cache is %s\n",
                graphs_text(r), s->bandwidth / 1e9, s->is_measured ? "measured" : "as given",
                s->flush ? "overwritten" : "as the launch before left it");
    if (s->empty.hot > 0)
        fprintf(out, "hot launches are %s; so an empty kernel takes %s%s%s\n",
                s->replayed ? "captured and replayed" : "launched one by one",
                table_time_text(r->d->arena, s->empty.hot),
                s->empty.replay > 0 ? ", a replay of it alone " : "",
                s->empty.replay > 0 ? table_time_text(r->d->arena, s->empty.replay) : "");
    table_print(r->d->arena, &t, out);
    for (uint32_t i = 0; i < rows->len; i++) print_kernels(r, &rows->data[i], out);
}

// ---- JSON ---------------------------------------------------------------------------------------

static json_t *json_of_kernels(const bench_kernel_list *l) {
    json_t *all = json_array();
    for (uint32_t i = 0; i < l->len; i++) {
        const bench_kernel *k = &l->data[i];
        json_array_append_new(all, json_pack("{ss sI sf}", "kernel", k->name, "launches",
                                             (json_int_t)k->launches, "median_ms", k->median));
    }
    return all;
}

static void add_figures(json_t *o, const bench_session *s, const bench_figures *f) {
    const struct {
        const char *name;
        double value;
    } fields[] = {{"median_ms", f->median},
                  {"fastest_ms", f->fastest},
                  {"first_quartile_ms", f->first_quarter},
                  {"third_quartile_ms", f->third_quarter},
                  {"hot_ms", f->shares.hot},
                  {"prepare_ms", f->prepare.ms},
                  {"compulsory_bytes", f->traffic.compulsory},
                  {"gathered_bytes", f->traffic.gathered},
                  {"flops", f->traffic.flops},
                  {"bandwidth_bytes_per_s", s->bandwidth},
                  {"floor_share", floor_share(s, f)}};
    if (f->behind) json_object_set_new(o, "behind", json_string(f->behind));
    json_object_set_new(o, "launches", json_integer(f->launches));
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].value > 0 || !s->brief)   // what was not timed
            json_object_set_new(o, fields[i].name, json_real(fields[i].value));
    json_object_set_new(o, "workspace_bytes", json_integer((json_int_t)f->workspace));
    if (!s->brief)
        json_object_set_new(o, "prepared_bytes", json_integer((json_int_t)f->prepare.bytes));
    json_object_set_new(o, "bandwidth_measured", json_boolean(s->is_measured));
    json_object_set_new(o, "flushed", json_boolean(s->flush));
    json_object_set_new(o, "hot_replayed", json_boolean(s->replayed));
    if (s->kernels) json_object_set_new(o, "kernels", json_of_kernels(&f->kernels));
    if (f->shares.replay > 0) json_object_set_new(o, "replay_ms", json_real(f->shares.replay));
    if (s->empty_cold > 0) json_object_set_new(o, "empty_cold_ms", json_real(s->empty_cold));
    if (s->empty.hot > 0) json_object_set_new(o, "empty_ms", json_real(s->empty.hot));
    if (s->empty.replay > 0) json_object_set_new(o, "empty_replay_ms", json_real(s->empty.replay));
}

static json_t *json_of_launched(const run_launched *l) {
    const kernel_resources *k = &l->resources;
    json_t *o = json_pack("{ss sI sI si si sf sb}", "kernel", k->kernel->name, "launches",
                          (json_int_t)l->launches, "blocks", (json_int_t)l->blocks, "threads",
                          (int)k->kernel->block, "shared_bytes", (int)k->kernel->shared_bytes,
                          "bytes", l->bytes, "bytes_are_most", (int)l->is_most);
    if (!k->known) return o;
    json_object_set_new(o, "registers", json_integer(k->usage.registers));
    json_object_set_new(o, "stack_bytes", json_integer(k->usage.stack));
    json_object_set_new(o, "spill_bytes",
                        json_integer(k->usage.spill_stores + k->usage.spill_loads));
    json_object_set_new(o, "resident_blocks", json_integer(k->fits.blocks));
    json_object_set_new(o, "limit", json_string(cg_limit_text(k->fits.limit)));
    json_object_set_new(o, "warps_share", json_real(k->fits.warps));
    json_object_set_new(o, "waves", json_real(l->waves));
    json_object_set_new(o, "efficiency", json_real(l->efficiency));
    return o;
}

static json_t *json_of_estimate(const run_estimate *e) {
    json_t *kernels = json_array();
    for (uint32_t i = 0; i < e->launched.len; i++)
        json_array_append_new(kernels, json_of_launched(&e->launched.data[i]));
    json_t *o = json_pack("{ss ss ss si so}", "device", e->device, "arch", e->arch->name, "plan",
                          e->version, "sms", (int)e->sms, "kernels", kernels);
    if (e->bandwidth > 0) json_object_set_new(o, "bandwidth_bytes_per_s", json_real(e->bandwidth));
    return o;
}

// A line of JSON at once: who reads them has each as it comes, and those there are of a run that is
// cut short.
void bench_print_row(const run_session *r, const run_row *w, FILE *out) {
    json_t *o = json_pack("{ss ss ss ss ss ss ss sI sI}", "op", w->name, "target", w->target,
                          "type", w->type, "plan", w->plan, "graph", w->graph, "sizes", w->sizes,
                          "verdict", w->verdict, "compared", (json_int_t)w->check.compared,
                          "one_in", (json_int_t)w->check.one_in);
    if (o && w->check.overflowed)
        json_object_set_new(o, "overflowed", json_integer((json_int_t)w->check.overflowed));
    if (!o) ICE("a row has no JSON");
    if (w->figures) add_figures(o, (const bench_session *)r, w->figures);
    if (w->estimate) json_object_set_new(o, "estimate", json_of_estimate(w->estimate));
    json_dumpf(o, out, JSON_COMPACT | JSON_REAL_PRECISION(6));
    fputs("\n", out);
    fflush(out);   // what failed is told at the end
    json_decref(o);
}

// ---- A drawing ----------------------------------------------------------------------------------
static const cost_machine *machine_of(const run_session *r) {
    gnn_device_info info;
    if (r->d->machine) return r->d->machine;
    if (r->target.kind == CG_HOST || gnn_device_query(r->context, &info)) return NULL;
    return cost_machine_held(info.name);
}

static void draw(const run_session *r, const run_rows *rows) {
    const bench_session *s = (const bench_session *)r;
    arena *a = r->d->arena;
    roofline_dots dots = {0};
    for (uint32_t i = 0; i < rows->len; i++) {
        const run_row *w = &rows->data[i];
        const char *what = arena_printf(a, "%s%s%s", w->graph, *w->graph ? ", " : "", w->sizes);
        roofline_dot x = {.name = w->name, .what = what};
        if (w->figures) {
            x.bytes = w->figures->traffic.compulsory;
            x.flops = w->figures->traffic.flops;
            x.seconds = w->figures->median * 1e-3;
        }
        VEC_PUSH(a, &dots, x);
    }
    const char *title = arena_printf(a, "%s, medians of launches one by one",
                                     rows->len ? rows->data[0].target : "");
    roofline_add(
        r->d, s->drawing,
        &(roofline_of){.title = title, .machine = machine_of(r), .bandwidth = s->bandwidth}, &dots);
    output_flush(r->d);
}

void bench_print(const run_session *r, const run_rows *rows, FILE *out) {
    const bench_session *s = (const bench_session *)r;
    if (!s->json) print_table(r, rows, out);
    if (s->drawing) draw(r, rows);
}
