// Lowering of expressions: types, literals that take the type of their use, subscripts proven in
// range, and guards under which a partial map may be used.
#include "sema_expr.h"
#include <math.h>
#include <string.h>

enum { MAX_DEPTH = 1000 };   // what the machine's stack surely bears

// ---- Values and types ---------------------------------------------------------------------------
value value_plain(tensor_expr e) { return (value){.expr = e, .kind = VALUE_PLAIN}; }
value value_bad(lowering *L) {
    (void)L;
    return (value){.kind = VALUE_BAD};
}
static value value_float(double x) { return (value){.kind = VALUE_FLOAT, .number = x}; }
value value_int(int64_t x) { return (value){.kind = VALUE_INT, .number = (double)x, .integer = x}; }

const char *type_text(const lowering *L, tensor_type t) {
    if (t.type != DT_INDEX)
        return t.type == DT_I64    ? "an integer"
               : t.type == DT_BOOL ? "a condition"
                                   : ir_dtype_text(t.type);
    return arena_printf(L->arena, "an index of %s", space_name(L, t.space));
}

tensor_type real_type(const lowering *L) { return (tensor_type){L->real, TENSOR_NO_SPACE}; }

tensor_type value_type(lowering *L, value v) {
    switch (v.kind) {
    case VALUE_PLAIN: return tensor_typeof(L->op, v.expr);
    case VALUE_INT: return TENSOR_TYPE(I64);
    case VALUE_NONE: return (tensor_type){DT_INDEX, TENSOR_NO_SPACE};
    case VALUE_FLOAT:
    case VALUE_BAD: break;
    }
    return real_type(L);
}

static tensor_expr zero_of(lowering *L, tensor_type t) {
    if (t.type == DT_F32 || t.type == DT_F64) return tensor_float(L->op, t.type, 0);
    if (t.type == DT_BOOL) return tensor_bool(L->op, false);
    if (t.type == DT_I64) return tensor_int(L->op, 0);
    return tensor_node_new(L->op, (tensor_node){.op = TENSOR_NONE_OP, .type = t});
}

tensor_expr mismatch(lowering *L, tensor_type have, tensor_type want, span at) {
    diagnostic *d = diag(L->ds, E0306, at, "%s stands here where %s is wanted", type_text(L, have),
                         type_text(L, want));
    if (have.type == DT_BOOL && want.type != DT_INDEX) diag_help(d, "write '(condition) ? 1 : 0'");
    if (want.type == DT_I64 && (have.type == DT_F32 || have.type == DT_F64))
        diag_help(
            d,
            "a cast says how: i64(x) towards zero, i64(floor(x)) down; where a literal such as 0 makes it an integer, write 0.0");
    if (have.type == DT_INDEX && want.type == DT_INDEX)
        diag_help(d, "a map takes an index of one space to another");
    return zero_of(L, want);
}

tensor_expr literal_as(lowering *L, value v, tensor_type t, span at) {
    if (t.type == DT_F32 || t.type == DT_F64) return tensor_float(L->op, t.type, v.number);
    if (v.kind == VALUE_INT && t.type == DT_I64) return tensor_int(L->op, v.integer);
    if (v.kind == VALUE_INT && t.type == DT_INDEX) {
        tensor_expr x = tensor_int(L->op, v.integer);
        if (tensor_in_space(L->op, x, t.space, NULL, 0, NULL))
            return tensor_index(L->op, t.space, x, at);
        diagnostic *d = diag(L->ds, E0308, at, "%lld %s", (long long)v.integer,
                             v.integer < 0 ? "is before the first point of any axis"
                                           : space_outside(L, t.space));
        if (v.integer >= 0) explain_longer(L, d, t.space, v.integer + 1);
        return zero_of(L, t);
    }
    return mismatch(L, value_type(L, v), t, at);
}

