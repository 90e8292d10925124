// Expressions with a plan's numbers: sizes, statistics of its maps, numbers of the device;
// preconditions.
#include "gpu.h"
#include "manifest.h"

#include <stdio.h>
#include <string.h>

// Offsets of a map that is sorted, which versions have walked, are kept by the cache for them.
static gnn_status offsets_of(gnn_plan *plan, uint32_t param, rt_structure **out) {
    const rt_param *q = &plan->p->params[param];
    *out = NULL;
    return q->facts & RT_SORTED && q->sorted_by < 0 && q->rank == 1
               ? rt_plan_offsets(plan, param, out)
               : GNN_OK;
}

static gnn_status mirrored(gnn_plan *plan, rt_structure *const maps[3], int64_t *out,
                           rt_edge *odd) {
    const uint32_t n = maps[2] ? 3 : 2;
    bool on_device;
    rt_gpu g = {0};
    rt_map_view views[3];
    gnn_status s = rt_structures_meet(maps, n, plan->making.stream, &on_device);
    if (s) return s;
    for (uint32_t i = 0; i < n; i++) views[i] = rt_structure_view(maps[i], on_device);
    const rt_ints *offsets = maps[2] ? &views[2].values : NULL;
    if (!on_device) return rt_symmetric(plan->c, &views[0], &views[1], offsets, out, odd);
    s = rt_gpu_begin(&g, plan->c, plan->making.stream, views[0].values.wide);
    return rt_gpu_end(&g, s ? s : rt_gpu_symmetric(&g, &views[0], &views[1], offsets, out, odd));
}

// odd: an edge without one back, or NULL.
static gnn_status symmetric(gnn_plan *plan, const rt_token *t, int64_t *out, rt_edge *odd) {
    rt_structure *maps[3] = {NULL};
    gnn_status s = rt_plan_map(plan, t->a, &maps[0]);
    if (!s) s = rt_plan_map(plan, t->b, &maps[1]);
    if (!s) s = offsets_of(plan, t->b, &maps[2]);
    if (!s) s = mirrored(plan, maps, out, odd);
    rt_structure_drop(maps[2]);
    return s;
}

// How full windows of rows are; the cache keeps the slots for what is prepared.
static gnn_status density(gnn_plan *plan, const rt_token *t, int64_t *out) {
    rt_structure *slots = NULL;
    gnn_status s = rt_plan_slots(plan, t->a, t->b, t->value, &slots);
    if (!s) *out = rt_density(slots->host.count, slots->codomain, t->value);
    rt_structure_drop(slots);
    return s;
}

static gnn_status sorted(gnn_plan *plan, const rt_token *t, int64_t *out) {
    rt_structure *m;
    bool on_device;
    rt_gpu g = {0};
    gnn_status s = rt_plan_map(plan, t->a, &m);
    if (!s) s = rt_structures_meet(&m, 1, plan->making.stream, &on_device);
    if (s) return s;
    const rt_map_view view = rt_structure_view(m, on_device);
    if (!on_device) return *out = rt_sorted(&view), GNN_OK;
    s = rt_gpu_begin(&g, plan->c, plan->making.stream, view.values.wide);
    return rt_gpu_end(&g, s ? s : rt_gpu_sorted(&g, &view, out));
}

static gnn_status measure(gnn_plan *plan, rt_structure *m) {
    bool on_device;
    rt_gpu g = {0};
    gnn_status s = rt_structures_meet(&m, 1, plan->making.stream, &on_device);
    if (s) return s;
    const rt_map_view view = rt_structure_view(m, on_device);
    if (!on_device) return rt_measure(plan->c, &view, &m->preimages);
    s = rt_gpu_begin(&g, plan->c, plan->making.stream, view.values.wide);
    return rt_gpu_end(&g, s ? s : rt_gpu_measure(&g, &view, &m->preimages));
}

gnn_status rt_plan_measure(gnn_plan *plan, rt_structure *m) {
    gnn_status s = m->measured ? GNN_OK : measure(plan, m);
    m->measured |= !s;
    return s;
}

static gnn_status fact(void *user, const rt_token *t, int64_t *out) {
    gnn_plan *plan = user;
    if (t->kind == RT_DEVICE) return rt_device_number(plan->c, (rt_device_fact)t->a, out);
    if (t->kind == RT_IS_SORTED) return sorted(plan, t, out);
    if (t->kind == RT_SYMMETRIC) return symmetric(plan, t, out, NULL);
    if (t->kind == RT_DENSITY) return density(plan, t, out);
    rt_structure *m;
    gnn_status s = rt_plan_map(plan, t->a, &m);
    if (!s) s = rt_plan_measure(plan, m);
    if (s) return s;
    *out = rt_statistic(&m->preimages, t);
    return GNN_OK;
}

