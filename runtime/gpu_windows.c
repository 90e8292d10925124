// Windows of rows by kernels, giving what windows.c gives.
#include "gpu.h"

static gnn_status windows_of(rt_gpu *g, const rt_map_view *m, int64_t extent, rt_map_view *out) {
    const int64_t n = m->values.count;
    out->codomain = m->codomain / extent + (m->codomain % extent != 0);
    gnn_status s = rt_gpu_ints(g, n, &out->values);
    if (s) return s;
    return RT_LAUNCH(g, WINDOW_OF, n, RT_POINTER(m->values.data), RT_NUMBER(n), RT_NUMBER(extent),
                     RT_POINTER(out->values.data));
}

// Where windows end is found here: of each row it takes two numbers.
gnn_status rt_gpu_window_places(rt_gpu *g, const rt_map_view *m, const rt_map_view *s,
                                int64_t extent, rt_ints *out, int64_t *places) {
    rt_ints order, offsets, reach[2], here[2] = {{0}, {0}}, made = {0};
    const int64_t rows = m->codomain;
    gnn_status status = rt_gpu_order(g, m, false, &order);
    if (!status) status = rt_gpu_offsets(g, m, &offsets);
    for (int i = 0; i < 2 && !status; i++) status = rt_gpu_ints(g, rows, &reach[i]);
    if (!status)
        status = RT_LAUNCH(g, WINDOW_REACH, rows, RT_POINTER(order.data), RT_POINTER(offsets.data),
                           RT_POINTER(s->values.data), RT_NUMBER(rows), RT_NUMBER(s->codomain),
                           RT_POINTER(reach[0].data), RT_POINTER(reach[1].data));
    const size_t bytes = (size_t)rows * (g->wide ? 8 : 4);
    for (int i = 0; i < 2 && !status; i++) {
        status = rt_ints_new(g->c, rows, g->wide, &here[i]);
        if (!status && rows) status = rt_fetch(g->c, reach[i].data, bytes, here[i].data, g->stream);
    }
    if (!status) status = rt_place_rows(g->c, &here[0], &here[1], extent, g->wide, &made, places);
    if (!status) status = rt_gpu_ints(g, rows, out);
    if (!status && rows) status = gnn_copy_in(g->c, out->data, made.data, bytes, g->stream);
    if (!status) status = gnn_sync(g->c, g->stream);
    for (int i = 0; i < 2; i++) rt_free(g->c, here[i].data);
    rt_free(g->c, made.data);
    return status;
}

gnn_status rt_gpu_window_starts(rt_gpu *g, const rt_map_view *places, int64_t extent,
                                rt_ints *out) {
    rt_map_view windows = {0};
    gnn_status s = windows_of(g, places, extent, &windows);
    return s ? s : rt_gpu_offsets(g, &windows, out);
}

// Of each entry, how many before it have its value: where it stands in the order, less where that
// begins.
static gnn_status ranks_of(rt_gpu *g, const rt_map_view *m, rt_map_view *out) {
    const int64_t n = m->values.count;
    rt_ints order, offsets;
    out->codomain = n;
    gnn_status s = rt_gpu_order(g, m, false, &order);
    if (!s) s = rt_gpu_offsets(g, m, &offsets);
    if (!s) s = rt_gpu_ints(g, n, &out->values);
    if (s) return s;
    return RT_LAUNCH(g, RANKS, n, RT_POINTER(m->values.data), RT_POINTER(order.data),
                     RT_POINTER(offsets.data), RT_NUMBER(n), RT_POINTER(out->values.data));
}

// Of each class of a map, the first entry that has it.
static gnn_status firsts_of(rt_gpu *g, const rt_map_view *m, rt_map_view *out) {
    rt_map_view first = {.codomain = m->values.count};
    rt_ints order;
    gnn_status s = rt_gpu_order(g, m, false, &order);
    if (!s) s = rt_gpu_offsets(g, m, &first.values);
    if (s) return s;
    first.values.count = m->codomain;
    const rt_map_view entries = {.values = order, .codomain = order.count};
    out->codomain = order.count;
    return rt_gpu_compose(g, &first, &entries, &out->values);
}

// Of each class, what a map says of its first entry.
static gnn_status at_classes(rt_gpu *g, const rt_map_view *classes, const rt_map_view *m,
                             rt_ints *out) {
    rt_map_view first = {0};
    gnn_status s = firsts_of(g, classes, &first);
    return s ? s : rt_gpu_compose(g, &first, m, out);
}

// Where the slots of each window begin: each has an entry, so the windows of slots are sorted.
static gnn_status begins_of(rt_gpu *g, const rt_map_view *windows, const rt_map_view *slots,
                            rt_ints *out) {
    rt_map_view of = {.codomain = windows->codomain};
    gnn_status s = at_classes(g, slots, windows, &of.values);
    return s ? s : rt_gpu_offsets(g, &of, out);
}

