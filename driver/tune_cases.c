// What is tuned: ops, what a schedule may name of them, and the graphs they run on, with the
// numbers that a rule may ask of one.
#include "tune.h"

#include "schedule_items.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

typedef struct {
    run_session run;   // first: what run.h's functions take
    tune_ops *out;
    child_words given;   // sizes, as --size gives them
} collecting;

// ---- What a schedule may name -------------------------------------------------------------------
static const char *map_between(const tensor_op *op, tensor_space from, tensor_space into) {
    for (tensor_val v = 0; v < op->nparams; v++) {
        const tensor_val_info *i = &op->vals.data[v];
        if (i->role == VAL_MAP && i->rank == 1 && i->axes[0] == from && i->into == into)
            return i->name;
    }
    return NULL;
}

static tune_stage stage_of(arena *a, const tensor_op *op, const tensor_stage *st) {
    const tensor_var_info *vars = op->vars.data;
    tune_stage s = {.name = st->name};
    if (st->nleft) s.row = schedule_written(a, vars[st->left[0]].name);
    if (st->nleft > 1) s.column = schedule_written(a, vars[st->left[st->nleft - 1]].name);
    if (st->nbound) s.entry = schedule_written(a, vars[st->bound[0]].name);
    if (st->nleft && st->nbound)
        s.map = map_between(op, vars[st->bound[0]].space, vars[st->left[0]].space);
    return s;
}

// ---- What it was compiled for -------------------------------------------------------------------
static bool is_defined(const driver *d, const char *name) {
    const size_t n = strlen(name);
    for (uint32_t i = 0; i < d->values[OPT_DEFINE].len; i++)
        if (!strncmp(d->values[OPT_DEFINE].data[i], name, n) &&
            d->values[OPT_DEFINE].data[i][n] == '=')
            return true;
    return false;
}

static const char *value_of(const driver *d, const char *name) {
    const size_t n = strlen(name);
    const char *value = "f32";   // of a type nobody names
    for (uint32_t i = 0; i < d->values[OPT_DEFINE].len; i++) {
        const char *text = d->values[OPT_DEFINE].data[i];
        if (!strncmp(text, name, n) && text[n] == '=') value = text + n + 1;
    }
    return value;
}

// Types always, sizes where they were given.
static const char *conditions_of(const run_op *o) {
    arena *a = o->r->d->arena;
    const frontend_op *f = &o->op->frontend->ops.data[o->op->number];
    textbuf out = textbuf_new(a);
    textbuf_puts(&out, "");
    for (const ast_generic *g = f->item->kind == AST_OP ? f->item->generics : NULL; g; g = g->next)
        if (!g->kind.text || !strcmp(g->kind.text, "float"))
            textbuf_printf(&out, "%s%s == %s", out.len ? ", " : "", g->name.text,
                           value_of(o->r->d, g->name.text));
    for (tensor_space s = 0; s < o->op->op->spaces.len; s++) {
        const char *name = o->op->op->spaces.data[s].name;
        if (name && is_defined(o->r->d, name) && isalpha((unsigned char)*name))
            textbuf_printf(&out, "%s%s == %s", out.len ? ", " : "", name, value_of(o->r->d, name));
    }
    return out.data;
}

// ---- Numbers of a graph -------------------------------------------------------------------------
static void put_sizes(const run_op *o, tune_case *c) {
    const binding *b = o->b;
    arena *a = o->r->d->arena;
    for (tensor_space s = 0; s < b->op->spaces.len; s++) {
        const tensor_space_info *i = &b->op->spaces.data[s];
        if (i->kind != SPACE_FREE || b->sizes[s] < 0) continue;
        VEC_PUSH(a, &c->numbers, ((tune_number){arena_strdup(a, i->name), (double)b->sizes[s]}));
    }
}

// The largest preimage of a map, their mean and deviation, rounded down.
static void put_map(const run_op *o, tensor_val v, tune_case *c) {
    const tensor_val_info *i = &o->b->op->vals.data[v];
    arena *a = o->r->d->arena;
    int64_t rows = o->b->sizes[i->into], points = 0, largest = 0;
    if (rows <= 0 || !bind_points(o->b, i, &points) || !o->b->arrays[v].data) return;
    const int64_t *entries = o->b->arrays[v].data;
    int64_t *of = ARENA_ARRAY(o->arena, int64_t, rows);
    for (int64_t p = 0; p < points; p++)
        if (entries[p] >= 0 && entries[p] < rows) of[entries[p]]++;
    double sum = 0, squares = 0;
    for (int64_t r = 0; r < rows; r++) {
        if (of[r] > largest) largest = of[r];
        sum += (double)of[r];
        squares += (double)of[r] * (double)of[r];
    }
    const double mean = sum / (double)rows, variance = squares / (double)rows - mean * mean;
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"avg", floor(mean)},
                   {"max", (double)largest},
                   {"std", floor(sqrt(variance > 0 ? variance : 0))}};
    for (uint32_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        VEC_PUSH(
            a, &c->numbers,
            ((tune_number){arena_printf(a, "%s(%s)", numbers[k].name, i->name), numbers[k].value}));
}

