// What a run prints and writes: sizes nobody gave, a table of the ops, results as .npy.
#include "run_memory.h"
#include "table.h"

#include <string.h>

// ---- Words --------------------------------------------------------------------------------------

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

// Of the first array of floats; a single number has often a type of its own.
const char *run_type(const tensor_op *op) {
    for (uint32_t rank = 2; rank-- > 0;)
        for (tensor_val v = 0; v < op->nparams; v++) {
            const tensor_val_info *i = &op->vals.data[v];
            if (i->role == VAL_TENSOR && i->rank >= rank && ir_dtype_is_float(i->type))
                return ir_dtype_text(i->type);
        }
    for (tensor_val v = 0; v < op->nparams; v++)
        if (op->vals.data[v].role == VAL_RESULT) return ir_dtype_text(op->vals.data[v].type);
    return "-";
}

// ---- Table --------------------------------------------------------------------------------------

// the column of what overflowed is left out where nothing did
enum { COLUMNS = 11, OVERFLOWED = 7 };

static void row_cells(const run_session *r, const run_row *w, const char **cell) {
    arena *a = r->d->arena;
    const char *plain[COLUMNS] = {w->name, w->target, w->type, w->plan, w->sizes,  "-",
                                  "-",     "-",       "-",     "-",     w->verdict};
    memcpy(cell, plain, sizeof plain);
    if (w->checked) {
        cell[5] = w->check.one_in < 2
                      ? arena_printf(a, "%lld", (long long)w->check.compared)
                      : arena_printf(a, "%lld (1 in %llu)", (long long)w->check.compared,
                                     (unsigned long long)w->check.one_in);
        cell[6] = w->check.one_in < 2 ? arena_printf(a, "%lld", (long long)w->check.uncertain)
                                      : "-";   // the rest is not told apart
        cell[OVERFLOWED] = arena_printf(a, "%lld", (long long)w->check.overflowed);
        cell[8] = arena_printf(a, w->check.worst_ratio < 1e3 ? "%.3f" : "%.1e",
                               w->check.worst_ratio);
    }
    if (!w->ran) return;
    cell[9] = table_time_text(a, w->median_ms);
    if (r->asked.repeat > 1)
        cell[9] = arena_printf(a, "%s (%s)", cell[9], table_time_text(a, w->fastest_ms));
}

static void leave_out(const char **cells, text_table *t, uint32_t column) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < t->rows * t->columns; i++)
        if (i % t->columns != column) cells[kept++] = cells[i];
    t->columns--;
    t->last_number--;
}

void run_print(const run_session *r, const run_rows *rows, FILE *out) {
    const char *title[COLUMNS] = {"op",          "target",
                                  "type",        "plan",
                                  "sizes",       "compared",
                                  "uncertain",   "overflowed",
                                  "error/bound", r->asked.repeat > 1 ? "median (fastest)" : "time",
                                  "verdict"};
    text_table t = {.rows = rows->len + 1, .columns = COLUMNS, .first_number = 5, .last_number = 9};
    const char **cells = ARENA_ARRAY(r->d->arena, const char *, t.rows *COLUMNS);
    bool overflows = false;
    memcpy(cells, title, sizeof title);
    for (uint32_t i = 0; i < rows->len; i++) {
        row_cells(r, &rows->data[i], cells + (i + 1) * COLUMNS);
        overflows |= rows->data[i].check.overflowed > 0;
    }
    if (!overflows) leave_out(cells, &t, OVERFLOWED);
    t.cells = cells;
    table_print(r->d->arena, &t, out);
}

// ---- Files --------------------------------------------------------------------------------------

static bool write_result(run_op *o, tensor_val v) {
    const tensor_array *x = &o->results[v];
    driver *d = o->r->d;
    gnn_context *c = o->r->graph->context;
    gnn_array array = {.dtype = run_dtype(x->type, 64), .rank = x->rank, .data = x->data};
    memcpy(array.shape, x->shape, sizeof array.shape);
    const char *path = arena_printf(o->arena, "%s/%s.%s.npy", o->r->asked.out, o->op->name,
                                    o->op->op->vals.data[v].name);
    if (!gnn_array_write_npy(c, path, &array)) return true;
    d->io_fault = true;
    diag(d->ds, E0804, NO_SPAN, "%s", gnn_context_error(c));
    gnn_context_clear_error(c);
    return false;
}

bool run_write(run_op *o) {
    if (!o->r->asked.out) return true;
    if (!make_folder(o->r->d, o->r->asked.out)) return false;
    for (tensor_val v = 0; v < o->op->op->nparams; v++)
        if (o->results[v].data && !write_result(o, v)) return false;
    return true;
}
