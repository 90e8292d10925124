// What is built once per graph from maps, on the host: offsets, orders, degrees, tiles,
// compositions, classes. Values are none (-1) or below the codomain; none are kept out of offsets
// and come last in orders.
#include "prepare.h"

#include <string.h>

gnn_status rt_ints_new(gnn_context *c, int64_t count, bool wide, rt_ints *out) {
    *out = (rt_ints){rt_alloc_array(c, count, wide ? 8 : 4), count, wide};
    return out->data ? GNN_OK : GNN_NO_MEMORY;
}

static gnn_status zeroed(gnn_context *c, int64_t count, bool wide, rt_ints *out) {
    gnn_status s = rt_ints_new(c, count, wide, out);
    if (!s) memset(out->data, 0, (size_t)count * (wide ? 8 : 4));
    return s;
}

gnn_status rt_count_offsets(gnn_context *c, int64_t codomain, int64_t *out) {
    if (rt_add(codomain, 1, out)) return GNN_OK;
    return rt_fail(c, GNN_TOO_LARGE, "a map into %lld elements has no offsets",
                   (long long)codomain);
}

static gnn_status offsets_of(gnn_context *c, const rt_map_view *m, bool wide, rt_ints *out) {
    int64_t entries;
    gnn_status s = rt_count_offsets(c, m->codomain, &entries);
    if (!s) s = zeroed(c, entries, wide, out);
    if (s) return s;
    for (int64_t e = 0; e < m->values.count; e++) {
        int64_t v = rt_get(&m->values, e);
        if (v >= 0) rt_set(out, v + 1, rt_get(out, v + 1) + 1);
    }
    for (int64_t v = 0; v < m->codomain; v++)
        rt_set(out, v + 1, rt_get(out, v + 1) + rt_get(out, v));
    return GNN_OK;
}

gnn_status rt_build_offsets(gnn_context *c, const rt_map_view *m, bool wide, rt_ints *out) {
    return offsets_of(c, m, wide, out);
}

// Where each class begins when the largest stands first.
static void turn_round(const rt_ints *offsets) {
    int64_t classes = offsets->count - 1, entries = rt_get(offsets, classes);
    for (int64_t v = 0; v < classes; v++) rt_set(offsets, v, entries - rt_get(offsets, v + 1));
}

// One round of a radix sort: positions, in the order given (NULL: as they stand), sorted by value,
// stable.
static gnn_status sort_by(gnn_context *c, const rt_map_view *m, const rt_ints *given, bool largest,
                          bool wide, rt_ints *out) {
    rt_ints next;
    gnn_status s = offsets_of(c, m, wide, &next);
    if (s) return s;
    s = rt_ints_new(c, m->values.count, wide, out);
    int64_t none = rt_get(&next, m->codomain);
    if (largest) turn_round(&next);
    for (int64_t i = 0; i < m->values.count && !s; i++) {
        int64_t e = given ? rt_get(given, i) : i, v = rt_get(&m->values, e), at = none;
        if (v < 0) {
            none++;
        } else {
            at = rt_get(&next, v);
            rt_set(&next, v, at + 1);
        }
        rt_set(out, at, e);
    }
    rt_free(c, next.data);
    return s;
}

gnn_status rt_build_order(gnn_context *c, const rt_map_view *m, bool wide, rt_ints *out) {
    return sort_by(c, m, NULL, false, wide, out);
}

gnn_status rt_build_order_desc(gnn_context *c, const rt_map_view *m, bool wide, rt_ints *out) {
    return sort_by(c, m, NULL, true, wide, out);
}

gnn_status rt_build_degrees(gnn_context *c, const rt_map_view *m, bool wide, rt_ints *out) {
    gnn_status s = zeroed(c, m->codomain, wide, out);
    for (int64_t e = 0; e < m->values.count && !s; e++) {
        int64_t v = rt_get(&m->values, e);
        if (v >= 0) rt_set(out, v, rt_get(out, v) + 1);
    }
    return s;
}

// A class begins a tile of its own; there are at most as many tiles as entries.
gnn_status rt_build_tiles(gnn_context *c, const rt_map_view *m, int64_t extent, bool wide,
                          rt_ints *out, int64_t *tiles) {
    rt_ints offsets;
    *tiles = 0;
    gnn_status s = offsets_of(c, m, wide, &offsets);
    if (s) return s;
    for (int64_t v = 0; v < m->codomain; v++) {
        int64_t n = rt_get(&offsets, v + 1) - rt_get(&offsets, v);
        *tiles += n / extent + (n % extent != 0);
    }
    s = rt_ints_new(c, *tiles + 1, wide, out);
    for (int64_t v = 0, at = 0; v < m->codomain && !s; v++)
        for (int64_t e = rt_get(&offsets, v), end = rt_get(&offsets, v + 1); e < end;
             e = extent < end - e ? e + extent : end)
            rt_set(out, at++, e);
    if (!s) rt_set(out, *tiles, rt_get(&offsets, m->codomain));
    rt_free(c, offsets.data);
    return s;
}

