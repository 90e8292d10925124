// Builds what is wanted of what a program lists as prepared, in its order, or takes it from the
// cache.
#include "gpu.h"

#include <string.h>

// ---- Wants --------------------------------------------------------------------------------------
void rt_plan_want(gnn_plan *plan, const rt_expr *e) {
    for (uint32_t i = 0; i < e->count; i++)
        if (e->tokens[i].kind == RT_SPACE) plan->making.wants_space[e->tokens[i].a] = true;
}

static void want_for_space(gnn_plan *plan, const rt_space *space) {
    if (space->kind == RT_COUNTED) plan->making.wants_prepared[space->prepared] = true;
    if (space->kind == RT_FIXED) rt_plan_want(plan, &space->size);
}

static void want_for_prepared(gnn_plan *plan, const rt_prepared *q) {
    plan->making.wants_space[q->domain] = plan->making.wants_space[q->into] = true;
    for (uint32_t i = 0; i < q->nargs; i++)
        if (q->args[i].prepared) plan->making.wants_prepared[q->args[i].index] = true;
}

static size_t count_wants(const gnn_plan *plan) {
    size_t n = 0;
    for (uint32_t i = 0; i < plan->p->nspaces; i++) n += plan->making.wants_space[i];
    for (uint32_t i = 0; i < plan->p->nprepared; i++) n += plan->making.wants_prepared[i];
    return n;
}

void rt_plan_close(gnn_plan *plan) {
    const gnn_program *p = plan->p;
    for (size_t before = SIZE_MAX, n = count_wants(plan); n != before;) {
        for (uint32_t i = p->nprepared; i--;)
            if (plan->making.wants_prepared[i]) want_for_prepared(plan, &p->prepared[i]);
        for (uint32_t i = 0; i < p->nspaces; i++)
            if (plan->making.wants_space[i]) want_for_space(plan, &p->spaces[i]);
        before = n;
        n = count_wants(plan);
    }
}

// ---- Building -----------------------------------------------------------------------------------
enum { LONGEST_KEY = 65536 };   // words; a manifest can nest recipes so that their keys double

typedef struct {
    const rt_prepared *q;
    rt_structure *args[RT_MAX_MAPS];
    rt_map_view views[RT_MAX_MAPS];
    bool on_device;
} recipe;

static gnn_status gather(gnn_plan *plan, recipe *r) {
    gnn_status s = GNN_OK;
    for (uint32_t i = 0; i < r->q->nargs && !s; i++) {
        const rt_map_ref *ref = &r->q->args[i];
        r->args[i] = ref->prepared ? plan->prepared[ref->index] : NULL;
        if (!ref->prepared) s = rt_plan_map(plan, ref->index, &r->args[i]);
    }
    if (!s) s = rt_structures_meet(r->args, r->q->nargs, plan->making.stream, &r->on_device);
    for (uint32_t i = 0; i < r->q->nargs && !s; i++)
        r->views[i] = rt_structure_view(r->args[i], r->on_device);
    return s;
}

static gnn_status misfit(gnn_plan *plan, const recipe *r, const char *why) {
    return rt_fail(plan->c, GNN_BAD_MANIFEST, "%.60s: %s", r->q->name, why);
}

static bool orders(const rt_map_ref *ref, const gnn_plan *plan) {
    return ref->prepared && rt_orders(plan->p->prepared[ref->index].builder);
}

// What a map is to lead to so many of: places of those, where it says places.
static int64_t size_into(const gnn_plan *plan, const rt_map_ref *ref, uint32_t into) {
    const rt_prepared *q = ref->prepared ? &plan->p->prepared[ref->index] : NULL;
    if (q && q->builder == RT_COMPOSE && q->args[1].prepared)
        q = &plan->p->prepared[q->args[1].index];
    const int64_t n = plan->sizes[into];
    return q && q->builder == RT_WINDOW_PLACES && q->extent
               ? rt_window_limit(n, q->extent) * q->extent
               : n;
}

// A column is of a map that has so many entries for each of the domain.
static bool fits_domain(const rt_prepared *q, int64_t entries, int64_t domain) {
    int64_t all = domain;
    if (q->builder == RT_COLUMN && __builtin_mul_overflow(domain, q->extent, &all)) return false;
    return entries == all;
}

