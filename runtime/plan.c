// A plan: a program on one graph. Sizes are told, maps checked, preconditions tried, versions
// chosen, structures prepared, and every launch's size worked out, so that launching has nothing
// left to compute.
#include "launch_plan.h"

#include <string.h>

// ---- Making -------------------------------------------------------------------------------------
// Kernels divide positions by sizes with a multiplication (Granlund and Montgomery 1994;
// MANIFEST.md).
static void make_dividers(gnn_plan *plan) {
    for (uint32_t i = 0; i < plan->p->nspaces; i++) {
        // 0 where nothing counted it
        const uint64_t d = plan->sizes[i] > 0 ? (uint64_t)plan->sizes[i] : 0;
        if (!d) continue;
        while (UINT64_C(1) << plan->shift[i] < d) plan->shift[i]++;
        plan->magic[i] = (uint64_t)(((unsigned __int128)1 << (63 + plan->shift[i])) / d) + 1;
    }
}

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
           (plan->making.wants_space = rt_heap_alloc(h, p->nspaces,
                                                     sizeof *plan->making.wants_space)) &&
           (plan->making.wants_prepared = rt_heap_alloc(h, p->nprepared,
                                                        sizeof *plan->making.wants_prepared)) &&
           (plan->ready = rt_heap_alloc(h, p->nversions, sizeof *plan->ready)) &&
           (plan->extents = rt_heap_alloc(h, p->nparams, sizeof *plan->extents));
}

static bool counts_any(const gnn_plan *plan) {
    for (uint32_t i = 0; i < plan->p->nprepared; i++)
        if (plan->making.wants_prepared[i]) return true;
    return false;
}

// What no version can do without: shapes and preconditions, which may name what is counted.
static gnn_status make_common(gnn_plan *plan) {
    const gnn_program *p = plan->p;
    for (uint32_t i = 0; i < p->nparams; i++) {
        const rt_param *q = &p->params[i];
        for (uint32_t k = 0; k < q->rank; k++) plan->making.wants_space[q->axes[k]] = true;
        if (q->into >= 0) plan->making.wants_space[q->into] = true;
    }
    for (uint32_t i = 0; i < p->nrequired; i++) rt_plan_want(plan, &p->required[i].holds);
    rt_plan_close(plan);
    const bool late = counts_any(plan);
    gnn_status s = late ? GNN_OK : rt_plan_requires(plan);
    if (!s) s = rt_plan_prepare(plan);
    return !s && late ? rt_plan_requires(plan) : s;
}

static bool is_passed(const gnn_plan *plan, uint32_t prepared) {
    for (uint32_t r = 0; r < plan->nready; r++) {
        const rt_version *v = plan->ready[r].version;
        for (uint32_t i = 0; i < v->nsteps; i++)
            for (uint32_t k = 0; k < v->steps[i].nargs; k++)
                if (v->steps[i].args[k].kind == RT_ARG_PREPARED &&
                    v->steps[i].args[k].index == prepared)
                    return true;
    }
    return false;
}

// What served to make others, or a condition, is as large as what launches read: it stays where a
// cache has it.
static void drop_unread(gnn_plan *plan) {
    for (uint32_t i = 0; i < plan->p->nprepared; i++) {
        if (!plan->prepared[i] || is_passed(plan, i)) continue;
        rt_structure_drop(plan->prepared[i]);
        plan->prepared[i] = NULL;
    }
}

static gnn_status make(gnn_plan *plan, const gnn_plan_options *o) {
    gnn_status s = make_tables(plan) ? rt_pool_start(plan->c) : GNN_NO_MEMORY;
    if (!s) s = rt_plan_sizes(plan, o);
    if (!s) s = rt_plan_maps(plan);
    if (!s) s = make_common(plan);
    if (!s) s = rt_plan_versions(plan, o->version);
    if (!s) make_dividers(plan);
    if (!s) s = rt_plan_steps(plan);
    const gnn_status done = gnn_sync(plan->c, plan->making.stream);   // also where it failed
    if (!s) s = done;
    if (!s) drop_unread(plan);
    return s;
}

