// Equations: targets, their indices and spaces, and the stages they become.
#include "sema_equation.h"
#include <string.h>

enum { MAX_POSITION = INT32_MAX };   // that a target names; others could not all be filled

// ---- Targets ------------------------------------------------------------------------------------
typedef struct {   // one equation while it is lowered
    equations *q;
    const ast_equation *eq;
    scope scope;
    VEC(index_info *) left;
    index_info *step;   // of a recurrence
    int64_t offset;     // z[t + offset]
    VEC(tensor_val) vals;
    VEC(definition) defs;
} equation;

static declared *find_declared(equations *q, const char *name) {
    for (uint32_t i = 0; i < q->results.len; i++)
        if (q->results.data[i].name == name) return &q->results.data[i];
    return NULL;
}

static const ast_binder *find_binder(const ast_equation *eq, const char *name) {
    for (const ast_binder *b = eq->binders; b; b = b->next)
        if (b->name.text == name) return b;
    return NULL;
}

// "t + 2" in a target: the step and its offset.
static bool step_form(const ast_expr *e, const ast_expr **name, int64_t *offset) {
    if (e->kind != AST_ADD) return false;
    const ast_expr *a = e->args, *b = a->next;
    if (a->kind == AST_NUMBER) {
        const ast_expr *t = a;
        a = b, b = t;
    }
    if (a->kind != AST_NAME || b->kind != AST_NUMBER || !b->is_integer || b->integer < 1 ||
        b->integer > MAX_POSITION)
        return false;
    *name = a;
    *offset = b->integer;
    return true;
}

static bool refuse_scatter(lowering *L, const ast_expr *target, const ast_expr *at) {
    diagnostic *d = diag(L->ds, E0403, at->at,
                         "a target's index is a variable or a number; this would be a scatter");
    if (at->kind == AST_REF) {
        textbuf m = textbuf_new(L->arena);
        ast_print_expr(&m, at);
        diag_help(d, "write the sum that gathers: %s[i] = sum{… : %s == i} …", target->name.text,
                  m.data);
    }
    return false;
}

static index_info *add_left(lowering *L, equation *x, ast_name name) {
    for (uint32_t i = 0; i < x->left.len; i++)
        if (x->left.data[i]->name == name.text) return x->left.data[i];
    const entity *old = scope_find(x->q->scope, name.text);
    if (old) {
        diagnostic *d = diag(L->ds, E0202, name.at, "index '%s' already names something in this op",
                             name.text);
        if (old->at.hi) diag_note(d, old->at, "this");
        return NULL;
    }
    index_info *i = ARENA_NEW(L->arena, index_info);
    *i = (index_info){.name = name.text, .at = name.at, .space = TENSOR_NO_SPACE};
    const ast_binder *b = find_binder(x->eq, name.text);
    if (b && b->in && !space_of_axis(L, x->q->scope, b->in, false, &i->space)) return NULL;
    VEC_PUSH(L->arena, &x->left, i);
    scope_add(L->arena, &x->scope,
              (entity){.kind = ENT_INDEX, .name = name.text, .at = name.at, .index = i});
    return i;
}

static bool target_step(lowering *L, equation *x, const ast_expr *name, int64_t offset,
                        const ast_expr *at) {
    const ast_binder *b = find_binder(x->eq, name->name.text);
    if (!b || !b->in) {
        diagnostic *d = diag(L->ds, E0404, at->at, "a recurrence says over what it runs");
        diag_help(d, "end the equation with 'for %s in SIZE'", name->name.text);
        return false;
    }
    if (x->step) return diag(L->ds, E0404, at->at, "a recurrence has one step"), false;
    x->step = add_left(L, x, name->name);
    x->offset = offset;
    return x->step != NULL;
}

