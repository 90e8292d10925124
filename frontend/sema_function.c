// Lowering of calls in expressions: functions are expanded, their parameters standing for the
// expressions given; casts, the maths library and what else is built in.
#include "sema_expr.h"
#include <string.h>

static uint32_t count_args(const ast_expr *a) {
    uint32_t n = 0;
    for (; a; a = a->next) n++;
    return n;
}

// mean(x[n], batch), as frameworks have it.
static void reducer_help(diagnostic *d, const ast_expr *e, const char *name) {
    const ast_expr *by = count_args(e->args) == 2 ? e->args->next : NULL;
    if (by && by->kind == AST_NAME)
        diag_help(
            d,
            "'%s' is a reducer: '%s(… by %s)' gives each point that of its class, '%s{n : %s[n] == g} …' one a class",
            name, name, by->name.text, name, by->name.text);
    else diag_help(d, "'%s' is a reducer: write '%s{index : condition} expression'", name, name);
}

static diagnostic *report_count(lowering *L, const ast_expr *e, uint32_t want) {
    return diag(L->ds, E0205, e->at, "'%s' takes %u argument%s, and is given %u", e->name.text,
                want, want == 1 ? "" : "s", count_args(e->args));
}

static bool args_are(lowering *L, const ast_expr *e, uint32_t want) {
    if (count_args(e->args) == want) return true;
    report_count(L, e, want);
    return false;
}

// softmax(w[e], dst): what a normaliser groups by follows its argument after a word.
static value wrong_count(lowering *L, const scope *s, const ast_expr *e, const ast_item *fn,
                         uint32_t want) {
    diagnostic *d = report_count(L, e, want);
    const ast_expr *key = e->args && want == 1 ? e->args->next : NULL;
    const entity *k = key && key->kind == AST_NAME ? sema_resolve(L, s, key->name.text) : NULL;
    bool map = k && k->kind == ENT_VALUE && L->op->vals.data[k->val].type == DT_INDEX;
    if (fn->fn_params && fn->fn_params->by.text && (map || (k && k->kind == ENT_INDEX))) {
        const char *word = map ? "by" : "over";
        diag_fix(d, (span){e->args->at.hi, key->at.lo}, arena_printf(L->arena, " %s ", word),
                 "'%s' is told so: %s(… %s %s)", e->name.text, e->name.text, word, key->name.text);
    }
    diag_note(d, fn->name.at, "'%s' is declared here", fn->name.text);
    return value_bad(L);
}

static value lower_call_body(lowering *L, const scope *s, const ast_expr *e, const ast_item *fn) {
    uint32_t n = 0;
    for (const ast_fn_param *p = fn->fn_params; p; p = p->next) n++;
    if (count_args(e->args) != n) return wrong_count(L, s, e, fn, n);
    if (expanding(L, fn)) {
        diagnostic *d = diag(L->ds, E0206, e->at,
                             "'%s' calls itself: functions are expanded, so they cannot recur",
                             fn->name.text);
        diag_note(d, fn->name.at, "'%s' is declared here", fn->name.text);
        return value_bad(L);
    }
    if (++L->expanded.functions > MOST_EXPANSIONS) {
        if (L->expanded.functions == MOST_EXPANSIONS + 1)
            diag(L->ds, E0207, e->at, "functions expand to too much here (over %d calls)",
                 MOST_EXPANSIONS);
        return value_bad(L);
    }
    scope inner = {0};
    const ast_expr *a = e->args;
    for (const ast_fn_param *p = fn->fn_params; p; p = p->next, a = a->next) {
        closure *c = closure_new(L, s, a);
        scope_add(
            L->arena, &inner,
            (entity){.kind = ENT_CLOSURE, .name = p->name.text, .at = p->name.at, .closure = c});
        if ((a->how != AST_PLAIN) != (p->by.text != NULL)) {
            diagnostic *d =
                p->by.text
                    ? diag(L->ds, E0208, a->at,
                           "'%s' needs to be told by what: '%s(… by MAP)' or '%s(… over INDEX)'",
                           e->name.text, e->name.text, e->name.text)
                    : diag(L->ds, E0208, a->at, "'%s' does not take 'by' or 'over'", e->name.text);
            diag_note(d, fn->name.at, "'%s' is declared here", fn->name.text);
            return value_bad(L);
        }
        if (!p->by.text) continue;
        key_list *k = ARENA_NEW(L->arena, key_list);
        *k = (key_list){a->keys, s, a->how == AST_OVER};
        scope_add(L->arena, &inner,
                  (entity){.kind = ENT_KEYS, .name = p->by.text, .at = p->by.at, .keys = k});
    }
    const expansion *outer = expand(L, fn);
    uint32_t mark = diag_mark(L->ds);
    value v = lower_expr(L, &inner, fn->body);
    diag_note_use(L->ds, mark, fn->at, e->at, fn->name.text);
    L->expanded.active = outer;
    return v;
}

