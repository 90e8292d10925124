// Any form of an op, for the names in it: what nothing binds is bound to something that fits.
#include "sema.h"
#include <string.h>

static uint32_t count_exprs(const ast_expr *e) {
    uint32_t n = 0;
    for (; e; e = e->next) n++;
    return n;
}

// How many arguments an expression hands to the function or reducer `name`; 0: it does not use it.
static uint32_t arity_in(const ast_expr *e, const char *name) {
    uint32_t n = 0;
    for (; e && !n; e = e->next) {
        if (e->kind == AST_CALL && e->name.text == name) return count_exprs(e->args);
        if (e->kind == AST_REDUCE && e->name.text == name)
            return e->body->kind == AST_TUPLE ? count_exprs(e->body->args) : 1;
        n = arity_in(e->args, name);
        if (!n && e->kind == AST_REDUCE) n = arity_in(e->body, name);
    }
    return n;
}

static uint32_t arity_of(const ast_item *op, const char *name) {
    uint32_t n = 0;
    for (const ast_equation *eq = op->equations; eq && !n; eq = eq->next)
        n = arity_in(eq->value, name);
    return n;
}

static const char *some_function(const sema *s, uint32_t arity) {
    for (uint32_t i = 0; i < s->fns.len; i++) {
        uint32_t n = 0;
        bool plain = true;
        for (const ast_fn_param *p = s->fns.data[i]->fn_params; p; p = p->next, n++)
            plain &= !p->by.text;
        if (plain && n == arity) return s->fns.data[i]->name.text;
    }
    return NULL;
}

static const char *some_reducer(const sema *s, uint32_t arity) {
    for (uint32_t i = 0; arity > 1 && i < s->reducers.len; i++) {
        uint32_t n = 0;
        for (const ast_names *p = s->reducers.data[i]->names; p; p = p->next) n++;
        if (n == arity) return s->reducers.data[i]->name.text;
    }
    return arity > 1 ? NULL : intern(s->names, "sum");
}

// What a generic is bound to where only names matter.
static const char *some_value(const sema *s, const ast_item *op, const ast_generic *g) {
    const char *kind = g->kind.text ? g->kind.text : "float", *given = sema_define(s, g->name.text);
    if (given) return intern(s->names, given);
    if (!strcmp(kind, "fn")) return some_function(s, arity_of(op, g->name.text));
    if (!strcmp(kind, "reducer")) return some_reducer(s, arity_of(op, g->name.text));
    return intern(s->names, !strcmp(kind, "size") ? "3" : !strcmp(kind, "int") ? "i32" : "f32");
}

static bool some_names(const sema *s, const ast_item *op, const ast_names **out) {
    ast_names *first = NULL, **end = &first;
    for (const ast_generic *g = op->generics; g; g = g->next) {
        ast_names *n = ARENA_NEW(s->arena, ast_names);
        n->name = (ast_name){some_value(s, op, g), g->name.at};
        if (!n->name.text) return false;
        *end = n;
        end = &n->next;
    }
    *out = first;
    return true;
}

tensor_op *sema_lower_quietly(const sema *s, const ast_item *item) {
    sema quiet = *s;
    quiet.ds = diag_set_new(s->arena, diag_sources(s->ds));
    const ast_names *names = sema_alias_names(item);
    for (uint32_t i = 0; sema_generic_left(s, item, true) && i < s->ops.len && !names; i++)
        if (s->ops.data[i]->kind == AST_OP_ALIAS && s->ops.data[i]->target.text == item->name.text)
            names = s->ops.data[i]->names;
    if (!names && !some_names(s, item, &names)) return NULL;
    tensor_op *op = sema_lower(&quiet, item, names, true, "");
    if (op) sema_normalise(s, op);
    return op;
}
