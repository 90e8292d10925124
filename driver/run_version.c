// What a user is told of the version that is launched: another one than the schedule asked for, or
// a slow one, and why no other is.
#include "choice.h"

#include <string.h>

// A schedule may have several versions, such as one for skewed rows: "NAME skewed"; those of the
// default are not of one that is called so.
static bool is_of_schedule(const char *version, const char *schedule) {
    size_t n = strlen(schedule);
    return !strncmp(version, schedule, n) &&
           (!version[n] || (version[n] == ' ' && strcmp(schedule, "default")));
}

// What does not hold of the version, as a plan of it alone says; NULL: nothing.
const char *run_why_not(run_op *o, const char *version) {
    gnn_plan *plan = NULL;
    const char *taken, *why = NULL;
    gnn_plan_options options = run_plan_options(o);
    options.version = version;
    bool fits = !gnn_plan_new(o->program, &options, &plan) &&
                !gnn_plan_version(plan, o->ready.args, o->op->op->nparams, &taken);
    if (!fits) why = arena_strdup(o->arena, gnn_context_error(o->r->context));
    gnn_plan_free(plan);
    gnn_context_clear_error(o->r->context);
    return why;
}

// Asked for by name, a schedule is not left without a word.
static void tell_other_schedule(run_op *o, const char *schedule) {
    const char *own = NULL, *why;
    if (is_of_schedule(o->taken, schedule)) return;
    for (uint32_t i = gnn_program_versions(o->program); i-- > 0;)
        if (is_of_schedule(gnn_program_version(o->program, i), schedule))
            own = gnn_program_version(o->program, i);
    if (!own) return;
    why = run_why_not(o, own);
    if (!why) why = "its guards do not hold for these arrays, or it would not pay";
    diagnostic *w = diag(o->r->d->ds, W0803, o->op->op->at,
                         "%s: '%s' is launched, not schedule '%s': %s", o->op->name, o->taken,
                         schedule, why);
    if (w) diag_help(w, "--plan='%s' launches that or nothing", own);
}

static const program_version *version_named(const program *p, const char *name) {
    for (uint32_t i = 0; i < p->versions.len; i++)
        if (!strcmp(p->versions.data[i].name, name)) return &p->versions.data[i];
    return NULL;
}

// The choice's schedule is not left without a word, either.
static void tell_not_chosen(run_op *o) {
    const program *p = o->op->program;
    const program_version *taken = version_named(p, o->taken), *own = NULL;
    textbuf text = textbuf_new(o->arena);
    int64_t of;
    if (!p->choice.text || !taken) return;
    size_print(&text, p, &p->choice.of);
    if (gnn_plan_evaluate(o->ready.plan, text.data, &of)) gnn_context_clear_error(o->r->context);
    else if (of >= 0 && of < p->choice.nschedules && taken->of != of) {
        for (uint32_t i = p->versions.len; i-- > 0;)
            if (p->versions.data[i].of == of) own = &p->versions.data[i];
        const char *why = own ? run_why_not(o, own->name)
                              : "it has no version for this form of the op";
        if (!why) why = "its guards do not hold for these arrays, or it would not pay";
        diagnostic *w = diag(o->r->d->ds, W0803, o->op->op->at,
                             "%s: '%s' is launched, not schedule '%s', which is chosen: %s",
                             o->op->name, o->taken, p->choice.schedules[of], why);
        if (w) diag_help(w, "`choose` may ask for what the schedule needs");
    }
}

// The version that fits most but for the naive plan, which is the last; NULL: there is none.
static const char *last_but_naive(const run_op *o) {
    const uint32_t n = gnn_program_versions(o->program);
    return n > 1 ? gnn_program_version(o->program, n - 2) : NULL;
}

// Of an empty graph every version takes as long.
static bool has_empty_map(const run_op *o) {
    for (tensor_val v = 0; v < o->op->op->nparams; v++) {
        int64_t points = 0;
        const tensor_val_info *info = &o->op->op->vals.data[v];
        if (info->role == VAL_MAP && bind_points(o->b, info, &points) && !points) return true;
    }
    return false;
}

static void tell_naive(run_op *o) {
    const char *other = last_but_naive(o), *why = NULL;
    if (other && !strcmp(o->taken, "naive") && !has_empty_map(o)) why = run_why_not(o, other);
    if (!why) return;
    diagnostic *w = diag(o->r->d->ds, W0805, o->op->op->at,
                         "%s: the naive plan is launched, which may take many times as long: %s",
                         o->op->name, why);
    if (w) diag_help(w, "--all-plans launches each version that fits, and says which do not");
}

// Twins of versions, for arrays that lie otherwise: "NAME strided", "NAME scalar".
static void tell_twin(run_op *o) {
    static const char *const twins[] = {" strided", " scalar"};
    const size_t n = strlen(o->taken);
    for (uint32_t i = 0; i < sizeof twins / sizeof *twins; i++) {
        const size_t end = strlen(twins[i]);
        if (n <= end || strcmp(o->taken + n - end, twins[i])) continue;
        const char *why = run_why_not(o, arena_strndup(o->arena, o->taken, n - end));
        if (!why) continue;
        diagnostic *w = diag(o->r->d->ds, P0801, o->op->op->at,
                             "%s: '%s' is launched, which reads arrays by elements: %s",
                             o->op->name, o->taken, why);
        if (w)
            diag_help(
                w,
                "arrays without gaps, of rows that begin where the version asks, are read by vectors");
    }
}

void run_tell_version(run_op *o) {
    const char *schedule = option_text(o->r->d, OPT_SCHEDULE, NULL);
    if (o->changed || run_version(o) || option_given(o->r->d, OPT_CHOICE)) return;
    if (schedule) tell_other_schedule(o, schedule);
    else tell_not_chosen(o), tell_naive(o), tell_twin(o);
}
