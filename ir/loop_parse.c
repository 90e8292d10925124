// Reads loop IR text (LOOP.md): the op, what the plan declares, and its steps.
#include "loop_parse.h"

#include <string.h>

void loop_parse_number(plan_parser *p, uint32_t *out) {
    token t = p->text.tok;
    if (t.kind != TOK_INT || t.i < 1 || t.i > UINT32_MAX)
        tensor_parse_fail(&p->text, E0971, t.at, "expected a positive number");
    *out = (uint32_t)t.i;
    tensor_lex_next(&p->text);
}

void loop_parse_pad(plan_parser *p, uint32_t *out) {
    span at = p->text.tok.at;
    loop_parse_number(p, out);
    if (*out > LOOP_MAX_PAD)
        tensor_parse_fail(&p->text, E0974, at, "padding is at most %d", LOOP_MAX_PAD);
}

uint32_t loop_parse_stage(plan_parser *p) {
    token name = tensor_lex_name(&p->text, "a stage");
    for (uint32_t i = 0; i < p->plan->op->stages.len; i++)
        if (p->names.stages[i] == name.text) return i;
    tensor_parse_fail(&p->text, E0972, name.at, "there is no stage '%s'", name.text);
    return 0;
}

tensor_var loop_parse_var(plan_parser *p) {
    token name = tensor_lex_name(&p->text, "a variable");
    for (uint32_t i = 0; i < p->text.scope.len; i++)
        if (p->text.scope.data[i].name == name.text) return p->text.scope.data[i].var;
    tensor_parse_fail(&p->text, E0972, name.at, "there is no variable or position '%s'", name.text);
    return 0;
}

// ---- Declarations -------------------------------------------------------------------------------

static void add_name(plan_parser *p, tensor_var v, const char *name) {
    VEC_PUSH(p->text.arena, &p->text.scope, ((binding){intern(p->text.names, name), v}));
}

static void name_all(plan_parser *p) {
    arena *a = p->text.arena;
    const tensor_op *op = p->plan->op;
    const char **vals = ARENA_ARRAY(a, const char *, op->vals.len),
               **own = ARENA_ARRAY(a, const char *, op->vars.len);
    for (tensor_val i = 0; i < op->vals.len; i++) vals[i] = op->vals.data[i].name;
    for (tensor_var i = 0; i < op->vars.len; i++) own[i] = op->vars.data[i].name;
    p->names = loop_names_of(a, op, vals, own, ARENA_ARRAY(a, bool, op->vars.len));
    for (uint32_t i = 0; i < op->stages.len; i++)
        p->names.stages[i] = intern(p->text.names, p->names.stages[i]);
    p->text.scope.len = 0;
    for (tensor_var v = 0; v < op->vars.len; v++)
        if (p->names.vars[v]) add_name(p, v, p->names.vars[v]);
}

static void read_position(plan_parser *p) {
    parser *t = &p->text;
    token name = tensor_lex_name(t, "the position's name");
    for (uint32_t i = 0; i < t->scope.len; i++)
        if (t->scope.data[i].name == name.text)
            tensor_parse_fail(t, E0972, name.at, "'%s' already stands for an index", name.text);
    for (tensor_val v = 0; v < t->op->vals.len && !t->failed; v++)
        if (t->op->vals.data[v].name == name.text)
            tensor_parse_fail(t, E0972, name.at, "there already is a value '%s'", name.text);
    tensor_lex_expect(t, ":");
    tensor_space s = tensor_parse_space(t);
    if (!t->failed) add_name(p, tensor_add_var(t->op, name.text, s), name.text);
}

tensor_val loop_parse_val(plan_parser *p) {
    return tensor_parse_val(&p->text, tensor_lex_name(&p->text, "a value"));
}

static prepared_builder read_builder(plan_parser *p) {
    token name = tensor_lex_name(&p->text, "a builder");
    for (int b = 0; b < PREPARED_BUILDER_COUNT; b++)
        if (!strcmp(name.text, prepared_builder_text((prepared_builder)b)))
            return (prepared_builder)b;
    tensor_parse_fail(&p->text, E0972, name.at, "there is no builder '%s'", name.text);
    return PREPARED_OFFSETS;
}

