// The sizes of a plan's spaces: given, told by maps and tensors, or computed from those. All who
// tell must agree.
#include "launch_plan.h"

#include <string.h>

static gnn_status set_size(gnn_plan *plan, uint32_t space, int64_t value, const char *origin) {
    const gnn_program *p = plan->p;
    const char *name = p->spaces[space].name, *before = plan->origin[space];
    if (value < 0)
        return rt_fail(plan->c, GNN_BAD_ARGUMENT, "%.60s = %lld: a size can't be negative", name,
                       (long long)value);
    if (p->made.index_bits == 32 && value > INT32_MAX)
        return rt_fail(
            plan->c, GNN_TOO_LARGE,
            "%.60s = %lld does not fit the 32-bit indices of %.60s: compile it with --index=64",
            name, (long long)value, p->name);
    if (plan->known[space] && plan->sizes[space] != value)
        return rt_fail(plan->c, GNN_SIZE_MISMATCH, "%.60s is %lld by %.60s, but %lld by %.60s",
                       name, (long long)value, origin ? origin : "the sizes given",
                       (long long)plan->sizes[space], before ? before : "the sizes given");
    plan->sizes[space] = value;
    plan->known[space] = true;
    plan->origin[space] = origin;
    return GNN_OK;
}

static gnn_status tell_size(gnn_plan *plan, uint32_t space, int64_t value, const char *origin) {
    return plan->p->spaces[space].kind == RT_FREE ? set_size(plan, space, value, origin) : GNN_OK;
}

static gnn_status given_sizes(gnn_plan *plan, const gnn_plan_options *o) {
    const gnn_program *p = plan->p;
    gnn_status s = GNN_OK;
    for (size_t i = 0; i < o->nsizes && !s; i++) {
        const char *name = o->sizes[i].name ? o->sizes[i].name : "";
        int space = -1;
        for (uint32_t k = 0; k < p->nspaces; k++)
            if (p->spaces[k].kind == RT_FREE && !strcmp(p->spaces[k].name, name)) space = (int)k;
        if (space < 0)
            return rt_fail(plan->c, GNN_BAD_ARGUMENT, "%.60s has no free space `%.60s`", p->name,
                           name);
        s = set_size(plan, (uint32_t)space, o->sizes[i].value, NULL);
    }
    return s;
}

// ---- Maps ---------------------------------------------------------------------------------------
static gnn_status check_form(gnn_plan *plan, const rt_param *q, const gnn_map *m) {
    gnn_context *c = plan->c;
    if (m->width != 32 && m->width != 64)
        return rt_fail(c, GNN_BAD_ARGUMENT, "map %.60s: its width is %u, not 32 or 64", q->name,
                       m->width);
    if (m->domain < 0 || m->codomain < -1)
        return rt_fail(c, GNN_BAD_ARGUMENT, "map %.60s: %lld entries into %lld elements", q->name,
                       (long long)m->domain, (long long)m->codomain);
    if (m->on_device && !rt_on_cuda(c))
        return rt_fail(c, GNN_BAD_ARGUMENT,
                       "map %.60s: is said to lie on a device, but the context is the host's",
                       q->name);
    if (!m->index && !m->offsets && m->domain)
        return rt_fail(c, GNN_MISSING, "map %.60s: neither index nor offsets are given", q->name);
    if (!m->index && m->offsets && (!(q->facts & RT_SORTED) || q->sorted_by >= 0))
        return rt_fail(c, GNN_BAD_ARGUMENT,
                       "map %.60s: offsets alone tell it only where it is declared sorted",
                       q->name);
    uintptr_t bytes = m->width / 8;
    if ((uintptr_t)m->index % bytes || (uintptr_t)m->offsets % bytes)
        return rt_fail(c, GNN_MISALIGNED, "map %.60s: its arrays are not aligned to %u bytes",
                       q->name, m->width / 8);
    return GNN_OK;
}

static gnn_status bind_map(gnn_plan *plan, const gnn_named_map *m) {
    const gnn_program *p = plan->p;
    int i = m->name ? gnn_program_param_find(p, m->name) : -1;
    if (i < 0 || p->params[i].role != GNN_PARAM_MAP)
        return rt_fail(plan->c, GNN_BAD_ARGUMENT, "%.60s has no map `%.60s`", p->name,
                       m->name ? m->name : "");
    const rt_param *q = &p->params[i];
    if (q->facts & RT_PREFIX)
        return rt_fail(plan->c, GNN_BAD_ARGUMENT, "map %.60s is declared prefix: it has no array",
                       q->name);
    if (plan->given[i].width)
        return rt_fail(plan->c, GNN_BAD_ARGUMENT, "map %.60s is given twice", q->name);
    gnn_status s = check_form(plan, q, &m->map);
    if (!s && q->rank == 1 && m->map.domain)
        s = tell_size(plan, q->axes[0], m->map.domain, q->name);
    if (!s && m->map.codomain >= 0)
        s = tell_size(plan, (uint32_t)q->into, m->map.codomain, q->name);
    plan->given[i] = m->map;
    return s;
}

