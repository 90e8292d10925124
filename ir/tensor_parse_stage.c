// Reducers and equations of tensor IR text.
#include "tensor_parse.h"

#include <string.h>

typedef VEC(tensor_type) type_list;
typedef VEC(tensor_var) var_list;

// ---- Reducers -----------------------------------------------------------------------------------

static tensor_type read_type(parser *p) {
    token t = p->tok;
    if (tensor_lex_accept(p, "index")) {
        tensor_lex_expect(p, "(");
        tensor_type type = {DT_INDEX, tensor_parse_space(p)};
        tensor_lex_expect(p, ")");
        return type;
    }
    ir_dtype d = DT_F32;
    bool known = tensor_parse_dtype(p, &t, &d);
    tensor_lex_next(p);
    if (known && (ir_dtype_is_float(d) || d == DT_I64 || d == DT_BOOL))
        return (tensor_type){d, TENSOR_NO_SPACE};
    tensor_parse_fail(p, E0971, t.at, "expected f64, f32, bf16, f16, i64, bool or index(SPACE)");
    return TENSOR_TYPE(F32);
}

static type_list read_types(parser *p) {
    type_list list = {0};
    tensor_lex_expect(p, "(");
    while (!p->failed && !tensor_lex_is(&p->tok, ")")) {
        if (list.len) tensor_lex_expect(p, ",");
        VEC_PUSH(p->arena, &list, read_type(p));
    }
    tensor_lex_expect(p, ")");
    return list;
}

static const tensor_expr *read_section(parser *p, const char *name, const tensor_type *types,
                                       uint32_t n) {
    token t = p->tok;
    tensor_lex_expect(p, name);
    tensor_parse_lets(p);
    expr_list list = tensor_parse_tuple(p);
    if (!p->failed && list.len != n)
        tensor_parse_fail(p, E0973, t.at, "'%s' has %u expressions, not %u", name,
                          (unsigned)list.len, (unsigned)n);
    for (uint32_t i = 0; i < n && !p->failed; i++)
        if (!tensor_type_equal(tensor_typeof(p->op, list.data[i]), types[i]))
            tensor_parse_fail(p, E0973, t.at, "expression %u of '%s' has type %s, not %s",
                              (unsigned)i, name,
                              tensor_type_text(p->arena, p->op, tensor_typeof(p->op, list.data[i])),
                              tensor_type_text(p->arena, p->op, types[i]));
    return list.data;
}

static tensor_reduce_kind builtin_kind(const char *name) {
    for (int k = 0; k < REDUCE_USER; k++)
        if (!strcmp(name, tensor_reduce_name((tensor_reduce_kind)k))) return (tensor_reduce_kind)k;
    return REDUCE_USER;
}

static uint32_t find_reducer(const parser *p, const char *name) {
    for (uint32_t i = 0; i < p->op->reducers.len; i++)
        if (p->op->reducers.data[i].kind == REDUCE_USER &&
            !strcmp(p->op->reducers.data[i].name, name))
            return i;
    return TENSOR_NO_REDUCER;
}

static uint32_t read_roundings(parser *p) {
    token t = p->tok;
    if (t.kind != TOK_INT || t.i < 2 || t.i > 16)
        tensor_parse_fail(p, E0971, t.at, "expected a number of roundings, 2 to 16");
    tensor_lex_next(p);
    return (uint32_t)t.i;
}

void tensor_parse_reducer(parser *p) {
    token name = tensor_lex_name(p, "the reducer's name");
    if (builtin_kind(name.text) != REDUCE_USER || find_reducer(p, name.text) != TENSOR_NO_REDUCER)
        tensor_parse_fail(p, E0972, name.at, "there already is a reducer '%s'", name.text);
    tensor_reducer r = {.name = name.text, .kind = REDUCE_USER, .at = name.at};
    type_list args = read_types(p);
    tensor_lex_expect(p, "->");
    type_list results = read_types(p);
    r.commutative = tensor_lex_accept(p, "commutative");
    if (tensor_lex_accept(p, "roundings")) r.roundings = read_roundings(p);
    tensor_lex_expect(p, "{");
    tensor_lex_expect(p, "state");
    type_list state = read_types(p);
    r.nargs = args.len, r.arg_types = args.data;
    r.nresults = results.len, r.result_types = results.data;
    r.nstate = state.len, r.state_types = state.data;
    p->reducer = &r;
    p->scope.len = 0;
    r.identity = read_section(p, "identity", state.data, state.len);
    r.lift = read_section(p, "lift", state.data, state.len);
    r.combine = read_section(p, "combine", state.data, state.len);
    r.finish = read_section(p, "finish", results.data, results.len);
    p->reducer = NULL;
    tensor_lex_expect(p, "}");
    if (!p->failed) VEC_PUSH(p->arena, &p->op->reducers, r);
}