// The positions of one target: distinct variables, numbers, a step.
static bool target_positions(lowering *L, equation *x, const ast_expr *target, definition *def) {
    uint32_t n = 0;
    for (const ast_expr *a = target->args; a; a = a->next) n++;
    if (n > 8)
        return diag(L->ds, E0313, target->at, "'%s' has %u indices, and a value at most 8",
                    target->name.text, n),
               false;
    int64_t *literals = ARENA_ARRAY(L->arena, int64_t, n + 1);
    uint32_t k = 0;
    for (const ast_expr *a = target->args; a; a = a->next, k++) {
        const ast_expr *name;
        int64_t offset;
        if (a->kind == AST_NUMBER && a->is_integer) {
            if (a->integer > MAX_POSITION)
                return diag(L->ds, E0308, a->at, "%lld is no position of an axis",
                            (long long)a->integer),
                       false;
            literals[k] = a->integer;
        } else if (a->kind == AST_NAME) {
            for (const ast_expr *o = target->args; o != a; o = o->next)
                if (o->kind == AST_NAME && o->name.text == a->name.text)
                    return diag(L->ds, E0405, a->at,
                                "'%s' stands twice in this target: its indices are distinct",
                                a->name.text),
                           false;
            if (!add_left(L, x, a->name)) return false;
            literals[k] = -1;
        } else if (step_form(a, &name, &offset)) {
            if (!target_step(L, x, name, offset, a)) return false;
            literals[k] = -2 - offset;
        } else {
            return refuse_scatter(L, target, a);
        }
    }
    *def = (definition){.val = TENSOR_NO_VAL, .rank = n, .literals = literals, .at = target->at};
    return true;
}

// ---- Axes of values that nothing declares -------------------------------------------------------
static const ast_expr *nth(const ast_expr *e, uint32_t k) {
    while (k-- && e) e = e->next;
    return e;
}

// All equations that fill `name` say what axis k is: numbers and a step give a size.
static bool axis_of_numbers(lowering *L, equations *q, const char *name, uint32_t k,
                            tensor_space *out, span at) {
    int64_t most = -1;
    for (const ast_equation *eq = q->op->equations; eq; eq = eq->next)
        for (const ast_expr *t = eq->call ? NULL : eq->targets; t; t = t->next) {
            const ast_expr *a = t->name.text == name ? nth(t->args, k) : NULL, *step;
            int64_t offset;
            if (!a) continue;
            if (a->kind == AST_NUMBER && a->integer > most) most = a->integer;
            const ast_binder *b = step_form(a, &step, &offset) ? find_binder(eq, step->name.text)
                                                               : NULL;
            tensor_space s;
            if (b && b->in)
                return space_of_axis(L, q->scope, b->in, false, &s) &&
                       (*out = space_plus(L, s, offset, a->at), true);
        }
    *out = space_constant(L, most + 1, at);
    return true;
}

static bool axis_space(lowering *L, equation *x, const definition *def, const ast_expr *target,
                       uint32_t k, tensor_space *out) {
    if (def->literals[k] != -1)
        return axis_of_numbers(L, x->q, target->name.text, k, out, target->at);
    const ast_expr *a = nth(target->args, k);
    for (uint32_t i = 0; i < x->left.len; i++)
        if (x->left.data[i]->name == a->name.text) *out = x->left.data[i]->space;
    return true;
}

static const tensor_space *axes_of(lowering *L, equation *x, const definition *def,
                                   const ast_expr *target) {
    tensor_space *axes = ARENA_ARRAY(L->arena, tensor_space, def->rank + 1);
    for (uint32_t k = 0; k < def->rank; k++)
        if (!axis_space(L, x, def, target, k, &axes[k])) return NULL;
    return axes;
}

// ---- Storing ------------------------------------------------------------------------------------
// Rounded or widened as its target stores it. F64 into a declared f32 narrows; a float never
// becomes an integer silently.
static tensor_expr stored(lowering *L, value v, const tensor_val_info *to, span at) {
    tensor_type want = tensor_type_of_storage(to->type, to->into), have = value_type(L, v);
    if (v.kind == VALUE_PLAIN && have.type == DT_F64 && want.type == DT_F32)
        return tensor_cvt(L->op, want, v.expr, at);
    uint32_t errors = diag_raised(L->ds);
    tensor_expr e = value_as(L, v, want, at);
    if (diag_raised(L->ds) == errors && want.type == DT_INDEX && to->role == VAL_RESULT &&
        !(to->facts & FACT_PARTIAL) && tensor_maybe_none(L->op, e)) {
        diagnostic *d = diag(L->ds, E0406, at,
                             "'%s' may become none here, and is not declared partial", to->name);
        diag_note(d, to->at, "declare it '… -> %s partial'", space_name(L, to->into));
    }
    return e;
}

