// gnnc explain --choice: which version of an op a graph takes, and why: the tree of `choose` with
// what it reads of the graph, then a row a version with its guards and the time the model of a GPU
// tells for it.
#include "choice.h"
#include "estimate.h"
#include "table.h"

#include <jansson.h>
#include <string.h>

// ---- What a plan knows --------------------------------------------------------------------------
static int64_t evaluated(run_op *o, gnn_plan *plan, const size_expr *e) {
    textbuf text = textbuf_new(o->arena);
    int64_t n = 0;
    size_print(&text, o->op->program, e);
    if (gnn_plan_evaluate(plan, text.data, &n)) gnn_context_clear_error(o->r->context), n = -1;
    return n;
}

static bool is_read(size_token_kind k) { return k == SZ_SPACE || k >= SZ_MAX_PREIMAGE; }

// Sizes and numbers that an expression names, each once; NULL past the last.
static const char *read_at(run_op *o, gnn_plan *plan, const size_expr *e, uint32_t *at,
                           int64_t *value) {
    for (uint32_t i = *at; i < e->len; i++) {
        const size_token *t = &e->data[i];
        bool before = !is_read(t->kind);
        for (uint32_t k = 0; k < i; k++)
            before |= e->data[k].kind == t->kind && e->data[k].value == t->value &&
                      e->data[k].value2 == t->value2;
        if (before) continue;
        size_expr one = {0};
        textbuf text = textbuf_new(o->r->d->arena);
        VEC_PUSH(o->arena, &one, *t);
        size_print(&text, o->op->program, &one);
        *value = evaluated(o, plan, &one);
        *at = i + 1;
        return text.data;
    }
    return NULL;
}

static const char *values_of(run_op *o, gnn_plan *plan, const size_expr *e) {
    textbuf out = textbuf_new(o->r->d->arena);
    uint32_t at = 0;
    int64_t value;
    for (const char *name; (name = read_at(o, plan, e, &at, &value));)
        textbuf_printf(&out, "%s%s = %lld", out.len ? ", " : "", name, (long long)value);
    return out.data ? out.data : "";
}

// ---- Versions -----------------------------------------------------------------------------------
// The first guard that does not hold, with what it reads; NULL: all hold.
static const char *failing(run_op *o, gnn_plan *plan, const program_version *v) {
    arena *a = o->r->d->arena;
    for (uint32_t i = 0; i < v->guards.len; i++) {
        const program_guard *g = &v->guards.data[i];
        if (g->kind != GUARD_HOLDS || evaluated(o, plan, &g->holds)) continue;
        return arena_printf(a, "`%s` does not %s: %s", g->text, g->pays ? "pay" : "hold",
                            values_of(o, plan, &g->holds));
    }
    const char *why = run_why_not(o, v->name),
               *head = arena_printf(o->arena, "version %.60s: ", v->name);
    if (!why) return NULL;
    return arena_strdup(a, strncmp(why, head, strlen(head)) ? why : why + strlen(head));
}

// Whether a launch that names it may take it: that it would not pay is no reason.
static bool fits(run_op *o, const told_version *v) {
    return !v->fails || !run_why_not(o, v->of->name);
}

static void tell_versions(run_op *o, told_choice *t) {
    const program *p = o->op->program;
    for (uint32_t i = 0; i < p->versions.len; i++) {
        told_version v = {.of = &p->versions.data[i], .ns = -1};
        v.fails = failing(o, o->ready.plan, v.of);
        v.fits = fits(o, &v);
        v.taken = !strcmp(v.of->name, t->taken);
        VEC_PUSH(o->r->d->arena, &t->versions, v);
    }
}

// Each that fits is launched by its name, as --all-plans has it.
static bool time_versions(run_op *o, run_row *row, told_choice *t) {
    bool good = true;
    for (uint32_t i = 0; i < t->versions.len && good; i++) {
        if (!t->versions.data[i].fits) continue;
        run_plan_free(o);
        o->r->asked.version = t->versions.data[i].of->name;
        good = run_prepare(o) && run_cost_told(o, row, &t->versions.data[i].ns);
    }
    o->r->asked.version = NULL;
    return good;
}

