// Scopes: what names stand for, innermost first.
#include "sema.h"

entity *scope_add(arena *a, scope *s, entity e) {
    entity *new = ARENA_NEW(a, entity);
    *new = e;
    new->next = s->first;
    s->first = new;
    return new;
}

const entity *scope_find(const scope *s, const char *name) {
    for (; s; s = s->parent)
        for (const entity *e = s->first; e; e = e->next)
            if (e->name == name) return e;
    return NULL;
}

const entity *sema_resolve(const lowering *L, const scope *s, const char *name) {
    (void)L;
    const entity *e = scope_find(s, name);
    while (e && e->kind == ENT_CLOSURE && e->closure->expr->kind == AST_NAME) {
        const entity *inner = scope_find(e->closure->scope, e->closure->expr->name.text);
        if (!inner) return e;
        e = inner;
    }
    return e;
}

bool expanding(const lowering *L, const ast_item *item) {
    for (const expansion *x = L->active; x; x = x->outer)
        if (x->item == item) return true;
    return false;
}

const expansion *expand(lowering *L, const ast_item *item) {
    const expansion *outer = L->active;
    expansion *x = ARENA_NEW(L->arena, expansion);
    *x = (expansion){item, outer};
    L->active = x;
    return outer;
}

closure *closure_new(lowering *L, const scope *s, const ast_expr *e) {
    closure *c = ARENA_NEW(L->arena, closure);
    *c = (closure){.expr = e, .scope = s, .active = L->active, .inferred = {NULL, TENSOR_NO_SPACE}};
    return c;
}

const ast_item *sema_find(const ast_item *const *items, uint32_t n, const char *name) {
    for (uint32_t i = n; i-- > 0;)   // the last one: a file's own names hide what it imports
        if (items[i]->name.text == name) return items[i];
    return NULL;
}

const char *sema_define(const sema *s, const char *name) {
    const char *found = NULL;
    for (uint32_t i = 0; i < s->options.ndefines; i++)
        if (intern(s->names, s->options.defines[i].name) == name) found = s->options.defines[i].value;
    return found;
}

bool sema_dtype(const char *name, ir_dtype *out) {
    for (ir_dtype t = DT_F64; t < DT_INDEX; t++) {
        const char *text = ir_dtype_text(t), *n = name;
        while (*text && *text == *n) text++, n++;
        if (*text == *n) return *out = t, true;
    }
    return false;
}
