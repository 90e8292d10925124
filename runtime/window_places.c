// Places of rows in windows: one after the other, but that a window ends early where a graph of a
// batch does, as the rows behind that read other columns than those before. Then the slots of a
// window are those of one graph. That is done for windows at least half full, and while there are
// no more than five for each four of full ones.
#include "prepare.h"

static int64_t windows_of(int64_t rows, int64_t extent) {
    return rows / extent + (rows % extent != 0);
}

int64_t rt_window_limit(int64_t rows, int64_t extent) {
    const int64_t full = windows_of(rows, extent);
    return full + full / 4;
}

// least, most: of the columns of each row, where one has none more than any and -1; least is
// overwritten.
gnn_status rt_place_rows(gnn_context *c, const rt_ints *least, const rt_ints *most, int64_t extent,
                         bool wide, rt_ints *out, int64_t *places) {
    const int64_t rows = least->count, limit = rt_window_limit(rows, extent);
    gnn_status s = rt_ints_new(c, rows, wide, out);
    if (!s) s = rt_count_cells(c, limit, extent, places);
    for (int64_t v = rows - 1; v-- > 0 && !s;)   // of the row and all behind it
        if (rt_get(least, v + 1) < rt_get(least, v)) rt_set(least, v, rt_get(least, v + 1));
    int64_t window = 0, begin = 0, before = -1;
    for (int64_t v = 0; v < rows && !s; v++) {
        const int64_t length = v - begin;
        const bool apart = before < rt_get(least, v) && 2 * length >= extent &&
                           window + 1 + windows_of(rows - v, extent) <= limit;
        if (length == extent || apart) window++, begin = v;
        rt_set(out, v, window * extent + (v - begin));
        if (rt_get(most, v) > before) before = rt_get(most, v);
    }
    return s;
}

gnn_status rt_build_window_places(gnn_context *c, const rt_map_view *m, const rt_map_view *s,
                                  int64_t extent, bool wide, rt_ints *out, int64_t *places) {
    rt_ints least = {0}, most = {0};
    gnn_status status = rt_ints_new(c, m->codomain, true, &least);
    if (!status) status = rt_ints_new(c, m->codomain, true, &most);
    for (int64_t v = 0; v < m->codomain && !status; v++) {
        rt_set(&least, v, s->codomain);
        rt_set(&most, v, -1);
    }
    for (int64_t e = 0; e < m->values.count && !status; e++) {
        const int64_t v = rt_get(&m->values, e), u = rt_get(&s->values, e);
        if (v < 0 || u < 0) continue;
        if (u < rt_get(&least, v)) rt_set(&least, v, u);
        if (u > rt_get(&most, v)) rt_set(&most, v, u);
    }
    if (!status) status = rt_place_rows(c, &least, &most, extent, wide, out, places);
    rt_free(c, least.data);
    rt_free(c, most.data);
    return status;
}

gnn_status rt_build_window_starts(gnn_context *c, const rt_map_view *places, int64_t extent,
                                  bool wide, rt_ints *out) {
    const int64_t windows = places->codomain / extent;
    gnn_status s = rt_ints_new(c, windows + 1, wide, out);
    for (int64_t w = 0, v = 0; w <= windows && !s; w++) {
        while (v < places->values.count && rt_get(&places->values, v) < w * extent) v++;
        rt_set(out, w, v);
    }
    return s;
}