// ---- Equations ----------------------------------------------------------------------------------

static tensor_var bind(parser *p, token name) {
    tensor_lex_expect(p, ":");
    tensor_space s = tensor_parse_space(p);
    for (uint32_t i = 0; i < p->scope.len && !p->failed; i++)
        if (p->scope.data[i].name == name.text)
            tensor_parse_fail(p, E0972, name.at, "'%s' already stands for an index here",
                              name.text);
    if (p->failed) return 0;
    tensor_var v = tensor_add_var(p->op, name.text, s);
    VEC_PUSH(p->arena, &p->scope, ((binding){name.text, v}));
    return v;
}

static void add_left(parser *p, var_list *left, tensor_var v) {
    for (uint32_t i = 0; i < left->len; i++)
        if (left->data[i] == v) return;
    VEC_PUSH(p->arena, left, v);
}

static int64_t read_int(parser *p) {
    token t = p->tok;
    if (t.kind != TOK_INT) tensor_parse_fail(p, E0971, t.at, "expected a whole number");
    tensor_lex_next(p);
    return t.i;
}

static tensor_expr read_target_index(parser *p, tensor_space axis, var_list *left) {
    span at = p->tok.at;
    if (p->tok.kind == TOK_INT)
        return tensor_index(p->op, axis, tensor_int(p->op, read_int(p)), at);
    token name = tensor_lex_name(p, "an index");
    tensor_var v = UINT32_MAX;
    for (uint32_t i = 0; i < p->scope.len; i++)
        if (p->scope.data[i].name == name.text) v = p->scope.data[i].var;
    if (tensor_lex_is(&p->tok, ":")) v = bind(p, name);
    else if (v == UINT32_MAX)
        tensor_parse_fail(p, E0972, name.at, "the space of '%s' is missing: '%s:SPACE'", name.text,
                          name.text);
    if (p->failed) return 0;
    add_left(p, left, v);
    tensor_expr e = tensor_var_expr(p->op, v, at);
    if (!tensor_lex_accept(p, "+")) return p->failed ? 0 : e;
    int64_t offset = read_int(p);
    if (p->failed) return 0;
    e = tensor_cvt(p->op, TENSOR_TYPE(I64), e, at);
    return tensor_index(p->op, axis,
                        tensor_binary(p->op, TENSOR_ADD_OP, e, tensor_int(p->op, offset), at), at);
}

static tensor_target read_target(parser *p, var_list *left) {
    token name = tensor_lex_name(p, "a value");
    tensor_target t = {.val = tensor_parse_val(p, name)};
    expr_list index = {0};
    tensor_lex_expect(p, "[");
    while (!p->failed && !tensor_lex_is(&p->tok, "]")) {
        if (index.len) tensor_lex_expect(p, ",");
        const tensor_val_info *v = &p->op->vals.data[t.val];
        if (index.len >= v->rank)
            tensor_parse_fail(p, E0973, p->tok.at, "'%s' has %u axes", v->name, (unsigned)v->rank);
        tensor_expr e = p->failed ? 0 : read_target_index(p, v->axes[index.len], left);
        VEC_PUSH(p->arena, &index, e);
    }
    tensor_lex_expect(p, "]");
    t.rank = index.len;
    t.index = index.data;
    return t;
}

static void read_guards(parser *p, tensor_stage *s) {
    VEC(tensor_key) keys = {0};
    expr_list filters = {0};
    do {
        tensor_expr e = tensor_parse_expr(p);
        if (tensor_lex_accept(p, "==")) {
            tensor_expr rhs = tensor_parse_expr(p);
            VEC_PUSH(p->arena, &keys, ((tensor_key){e, rhs}));
        } else {
            VEC_PUSH(p->arena, &filters, e);
        }
    } while (tensor_lex_accept(p, ","));
    s->nkeys = keys.len, s->keys = keys.data;
    s->nfilters = filters.len, s->filters = filters.data;
}

static void read_binders(parser *p, tensor_stage *s) {
    var_list bound = {0};
    while (p->tok.kind == TOK_NAME && tensor_lex_is(&p->next, ":") && !p->failed) {
        token name = tensor_lex_name(p, "an index");
        tensor_var v = bind(p, name);
        VEC_PUSH(p->arena, &bound, v);
        if (!tensor_lex_accept(p, ",")) break;
    }
    s->nbound = bound.len, s->bound = bound.data;
}

