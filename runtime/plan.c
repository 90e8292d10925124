// A plan: a program on one graph. Sizes are told, maps checked, preconditions tried, structures prepared, and
// every launch's size worked out, so that launching has nothing left to compute.
#include "internal.h"

#include <stdio.h>
#include <string.h>

// ---- Expressions with a plan's numbers -------------------------------------------------------------------
static gnn_status statistic(void *user, const rt_token *t, int64_t *out) {
    gnn_plan *plan = user;
    rt_map_view a, b;
    rt_preimages n = {0, 0, 0};
    gnn_status s = rt_plan_map_view(plan, t->a, &a);
    if (!s && t->kind == RT_SYMMETRIC) s = rt_plan_map_view(plan, t->b, &b);
    if (!s) s = t->kind == RT_SYMMETRIC ? rt_symmetric(plan->c, &a, &b, out) : rt_measure(plan->c, &a, &n);
    if (!s && t->kind != RT_SYMMETRIC)
        *out = t->kind == RT_MAX_PREIMAGE ? n.max : t->kind == RT_MIN_PREIMAGE ? n.min : n.avg;
    return s;
}

gnn_status rt_plan_eval(gnn_plan *plan, const rt_expr *e, int64_t *out) {
    for (uint32_t i = 0; i < e->count; i++)
        if (e->tokens[i].kind == RT_SPACE && !plan->known[e->tokens[i].a])
            return rt_fail(plan->c, GNN_BAD_MANIFEST, "`%.100s`: the size of %.60s depends on itself",
                           e->text, plan->p->spaces[e->tokens[i].a].name);
    const rt_values values = {plan->sizes, statistic, plan};
    return rt_expr_eval(plan->c, e, &values, out);
}

// ": F = 12, max(dst) = 40", for a precondition that doesn't hold.
static void tell_values(gnn_plan *plan, const rt_expr *e, char *out, size_t size) {
    size_t n = 0;
    *out = 0;
    const char *text = e->text;
    for (uint32_t i = 0; i < e->count && n < size; i++, text += strcspn(text, " ") + 1) {
        const rt_token *t = &e->tokens[i];
        int64_t value = t->kind == RT_SPACE ? plan->sizes[t->a] : 0;
        if (t->kind != RT_SPACE && (!rt_is_statistic(t->kind) || statistic(plan, t, &value))) continue;
        int wrote = snprintf(out + n, size - n, "%s%.*s = %lld", n ? ", " : ": ", (int)strcspn(text, " "),
                             text, (long long)value);
        n += wrote > 0 ? (size_t)wrote : 0;
    }
}

gnn_status rt_plan_requires(gnn_plan *plan) {
    for (uint32_t i = 0; i < plan->p->nrequires; i++) {
        const rt_require *q = &plan->p->requires[i];
        int64_t holds;
        gnn_status s = rt_plan_eval(plan, &q->holds, &holds);
        if (s) return s;
        if (holds) continue;
        char values[200];
        tell_values(plan, &q->holds, values, sizeof values);
        return rt_fail(plan->c, GNN_PRECONDITION, "the precondition `%.120s` does not hold%s", q->text,
                       values);
    }
    return GNN_OK;
}

// ---- Workspace and launches ------------------------------------------------------------------------------
static gnn_status place_temps(gnn_plan *plan) {
    const gnn_program *p = plan->p;
    int64_t top = 0;
    for (uint32_t i = 0; i < p->ntemps; i++) {
        int64_t length, bytes;
        gnn_status s = rt_plan_eval(plan, &p->temps[i].length, &length);
        if (s) return s;
        if (length < 0)
            return rt_fail(plan->c, GNN_BAD_MANIFEST, "temp %.60s: its length is %lld", p->temps[i].name,
                           (long long)length);
        plan->temps[i] = (size_t)top;
        if (!rt_mul(length, (int64_t)p->temps[i].bytes, &bytes) || !rt_add(bytes, 255, &bytes) ||
            !rt_add(top, bytes & ~INT64_C(255), &top))
            return rt_fail(plan->c, GNN_TOO_LARGE, "temp %.60s: %lld elements overflow the workspace",
                           p->temps[i].name, (long long)length);
    }
    plan->workspace = (size_t)top;
    return GNN_OK;
}

// Kernels divide positions by sizes with a multiplication (Granlund and Montgomery 1994; MANIFEST.md).
static void make_dividers(gnn_plan *plan) {
    for (uint32_t i = 0; i < plan->p->nspaces; i++) {
        const uint64_t d = plan->sizes[i] > 0 ? (uint64_t)plan->sizes[i] : 0;
        if (!d) continue;
        while (UINT64_C(1) << plan->shift[i] < d) plan->shift[i]++;
        plan->magic[i] = (uint64_t)(((unsigned __int128)1 << (63 + plan->shift[i])) / d) + 1;
    }
}

static gnn_status count_steps(gnn_plan *plan) {
    const gnn_program *p = plan->p;
    for (uint32_t i = 0; i < p->nsteps; i++) {
        const rt_step *step = &p->steps[i];
        if (step->kind == RT_END) continue;
        gnn_status s = rt_plan_eval(plan, &step->count, &plan->counts[i]);
        if (s) return s;
        if (plan->counts[i] < 0)
            return rt_fail(plan->c, GNN_BAD_MANIFEST, "steps[%u]: its count is %lld", i,
                           (long long)plan->counts[i]);
        if (step->kind == RT_LAUNCH && plan->counts[i] > INT32_MAX)
            return rt_fail(plan->c, GNN_TOO_LARGE,
                           "kernel %.60s: a grid of %lld blocks is larger than 2147483647",
                           p->kernels[step->kernel].name, (long long)plan->counts[i]);
    }
    return GNN_OK;
}

