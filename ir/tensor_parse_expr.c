// Expressions of tensor IR text. Every node is checked before it is built, so what a file says
// never reaches an ICE.
#include "tensor_parse.h"

#include <string.h>

enum { MAX_NESTING = 200, MAX_ARGS = 1000 };

static tensor_expr tensor_parse_node(parser *p, tensor_node n) {
    if (p->failed) return 0;
    int8_t want = tensor_op_table((tensor_opcode)n.op)->args;
    if (want < 0 || n.nargs == (uint32_t)want) n.type = tensor_result_type(p->op, &n);
    const char *fault = tensor_node_fault(p->arena, p->op, &n);
    if (!fault) return tensor_node_new(p->op, n);
    tensor_parse_fail(p, E0973, n.at, "%s", fault);
    return 0;
}

static void read_list(parser *p, const char *close, expr_list *out) {
    while (!p->failed && !tensor_lex_is(&p->tok, close)) {
        if (out->len && tensor_lex_is(&p->tok, ",")) tensor_lex_next(p);
        else if (out->len) break;
        if (out->len == MAX_ARGS)
            tensor_parse_fail(p, E0974, p->tok.at, "a list has at most %d expressions", MAX_ARGS);
        VEC_PUSH(p->arena, out, tensor_parse_expr(p));
    }
    tensor_lex_expect(p, close);
}

expr_list tensor_parse_tuple(parser *p) {
    expr_list list = {0};
    tensor_lex_expect(p, "(");
    read_list(p, ")", &list);
    return list;
}

bool tensor_parse_dtype(const parser *p, const token *t, ir_dtype *out) {
    (void)p;
    for (int k = 0; k < DT_COUNT && t->kind == TOK_NAME; k++) {
        if (strcmp(t->text, ir_dtype_text((ir_dtype)k)) != 0) continue;
        *out = (ir_dtype)k;
        return true;
    }
    return false;
}

static tensor_expr read_load(parser *p) {
    token name = tensor_lex_name(p, "a value");
    tensor_lex_expect(p, "[");
    expr_list list = {0};
    read_list(p, "]", &list);
    tensor_val v = tensor_parse_val(p, name);
    tensor_node n = {.op = TENSOR_LOAD_OP,
                     .nargs = (uint16_t)list.len,
                     .args = list.data,
                     .imm.i = v,
                     .at = name.at};
    return tensor_parse_node(p, n);
}

static ir_dtype read_dtype(parser *p) {
    ir_dtype t = DT_F32;
    if (!tensor_parse_dtype(p, &p->tok, &t))
        tensor_parse_fail(p, E0971, p->tok.at, "expected a type");
    else tensor_lex_next(p);
    return t;
}

static int64_t read_statistic(parser *p) {
    static const char *const statistics[] = {"max", "min", "avg"};
    for (int64_t k = 0; k < 3; k++)
        if (tensor_lex_accept(p, statistics[k])) return k;
    tensor_parse_fail(p, E0971, p->tok.at, "expected max, min or avg");
    return 0;
}

static int64_t read_count(parser *p) {
    int64_t i = p->tok.i;
    if (p->tok.kind == TOK_INT && i >= 0) return tensor_lex_next(p), i;
    tensor_parse_fail(p, E0971, p->tok.at, "expected a number that is not negative");
    return 0;
}

static int64_t read_map(parser *p) { return tensor_parse_val(p, tensor_lex_name(p, "a map")); }

// What an operation takes before its arguments, in the parentheses.
static void read_attributes(parser *p, tensor_node *n) {
    switch (n->op) {
    case TENSOR_SIZE_OP: n->imm.i = tensor_parse_space(p); break;
    case TENSOR_NONE_OP: n->type = (tensor_type){DT_INDEX, tensor_parse_space(p)}; break;
    case TENSOR_PREIMAGE_OP:
        n->imm2 = read_statistic(p);
        tensor_lex_expect(p, ",");
        n->imm.i = read_map(p);
        break;
    case TENSOR_AT_LEAST_OP:
    case TENSOR_CUT_PARTS_OP:
        n->imm.i = read_map(p);
        tensor_lex_expect(p, ",");
        n->imm2 = read_count(p);
        break;
    case TENSOR_SYMMETRIC_OP:
        n->imm.i = read_map(p);
        tensor_lex_expect(p, ",");
        n->imm2 = read_map(p);
        break;
    case TENSOR_INDEX_OP:
        n->type = (tensor_type){DT_INDEX, tensor_parse_space(p)};
        tensor_lex_expect(p, ",");
        break;
    case TENSOR_CVT_OP:
        n->type = (tensor_type){read_dtype(p), TENSOR_NO_SPACE};
        tensor_lex_expect(p, ",");
        break;
    case TENSOR_ROUND_OP:
        n->imm.i = read_dtype(p);
        tensor_lex_expect(p, ",");
        break;
    default: break;   // arguments alone
    }
}

static tensor_expr read_call(parser *p) {
    token name = tensor_lex_name(p, "an operation");
    tensor_node n = {.op = TENSOR_OP_COUNT, .at = name.at};
    for (uint32_t k = 0; k < TENSOR_OP_COUNT; k++)
        if (!strcmp(name.text, tensor_op_table((tensor_opcode)k)->text)) n.op = (uint16_t)k;
    bool leaf = n.op < TENSOR_OP_COUNT && tensor_op_table((tensor_opcode)n.op)->kind == TENSOR_LEAF;
    bool callable = n.op < TENSOR_OP_COUNT && n.op != TENSOR_LOAD_OP &&
                    (!leaf || n.op == TENSOR_SIZE_OP || n.op == TENSOR_NONE_OP);
    if (!callable) tensor_parse_fail(p, E0972, name.at, "there is no operation '%s'", name.text);
    if (p->failed) return 0;
    tensor_lex_expect(p, "(");
    read_attributes(p, &n);
    expr_list list = {0};
    read_list(p, ")", &list);
    n.nargs = (uint16_t)list.len;
    n.args = list.data;
    return tensor_parse_node(p, n);
}