tensor_expr value_as(lowering *L, value v, tensor_type t, span at) {
    if (v.kind == VALUE_BAD) return zero_of(L, t);
    if (v.kind == VALUE_NONE) {
        if (t.type == DT_INDEX) return zero_of(L, t);
        diag(L->ds, E0306, at, "none is an index, and %s is wanted here", type_text(L, t));
        return zero_of(L, t);
    }
    if (v.kind != VALUE_PLAIN) return literal_as(L, v, t, at);
    tensor_type have = tensor_typeof(L->op, v.expr);
    if (tensor_type_equal(have, t)) return v.expr;
    bool to_number = t.type == DT_F32 || t.type == DT_F64 || t.type == DT_I64;
    if (have.type == DT_INDEX && to_number) {
        if (!guards_say_some(L, v.expr))
            diag(L->ds, E0310, at, "this index may be none, which is no number");
        return value_as(L, value_plain(tensor_cvt(L->op, TENSOR_TYPE(I64), v.expr, at)), t, at);
    }
    if (have.type == DT_I64 && to_number) return tensor_cvt(L->op, t, v.expr, at);
    if (have.type == DT_F32 && t.type == DT_F64) return tensor_cvt(L->op, t, v.expr, at);
    return mismatch(L, have, t, at);
}

tensor_expr value_number(lowering *L, value v, span at) {
    tensor_type t = value_type(L, v);
    if (t.type == DT_INDEX) t = TENSOR_TYPE(I64);
    return value_as(L, v, t, at);
}

static bool is_number(tensor_type t) {
    return t.type == DT_F32 || t.type == DT_F64 || t.type == DT_I64;
}

bool value_join(lowering *L, value a, value b, tensor_type *t) {
    if (a.kind == VALUE_BAD || b.kind == VALUE_BAD) {
        *t = value_type(L, a.kind == VALUE_BAD ? b : a);
        return true;
    }
    tensor_type x = value_type(L, a), y = value_type(L, b);
    if (a.kind == VALUE_NONE) x.space = y.space;
    if (b.kind == VALUE_NONE) y.space = x.space;
    *t = x;
    if (tensor_type_equal(x, y)) return true;
    if (x.type == DT_INDEX) x = TENSOR_TYPE(I64);
    if (y.type == DT_INDEX) y = TENSOR_TYPE(I64);
    if (!is_number(x) || !is_number(y) || a.kind == VALUE_NONE || b.kind == VALUE_NONE)
        return false;
    // A literal never widens what it meets.
    if (a.kind == VALUE_FLOAT && y.type != DT_I64) x = y;
    if (b.kind == VALUE_FLOAT && x.type != DT_I64) y = x;
    *t = x.type <= y.type ? x : y;   // F64 < F32 < I64 in the table
    return true;
}

tensor_expr lower_bool(lowering *L, const scope *s, const ast_expr *e) {
    value v = lower_expr(L, s, e);
    if (v.kind == VALUE_BAD) return tensor_bool(L->op, false);
    tensor_type t = value_type(L, v);
    if (v.kind == VALUE_PLAIN && t.type == DT_BOOL) return v.expr;
    diagnostic *d = diag(L->ds, E0305, e->at, "a condition is wanted here, and this is %s",
                         type_text(L, t));
    diag_help(d, "compare it with something: … != 0");
    return tensor_bool(L->op, false);
}

// ---- Subscripts ---------------------------------------------------------------------------------
static void explain_space(lowering *L, diagnostic *d, const scope *s, const ast_expr *e) {
    if (e->kind != AST_NAME) return;
    const entity *n = scope_find(s, e->name.text);
    if (n && n->kind == ENT_INDEX && n->index->found_at.hi)
        diag_note(d, n->index->found_at, "'%s' runs over %s because it stands here", n->name,
                  space_name(L, n->index->space));
}

// A map that leads there from the index's space; else what the op has to be told.
static void explain_way(lowering *L, diagnostic *d, const ast_expr *e, tensor_space from,
                        tensor_space to) {
    for (tensor_val v = 0; v < L->op->nparams; v++) {
        const tensor_val_info *i = &L->op->vals.data[v];
        if (i->role != VAL_MAP || i->rank != 1 || i->axes[0] != from || i->into != to ||
            i->facts & FACT_PARTIAL)
            continue;
        diag_help(d, "the map '%s' leads there: %s[%s]", i->name, i->name,
                  e->kind == AST_NAME ? e->name.text : "…");
        return;
    }
    const tensor_space_info *a = &L->op->spaces.data[from], *b = &L->op->spaces.data[to];
    const char *more = "";
    if (a->kind == SPACE_FREE && b->kind == SPACE_FREE)
        more = ", or one space for both where they are the same";
    if (a->kind == SPACE_EXPR && e->kind == AST_NAME)   // a sum of sizes: a part of it may be meant
        more = arena_printf(L->arena,
                            ", or say which points: %s < %s ? … : …, or '%s in %s' in braces",
                            e->name.text, space_name(L, to), e->name.text, space_name(L, to));
    diag_help(d, "take an index of %s, or a map from %s into it%s", space_name(L, to),
              space_name(L, from), more);
}

