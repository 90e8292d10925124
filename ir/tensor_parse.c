// Reads tensor IR text (TENSOR.md): ops and their declarations.
#include "tensor_parse.h"

#include <string.h>

// ---- Names --------------------------------------------------------------------------------------

static tensor_val find_val(const parser *p, const char *name) {
    for (uint32_t i = 0; i < p->op->vals.len; i++)
        if (p->op->vals.data[i].name == name) return i;
    return TENSOR_NO_VAL;
}

static tensor_space find_space(const parser *p, const char *name) {
    for (uint32_t i = 0; i < p->op->spaces.len; i++)
        if (p->op->spaces.data[i].name == name) return i;
    return TENSOR_NO_SPACE;
}

tensor_val tensor_parse_val(parser *p, token name) {
    tensor_val v = find_val(p, name.text);
    if (v == TENSOR_NO_VAL)
        tensor_parse_fail(p, E0972, name.at, "there is no value '%s'", name.text);
    return v == TENSOR_NO_VAL ? 0 : v;
}

tensor_space tensor_parse_space(parser *p) {
    token name = tensor_lex_name(p, "a space");
    tensor_space s = find_space(p, name.text);
    if (s == TENSOR_NO_SPACE)
        tensor_parse_fail(p, E0972, name.at, "there is no space '%s'", name.text);
    return s == TENSOR_NO_SPACE ? 0 : s;
}

// ---- Declarations -------------------------------------------------------------------------------

static void read_space(parser *p) {
    token name = tensor_lex_name(p, "the space's name");
    tensor_space_info info = {
        .name = name.text, .kind = SPACE_FREE, .classes = TENSOR_NO_VAL, .at = name.at};
    if (find_space(p, name.text) != TENSOR_NO_SPACE)
        tensor_parse_fail(p, E0972, name.at, "there already is a space '%s'", name.text);
    if (tensor_lex_accept(p, "=")) {
        if (tensor_lex_is(&p->tok, "classes") && tensor_lex_is(&p->next, "(")) {
            tensor_lex_next(p);
            tensor_lex_next(p);
            info.kind = SPACE_COUNT_OF;
            later l = {.what = LATER_CLASSES,
                       .index = p->op->spaces.len,
                       .name = tensor_lex_name(p, "a value")};
            VEC_PUSH(p->arena, &p->laters, l);
            tensor_lex_expect(p, ")");
        } else {
            info.expr = tensor_parse_value(p);
            const tensor_node *n = tensor_node_at(p->op, info.expr);
            info.kind = n->op == TENSOR_CONST_OP && n->type.type == DT_I64 ? SPACE_CONST
                                                                           : SPACE_EXPR;
            if (info.kind == SPACE_CONST) info.size = n->imm.i, info.expr = 0;
        }
    }
    const tensor_space_info *before = p->op->spaces.len ? &p->op->spaces.data[p->op->spaces.len - 1]
                                                        : NULL;
    if (!p->failed && before && tensor_node_at(p->op, before->expr)->counted &&
        !tensor_node_at(p->op, info.expr)->counted)
        tensor_parse_fail(p, E0972, name.at, "'%s' stands behind '%s', a size that maps decide",
                          name.text, before->name);
    if (!p->failed) tensor_add_space(p->op, info);
}

typedef VEC(tensor_space) space_list;

static space_list read_axes(parser *p) {
    space_list axes = {0};
    tensor_lex_expect(p, "[");
    while (!p->failed && !tensor_lex_is(&p->tok, "]")) {
        if (axes.len) tensor_lex_expect(p, ",");
        if (axes.len == 8) tensor_parse_fail(p, E0974, p->tok.at, "a value has at most 8 axes");
        VEC_PUSH(p->arena, &axes, tensor_parse_space(p));
    }
    tensor_lex_expect(p, "]");
    return axes;
}

// TYPE [axes], [axes] -> SPACE or SPACE -> SPACE.
static void read_shape(parser *p, tensor_val_info *v) {
    space_list axes = {0};
    tensor_lex_expect(p, ":");
    v->into = TENSOR_NO_SPACE;
    bool typed = tensor_parse_dtype(p, &p->tok, &v->type) && v->type != DT_INDEX &&
                 !tensor_lex_is(&p->next, "->");
    if (typed) tensor_lex_next(p);
    if (tensor_lex_is(&p->tok, "[") && !(typed && v->role == VAL_SCALAR)) axes = read_axes(p);
    else if (!typed) VEC_PUSH(p->arena, &axes, tensor_parse_space(p));
    else if (v->role != VAL_SCALAR) tensor_parse_fail(p, E0971, p->tok.at, "expected '['");
    if (!typed) {
        tensor_lex_expect(p, "->");
        v->type = DT_INDEX;
        v->into = tensor_parse_space(p);
    }
    v->rank = axes.len;
    v->axes = axes.data;
}

