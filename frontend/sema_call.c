// An op called in an equation is inlined: its parameters stand for the caller's values, its spaces
// for theirs, and its equations become stages of the caller, named after the call's first target.
#include "sema_equation.h"
#include <string.h>

typedef struct {
    lowering *L;
    const equations *caller;
    const ast_item *op;
    const ast_expr *call;
    scope *inner;
    bool late;   // identity maps wait until other arguments have told their space
    bool ok;
} call;

static diagnostic *fail_at(call *c, span at, const ast_param *p, const char *what) {
    diagnostic *d = diag(c->L->ds, E0430, at, "%s", what);
    diag_note(d, p->at, "parameter '%s' of '%s' is declared here", p->name.text, c->op->name.text);
    c->ok = false;
    return d;
}

// ---- Spaces -------------------------------------------------------------------------------------
static void unify_space(call *c, const ast_expr *axis, tensor_space actual, span at,
                        const ast_param *p) {
    if (axis->kind == AST_NAME) {
        const entity *e = scope_find(c->inner, axis->name.text);
        if (!e) {
            scope_add(
                c->L->arena, c->inner,
                (entity){.kind = ENT_SPACE, .name = axis->name.text, .at = at, .space = actual});
            return;
        }
        if (e->kind == ENT_SPACE && e->space == actual) return;
        fail_at(c, at, p,
                arena_printf(c->L->arena, "'%s' is %s in this call and %s here", axis->name.text,
                             e->kind == ENT_SPACE ? space_name(c->L, e->space) : "no space",
                             space_name(c->L, actual)));
        return;
    }
    tensor_space want;
    if (!space_of_axis(c->L, c->inner, axis, false, &want)) {
        c->ok = false;
        return;
    }
    if (want != actual)
        fail_at(c, at, p,
                arena_printf(c->L->arena, "an axis of %s is wanted, and this one is %s",
                             space_name(c->L, want), space_name(c->L, actual)));
}

static void unify_axes(call *c, const ast_param *p, const tensor_val_info *v, span at) {
    uint32_t n = 0;
    for (const ast_expr *a = p->type->axes; a; a = a->next) n++;
    if (n != v->rank) {
        fail_at(
            c, at, p,
            arena_printf(c->L->arena, "'%s' has %u axes, and %u are wanted", v->name, v->rank, n));
        return;
    }
    uint32_t k = 0;
    for (const ast_expr *a = p->type->axes; a; a = a->next, k++)
        unify_space(c, a, v->axes[k], at, p);
}

// ---- Arguments ----------------------------------------------------------------------------------
static uint32_t wanted_facts(const ast_param *p) {
    static const struct {
        const char *name;
        uint32_t fact;
    } all[] = {{"sorted", FACT_SORTED},
               {"unique", FACT_UNIQUE},
               {"partial", FACT_PARTIAL},
               {"prefix", FACT_PREFIX}};
    uint32_t facts = 0;
    for (const ast_fact *f = p->facts; f; f = f->next)
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            if (!strcmp(f->name.text, all[i].name)) facts |= all[i].fact;
    return facts;
}

static void check_facts(call *c, const ast_param *p, const tensor_val_info *v, span at) {
    uint32_t want = wanted_facts(p), need = want & (FACT_SORTED | FACT_UNIQUE | FACT_PREFIX);
    if ((v->facts & need) != need)
        fail_at(c, at, p,
                arena_printf(c->L->arena, "'%s' is not declared %s, which '%s' needs", v->name,
                             need & ~v->facts & FACT_SORTED   ? "sorted"
                             : need & ~v->facts & FACT_UNIQUE ? "unique"
                                                              : "prefix",
                             c->op->name.text));
    else if ((v->facts & FACT_PARTIAL) && !(want & FACT_PARTIAL))
        fail_at(c, at, p,
                arena_printf(c->L->arena, "'%s' may hold none, and '%s' takes no partial map here",
                             v->name, c->op->name.text));
}

static void bind_identity(call *c, const ast_param *p, span at) {
    const ast_expr *from = p->type->axes;
    const entity *a = from->kind == AST_NAME ? scope_find(c->inner, from->name.text) : NULL,
                 *b = scope_find(c->inner, p->type->element.text);
    const entity *known = a ? a : b;
    if (!known || known->kind != ENT_SPACE || from->next) {
        fail_at(c, at, p, "nothing else in this call tells the space that 'id' maps to itself");
        return;
    }
    ast_expr into = {.kind = AST_NAME, .at = at, .name = p->type->element};
    tensor_space s = known->space;
    unify_space(c, from, s, at, p);
    unify_space(c, &into, s, at, p);
    scope_add(c->L->arena, c->inner,
              (entity){.kind = ENT_IDENTITY, .name = p->name.text, .at = at, .space = s});
}