tensor_expr lower_subscript(lowering *L, const scope *s, const ast_expr *e, tensor_space axis) {
    tensor_type want = {DT_INDEX, axis};
    value v = lower_expr(L, s, e);
    if (v.kind == VALUE_NONE)
        diag(L->ds, E0310, e->at, "none is no point of %s", space_name(L, axis));
    if (v.kind != VALUE_PLAIN) return value_as(L, v, want, e->at);
    tensor_type t = tensor_typeof(L->op, v.expr);
    if (t.type == DT_INDEX && !guards_say_some(L, v.expr)) {
        diagnostic *d = diag(L->ds, E0310, e->at,
                             "this index may be none, and is used without a guard");
        diag_help(d, "guard it: … != none ? … : …, or '&& … != none' in the reduction's condition");
    }
    if (tensor_type_equal(t, want)) return v.expr;
    if ((t.type == DT_INDEX || t.type == DT_I64) && guards_say_in(L, v.expr, axis))
        return tensor_index(L->op, axis, v.expr, e->at);
    if (t.type == DT_INDEX) {
        diagnostic *d = diag(L->ds, E0302, e->at, "an index of %s stands on an axis of %s",
                             space_name(L, t.space), space_name(L, axis));
        explain_space(L, d, s, e);
        explain_way(L, d, e, t.space, axis);
    } else if (t.type == DT_I64) {
        diagnostic *d = diag(L->ds, E0309, e->at, "this computed index is not proven to lie in %s",
                             space_name(L, axis));
        if (e->kind == AST_REF)
            diag_help(d,
                      "hand '%s' over as a map into %s, whose values are validated once, "
                      "or guard it: … >= 0 && … < %s ? … : …",
                      e->name.text, space_name(L, axis), space_name(L, axis));
        else
            diag_help(d,
                      "pass a map, whose values are validated once, use an index plus a constant "
                      "that the axis has room for, or guard it: … >= 0 && … < %s ? … : …",
                      space_name(L, axis));
        explain_length(L, d, axis, 0);
        guards_explain(L, d);
    } else {
        diag(L->ds, E0311, e->at, "an index of %s is wanted here, and this is %s",
             space_name(L, axis), type_text(L, t));
    }
    return zero_of(L, want);
}

static value lower_value_ref(lowering *L, const scope *s, const ast_expr *e, tensor_val val) {
    const tensor_val_info info = L->op->vals.data[val];
    uint32_t n = 0;
    for (const ast_expr *a = e->args; a; a = a->next) n++;
    if (n != info.rank || (info.role == VAL_SCALAR && e->kind == AST_REF)) {
        diagnostic *d =
            info.role == VAL_SCALAR
                ? diag(L->ds, E0303, e->at, "'%s' is a scalar: it takes no index", info.name)
                : diag(L->ds, E0303, e->at, "'%s' has %u ax%s, and is given %u ind%s", info.name,
                       info.rank, info.rank == 1 ? "is" : "es", n, n == 1 ? "ex" : "ices");
        diag_note(d, info.at, "'%s' is declared here", info.name);
        return value_bad(L);
    }
    tensor_expr *index = ARENA_ARRAY(L->arena, tensor_expr, n + 1);
    uint32_t k = 0;
    for (const ast_expr *a = e->args; a; a = a->next, k++)
        index[k] = lower_subscript(L, s, a, info.axes[k]);
    if (info.facts & FACT_PREFIX)
        return value_plain(tensor_index(L->op, info.into, index[0], e->at));
    return value_plain(tensor_load(L->op, val, index, n, e->at));
}

// ---- Names --------------------------------------------------------------------------------------
static value undeclared(lowering *L, const scope *s, ast_name name) {
    diagnostic *d = diag(L->ds, E0201, name.at, "'%s' is not declared", name.text);
    for (uint32_t i = 0; i < L->eq.closed.len; i++)
        if (L->eq.closed.data[i] == name.text) {
            diag_help(
                d,
                "the reduction that '%s' belongs to ends before this: a sum in its body stands in parentheses",
                name.text);
            return value_bad(L);
        }
    if (!foreign_help(d, FOREIGN_EXPRESSION, name.text) &&
        !suggest_in_scope(L, d, s, name, NEAR_ANY))
        diag_help(
            d,
            "an index comes from the left side or a reduction's braces, any other name from the op's parameters and equations");
    return value_bad(L);
}

