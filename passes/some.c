// Some passes on a text, by name: of an op with its schedule, or of plans that were read from text.
//     op, rewrite plan   →   the op's loops, without what later passes do to them
#include "planning.h"
#include "base/base.h"

// The one without suppositions comes last.
static const plan_class *any_class(const machine *m) {
    uint32_t i = 0;
    while (plan_class_at(m, i + 1)) i++;
    return plan_class_at(m, i);
}

static schedule *schedule_for(arena *a, diag_set *ds, const pass_subject *of, const machine *m,
                              version_facts *facts) {
    plan_supposed supposed;
    return of->schedule ? plan_complete(a, ds, of->op, of->schedule, m, ROWS_EVEN, facts)
                        : plan_default(a, ds, of->op, m, facts, any_class(m), ROWS_EVEN, &supposed);
}

static loop_version version_of(arena *a, const char *name, const version_facts *f) {
    loop_version v = {.name = name};
    for (uint32_t i = 0; i < f->guards.len; i++) VEC_PUSH(a, &v.guards, f->guards.data[i]);
    return v;
}

static bool check_plan(const planner *p) {
    const char *fault = loop_verify(p->arena, p->plan);
    if (fault)
        diag_help(diag(p->ds, E0830, p->op->at, "these passes leave no legal plan: %s", fault),
                  "name the passes behind 'plan' too, in their order");
    return !fault;
}

static bool run_on_op(arena *a, diag_set *ds, pass_subject *of, const char *const *names,
                      uint32_t n, const machine *m, version_facts *facts,
                      const pass_observer *after) {
    const tensor_op *any = of->op;
    if (of->schedule) of->op = plan_known_sizes(a, any, of->schedule);
    schedule *s = schedule_for(a, ds, of, m, facts);
    plan_take_conditions(a, s, facts);
    planner p = plan_new(a, ds, of->op, s, m, facts);
    facts->after = after;   // of these passes alone, not of those by which the schedule was made
    plan_states_of_op(&p);
    if (!plan_run_named(&p, names, n)) return false;
    if (!plan_has_kernels(&p)) return of->op = p.op, true;
    loop_text *text = ARENA_NEW(a, loop_text);
    text->definition = (tensor_op *)(uintptr_t)any;
    VEC_PUSH(a, &text->plans, p.plan);
    VEC_PUSH(a, &text->versions, version_of(a, s->name, facts));
    of->text = text;
    return check_plan(&p);
}

static bool run_on_plan(arena *a, diag_set *ds, loop_text *text, uint32_t at,
                        const char *const *names, uint32_t n, const machine *m,
                        version_facts *facts) {
    loop_plan *plan = text->plans.data[at];
    loop_version *v = &text->versions.data[at];
    const tensor_op *defined = text->definition ? text->definition : plan->op;
    schedule none = {.name = "none", .ids = plan->op->ids};
    facts->narrow = v->name;
    facts->any_strides = plan->any_strides;
    for (uint32_t i = 0; i < v->guards.len; i++) VEC_PUSH(a, &facts->guards, v->guards.data[i]);
    planner p = {.arena = a,
                 .ds = ds,
                 .plan = plan,
                 .op = plan->op,
                 .s = &none,
                 .machine = m,
                 .facts = facts,
                 .nspaces = defined->spaces.len};
    plan_states_of_loops(&p);
    if (!plan_run_named(&p, names, n)) return false;
    *v = version_of(a, v->name, facts);
    return check_plan(&p);
}

bool pass_some(arena *a, diag_set *ds, pass_subject *of, const char *const *names, uint32_t n,
               const char *machine_name, const pass_options *o) {
    const machine *m = machine_with(a, machine_name, o);
    const version_facts asked = {
        .index_bits = o->index_bits, .narrow = true, .nondeterministic = o->nondeterministic};
    version_facts facts = asked;
    if (!of->text) return run_on_op(a, ds, of, names, n, m, &facts, &o->after);
    for (uint32_t i = 0; i < of->text->plans.len; i++) {
        facts = asked;
        facts.after = &o->after;
        if (!run_on_plan(a, ds, of->text, i, names, n, m, &facts)) return false;
    }
    return true;
}
