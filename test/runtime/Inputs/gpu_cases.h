// Builders and numbers of the device against those of the host, on maps that are hard on them:
// none, empty rows, one huge row, values at the edges of a digit, sizes about the edges of warps,
// blocks and chunks.
#ifndef GPU_CASES_H
#define GPU_CASES_H

#include "gpu.h"
#include "harness.h"

static size_t array_bytes(const rt_ints *a) { return (size_t)a->count * (a->wide ? 8 : 4); }

// ---- Maps ---------------------------------------------------------------------------------------
static int64_t anything(int64_t i, int64_t n, int64_t into, uint64_t *r) {
    (void)i, (void)n;
    return random_below(r, into + 1) - 1;
}
static int64_t some(int64_t i, int64_t n, int64_t into, uint64_t *r) {   // no none
    (void)i, (void)n;
    return into ? random_below(r, into) : -1;
}
static int64_t sorted(int64_t i, int64_t n, int64_t into, uint64_t *r) {
    (void)r;
    return into ? (int64_t)((__int128)i * into / n) : -1;
}
static int64_t falling(int64_t i, int64_t n, int64_t into, uint64_t *r) {
    return sorted(n - 1 - i, n, into, r);
}
static int64_t one_row(int64_t i, int64_t n, int64_t into, uint64_t *r) {   // but for a few
    (void)n;
    return i % 1000 == 7 ? random_below(r, into + 1) - 1 : into - 1;
}
static int64_t nowhere(int64_t i, int64_t n, int64_t into, uint64_t *r) {
    (void)i, (void)n, (void)into, (void)r;
    return -1;
}
static int64_t hubs(int64_t i, int64_t n, int64_t into, uint64_t *r) {   // small values stand often
    (void)i, (void)n;
    const int64_t a = random_below(r, into + 1), b = random_below(r, into + 1),
                  least = a < b ? a : b;
    return (least < into ? least : 0) - !into;
}

typedef struct {
    const char *name;
    int64_t (*at)(int64_t i, int64_t n, int64_t into, uint64_t *r);
} shape;
static const shape shapes[] = {{"anything", anything}, {"some", some},       {"sorted", sorted},
                               {"falling", falling},   {"one_row", one_row}, {"nowhere", nowhere},
                               {"hubs", hubs}};

static rt_map_view make_map(gnn_context *c, const shape *k, int64_t n, int64_t into, bool wide) {
    uint64_t r = (uint64_t)(n * 31 + into);
    rt_map_view m = {.codomain = into};
    GOOD(c, rt_ints_new(c, n, wide, &m.values));
    for (int64_t i = 0; i < n; i++) rt_set(&m.values, i, k->at(i, n, into, &r));
    return m;
}

static rt_map_view upload(gnn_context *c, const rt_map_view *m) {
    rt_map_view there = *m;
    GOOD(c, gnn_alloc(c, array_bytes(&m->values), &there.values.data));
    GOOD(c, gnn_copy_in(c, there.values.data, m->values.data, array_bytes(&m->values), NULL));
    return there;
}

// ---- Comparing ----------------------------------------------------------------------------------
static const char *doing = "";
static int64_t doing_n, doing_into;
static bool doing_wide;

static void differ(const char *what, int64_t at, int64_t got, int64_t wanted) {
    failed = 1;
    printf("%s of %s, %lld into %lld, %d bits: at %lld there is %lld, not %lld\n", what, doing,
           (long long)doing_n, (long long)doing_into, doing_wide ? 64 : 32, (long long)at,
           (long long)got, (long long)wanted);
}

// Frees the host's.
static void same(gnn_context *c, const char *what, const rt_ints *got, const rt_ints *wanted) {
    rt_ints here = {0};
    if (got->count != wanted->count || got->wide != wanted->wide)
        differ(what, -1, got->count, wanted->count);
    GOOD(c, rt_ints_new(c, got->count, got->wide, &here));
    GOOD(c, rt_fetch(c, got->data, array_bytes(got), here.data, NULL));
    for (int64_t i = 0; i < got->count && i < wanted->count; i++)
        if (rt_get(&here, i) != rt_get(wanted, i)) {
            differ(what, i, rt_get(&here, i), rt_get(wanted, i));
            break;
        }
    rt_free(c, here.data);
    rt_free(c, wanted->data);
}

// A session of one builder: `call` is of g, m (there) and got, `wanted_call` of m (here) and
// wanted.
#define BUILD(c, wide, what, call, wanted_call)                                                    \
    do {                                                                                           \
        rt_gpu g = {0};                                                                            \
        rt_ints got = {0}, wanted = {0};                                                           \
        GOOD((c), rt_gpu_begin(&g, (c), NULL, (wide)));                                            \
        GOOD((c), call);                                                                           \
        GOOD((c), wanted_call);                                                                    \
        same((c), (what), &got, &wanted);                                                          \
        GOOD((c), rt_gpu_end(&g, GNN_OK));                                                         \
    } while (0)