static bool stores_directly(const lowering *L, tensor_type t, tensor_val val) {
    const tensor_val_info *v = &L->op->vals.data[val];
    bool none_ok = v->type != DT_INDEX || (v->facts & FACT_PARTIAL);
    return none_ok && tensor_type_equal(t, tensor_type_of_storage(v->type, v->into));
}

static const tensor_expr *target_index(lowering *L, equation *x, const definition *def,
                                       const ast_expr *target, tensor_val val) {
    tensor_expr *index = ARENA_ARRAY(L->arena, tensor_expr, def->rank + 1);
    for (uint32_t k = 0; k < def->rank; k++) {
        const ast_expr *a = nth(target->args, k);
        tensor_space axis = L->op->vals.data[val].axes[k];
        if (def->literals[k] == -1) {
            index[k] = lower_subscript(L, &x->scope, a, axis);
            if (tensor_node_at(L->op, index[k])->op == TENSOR_INDEX_OP) {
                diagnostic *d = diag(L->ds, E0302, a->at,
                                     "this index does not run over the whole axis, %s",
                                     space_name(L, axis));
                diag_help(
                    d,
                    "an index in a target has the very space of its axis; numbers fill parts of one");
            }
            continue;
        }
        tensor_expr p = tensor_int(L->op, def->literals[k]);
        if (def->literals[k] <= -2) {
            tensor_expr t = tensor_cvt(L->op, TENSOR_TYPE(I64),
                                       tensor_var_expr(L->op, x->step->var, a->at), a->at);
            p = tensor_binary(L->op, TENSOR_ADD_OP, t, tensor_int(L->op, x->offset), a->at);
        }
        if (!tensor_in_space(L->op, p, axis, NULL, 0, NULL))
            diag(L->ds, E0308, a->at, "this position %s", space_outside(L, axis));
        index[k] = tensor_index(L->op, axis, p, a->at);
    }
    return index;
}

static const char *stage_name(lowering *L, equation *x, const char *name) {
    const entity *count = scope_own(&x->q->targets, name);
    declared *d = find_declared(x->q, name);
    if (d) name = d->target;
    else if (x->q->prefix) name = arena_printf(L->arena, "%s.%s", x->q->prefix, name);
    return intern(L->s->names, count && count->number > 1
                                   ? arena_printf(L->arena, "%s.%u", name, count->space)
                                   : name);
}

static const char *value_name(lowering *L, equation *x, const char *name) {
    declared *d = find_declared(x->q, name);
    if (d) return d->target;
    return x->q->prefix ? free_name(L, arena_printf(L->arena, "%s.%s", x->q->prefix, name)) : name;
}

// The value a target writes; made here if it does not exist, of the type that is stored.
static bool target_value(lowering *L, equation *x, definition *def, const ast_expr *target,
                         tensor_type t) {
    declared *d = find_declared(x->q, target->name.text);
    const entity *old = scope_find(x->q->scope, target->name.text);
    if (d && d->val != TENSOR_NO_VAL) def->val = d->val;
    else if (!d && old && old->kind == ENT_VALUE && L->op->vals.data[old->val].role == VAL_STAGE)
        def->val = old->val;
    if (def->val == TENSOR_NO_VAL) {
        const tensor_space *axes = d && d->has_axes ? d->axes : axes_of(L, x, def, target);
        if (!axes) return false;
        const char *name = value_name(L, x, target->name.text);
        bool may_be_none = t.type == DT_INDEX;
        def->val = add_stage_value(L, name, part_type_of(L, name, t), axes, def->rank, may_be_none,
                                   target->name.at);
        if (d) d->val = def->val;
    }
    const tensor_val_info *v = &L->op->vals.data[def->val];
    if (v->rank != def->rank) {
        diagnostic *e = diag(L->ds, E0303, target->at, "'%s' has %u ax%s, and is given %u",
                             target->name.text, v->rank, v->rank == 1 ? "is" : "es", def->rank);
        diag_note(e, v->at, "'%s' is declared here", v->name);
        return false;
    }
    return definition_distinct(L, def, target->name.text);
}

