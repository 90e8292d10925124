// Reads the version of a plan in loop IR text (LOOP.md): what it takes for granted, and what its
// results are compared with.
#include "loop_parse.h"

#include <string.h>

// ---- As it stands there -------------------------------------------------------------------------

static token read_string(plan_parser *p, const char *what) {
    token t = p->text.tok;
    if (t.kind != TOK_STRING)
        tensor_parse_fail(&p->text, E0971, t.at, "expected %s in quotes", what);
    tensor_lex_next(&p->text);
    return t;
}

static int64_t read_integer(plan_parser *p) {
    token t = p->text.tok;
    if (t.kind != TOK_INT || t.i < 0) tensor_parse_fail(&p->text, E0971, t.at, "expected a number");
    tensor_lex_next(&p->text);
    return t.i;
}

static void read_axis(plan_parser *p, program_guard *g) {
    int64_t axis = read_integer(p);
    g->axis = axis > UINT32_MAX ? UINT32_MAX : (uint32_t)axis;
}

static void read_where(plan_parser *p, read_version *v) {
    parser *t = &p->text;
    read_guard r = {.guard = {.kind = GUARD_HOLDS}};
    program_guard *g = &r.guard;
    if (t->tok.kind == TOK_STRING) {
        g->text = read_string(p, "a condition").text;
        g->pays = tensor_lex_accept(t, "pays");
        tensor_lex_expect(t, ":");
        r.sizes = read_string(p, "its sizes");
    } else {
        token kind = tensor_lex_name(t, "a condition in quotes, aligned, stride or reach");
        r.param = tensor_lex_name(t, "a parameter");
        g->kind = !strcmp(kind.text, "aligned") ? GUARD_ALIGNED
                  : !strcmp(kind.text, "reach") ? GUARD_REACH
                                                : GUARD_STRIDE;
        if (g->kind == GUARD_STRIDE) {
            if (strcmp(kind.text, "stride"))
                tensor_parse_fail(t, E0971, kind.at,
                                  "expected a condition in quotes, aligned, stride or reach");
            read_axis(p, g);
            if (tensor_lex_accept(t, "is")) g->kind = GUARD_PITCH;
            else tensor_lex_expect(t, "multiple");
        }
        if (g->kind == GUARD_REACH) tensor_lex_expect(t, "below");
        g->value = read_integer(p);
    }
    VEC_PUSH(t->arena, &v->guards, r);
}

static void read_typed(plan_parser *p) {
    tensor_op *plans = p->text.op;
    bool plan = p->text.plan;
    p->text.plan = false;
    p->plan->typed = tensor_parse_op(&p->text, true);
    p->text.op = plans;
    p->text.plan = plan;
}

static void read_every(plan_parser *p, read_version *v) {
    uint32_t times = 0;
    VEC_PUSH(p->text.arena, &v->every, tensor_lex_name(&p->text, "a stage"));
    loop_parse_number(p, &times);
    VEC_PUSH(p->text.arena, &v->times, times);
}

static void read_line(plan_parser *p, read_version *v) {
    parser *t = &p->text;
    if (tensor_lex_accept(t, "where")) read_where(p, v);
    else if (tensor_lex_accept(t, "together")) p->plan->together = true;
    else if (tensor_lex_accept(t, "near")) p->plan->near = true;
    else if (tensor_lex_accept(t, "narrow")) p->plan->narrow = true;
    else if (tensor_lex_accept(t, "typed")) read_typed(p);
    else if (tensor_lex_accept(t, "every")) read_every(p, v);
    else if (tensor_lex_accept(t, "strides"))
        tensor_lex_expect(t, "any"), p->plan->any_strides = true;
    else if (tensor_lex_accept(t, "apart")) do
            VEC_PUSH(t->arena, &v->apart, tensor_lex_name(t, "a stage"));
        while (tensor_lex_accept(t, ","));
    else if (tensor_lex_accept(t, "relative")) do
            VEC_PUSH(t->arena, &v->relative, tensor_lex_name(t, "a stage"));
        while (tensor_lex_accept(t, ","));
    else
        tensor_parse_fail(
            t, E0971, t->tok.at,
            "expected where, together, strides, near, narrow, typed, every, apart or relative");
}

