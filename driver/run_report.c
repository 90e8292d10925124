// What a run prints and writes: sizes nobody gave, a table of the ops, results as .npy.
#include "run.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

// ---- Words -----------------------------------------------------------------------------------------------

const char *run_sizes(const binding *b) {
    textbuf out = textbuf_new(b->d->arena);
    for (tensor_space s = 0; s < b->op->spaces.len; s++) {
        const tensor_space_info *info = &b->op->spaces.data[s];
        bool literal = info->name[0] == '_' || (info->name[0] >= '0' && info->name[0] <= '9');
        if (literal || (info->kind != SPACE_FREE && info->kind != SPACE_CONST)) continue;
        textbuf_printf(&out, "%s%s=%lld", out.len ? " " : "", info->name, (long long)b->sizes[s]);
    }
    return out.data ? out.data : "";
}

const char *run_type(const tensor_op *op) {
    for (tensor_val v = 0; v < op->nparams; v++)
        if (op->vals.data[v].role == VAL_TENSOR && ir_dtype_is_float(op->vals.data[v].type))
            return ir_dtype_text(op->vals.data[v].type);
    for (tensor_val v = 0; v < op->nparams; v++)
        if (op->vals.data[v].role == VAL_RESULT) return ir_dtype_text(op->vals.data[v].type);
    return "-";
}

void run_print_default(const char *name, int64_t size) {
    printf("%s = %lld (default; -D %s=…)\n", name, (long long)size, name);
}

// ---- Table -----------------------------------------------------------------------------------------------

enum { COLUMNS = 9 };
typedef struct {
    const char *cell[COLUMNS];
} line;

static const char *time_text(arena *a, double ms) {
    return ms < 1     ? arena_printf(a, "%.1f us", ms * 1e3)
           : ms < 1e3 ? arena_printf(a, "%.3f ms", ms)
                      : arena_printf(a, "%.3f s", ms / 1e3);
}

static line row_line(const run_session *r, const run_row *w) {
    arena *a = r->d->arena;
    line l = {{w->name, w->target, w->type, w->sizes, "-", "-", "-", "-", w->verdict}};
    if (w->checked) {
        l.cell[4] = arena_printf(a, "%lld", (long long)w->compared);
        l.cell[5] = arena_printf(a, "%lld", (long long)w->uncertain);
        l.cell[6] = arena_printf(a, w->worst_ratio < 1e3 ? "%.3f" : "%.1e", w->worst_ratio);
    }
    if (!w->ran) return l;
    l.cell[7] = time_text(a, w->median_ms);
    if (r->repeat > 1) l.cell[7] = arena_printf(a, "%s (%s)", l.cell[7], time_text(a, w->fastest_ms));
    return l;
}

// Columns as wide as their longest cell, numbers to the right.
static void put_line(FILE *out, const line *l, const size_t *width) {
    static const bool right[COLUMNS] = {[4] = true, [5] = true, [6] = true, [7] = true};
    for (uint32_t k = 0; k < COLUMNS; k++) {
        int w = k + 1 == COLUMNS ? 0 : (int)width[k];
        fprintf(out, right[k] ? "%s%*s" : "%s%-*s", k ? "  " : "", w, l->cell[k]);
    }
    fputs("\n", out);
}

void run_print(const run_session *r, const run_rows *rows, FILE *out) {
    line title = {{"op", "target", "type", "sizes", "compared", "uncertain", "error/bound",
                   r->repeat > 1 ? "median (fastest)" : "time", "verdict"}};
    line *lines = ARENA_ARRAY(r->d->arena, line, rows->len + 1);
    size_t width[COLUMNS] = {0};
    lines[0] = title;
    for (uint32_t i = 0; i < rows->len; i++) lines[i + 1] = row_line(r, &rows->data[i]);
    for (uint32_t i = 0; i <= rows->len; i++)
        for (uint32_t k = 0; k < COLUMNS; k++)
            if (strlen(lines[i].cell[k]) > width[k]) width[k] = strlen(lines[i].cell[k]);
    for (uint32_t i = 0; i <= rows->len; i++) put_line(out, &lines[i], width);
}

// ---- Files -----------------------------------------------------------------------------------------------

static bool write_result(run_op *o, tensor_val v) {
    const tensor_array *x = &o->results[v];
    driver *d = o->r->d;
    gnn_context *c = o->r->graph.context;
    gnn_array array = {.dtype = run_dtype(x->type, 64), .rank = x->rank, .data = x->data};
    memcpy(array.shape, x->shape, sizeof array.shape);
    const char *path = arena_printf(o->arena, "%s/%s.%s.npy", o->r->out, o->op->name,
                                    o->op->op->vals.data[v].name);
    if (!gnn_array_write_npy(c, path, &array)) return true;
    d->io_fault = true;
    diag(d->ds, E0804, NO_SPAN, "%s", gnn_context_error(c));
    gnn_context_clear_error(c);
    return false;
}

bool run_write(run_op *o) {
    if (!o->r->out) return true;
    if (mkdir(o->r->out, 0777) && errno != EEXIST) {
        o->r->d->io_fault = true;
        diag(o->r->d->ds, E0804, NO_SPAN, "cannot make '%s': %s", o->r->out, strerror(errno));
        return false;
    }
    for (tensor_val v = 0; v < o->op->op->nparams; v++)
        if (o->results[v].data && !write_result(o, v)) return false;
    return true;
}