static void publish(lowering *L, equation *x, const definition *def, const ast_expr *target) {
    const entity *old = scope_find(x->q->scope, target->name.text);
    if (!old)
        scope_add(L->arena, x->q->scope,
                  (entity){.kind = ENT_VALUE,
                           .name = target->name.text,
                           .at = target->name.at,
                           .val = def->val});
    VEC_PUSH(L->arena, &L->definitions, *def);
}

static const tensor_var *left_vars(lowering *L, equation *x) {
    tensor_var *left = ARENA_ARRAY(L->arena, tensor_var, x->left.len + 1);
    for (uint32_t i = 0; i < x->left.len; i++) left[i] = x->left.data[i]->var;
    return left;
}

// Whether a value nobody declared may be none is settled by the first equation that fills a part of
// it.
static void settle_partial(lowering *L, const definition *def, bool maybe_none, span at) {
    const definition *first = NULL;
    for (uint32_t i = L->definitions.len; i-- > 0;)
        if (L->definitions.data[i].val == def->val) first = &L->definitions.data[i];
    tensor_val_info *v = &L->op->vals.data[def->val];
    if (!first && !maybe_none) v->facts &= ~(uint32_t)FACT_PARTIAL;
    if (!first || !maybe_none || v->facts & FACT_PARTIAL) return;
    diagnostic *d = diag(L->ds, E0406, at,
                         "'%s' may become none here, and the first part of it never is", v->name);
    diag_note(d, first->at, "this part");
    diag_help(d, "define a part that may be none first");
}

static void store_plain(lowering *L, equation *x, const ast_expr *target, definition *def,
                        value v) {
    tensor_type t = value_type(L, v);
    if (v.kind == VALUE_BAD) return;
    if (v.kind == VALUE_NONE && !find_declared(x->q, target->name.text)) {
        diag(L->ds, E0301, x->eq->value->at, "nothing tells of which space this none is no point");
        return;
    }
    if (!target_value(L, x, def, target, t)) return;
    part_note(L, def->val, t);
    const tensor_val_info info = L->op->vals.data[def->val];
    tensor_expr *body = ARENA_NEW(L->arena, tensor_expr);
    *body = stored(L, v, &info, x->eq->value->at);
    if (info.role == VAL_STAGE && info.type == DT_INDEX)
        settle_partial(L, def, tensor_maybe_none(L->op, *body), x->eq->value->at);
    tensor_target *to = ARENA_NEW(L->arena, tensor_target);
    *to = (tensor_target){def->val, def->rank, target_index(L, x, def, target, def->val)};
    tensor_stage st = {.name = stage_name(L, x, target->name.text),
                       .ntargets = 1,
                       .targets = to,
                       .nleft = x->left.len,
                       .left = left_vars(L, x),
                       .reducer = TENSOR_NO_REDUCER,
                       .nbody = 1,
                       .body = body,
                       .loop = L->loop,
                       .at = x->eq->at};
    tensor_add_stage(L->op, st);
    publish(L, x, def, target);
}

// A reduction as the whole right-hand side: its results go straight to the targets where their
// types allow.
static void store_reduction(lowering *L, equation *x, reduction *r) {
    uint32_t n = 0;
    bool direct = true;
    tensor_target *to = ARENA_ARRAY(L->arena, tensor_target, r->nresults);
    for (const ast_expr *t = x->eq->targets; t; t = t->next, n++) {
        if (!target_value(L, x, &x->defs.data[n], t, r->types[n])) return;
        direct &= stores_directly(L, r->types[n], x->defs.data[n].val);
        to[n] = (tensor_target){x->defs.data[n].val, x->defs.data[n].rank,
                                target_index(L, x, &x->defs.data[n], t, x->defs.data[n].val)};
    }
    if (direct) {
        reduction_store(L, r, stage_name(L, x, x->eq->targets->name.text), to, left_vars(L, x),
                        x->left.len);
        n = 0;
        for (const ast_expr *t = x->eq->targets; t; t = t->next)
            publish(L, x, &x->defs.data[n++], t);
        return;
    }
    tensor_expr *results = ARENA_ARRAY(L->arena, tensor_expr, r->nresults);
    reduction_lift(L, r, UINT32_MAX, 0, results);
    n = 0;
    for (const ast_expr *t = x->eq->targets; t; t = t->next, n++)
        store_plain(L, x, t, &x->defs.data[n], value_plain(results[n]));
}

