// What a schedule leaves to the tuner: words with choices, names of such words, statements that may
// be left out. Passes take the first choice; a listing shows them all.
//     let N = 4 | 8;  block v 2 * N;  tune tile e 32 | 64;
#include "sema_schedule_names.h"
#include "sema_schedule_resolve.h"

#include <string.h>

static bool subject_open(const schedule_checker *c, const ast_subject *x);

static bool name_open(const schedule_checker *c, const char *name) {
    const schedule_let *let = schedule_let_find(c, name);
    return let && let->value && subject_open(c, let->value);
}

static bool expr_open(const schedule_checker *c, const ast_expr *e) {
    bool open = e->kind == AST_NAME && name_open(c, e->name.text);
    for (const ast_expr *a = e->args; a && !open; a = a->next) open = expr_open(c, a);
    return open;
}

static bool subject_open(const schedule_checker *c, const ast_subject *x) {
    const char *name = schedule_name_of(x);
    return x->choice || (name && name_open(c, name)) || (x->expr && expr_open(c, x->expr));
}

// As written, choice by choice.
static const char *text_of(arena *a, const ast_subject *x) {
    textbuf text = textbuf_new(a);
    for (const ast_subject *s = x; s; s = s->choice) {
        if (s != x) textbuf_puts(&text, " | ");
        if (s->expr) ast_print_expr(&text, s->expr);
        else ast_print_path(&text, s->path);
    }
    return text.data;
}

const char *schedule_open_text(const schedule_checker *c, const ast_subject *x) {
    return subject_open(c, x) ? text_of(c->s->arena, x) : NULL;
}

bool schedule_optional(const ast_statement *st) { return !strcmp(st->verb.text, "tune"); }

// ---- Names --------------------------------------------------------------------------------------
static void name_lets(const schedule_checker *c, const ast_subject *x, bool *named);

static void name_let(const schedule_checker *c, const char *name, bool *named) {
    const schedule_let *let = schedule_let_find(c, name);
    size_t i = let ? (size_t)(let - c->lets.data) : 0;
    if (!let || named[i]) return;
    named[i] = true;
    if (let->value) name_lets(c, let->value, named);
}

static void name_expr(const schedule_checker *c, const ast_expr *e, bool *named) {
    if (e->kind == AST_NAME) name_let(c, e->name.text, named);
    for (const ast_expr *a = e->args; a; a = a->next) name_expr(c, a, named);
}

static void name_lets(const schedule_checker *c, const ast_subject *x, bool *named) {
    for (const ast_subject *s = x; s; s = s->choice) {
        if (schedule_name_of(s)) name_let(c, schedule_name_of(s), named);
        if (s->expr) name_expr(c, s->expr, named);
    }
}

void schedule_open_lets(const schedule_checker *c, schedule *s) {
    bool *named = ARENA_ARRAY(c->s->arena, bool, c->lets.len + 1);
    for (uint32_t i = 0; i < c->cells.len; i++) {
        const written_cell *cell = &c->cells.data[i];
        for (uint32_t w = 0; cell->words && w < cell->words->len; w++) {
            const ast_word *word = cell->words->data[w].word;
            for (const ast_subject *x = word ? word->subjects : NULL; x; x = x->list)
                if (subject_open(c, x)) name_lets(c, x, named);
        }
    }
    for (uint32_t i = 0; i < c->lets.len; i++)
        if (named[i])
            VEC_PUSH(c->s->arena, &s->lets,
                     ((schedule_let_text){c->lets.data[i].name.text,
                                          text_of(c->s->arena, c->lets.data[i].value)}));
}
