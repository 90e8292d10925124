// Fits the words of a statement to its form: the required parts in order, then options, each once.
#include "sema_schedule_names.h"
#include <string.h>

typedef struct {
    schedule_checker *c;
    schedule_form form;
    const ast_word *word;             // the next one
    span last;                        // what came before it
    const ast_subject *subject;       // of the cell; NULL: it has none
    span given[SCHEDULE_MAX_PARTS];   // of each option: where it stands
} fitting;
typedef enum { FIT_STOP, FIT_FAULTY, FIT_GOOD } fit;   // STOP: what follows cannot be told apart

static bool is_keyword(const schedule_part *p, const char *text) {
    size_t n = p->keyword ? strcspn(p->keyword, " []") : 0;
    return n && strlen(text) == n && !strncmp(p->keyword, text, n);
}

static const char *keyword_text(const fitting *f, const schedule_part *p) {
    return arena_strndup(f->c->s->arena, p->keyword, strcspn(p->keyword, " []"));
}

// A word that is one plain name, "by" among them; else NULL.
static const char *plain(const ast_word *w) {
    const ast_subject *x = w->subjects;
    if (x->list || x->choice) return NULL;
    return x->kind == AST_SUBJECT_BY ? "by" : schedule_name_of(x);
}

static diagnostic *form_help(fitting *f, diagnostic *d) {
    return diag_help(d, "it is written: %s%s%s;", f->c->what->verb, *f->c->what->form ? " " : "",
                     f->c->what->form);
}

// An option by its old name stands where something else has to stand before it.
static fit tell_renamed(fitting *f, diagnostic *d, const char *name) {
    const char *verb = f->c->what->verb, *now = d && name ? schedule_renamed(verb, name) : NULL;
    if (!now) return FIT_FAULTY;
    diag_help(d, "where the option is meant, it is called '%s': %s %s;", now, verb,
              f->c->what->form);
    return FIT_STOP;
}

static void note_word(fitting *f, const schedule_part *p, const ast_word *w) {
    VEC_PUSH(f->c->s->arena, f->c->words, ((fitted_word){(uint32_t)(p - f->form.parts), w}));
}

static fit report_missing(fitting *f, const char *what) {
    span at = {f->last.hi, f->last.hi + 1};
    form_help(f, diag(f->c->s->ds, E0518, at, "'%s' wants %s here", f->c->what->verb, what));
    return FIT_STOP;
}

static fit fit_keyword(fitting *f, const schedule_part *p) {
    const char *keyword = keyword_text(f, p), *name = f->word ? plain(f->word) : NULL;
    if (!f->word) return report_missing(f, arena_printf(f->c->s->arena, "'%s'", keyword));
    span at = schedule_subject_span(f->word->subjects);
    if (!name || !is_keyword(p, name)) {
        diagnostic *d = diag(f->c->s->ds, E0518, at, "'%s' is wanted here", keyword);
        if (tell_renamed(f, d, name) != FIT_STOP) form_help(f, d);
        return FIT_STOP;
    }
    note_word(f, p, NULL);
    f->last = at;
    f->word = f->word->next;
    return FIT_GOOD;
}

static fit fit_part(fitting *f, const schedule_part *p) {
    if (p->keyword) return fit_keyword(f, p);
    const ast_word *w = f->word;
    const char *name = w ? plain(w) : NULL;
    bool next = name && (!strcmp(name, "by") || !strcmp(name, "none"));
    if (!w) return report_missing(f, schedule_kind_at(p->kind)->what);
    f->last = schedule_subject_span(w->subjects);
    if (next) {
        diagnostic *d = diag(f->c->s->ds, E0518, f->last, "%s is wanted here",
                             schedule_kind_at(p->kind)->what);
        if (p == f->form.parts && f->form.subject && strcmp(name, "by"))
            diag_help(d, "'none' follows the subject of a cell: %s %.*s none;", f->c->what->verb,
                      (int)strcspn(f->c->what->form, " "), f->c->what->form);
        else form_help(f, d);
        return FIT_STOP;
    }
    note_word(f, p, w);
    f->word = w->next;
    uint32_t mark = diag_mark(f->c->s->ds);
    if (schedule_word_check(f->c, p->kind, w)) return FIT_GOOD;
    return tell_renamed(f, diag_last(f->c->s->ds, mark), name);
}