// The variable in a target's index; NULL: a number.
static const char *index_name(const ast_expr *e) {
    int64_t offset;
    step_form(e, &e, &offset);
    return e->kind == AST_NAME ? e->name.text : NULL;
}

// Whether target a's variables are among b's.
static bool covers_indices(const ast_expr *a, const ast_expr *b) {
    for (const ast_expr *i = a->args; i; i = i->next) {
        bool there = !index_name(i);
        for (const ast_expr *j = b->args; j && !there; j = j->next)
            there = index_name(i) == index_name(j);
        if (!there) return false;
    }
    return true;
}
static bool same_indices(const ast_expr *a, const ast_expr *b) {
    return covers_indices(a, b) && covers_indices(b, a);
}

// ---- One equation -------------------------------------------------------------------------------
static bool equation_targets(lowering *L, equation *x) {
    for (const ast_expr *t = x->eq->targets; t; t = t->next) {
        const entity *old = scope_find(x->q->scope, t->name.text);
        bool known = old && old->kind == ENT_VALUE &&
                     (L->op->vals.data[old->val].role == VAL_STAGE ||
                      L->op->vals.data[old->val].role == VAL_RESULT);
        if (t->kind != AST_REF || (old && !known)) {
            diagnostic *d = diag(L->ds, E0408, t->at, "'%s' cannot be defined by an equation",
                                 t->name.text);
            if (old && old->at.hi) diag_note(d, old->at, "it is declared here");
            return false;
        }
        definition def;
        if (!target_positions(L, x, t, &def)) return false;
        VEC_PUSH(L->arena, &x->defs, def);
    }
    for (uint32_t i = 1; i < x->defs.len; i++)
        if (!same_indices(x->eq->targets, nth(x->eq->targets, i))) {
            diag(L->ds, E0417, nth(x->eq->targets, i)->at,
                 "the targets of one equation have the same indices");
            return false;
        }
    for (const ast_binder *b = x->eq->binders; b; b = b->next) {
        bool used = false;
        for (uint32_t i = 0; i < x->left.len; i++) used |= x->left.data[i]->name == b->name.text;
        if (!used)
            return diag(L->ds, E0409, b->name.at, "'%s' is no index of the target", b->name.text),
                   false;
        if (find_binder(x->eq, b->name.text) != b)
            return diag(L->ds, E0409, b->name.at, "'%s' stands twice after 'for'", b->name.text),
                   false;
    }
    return true;
}

static void learn_axes(lowering *L, equation *x) {
    uint32_t n = 0;
    for (const ast_expr *t = x->eq->targets; t; t = t->next, n++) {
        declared *d = find_declared(x->q, t->name.text);
        const entity *e = scope_find(x->q->scope, t->name.text);
        const tensor_space *axes = d && d->has_axes            ? d->axes
                                   : e && e->kind == ENT_VALUE ? L->op->vals.data[e->val].axes
                                                               : NULL;
        uint32_t rank = d && d->has_axes            ? d->rank
                        : e && e->kind == ENT_VALUE ? L->op->vals.data[e->val].rank
                                                    : 0,
                 k = 0;
        for (const ast_expr *a = t->args; a && axes && k < rank; a = a->next, k++)
            for (uint32_t i = 0; i < x->left.len; i++)
                if (a->kind == AST_NAME && x->left.data[i]->name == a->name.text &&
                    x->left.data[i]->space == TENSOR_NO_SPACE) {
                    x->left.data[i]->space = axes[k];
                    x->left.data[i]->found_at = a->at;
                }
    }
}

static bool find_spaces(lowering *L, equation *x) {
    learn_axes(L, x);
    infer_fix(L, &x->scope, (const ast_expr *const *)&x->eq->value, 1);
    bool ok = true;
    for (uint32_t i = 0; i < x->left.len; i++) {
        index_info *l = x->left.data[i];
        if (!infer_index_known(L, l)) {
            ok = false;
            continue;
        }
        l->var = tensor_add_var(L->op, l->name, l->space);
        VEC_PUSH(L->arena, &L->eq.open, l->var);
    }
    L->eq.nleft = L->eq.open.len;
    return ok;
}

