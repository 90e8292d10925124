// Which versions of a program a plan's launches may take, and which of them one launch takes.
#include "launch_plan.h"

#include <string.h>

// ---- When the plan is made ----------------------------------------------------------------------
// for the arguments; arrays of maps are there
static bool waits(const gnn_plan *plan, const rt_guard *g) {
    return g->kind != RT_GUARD_HOLDS && rt_is_tensor(&plan->p->params[g->param]);
}

static gnn_tensor array_of(const gnn_plan *plan, uint32_t param, const gnn_arg *args) {
    const rt_structure *m = plan->maps[param];
    if (!m) return *args[param].tensor;
    gnn_tensor t;
    gnn_plan_shape(plan, param, &t);
    t.data = (void *)(uintptr_t)m->device;
    return t;
}

static bool array_fits(const rt_guard *g, const gnn_tensor *t) {
    size_t bytes;
    switch (g->kind) {
    case RT_GUARD_HOLDS: return true;
    case RT_GUARD_ALIGNED: return (uintptr_t)t->data % (uintptr_t)g->value == 0;
    case RT_GUARD_STRIDE:   // the only element of an axis lies at 0, whatever its stride
        return t->shape[g->axis] <= 1 || rt_tensor_stride(t, g->axis) % g->value == 0;
    case RT_GUARD_PITCH: return t->shape[g->axis] <= 1 || rt_tensor_stride(t, g->axis) == g->value;
    case RT_GUARD_REACH:
        return rt_tensor_extent(t, &bytes) &&
               bytes / gnn_dtype_bytes(t->dtype) <= (uint64_t)g->value;
    }
    return false;
}

static gnn_status misfit(const gnn_plan *plan, const rt_version *v, const rt_guard *g,
                         const char *values) {
    gnn_context *c = plan->c;
    const char *array = plan->p->params[g->param].name;
    switch (g->kind) {
    case RT_GUARD_HOLDS:
        return rt_fail(c, GNN_NO_VERSION, "version %.60s: `%.120s` does not hold%s", v->name,
                       g->text, values);
    case RT_GUARD_ALIGNED:
        return rt_fail(c, GNN_NO_VERSION, "version %.60s: %.60s is not aligned to %lld bytes",
                       v->name, array, (long long)g->value);
    case RT_GUARD_STRIDE:
        return rt_fail(c, GNN_NO_VERSION,
                       "version %.60s: the stride of axis %u of %.60s is no multiple of %lld",
                       v->name, g->axis, array, (long long)g->value);
    case RT_GUARD_PITCH:
        return rt_fail(c, GNN_NO_VERSION,
                       "version %.60s: the stride of axis %u of %.60s is not %lld", v->name,
                       g->axis, array, (long long)g->value);
    case RT_GUARD_REACH:
        return rt_fail(c, GNN_NO_VERSION,
                       "version %.60s: an element of %.60s lies %lld or more from its first",
                       v->name, array, (long long)g->value);
    }
    return GNN_NO_VERSION;
}

// The first guard that is known to fail, or NULL; named: whether it pays does not matter.
static gnn_status find_failing(gnn_plan *plan, const rt_version *v, bool named,
                               const rt_guard **out) {
    *out = NULL;
    for (uint32_t i = 0; i < v->nguards; i++)
        if (!named || !v->guards[i].pays) rt_plan_want(plan, &v->guards[i].holds);
    gnn_status s = rt_plan_prepare(plan);
    for (uint32_t i = 0; i < v->nguards && !s && !*out; i++) {
        const rt_guard *g = &v->guards[i];
        int64_t holds = 1;
        if (named && g->pays) continue;
        if (g->kind == RT_GUARD_HOLDS) {
            s = rt_plan_eval(plan, &g->holds, &holds);
        } else if (!waits(plan, g)) {
            const gnn_tensor t = array_of(plan, g->param, NULL);
            holds = array_fits(g, &t);
        }
        if (!s && !holds) *out = g;
    }
    return s;
}

static void want_steps(gnn_plan *plan, const rt_version *v) {
    for (uint32_t i = 0; i < v->nsteps; i++) {
        const rt_step *step = &v->steps[i];
        rt_plan_want(plan, &step->count);
        for (uint32_t k = 0; k < step->nargs; k++) {
            const rt_arg *a = &step->args[k];
            if (a->kind == RT_ARG_PREPARED) plan->making.wants_prepared[a->index] = true;
            if (a->kind == RT_ARG_NUMBER) rt_plan_want(plan, &a->number);
            if (a->kind == RT_ARG_TEMP) rt_plan_want(plan, &plan->p->temps[a->index].length);
            if (a->kind == RT_ARG_SIZE || a->kind == RT_ARG_MAGIC || a->kind == RT_ARG_SHIFT)
                plan->making.wants_space[a->index] = true;
        }
    }
}

static bool keep(gnn_plan *plan, const rt_version *v) {   // whether a launch always may take it
    rt_ready *r = &plan->ready[plan->nready++];
    r->version = v;
    for (uint32_t i = 0; i < v->nguards; i++) r->guarded |= waits(plan, &v->guards[i]);
    want_steps(plan, v);
    return !r->guarded;
}

static gnn_status keep_one(gnn_plan *plan, const rt_version *v) {
    const rt_guard *failing;
    char values[200] = "";
    gnn_status s = find_failing(plan, v, true, &failing);
    if (s) return s;
    if (failing) {
        rt_plan_tell(plan, &failing->holds, values, sizeof values);
        return misfit(plan, v, failing, values);
    }
    keep(plan, v);
    return rt_plan_prepare(plan);
}