// ---- Collecting ---------------------------------------------------------------------------------
static tune_op *op_of(tune_ops *all, const run_op *o) {
    arena *a = o->r->d->arena;
    const frontend_op *f = &o->op->frontend->ops.data[o->op->number];
    for (uint32_t i = 0; i < all->len; i++)
        if (!strcmp(all->data[i].name, f->name)) return &all->data[i];
    tune_op x = {.name = f->name, .path = f->path, .when = conditions_of(o)};
    const tensor_op *op = o->op->op;
    for (uint32_t i = 0; i < op->stages.len; i++)
        VEC_PUSH(a, &x.stages, stage_of(a, op, &op->stages.data[i]));
    VEC_PUSH(a, all, x);
    return &all->data[all->len - 1];
}

static bool collect_steps(run_op *o, run_row *row) {
    collecting *k = (collecting *)o->r;
    arena *a = o->r->d->arena;
    tune_op *op = op_of(k->out, o);
    tune_case c = {.graph = o->r->graph->given ? o->r->graph->text : NULL,
                   .sizes = arena_strdup(a, row->sizes),
                   .given = k->given};
    put_sizes(o, &c);
    for (tensor_val v = 0; v < o->op->op->nparams; v++)
        if (o->op->op->vals.data[v].role == VAL_MAP && o->op->op->vals.data[v].rank == 1)
            put_map(o, v, &c);
    VEC_PUSH(a, &op->cases, c);
    row->estimated = true;
    return true;
}

static void print_nothing(const run_session *r, const run_rows *rows, FILE *out) {
    (void)r, (void)rows, (void)out;
}

static bool collect(driver *d, child_words given, tune_ops *out) {
    collecting k = {
        .run = {.d = d, .steps = collect_steps, .print = print_nothing, .notes = stderr},
        .out = out,
        .given = given};
    run_read_options(&k.run);
    k.run.asked.cost = true;   // nothing runs, so that no GPU is opened
    k.run.asked.repeat = 1;
    return run_every_op(&k.run) == STATUS_GOOD && out->len;
}

// ---- Lists of sizes -----------------------------------------------------------------------------
static uint32_t parts_of(const char *list) {
    uint32_t n = 1;
    for (; *list; list++) n += *list == ',';
    return n;
}

// One of a list, F=16,64, with its name.
static const char *part_of(arena *a, const char *list, uint32_t number) {
    const size_t name = strcspn(list, "=");
    const char *at = list + name + (list[name] == '=');
    while (number--) at += strcspn(at, ",") + 1;
    return arena_printf(a, "%.*s%.*s", (int)name + (list[name] == '='), list, (int)strcspn(at, ","),
                        at);
}

// Each size of a --size with each one of the others.
bool tune_collect(driver *d, tune_ops *out) {
    enum { MOST = 256 };
    arena *a = d->arena;
    const uint32_t n = d->values[OPT_SIZE].len;
    const char **lists = ARENA_ARRAY(a, const char *, n + 1);
    uint64_t all = 1;
    for (uint32_t i = 0; i < n && all <= MOST; i++) {
        lists[i] = d->values[OPT_SIZE].data[i];
        all *= parts_of(lists[i]);
    }
    if (all > MOST) {
        usage(d, E0812, "--size gives more than %d combinations of sizes", MOST);
        return false;
    }
    for (uint32_t number = 0; number < all; number++) {
        child_words given = {0};
        for (uint32_t i = 0, left = number; i < n; left /= parts_of(lists[i]), i++) {
            d->values[OPT_SIZE].data[i] = part_of(a, lists[i], left % parts_of(lists[i]));
            VEC_PUSH(a, &given, arena_printf(a, "--size=%s", d->values[OPT_SIZE].data[i]));
        }
        if (!collect(d, given, out)) return false;
    }
    return true;
}