static gnn_status bind_maps(gnn_plan *plan, const gnn_plan_options *o) {
    const gnn_program *p = plan->p;
    gnn_status s = GNN_OK;
    for (size_t i = 0; i < o->nmaps && !s; i++) s = bind_map(plan, &o->maps[i]);
    for (uint32_t i = 0; i < p->nparams && !s; i++)
        if (p->params[i].role == GNN_PARAM_MAP && !(p->params[i].facts & RT_PREFIX) &&
            !plan->given[i].width)
            s = rt_fail(plan->c, GNN_MISSING, "map `%.60s` is not given", p->params[i].name);
    return s;
}

// Maps without entries and without arrays tell that there are none where nothing tells otherwise.
// Beside an array, a domain of 0 tells nothing: it may have been forgotten.
static gnn_status empty_domains(gnn_plan *plan) {
    const gnn_program *p = plan->p;
    gnn_status s = GNN_OK;
    for (uint32_t i = 0; i < p->nparams && !s; i++) {
        const rt_param *q = &p->params[i];
        const gnn_map *m = &plan->given[i];
        if (q->role != GNN_PARAM_MAP || q->facts & RT_PREFIX || q->rank != 1 || m->index ||
            m->offsets)
            continue;
        if (!plan->known[q->axes[0]]) s = tell_size(plan, q->axes[0], m->domain, q->name);
    }
    return s;
}

static gnn_status tensor_sizes(gnn_plan *plan, const gnn_plan_options *o) {
    const gnn_program *p = plan->p;
    if (o->nargs && o->nargs != p->nparams)
        return rt_fail(plan->c, GNN_BAD_ARGUMENT, "%zu arguments for the %u parameters of %.60s",
                       o->nargs, p->nparams, p->name);
    gnn_status s = GNN_OK;
    for (uint32_t i = 0; i < o->nargs && !s; i++) {
        const rt_param *q = &p->params[i];
        const gnn_tensor *t = o->args[i].tensor;
        if (!t || (q->role != GNN_PARAM_TENSOR && q->role != GNN_PARAM_RESULT)) continue;
        if (t->rank != q->rank)
            return rt_fail(plan->c, GNN_BAD_TENSOR, "%.60s has %u axes, not %u", q->name, t->rank,
                           q->rank);
        for (uint32_t k = 0; k < q->rank && !s; k++)
            s = tell_size(plan, q->axes[k], t->shape[k], q->name);
    }
    return s;
}

// ---- Sizes that follow --------------------------------------------------------------------------
static bool all_known(const gnn_plan *plan, const rt_expr *e) {
    for (uint32_t i = 0; i < e->count; i++)
        if (e->tokens[i].kind == RT_SPACE && !plan->known[e->tokens[i].a]) return false;
    return true;
}

gnn_status rt_plan_fixed_sizes(gnn_plan *plan) {
    const gnn_program *p = plan->p;
    gnn_status s = GNN_OK;
    for (bool more = true; more && !s;) {
        more = false;
        for (uint32_t i = 0; i < p->nspaces && !s; i++) {
            const rt_space *space = &p->spaces[i];
            int64_t value;
            if (space->kind == RT_COUNTED && !plan->known[i] && plan->prepared[space->prepared])
                value = plan->prepared[space->prepared]->codomain;
            else if (space->kind == RT_FIXED && !plan->known[i] && all_known(plan, &space->size))
                s = rt_plan_eval(plan, &space->size, &value);
            else continue;
            if (!s) s = set_size(plan, i, value, NULL);
            more = true;
        }
    }
    return s;
}

gnn_status rt_plan_sizes(gnn_plan *plan, const gnn_plan_options *o) {
    const gnn_program *p = plan->p;
    gnn_status s = given_sizes(plan, o);
    if (!s) s = bind_maps(plan, o);
    if (!s) s = tensor_sizes(plan, o);
    if (!s) s = empty_domains(plan);
    for (uint32_t i = 0; i < p->nspaces && !s; i++)
        if (p->spaces[i].kind == RT_FREE && !plan->known[i])
            s = rt_fail(plan->c, GNN_MISSING,
                        "the size of %.60s is not given, and no map or tensor tells it",
                        p->spaces[i].name);
    if (!s) s = rt_plan_fixed_sizes(plan);
    for (uint32_t i = 0; i < o->nargs && !s; i++)
        if (o->args[i].tensor && p->params[i].role != GNN_PARAM_MAP &&
            p->params[i].role != GNN_PARAM_SCALAR)
            s = rt_check_shape(plan, i, o->args[i].tensor);
    return s;
}

bool rt_plan_domain(const gnn_plan *plan, uint32_t param, int64_t *out) {
    const rt_param *q = &plan->p->params[param];
    bool fits = true, empty = false;
    *out = 1;
    for (uint32_t i = 0; i < q->rank; i++) {
        int64_t n = plan->sizes[q->axes[i]];
        empty |= !n;
        fits &= rt_mul(*out, n ? n : 1, out);
    }
    *out = empty ? 0 : *out;
    return fits || empty;
}