static void read_prepared(plan_parser *p) {
    VEC(tensor_val) args = {0};
    loop_prepared r = {.val = loop_parse_val(p)};
    tensor_lex_expect(&p->text, "=");
    r.builder = read_builder(p);
    tensor_lex_expect(&p->text, "(");
    uint32_t extent = 0, slots = 0;
    VEC_PUSH(p->text.arena, &args, loop_parse_val(p));
    while (tensor_lex_accept(&p->text, ",")) {
        if (prepared_tiles(r.builder) && p->text.tok.kind == TOK_INT) {
            loop_parse_number(p, &extent);
            if (prepared_second(r.builder) && tensor_lex_accept(&p->text, ","))
                loop_parse_number(p, &slots);
            break;
        }
        VEC_PUSH(p->text.arena, &args, loop_parse_val(p));
    }
    tensor_lex_expect(&p->text, ")");
    r.extent = extent;
    r.slots = slots;
    r.nargs = args.len;
    r.args = args.data;
    VEC_PUSH(p->text.arena, &p->plan->prepared, r);
    if (p->text.failed) return;
    tensor_val_info *made = &p->text.op->vals.data[r.val];
    if (made->role != VAL_PREPARED) return;
    made->builder = r.builder;
    made->nkeys = r.nargs;
    made->keys = r.args;
}

// A value whose home has not been said yet.
static tensor_val read_homeless(plan_parser *p) {
    token name = p->text.tok;
    tensor_val v = loop_parse_val(p);
    if (!p->text.failed && p->plan->values.data[v].home != LOOP_MEMORY)
        tensor_parse_fail(&p->text, E0972, name.at, "where '%s' lives is said twice", name.text);
    return v;
}

static void read_extents(plan_parser *p, loop_value *w, uint32_t rank) {
    parser *t = &p->text;
    tensor_lex_expect(t, "[");
    for (uint32_t i = 0; i < rank && !t->failed; i++) {
        if (i) tensor_lex_expect(t, ",");
        loop_parse_number(p, &w->extent[i]);
        if (tensor_lex_accept(t, "from")) w->origin[i] = tensor_parse_expr(t);
    }
    tensor_lex_expect(t, "]");
}

static void read_shared(plan_parser *p) {
    parser *t = &p->text;
    tensor_val v = read_homeless(p);
    loop_value w = {.home = LOOP_SHARED, .of = TENSOR_NO_VAL};
    tensor_lex_expect(t, ":");
    if (!tensor_parse_dtype(t, &t->tok, &w.type))
        tensor_parse_fail(t, E0971, t->tok.at, "expected a type");
    tensor_lex_next(t);
    if (t->failed) return;
    read_extents(p, &w, t->op->vals.data[v].rank);
    if (tensor_lex_accept(t, "of")) w.of = loop_parse_val(p);
    if (!t->failed) p->plan->values.data[v] = w;
}

static void read_padded(plan_parser *p) {
    parser *t = &p->text;
    token name = t->tok;
    tensor_val v = loop_parse_val(p);
    tensor_lex_expect(t, "[");
    for (uint32_t i = 0; !t->failed && i < t->op->vals.data[v].rank; i++) {
        uint32_t pad;
        if (i) tensor_lex_expect(t, ",");
        loop_parse_pad(p, &pad);
        if (t->failed || pad == 1) continue;
        if (p->plan->values.data[v].pad[i])
            tensor_parse_fail(t, E0972, name.at, "how '%s' is padded is said twice", name.text);
        p->plan->values.data[v].pad[i] = pad;
        p->plan->values.data[v].pitch[i] = loop_padded(t->op, t->op->vals.data[v].axes[i], pad);
    }
    tensor_lex_expect(t, "]");
}

static void read_registers(plan_parser *p) {
    tensor_val v = read_homeless(p);
    if (!p->text.failed) p->plan->values.data[v].home = LOOP_REGISTERS;
}

