// Schedules as items: the op one is for, its name, what it starts from, and its statements, one by
// one.
#include "sema_gradient.h"
#include "sema_schedule_names.h"
#include "sema_schedule_tree.h"
#include <string.h>

enum { MAX_CELLS = 1000, MAX_PREFIXES = 64, MAX_LIKE = 32 };

static span path_span(const ast_path *p) {
    span at = p->name.at;
    for (; p; p = p->next) at = span_join(at, p->name.at);
    return at;
}

// ---- The op it is for ---------------------------------------------------------------------------
static bool path_ends(const char *path, const char *with) {
    size_t n = strlen(path), w = strlen(with);
    return n > w && !strcmp(path + n - w, with);
}

// A kernel's name says which of an op's forms it is of; they have one schedule.
static bool report_form(sema *s, const ast_item *item, const char *path, const char *form) {
    if (!path_ends(path, form)) return false;
    const char *of = intern(s->names, arena_strndup(s->arena, path, strlen(path) - strlen(form)));
    if (!gradient_find(s, of) && !sema_find(s->ops.data, s->ops.len, of)) return false;
    diagnostic *d = diag(s->ds, E0510, path_span(item->path), "'%s' has no schedule of its own",
                         path);
    diag_help(d, "'schedule %s' is its schedule too", of);
    return true;
}

static void report_no_op(sema *s, const ast_item *item, const char *path) {
    span at = path_span(item->path);
    size_t n = strlen(path);
    if (report_form(s, item, path, ".saved") || report_form(s, item, path, ".saving")) return;
    if (path_ends(path, ".grad")) {
        diagnostic *d = diag(s->ds, E0510, at, "no gradient is called '%s'", path);
        diag_help(d, "'grad %.*s wrt (…);' asks for it", (int)(n - 5), path);
        return;
    }
    diagnostic *d = diag(s->ds, E0510, at, "there is no op '%s'", path);
    const char **names = ARENA_ARRAY(s->arena, const char *, s->ops.len + 1);
    for (uint32_t i = 0; i < s->ops.len; i++) names[i] = s->ops.data[i]->name.text;
    if (!diag_suggest(d, at, path, names, s->ops.len))
        diag_help(d, "a schedule is for an op of this file or of one it imports");
}

static schedule_op *op_new(sema *s, const ast_item *item, const char *path) {
    schedule_op *o = ARENA_NEW(s->arena, schedule_op);
    const ast_item *grad = item->path->next ? NULL
                                            : sema_visible(s, s->ops.data, s->ops.len, path,
                                                           item->path->name.at);
    o->item = grad;
    if (!o->item) {
        grad = gradient_find(s, path);
        o->item = grad ? gradient_source(s, grad->path, 0) : NULL;
        o->gradient = true;
    }
    if (!o->item) return NULL;
    o->path = path;
    o->body = sema_op_body(s, o->item);
    o->op = o->body && o->body->kind == AST_OP ? sema_lower_quietly(s, o->item) : NULL;
    return o;
}

// Reports what does not exist.
static schedule_op *schedule_op_find(sema *s, const ast_item *item) {
    const char *path = schedule_path_text(s, item->path);
    for (uint32_t i = 0; i < s->schedule_ops.len; i++)
        if (s->schedule_ops.data[i]->path == path) return s->schedule_ops.data[i];
    schedule_op *o = op_new(s, item, path);
    if (o) VEC_PUSH(s->arena, &s->schedule_ops, o);
    else report_no_op(s, item, path);
    return o;
}

schedule_op *schedule_canonical(sema *s, schedule_op *o) {
    if (o->canonical || !o->op || !s->options.canonical) return o->canonical ? o->canonical : o;
    o->canonical = ARENA_NEW(s->arena, schedule_op);
    *o->canonical = *o;
    o->canonical->op = s->options.canonical(s->arena, s->ds, o->op);
    return o->canonical;
}

static bool says_canonicalize(const ast_item *item) {
    const ast_statement *st = item->schedule.statements;
    const char *verb = schedule_verb_text(SCHEDULE_CANONICALIZE);
    while (st && (st->let || st->stages || !st->verb.text || strcmp(st->verb.text, verb) != 0))
        st = st->next;
    return st != NULL;
}

