// Builders by kernels, giving what prepare.c gives. Counts meet in integers, so their order changes
// nothing.
#include "gpu.h"

// ---- Counting and scanning ----------------------------------------------------------------------
static gnn_status zero(rt_gpu *g, const rt_ints *a) {
    return gnn_fill(g->c, a->data, 0, (size_t)a->count * (a->wide ? 8 : 4), g->stream);
}

gnn_status rt_gpu_tally(rt_gpu *g, const rt_ints *values, const rt_ints *counts) {
    gnn_status s = zero(g, counts);
    if (s) return s;
    return RT_LAUNCH(g, TALLY, values->count, RT_POINTER(values->data), RT_NUMBER(values->count),
                     RT_POINTER(counts->data));
}

// Entries a block takes one after another, 256 at a time.
typedef struct {
    int64_t blocks, chunk;
} chunks;

static chunks chunks_of(int64_t n) {
    enum { MOST_BLOCKS = 1024, LEAST = 2048, TILE = 256 };
    int64_t chunk = n / MOST_BLOCKS + 1;
    if (chunk < LEAST) chunk = LEAST;
    chunk = (chunk + TILE - 1) / TILE * TILE;
    return (chunks){n / chunk + (n % chunk != 0), chunk};
}

// begins: of each chunk; NULL: 0.
static gnn_status scan_chunks(rt_gpu *g, const rt_ints *x, chunks k, const rt_ints *begins,
                              const rt_ints *out) {
    uint64_t slots[] = {RT_POINTER(x->data), RT_NUMBER(x->count),
                        RT_NUMBER(k.chunk),  RT_POINTER(begins ? begins->data : NULL),
                        begins != NULL,      RT_POINTER(out->data)};
    return rt_gpu_launch(g, RT_GPU_SCAN, k.blocks, slots, RT_COUNT(slots));
}

// Sums of chunks, sums of those before each, then the chunks from these on (Blelloch 1990, in three
// launches); one chunk is scanned at once.
gnn_status rt_gpu_scan(rt_gpu *g, const rt_ints *x, const rt_ints *out) {
    const chunks k = chunks_of(x->count);
    if (k.blocks <= 1) return scan_chunks(g, x, k, NULL, out);
    rt_ints sums;
    gnn_status s = rt_gpu_ints(g, k.blocks, &sums);
    if (!s) s = zero(g, &sums);
    uint64_t slots[] = {RT_POINTER(x->data), RT_NUMBER(x->count), RT_NUMBER(k.chunk),
                        RT_POINTER(sums.data)};
    if (!s) s = rt_gpu_launch(g, RT_GPU_SUM, k.blocks, slots, RT_COUNT(slots));
    if (!s) s = scan_chunks(g, &sums, (chunks){1, k.blocks}, NULL, &sums);
    return s ? s : scan_chunks(g, x, k, &sums, out);
}

// ---- Offsets and degrees ------------------------------------------------------------------------
gnn_status rt_gpu_offsets(rt_gpu *g, const rt_map_view *m, rt_ints *out) {
    int64_t entries;
    gnn_status s = rt_count_offsets(g->c, m->codomain, &entries);
    if (!s) s = rt_gpu_ints(g, entries, out);
    if (!s && m->sorted)
        return RT_LAUNCH(g, CLASS_BEGINS, entries, RT_POINTER(m->values.data),
                         RT_NUMBER(m->values.count), RT_NUMBER(m->codomain), RT_POINTER(out->data));
    if (!s) s = rt_gpu_tally(g, &m->values, out);
    return s ? s : rt_gpu_scan(g, out, out);
}

gnn_status rt_gpu_expanded(rt_gpu *g, const rt_ints *offsets, int64_t domain, rt_ints *out) {
    gnn_status s = rt_gpu_ints(g, domain, out);
    if (s) return s;
    return RT_LAUNCH(g, CLASS_OF, domain, RT_POINTER(offsets->data), RT_NUMBER(offsets->count - 1),
                     RT_NUMBER(domain), RT_POINTER(out->data));
}

