// Where the temps of a version lie in its workspace. Temps that are not needed at the same time
// share memory: one is needed from the first step that touches it to the last. A launch that is
// early may run beside those before it, down to the last that is not; one that waits neither first
// nor to write may touch its temps so soon.
#include "launch_plan.h"

#include <stdlib.h>

typedef struct {
    // steps; first: that touches it; from: when its memory must be nobody else's
    uint32_t temp, first, from, last;
    int64_t bytes, at;
} place;

// ---- When ---------------------------------------------------------------------------------------
// What is touched in a loop is needed in all its rounds.
static void step_span(const rt_version *v, uint32_t i, uint32_t *from, uint32_t *last) {
    *from = *last = i;
    for (uint32_t k = 0; k < i; k++)
        if (v->steps[k].kind == RT_LOOP && v->steps[k].match > i) {
            *from = k;
            *last = v->steps[k].match;
            return;   // the outermost one
        }
}

// The first of the launches that may run while step i does.
static uint32_t chain_head(const rt_version *v, uint32_t i) {
    while (i && v->steps[i].early && v->steps[i - 1].kind == RT_LAUNCH) i--;
    return i;
}

static void touch(const rt_version *v, uint32_t i, place *p) {
    uint32_t from, last;
    if (p->first == UINT32_MAX) p->first = i;
    bool waits = !v->steps[i].early || v->steps[i].waits_first ||
                 (v->steps[i].waits_to_write && p->first == i);
    step_span(v, i, &from, &last);
    if (from == i && !waits) from = chain_head(v, i);
    if (from < p->from) p->from = from;
    if (last > p->last) p->last = last;
}

static bool apart(const place *a, const place *b) { return a->last < b->from || b->last < a->from; }

// ---- How much -----------------------------------------------------------------------------------
static gnn_status room(gnn_plan *plan, uint32_t temp, int64_t *bytes) {
    const rt_temp *t = &plan->p->temps[temp];
    int64_t length;
    gnn_status s = rt_plan_eval(plan, &t->length, &length);
    if (s) return s;
    if (length < 0)
        return rt_fail(plan->c, GNN_BAD_MANIFEST, "temp %.60s: its length is %lld", t->name,
                       (long long)length);
    if (!rt_mul(length, (int64_t)t->bytes, bytes) || !rt_add(*bytes, 255, bytes))
        return rt_fail(plan->c, GNN_TOO_LARGE, "temp %.60s: %lld elements overflow the workspace",
                       t->name, (long long)length);
    *bytes &= ~INT64_C(255);
    return GNN_OK;
}

static gnn_status list(gnn_plan *plan, const rt_version *v, place *places, uint32_t *n) {
    gnn_status s = GNN_OK;
    *n = 0;
    for (uint32_t t = 0; t < plan->p->ntemps && !s; t++) {
        place p = {.temp = t, .first = UINT32_MAX, .from = UINT32_MAX};
        for (uint32_t i = 0; i < v->nsteps; i++)
            for (uint32_t k = 0; k < v->steps[i].nargs; k++)
                if (v->steps[i].args[k].kind == RT_ARG_TEMP && v->steps[i].args[k].index == t)
                    touch(v, i, &p);
        if (p.from == UINT32_MAX) continue;
        s = room(plan, t, &p.bytes);
        places[(*n)++] = p;
    }
    return s;
}

// ---- Where --------------------------------------------------------------------------------------
// The lowest place beside those that have one and are needed at the same time.
static bool place_one(const place *placed, uint32_t n, place *p) {
    bool moved = true;
    p->at = 0;
    while (moved) {
        moved = false;
        for (uint32_t i = 0; i < n; i++) {
            const place *q = &placed[i];
            int64_t end;
            if (!rt_add(p->at, p->bytes, &end)) return false;
            if (apart(p, q) || end <= q->at || q->at + q->bytes <= p->at) continue;
            p->at = q->at + q->bytes;
            moved = true;
        }
    }
    return true;
}

static int by_size(const void *a, const void *b) {
    const place *p = a, *q = b;
    if (p->bytes != q->bytes) return p->bytes > q->bytes ? -1 : 1;
    return p->temp < q->temp ? -1 : p->temp > q->temp;
}

// Large ones first, as small ones fit between them.
gnn_status rt_place_temps(gnn_plan *plan, const rt_version *v, int64_t *offsets, int64_t *top) {
    uint32_t n;
    place *places = rt_alloc_array(plan->c, (int64_t)plan->p->ntemps + 1, sizeof *places);
    if (!places) return GNN_NO_MEMORY;
    *top = 0;
    gnn_status s = list(plan, v, places, &n);
    if (!s) qsort(places, n, sizeof *places, by_size);
    for (uint32_t i = 0; i < n && !s; i++) {
        if (!place_one(places, i, &places[i]))
            s = rt_fail(plan->c, GNN_TOO_LARGE, "temp %.60s: %lld bytes overflow the workspace",
                        plan->p->temps[places[i].temp].name, (long long)places[i].bytes);
        else {
            offsets[places[i].temp] = places[i].at;
            if (places[i].at + places[i].bytes > *top) *top = places[i].at + places[i].bytes;
        }
    }
    rt_free(plan->c, places);
    return s;
}