static value lower_maths(lowering *L, const scope *s, const ast_expr *e, tensor_opcode op) {
    uint32_t n = (uint32_t)tensor_op_table(op)->args;
    if (!args_are(L, e, n)) return value_bad(L);
    value a = lower_expr(L, s, e->args),
          b = n == 2 ? lower_expr(L, s, e->args->next) : value_int(0);
    if (a.kind == VALUE_BAD || b.kind == VALUE_BAD) return value_bad(L);
    tensor_type t;
    if (!value_join(L, a, b, &t)) t = value_type(L, a);
    if (t.type == DT_I64 || t.type == DT_INDEX) t = real_type(L);
    if (t.type != DT_F32 && t.type != DT_F64)
        return mismatch(L, t, real_type(L), e->args->at), value_bad(L);
    tensor_expr x = value_as(L, a, t, e->args->at);
    if (n == 1) return value_plain(tensor_unary(L->op, op, x, e->at));
    return value_plain(tensor_binary(L->op, op, x, value_as(L, b, t, e->args->next->at), e->at));
}

static value lower_extremum(lowering *L, const scope *s, const ast_expr *e, tensor_opcode op) {
    if (!args_are(L, e, 2)) return value_bad(L);
    value a = lower_expr(L, s, e->args), b = lower_expr(L, s, e->args->next);
    if (a.kind == VALUE_BAD || b.kind == VALUE_BAD) return value_bad(L);
    tensor_type t;
    if (!value_join(L, a, b, &t) || t.type == DT_BOOL ||
        (t.type == DT_INDEX && t.space == TENSOR_NO_SPACE)) {
        diag(L->ds, E0306, e->at, "%s and %s have no %s", type_text(L, value_type(L, a)),
             type_text(L, value_type(L, b)), e->name.text);
        return value_bad(L);
    }
    return value_plain(tensor_binary(L->op, op, value_as(L, a, t, e->args->at),
                                     value_as(L, b, t, e->args->next->at), e->at));
}

static value lower_cast(lowering *L, const scope *s, const ast_expr *e, ir_dtype to) {
    if (!args_are(L, e, 1)) return value_bad(L);
    value v = lower_expr(L, s, e->args);
    if (v.kind == VALUE_BAD) return v;
    tensor_type t = tensor_type_of_storage(to, TENSOR_NO_SPACE);
    if (v.kind == VALUE_NONE) return mismatch(L, value_type(L, v), t, e->args->at), value_bad(L);
    if (v.kind != VALUE_PLAIN)
        v = value_plain(
            literal_as(L, v, v.kind == VALUE_INT ? TENSOR_TYPE(I64) : TENSOR_TYPE(F64), e->at));
    if (value_type(L, v).type == DT_INDEX) v = value_plain(value_as(L, v, TENSOR_TYPE(I64), e->at));
    tensor_expr x = tensor_cvt(L->op, t, v.expr, e->at);
    bool narrower = ir_dtype_is_narrow(to) || to == DT_I32;
    return value_plain(narrower ? tensor_round(L->op, to, x, e->at) : x);
}

static value lower_rand(lowering *L, const scope *s, const ast_expr *e) {
    uint32_t n = count_args(e->args), k = 0;
    if (n < 2) {
        diag(L->ds, E0205, e->at, "'rand' takes a seed and at least one index");
        return value_bad(L);
    }
    tensor_expr *args = ARENA_ARRAY(L->arena, tensor_expr, n);
    for (const ast_expr *a = e->args; a; a = a->next)
        args[k++] = value_as(L, lower_expr(L, s, a), TENSOR_TYPE(I64), a->at);
    return value_plain(tensor_node_new(L->op, (tensor_node){.op = TENSOR_RAND_OP,
                                                            .nargs = (uint16_t)n,
                                                            .type = TENSOR_TYPE(F32),
                                                            .args = args,
                                                            .at = e->at}));
}

static value lower_stop(lowering *L, const scope *s, const ast_expr *e) {
    if (!args_are(L, e, 1)) return value_bad(L);
    value v = lower_expr(L, s, e->args);
    if (v.kind != VALUE_PLAIN) return v;
    return value_plain(tensor_unary(L->op, TENSOR_STOP_OP, v.expr, e->at));
}

static bool named_map(lowering *L, const scope *s, const ast_expr *e, tensor_val *m) {
    const entity *n = e && e->kind == AST_NAME ? sema_resolve(L, s, e->name.text) : NULL;
    if (n && n->kind == ENT_VALUE && L->op->vals.data[n->val].role == VAL_MAP)
        return *m = n->val, true;
    diagnostic *d = diag(L->ds, E0204, e->at, "a map is wanted here");
    if (e->kind == AST_NAME && !n) suggest_in_scope(L, d, s, e->name, NEAR_MAP);
    return false;
}

