// The versions of a manifest: what guards each, and its steps. One alone may have guards, too.
#include "manifest.h"

static gnn_status read_holds(const rt_row *r, rt_guard *g) {
    gnn_status s = rt_row_string(r, "text", &g->text);
    return s ? s : rt_row_expr(r, "holds", &g->holds);
}

static gnn_status read_pays(const rt_row *r, rt_guard *g) {
    gnn_status s = rt_row_string(r, "text", &g->text);
    g->pays = true;
    return s ? s : rt_row_expr(r, "pays", &g->holds);
}

static gnn_status read_array(const rt_row *r, const char *key, rt_guard *g) {
    gnn_status s = rt_row_param(r, key, rt_json_get(r->object, key), &g->param);
    if (s) return s;
    const rt_param *q = &r->p->params[g->param];
    bool none = q->role == GNN_PARAM_SCALAR || q->facts & RT_PREFIX;
    return none ? rt_row_bad(r, "%s: `%.60s` has no array", key, q->name) : GNN_OK;
}

static gnn_status read_aligned(const rt_row *r, rt_guard *g) {
    gnn_status s = read_array(r, "aligned", g);
    if (!s) s = rt_row_int(r, "bytes", 1, 4096, &g->value);
    return !s && g->value & (g->value - 1) ? rt_row_bad(r, "\"bytes\" must be a power of two") : s;
}

static gnn_status read_axis(const rt_row *r, const char *key, rt_guard *g) {
    int64_t axis = 0;
    gnn_status s = read_array(r, key, g);
    if (!s) s = rt_row_int(r, "axis", 0, (int64_t)r->p->params[g->param].rank - 1, &axis);
    g->axis = (uint32_t)axis;
    return s;
}

static gnn_status read_pitch(const rt_row *r, rt_guard *g) {
    gnn_status s = read_axis(r, "pitch", g);
    return s ? s : rt_row_int(r, "elements", 1, INT64_MAX, &g->value);
}

static gnn_status read_stride(const rt_row *r, rt_guard *g) {
    gnn_status s = read_axis(r, "stride", g);
    return s ? s : rt_row_int(r, "multiple", 1, INT32_MAX, &g->value);
}

static gnn_status read_reach(const rt_row *r, rt_guard *g) {
    gnn_status s = read_array(r, "reach", g);
    return s ? s : rt_row_int(r, "below", 1, INT64_MAX, &g->value);
}

static gnn_status read_guard(const rt_row *r, rt_guard *g) {
    static const struct {
        const char *key;
        rt_guard_kind kind;
        gnn_status (*read)(const rt_row *r, rt_guard *g);
    } kinds[] = {
        {"holds", RT_GUARD_HOLDS, read_holds},       {"pays", RT_GUARD_HOLDS, read_pays},
        {"aligned", RT_GUARD_ALIGNED, read_aligned}, {"stride", RT_GUARD_STRIDE, read_stride},
        {"pitch", RT_GUARD_PITCH, read_pitch},       {"reach", RT_GUARD_REACH, read_reach}};
    for (uint32_t k = 0; k < RT_COUNT(kinds); k++)
        if (rt_json_get(r->object, kinds[k].key)) {
            g->kind = kinds[k].kind;
            return kinds[k].read(r, g);
        }
    return rt_row_bad(r, "a guard of no known kind");
}

gnn_status rt_read_choice(gnn_program *p) {
    const rt_row r = {p, rt_json_get(p->json, "choice"), "choice", 0, NULL};
    rt_choice *c = &p->made.choice;
    const rt_json *schedules;
    if (!r.object) return GNN_OK;
    if (!rt_json_is_object(r.object)) return rt_row_bad(&r, "is not an object");
    gnn_status s = rt_row_string(&r, "text", &c->text);
    if (!s) s = rt_row_expr(&r, "of", &c->of);
    if (!s) s = rt_row_list(&r, "schedules", RT_MAX_ROWS, &schedules);
    if (s) return s;
    c->nschedules = (uint32_t)rt_json_count(schedules);
    if (!c->nschedules) return rt_row_bad(&r, "needs a list \"schedules\" of one at least");
    for (uint32_t i = 0; i < c->nschedules; i++)
        if (!rt_json_text(rt_json_at(schedules, i)))
            return rt_row_bad(&r, "\"schedules\" must be texts");
    return GNN_OK;
}

static gnn_status read_schedule(const rt_row *r, rt_version *v) {
    const uint32_t n = r->p->made.choice.nschedules;
    int64_t of = 0;
    if (!n && rt_json_get(r->object, "of"))
        return rt_row_bad(r, "\"of\" is of a choice, and there is none");
    gnn_status s = n ? rt_row_int(r, "of", 0, (int64_t)n - 1, &of) : GNN_OK;
    v->of = (uint32_t)of;
    return s;
}

gnn_status rt_read_version(const rt_row *r) {
    rt_version *v = &r->p->versions[r->i];
    const rt_json *guards, *steps;
    gnn_status s = read_schedule(r, v);
    if (!s) s = rt_row_list(r, "guards", RT_MAX_ROWS, &guards);
    if (!s) s = rt_row_list(r, "steps", RT_MAX_ROWS, &steps);
    if (s) return s;
    v->nguards = (uint32_t)rt_json_count(guards);
    v->guards = rt_heap_alloc(&r->p->heap, v->nguards, sizeof *v->guards);
    if (!v->guards) return GNN_NO_MEMORY;
    for (uint32_t i = 0; i < v->nguards && !s; i++) {
        const rt_row row = {r->p, rt_json_at(guards, i), "guards", i, r};
        s = read_guard(&row, &v->guards[i]);
    }
    return s ? s : rt_read_steps(r, steps, v);
}

gnn_status rt_check_versions(gnn_program *p) {
    if (!p->nversions) return rt_fail(p->c, GNN_BAD_MANIFEST, "manifest: there are no versions");
    const rt_version *last = &p->versions[p->nversions - 1];
    if (!last->nguards || p->nversions == 1) return GNN_OK;   // one alone is taken or refused
    return rt_fail(p->c, GNN_BAD_MANIFEST,
                   "manifest: versions[%u] (%.60s): the last version must have no guards",
                   p->nversions - 1, last->name);
}