static gnn_status check_fit(gnn_plan *plan, const recipe *r) {
    const rt_prepared *q = r->q;
    const rt_map_view *m = r->views;
    // maps from the domain
    const uint32_t alike =
        q->builder == RT_COMPOSE || rt_parts(q->builder) || rt_row_ends(q->builder) ? 1 : q->nargs;
    if (!plan->known[q->domain] || (!rt_counts(q->builder) && !plan->known[q->into]))
        return misfit(plan, r, "its sizes are not known before it");
    for (uint32_t i = 0; i < alike; i++)
        if (!fits_domain(q, m[i].values.count, plan->sizes[q->domain]))
            return misfit(plan, r, "its maps have another domain");
    bool of_values = q->builder == RT_OFFSETS || q->builder == RT_COLUMN ||
                     q->builder == RT_DEGREES || q->builder == RT_DEGREES_FROM ||
                     q->builder == RT_TILE_BEGINS || q->builder == RT_TILE_VALUES ||
                     rt_parts(q->builder) || rt_row_ends(q->builder) || rt_windows(q->builder);
    if (of_values && m[0].codomain != size_into(plan, &q->args[0], q->into))
        return misfit(plan, r, "its map goes into another space");
    bool of_slots = q->builder == RT_WINDOW_BEGINS || q->builder == RT_WINDOW_COLUMNS ||
                    q->builder == RT_WINDOW_ENTRIES || q->builder == RT_WINDOW_MASKS;
    if (of_slots &&
        !(q->args[1].prepared && plan->p->prepared[q->args[1].index].builder == RT_WINDOW_SLOTS))
        return misfit(plan, r, "its second map says no slots of windows");
    if (of_slots && rt_blocks(q->builder) &&
        (plan->p->prepared[q->args[1].index].extent != q->extent ||
         plan->p->prepared[q->args[1].index].slots != q->slots))
        return misfit(plan, r, "its slots are those of other windows");
    if (q->builder == RT_WINDOW_STARTS &&
        !(q->args[0].prepared && plan->p->prepared[q->args[0].index].builder == RT_WINDOW_PLACES))
        return misfit(plan, r, "its map says no places in windows");
    if ((rt_parts(q->builder) || rt_row_ends(q->builder)) && q->nargs > 1 &&
        (!orders(&q->args[1], plan) || m[1].values.count != m[0].codomain))
        return misfit(plan, r, "its second map is no order of its rows");
    if (q->builder == RT_COMPOSE && (m[0].codomain != m[1].values.count ||
                                     m[1].codomain != size_into(plan, &q->args[1], q->into)))
        return misfit(plan, r, "its maps do not compose");
    return GNN_OK;
}

static gnn_status make_key(gnn_plan *plan, const recipe *r, int64_t **key, uint32_t *nkey) {
    uint32_t n = 6;
    for (uint32_t i = 0; i < r->q->nargs; i++)
        n += 1 + r->args[i]->nkey;   // each is at most LONGEST_KEY: no overflow
    if (n > LONGEST_KEY) return misfit(plan, r, "the recipe is too long");
    *key = rt_alloc_array(plan->c, n, sizeof **key);
    if (!*key) return GNN_NO_MEMORY;
    int64_t *at = *key;
    *at++ = 'b';
    *at++ = r->q->builder;
    *at++ = plan->p->made.index_bits;
    *at++ = r->q->extent;
    *at++ = r->q->slots;
    *at++ = r->q->nargs;
    for (uint32_t i = 0; i < r->q->nargs; i++) {
        *at++ = r->args[i]->nkey;
        memcpy(at, r->args[i]->key, r->args[i]->nkey * sizeof *at);
        at += r->args[i]->nkey;
    }
    *nkey = n;
    return GNN_OK;
}

// As a map they go into the sizes that occur, so that sorting by them takes no more. Those below
// `least` are not told apart.
static gnn_status build_degrees(gnn_context *c, const rt_map_view *m, int64_t least, bool wide,
                                rt_structure *s) {
    gnn_status status = rt_build_degrees(c, m, wide, &s->host);
    for (int64_t v = 0; v < m->codomain && !status; v++)
        if (rt_get(&s->host, v) >= s->codomain) s->codomain = rt_get(&s->host, v) + 1;
    if (least >= s->codomain) least = s->codomain - 1;
    for (int64_t v = 0; v < m->codomain && least > 0 && !status; v++)
        if (rt_get(&s->host, v) < least) rt_set(&s->host, v, least);
    return status;
}