static gnn_status keep_named(gnn_plan *plan, const char *name) {
    const gnn_program *p = plan->p;
    for (uint32_t i = 0; i < p->nversions; i++)
        if (!strcmp(name, p->versions[i].name)) return keep_one(plan, &p->versions[i]);
    return rt_fail(plan->c, GNN_BAD_ARGUMENT, "%.60s has no version `%.60s`", p->name, name);
}

// The number of the schedule whose versions come first; -1: there is no choice.
static gnn_status choose(gnn_plan *plan, int64_t *of) {
    const rt_choice *choice = &plan->p->made.choice;
    *of = -1;
    if (!choice->text) return GNN_OK;
    rt_plan_want(plan, &choice->of);
    gnn_status s = rt_plan_prepare(plan);
    return s ? s : rt_plan_eval(plan, &choice->of, of);
}

// Whether arguments that keep the one keep the other, too.
static bool implies(const rt_guard *one, const rt_guard *other) {
    if (one->kind != other->kind || one->param != other->param || one->axis != other->axis)
        return false;
    return one->kind == RT_GUARD_REACH   ? one->value <= other->value
           : one->kind == RT_GUARD_PITCH ? one->value == other->value
                                         : one->value % other->value == 0;
}

// It asks of arguments all that one before it asks, which is taken then.
static bool is_covered_by(const gnn_plan *plan, const rt_version *v, const rt_version *before) {
    for (uint32_t i = 0; i < before->nguards; i++) {
        bool asked = !waits(plan, &before->guards[i]);
        for (uint32_t k = 0; k < v->nguards && !asked; k++)
            asked = waits(plan, &v->guards[k]) && implies(&v->guards[k], &before->guards[i]);
        if (!asked) return false;
    }
    return true;
}

static bool is_covered(const gnn_plan *plan, const rt_version *v) {
    for (uint32_t i = 0; i < plan->nready; i++)
        if (is_covered_by(plan, v, plan->ready[i].version)) return true;
    return false;
}

// Those of the schedule, or all others, in their order; *done: one that launches always may take is
// among them. What no launch would take is not asked for its conditions, nor prepared for.
static gnn_status keep_those(gnn_plan *plan, int64_t of, bool others, bool *done) {
    const gnn_program *p = plan->p;
    for (uint32_t i = 0; i < p->nversions && !*done; i++) {
        const rt_guard *failing = NULL;
        if ((p->versions[i].of == of) == others || is_covered(plan, &p->versions[i])) continue;
        gnn_status s = find_failing(plan, &p->versions[i], false, &failing);
        if (s) return s;
        *done = !failing && keep(plan, &p->versions[i]);
    }
    return GNN_OK;
}

gnn_status rt_plan_versions(gnn_plan *plan, const char *name) {
    int64_t of;
    bool done = false;
    if (plan->p->nversions == 1) name = plan->p->versions[0].name;
    if (name) return keep_named(plan, name);
    gnn_status s = choose(plan, &of);
    if (!s && of >= 0) s = keep_those(plan, of, false, &done);
    if (!s) s = keep_those(plan, of, true, &done);
    return s ? s : rt_plan_prepare(plan);
}

// ---- At a launch --------------------------------------------------------------------------------
static const rt_guard *find_waiting(const gnn_plan *plan, const rt_version *v,
                                    const gnn_arg *args) {
    for (uint32_t i = 0; i < v->nguards; i++)
        if (waits(plan, &v->guards[i]) &&
            !array_fits(&v->guards[i], args[v->guards[i].param].tensor))
            return &v->guards[i];
    return NULL;
}

const rt_ready *rt_plan_choose(const gnn_plan *plan, const gnn_arg *args) {
    const rt_guard *failing = NULL;
    for (uint32_t i = 0; i < plan->nready; i++) {
        failing = plan->ready[i].guarded ? find_waiting(plan, plan->ready[i].version, args) : NULL;
        if (!failing) return &plan->ready[i];
    }
    misfit(plan, plan->ready[plan->nready - 1].version, failing, "");
    return NULL;
}

static gnn_status find_taken(gnn_plan *plan, const gnn_arg *args, size_t nargs,
                             const rt_ready **out) {
    gnn_status s = gnn_check(plan, args, nargs);
    if (s) return s;
    *out = rt_plan_choose(plan, args);
    return *out ? GNN_OK : GNN_NO_VERSION;
}

gnn_status gnn_plan_version(gnn_plan *plan, const gnn_arg *args, size_t nargs, const char **out) {
    if (!rt_begin(RT_OF(plan), __func__, out)) return GNN_BAD_ARGUMENT;
    *out = NULL;
    const rt_ready *r;
    gnn_status s = find_taken(plan, args, nargs, &r);
    if (!s) *out = r->version->name;
    return s;
}

gnn_status gnn_plan_workspace_for(gnn_plan *plan, const gnn_arg *args, size_t nargs,
                                  size_t *bytes) {
    if (!rt_begin(RT_OF(plan), __func__, bytes)) return GNN_BAD_ARGUMENT;
    *bytes = 0;
    const rt_ready *r;
    gnn_status s = find_taken(plan, args, nargs, &r);
    if (!s) *bytes = r->workspace;
    return s;
}
