// Rows cut into parts: of rows with more than T entries first, parts of T and a last one of fewer,
// then the other rows, a part each, empty or not; both in an order of the rows. So a sum over a row
// is either a part's alone or that of parts that come early and follow one another.
#include "prepare.h"

// The row at position p of an order, which may be none.
static int64_t row_at(const rt_map_view *order, int64_t p) {
    return order ? rt_get(&order->values, p) : p;
}

static int64_t parts_of(int64_t entries, int64_t extent) {
    return entries > extent ? entries / extent + (entries % extent != 0) : 1;
}

typedef struct {
    rt_ints offsets;
    const rt_map_view *order;
    int64_t rows, extent;
    rt_ints *out;
} cutting;

static int64_t entries_of(const cutting *c, int64_t row) {
    return rt_get(&c->offsets, row + 1) - rt_get(&c->offsets, row);
}

static void put(const cutting *c, rt_builder what, int64_t at, int64_t row, int64_t k) {
    int64_t begin = rt_get(&c->offsets, row) + k * c->extent, end = rt_get(&c->offsets, row + 1);
    if (what == RT_PART_ENDS && c->extent < end - begin) end = begin + c->extent;
    rt_set(c->out, at, what == RT_PART_ROWS ? row : what == RT_PART_BEGINS ? begin : end);
}

static int64_t put_rows(const cutting *c, rt_builder what, bool cut, int64_t at) {
    for (int64_t p = 0; p < c->rows; p++) {
        int64_t row = row_at(c->order, p), n = entries_of(c, row);
        if ((n > c->extent) != cut) continue;
        for (int64_t k = 0; k < parts_of(n, c->extent); k++) put(c, what, at++, row, k);
    }
    return at;
}

// The first part of each row that is cut, and behind them how many parts those have.
static gnn_status put_heads(gnn_context *c, const cutting *k, bool wide) {
    int64_t rows = 0, at = 0, parts = 0;
    for (int64_t v = 0; v < k->rows; v++) rows += entries_of(k, v) > k->extent;
    gnn_status s = rt_ints_new(c, rows + 1, wide, k->out);
    for (int64_t p = 0; p < k->rows && !s; p++) {
        int64_t n = entries_of(k, row_at(k->order, p));
        if (n <= k->extent) continue;
        rt_set(k->out, at++, parts);
        parts += parts_of(n, k->extent);
    }
    if (!s) rt_set(k->out, at, parts);
    return s;
}

gnn_status rt_build_parts(gnn_context *c, rt_builder what, const rt_map_view *m,
                          const rt_map_view *order, int64_t extent, bool wide, rt_ints *out) {
    cutting k = {.order = order, .rows = m->codomain, .extent = extent, .out = out};
    int64_t parts = 0;
    gnn_status s = rt_build_offsets(c, m, wide, &k.offsets);
    if (s) return s;
    for (int64_t v = 0; v < k.rows; v++) parts += parts_of(entries_of(&k, v), extent);
    s = what == RT_PART_HEADS ? put_heads(c, &k, wide) : rt_ints_new(c, parts, wide, out);
    if (!s && what != RT_PART_HEADS) put_rows(&k, what, false, put_rows(&k, what, true, 0));
    rt_free(c, k.offsets.data);
    return s;
}
