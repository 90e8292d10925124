// The space of each index: found where the index stands (an axis, a map's argument, a comparison
// with an index), before anything is lowered. A walk over the syntax that follows function
// arguments to where they were written; repeated until nothing new is learnt, as a comparison may
// come before the place that tells.
#include "sema_lower.h"

enum { MAX_STEPS = 50000, MAX_DEPTH = 1500 };
static const inferred nothing = {NULL, TENSOR_NO_SPACE};

static void learn(lowering *L, index_info *i, tensor_space s, span at) {
    if (i->space != TENSOR_NO_SPACE || s == TENSOR_NO_SPACE) return;
    i->space = s;
    i->found_at = at;
    if (!i->temporary) L->infer.changed = true;
}

static void learn_each_other(lowering *L, inferred a, inferred b, span at) {
    if (a.index && b.space != TENSOR_NO_SPACE) learn(L, a.index, b.space, at);
    if (b.index && a.space != TENSOR_NO_SPACE) learn(L, b.index, a.space, at);
}

static inferred infer_expr(lowering *L, const scope *s, const ast_expr *e);

static inferred infer_closure(lowering *L, closure *c) {
    // What an argument tells the indices in it does not depend on where it is used, so once a round
    // is enough; but what it is itself does matter to each use.
    if (c->inferred_in == L->infer.round && c->expr->kind != AST_NAME && c->expr->kind != AST_REF)
        return c->inferred;
    const expansion *active = L->expanded.active;
    c->inferred_in = L->infer.round;
    L->expanded.active = c->active;
    c->inferred = infer_expr(L, c->scope, c->expr);
    L->expanded.active = active;
    return c->inferred;
}

static inferred infer_name(lowering *L, const scope *s, const ast_expr *e) {
    const entity *n = scope_find(s, e->name.text);
    if (!n) return nothing;
    if (n->kind == ENT_INDEX) return (inferred){n->index, n->index->space};
    if (n->kind == ENT_CLOSURE) return infer_closure(L, n->closure);
    if (n->kind == ENT_ARG || n->kind == ENT_STATE || n->kind == ENT_OUTCOME)
        return (inferred){NULL, n->type.space};
    return nothing;
}

static inferred infer_value_ref(lowering *L, const scope *s, const ast_expr *e, tensor_val val) {
    uint32_t k = 0;
    for (const ast_expr *a = e->args; a; a = a->next, k++) {
        inferred i = infer_expr(L, s, a);
        const tensor_val_info *v = &L->op->vals.data[val];
        if (i.index && k < v->rank) learn(L, i.index, v->axes[k], a->at);
    }
    const tensor_val_info *v = &L->op->vals.data[val];
    return (inferred){NULL, v->type == DT_INDEX ? v->into : TENSOR_NO_SPACE};
}

static inferred infer_ref(lowering *L, const scope *s, const ast_expr *e) {
    const entity *n = sema_resolve(L, s, e->name.text);
    if (n && n->kind == ENT_VALUE) return infer_value_ref(L, s, e, n->val);
    if (n && n->kind == ENT_IDENTITY && e->args) {
        inferred i = infer_expr(L, s, e->args);
        if (i.index) learn(L, i.index, n->space, e->args->at);
        return (inferred){i.index, n->space};
    }
    for (const ast_expr *a = e->args; a; a = a->next) infer_expr(L, s, a);
    return nothing;
}

static inferred infer_fn(lowering *L, const scope *s, const ast_expr *e, const ast_item *fn) {
    if (expanding(L, fn) || ++L->infer.steps > MAX_STEPS) return nothing;   // reported when lowered
    scope inner = {0};
    const ast_expr *a = e->args;
    for (const ast_fn_param *p = fn->fn_params; p && a; p = p->next, a = a->next) {
        closure *c = closure_new(L, s, a);
        scope_add(L->arena, &inner,
                  (entity){.kind = ENT_CLOSURE, .name = p->name.text, .closure = c});
        if (a->how != AST_PLAIN) infer_expr(L, s, a);
    }
    const expansion *outer = expand(L, fn);
    inferred r = infer_expr(L, &inner, fn->body);
    L->expanded.active = outer;
    return r;
}