static void bind_map(call *c, const ast_param *p, const ast_expr *arg, tensor_val val) {
    const tensor_val_info *v = &c->L->op->vals.data[val];
    ast_expr into = {.kind = AST_NAME, .at = arg->at, .name = p->type->element};
    if (v->type != DT_INDEX) {
        fail_at(c, arg->at, p, arena_printf(c->L->arena, "'%s' is not a map", v->name));
        return;
    }
    check_facts(c, p, v, arg->at);
    unify_axes(c, p, v, arg->at);
    unify_space(c, &into, v->into, arg->at, p);
    scope_add(c->L->arena, c->inner,
              (entity){.kind = ENT_VALUE, .name = p->name.text, .at = arg->at, .val = val});
}

static const char *type_kind(ir_dtype t) {
    return ir_dtype_is_float(t) ? "floats" : t == DT_BOOL ? "conditions" : "integers";
}

// The first argument of a generic type binds it. Widths may differ, as an op called rounds nothing;
// kinds may not.
static void bind_type(call *c, const ast_param *p, const tensor_val_info *v, span at) {
    ir_dtype want = v->type;
    const char *name = p->type->element.text;
    const entity *bound = scope_find(c->inner, name);
    if (bound && bound->kind == ENT_DTYPE) want = bound->dtype;
    else if (!sema_dtype(name, &want))
        for (const ast_generic *g = c->op->generics; g; g = g->next) {
            if (g->name.text != name) continue;
            bool floats = !g->kind.text || !strcmp(g->kind.text, "float");
            want = floats ? DT_F32 : DT_I64;
            if (floats == ir_dtype_is_float(v->type) && v->type != DT_BOOL)
                generic_bind(c->L, c->inner, g, intern(c->L->s->names, ir_dtype_text(v->type)),
                             p->at);
        }
    if (!strcmp(type_kind(want), type_kind(v->type))) return;
    diagnostic *d = fail_at(c, at, p,
                            arena_printf(c->L->arena, "'%s' holds %s, and %s are wanted", v->name,
                                         type_kind(v->type), type_kind(want)));
    if (v->role == VAL_STAGE && v->type == DT_I64 && ir_dtype_is_float(want))
        diag_help(
            d, "what is made of whole numbers alone holds integers: f32(…) makes floats of them");
}

static void bind_tensor(call *c, const ast_param *p, const ast_expr *arg, tensor_val val) {
    const tensor_val_info *v = &c->L->op->vals.data[val];
    if (v->type == DT_INDEX || v->role == VAL_SCALAR) {
        fail_at(c, arg->at, p, arena_printf(c->L->arena, "'%s' is not a tensor", v->name));
        return;
    }
    bind_type(c, p, v, arg->at);
    unify_axes(c, p, v, arg->at);
    scope_add(c->L->arena, c->inner,
              (entity){.kind = ENT_VALUE, .name = p->name.text, .at = arg->at, .val = val});
}

// A scalar argument is an expression of the parameter's kind; a whole number serves as a real one.
static void bind_scalar(call *c, const ast_param *p, const ast_expr *arg) {
    const equations *q = c->caller;
    ir_dtype want;
    const entity *bound = scope_find(c->inner, p->type->element.text);
    bool known = bound ? bound->kind == ENT_DTYPE && (want = bound->dtype, true)
                       : sema_dtype(p->type->element.text, &want);
    value v = lower_expr(c->L, q->scope, arg);
    ir_dtype have = value_type(c->L, v).type;
    if (v.kind == VALUE_BAD || v.kind == VALUE_NONE) c->ok = false;
    else if (known && strcmp(type_kind(want), type_kind(have)) != 0 &&
             !(ir_dtype_is_float(want) && have == DT_I64))
        fail_at(c, arg->at, p,
                arena_printf(c->L->arena, "%s are wanted, and this is one of the %s",
                             type_kind(want), type_kind(have)));
    scope_add(c->L->arena, c->inner,
              (entity){.kind = ENT_CLOSURE,
                       .name = p->name.text,
                       .at = arg->at,
                       .closure = closure_new(c->L, q->scope, arg)});
}

static void bind_argument(call *c, const ast_param *p, const ast_expr *arg) {
    const entity *e = arg->kind == AST_NAME ? sema_resolve(c->L, c->caller->scope, arg->name.text)
                                            : NULL;
    bool identity = arg->kind == AST_NAME &&
                    (e ? e->kind == ENT_IDENTITY : !strcmp(arg->name.text, "id"));
    if (p->type->kind == AST_MAP && identity) {
        if (c->late) bind_identity(c, p, arg->at);
        return;
    }
    if (c->late) return;
    if (e && e->kind == ENT_ERROR) {   // reported where it failed
        c->ok = false;
        return;
    }
    if (p->type->kind == AST_SCALAR) {
        bind_scalar(c, p, arg);
    } else if (!e || e->kind != ENT_VALUE) {
        fail_at(c, arg->at, p, "the name of a map or tensor is wanted here");
    } else {
        (p->type->kind == AST_MAP ? bind_map : bind_tensor)(c, p, arg, e->val);
    }
}