gnn_status rt_gpu_degrees(rt_gpu *g, const rt_map_view *m, rt_ints *out) {
    gnn_status s = rt_gpu_ints(g, m->codomain, out);
    return s ? s : rt_gpu_tally(g, &m->values, out);
}

// Entries below `least` become as much.
gnn_status rt_gpu_raise(rt_gpu *g, const rt_ints *x, int64_t least) {
    return RT_LAUNCH(g, RAISE, x->count, RT_POINTER(x->data), RT_NUMBER(x->count),
                     RT_NUMBER(least));
}

// ---- Orders -------------------------------------------------------------------------------------
enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

typedef struct {   // of positions, by several maps one after another
    // where they stand, once they have moved; where the next pass puts them
    rt_ints at, spare, hist;
    bool moved;
    chunks k;
} sorting;

// Where the positions must end is told, or NULL.
static gnn_status sorting_new(rt_gpu *g, int64_t n, uint32_t passes, const rt_ints *end,
                              sorting *out) {
    *out = (sorting){.k = chunks_of(n)};
    gnn_status s = rt_gpu_ints(g, n, &out->at);
    if (!s && end) out->spare = *end;
    else if (!s) s = rt_gpu_ints(g, n, &out->spare);
    if (end && passes % 2 == 0) {
        out->spare = out->at;
        out->at = *end;
    }
    return s ? s : rt_gpu_ints(g, DIGITS * out->k.blocks, &out->hist);
}

static gnn_status sort_digit(rt_gpu *g, sorting *t, const rt_map_view *m, bool largest,
                             uint32_t shift) {
    // not looked at where nothing has moved
    const rt_ints *given = t->moved ? &t->at : &m->values;
    uint64_t slots[] = {RT_POINTER(m->values.data),
                        RT_POINTER(given->data),
                        t->moved,
                        RT_NUMBER(m->values.count),
                        RT_NUMBER(t->k.chunk),
                        shift,
                        RT_NUMBER(m->codomain),
                        largest,
                        RT_POINTER(t->hist.data),
                        RT_POINTER(t->spare.data)};
    gnn_status s = rt_gpu_launch(g, RT_GPU_DIGITS, t->k.blocks, slots, RT_COUNT(slots) - 1);
    if (!s) s = rt_gpu_scan(g, &t->hist, &t->hist);
    if (!s) s = rt_gpu_launch(g, RT_GPU_MOVE, t->k.blocks, slots, RT_COUNT(slots));
    const rt_ints at = t->spare;
    t->spare = t->at;
    t->at = at;
    t->moved = true;
    return s;
}

// Keys go up to the codomain, which stands for none.
static uint32_t passes_of(const rt_map_view *m) {
    uint32_t n = 1;
    while (n * DIGIT_BITS < 64 && m->codomain >> n * DIGIT_BITS) n++;
    return n;
}

static gnn_status sort_by(rt_gpu *g, sorting *t, const rt_map_view *m, bool largest) {
    gnn_status s = GNN_OK;
    for (uint32_t i = 0, n = passes_of(m); i < n && !s; i++)
        s = sort_digit(g, t, m, largest, i * DIGIT_BITS);
    return s;
}

gnn_status rt_gpu_order(rt_gpu *g, const rt_map_view *m, bool largest, rt_ints *out) {
    sorting t;
    gnn_status s = rt_gpu_ints(g, m->values.count, out);
    if (!s) s = sorting_new(g, m->values.count, passes_of(m), out, &t);
    return s ? s : sort_by(g, &t, m, largest);
}

