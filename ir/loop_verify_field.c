// What the table of fields (loop_field.def) has checked of a node: that values are of what the op
// has, and the rules of those that are there.
#include "loop_verify.h"

static const char *check_variable(loop_verifier *v, const loop_node *n, const loop_field *f) {
    uint32_t x = loop_field_count(f, n);
    return x < v->op->vars.len ? NULL : WRONG(v, "there is no variable %u", (unsigned)x);
}

static const char *check_condition(loop_verifier *v, tensor_expr e) {
    TRY(loop_check_expr(v, e, UINT32_MAX));
    return tensor_typeof(v->op, e).type == DT_BOOL ? NULL : WRONG(v, "a condition is a bool");
}

static const char *check_stage(loop_verifier *v, const loop_node *n, uint32_t i, bool reduces) {
    if (n->stages[i] >= v->op->stages.len)
        return WRONG(v, "there is no stage %u", (unsigned)n->stages[i]);
    const tensor_stage *s = &v->op->stages.data[n->stages[i]];
    if (reduces && s->reducer == TENSOR_NO_REDUCER)
        return WRONG(v, "stage '%s' reduces nothing", s->name);
    if (s->loop != v->rounds)
        return WRONG(v, "stage '%s' %s", s->name,
                     s->loop == TENSOR_NO_LOOP ? "is in no recurrence, but in rounds of one"
                                               : "is not in the rounds of its recurrence");
    for (uint32_t k = 0; k < i; k++)
        if (n->stages[k] == n->stages[i]) return WRONG(v, "stage '%s' is named twice", s->name);
    return NULL;
}

static const char *check_stages(loop_verifier *v, const loop_node *n, bool reduce) {
    if (n->nstages == 0) return WRONG(v, "'%s' names no stage", loop_node_table(n->kind)->text);
    for (uint32_t i = 0; i < n->nstages; i++) TRY(check_stage(v, n, i, reduce));
    return NULL;
}

static const char *check_value(loop_verifier *v, const loop_node *n, const loop_field *f) {
    switch ((int)f->form) {
    case LOOP_FORM_variable: return check_variable(v, n, f);
    case LOOP_FORM_bound:
    case LOOP_FORM_limit: return loop_check_index(v, loop_field_count(f, n));
    case LOOP_FORM_expr: return loop_check_expr(v, loop_field_count(f, n), UINT32_MAX);
    case LOOP_FORM_condition: return check_condition(v, loop_field_count(f, n));
    case LOOP_FORM_stages: return check_stages(v, n, false);
    case LOOP_FORM_reductions: return check_stages(v, n, true);
    }
    return NULL;
}

const char *loop_check_values(loop_verifier *v, const loop_node *n) {
    for (const loop_field *f = NULL; (f = loop_field_next(n->kind, f));)
        if (loop_field_said(f, n)) TRY(check_value(v, n, f));
    return NULL;
}

typedef struct {
    loop_scope scope;
    const char *(*check)(loop_verifier *v, const loop_node *n);   // NULL: nothing
} field_rule;

#define NONE {LOOP_HEAD, NULL}
#define HEAD(name) {LOOP_HEAD, loop_check_##name}
#define BODY(name) {LOOP_BODY, loop_check_##name}
#define END(name) {LOOP_END, loop_check_##name}
static const field_rule rules[] = {
#define LOOP_FIELD(of, in, form, at, data, word, least, when, ...) __VA_ARGS__,
#include "loop_field.def"
};

const char *loop_check_fields(loop_verifier *v, const loop_node *n, loop_scope scope) {
    for (const loop_field *f = NULL; (f = loop_field_next(n->kind, f));) {
        const field_rule *r = &rules[loop_field_place(f)];
        if (r->check && r->scope == scope && loop_field_said(f, n)) TRY(r->check(v, n));
    }
    return NULL;
}