static void compare_plain(gnn_context *c, const rt_map_view *here, const rt_map_view *there,
                          bool wide) {
    BUILD(c, wide, "offsets", rt_gpu_offsets(&g, there, &got),
          rt_build_offsets(c, here, wide, &wanted));
    BUILD(c, wide, "order", rt_gpu_order(&g, there, false, &got),
          rt_build_order(c, here, wide, &wanted));
    BUILD(c, wide, "order_desc", rt_gpu_order(&g, there, true, &got),
          rt_build_order_desc(c, here, wide, &wanted));
    BUILD(c, wide, "degrees", rt_gpu_degrees(&g, there, &got),
          rt_build_degrees(c, here, wide, &wanted));
    rt_map_view sorted = {.codomain = here->codomain, .sorted = true};
    rt_ints order;
    GOOD(c, rt_build_order(c, here, wide, &order));
    GOOD(c, rt_build_compose(c, &(rt_map_view){.values = order, .codomain = order.count}, here,
                             wide, &sorted.values));
    const rt_map_view sorted_there = upload(c, &sorted);
    BUILD(c, wide, "offsets of a sorted map", rt_gpu_offsets(&g, &sorted_there, &got),
          rt_build_offsets(c, here, wide, &wanted));
    gnn_free(c, sorted_there.values.data);
    rt_free(c, sorted.values.data);
    rt_free(c, order.data);
}

static void compare_tiles(gnn_context *c, const rt_map_view *here, const rt_map_view *there,
                          bool wide, int64_t extent) {
    int64_t tiles = -1, wanted_tiles = -2;
    BUILD(c, wide, "tiles", rt_gpu_tiles(&g, there, extent, &got, &tiles),
          rt_build_tiles(c, here, extent, wide, &wanted, &wanted_tiles));
    CHECK(tiles == wanted_tiles);
    BUILD(c, wide, "tile_begins", rt_gpu_tile_begins(&g, there, extent, &got),
          rt_build_tile_begins(c, here, extent, wide, &wanted));
    BUILD(c, wide, "tile_values", rt_gpu_tile_values(&g, there, extent, &got),
          rt_build_tile_values(c, here, extent, wide, &wanted));
}

// As a plan has it: by sizes and offsets that are known.
static gnn_status cut_there(rt_gpu *g, const rt_map_view *m, const rt_ints *order, int64_t extent,
                            rt_builder what, rt_ints *out) {
    rt_rows rows = {.order = order};
    rt_preimages sizes = {0};
    rt_ints made[RT_PART_ARRAYS] = {0};
    gnn_status s = rt_gpu_measure(g, m, &sizes);
    rows.cut = rt_count_cut(&sizes, extent);
    rows.parts = rt_count_parts(&sizes, extent);
    if (!s) s = rt_gpu_offsets(g, m, &rows.offsets);
    if (!s) s = rt_gpu_parts(g, &rows, extent, made);
    *out = made[what - RT_PART_ROWS];
    rt_free(g->c, sizes.sizes);
    return s;
}

static void compare_parts(gnn_context *c, const rt_map_view *here, const rt_map_view *there,
                          bool wide, int64_t extent) {
    static const char *const names[] = {"part_rows", "part_begins", "part_ends", "part_heads"};
    rt_map_view d = {.codomain = here->values.count + 1}, o = {.codomain = here->codomain};
    GOOD(c, rt_build_degrees(c, here, wide, &d.values));
    GOOD(c, rt_build_order_desc(c, &d, wide, &o.values));
    rt_map_view o_there = upload(c, &o);
    for (int i = 0; i < 8; i++) {
        const rt_builder what = RT_PART_ROWS + (rt_builder)(i % 4);
        BUILD(c, wide, names[i % 4],
              cut_there(&g, there, i < 4 ? NULL : &o_there.values, extent, what, &got),
              rt_build_parts(c, what, here, i < 4 ? NULL : &o, extent, wide, &wanted));
    }
    gnn_free(c, o_there.values.data);
    rt_free(c, o.values.data);
    rt_free(c, d.values.data);
}