// ---- The tree -----------------------------------------------------------------------------------
static const told_tree *tell_tree(run_op *o, const schedule_tree *tree, bool reached) {
    told_tree *t = ARENA_NEW(o->r->d->arena, told_tree);
    *t = (told_tree){.of = tree, .reached = reached, .values = ""};
    if (tree->kind == TREE_LEAF) return t;
    t->holds = tree->kind == TREE_OPEN ? evaluated(o, o->ready.plan, &tree->holds) != 0
                                       : tree->kind == TREE_HOLDS;
    t->values = tree->kind == TREE_OPEN ? values_of(o, o->ready.plan, &tree->holds)
                                        : "known when it is compiled";
    t->yes = tell_tree(o, tree->yes, reached && t->holds);
    t->no = tell_tree(o, tree->no, reached && !t->holds);
    return t;
}

static const told_tree *leaf_of(const told_tree *t) {
    while (t->of->kind != TREE_LEAF) t = t->holds ? t->yes : t->no;
    return t;
}

// ---- Why ----------------------------------------------------------------------------------------
static const char *name_of(const run_op *o, const program_version *v) {
    const schedule_choice *c = &o->op->choice;
    return v->of < c->nschedules ? c->schedules[v->of] : "default";
}

static const char *sentence(const run_op *o, const told_choice *t) {
    static const char first[] = "the first version whose guards hold";
    arena *a = o->r->d->arena;
    const told_tree *leaf = t->tree ? leaf_of(t->tree) : NULL;
    const told_version *taken = NULL;
    bool has_any = false;   // versions by the schedule that is chosen
    for (uint32_t i = 0; i < t->versions.len; i++) {
        if (t->versions.data[i].taken) taken = &t->versions.data[i];
        has_any |= leaf && t->versions.data[i].of->of == leaf->of->number;
    }
    if (!taken) ICE("no version is the one taken");
    const char *is = arena_printf(a, "'%s' is taken:", t->taken);
    if (!leaf) return arena_printf(a, "%s it is %s, and nothing chooses", is, first);
    if (leaf->of->number < 0)
        return arena_printf(a, "%s the choice names none here, and it is %s", is, first);
    const char *chosen = arena_printf(a, "%s '%s' is chosen,", is, leaf->of->text);
    if (taken->of->of == leaf->of->number)
        return arena_printf(a, "%s and it is the first of its versions whose guards hold", chosen);
    if (!has_any)
        return arena_printf(a, "%s which has no version here, and it is %s", chosen, first);
    return arena_printf(a, "%s but guards of all its versions fail, and it is %s", chosen, first);
}

// ---- Text ---------------------------------------------------------------------------------------
static void put_tree(textbuf *out, const told_tree *t, int level, const char *before) {
    textbuf_printf(out, "%c %*s%s%s", t->reached ? '>' : ' ', 2 * level, "", before, t->of->text);
    if (t->of->kind == TREE_LEAF) {
        textbuf_puts(out, "\n");
        return;
    }
    textbuf_printf(out, "    %s; %s\n", t->holds ? "yes" : "no", t->values);
    put_tree(out, t->yes, level + 1, "? ");
    put_tree(out, t->no, level, ": ");
}

static const char *us(arena *a, double ns) {
    return ns < 0 ? "-" : arena_printf(a, "%.1f", ns * 1e-3);
}