static void read_inline(plan_parser *p) {
    tensor_val v = read_homeless(p);
    tensor_lex_expect(&p->text, "by");
    loop_value w = {.home = LOOP_INLINE, .of = TENSOR_NO_VAL, .stage = loop_parse_stage(p)};
    if (!p->text.failed) p->plan->values.data[v] = w;
}

// ---- Steps --------------------------------------------------------------------------------------

static void add_step(plan_parser *p, loop_step s) { VEC_PUSH(p->text.arena, &p->plan->steps, s); }

static void read_kernel(plan_parser *p) {
    parser *t = &p->text;
    loop_kernel *k = ARENA_NEW(t->arena, loop_kernel);
    token name = tensor_lex_name(t, "the kernel's name");
    k->name = name.text;
    k->at = name.at;
    loop_parse_fields(p, LOOP_OF_KERNEL, k);
    loop_parse_body(p, &k->body);
    add_step(p, (loop_step){.kind = LOOP_LAUNCH, .kernel = k});
}

static void read_rounds(plan_parser *p) {
    parser *t = &p->text;
    token name = t->tok;
    tensor_var step = loop_parse_var(p);
    uint32_t loop = 0;
    while (loop < t->op->loops.len && t->op->loops.data[loop].step != step) loop++;
    if (loop == t->op->loops.len)
        tensor_parse_fail(t, E0972, name.at, "'%s' is not the step of a recurrence", name.text);
    tensor_lex_expect(t, "{");
    add_step(p, (loop_step){.kind = LOOP_ROUNDS, .loop = loop});
    while (tensor_lex_accept(t, "kernel")) read_kernel(p);
    add_step(p, (loop_step){.kind = LOOP_ROUNDS_END, .loop = loop});
    tensor_lex_expect(t, "}");
}

static void read_item(plan_parser *p) {
    static const struct {
        const char *word;
        void (*read)(plan_parser *p);
    } items[] = {{"position", read_position},   {"prepare", read_prepared},
                 {"shared", read_shared},       {"padded", read_padded},
                 {"registers", read_registers}, {"inline", read_inline},
                 {"kernel", read_kernel},       {"rounds", read_rounds}};
    tensor_parse_lets(&p->text);   // of a shared value's origins
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        if (!tensor_lex_accept(&p->text, items[i].word)) continue;
        items[i].read(p);
        return;
    }
    tensor_parse_fail(&p->text, E0971, p->text.tok.at,
                      "expected a declaration, a kernel or rounds");
}

static void read_plan(plan_parser *p) {
    parser *t = &p->text;
    tensor_lex_expect(t, "plan");
    token name = tensor_lex_name(t, "the plan's name");
    if (name.text != t->op->name)
        tensor_parse_fail(t, E0972, name.at, "the plan above is of op '%s', not '%s'", t->op->name,
                          name.text);
    tensor_lex_expect(t, "{");
    while (!t->failed && !tensor_lex_is(&t->tok, "}")) read_item(p);
    tensor_lex_expect(t, "}");
    span at = name.at;
    const char *fault = t->failed ? NULL : loop_fault(t->arena, p->plan, &at);
    if (fault) tensor_parse_fail(t, E0976, at, "%s", fault);
}

// ---- The whole text -----------------------------------------------------------------------------

typedef struct {
    plan_parser p;
    VEC(read_version) versions;   // of each plan; name END: it has none
    loop_text *out;
    span definition_at;
} text_reading;

static void read_definition(text_reading *r) {
    parser *t = &r->p.text;
    if (r->out->definition) tensor_parse_fail(t, E0971, t->tok.at, "a text holds one definition");
    t->plan = false;
    r->definition_at = t->tok.at;
    r->out->definition = tensor_parse_op(t, false);
}

static void read_planned(text_reading *r) {
    plan_parser *p = &r->p;
    p->text.plan = false;
    tensor_op *op = tensor_parse_op(&p->text, true);
    if (!op) return;
    p->plan = loop_plan_new(p->text.arena, op);
    p->text.op = p->plan->op;
    p->text.plan = true;
    name_all(p);
    read_plan(p);
    read_version v = {0};
    if (tensor_lex_accept(&p->text, "version")) loop_parse_version(p, &v);
    VEC_PUSH(p->text.arena, &r->out->plans, p->plan);
    VEC_PUSH(p->text.arena, &r->versions, v);
}