static value lower_constant(lowering *L, const scope *s, ast_name name) {
    if (!strcmp(name.text, "inf")) return value_float(INFINITY);
    if (!strcmp(name.text, "pi")) return value_float(3.14159265358979323846);
    if (!strcmp(name.text, "none")) return (value){.kind = VALUE_NONE};
    if (!strcmp(name.text, "true")) return value_plain(tensor_bool(L->op, true));
    if (!strcmp(name.text, "false")) return value_plain(tensor_bool(L->op, false));
    return undeclared(L, s, name);
}

static value lower_closure(lowering *L, closure *c) {
    if (c->cached && c->lowered_in == L->eq.context) return *c->cached;
    uint64_t context = L->eq.context;
    const expansion *active = L->expanded.active;
    L->expanded.active = c->active;
    value v = lower_expr(L, c->scope, c->expr);
    L->expanded.active = active;
    c->cached = ARENA_NEW(L->arena, value);
    *c->cached = v;
    c->lowered_in = context;
    return v;
}

static value lower_index(lowering *L, const index_info *i, span at) {
    if (i->space == TENSOR_NO_SPACE) return value_bad(L);   // reported where it is introduced
    for (const index_rename *r = L->eq.renames; r; r = r->outer)
        if (r->from == i) return value_plain(tensor_var_expr(L->op, r->to, at));
    return value_plain(tensor_var_expr(L->op, i->var, at));
}

static value lower_state(lowering *L, const entity *n, tensor_opcode op, span at) {
    return value_plain(tensor_node_new(
        L->op, (tensor_node){.op = (uint16_t)op, .type = n->type, .imm.i = n->number, .at = at}));
}

static value not_a_value(lowering *L, const entity *n, span at) {
    diagnostic *d;
    if (n->kind == ENT_VALUE) {
        d = diag(L->ds, E0203, at, "'%s' has %u ax%s: an index is missing", n->name,
                 L->op->vals.data[n->val].rank, L->op->vals.data[n->val].rank == 1 ? "is" : "es");
        if (!L->op->vals.data[n->val].rank)
            diag_fix(d, at, arena_printf(L->arena, "%s[]", n->name),
                     "a tensor without axes is read as '%s[]'", n->name);
    } else {
        d = diag(L->ds, E0203, at, "'%s' is not a value", n->name);
    }
    if (n->at.hi) diag_note(d, n->at, "'%s' is declared here", n->name);
    return value_bad(L);
}

static value lower_name(lowering *L, const scope *s, const ast_expr *e) {
    const entity *n = scope_find(s, e->name.text);
    if (!n) return lower_constant(L, s, e->name);
    switch (n->kind) {
    case ENT_SPACE: return value_plain(tensor_size(L->op, n->space, e->at));
    case ENT_INDEX: return lower_index(L, n->index, e->at);
    case ENT_CLOSURE: return lower_closure(L, n->closure);
    case ENT_ERROR: return value_bad(L);
    case ENT_ARG: return lower_state(L, n, TENSOR_ARG_OP, e->at);
    case ENT_STATE: return lower_state(L, n, TENSOR_LEFT_OP, e->at);
    case ENT_OUTCOME: return lower_state(L, n, TENSOR_RIGHT_OP, e->at);
    case ENT_VALUE:
        if (L->op->vals.data[n->val].role == VAL_SCALAR) return lower_value_ref(L, s, e, n->val);
        return not_a_value(L, n, e->at);
    case ENT_IDENTITY:
    case ENT_KEYS:
    case ENT_DTYPE:
    case ENT_FN:
    case ENT_REDUCER: return not_a_value(L, n, e->at);
    }
    return value_bad(L);
}

static value lower_primed(lowering *L, const scope *s, const ast_expr *e) {
    const entity *n = scope_find(s, e->name.text);
    if (n && n->kind == ENT_STATE && n->primed_too)
        return lower_state(L, n, TENSOR_RIGHT_OP, e->at);
    diag(L->ds, E0203, e->at, "%s' is only the right operand's state, in a reducer's combine",
         e->name.text);
    return value_bad(L);
}

