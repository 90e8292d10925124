// The maps of a plan: checked, in the program's index width, on the context's device; on the host
// where somebody asks.
#include "gpu.h"

static rt_checked describe(const gnn_plan *plan, uint32_t param, rt_map_view view) {
    const rt_param *q = &plan->p->params[param];
    uint32_t facts = q->sorted_by < 0 ? q->facts : q->facts & ~(uint32_t)RT_SORTED;
    rt_checked m = {.name = q->name,
                    .into = plan->p->spaces[q->into].name,
                    .facts = facts,
                    .rank = q->rank,
                    .map = view};
    for (uint32_t i = 0; i < q->rank; i++) m.axes[i] = plan->sizes[q->axes[i]];
    return m;
}

static rt_ints array_of(const gnn_map *m, const void *array, int64_t count) {
    return (rt_ints){(void *)(uintptr_t)array, count, m->width == 64};
}

static gnn_status offsets_of(gnn_plan *plan, const gnn_map *m, int64_t codomain, rt_ints *out) {
    int64_t entries;
    gnn_status s = rt_count_offsets(plan->c, codomain, &entries);
    if (!s) *out = array_of(m, m->offsets, entries);
    return s;
}

static gnn_status from_offsets(gnn_plan *plan, uint32_t param, rt_structure *s) {
    const gnn_map *m = &plan->given[param];
    bool wide = plan->p->made.index_bits == 64;
    rt_checked checked = describe(
        plan, param, (rt_map_view){.values = {NULL, m->domain, wide}, .codomain = s->codomain});
    rt_ints offsets;
    gnn_status status = offsets_of(plan, m, s->codomain, &offsets);
    if (!status) status = rt_check_offsets(plan->c, &checked, &offsets);   // expanding trusts them
    if (!status) status = rt_build_expanded(plan->c, &offsets, m->domain, wide, &s->host);
    if (status) return status;
    s->owns_host = true;
    return rt_structure_upload(s, plan->making.stream);
}

static gnn_status check_beside(gnn_plan *plan, const gnn_map *m, const rt_checked *checked) {
    rt_ints offsets;
    gnn_status s = offsets_of(plan, m, checked->map.codomain, &offsets);
    return s ? s : rt_check_agreement(plan->c, checked, &offsets);
}

static gnn_status check_given(gnn_plan *plan, uint32_t param, const rt_ints *values,
                              rt_structure *s) {
    const rt_checked checked = describe(plan, param,
                                        (rt_map_view){.values = *values, .codomain = s->codomain});
    gnn_status status = rt_check_map(plan->c, &checked);
    if (!status && plan->given[param].offsets && plan->given[param].index)
        status = check_beside(plan, &plan->given[param], &checked);
    if (!status) s->checked |= checked.facts | RT_CHECKED;
    return status;
}

static gnn_status convert(gnn_plan *plan, uint32_t param, const rt_ints *from, rt_structure *s) {
    rt_ints to;
    gnn_status status = rt_ints_new(plan->c, from->count, plan->p->made.index_bits == 64, &to);
    if (status) return status;
    s->host = to;
    s->owns_host = true;
    for (int64_t e = 0; e < from->count; e++) {
        int64_t v = rt_get(from, e);
        if (!to.wide && (v < -1 || v > INT32_MAX))   // trusted, or it would have been refused
            return rt_tell_unfit(plan->c, plan->p->params[param].name, e, v);
        rt_set(&to, e, v);
    }
    return rt_structure_upload(s, plan->making.stream);
}

static gnn_status from_index(gnn_plan *plan, uint32_t param, rt_structure *s) {
    const gnn_map *m = &plan->given[param];
    const rt_ints index = array_of(m, m->index, m->domain);
    gnn_status status = plan->flags & GNN_TRUSTED ? GNN_OK : check_given(plan, param, &index, s);
    if (status) return status;
    if (m->width != plan->p->made.index_bits) return convert(plan, param, &index, s);
    s->host = index;
    return rt_structure_upload(s, plan->making.stream);
}