static uint32_t read_align(parser *p) {
    token t = p->tok;
    if (t.kind != TOK_INT || t.i < 1 || t.i > 4096 || (t.i & (t.i - 1)) != 0)
        tensor_parse_fail(p, E0971, t.at, "expected a power of two up to 4096");
    tensor_lex_next(p);
    return (uint32_t)t.i;
}

static void read_named_fact(parser *p, int what, tensor_val index) {
    later l = {.index = index, .name = tensor_lex_name(p, "a value")};
    l.what = what == LATER_SORTED ? LATER_SORTED : LATER_INPLACE;
    VEC_PUSH(p->arena, &p->laters, l);
}

static bool read_fact(parser *p, tensor_val_info *v) {
    static const struct {
        const char *text;
        uint32_t fact;
    } facts[] = {{"sorted", FACT_SORTED},
                 {"unique", FACT_UNIQUE},
                 {"partial", FACT_PARTIAL},
                 {"prefix", FACT_PREFIX},
                 {"strided", FACT_STRIDED},
                 {"packed", FACT_PACKED},
                 {"saved", FACT_SAVED},
                 {"given", FACT_GIVEN},
                 {"aligned", 0},
                 {"inplace", 0},
                 {"adjoint", 0}};
    if (p->tok.kind != TOK_NAME || tensor_lex_is(&p->next, "[") || tensor_lex_is(&p->next, ":"))
        return false;
    uint32_t k = 0, n = sizeof facts / sizeof *facts;
    while (k < n && strcmp(p->tok.text, facts[k].text) != 0) k++;
    if (k == n) return false;
    tensor_lex_next(p);
    v->facts |= facts[k].fact;
    if (k > 0 && facts[k].fact) return true;
    if (k == 0 && !tensor_lex_is(&p->tok, "(")) return true;
    tensor_lex_expect(p, "(");
    if (k == n - 3) v->align = read_align(p);
    else if (k == n - 1) v->adjoint_of = tensor_lex_name(p, "a value of another op").text;
    else read_named_fact(p, k == 0 ? LATER_SORTED : LATER_INPLACE, p->op->vals.len);
    tensor_lex_expect(p, ")");
    return true;
}

static void read_class_keys(parser *p, tensor_val_info *v) {
    VEC(token) names = {0};
    tensor_lex_expect(p, "=");
    tensor_lex_expect(p, "(");
    do {
        token name = tensor_lex_name(p, "a map");
        VEC_PUSH(p->arena, &names, name);
    } while (tensor_lex_accept(p, ","));
    tensor_lex_expect(p, ")");
    tensor_val *keys = ARENA_ARRAY(p->arena, tensor_val, names.len);
    for (uint32_t i = 0; i < names.len; i++)
        VEC_PUSH(p->arena, &p->laters,
                 ((later){.what = LATER_KEY, .key = &keys[i], .name = names.data[i]}));
    v->nkeys = names.len;
    v->keys = keys;
}

static void read_val(parser *p, tensor_role role) {
    token name = tensor_lex_name(p, "the value's name");
    tensor_val_info v = {.name = name.text,
                         .role = role,
                         .sorted_by = TENSOR_NO_VAL,
                         .inplace = TENSOR_NO_VAL,
                         .at = name.at};
    if (find_val(p, name.text) != TENSOR_NO_VAL)
        tensor_parse_fail(p, E0972, name.at, "there already is a value '%s'", name.text);
    bool parameter = role < VAL_STAGE;
    if (parameter && p->op->vals.len != p->op->nparams)
        tensor_parse_fail(p, E0971, name.at,
                          "parameters and results come before stages and classes");
    read_shape(p, &v);
    if (role == VAL_CLASSES) read_class_keys(p, &v);
    while (!p->failed && read_fact(p, &v)) {
    }
    if (p->failed) return;
    tensor_add_val(p->op, v);
    p->op->nparams += parameter;
}

