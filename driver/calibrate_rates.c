// The rates of a machine: a copy and a sum of more than any cache holds, and rows of 128 and of 32
// bytes gathered at random from tables of growing size. Where tables no longer fit the largest
// cache, the time of a row says what share of them it still has.
#include "calibrate.h"
#include "run_memory.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROW = 64, INDEX_BYTES = 4, LINE = 128, MOST_TABLES = 16 };
typedef struct {
    double bytes, ns;   // of a table; of one row that is gathered from it
} table_time;
typedef struct {
    const char *op;
    double row_bytes;
    table_time of[MOST_TABLES];
    uint32_t len;
} gathered;

// ---- An op of sizes -----------------------------------------------------------------------------
typedef struct {
    const gnn_size *sizes;
    size_t nsizes;
    const gnn_named_map *maps;
    size_t nmaps;
} given;

static int64_t size_of(const tensor_space_info *s, const given *g) {
    if (s->kind == SPACE_CONST) return s->size;
    for (size_t i = 0; i < g->nsizes; i++)
        if (!strcmp(g->sizes[i].name, s->name)) return g->sizes[i].value;
    ICE("a probe has no size of '%s'", s->name);
}

static bool make_tensor(run_op *o, tensor_val v, const given *g) {
    const tensor_val_info *x = &o->op->op->vals.data[v];
    gnn_tensor *t = &o->ready.tensors[v];
    size_t bytes = sizeof(float);
    *t = (gnn_tensor){.dtype = GNN_F32, .rank = x->rank};
    for (uint32_t k = 0; k < x->rank; k++)
        bytes *= (size_t)(t->shape[k] = size_of(&o->op->op->spaces.data[x->axes[k]], g));
    return calibrate_alloc(o, v, bytes) &&
           !run_failed(o, gnn_fill(o->r->context, t->data, 0x3f, bytes, NULL));
}

static bool make_ready(run_op *o, const given *g) {
    const uint32_t n = o->op->op->nparams;
    const gnn_plan_options options = {
        .sizes = g->sizes, .nsizes = g->nsizes, .maps = g->maps, .nmaps = g->nmaps};
    o->ready.tensors = ARENA_ARRAY(o->arena, gnn_tensor, n);
    o->ready.args = ARENA_ARRAY(o->arena, gnn_arg, n);
    o->ready.buffers = ARENA_ARRAY(o->arena, run_buffer, n);
    if (!run_load(o) || run_failed(o, gnn_plan_new(o->program, &options, &o->ready.plan)))
        return false;
    for (tensor_val v = 0; v < n; v++)
        if (o->op->op->vals.data[v].role != VAL_MAP && !make_tensor(o, v, g)) return false;
    return !run_failed(o, gnn_plan_workspace_for(o->ready.plan, o->ready.args, n,
                                                 &o->ready.workspace_bytes)) &&
           !run_failed(o, gnn_alloc(o->r->context, o->ready.workspace_bytes, &o->ready.workspace));
}

static bool time_op(run_op *o, const given *g, double *ns) {
    const bool good = make_ready(o, g) && calibrate_time(o, false, ns);
    run_plan_free(o);
    return good;
}

// ---- Ops of rates.gnn ---------------------------------------------------------------------------
static unit_op *op_named(unit *u, const char *name) {
    for (uint32_t i = 0; i < u->ops.len; i++)
        if (!strcmp(u->ops.data[i].name, name)) return &u->ops.data[i];
    ICE("there is no probe '%s'", name);
}

// GB/s of an op that moves so many bytes a row of 1024 or 2048 numbers.
static bool time_stream(calibration *c, unit *u, const char *name, double row_bytes, double *rate) {
    const double wanted = c->host ? 256 << 20 : 1 << 30;
    const gnn_size n = {"N", (int64_t)(fmin(wanted, c->most_bytes) / row_bytes)};
    run_op o = {.r = &c->bench.run, .arena = arena_new(), .op = op_named(u, name)};
    double ns = 0;
    const bool good = time_op(&o, &(given){.sizes = &n, .nsizes = 1}, &ns);
    *rate = (double)n.value * row_bytes / ns;
    run_op_free(&o);
    arena_free(o.arena);
    return good;
}

static bool stream(calibration *c, unit *u) {
    enum { COPIED = 2 * 1024 * 4, SUMMED = (64 + 1) * 32 * 4 };
    double copy = 0, total = 0;
    if (!time_stream(c, u, "copy", COPIED, &copy) || !time_stream(c, u, "total", SUMMED, &total))
        return false;
    textbuf_printf(&c->notes, "# memory: a copy %.1f GB/s, a sum %.1f\n", copy, total);
    calibrate_set(c, COST_FIELD_gb_per_s, fmax(copy, total), COST_MEASURED);
    return true;
}

