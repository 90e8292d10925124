// Statements of schedules that are there, the default's or those of files: read, their names mapped
// to an op's, one thing of them changed.
#include "schedule_items.h"
#include "test.h"

#include <ctype.h>
#include <string.h>

typedef struct {
    const char *from, *to;
} renaming;
typedef struct {
    test_maker *m;
    const ast_item *all;   // classes are found among these
    bool own;              // names are the op's already
    uint32_t depth;        // of classes
    VEC(renaming) names;
} taking;

const ast_item *test_schedules_read(driver *d, const char *path, const char *text) {
    const source_file *source = source_map_add(d->sources, path, text, strlen(text));
    if (!source) return NULL;
    const ast_item *i = ast_parse(d->arena, intern_new(d->arena),
                                  diag_set_new(d->arena, d->sources), source)
                            ->items;
    while (i && i->kind != AST_SCHEDULE) i = i->next;
    return i;
}

// ---- Names --------------------------------------------------------------------------------------
// Of the op: indices, stages (a path may begin one), parameters, maps.
typedef enum { OF_INDEX, OF_STAGE, OF_VALUE, OF_MAP } name_kind;
typedef VEC(const char *) names;

static names names_of(const test_maker *m, name_kind kind) {
    names n = {0};
    const tensor_op *op = m->op->op;
    for (uint32_t s = 0; s < m->op->stages.len; s++) {
        const test_stage *st = &m->op->stages.data[s];
        if (kind == OF_STAGE || kind == OF_VALUE) VEC_PUSH(m->arena, &n, st->name);
        for (uint32_t k = 0; k < st->nindices && kind == OF_INDEX; k++)
            VEC_PUSH(m->arena, &n, st->indices[k].name);
    }
    for (tensor_val v = 0; v < op->nparams; v++) {
        const tensor_role role = op->vals.data[v].role;
        if (kind == OF_MAP ? role == VAL_MAP : kind == OF_VALUE && role != VAL_SCALAR)
            VEC_PUSH(m->arena, &n, op->vals.data[v].name);
    }
    return n;
}

static bool among(const names *n, const char *name) {
    for (uint32_t i = 0; i < n->len; i++)
        if (!strcmp(n->data[i], name)) return true;
    return false;
}

// One name becomes the same one throughout; where the op has it too, it mostly stays.
static const char *renamed(taking *t, const char *name, name_kind kind) {
    if (t->own) return name;
    for (uint32_t i = 0; i < t->names.len; i++)
        if (!strcmp(t->names.data[i].from, name)) return t->names.data[i].to;
    names n = names_of(t->m, kind);
    const bool stays = !n.len || (among(&n, name) && test_chance(t->m->rng, 70));
    const char *to = stays ? name : n.data[test_draw(t->m->rng, n.len)];
    VEC_PUSH(t->m->arena, &t->names, ((renaming){name, to}));
    return to;
}

// "1 / degree(dst, v)": first a map, then an index.
static const char *renamed_within(taking *t, const char *text) {
    textbuf out = textbuf_new(t->m->arena);
    for (const char *at = text; *at;) {
        size_t n = 0;
        while (isalnum((unsigned char)at[n]) || at[n] == '_') n++;
        const bool name = n && isalpha((unsigned char)*at) && at[n] != '(';
        const char *word = arena_strndup(t->m->arena, at, n ? n : 1);
        textbuf_puts(
            &out, name
                      ? renamed(t, word, at[n] == ',' || (at == text && !at[n]) ? OF_MAP : OF_INDEX)
                      : word);
        at += n ? n : 1;
    }
    return out.data;
}

// ---- Words --------------------------------------------------------------------------------------
static const char *next_token(arena *a, const char **at) {
    *at += strspn(*at, " []");
    const size_t n = strcspn(*at, " []");
    const char *token = n ? arena_strndup(a, *at, n) : NULL;
    *at += n;
    return token;
}

// What a word is by a statement's form: NULL, where it is a keyword, behind which `at` goes on.
static const char *kind_of(arena *a, const char *form, const char **at, const char *word) {
    const char *token;
    for (const char *look = form; (token = next_token(a, &look));)
        if (!strcmp(token, word)) {
            *at = look;
            return NULL;
        }
    while ((token = next_token(a, at)) && !isupper((unsigned char)*token)) {
    }
    return token;
}

static const char *subject_text(arena *a, const ast_subject *s) {
    textbuf out = textbuf_new(a);
    if (s->kind == AST_SUBJECT_PATH) ast_print_path(&out, s->path);
    else if (s->kind == AST_SUBJECT_BY) textbuf_puts(&out, "by");
    else ast_print_expr(&out, s->expr);
    return out.data;
}

static const char *take_class(taking *t, const char *name);