static void bind_arguments(call *c) {
    uint32_t want = 0, given = 0;
    for (const ast_param *p = c->op->params; p; p = p->next) want++;
    for (const ast_expr *a = c->call->args; a; a = a->next) given++;
    if (want != given) {
        diagnostic *d = diag(c->L->ds, E0205, c->call->at,
                             "'%s' takes %u arguments, and is given %u", c->op->name.text, want,
                             given);
        diag_note(d, c->op->name.at, "'%s' is declared here", c->op->name.text);
        c->ok = false;
        return;
    }
    for (int late = 0; late < 2 && c->ok; late++) {
        c->late = late;
        const ast_expr *a = c->call->args;
        for (const ast_param *p = c->op->params; p; p = p->next, a = a->next)
            bind_argument(c, p, a);
    }
}

// A generic of the caller may stand for one of the called op: gsddmm<phi> inside an op generic in
// phi.
static bool bind_passed_on(call *c, const ast_generic *g, ast_name name) {
    static const struct {
        const char *kind;
        entity_kind entity;
    } kinds[] = {{"float", ENT_DTYPE},
                 {"int", ENT_DTYPE},
                 {"size", ENT_SPACE},
                 {"fn", ENT_FN},
                 {"reducer", ENT_REDUCER}};
    const entity *e = sema_resolve(c->L, c->caller->scope, name.text);
    for (size_t i = 0; e && i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(g->kind.text ? g->kind.text : "float", kinds[i].kind) != 0 ||
            e->kind != kinds[i].entity)
            continue;
        if (e->kind == ENT_DTYPE && ir_dtype_is_float(e->dtype) != !strcmp(kinds[i].kind, "float"))
            continue;
        entity *passed = scope_add(c->L->arena, c->inner, *e);
        passed->name = g->name.text;
        return true;
    }
    return false;
}

static void bind_generics(call *c, const ast_names *names) {
    for (const ast_generic *g = c->op->generics; g && names; g = g->next, names = names->next)
        if (!bind_passed_on(c, g, names->name))
            c->ok &= generic_bind(c->L, c->inner, g, names->name.text, names->name.at);
}

static void check_generics(call *c) {
    for (const ast_generic *g = c->op->generics; g && c->ok; g = g->next)
        if (!scope_find(c->inner, g->name.text)) {
            bool type = !g->kind.text || !strcmp(g->kind.text, "float") ||
                        !strcmp(g->kind.text, "int");
            if (type) continue;   // stands in casts alone, which then meet no such name
            diagnostic *d = diag(c->L->ds, E0605, c->call->at,
                                 "'%s' of '%s' is not told by this call", g->name.text,
                                 c->op->name.text);
            diag_help(d, "name it: … = %s<…>(…)", c->op->name.text);
            c->ok = false;
        }
}

// ---- Results ------------------------------------------------------------------------------------
static void declare_result(call *c, equations *q, const ast_param *r, const ast_expr *target) {
    uint32_t n = 0, k = 0;
    for (const ast_expr *a = r->type->axes; a; a = a->next) n++;
    tensor_space *axes = ARENA_ARRAY(c->L->arena, tensor_space, n + 1);
    for (const ast_expr *a = r->type->axes; a; a = a->next, k++)
        if (!space_of_axis(c->L, c->inner, a, true, &axes[k])) {
            c->ok = false;
            return;
        }
    const char *name = target->name.text;   // of an op that is called twice, the same twice
    declared d = {.name = r->name.text,
                  .target = c->caller->prefix ? free_name(c->L, name) : name,
                  .val = TENSOR_NO_VAL,
                  .has_axes = true,
                  .rank = n,
                  .axes = axes,
                  .at = target->at};
    const entity *old = scope_find(c->caller->scope, target->name.text);
    for (uint32_t i = 0; i < c->caller->results.len; i++)
        if (c->caller->results.data[i].name == target->name.text) {
            d.val = c->caller->results.data[i].val;
            d.target = c->caller->results.data[i].target;
        }
    if (old && old->kind == ENT_VALUE) d.val = old->val;
    if (d.val != TENSOR_NO_VAL) {
        const tensor_val_info *v = &c->L->op->vals.data[d.val];
        if ((v->role != VAL_RESULT && v->role != VAL_STAGE) || v->rank != n ||
            memcmp(v->axes, axes, n * sizeof *axes)) {
            diagnostic *x = diag(c->L->ds, E0431, target->at,
                                 "'%s' does not have the axes of the result '%s'",
                                 target->name.text, r->name.text);
            diag_note(x, r->at, "'%s' is declared here", r->name.text);
            c->ok = false;
        }
    }
    VEC_PUSH(c->L->arena, &q->results, d);
}