gnn_status rt_gpu_window_slots(rt_gpu *g, const rt_map_view *m, const rt_map_view *s,
                               int64_t extent, int64_t block, rt_ints *out, int64_t *count) {
    rt_map_view pairs = {0}, cells = {0}, first = {0}, slots = {0},
                by[3] = {{.codomain = 0},
                         {.values = s->values, .codomain = s->codomain},
                         {.codomain = 0}};
    rt_ints begins, blocks;
    const int64_t n = m->values.count;
    gnn_status status = rt_gpu_classes(g, (rt_map_view[]){*m, *s}, 2, &pairs.values,
                                       &pairs.codomain);
    if (!status) status = windows_of(g, m, extent, &by[0]);
    if (!status) status = ranks_of(g, &pairs, &by[2]);
    if (!status) status = rt_gpu_classes(g, by, 3, &cells.values, &cells.codomain);
    if (!status) status = firsts_of(g, &cells, &first);
    if (status) return status;
    by[1].codomain = first.codomain;
    status = rt_gpu_compose(g, &cells, &first, &by[1].values);
    if (!status) status = rt_gpu_classes(g, by, 2, &slots.values, &slots.codomain);
    if (!status) status = begins_of(g, &by[0], &slots, &begins);
    if (!status) status = rt_gpu_ints(g, begins.count, &blocks);
    if (!status) status = rt_gpu_number_tiles(g, &begins, block, &blocks);
    if (!status) status = rt_gpu_get(g, &blocks, by[0].codomain, count);
    if (!status) status = rt_count_cells(g->c, *count, block, count);
    if (!status) status = rt_gpu_ints(g, n, out);
    if (status) return status;
    return RT_LAUNCH(g, WINDOW_PAD, n, RT_POINTER(slots.values.data), RT_POINTER(by[0].values.data),
                     RT_POINTER(begins.data), RT_POINTER(blocks.data), RT_NUMBER(n),
                     RT_NUMBER(block), RT_POINTER(out->data));
}

// Each block has a slot with an entry, the first.
gnn_status rt_gpu_window_begins(rt_gpu *g, const rt_map_view *m, const rt_map_view *slots,
                                int64_t extent, int64_t block, rt_ints *out) {
    rt_map_view windows = {0}, blocks = {0};
    gnn_status s = windows_of(g, m, extent, &windows);
    if (!s) s = windows_of(g, slots, block, &blocks);
    return s ? s : begins_of(g, &windows, &blocks, out);
}

gnn_status rt_gpu_window_columns(rt_gpu *g, const rt_map_view *s, const rt_map_view *slots,
                                 rt_ints *out) {
    rt_ints order, offsets;
    gnn_status status = rt_gpu_order(g, slots, false, &order);
    if (!status) status = rt_gpu_offsets(g, slots, &offsets);
    if (!status) status = rt_gpu_ints(g, slots->codomain, out);
    if (status) return status;
    return RT_LAUNCH(g, WINDOW_COLUMNS, slots->codomain, RT_POINTER(s->values.data),
                     RT_POINTER(order.data), RT_POINTER(offsets.data), RT_NUMBER(slots->codomain),
                     RT_POINTER(out->data));
}

gnn_status rt_gpu_window_entries(rt_gpu *g, const rt_map_view *m, const rt_map_view *slots,
                                 int64_t extent, int64_t block, rt_ints *out) {
    int64_t cells;
    const int64_t n = m->values.count;
    gnn_status s = rt_count_cells(g->c, slots->codomain, extent, &cells);
    if (!s) s = rt_gpu_ints(g, cells, out);
    if (!s) s = gnn_fill(g->c, out->data, 0xff, (size_t)cells * (out->wide ? 8 : 4), g->stream);
    if (s) return s;
    return RT_LAUNCH(g, WINDOW_ENTRIES, n, RT_POINTER(m->values.data),
                     RT_POINTER(slots->values.data), RT_NUMBER(n), RT_NUMBER(extent),
                     RT_NUMBER(block), RT_POINTER(out->data));
}

gnn_status rt_gpu_window_masks(rt_gpu *g, const rt_map_view *m, const rt_map_view *slots,
                               int64_t extent, int64_t block, rt_ints *out) {
    rt_ints entries;
    int64_t rows;
    gnn_status s = rt_gpu_window_entries(g, m, slots, extent, block, &entries);
    if (!s) s = rt_count_window_rows(g->c, slots->codomain, extent, block, &rows);
    if (!s) s = rt_gpu_ints(g, rows, out);
    if (s) return s;
    return RT_LAUNCH(g, WINDOW_MASKS, rows, RT_POINTER(entries.data), RT_NUMBER(rows),
                     RT_NUMBER(block), RT_POINTER(out->data));
}
