// The maps of a plan: checked, in the program's index width, on the context's device; on the host where
// somebody asks.
#include "internal.h"

static rt_checked describe(const gnn_plan *plan, uint32_t param, rt_map_view view) {
    const rt_param *q = &plan->p->params[param];
    uint32_t facts = q->sorted_by < 0 ? q->facts : q->facts & ~(uint32_t)RT_SORTED;
    rt_checked m = {
        .name = q->name, .into = plan->p->spaces[q->into].name, .facts = facts, .rank = q->rank, .map = view};
    for (uint32_t i = 0; i < q->rank; i++) m.axes[i] = plan->sizes[q->axes[i]];
    return m;
}

// An array of the caller's on the host: itself, or a copy.
typedef struct {
    rt_ints values;
    bool copied;
} brought;

static gnn_status bring(gnn_plan *plan, const gnn_map *m, const void *array, int64_t count, brought *out) {
    gnn_context *c = plan->c;
    bool wide = m->width == 64;
    *out = (brought){{(void *)(uintptr_t)array, count, wide}, false};
    if (!m->on_device) return GNN_OK;
    gnn_status s = rt_ints_new(c, count, wide, &out->values);
    if (s) return s;
    out->copied = true;
    s = rt_fetch(c, array, (size_t)count * (m->width / 8), out->values.data, plan->stream);
    if (s) rt_free(c, out->values.data);
    return s;
}

static gnn_status bring_offsets(gnn_plan *plan, const gnn_map *m, int64_t codomain, brought *out) {
    int64_t entries;
    if (!rt_add(codomain, 1, &entries))
        return rt_fail(plan->c, GNN_TOO_LARGE, "a map into %lld elements has no offsets",
                       (long long)codomain);
    return bring(plan, m, m->offsets, entries, out);
}

static gnn_status from_offsets(gnn_plan *plan, uint32_t param, rt_structure *s) {
    const gnn_map *m = &plan->given[param];
    bool wide = plan->p->index_bits == 64;
    rt_checked checked = describe(plan, param, (rt_map_view){{NULL, m->domain, wide}, s->codomain});
    brought offsets;
    gnn_status status = bring_offsets(plan, m, s->codomain, &offsets);
    if (status) return status;
    status = rt_check_offsets(plan->c, &checked, &offsets.values);   // expanding trusts them
    if (!status) status = rt_build_expanded(plan->c, &offsets.values, m->domain, wide, &s->host);
    if (offsets.copied) rt_free(plan->c, offsets.values.data);
    if (status) return status;
    s->owns_host = true;
    return rt_structure_upload(s, plan->stream);
}

static gnn_status check_beside(gnn_plan *plan, const gnn_map *m, const rt_checked *checked) {
    brought offsets;
    gnn_status s = bring_offsets(plan, m, checked->map.codomain, &offsets);
    if (s) return s;
    s = rt_check_agreement(plan->c, checked, &offsets.values);
    if (offsets.copied) rt_free(plan->c, offsets.values.data);
    return s;
}

static gnn_status check_given(gnn_plan *plan, uint32_t param, const rt_ints *values, rt_structure *s) {
    const rt_checked checked = describe(plan, param, (rt_map_view){*values, s->codomain});
    gnn_status status = rt_check_map(plan->c, &checked);
    if (!status && plan->given[param].offsets && plan->given[param].index)
        status = check_beside(plan, &plan->given[param], &checked);
    if (!status) s->checked |= checked.facts | RT_CHECKED;
    return status;
}

static gnn_status convert(gnn_plan *plan, uint32_t param, const rt_ints *from, rt_structure *s) {
    rt_ints to;
    gnn_status status = rt_ints_new(plan->c, from->count, plan->p->index_bits == 64, &to);
    if (status) return status;
    s->host = to;
    s->owns_host = true;
    for (int64_t e = 0; e < from->count; e++) {
        int64_t v = rt_get(from, e);
        if (!to.wide && (v < -1 || v > INT32_MAX))   // trusted, or it would have been refused
            return rt_fail(plan->c, GNN_BAD_INDEX, "%.60s: %lld at %lld does not fit 32 bits",
                           plan->p->params[param].name, (long long)v, (long long)e);
        rt_set(&to, e, v);
    }
    return rt_structure_upload(s, plan->stream);
}

static gnn_status from_index(gnn_plan *plan, uint32_t param, rt_structure *s) {
    const gnn_map *m = &plan->given[param];
    const bool trusted = plan->flags & GNN_TRUSTED, same = m->width == plan->p->index_bits;
    s->host = (rt_ints){NULL, m->domain, same ? m->width == 64 : m->width == 32};
    if (trusted && same && m->on_device) {
        s->device = m->index;
        return GNN_OK;
    }
    brought index;
    gnn_status status = bring(plan, m, m->index, m->domain, &index);
    if (status) return status;
    if (!trusted) status = check_given(plan, param, &index.values, s);
    if (!status && !same) status = convert(plan, param, &index.values, s);
    if (!same || status) {
        if (index.copied) rt_free(plan->c, index.values.data);
        return status;
    }
    s->host = index.values;
    s->owns_host = index.copied;
    s->device = m->index;
    return m->on_device ? GNN_OK : rt_structure_upload(s, plan->stream);
}