static const char *subject_for(taking *t, const char *text, const char *kind) {
    static const struct {
        const char *kind;
        name_kind of;
    } kinds[] = {{"INDEX", OF_INDEX},  {"REDUCED", OF_INDEX}, {"INDICES", OF_INDEX},
                 {"STAGES", OF_STAGE}, {"VALUES", OF_VALUE},  {"MAP", OF_MAP},
                 {"SOURCE", OF_MAP}};
    if (!kind || !strcmp(text, "none")) return text;
    for (uint32_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].kind, kind)) return renamed(t, text, kinds[i].of);
    if (!strcmp(kind, "SCHEDULES")) return take_class(t, text);
    return !strcmp(kind, "KEY") || !strcmp(kind, "FACTOR") ? renamed_within(t, text) : text;
}

static test_word word_for(taking *t, const ast_word *w, const char *form, const char **at) {
    arena *a = t->m->arena;
    const ast_subject *s = w->subjects;
    const char *kind = kind_of(a, form, at, subject_text(a, s));
    if (s->kind == AST_SUBJECT_NUMBER && s->expr->is_integer && !s->list && !s->choice)
        return test_number(s->expr->integer);
    textbuf out = textbuf_new(a);
    for (const ast_subject *next; s; s = next) {
        next = s->list ? s->list : s->choice;
        textbuf_printf(&out, "%s%s", subject_for(t, subject_text(a, s), kind),
                       !next     ? ""
                       : s->list ? ", "
                                 : " | ");
    }
    return test_text(out.data);
}

// ---- Statements ---------------------------------------------------------------------------------
static const schedule_statement *row_of(const char *verb) {
    const schedule_statement *row;
    for (uint32_t i = 0; verb && (row = schedule_statement_at(i)); i++)
        if (!strcmp(row->verb, verb)) return row;
    return NULL;
}

static const char *first_word(const test_statement *x) {
    return x->words.len && x->words.data[0].text ? x->words.data[0].text : "";
}

// What the schedule said of the same before is replaced.
static void put(taking *t, test_schedule *out, test_statement s) {
    for (uint32_t i = 0; i < out->statements.len; i++) {
        const test_statement *x = &out->statements.data[i];
        const char *about = x->stages.len ? x->stages.data[0] : "",
                   *other = s.stages.len ? s.stages.data[0] : "";
        if (strcmp(x->verb, s.verb) || strcmp(about, other) ||
            strcmp(first_word(x), first_word(&s)))
            continue;
        out->statements.data[i] = s;
        return;
    }
    VEC_PUSH(t->m->arena, &out->statements, s);
}

static void take_let(taking *t, const ast_statement *x, test_schedule *out) {
    test_statement s = {.verb = "let"};
    const char *at = "";
    VEC_PUSH(t->m->arena, &s.words, test_text(x->verb.text));
    VEC_PUSH(t->m->arena, &s.words, test_text("="));
    for (const ast_word *w = x->words; w; w = w->next)
        VEC_PUSH(t->m->arena, &s.words, word_for(t, w, "", &at));
    VEC_PUSH(t->m->arena, &out->statements, s);
}

static void take_statement(taking *t, const ast_paths *stages, const ast_statement *x,
                           test_schedule *out) {
    arena *a = t->m->arena;
    const schedule_statement *row = row_of(x->verb.text);
    if (x->let) take_let(t, x, out);
    if (x->let || !row || !test_verb_usable(t->m, row->verb)) return;
    test_statement s = {.verb = row->verb};
    const char *at = row->form;
    for (const ast_word *w = x->words; w; w = w->next)
        VEC_PUSH(a, &s.words, word_for(t, w, row->form, &at));
    for (const ast_paths *p = stages; p; p = p->next) {
        textbuf path = textbuf_new(a);
        ast_print_path(&path, p->path);
        VEC_PUSH(a, &s.stages, renamed(t, path.data, OF_STAGE));
    }
    put(t, out, s);
}

static void take_statements(taking *t, const ast_paths *stages, const ast_statement *list,
                            test_schedule *out, uint32_t of) {
    for (const ast_statement *x = list; x; x = x->next) {
        if (x->block.hi) take_statements(t, x->stages, x->inner, out, of);
        else if (x->let || test_chance(t->m->rng, of))
            take_statement(t, x->stages ? x->stages : stages, x, out);
    }
}

// ---- Schedules ----------------------------------------------------------------------------------
enum { MOST_DEPTH = 3, FEW = 15 };   // classes in classes; per cent of the statements

static const char *take_class(taking *t, const char *name) {
    const ast_item *i = schedule_called(t->all, name);
    if (!i || t->depth >= MOST_DEPTH) return test_class_draw(t->m);
    test_schedule s = {.name = arena_printf(t->m->arena, "class%u", t->m->classes++)};
    t->depth++;
    take_statements(t, NULL, i->schedule.statements, &s, 100);
    t->depth--;
    VEC_PUSH(t->m->arena, t->m->out, s);
    return s.name;
}

