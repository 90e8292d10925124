// What a plan does with maps that lie on the device: the caller's are checked and brought to the
// program's width, prepared structures are built. A call is a session.
#include "gpu.h"

// ---- Maps ---------------------------------------------------------------------------------------
// The caller's array, in the session's width: not narrower, so that it counts whatever there is.
static gnn_status given(rt_gpu *g, const gnn_map *m, const void *array, int64_t count,
                        rt_ints *out) {
    const rt_ints from = {(void *)(uintptr_t)array, count, m->width == 64};
    *out = from;
    if (from.wide == g->wide) return GNN_OK;
    gnn_status s = rt_gpu_ints(g, count, out);
    return s ? s : rt_gpu_widen(g, &from, out);
}

static gnn_status given_offsets(rt_gpu *g, const gnn_map *m, int64_t codomain, rt_ints *out) {
    int64_t entries;
    gnn_status s = rt_count_offsets(g->c, codomain, &entries);
    return s ? s : given(g, m, m->offsets, entries, out);
}

// In the program's width.
static gnn_status fit(rt_gpu *g, const gnn_plan *plan, const char *name, rt_ints *x) {
    if (x->wide == (plan->p->made.index_bits == 64)) return GNN_OK;
    const rt_ints from = *x;
    x->wide = false;
    gnn_status s = rt_gpu_array(g, from.count, sizeof(int32_t), &x->data);
    return s ? s : rt_gpu_narrow(g, name, &from, x);
}

static gnn_status check(rt_gpu *g, const gnn_map *map, const rt_checked *m, const rt_ints *values,
                        rt_structure *s) {
    rt_checked here = *m;
    rt_ints offsets;
    here.map.values = *values;
    gnn_status status = rt_gpu_check_map(g, &here);
    if (!status && map->offsets && map->index) {
        status = given_offsets(g, map, m->map.codomain, &offsets);
        if (!status) status = rt_gpu_check_agreement(g, &here, &offsets);
    }
    if (!status) s->checked |= m->facts | RT_CHECKED;
    return status;
}

static void keep(rt_gpu *g, const rt_ints *made, rt_structure *s) {
    rt_gpu_take(g, made->data);
    s->host = (rt_ints){NULL, made->count, made->wide};
    s->device = made->data;
    s->owns_device = true;
}

static gnn_status from_index(rt_gpu *g, gnn_plan *plan, uint32_t param, const rt_checked *m,
                             rt_structure *s) {
    const gnn_map *map = &plan->given[param];
    rt_ints values;
    gnn_status status = given(g, map, map->index, map->domain, &values);
    if (!status && !(plan->flags & GNN_TRUSTED)) status = check(g, map, m, &values, s);
    if (!status) status = fit(g, plan, m->name, &values);
    if (!status && values.data != map->index) keep(g, &values, s);
    else s->device = map->index;
    return status;
}

static gnn_status from_offsets(rt_gpu *g, gnn_plan *plan, uint32_t param, const rt_checked *m,
                               rt_structure *s) {
    const gnn_map *map = &plan->given[param];
    rt_ints offsets, made;
    gnn_status status = given_offsets(g, map, s->codomain, &offsets);
    if (!status) status = rt_gpu_check_offsets(g, m, &offsets);   // expanding trusts them
    if (!status) status = fit(g, plan, m->name, &offsets);
    if (!status) status = rt_gpu_begin(g, plan->c, plan->making.stream, offsets.wide);
    if (!status) status = rt_gpu_expanded(g, &offsets, map->domain, &made);
    if (!status) keep(g, &made, s);
    return status;
}

gnn_status rt_gpu_map(gnn_plan *plan, uint32_t param, const rt_checked *m, rt_structure *s) {
    const gnn_map *map = &plan->given[param];
    const bool alone = !map->index && map->offsets;
    if (!alone && plan->flags & GNN_TRUSTED && map->width == plan->p->made.index_bits) {
        s->device = map->index;
        return GNN_OK;
    }
    rt_gpu g = {0};
    gnn_status status = rt_gpu_begin(&g, plan->c, plan->making.stream,
                                     map->width == 64 || plan->p->made.index_bits == 64);
    if (!status)
        status = alone ? from_offsets(&g, plan, param, m, s) : from_index(&g, plan, param, m, s);
    return rt_gpu_end(&g, status);
}

// For facts that an earlier plan with the cache did not ask for.
gnn_status rt_gpu_check_again(gnn_plan *plan, uint32_t param, const rt_checked *m,
                              rt_structure *s) {
    const gnn_map *map = &plan->given[param];
    rt_ints values = m->map.values;
    rt_gpu g = {0};
    gnn_status status = rt_gpu_begin(&g, plan->c, plan->making.stream,
                                     values.wide || (map->index && map->width == 64));
    if (!status && map->index) status = given(&g, map, map->index, map->domain, &values);
    return rt_gpu_end(&g, status ? status : check(&g, map, m, &values, s));
}

