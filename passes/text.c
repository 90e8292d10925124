// Loop plans that were read from text, as a program: versions guarded as the text says and where
// vectors take something for granted, then the naive plan.
#include "planning.h"
#include "base/base.h"

typedef struct {
    tensor_var var;   // stands for the position of a loop with vectors
    uint32_t width;
    bool padded;
} vector_var;
typedef VEC(vector_var) vector_vars;

static bool has_var(const tensor_stage *st, tensor_var v) {
    for (uint32_t i = 0; i < st->nleft + st->nbound; i++)
        if (v == (i < st->nleft ? st->left[i] : st->bound[i - st->nleft])) return true;
    return false;
}

static void guard_stages(planner *p, const loop_node *n, const vector_vars *vars) {
    for (uint32_t s = 0; s < n->nstages; s++)
        for (uint32_t i = 0; i < vars->len; i++) {
            const tensor_stage *st = &p->op->stages.data[n->stages[s]];
            if (has_var(st, vars->data[i].var))
                plan_vector_guards(p, st, vars->data[i].var, vars->data[i].width,
                                   vars->data[i].padded);
        }
}

static void follow_let(planner *p, const loop_node *n, vector_vars *vars) {
    const tensor_node *value = tensor_node_at(p->op, n->value);
    for (uint32_t i = 0; i < vars->len && value->op == TENSOR_VAR_OP; i++)
        if (vars->data[i].var == (tensor_var)value->imm.i) {
            VEC_PUSH(p->arena, vars,
                     ((vector_var){n->var, vars->data[i].width, vars->data[i].padded}));
            return;
        }
}

static void guard_body(planner *p, const loop_body *body, vector_vars *vars) {
    uint32_t mark = vars->len;
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        if (n->kind == LOOP_LET) follow_let(p, n, vars);
        uint32_t inside = vars->len;
        if (n->kind == LOOP_FOR && n->ndigits && n->digits[0].place == LOOP_VECTOR_PLACE)
            VEC_PUSH(p->arena, vars,
                     ((vector_var){n->var, n->digits[0].extent, loop_has_padding(p->op, n)}));
        guard_stages(p, n, vars);
        guard_body(p, &n->body, vars);
        vars->len = inside;
    }
    vars->len = mark;
}

static bool compiles(planner *p, const loop_kernel *k) {
    if (p->machine->gpu || k->threads == 1) return true;
    diag(p->ds, E0977, k->at,
         "kernel '%s' has blocks of %u threads, and those of the host are one thread", k->name,
         (unsigned)k->threads);
    return false;
}

static bool is_value(void *user, const tensor_node *load) {
    const planner *p = user;
    const tensor_val_info *v = &p->op->vals.data[load->imm.i];
    return v->role != VAL_PREPARED || prepared_value(v->builder);
}

// The naive plan stands beside a text's, and knows of no order of points but that of its own walks.
static bool naive_can(const planner *p) {
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        const tensor_stage *st = &p->op->stages.data[i];
        if (plan_loads(p, st, is_value, (void *)(uintptr_t)p)) continue;
        diagnostic *d = diag(
            p->ds, E0977, st->at,
            "'%s' reads a prepared order of points, which the naive plan does not have", st->name);
        diag_help(d, "read it in loops, lets and conditions");
        return false;
    }
    return true;
}

static bool is_good(planner *p, bool nondeterministic) {
    span at = p->op->at;
    const loop_kernel *in = NULL;
    const char *refusal = lower_refusal(p->arena, p->plan, &at, &in);
    if (refusal) diag(p->ds, E0977, at, "%s", refusal);
    if (refusal) return false;
    const loop_node *unordered = nondeterministic ? NULL : loop_unordered(p->plan);
    if (!unordered) return true;
    diagnostic *d = diag(p->ds, E0555, unordered->at,
                         "floats combined in memory meet in another order at each launch");
    diag_help(d, "compile with --no-deterministic, or stage the states: 'store_state'");
    return false;
}

// A size that the version knows, and the definition leaves open.
static void guard_size(planner *p, const program_space *of, tensor_space s) {
    const tensor_space_info *known = &p->op->spaces.data[s];
    if (known->kind != SPACE_CONST || of->kind == SPACE_CONST) return;
    const size_token tokens[] = {{SZ_SPACE, s, 0}, {SZ_CONST, known->size, 0}, {SZ_EQ, 0, 0}};
    size_expr equal = {0};
    for (uint32_t i = 0; i < sizeof tokens / sizeof *tokens; i++)
        VEC_PUSH(p->arena, &equal, tokens[i]);
    plan_holds(p, equal, arena_printf(p->arena, "%s == %lld", known->name, (long long)known->size));
}

// What the text says, and what its loops ask for, which may have been edited.
static bool find_guards(planner *p) {
    vector_vars vars = {0};
    for (uint32_t i = 0; i < p->plan->steps.len; i++) {
        const loop_step *step = &p->plan->steps.data[i];
        if (step->kind != LOOP_LAUNCH) continue;
        if (!compiles(p, step->kernel)) return false;
        guard_body(p, &step->kernel->body, &vars);
    }
    plan_specialize_guards(p);
    plan_narrow_guards(p);
    return true;
}

// A plan with a version is one of the compiler's, whose positions and offsets fit 31 bits.
static bool add_plan(diag_set *ds, program *p, loop_plan *plan, const loop_version *said,
                     const machine *m, const pass_options *o, plan_versions *out) {
    arena *a = plan->arena;
    version_facts facts = {
        .index_bits = o->index_bits, .narrow = said->name, .any_strides = plan->any_strides};
    for (uint32_t i = 0; i < said->guards.len; i++)
        VEC_PUSH(a, &facts.guards, said->guards.data[i]);
    planner guards = {.arena = a,
                      .ds = ds,
                      .plan = plan,
                      .op = plan->op,
                      .machine = m,
                      .facts = &facts,
                      .nspaces = p->spaces.len};
    if (!is_good(&guards, o->nondeterministic) || !find_guards(&guards)) return false;
    for (tensor_space s = 0; s < p->spaces.len; s++) guard_size(&guards, &p->spaces.data[s], s);
    program_version v = {.name = said->name ? said->name : "text"};
    for (uint32_t i = 0; i < facts.guards.len; i++) VEC_PUSH(a, &v.guards, facts.guards.data[i]);
    VEC_PUSH(a, &out->of, v);
    VEC_PUSH(a, &out->plans, ((plan_version){plan, facts.narrow}));
    return true;
}

program *pass_loop(arena *a, diag_set *ds, const loop_text *text, const char *name,
                   const pass_options *o) {
    tensor_op *op = text->definition ? text->definition : text->plans.data[0]->op;
    const planner whole = {.arena = a, .ds = ds, .plan = text->plans.data[0], .op = op};
    program *p = naive_can(&whole) ? pass_naive(a, ds, op, o) : NULL;
    if (!p) return NULL;
    const machine *m = machine_with(a, name, o);
    plan_versions versions = {0};
    uint32_t taken = PASS_ALL;
    for (uint32_t i = 0; i < text->plans.len; i++)
        if (!add_plan(ds, p, text->plans.data[i], &text->versions.data[i], m, o, &versions))
            return NULL;
    if (!plan_take(a, p, &versions, o, &taken)) return NULL;
    return plan_lower(a, op, p, m, &versions, taken, o);
}