void loop_parse_version(plan_parser *p, read_version *out) {
    out->name = read_string(p, "the version's name");
    tensor_lex_expect(&p->text, "{");
    while (!p->text.failed && !tensor_lex_is(&p->text.tok, "}")) read_line(p, out);
    tensor_lex_expect(&p->text, "}");
}

// ---- Of the definition --------------------------------------------------------------------------

static tensor_val param_of(plan_parser *p, const tensor_op *op, token name) {
    for (tensor_val v = 0; v < op->nparams; v++)
        if (!strcmp(op->vals.data[v].name, name.text)) return v;
    tensor_parse_fail(&p->text, E0972, name.at, "the definition has no parameter '%s'", name.text);
    return 0;
}

static void resolve_guard(plan_parser *p, const tensor_op *op, const program *names,
                          const read_guard *r, loop_version *out) {
    parser *t = &p->text;
    program_guard g = r->guard;
    if (g.kind != GUARD_HOLDS) {
        g.param = param_of(p, op, r->param);
        const tensor_val_info *v = &op->vals.data[g.param];
        if (v->role == VAL_SCALAR)
            tensor_parse_fail(t, E0972, r->param.at, "'%s' is no array", r->param.text);
        else if (g.axis >= v->rank && g.kind != GUARD_ALIGNED && g.kind != GUARD_REACH)
            tensor_parse_fail(t, E0972, r->param.at, "'%s' has no axis %u", r->param.text,
                              (unsigned)g.axis);
        else if (g.value < 1)
            tensor_parse_fail(t, E0971, r->param.at, "expected a positive number");
    } else if (!size_read(t->arena, names, r->sizes.text, &g.holds))
        tensor_parse_fail(t, E0972, r->sizes.at,
                          "expected sizes of the definition in postfix, such as \"F 4 %% 0 ==\"");
    VEC_PUSH(t->arena, &out->guards, g);
}

static uint32_t stage_of(plan_parser *p, const tensor_op *op, token name) {
    const char **names = loop_stage_names(p->text.arena, op);
    for (uint32_t i = 0; i < op->stages.len; i++)
        if (!strcmp(names[i], name.text)) return i;
    tensor_parse_fail(&p->text, E0972, name.at, "the op it is compared with has no stage '%s'",
                      name.text);
    return UINT32_MAX;
}

void loop_parse_resolve(plan_parser *p, const tensor_op *definition, loop_plan *plan,
                        const read_version *v, loop_version *out) {
    arena *a = p->text.arena;
    const tensor_op *op = plan->typed ? plan->typed : definition;
    const char **spaces = ARENA_ARRAY(a, const char *, definition->spaces.len + 1),
               **vals = ARENA_ARRAY(a, const char *, definition->vals.len + 1);
    for (tensor_space s = 0; s < definition->spaces.len; s++)
        spaces[s] = definition->spaces.data[s].name;
    for (tensor_val i = 0; i < definition->vals.len; i++) vals[i] = definition->vals.data[i].name;
    const program names = loop_names_in_sizes(a, definition, spaces, vals);
    out->name = v->name.text;
    for (uint32_t i = 0; i < v->guards.len; i++)
        resolve_guard(p, definition, &names, &v->guards.data[i], out);
    uint32_t *every = ARENA_ARRAY(a, uint32_t, op->stages.len + 1), stage;
    for (uint32_t i = 0; i < v->every.len; i++)
        if ((stage = stage_of(p, op, v->every.data[i])) != UINT32_MAX)
            every[stage] = v->times.data[i];
    if (plan->typed) plan->every = every;
    else if (v->every.len)
        tensor_parse_fail(&p->text, E0972, v->every.data[0].at,
                          "'every' is of a version that is typed");
    for (uint32_t i = 0; i < v->apart.len; i++)
        if ((stage = stage_of(p, op, v->apart.data[i])) != UINT32_MAX)
            VEC_PUSH(a, &plan->apart, op->stages.data[stage].name);
    for (uint32_t i = 0; i < v->relative.len; i++)
        if ((stage = stage_of(p, op, v->relative.data[i])) != UINT32_MAX)
            VEC_PUSH(a, &plan->relative, op->stages.data[stage].name);
}
