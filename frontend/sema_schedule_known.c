// Conditions that are known when an op is compiled: about its types, and sizes given by -D. The rest waits
// for the plan.
#include "schedule.h"
#include <math.h>
#include <string.h>

typedef struct {
    enum { MAYBE, NUMBER, NAME } kind;
    double number;   // a condition: 0 or 1
    const char *name;
} known;
static const known maybe = {MAYBE, 0, NULL};

typedef struct {
    sema *s;
    const schedule_op *op;
} known_context;

static known known_number(double x) { return (known){NUMBER, x, NULL}; }

static const char *generic_value(const known_context *k, const ast_generic *g) {
    const ast_names *given = k->op->item->kind == AST_OP_ALIAS ? k->op->item->names : NULL;
    for (const ast_generic *h = k->op->body->generics; h && given; h = h->next, given = given->next)
        if (h == g) return given->name.text;
    const char *defined = sema_define(k->s, g->name.text), *kind = g->kind.text ? g->kind.text : "float";
    if (defined) return intern(k->s->names, defined);
    return !strcmp(kind, "float") ? "f32" : !strcmp(kind, "int") ? "i32" : NULL;
}

static known known_text(const char *text, bool size) {
    int64_t n = 0;
    if (!text) return maybe;
    if (!size) return (known){NAME, 0, text};
    for (; *text >= '0' && *text <= '9' && n < 100000000000; text++) n = n * 10 + (*text - '0');
    return *text ? maybe : known_number((double)n);
}

static known known_name(const known_context *k, const ast_expr *e) {
    ir_dtype t;
    const char *name = e->name.text;
    const ast_generic *g = schedule_generic_find(k->op, name);
    if (g) return known_text(generic_value(k, g), g->kind.text && !strcmp(g->kind.text, "size"));
    if (k->op->op && schedule_is_size(k->op->op, name)) return known_text(sema_define(k->s, name), true);
    return sema_dtype(name, &t) || schedule_is_function(k->s, name) ? (known){NAME, 0, name} : maybe;
}

static known known_compare(ast_kind kind, known a, known b) {
    if (a.kind == MAYBE || a.kind != b.kind) return maybe;
    bool equal = a.kind == NAME ? !strcmp(a.name, b.name) : a.number == b.number;
    if (kind == AST_EQ || kind == AST_NE) return known_number(equal == (kind == AST_EQ));
    bool less = a.number < b.number;
    return known_number(kind == AST_LT   ? less
                        : kind == AST_LE ? less || equal
                        : kind == AST_GT ? !less && !equal
                                         : !less);
}

static known known_operator(ast_kind kind, known a, known b) {
    bool both = a.kind == NUMBER && b.kind == NUMBER;
    switch (kind) {
    case AST_AND:
    case AST_OR: {
        double decides = kind == AST_OR;   // either side alone may settle it
        if ((a.kind == NUMBER && a.number == decides) || (b.kind == NUMBER && b.number == decides))
            return known_number(decides);
        return both ? known_number(!decides) : maybe;
    }
    case AST_ADD: return both ? known_number(a.number + b.number) : maybe;
    case AST_SUB: return both ? known_number(a.number - b.number) : maybe;
    case AST_MUL: return both ? known_number(a.number * b.number) : maybe;
    case AST_DIV: return both && b.number != 0 ? known_number(a.number / b.number) : maybe;
    case AST_MOD:
        return both && b.number != 0 ? known_number(a.number - b.number * floor(a.number / b.number)) : maybe;
    case AST_EQ:
    case AST_NE:
    case AST_LT:
    case AST_LE:
    case AST_GT:
    case AST_GE: return known_compare(kind, a, b);
    case AST_NUMBER:
    case AST_NAME:
    case AST_PRIMED:
    case AST_REF:
    case AST_TUPLE:
    case AST_CALL:
    case AST_REDUCE:
    case AST_NEG:
    case AST_NOT:
    case AST_COND:
    case AST_PAREN: break;
    }
    return maybe;
}

static known known_value(const known_context *k, const ast_expr *e) {
    known a;
    switch (e->kind) {
    case AST_NUMBER: return known_number(e->is_integer ? (double)e->integer : e->number);
    case AST_NAME: return known_name(k, e);
    case AST_PAREN: return known_value(k, e->args);
    case AST_NEG: a = known_value(k, e->args); return a.kind == NUMBER ? known_number(-a.number) : maybe;
    case AST_NOT: a = known_value(k, e->args); return a.kind == NUMBER ? known_number(a.number == 0) : maybe;
    case AST_ADD:
    case AST_SUB:
    case AST_MUL:
    case AST_DIV:
    case AST_MOD:
    case AST_AND:
    case AST_OR:
    case AST_EQ:
    case AST_NE:
    case AST_LT:
    case AST_LE:
    case AST_GT:
    case AST_GE: return known_operator(e->kind, known_value(k, e->args), known_value(k, e->args->next));
    case AST_CALL:
    case AST_PRIMED:
    case AST_REF:
    case AST_TUPLE:
    case AST_REDUCE:
    case AST_COND: return maybe;
    }
    return maybe;
}

bool schedule_when_may_hold(sema *s, const schedule_op *op, const ast_item *item) {
    known_context k = {s, op};
    for (const ast_condition *w = item->when; w; w = w->next) {
        bool may = !w->in;
        known x = known_value(&k, w->expr);
        for (const ast_expr *a = w->in; a; a = a->next) {
            known same = known_compare(AST_EQ, x, known_value(&k, a));
            may |= same.kind == MAYBE || same.number != 0;
        }
        if (!w->in) may = x.kind != NUMBER || x.number != 0;
        if (!may) return false;
    }
    return true;
}
