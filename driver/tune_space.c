// The schedules that the tuner tries: texts with places where one of several texts may stand.
#include "tune.h"

#include "schedule_items.h"

#include <string.h>

typedef struct {
    driver *d;
    const tune_op *op;
    const source_file *source;
    const ast_item *all;
    bool host;        // what has no meaning there is not added
    bool open;        // numbers and statements are places, too
    uint32_t group;   // of the stage at hand, from 1; 0: none
    textbuf text;     // so far
    int64_t shift;    // a place of the source, less this, is one of the text
    tune_base base;
} placing;

static const char *source_text(const placing *p, span at) {
    return arena_strndup(p->d->arena, p->source->text + (at.lo - p->source->base), at.hi - at.lo);
}

// like: of what else it changes with.
static void put_site(placing *p, span at, const char *const *texts, uint32_t n, const char *like) {
    const char **copy = ARENA_ARRAY(p->d->arena, const char *, n);
    memcpy(copy, texts, n * sizeof *copy);
    VEC_PUSH(p->d->arena, &p->base.sites,
             ((tune_site){.from = (uint32_t)(at.lo - p->shift),
                          .to = (uint32_t)(at.hi - p->shift),
                          .n = n,
                          .texts = copy,
                          .like = like,
                          .group = p->group}));
}

// ---- Choices that a schedule leaves -------------------------------------------------------------
static void put_choice(placing *p, const ast_subject *s) {
    const char *texts[TUNE_MOST_TEXTS];
    uint32_t n = 0;
    span whole = s->at;
    for (const ast_subject *c = s; c && n < TUNE_MOST_TEXTS; c = c->choice) {
        texts[n++] = source_text(p, c->at);
        whole = span_join(whole, c->at);
    }
    put_site(p, whole, texts, n, NULL);
}

static bool is_choice(const ast_statement *x) {
    if (!x->let && x->verb.text && !strcmp(x->verb.text, "tune")) return true;
    for (const ast_word *w = x->words; w; w = w->next)
        for (const ast_subject *s = w->subjects; s; s = s->list)
            if (s->choice) return true;
    for (const ast_statement *i = x->inner; i; i = i->next)
        if (is_choice(i)) return true;
    return false;
}