// ---- Tiles --------------------------------------------------------------------------------------
// In `begins`, of as many entries as there are offsets, the number of the first tile of each class.
gnn_status rt_gpu_number_tiles(rt_gpu *g, const rt_ints *offsets, int64_t extent,
                               const rt_ints *begins) {
    const int64_t classes = offsets->count - 1;
    gnn_status s = RT_LAUNCH(g, TILE_COUNTS, offsets->count, RT_POINTER(offsets->data),
                             RT_NUMBER(classes), RT_NUMBER(extent), RT_POINTER(begins->data));
    return s ? s : rt_gpu_scan(g, begins, begins);
}

gnn_status rt_gpu_tiles(rt_gpu *g, const rt_map_view *m, int64_t extent, rt_ints *out,
                        int64_t *tiles) {
    rt_ints offsets, begins;
    gnn_status s = rt_gpu_offsets(g, m, &offsets);
    if (!s) s = rt_gpu_ints(g, offsets.count, &begins);
    if (!s) s = rt_gpu_number_tiles(g, &offsets, extent, &begins);
    if (!s) s = rt_gpu_get(g, &begins, m->codomain, tiles);
    if (!s) s = rt_gpu_ints(g, *tiles + 1, out);
    if (s) return s;
    return RT_LAUNCH(g, TILE_STARTS, out->count, RT_POINTER(begins.data), RT_POINTER(offsets.data),
                     RT_NUMBER(m->codomain), RT_NUMBER(extent), RT_NUMBER(*tiles),
                     RT_POINTER(out->data));
}

gnn_status rt_gpu_tile_begins(rt_gpu *g, const rt_map_view *m, int64_t extent, rt_ints *out) {
    rt_ints offsets;
    gnn_status s = rt_gpu_offsets(g, m, &offsets);
    if (!s) s = rt_gpu_ints(g, offsets.count, out);
    return s ? s : rt_gpu_number_tiles(g, &offsets, extent, out);
}

gnn_status rt_gpu_tile_values(rt_gpu *g, const rt_map_view *m, int64_t extent, rt_ints *out) {
    rt_ints offsets, begins;
    int64_t most = 0;
    if (m->codomain && !rt_add(m->values.count / extent, m->codomain, &most))
        return rt_fail(g->c, GNN_TOO_LARGE, "%lld entries have too many tiles",
                       (long long)m->values.count);
    gnn_status s = rt_gpu_offsets(g, m, &offsets);
    if (!s) s = rt_gpu_ints(g, offsets.count, &begins);
    if (!s) s = rt_gpu_number_tiles(g, &offsets, extent, &begins);
    return s ? s : rt_gpu_expanded(g, &begins, most, out);
}

// ---- Parts of rows ------------------------------------------------------------------------------
gnn_status rt_gpu_parts(rt_gpu *g, const rt_rows *r, int64_t extent, rt_ints out[RT_PART_ARRAYS]) {
    const rt_ints *by = r->order ? r->order : &r->offsets;   // not looked at without an order
    const int64_t rows = r->offsets.count - 1;
    rt_ints numbers;
    gnn_status s = rt_gpu_ints(g, 2 * r->offsets.count, &numbers);
    if (!s)
        s = RT_LAUNCH(g, PART_COUNTS, r->offsets.count, RT_POINTER(r->offsets.data),
                      RT_POINTER(by->data), r->order != NULL, RT_NUMBER(rows), RT_NUMBER(extent),
                      RT_POINTER(numbers.data));
    if (!s) s = rt_gpu_scan(g, &numbers, &numbers);
    for (uint32_t i = 0; i < RT_PART_ARRAYS && !s; i++)
        s = rt_gpu_ints(
            g, i == RT_PART_HEADS - RT_PART_ROWS ? r->cut + 1 : r->parts + rows - r->cut, &out[i]);
    if (!s)
        s = RT_LAUNCH(g, PART_CUT, r->parts, RT_POINTER(numbers.data), RT_POINTER(r->offsets.data),
                      RT_POINTER(by->data), r->order != NULL, RT_NUMBER(rows), RT_NUMBER(extent),
                      RT_NUMBER(r->parts), RT_POINTER(out[0].data), RT_POINTER(out[1].data),
                      RT_POINTER(out[2].data));
    if (!s)
        s = RT_LAUNCH(g, PART_WHOLE, rows, RT_POINTER(numbers.data), RT_POINTER(r->offsets.data),
                      RT_POINTER(by->data), r->order != NULL, RT_NUMBER(rows), RT_NUMBER(extent),
                      RT_POINTER(out[0].data), RT_POINTER(out[1].data), RT_POINTER(out[2].data));
    if (s) return s;
    return RT_LAUNCH(g, PART_HEADS, r->offsets.count, RT_POINTER(numbers.data), RT_NUMBER(rows),
                     RT_NUMBER(r->parts), RT_POINTER(out[3].data));
}

