// Scopes: what names stand for, innermost first.
#include "sema_lower.h"
#include <string.h>

// Names are interned: their addresses tell them apart.
static uint32_t slot_of(const scope *s, const char *name) {
    uint32_t i = (uint32_t)((uintptr_t)name * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (s->slots - 1);
    while (s->table[i] && s->table[i]->name != name) i = (i + 1) & (s->slots - 1);
    return i;
}

static void index_entity(arena *a, scope *s, entity *e) {
    enum { FEW = 16 };
    if (++s->count > FEW && s->count > s->slots / 2) {
        s->slots = s->slots ? s->slots * 2 : 4 * FEW;
        s->table = ARENA_ARRAY(a, entity *, s->slots);
        for (entity *old = s->first; old; old = old->next) {
            uint32_t i = slot_of(s, old->name);
            if (!s->table[i]) s->table[i] = old;
        }
    } else if (s->table) {
        s->table[slot_of(s, e->name)] = e;
    }
}

entity *scope_add(arena *a, scope *s, entity e) {
    entity *new = ARENA_NEW(a, entity);
    *new = e;
    new->next = s->first;
    s->first = new;
    index_entity(a, s, new);
    return new;
}

entity *scope_own(const scope *s, const char *name) {
    entity *e = s->table ? s->table[slot_of(s, name)] : s->first;
    while (e && e->name != name) e = e->next;
    return e;
}

const entity *scope_find(const scope *s, const char *name) {
    const entity *e = NULL;
    for (; s && !e; s = s->parent) e = scope_own(s, name);
    return e;
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
    for (const expansion *x = L->expanded.active; x; x = x->outer)
        if (x->item == item) return true;
    return false;
}

const expansion *expand(lowering *L, const ast_item *item) {
    const expansion *outer = L->expanded.active;
    expansion *x = ARENA_NEW(L->arena, expansion);
    *x = (expansion){item, outer};
    L->expanded.active = x;
    return outer;
}

closure *closure_new(lowering *L, const scope *s, const ast_expr *e) {
    closure *c = ARENA_NEW(L->arena, closure);
    *c = (closure){
        .expr = e, .scope = s, .active = L->expanded.active, .inferred = {NULL, TENSOR_NO_SPACE}};
    return c;
}

const ast_item *sema_find(const ast_item *const *items, uint32_t n, const char *name) {
    for (uint32_t i = n; i-- > 0;)   // the last one: a file's own names hide what it imports
        if (items[i]->name.text == name) return items[i];
    return NULL;
}

// How many imports lead from one file to another; UINT32_MAX: none do. The prelude is furthest of
// all.
static uint32_t import_distance(const sema *s, const char *from, const char *to) {
    VEC(const char *) reached = {0};
    VEC_PUSH(s->arena, &reached, from);
    for (uint32_t distance = 0, first = 0, end = 1; first < end; distance++) {
        for (; first < end; first++) {
            if (!strcmp(reached.data[first], to)) return distance;
            for (uint32_t i = 0; i < s->imports.len; i++) {
                bool next = !strcmp(s->imports.data[i].from, reached.data[first]);
                for (uint32_t k = 0; k < reached.len && next; k++)
                    next = strcmp(s->imports.data[i].to, reached.data[k]) != 0;
                if (next) VEC_PUSH(s->arena, &reached, s->imports.data[i].to);
            }
        }
        end = reached.len;
    }
    return s->files.len && !strcmp(s->files.data[0]->source->path, to) ? UINT32_MAX - 1
                                                                       : UINT32_MAX;
}

const ast_item *sema_visible(const sema *s, const ast_item *const *items, uint32_t n,
                             const char *name, span use) {
    const ast_item *found = NULL;
    const source_file *from = use.hi ? source_map_file(diag_sources(s->ds), use.lo) : s->main;
    uint32_t near = UINT32_MAX;
    for (uint32_t i = n; i-- > 0;) {
        if (items[i]->name.text != name) continue;
        const source_file *at = source_map_file(diag_sources(s->ds), items[i]->name.at.lo);
        uint32_t distance = from && at ? import_distance(s, from->path, at->path) : UINT32_MAX;
        if (!found || distance < near) found = items[i], near = distance;
    }
    return found;
}

const char *sema_define(const sema *s, const char *name) {
    const char *found = NULL;
    for (uint32_t i = 0; i < s->options.ndefines; i++)
        if (intern(s->names, s->options.defines[i].name) == name) {
            found = s->options.defines[i].value;
            s->defines_used[i] = true;
        }
    return found;
}

const char *frontend_unused_define(const frontend_unit *u, uint32_t *at) {
    const sema *s = u->sema;
    while (*at < s->options.ndefines)
        if (!s->defines_used[(*at)++]) return s->options.defines[*at - 1].name;
    return NULL;
}

bool sema_size(const char *text, int64_t *out) {
    *out = 0;
    for (const char *c = text; *c; c++)
        if (*c < '0' || *c > '9' || __builtin_mul_overflow(*out, 10, out) ||
            __builtin_add_overflow(*out, *c - '0', out))
            return false;
    return *text != 0;
}

bool sema_dtype(const char *name, ir_dtype *out) {
    for (ir_dtype t = DT_F64; t < DT_INDEX; t++) {
        const char *text = ir_dtype_text(t), *n = name;
        while (*text && *text == *n) text++, n++;
        if (*text == *n) return *out = t, true;
    }
    return false;
}

const ast_item *sema_op_body(const sema *s, const ast_item *item) {
    return item->kind == AST_OP_ALIAS
               ? sema_visible(s, s->ops.data, s->ops.len, item->target.text, item->target.at)
               : item;
}

// A size, function or reducer that nothing binds keeps an op a template.
bool sema_generic_left(const sema *s, const ast_item *item, bool sizes_too) {
    const ast_item *op = sema_op_body(s, item);
    const ast_names *given = item->kind == AST_OP_ALIAS ? item->names : NULL;
    for (const ast_generic *g = op && op->kind == AST_OP ? op->generics : NULL; g;
         g = g->next, given = given ? given->next : NULL) {
        const char *kind = g->kind.text ? g->kind.text : "float";
        bool value = !strcmp(kind, "fn") || !strcmp(kind, "reducer") ||
                     (sizes_too && !strcmp(kind, "size"));
        if (value && !given && !sema_define(s, g->name.text)) return true;
    }
    return false;
}

const ast_names *sema_alias_names(const ast_item *item) {
    return item->kind == AST_OP_ALIAS ? item->names : NULL;
}