static gnn_status check_again(gnn_plan *plan, uint32_t param, rt_structure *s) {
    uint32_t wanted = describe(plan, param, (rt_map_view){{0}, 0}).facts | RT_CHECKED;
    if (plan->flags & GNN_TRUSTED || !(wanted & ~s->checked)) return GNN_OK;
    gnn_status status = rt_structure_fetch(s, plan->stream);
    return status ? status : check_given(plan, param, &s->host, s);
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
                           plan->p->index_bits};
    rt_structure *s = plan->maps[param] = rt_cache_find(plan->cache, key, RT_COUNT(key));
    if (s) return check_again(plan, param, s);
    gnn_status status = rt_structure_new(plan->c, key, RT_COUNT(key), &s);
    plan->maps[param] = s;
    if (status) return status;
    s->codomain = codomain;
    status = !m->index && m->offsets ? from_offsets(plan, param, s) : from_index(plan, param, s);
    if (!status) rt_cache_add(plan->cache, s);
    return status;
}

static gnn_status check_domain(gnn_plan *plan, uint32_t param) {
    const rt_param *q = &plan->p->params[param];
    const gnn_map *m = &plan->given[param];
    int64_t domain, codomain = plan->sizes[q->into];
    bool prefix = q->facts & RT_PREFIX;
    if (!plan->known[q->into])
        return rt_fail(plan->c, GNN_BAD_MANIFEST,
                       "map %.60s: it goes into %.60s, whose size is not known before it", q->name,
                       plan->p->spaces[q->into].name);
    for (uint32_t i = 0; i < q->rank; i++)
        if (!plan->known[q->axes[i]])
            return rt_fail(plan->c, GNN_BAD_MANIFEST, "map %.60s: the size of %.60s is not known before it",
                           q->name, plan->p->spaces[q->axes[i]].name);
    if (!rt_plan_domain(plan, param, &domain))
        return rt_fail(plan->c, GNN_TOO_LARGE, "map %.60s: the product of its axes overflows", q->name);
    if (plan->p->index_bits == 32 && domain > INT32_MAX)
        return rt_fail(plan->c, GNN_TOO_LARGE,
                       "map %.60s: %lld entries do not fit 32-bit indices: compile with --index=64", q->name,
                       (long long)domain);
    if (prefix && domain > codomain)
        return rt_fail(plan->c, GNN_PRECONDITION,
                       "prefix map %.60s: its %lld entries do not fit into %.60s (%lld)", q->name,
                       (long long)domain, plan->p->spaces[q->into].name, (long long)codomain);
    if (!prefix && m->domain != domain)
        return rt_fail(plan->c, GNN_SIZE_MISMATCH, "map %.60s has %lld entries, but its axes have %lld",
                       q->name, (long long)m->domain, (long long)domain);
    if (!prefix && m->codomain >= 0 && m->codomain != codomain)
        return rt_fail(plan->c, GNN_SIZE_MISMATCH, "map %.60s goes into %lld elements, but %.60s is %lld",
                       q->name, (long long)m->codomain, plan->p->spaces[q->into].name, (long long)codomain);
    return GNN_OK;
}

static gnn_status check_sorted_by(gnn_plan *plan, uint32_t param) {
    const rt_param *q = &plan->p->params[param];
    rt_map_view m, by;
    gnn_status s = rt_plan_map_view(plan, param, &m);
    if (!s) s = rt_plan_map_view(plan, (uint32_t)q->sorted_by, &by);
    if (s) return s;
    const char *by_name = plan->p->params[q->sorted_by].name;
    if (m.values.count != by.values.count)
        return rt_fail(plan->c, GNN_BAD_MANIFEST,
                       "map %.60s is declared sorted(%.60s), which has another domain", q->name, by_name);
    const rt_checked checked = describe(plan, param, m);
    return rt_check_sorted_by(plan->c, &checked, by_name, &by);
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
        if (p->params[i].role == GNN_PARAM_MAP && p->params[i].sorted_by >= 0 && !(plan->flags & GNN_TRUSTED))
            s = check_sorted_by(plan, i);
    return s;
}

// A prefix map is written out only for builders and statistics.
static gnn_status write_prefix(gnn_plan *plan, uint32_t param) {
    int64_t domain, codomain = plan->sizes[plan->p->params[param].into];
    rt_plan_domain(plan, param, &domain);
    const int64_t key[] = {'p', domain, codomain, plan->p->index_bits};
    rt_structure *s = plan->maps[param] = rt_cache_find(plan->cache, key, RT_COUNT(key));
    if (s) return GNN_OK;
    gnn_status status = rt_structure_new(plan->c, key, RT_COUNT(key), &s);
    plan->maps[param] = s;
    if (!status) status = rt_ints_new(plan->c, domain, plan->p->index_bits == 64, &s->host);
    if (status) return status;
    s->owns_host = true;
    s->codomain = codomain;
    for (int64_t i = 0; i < domain; i++) rt_set(&s->host, i, i);
    rt_cache_add(plan->cache, s);
    return GNN_OK;
}

gnn_status rt_plan_map(gnn_plan *plan, uint32_t param, rt_structure **out) {
    gnn_status s = plan->maps[param] ? GNN_OK : write_prefix(plan, param);
    *out = plan->maps[param];
    return s ? s : rt_structure_fetch(*out, plan->stream);
}

gnn_status rt_plan_map_view(gnn_plan *plan, uint32_t param, rt_map_view *out) {
    rt_structure *s;
    gnn_status status = rt_plan_map(plan, param, &s);
    if (!status) *out = (rt_map_view){s->host, s->codomain};
    return status;
}