// What a condition had built, such as the slots of windows, is there for the version it chooses:
// where the caller shares nothing, the plan has a cache of its own while it is made.
static gnn_status make_cached(gnn_plan *plan, const gnn_plan_options *o) {
    gnn_cache *own = NULL;
    gnn_status s = o->cache ? GNN_OK : gnn_cache_new(plan->c, &own);
    plan->making.cache = o->cache ? o->cache : own;
    if (!s) s = make(plan, o);
    plan->making.cache = NULL;
    gnn_cache_free(own);
    return s;
}

gnn_status gnn_plan_new(gnn_program *p, const gnn_plan_options *o, gnn_plan **out) {
    if (!rt_begin(RT_OF(p), __func__, o && out)) return GNN_BAD_ARGUMENT;
    *out = NULL;
    if ((o->nsizes && !o->sizes) || (o->nmaps && !o->maps) || (o->nargs && !o->args) ||
        o->flags & ~(uint32_t)GNN_TRUSTED)
        return rt_fail(p->c, GNN_BAD_ARGUMENT, "plan of %.60s: an option is not valid", p->name);
    gnn_plan *plan = rt_alloc_zeroed(p->c, sizeof *plan);
    if (!plan) return GNN_NO_MEMORY;
    *plan = (gnn_plan){
        .c = p->c, .p = p, .heap = {p->c, NULL}, .flags = o->flags, .making.stream = o->stream};
    gnn_status s = make_cached(plan, o);
    if (s) gnn_plan_free(plan);
    else *out = plan;
    return s;
}

void gnn_plan_free(gnn_plan *plan) {
    if (!plan) return;
    for (uint32_t i = 0; plan->maps && i < plan->p->nparams; i++) rt_structure_drop(plan->maps[i]);
    for (uint32_t i = 0; plan->prepared && i < plan->p->nprepared; i++)
        rt_structure_drop(plan->prepared[i]);
    rt_heap_free(&plan->heap);
    rt_free(plan->c, plan);
}

// ---- Questions ----------------------------------------------------------------------------------
// Each part begins at a multiple of 256 bytes.
size_t rt_saved_bytes(const gnn_plan *plan, uint32_t param) {
    const rt_param *q = &plan->p->params[param];
    int64_t count = 0;
    if (!(q->facts & RT_SAVED) || !rt_plan_domain(plan, param, &count)) return 0;
    return ((size_t)count * gnn_dtype_bytes(q->dtype) + 255) / 256 * 256;
}

size_t gnn_plan_saved(const gnn_plan *plan) {
    size_t bytes = 0;
    for (uint32_t i = 0; plan && i < plan->p->nparams; i++) bytes += rt_saved_bytes(plan, i);
    return bytes;
}

size_t gnn_plan_workspace(const gnn_plan *plan) { return plan ? plan->workspace : 0; }

gnn_status gnn_plan_size(const gnn_plan *plan, const char *space, int64_t *out) {
    if (!rt_begin(RT_OF(plan), __func__, space && out)) return GNN_BAD_ARGUMENT;
    for (uint32_t i = 0; i < plan->p->nspaces; i++)
        if (!strcmp(plan->p->spaces[i].name, space)) {
            *out = plan->sizes[i];
            return plan->known[i] ? GNN_OK
                                  : rt_fail(plan->c, GNN_BAD_ARGUMENT,
                                            "%.60s: nothing this plan launches counts it", space);
        }
    return rt_fail(plan->c, GNN_BAD_ARGUMENT, "%.60s has no space `%.60s`", plan->p->name, space);
}

gnn_status gnn_plan_shape(const gnn_plan *plan, uint32_t param, gnn_tensor *out) {
    if (!rt_begin(RT_OF(plan), __func__, plan && out && param < plan->p->nparams))
        return GNN_BAD_ARGUMENT;
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
        if (plan->maps[i] && plan->maps[i]->device != plan->given[i].index)
            n += bytes_of(plan->maps[i]);
    return n;
}