// The op's own faults are told where it is compiled; one that cannot be lowered at all is told
// here.
static void report_unknown_names(schedule_checker *c) {
    if (c->op->op || diag_errors(c->ds)) return;
    diagnostic *d = diag(c->ds, E0510, path_span(c->item->path),
                         "'%s' cannot be lowered, so the names in its schedules cannot be checked",
                         c->op->item->name.text);
    diag_note(d, c->op->item->name.at, "'%s' is declared here", c->op->item->name.text);
    diag_help(d, "give it a concrete form: op NAME = %s<…>;", c->op->item->name.text);
}

// ---- Its name -----------------------------------------------------------------------------------
static void check_name(schedule_checker *c) {
    const ast_item *first = schedule_named(c->s, c->op->path, c->item->name.text);
    if (!first || first == c->item) return;
    diagnostic *d = diag(c->ds, E0511, c->item->name.at, "'%s' has a schedule '%s' already",
                         c->op->path, c->item->name.text);
    diag_note(d, first->name.at, "this one");
}

static const ast_item *parent_of(schedule_checker *c, const ast_item *item) {
    return item->as.text ? schedule_named(c->s, c->op->path, item->as.text) : NULL;
}

static void report_no_parent(schedule_checker *c) {
    const ast_item *item = c->item;
    diagnostic *d = diag(c->ds, E0512, item->as.at, "'%s' has no schedule '%s'", c->op->path,
                         item->as.text);
    schedule_names there = {0};
    for (uint32_t i = 0; i < c->s->schedules.len; i++) {
        const ast_item *other = c->s->schedules.data[i];
        if (other != item && schedule_path_is(other->path, c->op->path))
            VEC_PUSH(c->s->arena, &there, other->name.text);
    }
    schedule_suggest(c, d, item->as.at, item->as.text, &there, "schedules of this op");
}

// Fills `parents`, nearest first; false: there is a fault.
static bool find_parents(schedule_checker *c, const ast_item **parents, uint32_t *n) {
    *n = 0;
    for (const ast_item *p = c->item; p->as.text; p = parents[*n - 1]) {
        const ast_item *next = parent_of(c, p);
        if (!next && p == c->item) report_no_parent(c);
        if (!next) return false;
        bool circle = next == c->item;
        if (circle || *n == MAX_LIKE) {
            diagnostic *d = diag(c->ds, E0512, c->item->as.at,
                                 circle ? "schedule '%s' starts from itself"
                                        : "'%s' starts from more than 32 schedules",
                                 c->item->name.text);
            if (p != c->item)
                diag_note(d, p->as.at,
                          circle ? "'%s' starts from it" : "the last one looked at is '%s'",
                          p->name.text);
            return false;
        }
        for (uint32_t i = 0; i < *n; i++)
            if (parents[i] == next) return false;   // a circle further up is told there
        parents[(*n)++] = next;
    }
    return true;
}

// ---- Limits -------------------------------------------------------------------------------------
static bool too_many(schedule_checker *c, span at) {
    if (!c->full)
        diag(c->ds, E0533, at,
             "a schedule fills at most %d cells, and names at most %d stages before a colon",
             MAX_CELLS, MAX_PREFIXES);
    return c->full = true;
}

// ---- Lets ---------------------------------------------------------------------------------------
static const char *taken_as(schedule_checker *c, const char *name) {
    if (schedule_is_index(c, name)) return "an index";
    if (c->op->op && schedule_is_size(c->op->op, name)) return "a size";
    if (schedule_value_find(c, name)) return "a value";
    return schedule_statement_find(name) ? "a statement" : NULL;
}