// ---- Gathers ------------------------------------------------------------------------------------
static uint64_t next_random(uint64_t *state) {   // splitmix64
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static bool time_table(calibration *c, run_op *o, double row_bytes, double bytes, table_time *out) {
    const double wanted = c->host ? fmin(1, c->seconds * 32) * (1 << 20) : 1 << 23;
    const int64_t rows = (int64_t)(wanted / ROW), entries = rows * ROW,
                  table = (int64_t)(bytes / row_bytes);
    int32_t *src = xmalloc((size_t)entries * sizeof *src),
            *dst = xmalloc((size_t)entries * sizeof *dst);
    uint64_t state = 1;
    for (int64_t e = 0; e < entries; e++) {
        src[e] = (int32_t)(next_random(&state) % (uint64_t)table);
        dst[e] = (int32_t)(e / ROW);
    }
    const gnn_size sizes[] = {{"E", entries}, {"U", table}, {"V", rows}};
    const gnn_named_map maps[] = {
        {"src", {.index = src, .width = 32, .domain = entries, .codomain = table}},
        {"dst", {.index = dst, .width = 32, .domain = entries, .codomain = rows}}};
    double ns = 0;
    const bool good = time_op(o, &(given){.sizes = sizes, .nsizes = 3, .maps = maps, .nmaps = 2},
                              &ns);
    free(src);
    free(dst);
    *out = (table_time){bytes, fmax(ns - c->out.launch_ns, 0.1 * ns) / (double)entries};
    return good;
}

static bool gather(calibration *c, unit *u, gathered *g) {
    run_op o = {.r = &c->bench.run, .arena = arena_new(), .op = op_named(u, g->op)};
    const double cache = c->out.l2_mib * (1 << 20), most = fmin(16 * cache, c->most_bytes);
    bool good = true;
    textbuf_printf(&c->notes, "# rows of %g bytes a ns, by MiB of their table:", g->row_bytes);
    for (double bytes = 1 << 20; good && bytes <= most && g->len < MOST_TABLES; bytes *= 2) {
        table_time *t = &g->of[g->len++];
        good = time_table(c, &o, g->row_bytes, bytes, t);
        textbuf_printf(&c->notes, " %g: %.3g", bytes / (1 << 20), 1 / t->ns);
    }
    textbuf_puts(&c->notes, "\n");
    run_op_free(&o);
    arena_free(o.arena);
    return good;
}

// A row from a table that L1 has little of and the largest cache all.
static double cached_ns(const calibration *c, const gathered *g) {
    const double least = 8 * 1024 * c->out.l1_kib, most = c->out.l2_mib * (1 << 20) / 2;
    double best = g->of[0].ns;
    for (uint32_t i = 0; i < g->len; i++)
        if (g->of[i].bytes >= least && g->of[i].bytes <= most &&
            (g->of[i].ns < best || i == 0 || g->of[i - 1].bytes < least))
            best = g->of[i].ns;
    return best;
}

// Between a row that the cache has and one of the largest table, which it has next to nothing of,
// times tell what share of a table is missed. Of tables of which it misses some and has some they
// tell what it keeps; in the middle of these.
static double kept_bytes(const gathered *g, double cached, double cache) {
    double kept[MOST_TABLES] = {0};
    const double missed = g->of[g->len - 1].ns;
    int64_t n = 0;
    for (uint32_t i = 0; i < g->len; i++) {
        const double share = (g->of[i].ns - cached) / (missed - cached);
        if (share > 0.15 && share < 0.85) kept[n++] = g->of[i].bytes * (1 - share);
    }
    return fmin(n ? run_median(kept, n) : cache, cache);
}

static bool gathers(calibration *c, unit *u) {
    gathered lines = {.op = "lines", .row_bytes = LINE},
             sectors = {.op = "sectors", .row_bytes = 32};
    if (!gather(c, u, &lines) || !gather(c, u, &sectors)) return false;
    const double line = cached_ns(c, &lines), sector = cached_ns(c, &sectors);
    const double shared = INDEX_BYTES + (double)LINE / ROW;   // of a row: its index and its result
    calibrate_set(c, COST_FIELD_l2_gb_per_s, (LINE + shared) / line, COST_MEASURED);
    calibrate_set(c, COST_FIELD_l2_lines_per_ns, (1 + shared / LINE) / sector, COST_MEASURED);
    const double kept = kept_bytes(&lines, line, c->out.l2_mib * (1 << 20));
    calibrate_set(c, COST_FIELD_l2_kept_mib, fmax(1, round(kept / (1 << 20))), COST_MEASURED);
    return true;
}

// What an empty launch takes, of a GPU; of a host one that copies a row.
static bool launch(calibration *c, unit *u) {
    arena *a = c->bench.run.d->arena;
    double ns = 0;
    bool good;
    if (c->host) {
        const gnn_size n = {"N", 1};
        run_op o = {.r = &c->bench.run, .arena = arena_new(), .op = op_named(u, "copy")};
        good = time_op(&o, &(given){.sizes = &n, .nsizes = 1}, &ns);
        run_op_free(&o);
        arena_free(o.arena);
    } else {
        good = bench_empty(&c->bench, a);
        ns = c->bench.empty.hot * 1e6;
    }
    calibrate_set(c, COST_FIELD_launch_ns, round(ns), COST_MEASURED);
    return good;
}

bool calibrate_rates(calibration *c) {
    driver *d = c->bench.run.d;
    const embedded_text *text = calibrate_text("rates.gnn");
    unit u;
    if (!unit_load_text(d, text->name, text->text, text->size, &u)) return false;
    phase(d, "rates");
    return launch(c, &u) && stream(c, &u) && gathers(c, &u);
}