static gnn_status build_here(gnn_plan *plan, const recipe *r, rt_structure *s) {
    gnn_context *c = plan->c;
    const rt_map_view *m = r->views;
    const bool wide = plan->p->made.index_bits == 64;
    const int64_t block = rt_block(r->q->extent, r->q->slots);
    s->owns_host = true;
    switch (r->q->builder) {
    case RT_OFFSETS: return rt_build_offsets(c, &m[0], wide, &s->host);
    case RT_ORDER: return rt_build_order(c, &m[0], wide, &s->host);
    case RT_COMPOSE: return rt_build_compose(c, &m[0], &m[1], wide, &s->host);
    case RT_COLUMN: return rt_build_column(c, &m[0], r->q->extent, r->q->slots, wide, &s->host);
    case RT_DEGREES:
    case RT_DEGREES_FROM: return build_degrees(c, &m[0], r->q->extent, wide, s);
    case RT_ORDER_DESC: return rt_build_order_desc(c, &m[0], wide, &s->host);
    case RT_TILES: return rt_build_tiles(c, &m[0], r->q->extent, wide, &s->host, &s->codomain);
    case RT_TILE_BEGINS: return rt_build_tile_begins(c, &m[0], r->q->extent, wide, &s->host);
    case RT_TILE_VALUES: return rt_build_tile_values(c, &m[0], r->q->extent, wide, &s->host);
    case RT_ROW_BEGINS:
        return rt_build_parts(c, RT_PART_BEGINS, &m[0], &m[1], INT64_MAX, wide, &s->host);
    case RT_ROW_ENDS:
        return rt_build_parts(c, RT_PART_ENDS, &m[0], &m[1], INT64_MAX, wide, &s->host);
    case RT_PART_ROWS:
    case RT_PART_BEGINS:
    case RT_PART_ENDS:
    case RT_PART_HEADS:
        return rt_build_parts(c, r->q->builder, &m[0], r->q->nargs > 1 ? &m[1] : NULL, r->q->extent,
                              wide, &s->host);
    case RT_WINDOW_PLACES:
        return rt_build_window_places(c, &m[0], &m[1], r->q->extent, wide, &s->host, &s->codomain);
    case RT_WINDOW_STARTS: return rt_build_window_starts(c, &m[0], r->q->extent, wide, &s->host);
    case RT_WINDOW_SLOTS:
        return rt_build_window_slots(c, &m[0], &m[1], r->q->extent, block, wide, &s->host,
                                     &s->codomain);
    case RT_WINDOW_BEGINS:
        return rt_build_window_begins(c, &m[0], &m[1], r->q->extent, block, wide, &s->host);
    case RT_WINDOW_COLUMNS: return rt_build_window_columns(c, &m[0], &m[1], wide, &s->host);
    case RT_WINDOW_MASKS:
        return rt_build_window_masks(c, &m[0], &m[1], r->q->extent, block, wide, &s->host);
    case RT_WINDOW_ENTRIES:
        return rt_build_window_entries(c, &m[0], &m[1], r->q->extent, block, wide, &s->host);
    case RT_CLASSES: return rt_build_classes(c, m, r->q->nargs, wide, &s->host, &s->codomain);
    case RT_BUILDER_COUNT: break;
    }
    return misfit(plan, r, "there is no such builder");
}

static gnn_status prepare(gnn_plan *plan, const rt_prepared *q, rt_structure **out);

// On a GPU: sizes that many ask for, and offsets, are counted once.
static gnn_status know(gnn_plan *plan, const recipe *r, rt_known *out, rt_structure **offsets) {
    const rt_prepared *q = r->q;
    const rt_prepared of = {"offsets", RT_OFFSETS, 1, q->args, 0, 0, q->domain, q->into};
    const bool cuts = rt_parts(q->builder) || rt_row_ends(q->builder);
    const bool counts = rt_parts(q->builder) || q->builder == RT_DEGREES ||
                        q->builder == RT_DEGREES_FROM;
    *offsets = NULL;
    *out = (rt_known){.sizes = &r->args[0]->preimages};
    gnn_status s = cuts ? prepare(plan, &of, offsets) : GNN_OK;
    if (!s && cuts) out->offsets = rt_structure_view(*offsets, true).values;
    return s || !counts ? s : rt_plan_measure(plan, r->args[0]);
}