// arg.0, left.0 and right.0, inside a reducer.
static bool read_component(parser *p, tensor_expr *out) {
    static const tensor_opcode ops[] = {TENSOR_ARG_OP, TENSOR_LEFT_OP, TENSOR_RIGHT_OP};
    for (int k = 0; k < 3; k++) {
        const char *text = tensor_op_table(ops[k])->text;
        size_t length = strlen(text);
        uint32_t n = k == 0 ? p->reducer->nargs : p->reducer->nstate;
        const tensor_type *types = k == 0 ? p->reducer->arg_types : p->reducer->state_types;
        for (uint32_t i = 0; i < n; i++) {
            if (strncmp(p->tok.text, text, length) != 0 || p->tok.text[length] != '.') continue;
            if (strcmp(p->tok.text + length + 1, arena_printf(p->arena, "%u", (unsigned)i)) != 0)
                continue;
            tensor_node c = {.op = (uint16_t)ops[k], .type = types[i], .imm.i = i, .at = p->tok.at};
            tensor_lex_next(p);
            *out = tensor_parse_node(p, c);
            return true;
        }
    }
    return false;
}

static tensor_expr read_word(parser *p) {
    token t = p->tok;
    bool yes = tensor_lex_is(&t, "true");
    if (yes || tensor_lex_is(&t, "false")) {
        tensor_lex_next(p);
        return tensor_parse_node(
            p, (tensor_node){
                   .op = TENSOR_CONST_OP, .type = TENSOR_TYPE(BOOL), .imm.i = yes, .at = t.at});
    }
    tensor_expr component;
    if (p->reducer && read_component(p, &component)) return component;
    tensor_lex_next(p);
    for (uint32_t i = p->scope.len; i-- > 0;)
        if (p->scope.data[i].name == t.text)
            return tensor_parse_node(
                p, (tensor_node){.op = TENSOR_VAR_OP, .imm.i = p->scope.data[i].var, .at = t.at});
    tensor_parse_fail(p, E0972, t.at, "there is no variable '%s' here", t.text);
    return 0;
}

static tensor_expr read_let_use(parser *p) {
    token t = p->tok;
    tensor_lex_next(p);
    if (t.i <= p->lets.len) return p->failed ? 0 : p->lets.data[t.i - 1];
    tensor_parse_fail(p, E0972, t.at, "there is no let %%%lld above", (long long)t.i);
    return 0;
}

static tensor_expr read_constant(parser *p) {
    tensor_node n = {.op = TENSOR_CONST_OP, .type = TENSOR_TYPE(I64), .at = p->tok.at};
    if (p->tok.kind == TOK_INT) n.imm.i = p->tok.i;
    else n.imm.f = p->tok.f;
    if (p->tok.kind == TOK_FLOAT) n.type = (tensor_type){p->tok.type, TENSOR_NO_SPACE};
    tensor_lex_next(p);
    return tensor_parse_node(p, n);
}

static bool in_scope(const parser *p, const char *name) {
    for (uint32_t i = 0; i < p->scope.len; i++)
        if (p->scope.data[i].name == name) return true;
    return false;
}

static tensor_expr read_expr(parser *p) {
    switch (p->tok.kind) {
    case TOK_INT:
    case TOK_FLOAT: return read_constant(p);
    case TOK_LET: return read_let_use(p);
    case TOK_NAME:
        if (tensor_lex_is(&p->next, "[") && !(p->plan && in_scope(p, p->tok.text)))
            return read_load(p);
        return tensor_lex_is(&p->next, "(") ? read_call(p) : read_word(p);
    case TOK_END:
    case TOK_STRING:
    case TOK_MARK: break;
    }
    tensor_parse_fail(p, E0971, p->tok.at, "expected an expression");
    return 0;
}

tensor_expr tensor_parse_expr(parser *p) {
    if (p->depth >= MAX_NESTING)
        tensor_parse_fail(p, E0974, p->tok.at,
                          "expressions nest at most %d deep; bind parts with let", MAX_NESTING);
    p->depth++;
    tensor_expr e = p->failed ? 0 : read_expr(p);
    p->depth--;
    return p->failed ? 0 : e;
}

void tensor_parse_lets(parser *p) {
    p->lets.len = 0;
    while (!p->failed && tensor_lex_is(&p->tok, "let") && p->next.kind == TOK_LET) {
        tensor_lex_next(p);
        if (p->tok.i != (int64_t)p->lets.len + 1)
            tensor_parse_fail(p, E0972, p->tok.at, "lets are numbered in order; this is %%%u",
                              (unsigned)p->lets.len + 1);
        tensor_lex_next(p);
        tensor_lex_expect(p, "=");
        tensor_expr e = tensor_parse_expr(p);
        if (!p->failed) VEC_PUSH(p->arena, &p->lets, e);
    }
}

tensor_expr tensor_parse_value(parser *p) {
    tensor_parse_lets(p);
    return tensor_parse_expr(p);
}