// ---- Options ------------------------------------------------------------------------------------
static bool starts_option(const fitting *f, uint32_t i) {
    return f->form.parts[i].option && (!i || f->form.parts[i - 1].option < f->form.parts[i].option);
}

// An option that starts with a kind is known by a word of that kind.
static bool fits_kind(fitting *f, schedule_kind k, const ast_subject *x) {
    const char *name = schedule_name_of(x);
    if (!name)
        return k == SCHEDULE_COUNT &&
               (x->kind == AST_SUBJECT_NUMBER || x->kind == AST_SUBJECT_BINARY);
    if (schedule_let_find(f->c, name)) return true;
    if (k == SCHEDULE_TYPE && schedule_is_float_generic(f->c, name)) return true;
    if (k == SCHEDULE_SHAPE) return name[0] == 'm' && name[1] >= '0' && name[1] <= '9';
    return schedule_word_find(k, name) != NULL;
}

static uint32_t find_option(fitting *f, const ast_word *w) {
    const char *name = plain(w);
    for (uint32_t i = 0; i < f->form.n; i++)
        if (starts_option(f, i) && name && is_keyword(&f->form.parts[i], name)) return i;
    for (uint32_t i = 0; i < f->form.n; i++)
        if (starts_option(f, i) && !f->form.parts[i].keyword &&
            fits_kind(f, f->form.parts[i].kind, w->subjects))
            return i;
    return f->form.n;
}

// `none` takes the place of all words but the subject.
static void report_late_none(fitting *f, span at) {
    const char *verb = f->c->what->verb,
               *subject = f->subject ? schedule_name_of(f->subject) : NULL;
    diagnostic *d = diag(f->c->s->ds, E0518, at,
                         "'none' stands in place of what '%s' says, not behind it", verb);
    diag_help(d, "its cell is emptied by '%s%s%s none;'", verb, subject ? " " : "",
              subject ? subject : "");
}

static void report_no_option(fitting *f, const ast_word *w) {
    sema *s = f->c->s;
    const char *name = plain(w);
    span at = schedule_subject_span(w->subjects);
    if (!name) {
        form_help(f, diag(s->ds, E0518, at, "'%s' takes nothing more here", f->c->what->verb));
        return;
    }
    if (!strcmp(name, "none")) {
        report_late_none(f, at);
        return;
    }
    diagnostic *d = diag(s->ds, E0519, at, "'%s' has no option '%s'", f->c->what->verb, name);
    const char *now = schedule_renamed(f->c->what->verb, name);
    if (now) {
        diag_fix(d, at, now, "it is called '%s'", now);
        return;
    }
    if (schedule_statement_find(name)) {
        diag_help(d, "a ';' is missing before '%s'", name);
        return;
    }
    schedule_names there = {0};
    for (uint32_t i = 0; i < f->form.n; i++) {
        const schedule_part *p = &f->form.parts[i];
        if (!starts_option(f, i)) continue;
        if (p->keyword) VEC_PUSH(s->arena, &there, keyword_text(f, p));
        for (uint32_t k = 0; !p->keyword && schedule_word_at(k); k++)
            if (schedule_word_at(k)->kind == p->kind)
                VEC_PUSH(s->arena, &there, schedule_word_at(k)->text);
    }
    if (!diag_suggest(d, at, name, there.data, there.len)) form_help(f, d);
}

static const char *option_text(const fitting *f, uint32_t option) {
    for (uint32_t i = 0; i < f->form.n; i++)
        if (f->form.parts[i].option == option)
            return f->form.parts[i].keyword ? keyword_text(f, &f->form.parts[i])
                                            : schedule_kind_at(f->form.parts[i].kind)->what;
    return "";
}

