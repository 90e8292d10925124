// Checks by kernels, giving what validate.c gives: each finds the smallest position at fault, and
// its values are read.
#include "gpu.h"

// ---- Finding ------------------------------------------------------------------------------------
gnn_status rt_gpu_found_new(rt_gpu *g, void **found) {
    enum { BEYOND = 0x7f };   // in each byte
    gnn_status s = rt_gpu_array(g, 1, sizeof(int64_t), found);
    return s ? s : gnn_fill(g->c, *found, BEYOND, sizeof(int64_t), g->stream);
}

// Of n positions; -1: nowhere.
static gnn_status read_found(rt_gpu *g, const void *found, int64_t n, int64_t *at) {
    gnn_status s = rt_gpu_read(g, found, at);
    if (s || *at >= n) *at = -1;
    return s;
}

static gnn_status get_two(rt_gpu *g, const rt_ints *x, int64_t i, int64_t *a, const rt_ints *y,
                          int64_t k, int64_t *b) {
    gnn_status s = rt_gpu_get(g, x, i, a);
    return s ? s : rt_gpu_get(g, y, k, b);
}

// ---- Maps ---------------------------------------------------------------------------------------
// The ones at fault, of those that are looked for at once.
typedef struct {
    int64_t outside, unsorted;
} faults;

static gnn_status find_faults(rt_gpu *g, const rt_checked *m, faults *out) {
    enum { BEYOND = 0x7f };   // in each byte
    const rt_ints *x = &m->map.values;
    const int64_t least = m->facts & RT_PARTIAL ? -1 : 0;
    void *found;
    gnn_status s = rt_gpu_array(g, 1, sizeof *out, &found);
    if (!s) s = gnn_fill(g->c, found, BEYOND, sizeof *out, g->stream);
    if (!s)
        s = RT_LAUNCH(g, OUTSIDE, x->count, RT_POINTER(x->data), RT_NUMBER(least),
                      RT_NUMBER(m->map.codomain), RT_NUMBER(x->count), RT_POINTER(found));
    if (!s && m->facts & RT_SORTED)
        s = RT_LAUNCH(g, UNSORTED, x->count, RT_POINTER(x->data), RT_NUMBER(x->count),
                      RT_POINTER((int64_t *)found + 1));
    return s ? s : rt_fetch(g->c, found, sizeof *out, out, g->stream);
}

static gnn_status check_values(rt_gpu *g, const rt_checked *m) {
    const rt_ints *x = &m->map.values;
    faults at;
    int64_t v, before;
    gnn_status s = find_faults(g, m, &at);
    if (!s && at.outside < x->count) {
        s = rt_gpu_get(g, x, at.outside, &v);
        return s ? s : rt_tell_outside(g->c, m, at.outside, v);
    }
    if (s || at.unsorted >= x->count) return s;
    s = get_two(g, x, at.unsorted, &v, x, at.unsorted - 1, &before);
    return s ? s : rt_tell_unsorted(g->c, m, at.unsorted, v, before, NULL);
}

static gnn_status check_unique(rt_gpu *g, const rt_checked *m) {
    enum { BEYOND = 0x7f };
    const rt_ints *x = &m->map.values;
    rt_ints firsts = {NULL, m->map.codomain, true};
    void *found;
    int64_t e = -1, v, earlier;
    gnn_status s = rt_gpu_array(g, firsts.count, sizeof(int64_t), &firsts.data);
    if (!s)
        s = gnn_fill(g->c, firsts.data, BEYOND, (size_t)firsts.count * sizeof(int64_t), g->stream);
    if (!s) s = rt_gpu_found_new(g, &found);
    if (!s)
        s = RT_LAUNCH(g, FIRSTS, x->count, RT_POINTER(x->data), RT_NUMBER(x->count),
                      RT_POINTER(firsts.data));
    if (!s)
        s = RT_LAUNCH(g, REPEATED, x->count, RT_POINTER(x->data), RT_POINTER(firsts.data),
                      RT_NUMBER(x->count), RT_POINTER(found));
    if (!s) s = read_found(g, found, x->count, &e);
    if (s || e < 0) return s;
    s = rt_gpu_get(g, x, e, &v);
    if (!s) s = rt_gpu_get(g, &firsts, v, &earlier);
    return s ? s : rt_tell_repeated(g->c, m, e, v, earlier);
}

gnn_status rt_gpu_check_map(rt_gpu *g, const rt_checked *m) {
    gnn_status s = check_values(g, m);
    if (!s && m->facts & RT_UNIQUE) s = check_unique(g, m);
    return s;
}