static gnn_status check_again(gnn_plan *plan, uint32_t param, rt_structure *s) {
    uint32_t wanted = describe(plan, param, (rt_map_view){.values = {0}, .codomain = 0}).facts |
                      RT_CHECKED;
    if (plan->flags & GNN_TRUSTED || !(wanted & ~s->checked)) return GNN_OK;
    if (!plan->given[param].on_device) return check_given(plan, param, &s->host, s);
    const rt_checked checked = describe(plan, param, rt_structure_view(s, true));
    return rt_gpu_check_again(plan, param, &checked, s);
}

static gnn_status from_device(gnn_plan *plan, uint32_t param, rt_structure *s) {
    s->host = (rt_ints){NULL, plan->given[param].domain, plan->p->made.index_bits == 64};
    const rt_checked checked = describe(plan, param,
                                        (rt_map_view){.values = s->host, .codomain = s->codomain});
    return rt_gpu_map(plan, param, &checked, s);
}

static gnn_status make_map(gnn_plan *plan, uint32_t param) {
    const gnn_map *m = &plan->given[param];
    int64_t codomain = plan->sizes[plan->p->params[param].into];
    const int64_t key[] = {'m',
                           (int64_t)(intptr_t)m->index,
                           (int64_t)(intptr_t)m->offsets,
                           m->width,
                           m->on_device,
                           m->domain,
                           codomain,
                           plan->p->made.index_bits};
    rt_structure *s = plan->maps[param] = rt_cache_find(plan->making.cache, key, RT_COUNT(key));
    if (s) return check_again(plan, param, s);
    gnn_status status = rt_structure_new(plan->c, key, RT_COUNT(key), &s);
    plan->maps[param] = s;
    if (status) return status;
    s->codomain = codomain;
    if (m->on_device) status = from_device(plan, param, s);
    else
        status = !m->index && m->offsets ? from_offsets(plan, param, s)
                                         : from_index(plan, param, s);
    if (!status) rt_cache_add(plan->making.cache, s);
    return status;
}

static gnn_status check_domain(gnn_plan *plan, uint32_t param) {
    const rt_param *q = &plan->p->params[param];
    gnn_map *m = &plan->given[param];
    int64_t domain, codomain = plan->sizes[q->into];
    bool prefix = q->facts & RT_PREFIX;
    if (!plan->known[q->into])
        return rt_fail(plan->c, GNN_BAD_MANIFEST,
                       "map %.60s: it goes into %.60s, whose size is not known before it", q->name,
                       plan->p->spaces[q->into].name);
    for (uint32_t i = 0; i < q->rank; i++)
        if (!plan->known[q->axes[i]])
            return rt_fail(plan->c, GNN_BAD_MANIFEST,
                           "map %.60s: the size of %.60s is not known before it", q->name,
                           plan->p->spaces[q->axes[i]].name);
    if (!rt_plan_domain(plan, param, &domain))
        return rt_fail(plan->c, GNN_TOO_LARGE, "map %.60s: the product of its axes overflows",
                       q->name);
    if (plan->p->made.index_bits == 32 && domain > INT32_MAX)
        return rt_fail(plan->c, GNN_TOO_LARGE,
                       "map %.60s: %lld entries do not fit 32-bit indices: compile with --index=64",
                       q->name, (long long)domain);
    if (prefix && domain > codomain)
        return rt_fail(plan->c, GNN_PRECONDITION,
                       "prefix map %.60s: its %lld entries do not fit into %.60s (%lld)", q->name,
                       (long long)domain, plan->p->spaces[q->into].name, (long long)codomain);
    if (!m->domain) m->domain = domain;   // left to the sizes
    if (!prefix && domain && !m->index && !m->offsets)
        return rt_fail(plan->c, GNN_MISSING, "map %.60s: neither index nor offsets are given",
                       q->name);
    if (!prefix && m->domain != domain)
        return rt_fail(plan->c, GNN_SIZE_MISMATCH,
                       "map %.60s has %lld entries, but its axes have %lld", q->name,
                       (long long)m->domain, (long long)domain);
    if (!prefix && m->codomain >= 0 && m->codomain != codomain)
        return rt_fail(plan->c, GNN_SIZE_MISMATCH,
                       "map %.60s goes into %lld elements, but %.60s is %lld", q->name,
                       (long long)m->codomain, plan->p->spaces[q->into].name, (long long)codomain);
    return GNN_OK;
}