static void begin_loop(lowering *L, const equation *x) {
    if (!x->step) return;
    VEC_PUSH(L->arena, &L->op->loops, ((tensor_loop){x->step->var, x->step->space}));
    L->loop = L->op->loops.len - 1;
}

static void equation_value(lowering *L, equation *x) {
    const ast_expr *e = x->eq->value;
    while (e->kind == AST_PAREN) e = e->args;
    uint32_t first = L->op->exprs.len, ntargets = x->defs.len;
    tensor_val own = TENSOR_NO_VAL;
    if (x->step) {
        const entity *z = scope_find(x->q->scope, x->eq->targets->name.text);
        if (z && z->kind == ENT_VALUE) own = z->val;
    }
    reduction r;
    if (e->kind == AST_REDUCE) {
        if (!reduction_lower(L, &x->scope, e, &r)) return;
        if (r.nresults != ntargets) {
            diag(L->ds, E0417, x->eq->at, "'%s' has %u result%s, and %u target%s", e->name.text,
                 r.nresults, r.nresults == 1 ? "" : "s", ntargets, ntargets == 1 ? "" : "s");
            return;
        }
        definition_check_reads(L, first, own, x->defs.data, x->offset);
        store_reduction(L, x, &r);
        return;
    }
    if (ntargets != 1) {
        diag(L->ds, E0417, x->eq->at, "several targets take a reduction with as many results");
        return;
    }
    value v = lower_expr(L, &x->scope, e);
    definition_check_reads(L, first, own, x->defs.data, x->offset);
    store_plain(L, x, x->eq->targets, &x->defs.data[0], v);
}

// Of what failed, and was reported there.
static bool reads_failed(const scope *s, const ast_expr *e) {
    for (; e; e = e->next) {
        const entity *n = e->kind == AST_NAME || e->kind == AST_REF ? scope_find(s, e->name.text)
                                                                    : NULL;
        if ((n && n->kind == ENT_ERROR) || reads_failed(s, e->args)) return true;
        if (e->kind == AST_REDUCE &&
            (reads_failed(s, e->body) || reads_failed(s, e->guard) || reads_failed(s, e->orelse)))
            return true;
    }
    return false;
}

static void equation_lower(lowering *L, equations *q, const ast_equation *eq) {
    equation x = {.q = q, .eq = eq, .scope = {.parent = q->scope}};
    L->eq.open.len = 0;
    L->eq.closed.len = 0;
    L->loop = TENSOR_NO_LOOP;
    L->infer.steps = 0;
    lowering_enter(L);
    uint32_t errors = diag_raised(L->ds);
    bool failed = reads_failed(q->scope, eq->value);
    if (!failed && equation_targets(L, &x) && find_spaces(L, &x)) {
        L->eq.stage_base = stage_name(L, &x, eq->targets->name.text);
        begin_loop(L, &x);
        equation_value(L, &x);
    }
    failed |= diag_raised(L->ds) != errors;
    for (const ast_expr *t = eq->targets; t && failed; t = t->next)
        if (!scope_find(q->scope, t->name.text))
            scope_add(L->arena, q->scope,
                      (entity){.kind = ENT_ERROR, .name = t->name.text, .at = t->at});
    L->loop = TENSOR_NO_LOOP;
    L->eq.open.len = 0;
}

static void count_targets(lowering *L, equations *q) {
    for (const ast_equation *eq = q->op->equations; eq; eq = eq->next)
        for (const ast_expr *t = eq->call ? NULL : eq->targets; t; t = t->next) {
            entity *count = scope_own(&q->targets, t->name.text);
            if (!count)
                count = scope_add(L->arena, &q->targets,
                                  (entity){.kind = ENT_VALUE, .name = t->name.text});
            count->number++;
        }
}

void equations_lower(lowering *L, equations *q) {
    count_targets(L, q);
    for (const ast_equation *eq = q->op->equations; eq; eq = eq->next) {
        if (eq->call) call_lower(L, q, eq);
        else equation_lower(L, q, eq);
        for (const ast_expr *t = eq->call ? NULL : eq->targets; t; t = t->next)
            scope_own(&q->targets, t->name.text)->space++;
    }
}
