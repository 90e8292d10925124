// --metamorphic: an op once more on inputs changed so that its results must follow. What the code
// stored and what the evaluator says must both follow: neither is taken for right.
#include "run.h"
#include "table.h"

#include "testing/metamorphic.h"

#include <math.h>
#include <string.h>

static const char *change_text(arena *a, const meta_relation *r) {
    static const char *const forms[META_KINDS] = {[META_NODES] = "nodes %s permuted",
                                                  [META_EDGES] = "edges %s permuted",
                                                  [META_FEATURES] = "features %s permuted",
                                                  [META_SCALED] = "%s times a power of two",
                                                  [META_SPLIT] = "a row of %s split"};
    const char *form = forms[r->kind], *hole = strstr(form, "%s");
    return arena_printf(a, "%.*s%s%s", (int)(hole - form), form, r->name, hole + 2);
}

// ---- Comparing ----------------------------------------------------------------------------------

// What was stored, as the evaluator would tell it, with its bounds.
static tensor_evaluated stored_as_evaluated(arena *a, const tensor_array *x,
                                            const tensor_evaluated *expected) {
    tensor_evaluated e = tensor_evaluated_whole(a, expected);
    e.value = e.is_float ? ARENA_ARRAY(a, double, e.points + 1) : NULL;
    e.integer = e.is_float ? NULL : ARENA_ARRAY(a, int64_t, e.points + 1);
    for (int64_t i = 0; i < e.points; i++) {
        if (e.is_float) e.value[i] = bind_load(x->type, x->data, i);
        else if (x->type == DT_I64 || x->type == DT_INDEX)
            e.integer[i] = ((const int64_t *)x->data)[i];
        else e.integer[i] = (int64_t)bind_load(x->type, x->data, i);
    }
    return e;
}

static void tell(run_op *o, tensor_val v, const char *who, const tensor_comparison *c) {
    o->r->d->mismatch = true;
    diag(o->r->d->ds, E0825, o->op->op->at,
         "%s%s: %s '%s' does not follow: element %lld is wrong, one of %lld of %lld", o->op->name,
         o->where, who, o->op->op->vals.data[v].name, (long long)c->first_wrong,
         (long long)c->wrong, (long long)c->compared);
}

static void add(tensor_comparison *all, const tensor_comparison *c) {
    all->compared += c->compared;
    all->uncertain += c->uncertain;
    all->wrong += c->wrong;
    all->worst_ratio = fmax(all->worst_ratio, c->worst_ratio);
}

// Each result; before and after: of the evaluator, in order.
static void compare_evaluated(run_op *o, const meta_change *c, const tensor_evaluated *before,
                              const tensor_evaluated *after, run_change *row) {
    for (tensor_val v = 0, n = 0; v < o->op->op->nparams; v++) {
        if (o->op->op->vals.data[v].role != VAL_RESULT) continue;
        const tensor_evaluated x = tensor_evaluated_whole(o->arena, &before[n]);
        tensor_comparison t = meta_compare(o->op->op, c, v, &x, &after[n]);
        n++;
        add(&row->of, &t);
        if (t.wrong) tell(o, v, "the evaluator's", &t);
    }
}

static void compare_stored(run_op *o, const meta_change *change, const run_stored *before,
                           run_change *row) {
    meta_change c = *change;
    c.unordered = !gnn_program_deterministic(o->program) || run_sums_again(o);
    for (tensor_val v = 0, n = 0; v < o->op->op->nparams; v++) {
        if (o->op->op->vals.data[v].role != VAL_RESULT) continue;
        const tensor_evaluated x = stored_as_evaluated(o->arena, &before->results[v],
                                                       &before->expected[n]),
                               y = stored_as_evaluated(o->arena, &o->results[v], &o->bounds[n]);
        tensor_comparison t = meta_compare(o->op->op, &c, v, &x, &y);
        n++;
        add(&row->of, &t);
        if (t.wrong) tell(o, v, "what is stored in", &t);
    }
}

// ---- Launching ----------------------------------------------------------------------------------

static const run_stored *stored_before(const run_op *o) {
    for (uint32_t i = 0; i < o->stored.len; i++)
        if (o->stored.data[i].level == o->level && !strcmp(o->stored.data[i].version, o->taken))
            return &o->stored.data[i];
    return NULL;
}

// By the version at hand. false: its guards do not hold for the changed inputs.
static bool launch(run_op *o, const meta_change *c, run_change *row) {
    run_row compared = {0};
    o->unfit = false;
    o->taken = NULL;
    bool good = run_prepare(o) && run_launch_once(o) && run_compare(o, &compared);
    const run_stored *before = good ? stored_before(o) : NULL;
    if (good) row->plan = arena_strdup(o->r->d->arena, o->taken);
    if (before) compare_stored(o, c, before, row);
    row->failed = !good && !o->unfit;
    run_plan_free(o);
    return !o->unfit;
}