// The reducer called `name`, builtin ones by the type of what they reduce.
static uint32_t reducer_for(parser *p, token name, const tensor_stage *s) {
    tensor_reduce_kind kind = builtin_kind(name.text);
    if (kind == REDUCE_USER) {
        uint32_t r = find_reducer(p, name.text);
        if (r == TENSOR_NO_REDUCER)
            tensor_parse_fail(p, E0972, name.at, "there is no reducer '%s'", name.text);
        return r;
    }
    tensor_type t = s->nbody ? tensor_typeof(p->op, s->body[0]) : TENSOR_TYPE(F32);
    bool logic = kind == REDUCE_ANY || kind == REDUCE_ALL,
         order = kind == REDUCE_MAX || kind == REDUCE_MIN;
    bool good = logic ? t.type == DT_BOOL : t.type != DT_BOOL && (t.type != DT_INDEX || order);
    if (good) return tensor_builtin_reducer(p->op, kind, t);
    tensor_parse_fail(p, E0973, name.at, "'%s' of %s", name.text,
                      tensor_type_text(p->arena, p->op, t));
    return TENSOR_NO_REDUCER;
}

static void read_ties(parser *p, tensor_stage *s) {
    if (!tensor_lex_is(&p->tok, "ties") || p->next.kind != TOK_NAME) return;
    tensor_lex_next(p);
    if (tensor_lex_accept(p, "split")) s->ties = TIES_SPLIT;
    else if (tensor_lex_accept(p, "all")) s->ties = TIES_ALL;
    else tensor_lex_expect(p, "first");
}

static void read_reduction(parser *p, tensor_stage *s) {
    token name = tensor_lex_name(p, "a reducer");
    tensor_lex_expect(p, "{");
    read_binders(p, s);
    tensor_parse_lets(p);
    if (tensor_lex_accept(p, ":")) read_guards(p, s);
    tensor_lex_expect(p, "}");
    expr_list body = tensor_parse_tuple(p), orelse = {0};
    if (tensor_lex_is(&p->tok, "else") && tensor_lex_is(&p->next, "(")) {
        tensor_lex_next(p);
        orelse = tensor_parse_tuple(p);
    }
    s->nbody = body.len, s->body = body.data;
    s->nelse = orelse.len, s->orelse = orelse.data;
    read_ties(p, s);
    if (!p->failed) s->reducer = reducer_for(p, name, s);
}

static void read_plain(parser *p, tensor_stage *s) {
    expr_list body = {0};
    tensor_parse_lets(p);
    if (tensor_lex_is(&p->tok, "(")) body = tensor_parse_tuple(p);
    else VEC_PUSH(p->arena, &body, tensor_parse_expr(p));
    s->nbody = body.len, s->body = body.data;
}

static void read_mark(parser *p, tensor_stage *s) {
    token t = p->tok;
    const char *text = tensor_lex_name(p, "a mark").text;
    tensor_mark m = 0;
    while (!p->failed && m < TENSOR_MARK_COUNT && strcmp(tensor_mark_text(m), text) != 0) m++;
    if (p->failed) return;
    if (m < TENSOR_MARK_COUNT) tensor_set_mark(s, m);
    else tensor_parse_fail(p, E0972, t.at, "'%s' is no mark of a stage", text);
}

// [online, behind] a.max[v] = …
static void read_marks(parser *p, tensor_stage *s) {
    if (!tensor_lex_accept(p, "[")) return;
    do read_mark(p, s);
    while (tensor_lex_accept(p, ","));
    tensor_lex_expect(p, "]");
}

void tensor_parse_equation(parser *p, uint32_t loop) {
    tensor_stage s = {
        .reducer = TENSOR_NO_REDUCER, .loop = loop, .ties = TIES_FIRST, .at = p->tok.at};
    p->scope.len = 0;
    read_marks(p, &s);
    if (loop != TENSOR_NO_LOOP) {
        tensor_var step = p->op->loops.data[loop].step;
        VEC_PUSH(p->arena, &p->scope, ((binding){p->op->vars.data[step].name, step}));
    }
    if (tensor_lex_is(&p->next, ":")) {
        s.name = tensor_lex_name(p, "a name").text;
        tensor_lex_next(p);
    }
    VEC(tensor_target) targets = {0};
    var_list left = {0};
    do {
        tensor_target t = read_target(p, &left);
        VEC_PUSH(p->arena, &targets, t);
    } while (tensor_lex_accept(p, ","));
    tensor_lex_expect(p, "=");
    if (p->failed) return;
    s.ntargets = targets.len, s.targets = targets.data;
    s.nleft = left.len, s.left = left.data;
    if (!s.name) s.name = p->op->vals.data[targets.data[0].val].name;
    if (p->tok.kind == TOK_NAME && tensor_lex_is(&p->next, "{")) read_reduction(p, &s);
    else read_plain(p, &s);
    if (!p->failed) tensor_add_stage(p->op, s);
}