// ---- Structures ---------------------------------------------------------------------------------
// As a map they go into the sizes that occur. Those below `least` are not told apart.
static gnn_status degrees(rt_gpu *g, const rt_map_view *m, const rt_preimages *sizes, int64_t least,
                          rt_ints *out, int64_t *codomain) {
    const int64_t most = sizes->rows ? sizes->sizes[sizes->rows - 1] : 0;
    gnn_status s = rt_gpu_degrees(g, m, out);
    *codomain = m->codomain ? most + 1 : 0;
    if (least > most) least = most;
    return s || least <= 0 ? s : rt_gpu_raise(g, out, least);
}

static gnn_status parts(rt_gpu *g, const rt_prepared *q, const rt_map_view *m,
                        const rt_known *known, rt_ints out[RT_PART_ARRAYS]) {
    const rt_rows rows = {known->offsets, q->nargs > 1 ? &m[1].values : NULL,
                          rt_count_cut(known->sizes, q->extent),
                          rt_count_parts(known->sizes, q->extent)};
    return rt_gpu_parts(g, &rows, q->extent, out);
}

// Rows in an order of theirs are parts of which none is cut.
static gnn_status row_ends(rt_gpu *g, rt_builder what, const rt_map_view *m, const rt_known *known,
                           rt_ints *out) {
    rt_ints made[RT_PART_ARRAYS];
    gnn_status s = rt_gpu_parts(g, &(rt_rows){known->offsets, &m[1].values, 0, 0}, INT64_MAX, made);
    *out = made[(what == RT_ROW_BEGINS ? RT_PART_BEGINS : RT_PART_ENDS) - RT_PART_ROWS];
    return s;
}

static gnn_status build(rt_gpu *g, const rt_prepared *q, const rt_map_view *m,
                        const rt_known *known, rt_ints *out, int64_t *codomain) {
    const int64_t block = rt_block(q->extent, q->slots);
    switch (q->builder) {
    case RT_OFFSETS: return rt_gpu_offsets(g, &m[0], out);
    case RT_ORDER: return rt_gpu_order(g, &m[0], false, out);
    case RT_COMPOSE: return rt_gpu_compose(g, &m[0], &m[1], out);
    case RT_COLUMN: return rt_gpu_column(g, &m[0], q->extent, q->slots, out);
    case RT_DEGREES:
    case RT_DEGREES_FROM: return degrees(g, &m[0], known->sizes, q->extent, out, codomain);
    case RT_ORDER_DESC: return rt_gpu_order(g, &m[0], true, out);
    case RT_TILES: return rt_gpu_tiles(g, &m[0], q->extent, out, codomain);
    case RT_TILE_BEGINS: return rt_gpu_tile_begins(g, &m[0], q->extent, out);
    case RT_TILE_VALUES: return rt_gpu_tile_values(g, &m[0], q->extent, out);
    case RT_ROW_BEGINS:
    case RT_ROW_ENDS: return row_ends(g, q->builder, m, known, out);
    case RT_PART_ROWS:
    case RT_PART_BEGINS:
    case RT_PART_ENDS:
    case RT_PART_HEADS: return parts(g, q, m, known, out);
    case RT_WINDOW_PLACES: return rt_gpu_window_places(g, &m[0], &m[1], q->extent, out, codomain);
    case RT_WINDOW_STARTS: return rt_gpu_window_starts(g, &m[0], q->extent, out);
    case RT_WINDOW_SLOTS:
        return rt_gpu_window_slots(g, &m[0], &m[1], q->extent, block, out, codomain);
    case RT_WINDOW_BEGINS: return rt_gpu_window_begins(g, &m[0], &m[1], q->extent, block, out);
    case RT_WINDOW_COLUMNS: return rt_gpu_window_columns(g, &m[0], &m[1], out);
    case RT_WINDOW_MASKS: return rt_gpu_window_masks(g, &m[0], &m[1], q->extent, block, out);
    case RT_WINDOW_ENTRIES: return rt_gpu_window_entries(g, &m[0], &m[1], q->extent, block, out);
    case RT_CLASSES: return rt_gpu_classes(g, m, q->nargs, out, codomain);
    case RT_BUILDER_COUNT: break;
    }
    return rt_fail(g->c, GNN_BAD_MANIFEST, "%.60s: there is no such builder", q->name);
}

gnn_status rt_gpu_prepare(gnn_plan *plan, const rt_prepared *q, const rt_map_view *maps,
                          const rt_known *known, rt_structure **s) {
    const uint32_t n = rt_parts(q->builder) ? RT_PART_ARRAYS : 1;
    rt_gpu g = {0};
    rt_ints made[RT_PART_ARRAYS];
    gnn_status status = rt_gpu_begin(&g, plan->c, plan->making.stream,
                                     plan->p->made.index_bits == 64);
    if (!status) status = build(&g, q, maps, known, made, &s[0]->codomain);
    for (uint32_t i = 0; i < n && !status; i++) keep(&g, &made[i], s[i]);
    return rt_gpu_end(&g, status);
}