static void print_text(run_op *o, const run_row *row, const told_choice *t) {
    enum { COLUMNS = 5 };
    arena *a = o->r->d->arena;
    FILE *to = o->r->notes;
    static const char *const title[COLUMNS] = {" ", "version", "schedule", "us", "guards"};
    const char **cells = ARENA_ARRAY(a, const char *, (t->versions.len + 1) * COLUMNS);
    memcpy(cells, title, sizeof title);
    for (uint32_t i = 0; i < t->versions.len; i++) {
        const told_version *v = &t->versions.data[i];
        const char *row_of[COLUMNS] = {v->taken ? ">" : " ", v->of->name, name_of(o, v->of),
                                       us(a, v->ns), v->fails ? v->fails : "hold"};
        memcpy(cells + (i + 1) * COLUMNS, row_of, sizeof row_of);
    }
    fprintf(to, "%s on %s, %s, %s\n", row->name, run_cost_machine(o->r)->name, row->graph,
            row->sizes);
    textbuf tree = textbuf_new(a);
    if (t->tree) put_tree(&tree, t->tree, 0, "");
    if (t->tree) fprintf(to, "\n%s", tree.data);
    fputs("\n", to);
    table_print(a,
                &(text_table){.rows = t->versions.len + 1,
                              .columns = COLUMNS,
                              .first_number = 3,
                              .last_number = 3,
                              .cells = cells},
                to);
    fprintf(to, "\n%s.\n\n", sentence(o, t));
}

// ---- JSON ---------------------------------------------------------------------------------------
static json_t *json_of_values(run_op *o, const size_expr *e) {
    json_t *values = json_object();
    uint32_t at = 0;
    int64_t value;
    for (const char *name; (name = read_at(o, o->ready.plan, e, &at, &value));)
        json_object_set_new(values, name, json_integer(value));
    return values;
}

static json_t *json_of_tree(run_op *o, const told_tree *t) {
    if (t->of->kind == TREE_LEAF)
        return json_pack("{ss sb}", "schedule", t->of->text, "reached", t->reached);
    json_t *values = t->of->kind == TREE_OPEN ? json_of_values(o, &t->of->holds) : json_object();
    return json_pack("{ss sb sb so so so}", "condition", t->of->text, "holds", t->holds, "reached",
                     t->reached, "values", values, "yes", json_of_tree(o, t->yes), "no",
                     json_of_tree(o, t->no));
}

static json_t *json_of_version(const run_op *o, const told_version *v) {
    json_t *x = json_pack("{ss ss sb sb sb}", "version", v->of->name, "schedule", name_of(o, v->of),
                          "holds", !v->fails, "fits", v->fits, "taken", v->taken);
    if (v->fails) json_object_set_new(x, "fails", json_string(v->fails));
    if (v->ns >= 0) json_object_set_new(x, "ns", json_real(v->ns));
    return x;
}

static void print_json(run_op *o, const run_row *row, const told_choice *t) {
    json_t *versions = json_array();
    for (uint32_t i = 0; i < t->versions.len; i++)
        json_array_append_new(versions, json_of_version(o, &t->versions.data[i]));
    json_t *x = json_pack("{ss ss ss ss ss so ss}", "op", row->name, "graph", row->graph, "sizes",
                          row->sizes, "device", run_cost_machine(o->r)->name, "taken", t->taken,
                          "versions", versions, "why", sentence(o, t));
    if (!x) ICE("a choice has no JSON");
    if (t->tree) {
        json_object_set_new(x, "chosen", json_string(leaf_of(t->tree)->of->text));
        json_object_set_new(x, "tree", t->json);
    }
    json_dumpf(x, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
    fputs("\n", stdout);
    json_decref(x);
}

// ---- The verb -----------------------------------------------------------------------------------
static bool choice_steps(run_op *o, run_row *row) {
    const bool json = option_given(o->r->d, OPT_JSON);
    told_choice t = {0};
    row->estimated = true;
    if (!run_load(o) || !run_prepare(o)) return false;
    t.taken = arena_strdup(o->r->d->arena, o->taken);
    if (o->op->choice.tree) t.tree = tell_tree(o, o->op->choice.tree, true);
    if (t.tree && json) t.json = json_of_tree(o, t.tree);
    tell_versions(o, &t);
    if (!time_versions(o, row, &t)) return json_decref(t.json), false;
    o->taken = t.taken;
    (json ? print_json : print_text)(o, row, &t);
    return true;
}

int drive_choice(driver *d) {
    static const option_id others[] = {OPT_COST, OPT_PLAN, OPT_ALL_PLANS, OPT_NO_SCHEDULE, OPT_SVG};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (option_given(d, others[i]))
            usage(d, E0812, "--choice tells of every version: it has no use for %s",
                  option_name(d, others[i]));
    return run_cost_session(d, choice_steps);
}