static bool may_stand(fitting *f, const schedule_part *p, span at) {
    if (f->given[p->option].hi) {
        diagnostic *d = diag(f->c->s->ds, E0519, at, "%s%s%s is given twice", p->keyword ? "'" : "",
                             option_text(f, p->option), p->keyword ? "'" : "");
        diag_note(d, f->given[p->option], "first here");
        return false;
    }
    f->given[p->option] = at;
    if (!p->inside || f->given[p->inside].hi) return true;
    form_help(f, diag(f->c->s->ds, E0519, at, "'%s' stands only with '%s'",
                      option_text(f, p->option), option_text(f, p->inside)));
    return true;
}

static bool fit_option(fitting *f) {
    uint32_t i = find_option(f, f->word);
    if (i == f->form.n) return report_no_option(f, f->word), false;
    const schedule_part *p = &f->form.parts[i];
    span at = schedule_subject_span(f->word->subjects);
    const schedule_word_info *w =
        p->keyword ? schedule_word_find(SCHEDULE_OPTION, option_text(f, p->option)) : NULL;
    if (!may_stand(f, p, at)) return false;
    if (w) schedule_need_add(f->c, w->needs, at, w->text);
    for (; i < f->form.n && f->form.parts[i].option == p->option; i++)
        if (fit_part(f, &f->form.parts[i]) == FIT_STOP) return false;
    return true;
}

// ---- Subjects and statements --------------------------------------------------------------------
static void add_cells(fitting *f, const ast_word *w, bool empty) {
    for (const ast_subject *x = w->subjects; x; x = x->list)
        if (x->kind == AST_SUBJECT_PATH)
            schedule_cell_add(f->c, schedule_path_text(f->c->s, x->path), x->at, empty);
}

// What follows "fuse s, a at" is an index of one of those.
static void search_in(fitting *f, schedule_prefixes *found, const ast_word *w) {
    for (const ast_subject *x = w->subjects; x; x = x->list)
        if (x->kind == AST_SUBJECT_PATH)
            VEC_PUSH(f->c->s->arena, found,
                     ((schedule_prefix){schedule_path_text(f->c->s, x->path), x->at, false}));
    f->c->prefixes = found;
    f->c->any = true;
}

static bool is_none(const ast_word *w) {
    const char *name = w && !w->next ? plain(w) : NULL;
    return name && !strcmp(name, "none");
}

// The subject, "none" after it, and its cells. false: nothing more is to be looked at.
static bool fit_subject(fitting *f, schedule_prefixes *stages) {
    const ast_word *w = f->word;
    if (!f->form.subject) {
        schedule_cell_add(f->c, NULL, f->last, is_none(w));
        return !is_none(w);
    }
    const schedule_part *p = &f->form.parts[0];
    f->subject = w ? w->subjects : NULL;
    fit subject = fit_part(f, p);
    if (subject == FIT_STOP) return false;
    if (subject == FIT_GOOD) add_cells(f, w, is_none(f->word));
    if (p->kind == SCHEDULE_INDEX || p->kind == SCHEDULE_REDUCED)
        f->c->index = schedule_name_of(w->subjects);
    if (p->kind == SCHEDULE_STAGES && subject == FIT_GOOD) search_in(f, stages, w);
    return !is_none(f->word);
}

void schedule_fit(schedule_checker *c, const ast_word *words, span verb) {
    fitting f = {.c = c, .form = schedule_form_read(c->what), .word = words, .last = verb};
    schedule_prefixes stages = {0};
    c->words = ARENA_NEW(c->s->arena, fitted_words);
    if (!fit_subject(&f, &stages)) return;
    for (uint32_t i = f.form.subject; i < f.form.n && !f.form.parts[i].option; i++)
        if (fit_part(&f, &f.form.parts[i]) == FIT_STOP) return;
    while (f.word && fit_option(&f));
}