static gnn_status check_sorted_by(gnn_plan *plan, uint32_t param) {
    const rt_param *q = &plan->p->params[param];
    rt_structure *maps[2];
    bool on_device;
    rt_gpu g = {0};
    gnn_status s = rt_plan_map(plan, param, &maps[0]);
    if (!s) s = rt_plan_map(plan, (uint32_t)q->sorted_by, &maps[1]);
    if (!s) s = rt_structures_meet(maps, 2, plan->making.stream, &on_device);
    if (s) return s;
    const rt_map_view m = rt_structure_view(maps[0], on_device),
                      by = rt_structure_view(maps[1], on_device);
    const char *by_name = plan->p->params[q->sorted_by].name;
    if (m.values.count != by.values.count)
        return rt_fail(plan->c, GNN_BAD_MANIFEST,
                       "map %.60s is declared sorted(%.60s), which has another domain", q->name,
                       by_name);
    const rt_checked checked = describe(plan, param, m);
    if (!on_device) return rt_check_sorted_by(plan->c, &checked, by_name, &by);
    s = rt_gpu_begin(&g, plan->c, plan->making.stream, m.values.wide);
    return rt_gpu_end(&g, s ? s : rt_gpu_check_sorted_by(&g, &checked, by_name, &by));
}

gnn_status rt_plan_maps(gnn_plan *plan) {
    const gnn_program *p = plan->p;
    gnn_status s = GNN_OK;
    for (uint32_t i = 0; i < p->nparams && !s; i++) {
        if (p->params[i].role != GNN_PARAM_MAP) continue;
        s = check_domain(plan, i);
        if (!s && !(p->params[i].facts & RT_PREFIX)) s = make_map(plan, i);
    }
    for (uint32_t i = 0; i < p->nparams && !s; i++)
        if (p->params[i].role == GNN_PARAM_MAP && p->params[i].sorted_by >= 0 &&
            !(plan->flags & GNN_TRUSTED))
            s = check_sorted_by(plan, i);
    return s;
}

// A prefix map is written out only for builders and statistics.
static gnn_status write_prefix(gnn_plan *plan, uint32_t param) {
    int64_t domain, codomain = plan->sizes[plan->p->params[param].into];
    rt_plan_domain(plan, param, &domain);
    const int64_t key[] = {'p', domain, codomain, plan->p->made.index_bits};
    rt_structure *s = plan->maps[param] = rt_cache_find(plan->making.cache, key, RT_COUNT(key));
    if (s) return GNN_OK;
    gnn_status status = rt_structure_new(plan->c, key, RT_COUNT(key), &s);
    plan->maps[param] = s;
    if (!status) status = rt_ints_new(plan->c, domain, plan->p->made.index_bits == 64, &s->host);
    if (status) return status;
    s->owns_host = true;
    s->codomain = codomain;
    for (int64_t i = 0; i < domain; i++) rt_set(&s->host, i, i);
    rt_cache_add(plan->making.cache, s);
    return GNN_OK;
}

gnn_status rt_plan_map(gnn_plan *plan, uint32_t param, rt_structure **out) {
    gnn_status s = plan->maps[param] ? GNN_OK : write_prefix(plan, param);
    *out = plan->maps[param];
    return s;
}