static value lower_condition_call(lowering *L, const scope *s, const ast_expr *e) {
    tensor_val m, n = 0;
    bool symmetric = !strcmp(e->name.text, "symmetric");
    if (!args_are(L, e, symmetric ? 2 : 1) || !named_map(L, s, e->args, &m)) return value_bad(L);
    if (symmetric) {
        if (!named_map(L, s, e->args->next, &n)) return value_bad(L);
        return value_plain(tensor_node_new(L->op, (tensor_node){.op = TENSOR_SYMMETRIC_OP,
                                                                .type = TENSOR_TYPE(BOOL),
                                                                .imm.i = m,
                                                                .imm2 = n,
                                                                .at = e->at}));
    }
    int64_t which = !strcmp(e->name.text, "max") ? 0 : !strcmp(e->name.text, "min") ? 1 : 2;
    return value_plain(tensor_node_new(L->op, (tensor_node){.op = TENSOR_PREIMAGE_OP,
                                                            .type = TENSOR_TYPE(I64),
                                                            .imm.i = m,
                                                            .imm2 = which,
                                                            .at = e->at}));
}

static value lower_builtin(lowering *L, const scope *s, const ast_expr *e) {
    const char *name = e->name.text;
    if (L->conditions &&
        (!strcmp(name, "symmetric") || !strcmp(name, "avg") ||
         (count_args(e->args) == 1 && (!strcmp(name, "max") || !strcmp(name, "min")))))
        return lower_condition_call(L, s, e);
    for (tensor_opcode op = 0; op < TENSOR_OP_COUNT; op++)
        if (tensor_op_table(op)->kind == TENSOR_MATHS && !strcmp(tensor_op_table(op)->text, name))
            return lower_maths(L, s, e, op);
    if (!strcmp(name, "min")) return lower_extremum(L, s, e, TENSOR_MIN_OP);
    if (!strcmp(name, "max")) return lower_extremum(L, s, e, TENSOR_MAX_OP);
    if (!strcmp(name, "rand")) return lower_rand(L, s, e);
    if (!strcmp(name, "stop")) return lower_stop(L, s, e);
    ir_dtype t;
    if (sema_dtype(name, &t)) return lower_cast(L, s, e, t);
    const entity *taken = scope_find(s, name);
    diagnostic *d = diag(L->ds, E0204, e->name.at, "there is no function '%s'", name);
    if (taken && taken->kind == ENT_VALUE) {
        diag_help(d, "'%s' is a %s, and is indexed in brackets: %s[…]", name,
                  L->op->vals.data[taken->val].type == DT_INDEX ? "map" : "tensor", name);
        return value_bad(L);
    }
    VEC(const char *) near = {0};
    for (uint32_t i = 0; i < L->s->fns.len; i++)
        VEC_PUSH(L->arena, &near, L->s->fns.data[i]->name.text);
    for (tensor_opcode op = 0; op < TENSOR_OP_COUNT; op++)
        if (tensor_op_table(op)->kind == TENSOR_MATHS)
            VEC_PUSH(L->arena, &near, tensor_op_table(op)->text);
    entity r;
    if (reducer_find(L, s, e->name.text, &r)) reducer_help(d, e, name);
    else if (sema_find(L->s->ops.data, L->s->ops.len, name))
        diag_help(d, "'%s' is an op: its result takes an equation of its own, h = %s(…);", name,
                  name);
    else if (!foreign_help(d, FOREIGN_EXPRESSION, name) && !foreign_help(d, FOREIGN_FACT, name))
        diag_suggest(d, e->name.at, name, near.data, near.len);
    return value_bad(L);
}

value lower_call(lowering *L, const scope *s, const ast_expr *e) {
    const entity *n = scope_find(s, e->name.text);
    if (n && n->kind == ENT_DTYPE) return lower_cast(L, s, e, n->dtype);
    if (n && n->kind == ENT_FN) return lower_call_body(L, s, e, n->item);
    entity reducer;
    if (e->args && e->args->how != AST_PLAIN && !e->args->next &&
        reducer_visible(L, s, e->name.text, e->name.at, &reducer))
        return lower_normaliser(L, s, e, &reducer);
    const ast_item *fn =
        n ? NULL : sema_visible(L->s, L->s->fns.data, L->s->fns.len, e->name.text, e->name.at);
    if (fn) return lower_call_body(L, s, e, fn);
    for (const ast_expr *a = e->args; a; a = a->next)
        if (a->how != AST_PLAIN) {
            diag(L->ds, E0208, a->at, "'%s' does not take 'by' or 'over'", e->name.text);
            return value_bad(L);
        }
    return lower_builtin(L, s, e);
}