// The entry before e of its class: the one before it in the order.
static gnn_status find_before(rt_gpu *g, const rt_ints *order, int64_t e, int64_t *before) {
    void *found;
    int64_t at = 0;
    gnn_status s = rt_gpu_found_new(g, &found);
    if (!s)
        s = RT_LAUNCH(g, WHERE, order->count, RT_POINTER(order->data), RT_NUMBER(e),
                      RT_NUMBER(order->count), RT_POINTER(found));
    if (!s) s = rt_gpu_read(g, found, &at);
    return s ? s : rt_gpu_get(g, order, at - 1, before);
}

static gnn_status check_within(rt_gpu *g, const rt_checked *m, const char *by_name,
                               const rt_map_view *by, const rt_ints *order) {
    const rt_ints *x = &m->map.values;
    void *found;
    int64_t e = -1, d, v, before;
    gnn_status s = rt_gpu_found_new(g, &found);
    if (!s)
        s = RT_LAUNCH(g, UNSORTED_WITHIN, x->count, RT_POINTER(x->data),
                      RT_POINTER(by->values.data), RT_POINTER(order->data), RT_NUMBER(x->count),
                      RT_POINTER(found));
    if (!s) s = read_found(g, found, x->count, &e);
    if (s || e < 0) return s;
    s = find_before(g, order, e, &d);
    if (!s) s = get_two(g, x, e, &v, x, d, &before);
    return s ? s : rt_tell_unsorted(g->c, m, e, v, before, by_name);
}

gnn_status rt_gpu_check_sorted_by(rt_gpu *g, const rt_checked *m, const char *by_name,
                                  const rt_map_view *by) {
    rt_ints order;
    gnn_status s = rt_gpu_order(g, by, false, &order);
    return s ? s : check_within(g, m, by_name, by, &order);
}

// ---- Offsets ------------------------------------------------------------------------------------
gnn_status rt_gpu_check_offsets(rt_gpu *g, const rt_checked *m, const rt_ints *offsets) {
    void *found;
    int64_t v = -1, at = 0, before = 0;
    gnn_status s = rt_gpu_found_new(g, &found);
    if (!s)
        s = RT_LAUNCH(g, FALLING, offsets->count, RT_POINTER(offsets->data),
                      RT_NUMBER(offsets->count), RT_POINTER(found));
    if (!s) s = read_found(g, found, offsets->count, &v);
    if (!s) s = rt_gpu_get(g, offsets, v < 0 ? offsets->count - 1 : v, &at);
    if (!s && v > 0) s = rt_gpu_get(g, offsets, v - 1, &before);
    if (s) return s;
    if (v >= 0) return rt_tell_falling(g->c, m, v, at, before);
    return at == m->map.values.count ? GNN_OK : rt_tell_last(g->c, m, offsets->count - 1, at);
}

gnn_status rt_gpu_check_agreement(rt_gpu *g, const rt_checked *m, const rt_ints *offsets) {
    rt_ints counted;
    void *found;
    int64_t v = -1, said, is;
    gnn_status s = rt_gpu_offsets(g, &m->map, &counted);
    if (!s) s = rt_gpu_found_new(g, &found);
    if (!s)
        s = RT_LAUNCH(g, DIFFERING, counted.count, RT_POINTER(offsets->data),
                      RT_POINTER(counted.data), RT_NUMBER(counted.count), RT_POINTER(found));
    if (!s) s = read_found(g, found, counted.count, &v);
    if (!s && v >= 0) s = get_two(g, offsets, v, &said, &counted, v, &is);
    return s || v < 0 ? s : rt_tell_disagreement(g->c, m, v, said, is);
}

// ---- Widths -------------------------------------------------------------------------------------
gnn_status rt_gpu_widen(rt_gpu *g, const rt_ints *from, const rt_ints *to) {
    return RT_LAUNCH(g, WIDEN, from->count, RT_POINTER(from->data), RT_NUMBER(from->count),
                     RT_POINTER(to->data));
}

gnn_status rt_gpu_narrow(rt_gpu *g, const char *name, const rt_ints *from, const rt_ints *to) {
    void *found;
    int64_t e = -1, v;
    gnn_status s = rt_gpu_found_new(g, &found);
    if (!s)
        s = RT_LAUNCH(g, NARROW, from->count, RT_POINTER(from->data), RT_POINTER(to->data),
                      RT_NUMBER(from->count), RT_POINTER(found));
    if (!s) s = read_found(g, found, from->count, &e);
    if (s || e < 0) return s;
    s = rt_gpu_get(g, from, e, &v);
    return s ? s : rt_tell_unfit(g->c, name, e, v);
}