// ---- Making ----------------------------------------------------------------------------------------------
static bool make_tables(gnn_plan *plan) {
    const gnn_program *p = plan->p;
    rt_heap *h = &plan->heap;
    return (plan->sizes = rt_heap_alloc(h, p->nspaces, sizeof *plan->sizes)) &&
           (plan->magic = rt_heap_alloc(h, p->nspaces, sizeof *plan->magic)) &&
           (plan->shift = rt_heap_alloc(h, p->nspaces, sizeof *plan->shift)) &&
           (plan->known = rt_heap_alloc(h, p->nspaces, sizeof *plan->known)) &&
           (plan->origin = rt_heap_alloc(h, p->nspaces, sizeof *plan->origin)) &&
           (plan->given = rt_heap_alloc(h, p->nparams, sizeof *plan->given)) &&
           (plan->maps = rt_heap_alloc(h, p->nparams, sizeof *plan->maps)) &&
           (plan->prepared = rt_heap_alloc(h, p->nprepared, sizeof *plan->prepared)) &&
           (plan->temps = rt_heap_alloc(h, p->ntemps, sizeof *plan->temps)) &&
           (plan->counts = rt_heap_alloc(h, p->nsteps, sizeof *plan->counts));
}

static bool counts_spaces(const gnn_program *p) {
    for (uint32_t i = 0; i < p->nspaces; i++)
        if (p->spaces[i].kind == RT_COUNTED) return true;
    return false;
}

static gnn_status make(gnn_plan *plan, const gnn_plan_options *o) {
    const bool late = counts_spaces(plan->p);   // preconditions may name what is counted
    gnn_status s = make_tables(plan) ? rt_pool_start(plan->c) : GNN_NO_MEMORY;
    if (!s) s = rt_plan_sizes(plan, o);
    if (!s) s = rt_plan_maps(plan);
    if (!s && !late) s = rt_plan_requires(plan);
    if (!s) s = rt_plan_prepare(plan);
    if (!s && late) s = rt_plan_requires(plan);
    if (!s) make_dividers(plan);
    if (!s) s = place_temps(plan);
    if (!s) s = count_steps(plan);
    return s ? s : gnn_sync(plan->c, plan->stream);
}

gnn_status gnn_plan_new(gnn_program *p, const gnn_plan_options *o, gnn_plan **out) {
    if (!p || !o || !out) return GNN_BAD_ARGUMENT;
    *out = NULL;
    if ((o->nsizes && !o->sizes) || (o->nmaps && !o->maps) || (o->nargs && !o->args) ||
        o->flags & ~(uint32_t)GNN_TRUSTED)
        return rt_fail(p->c, GNN_BAD_ARGUMENT, "plan of %.60s: an option is not valid", p->name);
    gnn_plan *plan = rt_alloc_zeroed(p->c, sizeof *plan);
    if (!plan) return GNN_NO_MEMORY;
    *plan = (gnn_plan){
        .c = p->c, .p = p, .heap = {p->c, NULL}, .flags = o->flags, .stream = o->stream, .cache = o->cache};
    gnn_status s = make(plan, o);
    plan->cache = NULL;
    if (s) gnn_plan_free(plan);
    else *out = plan;
    return s;
}

void gnn_plan_free(gnn_plan *plan) {
    if (!plan) return;
    for (uint32_t i = 0; plan->maps && i < plan->p->nparams; i++) rt_structure_drop(plan->maps[i]);
    for (uint32_t i = 0; plan->prepared && i < plan->p->nprepared; i++) rt_structure_drop(plan->prepared[i]);
    rt_heap_free(&plan->heap);
    rt_free(plan->c, plan);
}

// ---- Questions -------------------------------------------------------------------------------------------
size_t gnn_plan_workspace(const gnn_plan *plan) { return plan ? plan->workspace : 0; }

gnn_status gnn_plan_size(const gnn_plan *plan, const char *space, int64_t *out) {
    if (!plan || !space || !out) return GNN_BAD_ARGUMENT;
    for (uint32_t i = 0; i < plan->p->nspaces; i++)
        if (!strcmp(plan->p->spaces[i].name, space)) {
            *out = plan->sizes[i];
            return GNN_OK;
        }
    return rt_fail(plan->c, GNN_BAD_ARGUMENT, "%.60s has no space `%.60s`", plan->p->name, space);
}

gnn_status gnn_plan_shape(const gnn_plan *plan, uint32_t param, gnn_tensor *out) {
    if (!plan || !out || param >= plan->p->nparams) return GNN_BAD_ARGUMENT;
    const rt_param *q = &plan->p->params[param];
    *out = (gnn_tensor){.dtype = q->dtype, .rank = q->rank};
    for (uint32_t i = 0; i < q->rank; i++) out->shape[i] = plan->sizes[q->axes[i]];
    return GNN_OK;
}

static size_t bytes_of(const rt_structure *s) {
    return s ? (size_t)s->host.count * (s->host.wide ? 8 : 4) : 0;
}

size_t gnn_plan_prepared_bytes(const gnn_plan *plan) {
    size_t n = 0;
    for (uint32_t i = 0; plan && i < plan->p->nprepared; i++) n += bytes_of(plan->prepared[i]);
    for (uint32_t i = 0; plan && i < plan->p->nparams; i++)
        if (plan->maps[i] && plan->maps[i]->device != plan->given[i].index) n += bytes_of(plan->maps[i]);
    return n;
}