// Changes go round versions and levels, so that each costs one launch.
static void launch_some(run_op *o, const meta_change *c, uint32_t number, run_change *row) {
    uint32_t versions = o->r->asked.all_plans ? gnn_program_versions(o->program) : 1;
    o->level = number / versions % o->r->asked.nlevels;
    o->program = o->codes[o->level].program;
    if (o->r->asked.nlevels > 1)
        o->where = arena_printf(o->r->d->arena, " at -O%u%s", o->r->asked.levels[o->level],
                                o->where);
    for (uint32_t tried = 0; tried < versions; tried++) {
        o->turn = (number + tried) % versions;
        if (launch(o, c, row)) return;
    }
}

// ---- A change -----------------------------------------------------------------------------------

// NULL: *why says why these inputs cannot be changed so.
static const tensor_evaluated *evaluate(run_op *o, const meta_change *c, const char **why) {
    tensor_evaluated *after = ARENA_ARRAY(o->arena, tensor_evaluated, o->op->op->nparams + 1);
    if (tensor_eval(o->arena, o->op->op, &c->in, after, why)) return after;
    if (c->relation->kind == META_SPLIT) return NULL;   // a precondition may count rows
    o->r->d->mismatch = true;
    diag(o->r->d->ds, E0825, o->op->op->at, "%s%s: it cannot be evaluated: %s", o->op->name,
         o->where, *why);
    return NULL;
}

static const char *follow(run_op *o, const meta_relation *relation, uint32_t number,
                          run_change *row) {
    const tensor_eval_input in = {.sizes = o->b->sizes, .inputs = o->b->arrays};
    const char *why = relation->why_not;
    meta_change c;
    if (why ||
        !meta_apply(o->arena, o->op->op, relation, &in, o->r->options.seed + number, &c, &why))
        return why;
    binding b = *o->b;
    run_op t = *o;
    b.sizes = c.sizes;
    b.arrays = c.inputs;
    t.b = &b;
    t.changed = true;
    t.where = arena_printf(o->r->d->arena, " with %s", row->change);
    const tensor_evaluated *after = evaluate(&t, &c, &why);
    if (!after) return why;
    t.expected = after;
    row->compared = true;
    compare_evaluated(&t, &c, o->expected, after, row);
    launch_some(&t, &c, number, row);
    return NULL;
}

// Where nothing is right on the inputs as they are, there is nothing to follow.
void run_metamorphic(run_op *o) {
    driver *d = o->r->d;
    meta_relations all = {0};
    if (!o->stored.len || !o->expected) return;
    phase(d, "metamorphic");
    meta_find(o->arena, o->op->op, &all);
    for (uint32_t i = 0; i < all.len; i++) {
        run_change row = {
            .op = o->op->name, .change = change_text(d->arena, &all.data[i]), .plan = "-"};
        bool wrong = d->mismatch;
        d->mismatch = false;
        const char *why = o->one_in > 1 ? "a sample is compared, not all"
                                        : follow(o, &all.data[i], i, &row);
        row.verdict = d->mismatch  ? "WRONG"
                      : row.failed ? "refused"
                      : why        ? arena_printf(d->arena, "skipped: %s", why)
                                   : "follows";
        d->mismatch |= wrong;
        VEC_PUSH(d->arena, &o->r->changes, row);
    }
}

// ---- The table ----------------------------------------------------------------------------------

void run_metamorphic_print(run_session *r, FILE *out) {
    enum { COLUMNS = 7 };
    static const char *const title[COLUMNS] = {"op",        "change",      "plan",   "compared",
                                               "uncertain", "error/bound", "verdict"};
    arena *a = r->d->arena;
    text_table t = {
        .rows = r->changes.len + 1, .columns = COLUMNS, .first_number = 3, .last_number = 5};
    const char **cells = ARENA_ARRAY(a, const char *, t.rows *COLUMNS);
    if (!r->changes.len) return;
    memcpy(cells, title, sizeof title);
    for (uint32_t i = 0; i < r->changes.len; i++) {
        const run_change *x = &r->changes.data[i];
        const char *row[COLUMNS] = {x->op, x->change, x->plan, "-", "-", "-", x->verdict};
        if (x->compared) {
            row[3] = arena_printf(a, "%lld", (long long)x->of.compared);
            row[4] = arena_printf(a, "%lld", (long long)x->of.uncertain);
            row[5] = arena_printf(a, x->of.worst_ratio < 1e3 ? "%.3f" : "%.1e", x->of.worst_ratio);
        }
        memcpy(cells + (i + 1) * COLUMNS, row, sizeof row);
    }
    t.cells = cells;
    fputs("\n", out);
    table_print(a, &t, out);
}
