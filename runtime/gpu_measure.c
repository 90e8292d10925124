// Numbers of maps by kernels, giving what statistics.c gives. What is read back are the sizes that
// occur and how often: at most about sqrt(2 E) rows.
#include "gpu.h"

// To the host, widened.
static gnn_status read_row(rt_gpu *g, const rt_ints *from, int64_t *to) {
    rt_ints here;
    gnn_status s = rt_ints_new(g->c, from->count, from->wide, &here);
    if (s) return s;
    s = rt_fetch(g->c, from->data, (size_t)from->count * (from->wide ? 8 : 4), here.data,
                 g->stream);
    for (int64_t i = 0; i < from->count && !s; i++) to[i] = rt_get(&here, i);
    rt_free(g->c, here.data);
    return s;
}

static gnn_status keep_rows(rt_gpu *g, const rt_ints *sizes, const rt_ints *counts,
                            rt_preimages *out) {
    out->rows = sizes->count;
    out->sizes = rt_alloc_array(g->c, out->rows, 2 * sizeof *out->sizes);
    if (!out->sizes) return GNN_NO_MEMORY;
    out->counts = out->sizes + out->rows;
    gnn_status s = read_row(g, sizes, out->sizes);
    if (!s) s = read_row(g, counts, out->counts);
    for (int64_t i = 0; i < out->rows && !s; i++) out->entries += out->sizes[i] * out->counts[i];
    if (s) rt_free(g->c, out->sizes);
    if (s) *out = (rt_preimages){0};
    return s;
}

// counts: how many preimages have each size.
static gnn_status compact(rt_gpu *g, const rt_ints *counts, rt_preimages *out) {
    rt_ints ranks, sizes, often;
    int64_t rows;
    gnn_status s = rt_gpu_ints(g, counts->count + 1, &ranks);
    if (!s)
        s = RT_LAUNCH(g, FLAGS, ranks.count, RT_POINTER(counts->data), RT_NUMBER(counts->count), 1,
                      RT_NUMBER(INT64_MAX), RT_POINTER(ranks.data));
    if (!s) s = rt_gpu_scan(g, &ranks, &ranks);
    if (!s) s = rt_gpu_get(g, &ranks, counts->count, &rows);
    if (!s) s = rt_gpu_ints(g, rows, &sizes);
    if (!s) s = rt_gpu_ints(g, rows, &often);
    if (!s)
        s = RT_LAUNCH(g, PICK, counts->count, RT_POINTER(counts->data), RT_POINTER(ranks.data),
                      RT_NUMBER(counts->count), RT_POINTER(sizes.data), RT_POINTER(often.data));
    return s ? s : keep_rows(g, &sizes, &often, out);
}

gnn_status rt_gpu_measure(rt_gpu *g, const rt_map_view *m, rt_preimages *out) {
    rt_ints degrees, counts;
    int64_t most = 0;
    *out = (rt_preimages){.codomain = m->codomain};
    if (!m->codomain) return GNN_OK;
    gnn_status s = rt_gpu_ints(g, m->codomain, &degrees);
    if (!s) s = rt_gpu_tally(g, &m->values, &degrees);
    if (!s) s = rt_gpu_largest(g, &degrees, &most);
    if (!s) s = rt_gpu_ints(g, most + 1, &counts);
    if (!s) s = rt_gpu_tally(g, &degrees, &counts);
    return s ? s : compact(g, &counts, out);
}

// ---- Order --------------------------------------------------------------------------------------
gnn_status rt_gpu_sorted(rt_gpu *g, const rt_map_view *m, int64_t *out) {
    const rt_ints *x = &m->values;
    void *found;
    int64_t at = 0, last = 0;
    gnn_status s = rt_gpu_found_new(g, &found);
    if (!s)
        s = RT_LAUNCH(g, UNSORTED, x->count, RT_POINTER(x->data), RT_NUMBER(x->count),
                      RT_POINTER(found));
    if (!s) s = rt_gpu_read(g, found, &at);
    if (!s && x->count) s = rt_gpu_get(g, x, x->count - 1, &last);
    *out = !s && at >= x->count && last >= 0;
    return s;
}

// ---- Symmetry -----------------------------------------------------------------------------------
// Positions sorted by (a, b), those with a none last.
static gnn_status sort_pairs(rt_gpu *g, const rt_map_view *a, const rt_map_view *b, rt_ints *out) {
    rt_map_view classes;
    gnn_status s = rt_gpu_classes(g, (rt_map_view[]){*a, *b}, 2, &classes.values,
                                  &classes.codomain);
    return s ? s : rt_gpu_order(g, &classes, false, out);
}

static gnn_status edge_at(rt_gpu *g, const rt_map_view *src, const rt_map_view *dst,
                          const rt_ints *order, int64_t i, rt_edge *out) {
    gnn_status s = rt_gpu_get(g, order, i, &out->at);
    if (!s) s = rt_gpu_get(g, &src->values, out->at, &out->src);
    return s ? s : rt_gpu_get(g, &dst->values, out->at, &out->dst);
}

static gnn_status compare(rt_gpu *g, const rt_map_view *src, const rt_map_view *dst,
                          const rt_ints *one, const rt_ints *other, int64_t *out, rt_edge *odd) {
    const int64_t n = src->values.count;
    void *found;
    int64_t at = 0;
    rt_edge e, f;
    gnn_status s = rt_gpu_found_new(g, &found);
    if (!s)
        s = RT_LAUNCH(g, ASYMMETRIC, n, RT_POINTER(src->values.data), RT_POINTER(dst->values.data),
                      RT_POINTER(one->data), RT_POINTER(other->data), RT_NUMBER(n),
                      RT_POINTER(found));
    if (!s) s = rt_gpu_read(g, found, &at);
    *out = !s && at >= n;
    if (s || *out || !odd) return s;
    s = edge_at(g, src, dst, one, at, &e);
    if (!s) s = edge_at(g, src, dst, other, at, &f);
    if (!s) *odd = rt_odd_edge(e, f);
    return s;
}

gnn_status rt_gpu_symmetric(rt_gpu *g, const rt_map_view *src, const rt_map_view *dst, int64_t *out,
                            rt_edge *odd) {
    *out = 0;
    if (src->values.count != dst->values.count) return GNN_OK;
    rt_ints one, other;
    gnn_status s = sort_pairs(g, src, dst, &one);
    if (!s) s = sort_pairs(g, dst, src, &other);
    return s ? s : compare(g, src, dst, &one, &other, out, odd);
}