static gnn_status build_there(gnn_plan *plan, const recipe *r, rt_structure **s) {
    rt_structure *offsets;
    rt_known known;
    gnn_status status = know(plan, r, &known, &offsets);
    if (!status) status = rt_gpu_prepare(plan, r->q, r->views, &known, s);
    rt_structure_drop(offsets);
    return status;
}

static gnn_status build(gnn_plan *plan, const recipe *r, rt_structure **s) {
    s[0]->codomain = r->q->builder == RT_COMPOSE  ? r->views[1].codomain
                     : r->q->builder == RT_COLUMN ? r->views[0].codomain
                     : rt_orders(r->q->builder)   ? r->views[0].values.count
                                                  : 0;
    if (r->on_device) return build_there(plan, r, s);
    gnn_status status = build_here(plan, r, s[0]);
    return status ? status : rt_structure_upload(s[0], plan->making.stream);
}

// On a GPU the numbers that parts are made of take longer than they do: who wants one of their
// arrays, wants the others next.
static gnn_status make(gnn_plan *plan, const recipe *r, int64_t *key, uint32_t nkey,
                       rt_structure **out) {
    const bool all = r->on_device && rt_parts(r->q->builder);
    const uint32_t n = all ? RT_PART_ARRAYS : 1;
    rt_structure *made[RT_PART_ARRAYS] = {0};
    gnn_status s = GNN_OK;
    *out = rt_cache_find(plan->making.cache, key, nkey);
    if (*out) return GNN_OK;
    for (uint32_t i = 0; i < n && !s; i++) {
        if (all) key[1] = RT_PART_ROWS + i;
        s = rt_structure_new(plan->c, key, nkey, &made[i]);
    }
    if (!s) s = build(plan, r, made);
    for (uint32_t i = 0; i < n; i++) {
        if (made[i] && !s) rt_cache_add(plan->making.cache, made[i]);
        if (!all || RT_PART_ROWS + i == r->q->builder) *out = made[i];
        else if (made[i]) rt_structure_drop(made[i]);
    }
    return s;
}

static gnn_status prepare(gnn_plan *plan, const rt_prepared *q, rt_structure **out) {
    recipe r = {.q = q};
    int64_t *key = NULL;
    uint32_t nkey = 0;
    gnn_status s = gather(plan, &r);
    if (!s) s = check_fit(plan, &r);
    if (!s) s = make_key(plan, &r, &key, &nkey);
    if (!s) s = make(plan, &r, key, nkey, out);
    rt_free(plan->c, key);
    return s;
}

gnn_status rt_plan_slots(gnn_plan *plan, uint32_t rows, uint32_t columns, int64_t extent,
                         rt_structure **out) {
    rt_map_ref args[] = {{.index = rows}, {.index = columns}};
    const rt_param *m = &plan->p->params[rows];
    const rt_prepared q = {"density",  RT_WINDOW_SLOTS,  2, args, extent, 0,
                           m->axes[0], (uint32_t)m->into};
    return prepare(plan, &q, out);
}

gnn_status rt_plan_offsets(gnn_plan *plan, uint32_t param, rt_structure **out) {
    rt_map_ref arg = {.index = param};
    const rt_param *m = &plan->p->params[param];
    const rt_prepared q = {"symmetric", RT_OFFSETS, 1, &arg, 0, 0, m->axes[0], (uint32_t)m->into};
    return prepare(plan, &q, out);
}

gnn_status rt_plan_prepare(gnn_plan *plan) {
    gnn_status s = GNN_OK;
    rt_plan_close(plan);
    for (uint32_t i = 0; i < plan->p->nprepared && !s; i++) {
        if (!plan->making.wants_prepared[i] || plan->prepared[i]) continue;
        s = prepare(plan, &plan->p->prepared[i], &plan->prepared[i]);
        if (!s) s = rt_plan_fixed_sizes(plan);
    }
    return s;
}