// ---- Places in what leaves none -----------------------------------------------------------------
// Statements about numbers' types and names: another one is another result, or none.
static bool is_fixed(const char *verb) {
    static const char *const verbs[] = {"accumulate", "compute", "approximate", "pad",  "mma",
                                        "save",       "online",  "let",         "like", "bucket"};
    for (uint32_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (!strcmp(verb, verbs[i])) return true;
    return false;
}

static void put_number(placing *p, const ast_subject *s, const char *like) {
    const int64_t n = s->expr->integer, others[] = {2 * n, n / 2, 4 * n, n / 4};
    const char *texts[5] = {NULL};
    uint32_t count = 1;
    for (uint32_t i = 0; i < 4; i++)
        if (others[i] > 0 && (i % 2 == 0 || others[i] * (i == 1 ? 2 : 4) == n))
            texts[count++] = arena_printf(p->d->arena, "%lld", (long long)others[i]);
    put_site(p, s->at, texts, count, like);
}

static const char *verb_of(const ast_statement *x) {
    return x->let ? "let" : x->verb.text ? x->verb.text : "";
}

static void put_open(placing *p, const ast_statement *x) {
    static const char *const out[] = {NULL, ""};
    if (is_fixed(verb_of(x))) return;
    const char *text = source_text(p, x->at);
    put_site(p, x->at, out, 2, arena_printf(p->d->arena, "%s left out", text));
    for (const ast_word *w = x->words; w; w = w->next) {
        const ast_subject *s = w->subjects;
        if (s->kind == AST_SUBJECT_NUMBER && s->expr->is_integer && !s->list && w != x->words)
            put_number(p, s, arena_printf(p->d->arena, "%s of %s", source_text(p, s->at), text));
    }
}

// ---- Statements that may be added ---------------------------------------------------------------
typedef enum { ABOUT_ROW, ABOUT_COLUMN, ABOUT_ENTRY, ABOUT_STAGE } addition_about;
static const struct {
    addition_about about;
    const char *verb, *texts;
} additions[] = {
#define ADDITION(about, verb, texts) {ABOUT_##about, verb, texts},
#include "tune_additions.def"
#undef ADDITION
};

static const char *index_of(const tune_stage *st, addition_about about) {
    return about == ABOUT_ROW      ? st->row
           : about == ABOUT_COLUMN ? st->column
           : about == ABOUT_ENTRY  ? st->entry
                                   : "";
}

static bool has_meaning(const char *verb, bool host) {
    const schedule_statement *row;
    for (uint32_t i = 0; (row = schedule_statement_at(i)); i++)
        if (!strcmp(row->verb, verb)) return !host || !*row->needs;
    return false;
}

static bool has_statement(const ast_statement *list, const char *verb, const char *index) {
    for (const ast_statement *x = list; x; x = x->next) {
        if (strcmp(verb_of(x), verb)) continue;
        const ast_subject *s = x->words ? x->words->subjects : NULL;
        if (!*index) return true;
        if (s && s->kind == AST_SUBJECT_PATH && !strcmp(s->path->name.text, index)) return true;
    }
    return false;
}

// "$i" and "$m" by what they stand for; NULL: there is no map.
static const char *filled(arena *a, const char *text, size_t n, const char *index,
                          const char *map) {
    textbuf out = textbuf_new(a);
    textbuf_puts(&out, "    ");
    for (size_t i = 0; i < n; i++) {
        if (text[i] != '$') {
            textbuf_putn(&out, text + i, 1);
            continue;
        }
        const char *by = text[++i] == 'i' ? index : map;
        if (!by) return NULL;
        textbuf_puts(&out, by);
    }
    textbuf_puts(&out, ";\n    ");
    return out.data;
}

static const tune_stage *stage_of(const placing *p, const ast_statement *block) {
    if (!block->stages || block->stages->next) return NULL;
    textbuf path = textbuf_new(p->d->arena);
    ast_print_path(&path, block->stages->path);
    for (uint32_t i = 0; i < p->op->stages.len; i++)
        if (!strcmp(p->op->stages.data[i].name, path.data)) return &p->op->stages.data[i];
    return NULL;
}

static void put_additions(placing *p, const ast_statement *block, const tune_stage *st) {
    const span end = {block->block.hi - 1, block->block.hi - 1};
    for (uint32_t i = 0; i < sizeof additions / sizeof *additions; i++) {
        const char *index = index_of(st, additions[i].about), *texts[16] = {""};
        if (!index || !has_meaning(additions[i].verb, p->host) ||
            has_statement(block->inner, additions[i].verb, index))
            continue;
        uint32_t n = 1;
        for (const char *at = additions[i].texts; *at && n < 16; at += *at == '|') {
            const size_t length = strcspn(at, "|");
            texts[n] = filled(p->d->arena, at, length, index, st->map);
            if (texts[n]) n++;
            at += length;
        }
        if (n > 1)
            put_site(p, end, texts, n,
                     arena_printf(p->d->arena, "%s %s added", additions[i].verb, index));
    }
}

// ---- A schedule ---------------------------------------------------------------------------------
static void put_statements(placing *p, const ast_statement *list) {
    static const char *const out[] = {NULL, ""}, *const nothing[] = {""};
    for (const ast_statement *x = list; x; x = x->next) {
        if (x->block.hi) {
            const tune_stage *st = stage_of(p, x);
            p->group = st ? (uint32_t)(st - p->op->stages.data) + 1 : 0;
            put_statements(p, x->inner);
            if (p->open && st) put_additions(p, x, st);
            p->group = 0;
            continue;
        }
        if (!strcmp(verb_of(x), "tune") && x->words) {
            put_site(p, x->at, out, 2, NULL);
            put_site(p, (span){x->verb.at.lo, x->words->subjects->at.lo}, nothing, 1, NULL);
        }
        for (const ast_subject *s = schedule_classes_of(x); s; s = s->list) {
            const char *text = arena_printf(p->d->arena, TUNE_NAME "_%s", source_text(p, s->at));
            put_site(p, s->at, &text, 1, NULL);
        }
        if (p->open) put_open(p, x);
        for (const ast_word *w = x->words; w; w = w->next)
            for (const ast_subject *s = w->subjects; s; s = s->list)
                if (s->choice) put_choice(p, s);
    }
}

static bool leaves_choice(const ast_item *i) {
    for (const ast_statement *x = i->schedule.statements; x; x = x->next)
        if (is_choice(x)) return true;
    return false;
}

// What stands in the parentheses of `when`; "": nothing.
static const char *conditions_of(const placing *p, const ast_item *i) {
    textbuf out = textbuf_new(p->d->arena);
    textbuf_puts(&out, "");
    for (const ast_condition *c = i->schedule.when; c; c = c->next) {
        if (out.len) textbuf_puts(&out, ", ");
        ast_print_expr(&out, c->expr);
        for (const ast_expr *e = c->in; e; e = e->next) {
            textbuf_puts(&out, e == c->in ? " in {" : ", ");
            ast_print_expr(&out, e);
            if (!e->next) textbuf_puts(&out, "}");
        }
    }
    return out.data;
}

// Those of its classes stand before it.
static void put_schedule(placing *p, const tune_machine *m, const ast_item *i, const char *name,
                         uint32_t depth);

static void put_classes(placing *p, const tune_machine *m, const ast_statement *list,
                        uint32_t depth) {
    for (const ast_statement *x = list; x; x = x->next) {
        put_classes(p, m, x->inner, depth);
        for (const ast_subject *s = schedule_classes_of(x); s && depth; s = s->list) {
            const char *name = source_text(p, s->at);
            const ast_item *of = schedule_called(p->all, name);
            if (of)
                put_schedule(p, m, of, arena_printf(p->d->arena, TUNE_NAME "_%s", name), depth - 1);
        }
    }
}

static void put_schedule(placing *p, const tune_machine *m, const ast_item *i, const char *name,
                         uint32_t depth) {
    put_classes(p, m, i->schedule.statements, depth);
    const char *own = conditions_of(p, i), *given = p->op->when;
    textbuf_printf(&p->text, "schedule %s %s", p->op->path, name);
    if (i->as.text) textbuf_printf(&p->text, " like %s", i->as.text);
    textbuf_printf(&p->text, " for %s", m->arch);
    if (*own || *given)
        textbuf_printf(&p->text, " when (%s%s%s)", given, *own && *given ? ", " : "", own);
    textbuf_puts(&p->text, " ");
    p->shift = (int64_t)i->block.lo - (int64_t)p->text.len;
    textbuf_puts(&p->text, source_text(p, i->block));
    textbuf_puts(&p->text, "\n");
    put_statements(p, i->schedule.statements);
}

// An outer place before those in it.
static void sort_sites(tune_base *b) {
    for (uint32_t i = 1; i < b->sites.len; i++) {
        const tune_site x = b->sites.data[i];
        uint32_t at = i;
        for (; at; at--) {
            const tune_site *y = &b->sites.data[at - 1];
            if (y->from < x.from || (y->from == x.from && y->to >= x.to)) break;
            b->sites.data[at] = *y;
        }
        b->sites.data[at] = x;
    }
}

static void put_base(placing *p, const tune_machine *m, const ast_item *i, tune_space *out) {
    enum { MOST_DEPTH = 3 };   // classes in classes
    p->text = textbuf_new(p->d->arena);
    p->base = (tune_base){.name = i->name.text};
    put_schedule(p, m, i, TUNE_NAME, MOST_DEPTH);
    p->base.text = p->text.data;
    sort_sites(&p->base);
    tune_link(&p->base);
    VEC_PUSH(p->d->arena, &out->bases, p->base);
}

// ---- All of them --------------------------------------------------------------------------------
static child_words printing_of(driver *d, const tune_op *op, const tune_machine *m) {
    arena *a = d->arena;
    child_words w = {0};
    const bool host = !strcmp(m->arch, "host");
    const char *const first[] = {"gnnc",   d->inputs.data[0], "--op",
                                 op->name, "--emit=schedule", "-o",
                                 "-",      "--no-rules",      "-Wno-unused-option"};
    for (uint32_t i = 0; i < sizeof first / sizeof *first; i++) VEC_PUSH(a, &w, first[i]);
    VEC_PUSH(a, &w, host ? "--target=host" : arena_printf(a, "--arch=%s", m->arch));
    tune_options(d, &w);
    return w;
}

static const ast_file *read_schedules(driver *d, const tune_op *op, const tune_machine *m,
                                      const source_file **source) {
    child_words w = printing_of(d, op, m);
    child x;
    if (!child_run(d->arena, &x, &w, TUNE_SECONDS)) {
        tune_cannot_run(d, NULL);
        return NULL;
    }
    const char *text = child_output(d->arena, &x), *said = child_errors(d->arena, &x);
    const bool good = !x.status && text;
    child_free(&x);
    if (!good) {
        diag(d->ds, E0822, NO_SPAN, "%s: its schedules cannot be printed: %s", op->name,
             said ? said : "");
        return NULL;
    }
    *source = source_map_add(d->sources, "schedules", text, strlen(text));
    return *source ? ast_parse(d->arena, intern_new(d->arena), diag_set_new(d->arena, d->sources),
                               *source)
                   : NULL;
}

bool tune_space_of(driver *d, const tune_op *op, const tune_machine *m, tune_space *out) {
    placing p = {.d = d, .op = op, .host = !strcmp(m->arch, "host"), .open = true};
    const ast_file *file = read_schedules(d, op, m, &p.source);
    if (!file) return false;
    p.all = file->items;
    for (const ast_item *i = p.all; i; i = i->next)
        p.open &= i->kind != AST_SCHEDULE || !leaves_choice(i);
    for (const ast_item *i = p.all; i; i = i->next)
        if (i->kind == AST_SCHEDULE && !schedule_is_class(p.all, i) && (p.open || leaves_choice(i)))
            put_base(&p, m, i, out);
    return true;
}
