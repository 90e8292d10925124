// Numbers of maps by kernels, giving what statistics.c gives. What is read back are the sizes that
// occur and how often: at most about sqrt(2 E) rows.
#include "gpu.h"

#include <stddef.h>

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

enum { FEW = 1024 };   // sizes below it are read as they are counted, with the largest in front
typedef struct {
    int64_t most, counts[FEW + 1];   // the last: as large or larger
} few_sizes;

static gnn_status keep_few(rt_gpu *g, const few_sizes *f, rt_preimages *out) {
    for (int64_t i = 0; i < FEW; i++) out->rows += f->counts[i] > 0;
    out->sizes = rt_alloc_array(g->c, out->rows, 2 * sizeof *out->sizes);
    if (!out->sizes) return GNN_NO_MEMORY;
    out->counts = out->sizes + out->rows;
    for (int64_t i = 0, row = 0; i < FEW; i++) {
        if (!f->counts[i]) continue;
        out->sizes[row] = i;
        out->counts[row++] = f->counts[i];
        out->entries += i * f->counts[i];
    }
    return GNN_OK;
}

static gnn_status count_few(rt_gpu *g, const rt_ints *degrees, few_sizes *out) {
    void *there;
    gnn_status s = rt_gpu_array(g, 1, sizeof *out, &there);
    if (!s) s = gnn_fill(g->c, there, 0, sizeof *out, g->stream);
    if (!s)
        s = RT_LAUNCH(g, SIZES, degrees->count, RT_POINTER(degrees->data),
                      RT_NUMBER(degrees->count), FEW, RT_POINTER(there),
                      RT_POINTER((char *)there + offsetof(few_sizes, counts)));
    return s ? s : rt_fetch(g->c, there, sizeof *out, out, g->stream);
}

gnn_status rt_gpu_measure(rt_gpu *g, const rt_map_view *m, rt_preimages *out) {
    rt_ints degrees, counts;
    few_sizes few;
    *out = (rt_preimages){.codomain = m->codomain};
    if (!m->codomain) return GNN_OK;
    gnn_status s = rt_gpu_degrees(g, m, &degrees);
    if (!s) s = count_few(g, &degrees, &few);
    if (s || few.most < FEW) return s ? s : keep_few(g, &few, out);
    s = rt_gpu_ints(g, few.most + 1, &counts);
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
// Pairs (row, column) in the order of both; where they do not stand so, by positions.
typedef struct {
    rt_map_view row, column;
    rt_ints offsets, order;   // of row; order.data NULL: as they stand
} pairs;

static gnn_status stand_sorted(rt_gpu *g, const rt_map_view *row, const rt_map_view *column,
                               bool *out) {
    const int64_t n = row->values.count;
    void *found;
    int64_t at = 0;
    gnn_status s = rt_gpu_found_new(g, &found);
    if (!s)
        s = RT_LAUNCH(g, UNSORTED_PAIRS, n, RT_POINTER(row->values.data),
                      RT_POINTER(column->values.data), RT_NUMBER(n), RT_POINTER(found));
    if (!s) s = rt_gpu_read(g, found, &at);
    *out = !s && at >= n;
    return s;
}

// Where dst alone is sorted, one sort does.
static gnn_status sort_pairs(rt_gpu *g, const rt_map_view *src, const rt_map_view *dst, pairs *p) {
    int64_t sorted;
    gnn_status s = rt_gpu_sorted(g, dst, &sorted);
    if (!s) s = rt_gpu_order_by(g, (rt_map_view[]){*src, *dst}, sorted ? 1 : 2, &p->order);
    const rt_map_view order = {.values = p->order, .codomain = p->order.count};
    if (!s) s = rt_gpu_compose(g, &order, src, &p->row.values);
    return s ? s : rt_gpu_compose(g, &order, dst, &p->column.values);
}

// Rows are those of dst where these stand sorted, else of src.
static gnn_status make_pairs(rt_gpu *g, const rt_map_view *src, const rt_map_view *dst,
                             const rt_ints *offsets, pairs *p) {
    bool stand;
    *p = (pairs){.row = *dst, .column = *src};
    gnn_status s = stand_sorted(g, dst, src, &stand);
    if (!s && stand && offsets) p->offsets = *offsets;
    if (s || (stand && offsets)) return s;
    if (!stand) {
        *p = (pairs){.row = *src, .column = *dst};
        s = stand_sorted(g, src, dst, &stand);
        if (!s && !stand) s = sort_pairs(g, src, dst, p);
    }
    return s ? s : rt_gpu_offsets(g, &p->row, &p->offsets);
}

gnn_status rt_gpu_symmetric(rt_gpu *g, const rt_map_view *src, const rt_map_view *dst,
                            const rt_ints *offsets, int64_t *out, rt_edge *odd) {
    const int64_t n = src->values.count;
    void *found;
    pairs p;
    int64_t at = 0;
    *out = 0;
    if (n != dst->values.count) return GNN_OK;
    gnn_status s = make_pairs(g, src, dst, offsets, &p);
    if (!s) s = rt_gpu_found_new(g, &found);
    if (!s)
        s = RT_LAUNCH(g, UNMIRRORED, n, RT_POINTER(p.row.values.data),
                      RT_POINTER(p.column.values.data), RT_POINTER(p.offsets.data),
                      RT_NUMBER(p.row.codomain), RT_NUMBER(n), RT_POINTER(found));
    if (!s) s = rt_gpu_read(g, found, &at);
    *out = !s && at >= n;
    if (s || *out || !odd) return s;
    odd->at = at;
    if (p.order.data) s = rt_gpu_get(g, &p.order, at, &odd->at);
    if (!s) s = rt_gpu_get(g, &src->values, odd->at, &odd->src);
    return s ? s : rt_gpu_get(g, &dst->values, odd->at, &odd->dst);
}