// Of whole rows: the host takes them for parts without end.
static void compare_row_ends(gnn_context *c, const rt_map_view *here, const rt_map_view *there,
                             bool wide, bool desc) {
    rt_map_view d = {.codomain = here->values.count + 1}, o = {.codomain = here->codomain};
    GOOD(c, rt_build_degrees(c, here, wide, &d.values));
    GOOD(c, desc ? rt_build_order_desc(c, &d, wide, &o.values)
                 : rt_build_order(c, &d, wide, &o.values));
    const rt_map_view o_there = upload(c, &o);
    BUILD(c, wide, "row_begins",
          cut_there(&g, there, &o_there.values, INT64_MAX, RT_PART_BEGINS, &got),
          rt_build_parts(c, RT_PART_BEGINS, here, &o, INT64_MAX, wide, &wanted));
    BUILD(c, wide, "row_ends", cut_there(&g, there, &o_there.values, INT64_MAX, RT_PART_ENDS, &got),
          rt_build_parts(c, RT_PART_ENDS, here, &o, INT64_MAX, wide, &wanted));
    gnn_free(c, o_there.values.data);
    rt_free(c, o.values.data);
    rt_free(c, d.values.data);
}

static void compare_windows(gnn_context *c, const rt_map_view *here, const rt_map_view *there,
                            bool wide, int64_t extent, int64_t said) {
    rt_map_view columns = make_map(c, &shapes[6], here->values.count, 5, wide),
                columns_there = upload(c, &columns), slots = {0};
    int64_t count = -1, wanted_count = -2, block = rt_block(extent, said);
    BUILD(c, wide, "window_slots",
          rt_gpu_window_slots(&g, there, &columns_there, extent, block, &got, &count),
          rt_build_window_slots(c, here, &columns, extent, block, wide, &wanted, &wanted_count));
    CHECK(count == wanted_count);
    GOOD(c, rt_build_window_slots(c, here, &columns, extent, block, wide, &slots.values,
                                  &slots.codomain));
    const rt_map_view slots_there = upload(c, &slots);
    BUILD(c, wide, "window_begins",
          rt_gpu_window_begins(&g, there, &slots_there, extent, block, &got),
          rt_build_window_begins(c, here, &slots, extent, block, wide, &wanted));
    BUILD(c, wide, "window_columns", rt_gpu_window_columns(&g, &columns_there, &slots_there, &got),
          rt_build_window_columns(c, &columns, &slots, wide, &wanted));
    BUILD(c, wide, "window_entries",
          rt_gpu_window_entries(&g, there, &slots_there, extent, block, &got),
          rt_build_window_entries(c, here, &slots, extent, block, wide, &wanted));
    BUILD(c, wide, "window_masks",
          rt_gpu_window_masks(&g, there, &slots_there, extent, block, &got),
          rt_build_window_masks(c, here, &slots, extent, block, wide, &wanted));
    gnn_free(c, slots_there.values.data);
    gnn_free(c, columns_there.values.data);
    rt_free(c, slots.values.data);
    rt_free(c, columns.values.data);
}

static void compare_several(gnn_context *c, const rt_map_view *here, const rt_map_view *there,
                            bool wide) {
    const int64_t n = here->values.count;
    rt_map_view h[3] = {*here, make_map(c, &shapes[0], n, 5, wide),
                        make_map(c, &shapes[6], n, 3, wide)},
                t[3] = {*there};
    rt_map_view then = make_map(c, &shapes[0], here->codomain, 11, wide),
                then_there = upload(c, &then);
    for (int i = 1; i < 3; i++) t[i] = upload(c, &h[i]);
    for (uint32_t k = 1; k <= 3; k++) {
        int64_t classes = -1, wanted_classes = -2;
        BUILD(c, wide, "classes", rt_gpu_classes(&g, t, k, &got, &classes),
              rt_build_classes(c, h, k, wide, &wanted, &wanted_classes));
        CHECK(classes == wanted_classes);
    }
    BUILD(c, wide, "compose", rt_gpu_compose(&g, there, &then_there, &got),
          rt_build_compose(c, here, &then, wide, &wanted));
    for (int64_t first = 0; first < 3; first += 2)
        BUILD(c, wide, "column", rt_gpu_column(&g, there, 3, first, &got),
              rt_build_column(c, here, 3, first, wide, &wanted));
    for (int i = 1; i < 3; i++) {
        gnn_free(c, t[i].values.data);
        rt_free(c, h[i].values.data);
    }
    gnn_free(c, then_there.values.data);
    rt_free(c, then.values.data);
}

static void compare_numbers(gnn_context *c, const rt_map_view *here, const rt_map_view *there,
                            bool wide) {
    rt_gpu g = {0};
    rt_preimages got = {0}, wanted = {0};
    GOOD(c, rt_gpu_begin(&g, c, NULL, wide));
    GOOD(c, rt_gpu_measure(&g, there, &got));
    GOOD(c, rt_measure(c, here, &wanted));
    if (got.codomain != wanted.codomain || got.entries != wanted.entries || got.rows != wanted.rows)
        differ("statistics", -1, got.rows, wanted.rows);
    for (int64_t i = 0; i < got.rows && i < wanted.rows; i++)
        if (got.sizes[i] != wanted.sizes[i] || got.counts[i] != wanted.counts[i])
            differ("statistics", i, got.sizes[i], wanted.sizes[i]);
    rt_free(c, got.sizes);
    rt_free(c, wanted.sizes);
    GOOD(c, rt_gpu_end(&g, GNN_OK));
}