// ---- Compositions and classes -------------------------------------------------------------------
gnn_status rt_gpu_compose(rt_gpu *g, const rt_map_view *m, const rt_map_view *n, rt_ints *out) {
    gnn_status s = rt_gpu_ints(g, m->values.count, out);
    if (s) return s;
    return RT_LAUNCH(g, COMPOSE, m->values.count, RT_POINTER(m->values.data),
                     RT_NUMBER(m->values.count), RT_POINTER(n->values.data), RT_POINTER(out->data));
}

gnn_status rt_gpu_column(rt_gpu *g, const rt_map_view *m, int64_t step, int64_t first,
                         rt_ints *out) {
    const int64_t n = m->values.count / step;
    gnn_status s = rt_gpu_ints(g, n, out);
    if (s) return s;
    return RT_LAUNCH(g, COLUMN, n, RT_POINTER(m->values.data), RT_NUMBER(n), RT_NUMBER(step),
                     RT_NUMBER(first), RT_POINTER(out->data));
}

// Where a tuple begins in the order, and where it has a none. Equal tuples are neighbours.
static gnn_status mark_tuples(rt_gpu *g, const rt_map_view *maps, uint32_t n, const rt_ints *order,
                              const rt_ints *marks) {
    gnn_status s = GNN_OK;
    for (uint32_t i = 0; i < n && !s; i++)
        s = RT_LAUNCH(g, MARK, order->count, RT_POINTER(maps[i].values.data),
                      RT_POINTER(order->data), RT_NUMBER(order->count), i > 0,
                      RT_POINTER(marks->data));
    return s;
}

gnn_status rt_gpu_order_by(rt_gpu *g, const rt_map_view *maps, uint32_t n, rt_ints *out) {
    sorting t;
    gnn_status s = sorting_new(g, maps[0].values.count, 0, NULL, &t);
    for (uint32_t i = n; i-- && !s;) s = sort_by(g, &t, &maps[i], false);
    *out = t.at;
    return s;
}

gnn_status rt_gpu_classes(rt_gpu *g, const rt_map_view *maps, uint32_t n, rt_ints *out,
                          int64_t *classes) {
    const int64_t count = maps[0].values.count;
    rt_ints order, marks, ranks;
    gnn_status s = rt_gpu_order_by(g, maps, n, &order);
    if (!s) s = rt_gpu_ints(g, count, &marks);
    if (!s) s = rt_gpu_ints(g, count + 1, &ranks);
    if (!s) s = mark_tuples(g, maps, n, &order, &marks);
    if (!s)
        s = RT_LAUNCH(g, FLAGS, ranks.count, RT_POINTER(marks.data), RT_NUMBER(count), 1, 1,
                      RT_POINTER(ranks.data));
    if (!s) s = rt_gpu_scan(g, &ranks, &ranks);
    if (!s) s = rt_gpu_get(g, &ranks, count, classes);
    if (!s) s = rt_gpu_ints(g, count, out);
    if (s) return s;
    return RT_LAUNCH(g, NUMBER, count, RT_POINTER(order.data), RT_POINTER(marks.data),
                     RT_POINTER(ranks.data), RT_NUMBER(count), RT_POINTER(out->data));
}