gnn_status rt_plan_eval(gnn_plan *plan, const rt_expr *e, int64_t *out) {
    for (uint32_t i = 0; i < e->count; i++)
        if (e->tokens[i].kind == RT_SPACE && !plan->known[e->tokens[i].a])
            return rt_fail(plan->c, GNN_BAD_MANIFEST,
                           "`%.100s`: the size of %.60s depends on itself", e->text,
                           plan->p->spaces[e->tokens[i].a].name);
    const rt_values values = {plan->sizes, fact, plan};
    return rt_expr_eval(plan->c, e, &values, out);
}

// What it builds on the way is gone again.
static gnn_status evaluate(gnn_plan *plan, const char *text, rt_heap *h, int64_t *out) {
    const rt_scope scope = rt_program_scope(plan->p);
    rt_expr e;
    char at[64];
    const char *wrong = rt_expr_parse(h, text, &scope, &e, at);
    if (wrong && !e.tokens) return GNN_NO_MEMORY;
    if (wrong) return rt_fail(plan->c, GNN_BAD_ARGUMENT, "`%.100s`: `%s` %s", text, at, wrong);
    for (uint32_t i = 0; i < e.count; i++)
        if (e.tokens[i].kind == RT_SPACE && !plan->known[e.tokens[i].a])
            return rt_fail(plan->c, GNN_BAD_ARGUMENT, "%.60s: nothing this plan launches counts it",
                           plan->p->spaces[e.tokens[i].a].name);
    return rt_plan_eval(plan, &e, out);
}

gnn_status gnn_plan_evaluate(gnn_plan *plan, const char *expression, int64_t *out) {
    if (!rt_begin(RT_OF(plan), __func__, expression && out)) return GNN_BAD_ARGUMENT;
    rt_heap h = {plan->c, NULL};
    gnn_status s = gnn_cache_new(plan->c, &plan->making.cache);
    if (!s) s = evaluate(plan, expression, &h, out);
    gnn_cache_free(plan->making.cache);
    plan->making.cache = NULL;
    rt_heap_free(&h);
    return s;
}

// The edge that makes maps asymmetric; "": there is none.
static void tell_odd(gnn_plan *plan, const rt_token *t, char *out, size_t size) {
    rt_edge odd = {-1, 0, 0};
    int64_t holds = 1;
    *out = 0;
    if (t->kind != RT_SYMMETRIC || symmetric(plan, t, &holds, &odd) || odd.at < 0) return;
    snprintf(out, size, ", as no edge leads back from %.40s[%lld] = %lld to %.40s[%lld] = %lld",
             plan->p->params[t->b].name, (long long)odd.at, (long long)odd.dst,
             plan->p->params[t->a].name, (long long)odd.at, (long long)odd.src);
}

void rt_plan_tell(gnn_plan *plan, const rt_expr *e, char *out, size_t size) {
    size_t n = 0;
    *out = 0;
    const char *text = e->text;
    for (uint32_t i = 0; i < e->count && n < size; i++, text += strcspn(text, " ") + 1) {
        const rt_token *t = &e->tokens[i];
        int64_t value = t->kind == RT_SPACE ? plan->sizes[t->a] : 0;
        if (t->kind != RT_SPACE && (!rt_is_fact(t->kind) || fact(plan, t, &value))) continue;
        char odd[200];
        tell_odd(plan, t, odd, sizeof odd);
        int wrote = snprintf(out + n, size - n, "%s%.*s = %lld%s", n ? ", " : ": ",
                             (int)strcspn(text, " "), text, (long long)value, odd);
        n += wrote > 0 ? (size_t)wrote : 0;
    }
}

gnn_status rt_plan_requires(gnn_plan *plan) {
    for (uint32_t i = 0; i < plan->p->nrequired; i++) {
        const rt_require *q = &plan->p->required[i];
        int64_t holds;
        gnn_status s = rt_plan_eval(plan, &q->holds, &holds);
        if (s) return s;
        if (holds) continue;
        char values[200];
        rt_plan_tell(plan, &q->holds, values, sizeof values);
        return rt_fail(plan->c, GNN_PRECONDITION, "the precondition `%.120s` does not hold%s",
                       q->text, values);
    }
    return GNN_OK;
}
