// Windows of rows: of T consecutive values of a map m, the entries of which share slots, one for
// each distinct value of another map s, so that a window is a small dense matrix of T rows and as
// many columns as slots (TC-GNN, Wang et al. 2023; DTC-SpMM, Fan et al. 2024). A slot holds one
// entry a row: where several have the same row and column, each after the first takes a further
// slot of that column. Slots are numbered by window, then by their first entry: what the numbers of
// columns are changes no order of summation. Those of a window are so many blocks of T slots, or of
// 16, the last of which may have none at the end.
#include "prepare.h"

#include <string.h>

// The number of the window of each entry, as a map.
static gnn_status windows_of(gnn_context *c, const rt_map_view *m, int64_t extent, bool wide,
                             rt_map_view *out) {
    gnn_status s = rt_ints_new(c, m->values.count, wide, &out->values);
    out->codomain = m->codomain / extent + (m->codomain % extent != 0);
    for (int64_t e = 0; e < m->values.count && !s; e++) {
        int64_t v = rt_get(&m->values, e);
        rt_set(&out->values, e, v < 0 ? -1 : v / extent);
    }
    return s;
}

// Of each entry, how many before it have its value; none of none.
static gnn_status ranks_of(gnn_context *c, const rt_map_view *m, bool wide, rt_map_view *out) {
    rt_ints met;
    gnn_status s = rt_ints_new(c, m->codomain, true, &met);
    if (s) return s;
    s = rt_ints_new(c, m->values.count, wide, &out->values);
    out->codomain = m->values.count;
    if (!s) memset(met.data, 0, (size_t)m->codomain * 8);
    for (int64_t e = 0; e < m->values.count && !s; e++) {
        int64_t v = rt_get(&m->values, e), rank = v < 0 ? -1 : rt_get(&met, v);
        rt_set(&out->values, e, rank);
        if (v >= 0) rt_set(&met, v, rank + 1);
    }
    rt_free(c, met.data);
    return s;
}

// Of each entry the first one that has its value; none of none.
static gnn_status firsts_of(gnn_context *c, const rt_map_view *m, bool wide, rt_map_view *out) {
    rt_ints first;
    gnn_status s = rt_ints_new(c, m->codomain, true, &first);
    if (s) return s;
    s = rt_ints_new(c, m->values.count, wide, &out->values);
    out->codomain = m->values.count;
    for (int64_t v = 0; v < m->codomain && !s; v++) rt_set(&first, v, -1);
    for (int64_t e = 0; e < m->values.count && !s; e++) {
        int64_t v = rt_get(&m->values, e);
        if (v >= 0 && rt_get(&first, v) < 0) rt_set(&first, v, e);
        rt_set(&out->values, e, v < 0 ? -1 : rt_get(&first, v));
    }
    rt_free(c, first.data);
    return s;
}

// Where the slots of each window begin, and where the last ones end.
static gnn_status begins_of(gnn_context *c, const rt_map_view *windows, const rt_map_view *slots,
                            rt_ints *out) {
    gnn_status s = rt_ints_new(c, windows->codomain + 1, true, out);
    for (int64_t w = 0; w <= windows->codomain && !s; w++) rt_set(out, w, 0);
    for (int64_t e = 0; e < slots->values.count && !s; e++) {
        int64_t slot = rt_get(&slots->values, e), w = rt_get(&windows->values, e);
        if (slot >= 0 && slot >= rt_get(out, w + 1)) rt_set(out, w + 1, slot + 1);
    }
    for (int64_t w = 0; w < windows->codomain && !s; w++)
        if (rt_get(out, w + 1) < rt_get(out, w)) rt_set(out, w + 1, rt_get(out, w));
    return s;
}

// Slots that follow one another, moved up so that each window begins with a block.
static gnn_status pad(gnn_context *c, const rt_map_view *windows, int64_t block,
                      rt_map_view *slots) {
    rt_ints begins;
    gnn_status s = begins_of(c, windows, slots, &begins);
    int64_t blocks = 0, first = 0;
    // begins becomes how far the slots of w move
    for (int64_t w = 0; w < windows->codomain && !s; w++) {
        int64_t n = rt_get(&begins, w + 1) - rt_get(&begins, w);
        rt_set(&begins, w, first - rt_get(&begins, w));
        blocks += n / block + (n % block != 0);
        s = rt_count_cells(c, blocks, block, &first);
    }
    for (int64_t e = 0; e < slots->values.count && !s; e++) {
        int64_t slot = rt_get(&slots->values, e);
        if (slot >= 0)
            rt_set(&slots->values, e, slot + rt_get(&begins, rt_get(&windows->values, e)));
    }
    slots->codomain = first;
    rt_free(c, begins.data);
    return s;
}

