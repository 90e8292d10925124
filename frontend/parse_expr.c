// Constructors of expressions: literals with their range, trees with their depth, comparisons that
// don't chain.
#include "parse.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static ast_expr *new_expr(parse *p, ast_kind kind, span at) {
    ast_expr *e = ARENA_NEW(p->arena, ast_expr);
    e->kind = kind;
    e->at = at;
    e->depth = 1;
    p->faults.expr_end = at.hi;
    return e;
}

static void deepen(ast_expr *e, const ast_expr *child) {
    if (child && child->depth >= e->depth) e->depth = child->depth + 1;
}

// Where the limit is passed a number stands in for the tree: the file is refused, and no walk of it
// can run out of stack.
static ast_expr *checked(parse *p, ast_expr *e) {
    for (const ast_expr *a = e->args; a; a = a->next) deepen(e, a);
    for (const ast_binder *b = e->binders; b; b = b->next) deepen(e, b->in);
    deepen(e, e->guard);
    deepen(e, e->orelse);
    deepen(e, e->body);
    if (e->depth <= AST_MAX_DEPTH) return e;
    parse_too_deep(p, e->at);
    ast_expr *stand_in = new_expr(p, AST_NUMBER, e->at);
    stand_in->text = "0";
    stand_in->is_integer = true;
    return stand_in;
}

// ---- Leaves -------------------------------------------------------------------------------------
static bool is_zero(const char *text) {
    for (; *text && *text != 'e' && *text != 'E'; text++)
        if (*text >= '1' && *text <= '9') return false;
    return true;
}

static void read_integer(parse *p, ast_expr *e) {
    errno = 0;
    long long value = strtoll(e->text, NULL, 10);
    if (errno == ERANGE) {
        diag_help(parse_error(p, diag(p->ds, E0104, e->at, "%s does not fit in 64 bits", e->text)),
                  "the largest integer is 9223372036854775807; a real number has a point: %s.0",
                  e->text);
        return;
    }
    e->integer = value;
    e->is_integer = true;
}

static void read_real(parse *p, ast_expr *e) {
    if (isinf(e->number))
        diag_help(parse_error(
                      p, diag(p->ds, E0104, e->at, "%s is larger than any 64-bit float", e->text)),
                  "infinity is written inf");
    else if (!e->number && !is_zero(e->text))
        parse_error(p, diag(p->ds, E0104, e->at, "%s is not 0, but smaller than any 64-bit float",
                            e->text));
}

ast_expr *parse_number(parse *p, ast_name text) {
    ast_expr *e = new_expr(p, AST_NUMBER, text.at);
    e->text = text.text;
    e->number = strtod(text.text, NULL);
    size_t digits = strspn(text.text, "0123456789");
    if (!text.text[digits]) read_integer(p, e);
    else read_real(p, e);
    return e;
}

ast_expr *parse_named(parse *p, ast_kind kind, span at, ast_name name) {
    ast_expr *e = new_expr(p, kind, at);
    e->name = name;
    return e;
}

// ---- Trees --------------------------------------------------------------------------------------
ast_expr *parse_ref(parse *p, span at, ast_name name, ast_expr_list args) {
    ast_expr *e = parse_named(p, AST_REF, at, name);
    e->args = args.first;
    return checked(p, e);
}

ast_expr *parse_call(parse *p, span at, ast_name name, ast_expr_list args) {
    ast_expr *e = parse_named(p, AST_CALL, at, name);
    e->args = args.first;
    return checked(p, e);
}

ast_expr *parse_unary(parse *p, ast_kind kind, span at, ast_expr *a) {
    ast_expr *e = new_expr(p, kind, at);
    e->args = a;
    return checked(p, e);
}

ast_expr *parse_tuple(parse *p, span at, ast_expr *first, ast_expr_list rest) {
    first->next = rest.first;
    return parse_unary(p, AST_TUPLE, at, first);
}

ast_expr *parse_binary(parse *p, ast_kind kind, span at, ast_expr *a, ast_expr *b) {
    a->next = b;
    return parse_unary(p, kind, at, a);
}

static bool is_comparison(const ast_expr *e) { return e->kind >= AST_EQ && e->kind <= AST_GE; }

static const char *source_text(parse *p, span at) {
    return arena_strndup(p->arena, p->source->text + (at.lo - p->source->base), at.hi - at.lo);
}

static void report_chain(parse *p, ast_kind kind, const ast_expr *a, span op) {
    const ast_expr *middle = a->args->next;
    diagnostic *d = parse_error(p, diag(p->ds, E0109, op, "comparisons don't chain"));
    if (a->kind == AST_LT && kind == AST_GT && a->args->kind == AST_NAME) {
        diag_help(
            d,
            "the result of an op called with generics goes to a name without indices: h = %s<%s>(…);",
            a->args->name.text, source_text(p, middle->at));
        return;
    }
    const char *joined = arena_printf(p->arena, "&& %s %s", source_text(p, middle->at),
                                      source_text(p, op));
    diag_fix(d, op, joined, "compare twice, or put one comparison in parentheses");
}

// a < b < c is read as (a < b) < c, so that parsing goes on, and refused.
ast_expr *parse_comparison(parse *p, ast_kind kind, span at, ast_expr *a, span op, ast_expr *b) {
    if (is_comparison(a)) report_chain(p, kind, a, op);
    return parse_binary(p, kind, at, a, b);
}

ast_expr *parse_conditional(parse *p, span at, ast_expr *condition, ast_expr *a, ast_expr *b) {
    condition->next = a;
    a->next = b;
    return parse_unary(p, AST_COND, at, condition);
}

// An argument with its keys is the expression itself, marked; the same tree is never an argument
// twice.
ast_expr *parse_keyed(ast_expr *e, int how, ast_names_list keys) {
    e->how = how == AST_BY ? AST_BY : AST_OVER;
    e->keys = keys.first;
    return e;
}

// ---- Reductions ---------------------------------------------------------------------------------
ast_reduce_head parse_reduce_head(ast_binder_list binders, ast_expr *guard, ast_expr *orelse,
                                  ast_name ties) {
    return (ast_reduce_head){binders, guard, orelse, ties};
}

ast_expr *parse_reduction(parse *p, span at, ast_name name, ast_reduce_head head, ast_expr *body) {
    ast_expr *e = parse_named(p, AST_REDUCE, at, name);
    e->binders = head.binders.first;
    e->guard = head.guard;
    e->orelse = head.orelse;
    e->ties = head.ties;
    e->body = body;
    return checked(p, e);
}

ast_binder *parse_binder(parse *p, ast_name name, ast_expr *in) {
    ast_binder *b = ARENA_NEW(p->arena, ast_binder);
    b->name = name;
    b->in = in;
    return b;
}
