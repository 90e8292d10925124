// Paths and names that schedules are told by.
#include "sema_schedule.h"
#include <string.h>

const char *schedule_path_text(sema *s, const ast_path *p) {
    textbuf b = textbuf_new(s->arena);
    ast_print_path(&b, p);
    return intern(s->names, b.data);
}

bool schedule_path_is(const ast_path *p, const char *text) {
    for (; p; p = p->next) {
        size_t n = strlen(p->name.text);
        if (strncmp(text, p->name.text, n) || text[n] != (p->next ? '.' : 0)) return false;
        text += n + 1;
    }
    return true;
}

bool schedule_is_of(const ast_item *item, const frontend_op *op) {
    if (schedule_path_is(item->path, op->path)) return true;
    return op->item->kind == AST_OP_ALIAS && !op->grad &&
           schedule_path_is(item->path, op->item->target.text);
}

const ast_item *schedule_named(const sema *s, const char *path, const char *name) {
    for (uint32_t i = 0; i < s->schedules.len; i++) {
        const ast_item *item = s->schedules.data[i];
        if (item->name.text == name && item->path && schedule_path_is(item->path, path))
            return item;
    }
    return NULL;
}

const char *schedule_name_of(const ast_subject *x) {
    return x->kind == AST_SUBJECT_PATH && !x->path->next ? x->path->name.text : NULL;
}

span schedule_subject_span(const ast_subject *x) {
    span at = x->at;
    for (const ast_subject *y = x; y; y = y->list ? y->list : y->choice) at = span_join(at, y->at);
    return at;
}
