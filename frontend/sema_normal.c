// The last step of lowering: how reductions are spelled, and what their indices are called, changes
// nothing. A name that some schedule mentions stays: its statements are about what goes by it.
#include "sema_schedule.h"
#include "tensor_names.h"

#include <string.h>

static bool expr_says(const ast_expr *e, const char *name) {
    for (; e; e = e->next)
        if ((e->name.text && !strcmp(e->name.text, name)) || expr_says(e->args, name)) return true;
    return false;
}

static bool path_says(const ast_path *p, const char *name) {
    return p && !p->next && !strcmp(p->name.text, name);
}

static bool subject_says(const ast_subject *x, const char *name) {
    for (; x; x = x->list)
        for (const ast_subject *c = x; c; c = c->choice)
            if (path_says(c->path, name) || expr_says(c->expr, name)) return true;
    return false;
}

static bool statements_say(const ast_statement *st, const char *name) {
    for (; st; st = st->next) {
        for (const ast_word *w = st->words; w; w = w->next)
            if (subject_says(w->subjects, name)) return true;
        if (statements_say(st->inner, name)) return true;
    }
    return false;
}

static bool is_said(const char *name, void *user) {
    const sema *s = user;
    for (uint32_t i = 0; i < s->schedules.len; i++)
        if (statements_say(s->schedules.data[i]->schedule.statements, name)) return true;
    return false;
}

void sema_normalise(const sema *s, tensor_op *op) {
    tensor_normalise(op);
    sema known = *s;
    tensor_name_indices(op, is_said, &known);
}