static void let_add(schedule_checker *c, const ast_statement *st) {
    const char *name = st->verb.text;
    for (uint32_t i = 0; i < c->lets.len; i++) {
        const schedule_let *old = &c->lets.data[i];
        if (old->name.text != name) continue;
        // its own goes before one it starts from
        if (old->from != c->from || c->from != c->item) return;
        diagnostic *d = diag(c->ds, E0522, st->verb.at, "'%s' is defined twice", name);
        diag_note(d, old->name.at, "first here");
        return;
    }
    const char *taken = c->from == c->item ? taken_as(c, name) : NULL;
    if (taken) diag(c->ds, E0522, st->verb.at, "'%s' is %s already", name, taken);
    const ast_word *w = st->words;
    bool one = w && !w->next && !w->subjects->list && w->subjects->kind != AST_SUBJECT_BY;
    if (!one && c->from == c->item) {
        diagnostic *d = diag(c->ds, E0522, st->verb.at, "a let names one number, word or choice");
        diag_help(d, "let %s = 32; let %s = 32 | 64;", name, name);
    }
    schedule_let let = {.name = st->verb,
                        .value = one ? w->subjects : NULL,
                        .used = taken || !one,
                        .from = c->from};
    VEC_PUSH(c->s->arena, &c->lets, let);
}

static void lets_add(schedule_checker *c, const ast_statement *st) {
    for (; st && !c->full; st = st->next) {
        if (st->let) let_add(c, st);
        if (c->lets.len > MAX_CELLS) too_many(c, st->at);
        lets_add(c, st->inner);
    }
}

static void check_lets_used(schedule_checker *c) {
    for (uint32_t i = 0; i < c->lets.len; i++) {
        const schedule_let *let = &c->lets.data[i];
        if (!let->used && let->from == c->item)
            diag(c->ds, W0501, let->name.at, "'%s' is not used", let->name.text);
    }
}

// ---- Statements ---------------------------------------------------------------------------------
static void find_verb(schedule_checker *c, ast_name verb) {
    c->what = schedule_statement_find(verb.text);
    if (c->what && !strcmp(verb.text, "none")) {
        diagnostic *d = diag(c->s->ds, E0518, verb.at,
                             "'none' stands in place of a statement's words");
        diag_help(d, "tile k none; leaves k without tiles");
        c->what = NULL;
    } else if (!c->what) {
        diagnostic *d = diag(c->s->ds, E0514, verb.at, "there is no statement '%s'", verb.text);
        const char *names[64];
        uint32_t n = 0;
        for (; n < 64 && schedule_statement_at(n); n++) names[n] = schedule_statement_at(n)->verb;
        const char *now = schedule_renamed("", verb.text);
        if (now) diag_fix(d, verb.at, now, "it is called '%s'", now);
        else if (!foreign_help(d, FOREIGN_STATEMENT, verb.text) &&
                 !diag_suggest(d, verb.at, verb.text, names, n))
            diag_help(d, "lang/schedules.md lists the statements");
    }
}

// "tune tile e 32": the statement after tune.
static bool tuned(schedule_checker *c, ast_name *verb, const ast_word **words) {
    const ast_word *w = *words;
    const char *name = w && !w->subjects->list && !w->subjects->choice
                           ? schedule_name_of(w->subjects)
                           : NULL;
    if (!name || !strcmp(name, "tune")) {
        diagnostic *d = diag(c->s->ds, E0518, w ? schedule_subject_span(w->subjects) : verb->at,
                             "'tune' is followed by a statement");
        diag_help(d, "tune tile e 32; lets the tuner leave the tiles out");
        return false;
    }
    *verb = w->subjects->path->name;
    *words = w->next;
    return true;
}

static void statement(schedule_checker *c, const ast_statement *st,
                      const schedule_prefixes *prefixes) {
    ast_name verb = st->verb;
    const ast_word *words = st->words;
    c->statement = st;
    c->prefixes = prefixes;
    c->any = c->filled = c->emptied = false;
    c->index = NULL;
    if (!strcmp(verb.text, "tune") && !tuned(c, &verb, &words)) return;
    find_verb(c, verb);
    if (!c->what) return;
    schedule_need_add(c, c->what->needs, verb.at, verb.text);
    schedule_fit(c, words, verb.at);
    schedule_needs_check(c);
}