static value lower_ref(lowering *L, const scope *s, const ast_expr *e) {
    const entity *n = sema_resolve(L, s, e->name.text);
    if (!n) return undeclared(L, s, e->name);
    if (n->kind == ENT_ERROR) return value_bad(L);
    if (n->kind == ENT_VALUE) return lower_value_ref(L, s, e, n->val);
    if (n->kind == ENT_IDENTITY && e->args && !e->args->next)
        return value_plain(lower_subscript(L, s, e->args, n->space));
    diagnostic *d = diag(L->ds, E0304, e->name.at,
                         "'%s' is not a tensor or map, and cannot be indexed", e->name.text);
    if (n->at.hi) diag_note(d, n->at, "'%s' is declared here", n->name);
    return value_bad(L);
}

// ---- Operators ----------------------------------------------------------------------------------
static value lower_negate(lowering *L, const scope *s, const ast_expr *e) {
    value v = lower_expr(L, s, e->args);
    if (v.kind == VALUE_BAD) return v;
    if (v.kind == VALUE_FLOAT) return value_float(-v.number);
    if (v.kind == VALUE_INT && v.integer != INT64_MIN) return value_int(-v.integer);
    tensor_expr x = value_number(L, v, e->args->at);
    if (!is_number(tensor_typeof(L->op, x)))
        return mismatch(L, tensor_typeof(L->op, x), real_type(L), e->args->at), value_bad(L);
    return value_plain(tensor_unary(L->op, TENSOR_NEG_OP, x, e->at));
}

static tensor_opcode arithmetic(ast_kind k) {
    return k == AST_ADD   ? TENSOR_ADD_OP
           : k == AST_SUB ? TENSOR_SUB_OP
           : k == AST_MUL ? TENSOR_MUL_OP
           : k == AST_DIV ? TENSOR_DIV_OP
                          : TENSOR_MOD_OP;
}

static value lower_arithmetic(lowering *L, const scope *s, const ast_expr *e) {
    value a = lower_expr(L, s, e->args), b = lower_expr(L, s, e->args->next);
    if (a.kind == VALUE_BAD || b.kind == VALUE_BAD) return value_bad(L);
    tensor_type t;
    if (!value_join(L, a, b, &t) || (!is_number(t) && t.type != DT_INDEX)) {
        diagnostic *d = diag(L->ds, E0306, e->at, "%s and %s have no arithmetic together",
                             type_text(L, value_type(L, a)), type_text(L, value_type(L, b)));
        if (value_type(L, a).type == DT_BOOL || value_type(L, b).type == DT_BOOL)
            diag_help(d, "a number is made of a condition by condition ? 1 : 0");
        return value_bad(L);
    }
    if (t.type == DT_INDEX) t = TENSOR_TYPE(I64);
    tensor_opcode op = arithmetic(e->kind);
    if (op == TENSOR_DIV_OP && t.type == DT_I64) t = real_type(L);
    if (op == TENSOR_MOD_OP && t.type != DT_I64) {
        diag(L->ds, E0306, e->at, "'%%' takes integers, and this is %s", type_text(L, t));
        return value_bad(L);
    }
    return value_plain(tensor_binary(L->op, op, value_as(L, a, t, e->args->at),
                                     value_as(L, b, t, e->args->next->at), e->at));
}

static tensor_opcode comparison(ast_kind k) {
    return k == AST_EQ   ? TENSOR_EQ_OP
           : k == AST_NE ? TENSOR_NE_OP
           : k == AST_LT ? TENSOR_LT_OP
           : k == AST_LE ? TENSOR_LE_OP
           : k == AST_GT ? TENSOR_GT_OP
                         : TENSOR_GE_OP;
}

