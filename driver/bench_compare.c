// gnnc benchcmp: two files of `gnnc bench --json`, row by row: what got faster or slower by more
// than either side's times spread.
#include "driver.h"
#include "table.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static const double LEAST = 0.02;   // a smaller change is none, however little the times spread

typedef struct {
    const char *op, *target, *type, *graph, *sizes, *plan;
    double median, first, third;   // ms
    bool taken;                    // beside a row of the other file
} timed_row;
typedef VEC(timed_row) timed_rows;

// ---- Reading ------------------------------------------------------------------------------------
static const char *text_of(arena *a, const json_t *x, const char *key) {
    const char *text = json_string_value(json_object_get(x, key));
    return text ? arena_strdup(a, text) : NULL;
}

// false: it is no row of gnnc bench.
static bool read_row(arena *a, const json_t *x, timed_row *r) {
    *r = (timed_row){.op = text_of(a, x, "op"),
                     .target = text_of(a, x, "target"),
                     .type = text_of(a, x, "type"),
                     .graph = text_of(a, x, "graph"),
                     .sizes = text_of(a, x, "sizes"),
                     .plan = text_of(a, x, "plan"),
                     .median = json_number_value(json_object_get(x, "median_ms")),
                     .first = json_number_value(json_object_get(x, "first_quartile_ms")),
                     .third = json_number_value(json_object_get(x, "third_quartile_ms"))};
    return r->op && r->target && r->type && r->sizes && r->plan;
}

static bool read_rows(driver *d, const char *path, timed_rows *out) {
    size_t length;
    const char *text = file_read(d, path, &length);
    if (!text) return false;
    uint32_t number = 0;
    for (const char *at = text, *end; *at; at = *end ? end + 1 : end) {
        end = at + strcspn(at, "\n");
        number++;
        if (end == at) continue;
        timed_row r;
        json_t *x = json_loadb(at, (size_t)(end - at), 0, NULL);
        const bool good = read_row(d->arena, x, &r);
        json_decref(x);
        if (!good) {
            diag_help(
                diag(d->ds, E0817, NO_SPAN, "%s:%u: this is no row of gnnc bench", path, number),
                "gnnc bench --json prints a row an op");
            return false;
        }
        if (r.median > 0) VEC_PUSH(d->arena, out, r);   // others were refused or wrong
    }
    return true;
}

// ---- Comparing ----------------------------------------------------------------------------------
static bool same(const char *x, const char *y) { return x && y ? !strcmp(x, y) : x == y; }

static bool same_case(const timed_row *x, const timed_row *y) {
    return same(x->op, y->op) && same(x->target, y->target) && same(x->type, y->type) &&
           same(x->graph, y->graph) && same(x->sizes, y->sizes);
}

// Of several rows of a case, one of the same version; else the first. NULL: none is left.
static timed_row *beside(const timed_row *x, timed_rows *of) {
    timed_row *found = NULL;
    for (uint32_t i = 0; i < of->len; i++) {
        timed_row *y = &of->data[i];
        if (y->taken || !same_case(x, y)) continue;
        if (same(x->plan, y->plan)) return y;
        if (!found) found = y;
    }
    return found;
}

typedef struct {
    uint32_t faster, slower, alike;
    double logs;
    VEC(const char *) cells;
} comparison;
enum { COLUMNS = 8 };

static const char *verdict_of(comparison *c, const timed_row *a, const timed_row *b) {
    const double ratio = a->median / b->median;
    const bool apart = b->third < a->first || a->third < b->first;
    if (!apart || fabs(ratio - 1) < LEAST) {
        c->alike++;
        return "";
    }
    if (ratio > 1) c->faster++;
    else c->slower++;
    return ratio > 1 ? "faster" : "SLOWER";
}

static void compare(arena *a, comparison *c, const timed_row *x, const timed_row *y) {
    const double ratio = x->median / y->median;
    const bool other = strcmp(x->plan, y->plan) != 0;
    const char *const cells[COLUMNS] = {x->op,
                                        x->type,
                                        x->graph ? x->graph : "-",
                                        other ? arena_printf(a, "%s, then %s", x->plan, y->plan)
                                              : x->plan,
                                        arena_printf(a, "%.1f", x->median * 1e3),
                                        arena_printf(a, "%.1f", y->median * 1e3),
                                        arena_printf(a, "%.2f", ratio),
                                        verdict_of(c, x, y)};
    for (uint32_t i = 0; i < COLUMNS; i++) VEC_PUSH(a, &c->cells, cells[i]);
    c->logs += log(ratio);
}

static void print_comparison(driver *d, const comparison *c, uint32_t alone[2]) {
    const uint32_t n = c->faster + c->slower + c->alike;
    text_table t = {.rows = n + 1,
                    .columns = COLUMNS,
                    .first_number = 4,
                    .last_number = COLUMNS - 2,
                    .cells = c->cells.data};
    table_print(d->arena, &t, stdout);
    printf("%u faster, %u slower, %u alike; %.3f times as fast in the geometric mean\n", c->faster,
           c->slower, c->alike, exp(c->logs / n));
    for (uint32_t k = 0; k < 2; k++)
        if (alone[k]) printf("%u rows of '%s' alone\n", alone[k], d->inputs.data[k]);
}

int drive_benchcmp(driver *d) {
    static const char *const heads[COLUMNS] = {"op",        "type",     "graph", "version",
                                               "before us", "after us", "times", ""};
    timed_rows before = {0}, after = {0};
    comparison c = {0};
    if (d->inputs.len != 2)
        usage(d, E0811, "gnnc benchcmp takes two files of rows, before and after");
    if (d->usage_fault || !read_rows(d, d->inputs.data[0], &before) ||
        !read_rows(d, d->inputs.data[1], &after))
        return driver_status(d);
    for (uint32_t i = 0; i < COLUMNS; i++) VEC_PUSH(d->arena, &c.cells, heads[i]);
    uint32_t alone[2] = {0};
    for (uint32_t i = 0; i < before.len; i++) {
        timed_row *y = beside(&before.data[i], &after);
        if (y) compare(d->arena, &c, &before.data[i], y), y->taken = true;
        else alone[0]++;
    }
    for (uint32_t i = 0; i < after.len; i++) alone[1] += !after.data[i].taken;
    if (c.cells.len > COLUMNS) print_comparison(d, &c, alone);
    else
        diag_help(diag(d->ds, E0806, NO_SPAN, "the files have no row in common"),
                  "rows are of one case where op, target, type, graph and sizes are");
    stdout_flush(d);
    return driver_status(d);
}
