// Conditions of a schedule: about what is known when a plan is made. Names and kinds are checked.
#include "sema_expr.h"
#include "sema_schedule_names.h"
#include <math.h>
#include <string.h>

// m: a map; n: a number; x: a tensor or map. NUMBER or CONDITION is what the call gives.
static const struct when_call {
    const char *name, *args;
    bool condition;
    const char *help;
} calls[] = {
    {"max", "m", false, "max(dst): the largest preimage"},
    {"min", "m", false, "min(dst): the smallest preimage"},
    {"avg", "m", false, "avg(dst): the mean preimage"},
    {"std", "m", false, "std(dst): the standard deviation of preimages"},
    {"quantile", "mn", false, "quantile(dst, 0.9): the preimage that nine of ten do not exceed"},
    {"fill", "mn", false,
     "fill(type, 64): the share of rows in use where preimages are cut in tiles of 64"},
    {"density", "mmn", false,
     "density(dst, src, 16): the share of cells in use where 16 rows have a column for each distinct value of src"},
    {"aligned", "xn", true,
     "aligned(x, 16): the address and every row of x are multiples of 16 bytes"},
    {"sorted", "m", true, "sorted(dst): no entry is below the one before it"},
    {"unique", "m", true, "unique(eid)"},
    {"partial", "m", true, "partial(src)"},
    {"prefix", "m", true, "prefix(self)"},
    {"strided", "x", true, "strided(x)"},
    {"packed", "x", true, "packed(x)"},
    {"symmetric", "mm", true, "symmetric(src, dst)"},
};
static const char *const device_numbers[] = {"sms", "shared_bytes", "l2_bytes"};
enum {
    CALLS = sizeof calls / sizeof *calls,
    DEVICE_NUMBERS = sizeof device_numbers / sizeof *device_numbers
};

typedef enum { WHEN_FAULTY, WHEN_NUMBER, WHEN_CONDITION, WHEN_TYPE, WHEN_FUNCTION } when_kind;
static const char *const kind_texts[] = {"", "a number", "a condition", "a type", "a function"};

static when_kind when_expr(schedule_checker *c, const ast_expr *e);

const ast_generic *schedule_generic_find(const schedule_op *op, const char *name) {
    for (const ast_generic *g = op->body->generics; g; g = g->next)
        if (g->name.text == name) return g;
    return NULL;
}

static when_kind generic_kind(const ast_generic *g) {
    const char *kind = g->kind.text ? g->kind.text : "float";
    if (!strcmp(kind, "size")) return WHEN_NUMBER;
    return !strcmp(kind, "float") || !strcmp(kind, "int") ? WHEN_TYPE : WHEN_FUNCTION;
}

static bool is_device_number(const char *name) {
    for (uint32_t i = 0; i < DEVICE_NUMBERS; i++)
        if (!strcmp(name, device_numbers[i])) return true;
    return false;
}

bool schedule_is_function(const sema *s, const char *name) {
    entity r;
    lowering none = {.s = (sema *)s};
    return sema_find(s->fns.data, s->fns.len, name) || reducer_find(&none, NULL, name, &r);
}

static void report_name(schedule_checker *c, const ast_expr *e) {
    const tensor_op *op = c->op->op;
    const char *name = e->name.text;
    const tensor_val_info *v = schedule_value_find(c, name);
    if (v) {
        diagnostic *d = diag(c->s->ds, E0526, e->at,
                             v->type == DT_INDEX
                                 ? "'%s' is a map"
                                 : "the value of '%s' is not known when a schedule is chosen",
                             name);
        diag_note(d, v->at, "'%s' is declared here", name);
        if (v->type == DT_INDEX)
            diag_help(d, "conditions are about its preimages: max(%s), avg(%s), quantile(%s, 0.9)",
                      name, name, name);
        return;
    }
    schedule_names there = {0};
    for (tensor_space s = 0; s < op->spaces.len; s++)
        if (op->spaces.data[s].kind != SPACE_COUNT_OF && op->spaces.data[s].name[0] != '_')
            VEC_PUSH(c->s->arena, &there, op->spaces.data[s].name);
    for (const ast_generic *g = c->op->body->generics; g; g = g->next)
        VEC_PUSH(c->s->arena, &there, g->name.text);
    for (uint32_t i = 0; i < DEVICE_NUMBERS; i++) VEC_PUSH(c->s->arena, &there, device_numbers[i]);
    diagnostic *d = diag(c->s->ds, E0526, e->at, "'%s' is nothing a condition knows", name);
    schedule_suggest(c, d, e->at, name, &there, "it knows");
}