static void read_require(parser *p) {
    token t = p->tok;
    if (t.kind != TOK_STRING)
        tensor_parse_fail(p, E0971, t.at, "expected the precondition as written, in quotes");
    tensor_lex_next(p);
    tensor_lex_expect(p, "=");
    p->scope.len = 0;
    tensor_require r = {.text = t.text, .holds = tensor_parse_value(p), .at = t.at};
    if (!p->failed) VEC_PUSH(p->arena, &p->op->required, r);
}

static void read_loop(parser *p) {
    token name = tensor_lex_name(p, "the step's name");
    tensor_lex_expect(p, ":");
    tensor_space s = tensor_parse_space(p);
    tensor_lex_expect(p, "{");
    if (p->failed) return;
    tensor_loop l = {.step = tensor_add_var(p->op, name.text, s), .space = s};
    VEC_PUSH(p->arena, &p->op->loops, l);
    uint32_t loop = p->op->loops.len - 1;
    while (!p->failed && !tensor_lex_is(&p->tok, "}")) tensor_parse_equation(p, loop);
    tensor_lex_expect(p, "}");
}

static void read_item(parser *p) {
    static const char *const roles[] = {"map",   "tensor",  "scalar",  "result",
                                        "stage", "classes", "prepared"};
    p->scope.len = 0;
    if (tensor_lex_is(&p->tok, "[")) {   // marks
        tensor_parse_equation(p, TENSOR_NO_LOOP);
        return;
    }
    if (p->tok.kind != TOK_NAME) {
        tensor_parse_fail(p, E0971, p->tok.at, "expected a declaration or an equation");
        return;
    }
    if (tensor_lex_is(&p->next, "[") || tensor_lex_is(&p->next, ":")) {
        tensor_parse_equation(p, TENSOR_NO_LOOP);
        return;
    }
    for (size_t k = 0; k < sizeof roles / sizeof *roles; k++) {
        if (!tensor_lex_accept(p, roles[k])) continue;
        read_val(p, (tensor_role)k);
        return;
    }
    if (tensor_lex_accept(p, "space")) read_space(p);
    else if (tensor_lex_accept(p, "reducer")) tensor_parse_reducer(p);
    else if (tensor_lex_accept(p, "require")) read_require(p);
    else if (tensor_lex_accept(p, "loop")) read_loop(p);
    else tensor_parse_fail(p, E0971, p->tok.at, "expected a declaration or an equation");
}

static void resolve_laters(parser *p) {
    for (uint32_t i = 0; i < p->laters.len && !p->failed; i++) {
        later *l = &p->laters.data[i];
        tensor_val v = tensor_parse_val(p, l->name);
        switch (l->what) {
        case LATER_CLASSES: p->op->spaces.data[l->index].classes = v; break;
        case LATER_SORTED: p->op->vals.data[l->index].sorted_by = v; break;
        case LATER_INPLACE: p->op->vals.data[l->index].inplace = v; break;
        case LATER_KEY: *l->key = v; break;
        }
    }
    p->laters.len = 0;
}

tensor_op *tensor_parse_op(parser *p, bool of_plan) {
    tensor_lex_expect(p, "op");
    token name = tensor_lex_name(p, "the op's name");
    p->op = tensor_op_new(p->arena, name.text);
    p->op->at = name.at;
    if (tensor_lex_accept(p, "from")) {
        if (p->tok.kind == TOK_STRING) p->op->source = p->tok.text;
        else tensor_parse_fail(p, E0971, p->tok.at, "expected a path in quotes");
        tensor_lex_next(p);
    }
    tensor_lex_expect(p, "{");
    while (!p->failed && !tensor_lex_is(&p->tok, "}")) read_item(p);
    resolve_laters(p);
    const char *fault = p->failed ? NULL : tensor_fault(p->arena, p->op, of_plan);
    if (fault) tensor_parse_fail(p, E0975, name.at, "%s", fault);
    tensor_lex_expect(p, "}");
    return p->failed ? NULL : p->op;
}

parser tensor_parse_start(arena *a, diag_set *ds, const source_file *text) {
    parser p = {.arena = a,
                .ds = ds,
                .file = text,
                .names = intern_new(a),
                .at = text->text,
                .end = text->text + text->length};
    tensor_lex_start(&p);
    return p;
}

bool tensor_parse(arena *a, diag_set *ds, const source_file *text, tensor_ops *out) {
    parser p = tensor_parse_start(a, ds, text);
    while (!p.failed && p.tok.kind != TOK_END) {
        tensor_op *op = tensor_parse_op(&p, false);
        if (op) VEC_PUSH(a, out, op);
    }
    return !p.failed;
}