static int64_t symmetric(gnn_context *c, const rt_map_view *a, const rt_map_view *b) {
    rt_gpu g = {0};
    int64_t got = -1, wanted = -2;
    rt_edge odd = {-1, 0, 0}, other = odd;
    const rt_map_view x = upload(c, a), y = upload(c, b);
    GOOD(c, rt_gpu_begin(&g, c, NULL, a->values.wide));
    GOOD(c, rt_gpu_symmetric(&g, &x, &y, NULL, &got, &odd));
    GOOD(c, rt_gpu_end(&g, GNN_OK));
    GOOD(c, rt_symmetric(c, a, b, NULL, &wanted, &other));
    if (got != wanted) differ("symmetry", -1, got, wanted);
    if (odd.at != other.at) differ("odd edge", -1, odd.at, other.at);
    gnn_free(c, x.values.data);
    gnn_free(c, y.values.data);
    return wanted;
}

// Edges by the first map, by both, or as they stand.
static void sort_edges(gnn_context *c, rt_map_view *a, rt_map_view *b, uint32_t by) {
    rt_ints order, sorted[2];
    GOOD(c, rt_build_order_by(c, (rt_map_view[]){*a, *b}, by, true, &order));
    for (int i = 0; i < 2; i++) {
        rt_map_view *m = i ? b : a;
        GOOD(c, rt_ints_new(c, order.count, m->values.wide, &sorted[i]));
        for (int64_t e = 0; e < order.count; e++)
            rt_set(&sorted[i], e, rt_get(&m->values, rt_get(&order, e)));
        rt_free(c, m->values.data);
        m->values = sorted[i];
    }
    rt_free(c, order.data);
}

// Both directions of each edge, and then one of them turned away. Edges stand as they were made,
// and sorted by one map or both.
static void compare_edges(gnn_context *c, int64_t n, int64_t into, bool wide, uint32_t by,
                          bool first) {
    rt_map_view a = make_map(c, &shapes[0], n, into, wide),
                b = make_map(c, &shapes[0], n, into, wide);
    for (int64_t i = 0; i + 1 < n; i += 2) {
        rt_set(&b.values, i, random_below(&(uint64_t){(uint64_t)i}, into + 1) - 1);
        rt_set(&a.values, i + 1, rt_get(&b.values, i));
        rt_set(&b.values, i + 1, rt_get(&a.values, i));
    }
    if (n % 2) rt_set(&b.values, n - 1, rt_get(&a.values, n - 1));
    if (by) sort_edges(c, first ? &a : &b, first ? &b : &a, by);
    CHECK(symmetric(c, &a, &b) == 1);
    for (int64_t i = 0; i < n && into > 1; i++)
        if (rt_get(&a.values, i) > 0 && rt_get(&b.values, i) >= 0 &&
            rt_get(&b.values, i) != rt_get(&a.values, i)) {
            rt_set(&a.values, i, 0);
            break;
        }
    symmetric(c, &a, &b);
    rt_free(c, a.values.data);
    rt_free(c, b.values.data);
}

static void compare_symmetry(gnn_context *c, int64_t n, int64_t into, bool wide) {
    compare_edges(c, n, into, wide, 0, false);
    for (uint32_t by = 1; by < 3; by++)
        for (int first = 0; first < 2; first++) compare_edges(c, n, into, wide, by, first);
}

static void compare_all(gnn_context *c, const shape *k, int64_t n, int64_t into, bool wide,
                        int64_t extent) {
    const rt_map_view here = make_map(c, k, n, into, wide), there = upload(c, &here);
    doing = k->name, doing_n = n, doing_into = into, doing_wide = wide;
    compare_plain(c, &here, &there, wide);
    compare_tiles(c, &here, &there, wide, extent);
    compare_parts(c, &here, &there, wide, extent);
    for (int desc = 0; desc < 2; desc++) compare_row_ends(c, &here, &there, wide, desc);
    // cells come in squares
    for (int64_t slots = 0; slots <= RT_MOST_SLOTS && extent < 1000; slots += RT_MOST_SLOTS)
        compare_windows(c, &here, &there, wide, extent, slots);
    compare_several(c, &here, &there, wide);
    compare_numbers(c, &here, &there, wide);
    gnn_free(c, there.values.data);
    rt_free(c, here.values.data);
}

#endif