static when_kind when_name(schedule_checker *c, const ast_expr *e) {
    ir_dtype t;
    const char *name = e->name.text;
    const ast_generic *g = schedule_generic_find(c->op, name);
    if (g) return generic_kind(g);
    if (schedule_is_size(c->op->op, name) || is_device_number(name)) return WHEN_NUMBER;
    if (sema_dtype(name, &t)) return WHEN_TYPE;
    if (!strcmp(name, "deterministic")) return WHEN_CONDITION;
    if (!schedule_value_find(c, name) && schedule_is_function(c->s, name)) return WHEN_FUNCTION;
    report_name(c, e);
    return WHEN_FAULTY;
}

// ---- Calls --------------------------------------------------------------------------------------
static const struct when_call *call_find(const char *name) {
    for (uint32_t i = 0; i < CALLS; i++)
        if (!strcmp(calls[i].name, name)) return &calls[i];
    return NULL;
}

static bool check_argument(schedule_checker *c, const struct when_call *f, char kind,
                           const ast_expr *a) {
    if (kind == 'n') {
        when_kind k = when_expr(c, a);
        if (k == WHEN_NUMBER || k == WHEN_FAULTY) return k == WHEN_NUMBER;
        diag(c->s->ds, E0527, a->at, "a number is wanted here, and this is %s", kind_texts[k]);
        return false;
    }
    const tensor_val_info *v = a->kind == AST_NAME ? schedule_value_find(c, a->name.text) : NULL;
    bool fits = v && (v->role == VAL_MAP ||
                      (kind == 'x' && v->role != VAL_SCALAR && v->role != VAL_STAGE));
    if (fits) return true;
    schedule_names names = {0};
    for (tensor_val i = 0; i < c->op->op->nparams; i++)
        if (c->op->op->vals.data[i].role == VAL_MAP)
            VEC_PUSH(c->s->arena, &names, c->op->op->vals.data[i].name);
    diagnostic *d = diag(c->s->ds, E0526, a->at,
                         kind == 'm' ? "the name of a map is wanted here"
                                     : "the name of a tensor or map is wanted here");
    if (v && v->at.hi) diag_note(d, v->at, "'%s' is declared here", v->name);
    bool close = !v && a->kind == AST_NAME &&
                 diag_suggest(d, a->at, a->name.text, names.data, names.len);
    if (!close) diag_help(d, "%s", f->help);
    return false;
}

static bool check_share(schedule_checker *c, const struct when_call *f, const ast_expr *last) {
    bool share = !strcmp(f->name, "quantile"), number = last->kind == AST_NUMBER;
    double x = last->number * 1000;
    bool fits = share ? x >= 0 && x <= 1000 && fabs(x - round(x)) < 1e-6
                      : last->is_integer && last->integer >= 1;
    if (!number || fits) return true;
    diag(c->s->ds, E0527, last->at,
         share ? "a quantile is between 0 and 1, in thousandths"
               : "a whole number of at least 1 is wanted here");
    return false;
}

static when_kind when_call(schedule_checker *c, const ast_expr *e) {
    const struct when_call *f = call_find(e->name.text);
    if (!f) {
        const char *names[CALLS];
        for (uint32_t i = 0; i < CALLS; i++) names[i] = calls[i].name;
        diagnostic *d = diag(c->s->ds, E0526, e->name.at, "a condition knows no '%s'",
                             e->name.text);
        if (!diag_suggest(d, e->name.at, e->name.text, names, CALLS))
            diag_help(
                d,
                "it knows max, min, avg, std, quantile, fill and density of maps, and facts such as aligned(x, 16)");
        return WHEN_FAULTY;
    }
    uint32_t n = 0, want = (uint32_t)strlen(f->args);
    bool good = true;
    const ast_expr *last = NULL;
    for (const ast_expr *a = e->args; a && n < want; last = a, a = a->next, n++)
        good &= check_argument(c, f, f->args[n], a);
    if (n < want || (last && last->next)) {
        diag_help(diag(c->s->ds, E0527, e->at, "'%s' takes %u argument%s", f->name, want,
                       want == 1 ? "" : "s"),
                  "%s", f->help);
        return WHEN_FAULTY;
    }
    if (good && f->args[want - 1] == 'n') good = check_share(c, f, last);
    return !good ? WHEN_FAULTY : f->condition ? WHEN_CONDITION : WHEN_NUMBER;
}