gnn_status rt_build_window_slots(gnn_context *c, const rt_map_view *m, const rt_map_view *s,
                                 int64_t extent, int64_t block, bool wide, rt_ints *out,
                                 int64_t *count) {
    rt_map_view pairs = {0}, cells = {0}, by[3] = {{.codomain = 0}, *s, {.codomain = 0}},
                firsts = {0}, slots = {0};
    gnn_status status = rt_build_classes(c, (rt_map_view[]){*m, *s}, 2, wide, &pairs.values,
                                         &pairs.codomain);
    if (!status) status = windows_of(c, m, extent, wide, &by[0]);
    if (!status) status = ranks_of(c, &pairs, wide, &by[2]);
    if (!status) status = rt_build_classes(c, by, 3, wide, &cells.values, &cells.codomain);
    if (!status) status = firsts_of(c, &cells, wide, &firsts);
    if (!status)
        status = rt_build_classes(c, (rt_map_view[]){by[0], firsts}, 2, wide, &slots.values,
                                  &slots.codomain);
    if (!status) status = pad(c, &by[0], block, &slots);
    const rt_map_view *const made[] = {&pairs, &cells, &by[0], &by[2], &firsts};
    for (uint32_t i = 0; i < RT_COUNT(made); i++) rt_free(c, made[i]->values.data);
    *out = slots.values;
    *count = slots.codomain;
    return status;
}

gnn_status rt_build_window_begins(gnn_context *c, const rt_map_view *m, const rt_map_view *slots,
                                  int64_t extent, int64_t block, bool wide, rt_ints *out) {
    rt_map_view windows = {0};
    rt_ints begins = {0};
    gnn_status s = windows_of(c, m, extent, wide, &windows);
    if (!s) s = begins_of(c, &windows, slots, &begins);
    if (!s) s = rt_ints_new(c, begins.count, wide, out);
    for (int64_t w = 0; w < begins.count && !s; w++) {   // ends, as blocks
        int64_t end = rt_get(&begins, w);
        rt_set(out, w, end / block + (end % block != 0));
    }
    rt_free(c, begins.data);
    rt_free(c, windows.values.data);
    return s;
}

// What no entry has is the column of the slot before.
gnn_status rt_build_window_columns(gnn_context *c, const rt_map_view *s, const rt_map_view *slots,
                                   bool wide, rt_ints *out) {
    gnn_status status = rt_ints_new(c, slots->codomain, wide, out);
    for (int64_t i = 0; i < slots->codomain && !status; i++) rt_set(out, i, -1);
    for (int64_t e = 0; e < s->values.count && !status; e++) {
        int64_t slot = rt_get(&slots->values, e);
        if (slot >= 0) rt_set(out, slot, rt_get(&s->values, e));
    }
    for (int64_t i = 1; i < slots->codomain && !status; i++)
        if (rt_get(out, i) < 0) rt_set(out, i, rt_get(out, i - 1));
    return status;
}

gnn_status rt_count_cells(gnn_context *c, int64_t slots, int64_t extent, int64_t *out) {
    if (rt_mul(slots, extent, out)) return GNN_OK;
    return rt_fail(c, GNN_TOO_LARGE, "windows of %lld rows have too many cells", (long long)extent);
}

gnn_status rt_build_window_entries(gnn_context *c, const rt_map_view *m, const rt_map_view *slots,
                                   int64_t extent, int64_t block, bool wide, rt_ints *out) {
    int64_t cells;
    gnn_status s = rt_count_cells(c, slots->codomain, extent, &cells);
    if (!s) s = rt_ints_new(c, cells, wide, out);
    for (int64_t i = 0; i < cells && !s; i++) rt_set(out, i, -1);
    for (int64_t e = 0; e < m->values.count && !s; e++) {
        int64_t slot = rt_get(&slots->values, e);
        if (slot < 0) continue;
        int64_t row = rt_get(&m->values, e) % extent;
        rt_set(out, (slot / block * extent + row) * block + slot % block, e);
    }
    return s;
}

gnn_status rt_count_window_rows(gnn_context *c, int64_t slots, int64_t extent, int64_t block,
                                int64_t *out) {
    return rt_count_cells(c, slots / block, extent, out);
}

gnn_status rt_build_window_masks(gnn_context *c, const rt_map_view *m, const rt_map_view *slots,
                                 int64_t extent, int64_t block, bool wide, rt_ints *out) {
    int64_t rows;
    gnn_status s = rt_count_window_rows(c, slots->codomain, extent, block, &rows);
    if (!s) s = rt_ints_new(c, rows, wide, out);
    for (int64_t i = 0; i < rows && !s; i++) rt_set(out, i, 0);
    for (int64_t e = 0; e < m->values.count && !s; e++) {
        int64_t slot = rt_get(&slots->values, e);
        if (slot < 0) continue;
        int64_t row = slot / block * extent + rt_get(&m->values, e) % extent;
        rt_set(out, row, rt_get(out, row) | (int64_t)1 << slot % block);
    }
    return s;
}

int64_t rt_density(int64_t entries, int64_t slots, int64_t extent) {
    typedef unsigned __int128 wide;
    return slots ? (int64_t)((wide)(uint64_t)entries * 1000u /
                             ((wide)(uint64_t)slots * (uint64_t)extent))
                 : 1000;
}