static inferred infer_call(lowering *L, const scope *s, const ast_expr *e) {
    const entity *n = scope_find(s, e->name.text);
    if (n && n->kind == ENT_FN) return infer_fn(L, s, e, n->item);
    const ast_item *fn =
        n ? NULL : sema_visible(L->s, L->s->fns.data, L->s->fns.len, e->name.text, e->name.at);
    if (fn) return infer_fn(L, s, e, fn);
    inferred r = nothing;
    for (const ast_expr *a = e->args; a; a = a->next) {
        inferred i = infer_expr(L, s, a);
        learn_each_other(L, r, i, a->at);
        if (a == e->args) r = i;
    }
    return r.space != TENSOR_NO_SPACE && e->args && e->args->next ? (inferred){NULL, r.space}
                                                                  // min, max of indices
                                                                  : nothing;
}

static inferred infer_reduce(lowering *L, const scope *s, const ast_expr *e) {
    scope inner = {.parent = s};
    for (const ast_binder *b = e->binders; b; b = b->next) {
        index_info *i = ARENA_NEW(L->arena, index_info);
        *i = (index_info){
            .name = b->name.text, .at = b->name.at, .space = TENSOR_NO_SPACE, .temporary = true};
        if (b->in && b->in->kind == AST_NAME) {
            const entity *n = sema_resolve(L, s, b->in->name.text);
            if (n && n->kind == ENT_SPACE) i->space = n->space;
        }
        scope_add(L->arena, &inner, (entity){.kind = ENT_INDEX, .name = b->name.text, .index = i});
    }
    // Twice, as a comparison may come before the place that tells; nested ones would take 2^depth
    // steps.
    for (int round = 0; round < 2 && (round == 0 || ++L->infer.steps < MAX_STEPS); round++) {
        if (e->guard) infer_expr(L, &inner, e->guard);
        infer_expr(L, &inner, e->body);
    }
    if (e->orelse) infer_expr(L, s, e->orelse);
    return nothing;
}

static inferred infer_kind(lowering *L, const scope *s, const ast_expr *e) {
    inferred a, b;
    switch (e->kind) {
    case AST_NUMBER:
    case AST_PRIMED: return nothing;
    case AST_NAME: return infer_name(L, s, e);
    case AST_REF: return infer_ref(L, s, e);
    case AST_CALL: return infer_call(L, s, e);
    case AST_REDUCE: return infer_reduce(L, s, e);
    case AST_PAREN: return infer_expr(L, s, e->args);
    case AST_EQ:
    case AST_NE:
    case AST_LT:
    case AST_LE:
    case AST_GT:
    case AST_GE:
        a = infer_expr(L, s, e->args);
        b = infer_expr(L, s, e->args->next);
        learn_each_other(L, a, b, e->at);
        return nothing;
    case AST_COND:
        infer_expr(L, s, e->args);
        a = infer_expr(L, s, e->args->next);
        b = infer_expr(L, s, e->args->next->next);
        learn_each_other(L, a, b, e->at);
        return (inferred){NULL, a.space != TENSOR_NO_SPACE ? a.space : b.space};
    case AST_TUPLE:
    case AST_NEG:
    case AST_NOT:
    case AST_ADD:
    case AST_SUB:
    case AST_MUL:
    case AST_DIV:
    case AST_MOD:
    case AST_AND:
    case AST_OR:
        for (const ast_expr *x = e->args; x; x = x->next) infer_expr(L, s, x);
        return nothing;
    }
    return nothing;
}

static inferred infer_expr(lowering *L, const scope *s, const ast_expr *e) {
    if (L->expanded.depth == MAX_DEPTH) return nothing;   // lowering reports it
    L->expanded.depth++;
    inferred i = infer_kind(L, s, e);
    L->expanded.depth--;
    return i;
}

void infer_fix(lowering *L, const scope *s, const ast_expr *const *exprs, uint32_t n) {
    do {
        L->infer.round++;
        L->infer.changed = false;
        for (uint32_t i = 0; i < n; i++)
            if (exprs[i]) infer_expr(L, s, exprs[i]);
    } while (L->infer.changed);
}

bool infer_index_known(lowering *L, index_info *i) {
    if (i->space != TENSOR_NO_SPACE) return true;
    diagnostic *d = diag(L->ds, E0301, i->at, "nothing tells which space '%s' runs over", i->name);
    diag_help(
        d,
        "use it as the index of a tensor or map, compare it with a map's value, or say '%s in SPACE', in a reduction's braces or "
        "behind the equation's 'for'",
        i->name);
    return false;
}