// s, a: { … } inside y: { … } is y.s, y.a.
static schedule_prefixes prefixes_within(schedule_checker *c, const schedule_prefixes *outer,
                                         const ast_paths *stages) {
    schedule_prefixes r = {0};
    for (uint32_t i = 0; i < outer->len; i++)
        for (const ast_paths *p = stages; p; p = p->next) {
            const schedule_prefix *o = &outer->data[i];
            const char *text = schedule_path_text(c->s, p->path);
            if (o->path)
                text = intern(c->s->names, arena_printf(c->s->arena, "%s.%s", o->path, text));
            if (r.len == MAX_PREFIXES && too_many(c, p->at)) return r;
            bool unknown = o->unknown || !schedule_stage_known(c, text, p->at);
            VEC_PUSH(c->s->arena, &r, ((schedule_prefix){text, p->at, unknown}));
        }
    return r;
}

static void walk(schedule_checker *c, const ast_statement *st, const schedule_prefixes *outer) {
    for (; st && !c->full; st = st->next) {
        if (st->let) continue;
        schedule_prefixes inner = *outer;
        if (st->stages) inner = prefixes_within(c, outer, st->stages);
        if (!st->verb.text) walk(c, st->inner, &inner);
        else statement(c, st, &inner);
        if (c->cells.len > MAX_CELLS) too_many(c, st->at);
    }
}

static void walk_item(schedule_checker *c, const ast_item *item) {
    schedule_prefixes all = {0};
    VEC_PUSH(c->s->arena, &all, ((schedule_prefix){NULL, NO_SPAN, false}));
    c->from = item;
    walk(c, item->schedule.statements, &all);
}

// ---- Schedules ----------------------------------------------------------------------------------
// The statements of those it starts from were checked there: what is told here is only what they
// are for.
static void inherit(schedule_checker *c, const ast_item *const *parents, uint32_t n) {
    sema quiet = *c->s, *loud = c->s;
    quiet.ds = diag_set_new(loud->arena, diag_sources(loud->ds));
    c->s = &quiet;
    for (uint32_t i = 0; i < n; i++) walk_item(c, parents[i]);
    c->s = loud;
    c->from = c->item;
}

bool schedule_collect(schedule_checker *c, sema *s, const ast_item *item) {
    *c = (schedule_checker){.s = s, .ds = s->ds, .item = item, .from = item};
    c->op = item->path ? schedule_op_find(s, item) : NULL;
    if (!c->op) return false;
    const ast_item *parents[MAX_LIKE];
    uint32_t n = 0;
    bool good = find_parents(c, parents, &n);
    c->canonical = says_canonicalize(item);
    for (uint32_t i = 0; i < n; i++) c->canonical |= says_canonicalize(parents[i]);
    if (c->canonical) c->op = schedule_canonical(s, c->op);
    lets_add(c, item->schedule.statements);
    for (uint32_t i = 0; good && i < n; i++) {
        c->from = parents[i];
        lets_add(c, parents[i]->schedule.statements);
    }
    walk_item(c, item);
    if (good) inherit(c, parents, n);
    return true;
}

static void schedule_check(sema *s, const ast_item *item) {
    schedule_checker c;
    if (!schedule_collect(&c, s, item)) return;
    report_unknown_names(&c);
    check_name(&c);
    schedule_targets_check(&c);
    schedule_when_check(&c);
    schedule_cells_compare(&c);
    check_lets_used(&c);
}

static void choice_check(sema *s, const ast_item *item) {
    schedule_checker c = {.s = s, .ds = s->ds, .item = item, .from = item};
    c.op = item->path ? schedule_op_find(s, item) : NULL;
    if (!c.op) return;
    report_unknown_names(&c);
    schedule_targets_check(&c);
    schedule_when_check(&c);
    schedule_tree_check(&c);
}

bool schedules_check(sema *s) {
    if (s->schedules_checked) return !s->schedules_faulty;
    uint32_t errors = diag_errors(s->ds);
    s->schedules_checked = true;
    for (uint32_t i = 0; i < s->schedules.len; i++) schedule_check(s, s->schedules.data[i]);
    for (uint32_t i = 0; i < s->choices.len; i++) choice_check(s, s->choices.data[i]);
    s->schedules_faulty = diag_errors(s->ds) != errors;
    return !s->schedules_faulty;
}