static void declare_results(call *c, equations *q, const ast_equation *eq) {
    const ast_expr *t = eq->targets;
    for (const ast_param *r = c->op->results; r && t; r = r->next, t = t->next)
        declare_result(c, q, r, t);
    const ast_param *r = c->op->results;
    for (t = eq->targets; r && t; t = t->next) r = r->next;
    if (r || t) {
        diag(c->L->ds, E0417, eq->at, "the number of targets is not the number of results of '%s'",
             c->op->name.text);
        c->ok = false;
    }
}

static void publish_results(call *c, const equations *q, equations *caller,
                            const ast_equation *eq) {
    const ast_expr *t = eq->targets;
    for (uint32_t i = 0; i < q->results.len && t; i++, t = t->next) {
        if (q->results.data[i].val == TENSOR_NO_VAL) continue;
        if (!scope_find(caller->scope, t->name.text))
            scope_add(c->L->arena, caller->scope,
                      (entity){.kind = ENT_VALUE,
                               .name = t->name.text,
                               .at = t->at,
                               .val = q->results.data[i].val});
        for (uint32_t k = 0; k < caller->results.len; k++)
            if (caller->results.data[k].name == t->name.text)
                caller->results.data[k].val = q->results.data[i].val;
    }
}

static bool lower_called(lowering *L, equations *q, const ast_equation *eq) {
    const ast_item *op = sema_visible(L->s, L->s->ops.data, L->s->ops.len, eq->value->name.text,
                                      eq->value->name.at),
                   *alias = NULL;
    if (op && op->kind == AST_OP_ALIAS)
        alias = op, op = sema_visible(L->s, L->s->ops.data, L->s->ops.len, alias->target.text,
                                      alias->target.at);
    if (!op || op->kind != AST_OP) {
        diagnostic *d = diag(L->ds, E0204, eq->value->name.at, "there is no op '%s'",
                             eq->value->name.text);
        const char *name = eq->value->name.text, *file = library_with_op(L->arena, name);
        if (foreign_help(d, FOREIGN_EXPRESSION, name)) return false;
        if (file) diag_help(d, "the library has one: import \"%s\";", file);
        else if (!suggest_item(L->s, d, eq->value->name, L->s->ops.data, L->s->ops.len, NULL))
            diag_help(
                d, "an equation has indices on its left: %s[…] = …; without them an op is called",
                eq->targets->name.text);
        return false;
    }
    if (expanding(L, op)) {
        diag(L->ds, E0206, eq->value->at,
             "op '%s' calls itself: ops are inlined, so they cannot recur", op->name.text);
        return false;
    }
    if (++L->expanded.calls > MOST_CALLS) {
        if (L->expanded.calls == MOST_CALLS + 1)
            diag_help(
                diag(L->ds, E0207, eq->value->at,
                     "ops that call ops expand to too much here (over %d calls)", MOST_CALLS),
                "an op that is called twice is there twice: make ops of their own of parts, each launched by itself");
        return false;
    }
    scope inner = {0};
    call c = {.L = L, .caller = q, .op = op, .call = eq->value, .inner = &inner, .ok = true};
    bind_generics(&c, alias ? alias->names : eq->generics);
    if (c.ok) bind_arguments(&c);
    if (c.ok) check_generics(&c);
    equations callee = {
        .scope = &inner,
        .op = op,
        .prefix = q->prefix ? arena_printf(L->arena, "%s.%s", q->prefix, eq->targets->name.text)
                            : eq->targets->name.text};
    if (c.ok) declare_results(&c, &callee, eq);
    if (!c.ok) return false;
    uint32_t mark = diag_mark(L->ds);
    signature_require(L, &inner, op);
    const expansion *outer = expand(L, op);
    equations_lower(L, &callee);
    diag_note_use(L->ds, mark, op->at, eq->at, op->name.text);
    L->expanded.active = outer;
    publish_results(&c, &callee, q, eq);
    return true;
}

// What a call that failed should have given is not missed again where it is read.
void call_lower(lowering *L, equations *q, const ast_equation *eq) {
    if (lower_called(L, q, eq) && L->expanded.calls <= MOST_CALLS) return;
    for (const ast_expr *t = eq->targets; t; t = t->next)
        if (!scope_find(q->scope, t->name.text))
            scope_add(L->arena, q->scope,
                      (entity){.kind = ENT_ERROR, .name = t->name.text, .at = t->at});
}
