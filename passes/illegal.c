// A plan that the verifier of loop IR refuses was asked for by a statement that no check before it
// refused. The statement is found by trial: the plan is built again without one statement at a
// time, until it verifies.
//     schedule f s { lanes v 4; keep g shared; }   →   error at `keep`, with the verifier's reason
#include "illegal.h"

// Without a cell: what the default filled in stays.
static schedule without(arena *a, const schedule *s, uint32_t cell) {
    schedule left = *s;
    left.cells = (__typeof__(left.cells)){0};
    for (uint32_t i = 0; i < s->cells.len; i++)
        if (i != cell) VEC_PUSH(a, &left.cells, s->cells.data[i]);
    return left;
}

typedef struct {
    const planner *p;
    const tensor_op *given;   // the op, as no pass has changed it
    const version_facts *asked;
} trial;

static bool verifies_without(const trial *t, uint32_t cell) {
    const planner *p = t->p;
    arena *a = p->arena;
    schedule left = without(a, p->s, cell);
    version_facts facts = *t->asked;
    facts.after = NULL;   // a trial is printed by nobody
    const char *fault = NULL;
    loop_plan *plan = plan_try(a, diag_set_new(a, diag_sources(p->ds)), t->given, &left, p->machine,
                               &facts, &fault);
    return plan && !fault;
}

static bool written(const schedule_cell *c) { return !c->made && !c->empty; }

bool plan_written(const schedule *s) {
    for (uint32_t i = 0; i < s->cells.len; i++)
        if (written(&s->cells.data[i])) return true;
    return false;
}

// The last one, as it was asked for when the others were there.
static const schedule_cell *blamed(const trial *t) {
    for (uint32_t i = t->p->s->cells.len; i--;) {
        const schedule_cell *c = &t->p->s->cells.data[i];
        if (written(c) && verifies_without(t, i)) return c;
    }
    return NULL;
}

void plan_report_illegal(planner *p, const tensor_op *given, const version_facts *asked,
                         const char *fault) {
    const schedule_cell *c = blamed(&(trial){p, given, asked});
    diagnostic *d = c ? diag(p->ds, E0574, c->at, "'%s' gives no legal kernel here: %s",
                             schedule_cell_text(p->arena, c), fault)
                      : diag(p->ds, E0574, p->s->at,
                             "the statements of '%s' together give no legal kernel: %s", p->s->name,
                             fault);
    diag_note(d, p->s->at, "schedule '%s' is executed whole or not at all", p->s->name);
    diag_help(d, c ? "leave it out: the rest of the schedule is legal without it"
                   : "leave out statements, the last ones first, until it compiles");
    p->failed = true;
}
