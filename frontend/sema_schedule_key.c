// Expressions in schedules: extents, which are numbers and lets; keys and factors, which are
// functions of an index.
#include "sema_schedule_names.h"
#include <math.h>
#include <string.h>

// ---- Extents ------------------------------------------------------------------------------------
static bool extent_value(schedule_checker *c, const ast_expr *e, double *out);

static bool subject_value(schedule_checker *c, const ast_subject *x, double *out) {
    ast_expr name = {.kind = AST_NAME, .at = x->at};
    const char *text = schedule_name_of(x);
    if (text) name.name = x->path->name;
    if (text || x->expr) return extent_value(c, text ? &name : x->expr, out);
    diag(c->s->ds, E0520, x->at, "a number is wanted here");
    return false;
}

// Every choice has to be a number; the first one counts.
static bool let_value(schedule_checker *c, schedule_let *let, span at, double *out) {
    let->used = true;
    if (let->open) {
        diagnostic *d = diag(c->s->ds, E0522, at, "'%s' is defined by itself", let->name.text);
        diag_note(d, let->name.at, "it is defined here");
        return false;
    }
    if (!let->value) return false;
    let->open = true;
    bool good = subject_value(c, let->value, out);
    double other;
    for (const ast_subject *x = let->value->choice; x; x = x->choice)
        good &= subject_value(c, x, &other);
    let->open = false;
    return good;
}

static bool name_value(schedule_checker *c, const ast_expr *e, double *out) {
    schedule_let *let = schedule_let_find(c, e->name.text);
    if (let) return let_value(c, let, e->at, out);
    if (c->op->op && schedule_is_size(c->op->op, e->name.text)) {
        diag(c->s->ds, E0520, e->at, "'%s' is a size, and an extent is the same for every size",
             e->name.text);
        return false;
    }
    diagnostic *d = diag(c->s->ds, E0520, e->at, "'%s' is no number known here", e->name.text);
    schedule_names there = {0};
    for (uint32_t i = 0; i < c->lets.len; i++)
        VEC_PUSH(c->s->arena, &there, c->lets.data[i].name.text);
    if (!diag_suggest(d, e->at, e->name.text, there.data, there.len))
        diag_help(d, "extents are made of numbers and lets: let %s = 32;", e->name.text);
    return false;
}

static bool operate(schedule_checker *c, const ast_expr *e, double a, double b, double *out) {
    if ((e->kind == AST_DIV || e->kind == AST_MOD) && b == 0) {
        diag(c->s->ds, E0520, e->at, "this divides by zero");
        return false;
    }
    *out = e->kind == AST_ADD   ? a + b
           : e->kind == AST_SUB ? a - b
           : e->kind == AST_MUL ? a * b
           : e->kind == AST_DIV ? a / b
                                : a - b * floor(a / b);
    return true;
}

static bool extent_value(schedule_checker *c, const ast_expr *e, double *out) {
    double a, b;
    switch (e->kind) {
    case AST_NUMBER: return *out = e->is_integer ? (double)e->integer : e->number, true;
    case AST_NAME: return name_value(c, e, out);
    case AST_PAREN: return extent_value(c, e->args, out);
    case AST_NEG: return extent_value(c, e->args, &a) && (*out = -a, true);
    case AST_ADD:
    case AST_SUB:
    case AST_MUL:
    case AST_DIV:
    case AST_MOD:
        return extent_value(c, e->args, &a) & extent_value(c, e->args->next, &b) &&
               operate(c, e, a, b, out);
    case AST_PRIMED:
    case AST_REF:
    case AST_TUPLE:
    case AST_CALL:
    case AST_REDUCE:
    case AST_NOT:
    case AST_EQ:
    case AST_NE:
    case AST_LT:
    case AST_LE:
    case AST_GT:
    case AST_GE:
    case AST_AND:
    case AST_OR:
    case AST_COND: break;
    }
    diagnostic *d = diag(c->s->ds, E0520, e->at, "an extent is made of numbers and lets");
    diag_help(d, "with + - * / %% between them");
    return false;
}

static bool names_let(const ast_expr *e) {
    bool any = e->kind == AST_NAME;
    for (const ast_expr *a = e->args; a; a = a->next) any |= names_let(a);
    return any;
}

bool schedule_extent(schedule_checker *c, const ast_subject *x, int64_t *out) {
    double v;
    if (!subject_value(c, x, &v)) return false;
    if (v >= 1 && v <= INT32_MAX && v == floor(v)) return *out = (int64_t)v, true;
    textbuf b = textbuf_new(c->s->arena);
    textbuf_double(&b, v);
    diagnostic *d = diag(c->s->ds, E0520, x->at,
                         "this is %s, and a whole number from 1 to 2147483647 is wanted", b.data);
    if (x->expr && names_let(x->expr)) diag_help(d, "each let counts with its first choice here");
    return false;
}

// ---- Keys and factors ---------------------------------------------------------------------------
typedef struct {
    schedule_checker *c;
    bool of_index;   // a key: of the subject and nothing else; a factor may use any one index
    bool depends;
    const char *index;   // of a factor
} key;

static bool key_expr(key *k, const ast_expr *e);

static bool key_fault(key *k, span at, const char *what, const char *name) {
    diagnostic *d = diag(k->c->s->ds, E0529, at, what, name);
    diag_help(d, k->of_index
                     ? "a key is a function of its index, such as degree(dst, v)"
                     : "a factor is a number, a scalar of the op or a function of an index");
    return false;
}

static bool is_constant(const char *name) {
    return !strcmp(name, "inf") || !strcmp(name, "none") || !strcmp(name, "pi") ||
           !strcmp(name, "true") || !strcmp(name, "false");
}