static int64_t tiles_of(const rt_ints *offsets, int64_t v, int64_t extent) {
    int64_t n = rt_get(offsets, v + 1) - rt_get(offsets, v);
    return n / extent + (n % extent != 0);
}

gnn_status rt_build_tile_begins(gnn_context *c, const rt_map_view *m, int64_t extent, bool wide,
                                rt_ints *out) {
    gnn_status s = offsets_of(c, m, wide, out);
    for (int64_t v = 0, at = 0, tiles; v < m->codomain && !s; v++, at += tiles) {
        tiles = tiles_of(out, v, extent);
        rt_set(out, v, at);
        if (v + 1 == m->codomain) rt_set(out, m->codomain, at + tiles);
    }
    return s;
}

// Padded to what no map has more of, so that sizes alone tell how many there are.
gnn_status rt_build_tile_values(gnn_context *c, const rt_map_view *m, int64_t extent, bool wide,
                                rt_ints *out) {
    rt_ints offsets;
    int64_t most = 0;
    if (m->codomain && !rt_add(m->values.count / extent, m->codomain, &most))
        return rt_fail(c, GNN_TOO_LARGE, "%lld entries have too many tiles",
                       (long long)m->values.count);
    gnn_status s = offsets_of(c, m, wide, &offsets);
    if (s) return s;
    s = rt_ints_new(c, most, wide, out);
    for (int64_t v = 0, at = 0; v < m->codomain && !s; v++) {
        int64_t end = v + 1 == m->codomain ? most : at + tiles_of(&offsets, v, extent);
        while (at < end) rt_set(out, at++, v);
    }
    rt_free(c, offsets.data);
    return s;
}

gnn_status rt_build_compose(gnn_context *c, const rt_map_view *m, const rt_map_view *n, bool wide,
                            rt_ints *out) {
    gnn_status s = rt_ints_new(c, m->values.count, wide, out);
    for (int64_t e = 0; e < m->values.count && !s; e++) {
        int64_t v = rt_get(&m->values, e);
        rt_set(out, e, v < 0 ? -1 : rt_get(&n->values, v));
    }
    return s;
}

gnn_status rt_build_column(gnn_context *c, const rt_map_view *m, int64_t step, int64_t first,
                           bool wide, rt_ints *out) {
    const int64_t n = m->values.count / step;
    gnn_status s = rt_ints_new(c, n, wide, out);
    for (int64_t e = 0; e < n && !s; e++) rt_set(out, e, rt_get(&m->values, e * step + first));
    return s;
}

static bool has_none(const rt_map_view *maps, uint32_t n, int64_t e) {
    for (uint32_t i = 0; i < n; i++)
        if (rt_get(&maps[i].values, e) < 0) return true;
    return false;
}

static bool same_tuple(const rt_map_view *maps, uint32_t n, int64_t e, int64_t f) {
    for (uint32_t i = 0; i < n; i++)
        if (rt_get(&maps[i].values, e) != rt_get(&maps[i].values, f)) return false;
    return true;
}

static int64_t number_classes(const rt_map_view *maps, uint32_t n, const rt_ints *order,
                              rt_ints *out) {
    int64_t classes = 0, before = -1;
    for (int64_t i = 0; i < order->count; i++) {
        int64_t e = rt_get(order, i);
        if (has_none(maps, n, e)) {
            rt_set(out, e, -1);
            continue;
        }
        classes += before < 0 || !same_tuple(maps, n, before, e);
        rt_set(out, e, classes - 1);
        before = e;
    }
    return classes;
}

// Sorted by the last map first: a stable sort by each brings the tuples into lexicographic order.
gnn_status rt_build_order_by(gnn_context *c, const rt_map_view *maps, uint32_t n, bool wide,
                             rt_ints *out) {
    gnn_status s = GNN_OK;
    *out = (rt_ints){0};
    for (uint32_t i = n; i-- && !s;) {
        rt_ints sorted = {0};
        s = sort_by(c, &maps[i], out->data ? out : NULL, false, wide, &sorted);
        rt_free(c, out->data);
        *out = sorted;
    }
    return s;
}

gnn_status rt_build_classes(gnn_context *c, const rt_map_view *maps, uint32_t n, bool wide,
                            rt_ints *out, int64_t *classes) {
    rt_ints order;
    gnn_status s = rt_build_order_by(c, maps, n, wide, &order);
    if (!s) s = rt_ints_new(c, order.count, wide, out);
    if (!s) *classes = number_classes(maps, n, &order, out);
    rt_free(c, order.data);
    return s;
}

gnn_status rt_build_expanded(gnn_context *c, const rt_ints *offsets, int64_t domain, bool wide,
                             rt_ints *out) {
    gnn_status s = rt_ints_new(c, domain, wide, out);
    for (int64_t v = 0; v + 1 < offsets->count && !s; v++)
        for (int64_t e = rt_get(offsets, v); e < rt_get(offsets, v + 1); e++) rt_set(out, e, v);
    return s;
}
