// Numbers of a map that preconditions ask for.
#include "internal.h"

gnn_status rt_measure(gnn_context *c, const rt_map_view *m, rt_preimages *out) {
    *out = (rt_preimages){0, 0, 0};
    if (!m->codomain) return GNN_OK;
    rt_ints offsets;
    gnn_status s = rt_build_offsets(c, m, true, &offsets);
    if (s) return s;
    out->min = INT64_MAX;
    for (int64_t v = 0; v < m->codomain; v++) {
        int64_t n = rt_get(&offsets, v + 1) - rt_get(&offsets, v);
        out->max = n > out->max ? n : out->max;
        out->min = n < out->min ? n : out->min;
    }
    out->avg = rt_get(&offsets, m->codomain) / m->codomain;
    rt_free(c, offsets.data);
    return GNN_OK;
}

// Positions sorted by (a, b).
static gnn_status sort_pairs(gnn_context *c, const rt_map_view *a, const rt_map_view *b, rt_ints *out) {
    rt_ints classes = {0};
    int64_t n;
    gnn_status s = rt_build_classes(c, (rt_map_view[]){*a, *b}, 2, true, &classes, &n);
    if (!s) s = rt_build_order(c, &(rt_map_view){classes, n}, true, out);
    rt_free(c, classes.data);
    return s;
}

// As often as (u, v) stands (v, u) does: sorted one way and the other, the pairs read the same.
gnn_status rt_symmetric(gnn_context *c, const rt_map_view *src, const rt_map_view *dst, int64_t *out) {
    *out = 0;
    if (src->values.count != dst->values.count) return GNN_OK;
    rt_ints one = {0}, other = {0};
    gnn_status s = sort_pairs(c, src, dst, &one);
    if (!s) s = sort_pairs(c, dst, src, &other);
    *out = !s;
    for (int64_t i = 0; i < src->values.count && *out; i++) {
        int64_t e = rt_get(&one, i), f = rt_get(&other, i);
        int64_t u = rt_get(&src->values, e), v = rt_get(&dst->values, e);
        bool none = u < 0 || v < 0;   // these come last, and on both sides
        *out = none || (u == rt_get(&dst->values, f) && v == rt_get(&src->values, f));
    }
    rt_free(c, one.data);
    rt_free(c, other.data);
    return s;
}