static value lower_comparison(lowering *L, const scope *s, const ast_expr *e) {
    value a = lower_expr(L, s, e->args), b = lower_expr(L, s, e->args->next);
    if (a.kind == VALUE_BAD || b.kind == VALUE_BAD) return value_bad(L);
    tensor_type x = value_type(L, a), y = value_type(L, b), t;
    bool two_spaces = x.type == DT_INDEX && y.type == DT_INDEX && x.space != y.space &&
                      a.kind != VALUE_NONE && b.kind != VALUE_NONE;
    if (two_spaces || !value_join(L, a, b, &t) ||
        (t.type == DT_INDEX && t.space == TENSOR_NO_SPACE)) {
        diag(L->ds, E0307, e->at, "%s is compared with %s", type_text(L, x), type_text(L, y));
        return value_bad(L);
    }
    bool order = e->kind != AST_EQ && e->kind != AST_NE;
    if (order && (t.type == DT_BOOL || a.kind == VALUE_NONE || b.kind == VALUE_NONE)) {
        diag(L->ds, E0307, e->at, "%s no order: == and != compare them",
             t.type == DT_BOOL ? "conditions have" : "an index and none have");
        return value_bad(L);
    }
    return value_plain(tensor_binary(L->op, comparison(e->kind), value_as(L, a, t, e->args->at),
                                     value_as(L, b, t, e->args->next->at), e->at));
}

static value lower_logic(lowering *L, const scope *s, const ast_expr *e) {
    tensor_expr a = lower_bool(L, s, e->args);
    guards_mark m = guards_push(L, a, e->kind == AST_AND);
    tensor_expr b = lower_bool(L, s, e->args->next);
    guards_pop(L, m);
    return value_plain(
        tensor_binary(L->op, e->kind == AST_AND ? TENSOR_AND_OP : TENSOR_OR_OP, a, b, e->at));
}

static value lower_conditional(lowering *L, const scope *s, const ast_expr *e) {
    const ast_expr *then = e->args->next, *other = then->next;
    tensor_expr c = lower_bool(L, s, e->args);
    guards_mark m = guards_push(L, c, true);
    value a = lower_expr(L, s, then);
    guards_pop(L, m);
    m = guards_push(L, c, false);
    value b = lower_expr(L, s, other);
    guards_pop(L, m);
    if (a.kind == VALUE_BAD || b.kind == VALUE_BAD) return value_bad(L);
    if (a.kind == VALUE_NONE && b.kind == VALUE_NONE) return a;
    tensor_type t, x = value_type(L, a), y = value_type(L, b);
    bool two_spaces = x.type == DT_INDEX && y.type == DT_INDEX && x.space != y.space &&
                      a.kind != VALUE_NONE && b.kind != VALUE_NONE;
    if (two_spaces || !value_join(L, a, b, &t)) {
        diag(L->ds, E0306, e->at, "the two choices are %s and %s", type_text(L, x),
             type_text(L, y));
        return value_bad(L);
    }
    return value_plain(
        tensor_select(L->op, c, value_as(L, a, t, then->at), value_as(L, b, t, other->at), e->at));
}

static value lower_kind(lowering *L, const scope *s, const ast_expr *e) {
    switch (e->kind) {
    case AST_NUMBER: return e->is_integer ? value_int(e->integer) : value_float(e->number);
    case AST_NAME: return lower_name(L, s, e);
    case AST_PRIMED: return lower_primed(L, s, e);
    case AST_REF: return lower_ref(L, s, e);
    case AST_TUPLE:
        diag(L->ds, E0305, e->at,
             "a tuple stands only after a reducer that takes several arguments");
        return value_bad(L);
    case AST_CALL: return lower_call(L, s, e);
    case AST_REDUCE: return lower_reduce(L, s, e);
    case AST_PAREN: return lower_expr(L, s, e->args);
    case AST_NEG: return lower_negate(L, s, e);
    case AST_NOT:
        return value_plain(tensor_unary(L->op, TENSOR_NOT_OP, lower_bool(L, s, e->args), e->at));
    case AST_ADD:
    case AST_SUB:
    case AST_MUL:
    case AST_DIV:
    case AST_MOD: return lower_arithmetic(L, s, e);
    case AST_EQ:
    case AST_NE:
    case AST_LT:
    case AST_LE:
    case AST_GT:
    case AST_GE: return lower_comparison(L, s, e);
    case AST_AND:
    case AST_OR: return lower_logic(L, s, e);
    case AST_COND: return lower_conditional(L, s, e);
    }
    return value_bad(L);
}

value lower_expr(lowering *L, const scope *s, const ast_expr *e) {
    if (L->expanded.depth == MAX_DEPTH) {
        if (!L->expanded.too_deep)
            diag(L->ds, E0207, e->at, "functions expand too deeply here (over %d levels)",
                 MAX_DEPTH);
        L->expanded.too_deep = true;
        return value_bad(L);
    }
    L->expanded.depth++;
    value v = lower_kind(L, s, e);
    L->expanded.depth--;
    return v;
}