// ---- Operators ----------------------------------------------------------------------------------
static bool wanted(schedule_checker *c, const ast_expr *e, when_kind want, when_kind is) {
    if (is == WHEN_FAULTY || is == want) return is == want;
    diag(c->s->ds, E0527, e->at, "%s is wanted here, and this is %s", kind_texts[want],
         kind_texts[is]);
    return false;
}

static when_kind operands(schedule_checker *c, const ast_expr *e, when_kind want,
                          when_kind result) {
    bool good = true;
    for (const ast_expr *a = e->args; a; a = a->next) good &= wanted(c, a, want, when_expr(c, a));
    return good ? result : WHEN_FAULTY;
}

// Types and functions are equal or not; numbers are also ordered.
static bool comparable(schedule_checker *c, const ast_expr *a, const ast_expr *b, bool ordered,
                       span at) {
    when_kind x = when_expr(c, a), y = when_expr(c, b);
    if (x == WHEN_FAULTY || y == WHEN_FAULTY) return false;
    if (x == y && x != WHEN_CONDITION && (!ordered || x == WHEN_NUMBER)) return true;
    if (x == y) diag(c->s->ds, E0527, at, "%s is not compared so", kind_texts[x]);
    else diag(c->s->ds, E0527, at, "%s is not compared with %s", kind_texts[x], kind_texts[y]);
    return false;
}

bool schedule_asks_alignment(const ast_expr *e) {
    if (e->kind == AST_CALL && !strcmp(e->name.text, "aligned")) return true;
    for (const ast_expr *a = e->args; a; a = a->next)
        if (schedule_asks_alignment(a)) return true;
    return false;
}

static when_kind negation(schedule_checker *c, const ast_expr *e) {
    if (!schedule_asks_alignment(e->args)) return operands(c, e, WHEN_CONDITION, WHEN_CONDITION);
    diagnostic *d = diag(c->s->ds, E0527, e->at,
                         "a schedule may need alignment, not that it is missing");
    diag_help(d, "schedules are tried in their order: put the one that needs it first");
    return WHEN_FAULTY;
}

static when_kind when_expr(schedule_checker *c, const ast_expr *e) {
    switch (e->kind) {
    case AST_NUMBER: return WHEN_NUMBER;
    case AST_NAME: return when_name(c, e);
    case AST_CALL: return when_call(c, e);
    case AST_PAREN: return when_expr(c, e->args);
    case AST_NEG:
    case AST_ADD:
    case AST_SUB:
    case AST_MUL:
    case AST_DIV:
    case AST_MOD: return operands(c, e, WHEN_NUMBER, WHEN_NUMBER);
    case AST_NOT: return negation(c, e);
    case AST_AND:
    case AST_OR: return operands(c, e, WHEN_CONDITION, WHEN_CONDITION);
    case AST_EQ:
    case AST_NE:
        return comparable(c, e->args, e->args->next, false, e->at) ? WHEN_CONDITION : WHEN_FAULTY;
    case AST_LT:
    case AST_LE:
    case AST_GT:
    case AST_GE:
        return comparable(c, e->args, e->args->next, true, e->at) ? WHEN_CONDITION : WHEN_FAULTY;
    case AST_PRIMED:
    case AST_REF:
    case AST_TUPLE:
    case AST_REDUCE:
    case AST_COND: break;
    }
    diagnostic *d = diag(c->s->ds, E0527, e->at,
                         "a condition is about sizes, types, facts and preimages, not about data");
    diag_help(d, "max(dst) > 64, F in {32, 64}, T == f16, aligned(x, 16), shared_bytes >= 65536");
    return WHEN_FAULTY;
}

void schedule_condition_check(schedule_checker *c, const ast_expr *e) {
    wanted(c, e, WHEN_CONDITION, when_expr(c, e));
}

void schedule_when_check(schedule_checker *c) {
    if (!c->op->op) return;
    for (const ast_condition *w = c->item->schedule.when; w; w = w->next) {
        if (!w->in) schedule_condition_check(c, w->expr);
        for (const ast_expr *a = w->in; a; a = a->next) comparable(c, w->expr, a, false, a->at);
    }
}