static bool same_values(const tensor_op *a, const tensor_op *b) {
    if (a->nparams != b->nparams) return false;
    for (tensor_val v = 0; v < a->nparams; v++) {
        const tensor_val_info *x = &a->vals.data[v], *y = &b->vals.data[v];
        bool same = !strcmp(x->name, y->name) && x->role == y->role && x->type == y->type &&
                    x->rank == y->rank && x->inplace == y->inplace &&
                    (x->type != DT_INDEX || x->into == y->into);
        for (uint32_t i = 0; same && i < x->rank; i++) same = x->axes[i] == y->axes[i];
        if (!same) return false;
    }
    return true;
}

// A plan's op is the definition's, rewritten: it is called with the same spaces and parameters, and
// may have more spaces. It may know a size that the definition leaves open.
static bool same_space(const tensor_space_info *definition, const tensor_space_info *s) {
    bool known = s->kind == SPACE_CONST && definition->kind != SPACE_COUNT_OF;
    return !strcmp(definition->name, s->name) && (s->kind == definition->kind || known);
}

static bool same_call(const tensor_op *definition, const tensor_op *op) {
    if (strcmp(definition->name, op->name) || op->spaces.len < definition->spaces.len) return false;
    for (tensor_space s = 0; s < definition->spaces.len; s++)
        if (!same_space(&definition->spaces.data[s], &op->spaces.data[s])) return false;
    return same_values(definition, op);
}

static void resolve_version(text_reading *r, uint32_t i) {
    parser *t = &r->p.text;
    loop_plan *plan = r->out->plans.data[i];
    const read_version *v = &r->versions.data[i];
    loop_version made = {0};
    if (!v->name.text)
        tensor_parse_fail(t, E0971, plan->op->at,
                          "this plan has no version, as plans beside a definition have");
    else if (!same_call(r->out->definition, plan->op))
        tensor_parse_fail(t, E0972, plan->op->at,
                          "the spaces and parameters of this op are not those of the definition");
    for (uint32_t k = 0; !t->failed && k < i; k++)
        if (!strcmp(r->versions.data[k].name.text, v->name.text))
            tensor_parse_fail(t, E0972, v->name.at, "there already is a version '%s'",
                              v->name.text);
    if (!t->failed && !strcmp(v->name.text, "naive"))
        tensor_parse_fail(t, E0972, v->name.at, "the version 'naive' is the compiler's own");
    if (!t->failed) loop_parse_resolve(&r->p, r->out->definition, plan, v, &made);
    VEC_PUSH(t->arena, &r->out->versions, made);
}

// A plan by itself stands for its op; so does one that was cut out with its version.
static void resolve(text_reading *r) {
    parser *t = &r->p.text;
    loop_version alone = {0};
    if (r->out->definition) {
        for (uint32_t i = 0; i < r->out->plans.len && !t->failed; i++) resolve_version(r, i);
        if (!r->out->plans.len)
            tensor_parse_fail(t, E0971, r->definition_at, "the definition has no plan");
        return;
    }
    loop_plan *plan = r->out->plans.data[0];
    if (r->out->plans.len > 1)
        tensor_parse_fail(
            t, E0971, r->out->plans.data[1]->op->at,
            "a second plan: of several each has a version, and the definition of the op ends the text");
    else if (r->versions.data[0].name.text)
        loop_parse_resolve(&r->p, plan->op, plan, &r->versions.data[0], &alone);
    VEC_PUSH(t->arena, &r->out->versions, alone);
}

bool loop_parse(arena *a, diag_set *ds, const source_file *text, loop_text *out) {
    text_reading r = {.p = {.text = tensor_parse_start(a, ds, text)}, .out = out};
    parser *t = &r.p.text;
    *out = (loop_text){0};
    do
        if (tensor_lex_accept(t, "definition")) read_definition(&r);
        else read_planned(&r);
    while (!t->failed && t->tok.kind != TOK_END);
    if (!t->failed) resolve(&r);
    return !t->failed;
}