static bool unknown_name(key *k, span at, const char *name) {
    const tensor_op *op = k->c->op->op;
    schedule_names there = {0};
    for (tensor_val v = 0; v < op->nparams; v++)
        VEC_PUSH(k->c->s->arena, &there, op->vals.data[v].name);
    diagnostic *d = diag(k->c->s->ds, E0517, at, "'%s' names nothing in '%s'", name,
                         k->c->op->path);
    diag_suggest(d, at, name, there.data, there.len);
    return false;
}

static bool key_name(key *k, const ast_expr *e, bool argument) {
    schedule_checker *c = k->c;
    const char *name = e->name.text;
    schedule_let *let = schedule_let_find(c, name);
    double v;
    if (let) return let_value(c, let, e->at, &v);
    if (name == c->index) return k->depends = true;
    if (is_constant(name) || !c->op->op || schedule_is_size(c->op->op, name)) return true;
    const tensor_val_info *value = schedule_value_find(c, name);
    if (value && (value->role == VAL_SCALAR || argument)) return true;
    if (value)
        return key_fault(k, e->at,
                         value->type == DT_INDEX ? "'%s' is a map: it is given an index here"
                                                 : "'%s' is a tensor: it is given indices here",
                         name);
    bool index = c->op->gradient || schedule_is_index(c, name);
    if (index && !k->of_index && k->index && k->index != name)
        return key_fault(k, e->at, "'%s' is a second index", name);
    if (index && !k->of_index) return k->index = name, true;
    if (index && !c->op->gradient)
        return key_fault(k, e->at, "'%s' is another index than the one ordered", name);
    return unknown_name(k, e->at, name);
}

static bool key_ref(key *k, const ast_expr *e) {
    schedule_checker *c = k->c;
    const tensor_val_info *v = c->op->op ? schedule_value_find(c, e->name.text) : NULL;
    uint32_t n = 0;
    bool good = true;
    for (const ast_expr *a = e->args; a; a = a->next, n++) good &= key_expr(k, a);
    if (!c->op->op || (v && v->rank == n && v->role != VAL_STAGE && v->role != VAL_RESULT))
        return good;
    if (!v) {
        return unknown_name(k, e->name.at, e->name.text);
    }
    if (v->rank != n) return key_fault(k, e->at, "'%s' has another number of axes", e->name.text);
    return key_fault(k, e->at, "'%s' is computed by the op, and a schedule is chosen before",
                     e->name.text);
}

static uint32_t fn_arity(const ast_item *fn) {
    uint32_t n = 0;
    for (const ast_fn_param *p = fn->fn_params; p; p = p->next) n++;
    return n;
}

// Of a function of the mathematics library; -1: there is none of that name.
static int builtin_arity(const char *name) {
    if (!strcmp(name, "min") || !strcmp(name, "max")) return 2;
    for (tensor_opcode op = 0; op < TENSOR_OP_COUNT; op++)
        if (tensor_op_table(op)->kind == TENSOR_MATHS && !strcmp(tensor_op_table(op)->text, name))
            return tensor_op_table(op)->args;
    return -1;
}

static bool no_function(key *k, const ast_expr *e) {
    sema *s = k->c->s;
    schedule_names there = {0};
    for (uint32_t i = 0; i < s->fns.len; i++) VEC_PUSH(s->arena, &there, s->fns.data[i]->name.text);
    diagnostic *d = diag(s->ds, E0529, e->name.at, "there is no function '%s'", e->name.text);
    diag_suggest(d, e->name.at, e->name.text, there.data, there.len);
    return false;
}

static bool key_call(key *k, const ast_expr *e) {
    sema *s = k->c->s;
    const ast_item *fn = sema_find(s->fns.data, s->fns.len, e->name.text);
    uint32_t n = 0;
    bool good = true, plain = true;
    for (const ast_expr *a = e->args; a; a = a->next, n++) {
        plain &= a->how == AST_PLAIN;
        good &= a->kind == AST_NAME ? key_name(k, a, true) : key_expr(k, a);
    }
    int want = fn ? (int)fn_arity(fn) : builtin_arity(e->name.text);
    if (want < 0) return no_function(k, e);
    return plain && want == (int)n
               ? good
               : key_fault(k, e->at, "'%s' takes other arguments", e->name.text);
}

static bool key_expr(key *k, const ast_expr *e) {
    bool good = true;
    switch (e->kind) {
    case AST_NUMBER: return true;
    case AST_NAME: return key_name(k, e, false);
    case AST_REF: return key_ref(k, e);
    case AST_CALL: return key_call(k, e);
    case AST_PAREN:
    case AST_NEG:
    case AST_NOT:
    case AST_ADD:
    case AST_SUB:
    case AST_MUL:
    case AST_DIV:
    case AST_MOD:
    case AST_EQ:
    case AST_NE:
    case AST_LT:
    case AST_LE:
    case AST_GT:
    case AST_GE:
    case AST_AND:
    case AST_OR:
    case AST_COND:
        for (const ast_expr *a = e->args; a; a = a->next) good &= key_expr(k, a);
        return good;
    case AST_PRIMED:
    case AST_TUPLE:
    case AST_REDUCE: break;
    }
    return key_fault(k, e->at, "%s cannot stand in a schedule: name it with fn", "this");
}

bool schedule_key(schedule_checker *c, const ast_expr *e, bool of_index) {
    key k = {c, of_index, false, NULL};
    if (!key_expr(&k, e)) return false;
    if (!of_index || k.depends || !c->index) return true;
    return key_fault(&k, e->at, "this does not depend on '%s'", c->index);
}