static const ast_item *choose(test_maker *m, const ast_item *all) {
    VEC(const ast_item *) fit = {0};
    for (const ast_item *i = all; i; i = i->next)
        if (i->kind == AST_SCHEDULE && !schedule_is_class(all, i)) VEC_PUSH(m->arena, &fit, i);
    return fit.len ? fit.data[test_draw(m->rng, fit.len)] : NULL;
}

bool test_schedule_take(test_maker *m, const ast_item *all, bool own, bool few) {
    const ast_item *from = choose(m, all);
    if (!from) return false;
    taking t = {.m = m, .all = all, .own = own};
    test_schedule s = {.name = TEST_SCHEDULE};
    if (few && m->out->len) s = m->out->data[--m->out->len];
    const uint32_t before = s.statements.len;
    take_statements(&t, NULL, from->schedule.statements, &s, few ? FEW : 100);
    VEC_PUSH(m->arena, m->out, s);
    return few || s.statements.len > before;
}

// ---- One thing changed --------------------------------------------------------------------------
static bool change_number(test_maker *m, test_statement *x) {
    static const int64_t numbers[] = {1, 2, 3, 4, 5, 8, 16, 32, 64};
    for (uint32_t i = 0; i < x->words.len; i++) {
        test_word *w = &x->words.data[i];
        if (w->text || w->option) continue;
        const int64_t others[] = {2 * w->number, w->number / 2 + 1, w->number + 1,
                                  TEST_PICK(m->rng, numbers)};
        w->number = TEST_PICK(m->rng, others);
        return true;
    }
    return false;
}

// "[masked]": the words of a form that stand alone.
static bool change_option(test_maker *m, test_statement *x) {
    const schedule_statement *row = row_of(x->verb);
    names options = {0};
    for (const char *at = row ? row->form : ""; (at = strchr(at, '['));) {
        const size_t n = strcspn(++at, " []");
        if (at[n] == ']' && islower((unsigned char)*at))
            VEC_PUSH(m->arena, &options, arena_strndup(m->arena, at, n));
    }
    if (!options.len) return false;
    const char *option = options.data[test_draw(m->rng, options.len)];
    for (uint32_t i = 0; i < x->words.len; i++)
        if (x->words.data[i].text && !strcmp(x->words.data[i].text, option)) {
            memmove(&x->words.data[i], &x->words.data[i + 1],
                    (--x->words.len - i) * sizeof *x->words.data);
            return true;
        }
    VEC_PUSH(m->arena, &x->words, test_text(option));
    return true;
}

// A type, a place, a way: another one.
static bool change_word(test_maker *m, test_statement *x) {
    static const char *const kinds[] = {"TYPE", "OPERAND", "PLACE", "WAY", "HINT"};
    for (uint32_t i = 0; i < x->words.len; i++)
        for (uint32_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            if (x->words.data[i].text && test_word_of(x->words.data[i].text, kinds[k])) {
                x->words.data[i] = test_text(test_word_draw(m, kinds[k]));
                return true;
            }
    return false;
}

static bool change_stages(test_maker *m, test_statement *x) {
    const char *stage = m->op->stages.data[test_draw(m->rng, m->op->stages.len)].name;
    const bool none = x->stages.len && test_chance(m->rng, 30);
    x->stages.len = 0;
    if (!none) VEC_PUSH(m->arena, &x->stages, stage);
    return true;
}

static void drop(test_schedule *s, uint32_t k) {
    memmove(&s->statements.data[k], &s->statements.data[k + 1],
            (--s->statements.len - k) * sizeof *s->statements.data);
}

static bool change_statement(test_maker *m, test_statement *x, uint64_t how) {
    switch (how) {
    case 0: return change_option(m, x);
    case 1: return change_word(m, x);
    case 2: return change_stages(m, x);
    case 3:
    case 4:
    case 5: return change_number(m, x);
    default: return false;
    }
}

void test_schedule_change(test_maker *m) {
    test_schedule *s = &m->out->data[test_draw(m->rng, m->out->len)];
    if (!s->statements.len) return;
    const uint32_t at = (uint32_t)test_draw(m->rng, s->statements.len);
    const char *verb = s->statements.data[at].verb;
    if (change_statement(m, &s->statements.data[at], test_draw(m->rng, 8))) return;
    const bool again = test_chance(m->rng, 50) && strcmp(verb, "let");
    drop(s, at);
    if (!again) return;
    test_schedule copy = *s;   // a class that is drawn moves the schedules
    test_statement_draw(m, &copy, verb, NULL);
    for (uint32_t i = 0; i < m->out->len; i++)
        if (!strcmp(m->out->data[i].name, copy.name)) m->out->data[i] = copy;
}
