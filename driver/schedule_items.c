// Schedules found by name, and those that are a class of another one's bucket.
#include "schedule_items.h"

#include <ctype.h>
#include <string.h>

const ast_subject *schedule_classes_of(const ast_statement *x) {
    const bool bucket = !x->let && x->verb.text && !strcmp(x->verb.text, "bucket");
    bool use = false;
    for (const ast_word *w = bucket ? x->words : NULL; w; w = w->next) {
        if (use) return w->subjects;
        use = w->subjects->kind == AST_SUBJECT_PATH && !strcmp(w->subjects->path->name.text, "use");
    }
    return NULL;
}

static bool names_class(const ast_statement *list, const char *name) {
    for (const ast_statement *x = list; x; x = x->next) {
        if (names_class(x->inner, name)) return true;
        for (const ast_subject *s = schedule_classes_of(x); s; s = s->list)
            if (s->kind == AST_SUBJECT_PATH && !strcmp(s->path->name.text, name)) return true;
    }
    return false;
}

bool schedule_is_class(const ast_item *all, const ast_item *of) {
    for (const ast_item *i = all; i; i = i->next)
        if (i->kind == AST_SCHEDULE && names_class(i->schedule.statements, of->name.text))
            return true;
    return false;
}

const ast_item *schedule_called(const ast_item *all, const char *name) {
    while (all && (all->kind != AST_SCHEDULE || strcmp(all->name.text, name))) all = all->next;
    return all;
}

const char *schedule_written(arena *a, const char *name) {
    size_t n = strlen(name);
    while (n && name[n - 1] == '_') n--;
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)name[i]) && name[i] != '_') return NULL;
    return n && isalpha((unsigned char)name[0]) ? arena_strndup(a, name, n) : NULL;
}
