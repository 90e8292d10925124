// Prepared structures against definitions spelled out by brute force, on random maps with none,
// empty and unsorted.
#include "Inputs/harness.h"

enum { MOST = 60 };
typedef struct {
    int64_t n, into, at[MOST];
} map;

static map random_map(uint64_t *r, int64_t n, int64_t into) {
    map m = {n, into, {0}};
    for (int64_t i = 0; i < n; i++) m.at[i] = random_below(r, into + 1) - 1;
    return m;
}

static rt_map_view view(gnn_context *c, const map *m, bool wide) {
    rt_map_view v = {.codomain = m->into};
    GOOD(c, rt_ints_new(c, m->n, wide, &v.values));
    for (int64_t i = 0; i < m->n; i++) rt_set(&v.values, i, m->at[i]);
    return v;
}

static void offsets(gnn_context *c, const map *m, bool wide) {
    rt_map_view v = view(c, m, wide);
    rt_ints got;
    GOOD(c, rt_build_offsets(c, &v, wide, &got));
    CHECK(got.count == m->into + 1);
    for (int64_t k = 0; k <= m->into; k++) {
        int64_t below = 0;
        for (int64_t e = 0; e < m->n; e++) below += m->at[e] >= 0 && m->at[e] < k;
        CHECK(rt_get(&got, k) == below);
    }
    rt_free(c, got.data);
    rt_free(c, v.values.data);
}

static bool comes_before(const map *m, int64_t e, int64_t f) {
    int64_t a = m->at[e] < 0 ? INT64_MAX : m->at[e], b = m->at[f] < 0 ? INT64_MAX : m->at[f];
    return a < b || (a == b && e < f);
}

static void order(gnn_context *c, const map *m, bool wide) {
    rt_map_view v = view(c, m, wide);
    rt_ints got;
    GOOD(c, rt_build_order(c, &v, wide, &got));
    CHECK(got.count == m->n);
    for (int64_t e = 0; e < m->n; e++) {
        int64_t rank = 0;
        for (int64_t f = 0; f < m->n; f++) rank += comes_before(m, f, e);
        CHECK(rt_get(&got, rank) == e);
    }
    rt_free(c, got.data);
    rt_free(c, v.values.data);
}

static void compose(gnn_context *c, const map *m, const map *n, bool wide) {
    rt_map_view v = view(c, m, wide), w = view(c, n, wide);
    rt_ints got;
    GOOD(c, rt_build_compose(c, &v, &w, wide, &got));
    for (int64_t e = 0; e < m->n; e++)
        CHECK(rt_get(&got, e) == (m->at[e] < 0 ? -1 : n->at[m->at[e]]));
    rt_free(c, got.data);
    rt_free(c, v.values.data);
    rt_free(c, w.values.data);
}

static void column(gnn_context *c, const map *m, bool wide) {
    rt_map_view v = view(c, m, wide);
    for (int64_t step = 1; step < 4; step++)
        for (int64_t first = 0; first < step; first++) {
            rt_ints got;
            GOOD(c, rt_build_column(c, &v, step, first, wide, &got));
            CHECK(got.count == m->n / step);
            for (int64_t e = 0; e < got.count; e++)
                CHECK(rt_get(&got, e) == m->at[step * e + first]);
            rt_free(c, got.data);
        }
    rt_free(c, v.values.data);
}

static bool none(const map *maps, uint32_t n, int64_t e) {
    bool any = false;
    for (uint32_t i = 0; i < n; i++) any |= maps[i].at[e] < 0;
    return any;
}

static int compare(const map *maps, uint32_t n, int64_t e, int64_t f) {
    for (uint32_t i = 0; i < n; i++)
        if (maps[i].at[e] != maps[i].at[f]) return maps[i].at[e] < maps[i].at[f] ? -1 : 1;
    return 0;
}

// The number of distinct smaller tuples, told by the first of each.
static int64_t class_of(const map *maps, uint32_t n, int64_t e) {
    int64_t class = 0;
    for (int64_t f = 0; f < maps->n; f++) {
        bool counts = !none(maps, n, f) && compare(maps, n, f, e) < 0;
        for (int64_t g = 0; g < f && counts; g++) counts = compare(maps, n, g, f) != 0;
        class += counts;
    }
    return class;
}

static void classes(gnn_context *c, const map *maps, uint32_t n, bool wide) {
    rt_map_view v[3];
    rt_ints got;
    int64_t count = -1, most = -1;
    for (uint32_t i = 0; i < n; i++) v[i] = view(c, &maps[i], wide);
    GOOD(c, rt_build_classes(c, v, n, wide, &got, &count));
    for (int64_t e = 0; e < maps->n; e++) {
        int64_t class = none(maps, n, e) ? -1 : class_of(maps, n, e);
        CHECK(rt_get(&got, e) == class);
        most = class > most ? class : most;
    }
    CHECK(count == most + 1);
    rt_free(c, got.data);
    for (uint32_t i = 0; i < n; i++) rt_free(c, v[i].values.data);
}

static int64_t size_of(const map *m, int64_t k) {
    int64_t n = 0;
    for (int64_t e = 0; e < m->n; e++) n += m->at[e] == k;
    return n;
}

static void degrees(gnn_context *c, const map *m, bool wide) {
    rt_map_view v = view(c, m, wide);
    rt_ints got;
    GOOD(c, rt_build_degrees(c, &v, wide, &got));
    CHECK(got.count == m->into);
    for (int64_t k = 0; k < m->into; k++) CHECK(rt_get(&got, k) == size_of(m, k));
    rt_free(c, got.data);
    rt_free(c, v.values.data);
}

static void order_desc(gnn_context *c, const map *m, bool wide) {
    rt_map_view v = view(c, m, wide);
    rt_ints got;
    GOOD(c, rt_build_order_desc(c, &v, wide, &got));
    CHECK(got.count == m->n);
    for (int64_t e = 0; e < m->n; e++) {   // none, -1, comes last of itself
        int64_t rank = 0;
        for (int64_t f = 0; f < m->n; f++)
            rank += m->at[f] > m->at[e] || (m->at[f] == m->at[e] && f < e);
        CHECK(rt_get(&got, rank) == e);
    }
    rt_free(c, got.data);
    rt_free(c, v.values.data);
}

// Entry by entry: a tile begins where the class changes or the last is full.
static void tiles(gnn_context *c, const map *m, int64_t extent, bool wide) {
    rt_map_view v = view(c, m, wide);
    rt_ints got;
    int64_t count = -1, at = 0, begun = 0;
    GOOD(c, rt_build_tiles(c, &v, extent, wide, &got, &count));
    for (int64_t k = 0; k < m->into; k++)
        for (int64_t i = 0, n = size_of(m, k); i < n; i++, at++)
            if (i % extent == 0) {
                CHECK(begun < count && rt_get(&got, begun) == at);
                begun++;
            }
    CHECK(count == begun && got.count == count + 1 && rt_get(&got, count) == at);
    rt_free(c, got.data);
    rt_free(c, v.values.data);
}

// Class by class, an entry a tile; what is left over has the last class.
static void tile_lists(gnn_context *c, const map *m, int64_t extent, bool wide) {
    rt_map_view v = view(c, m, wide);
    rt_ints begins, values;
    int64_t at = 0;
    GOOD(c, rt_build_tile_begins(c, &v, extent, wide, &begins));
    GOOD(c, rt_build_tile_values(c, &v, extent, wide, &values));
    CHECK(begins.count == m->into + 1 && values.count == (m->into ? m->n / extent + m->into : 0));
    for (int64_t k = 0; k < m->into; k++) {
        CHECK(rt_get(&begins, k) == at);
        for (int64_t left = size_of(m, k); left > 0; left = left > extent ? left - extent : 0)
            CHECK(at < values.count && rt_get(&values, at++) == k);
    }
    CHECK(rt_get(&begins, m->into) == at);
    while (at < values.count) CHECK(rt_get(&values, at++) == m->into - 1);
    rt_free(c, begins.data);
    rt_free(c, values.data);
    rt_free(c, v.values.data);
}

// As kernels read the lists: an entry that has a class is in one tile, and in a tile of its class.
static void tiles_cover(gnn_context *c, const map *m, int64_t extent, bool wide) {
    rt_map_view v = view(c, m, wide);
    rt_ints begins, values, offsets, order;
    int64_t times[MOST] = {0};
    GOOD(c, rt_build_tile_begins(c, &v, extent, wide, &begins));
    GOOD(c, rt_build_tile_values(c, &v, extent, wide, &values));
    GOOD(c, rt_build_offsets(c, &v, wide, &offsets));
    GOOD(c, rt_build_order(c, &v, wide, &order));
    for (int64_t t = 0; t < values.count; t++) {
        int64_t k = rt_get(&values, t),
                first = rt_get(&offsets, k) + (t - rt_get(&begins, k)) * extent;
        for (int64_t e = first; e < first + extent && e < rt_get(&offsets, k + 1); e++) {
            times[rt_get(&order, e)]++;
            CHECK(m->at[rt_get(&order, e)] == k);
        }
    }
    for (int64_t e = 0; e < m->n; e++) CHECK(times[e] == (m->at[e] >= 0));
    rt_free(c, order.data);
    rt_free(c, offsets.data);
    rt_free(c, values.data);
    rt_free(c, begins.data);
    rt_free(c, v.values.data);
}

// Likewise the entries of rows that are cut in parts, each of one row.
static void parts_cover(gnn_context *c, const map *m, int64_t extent, bool wide) {
    rt_map_view v = view(c, m, wide);
    rt_ints rows, begins, ends, order;
    int64_t times[MOST] = {0};
    GOOD(c, rt_build_parts(c, RT_PART_ROWS, &v, NULL, extent, wide, &rows));
    GOOD(c, rt_build_parts(c, RT_PART_BEGINS, &v, NULL, extent, wide, &begins));
    GOOD(c, rt_build_parts(c, RT_PART_ENDS, &v, NULL, extent, wide, &ends));
    GOOD(c, rt_build_order(c, &v, wide, &order));
    for (int64_t part = 0; part < rows.count; part++) {
        CHECK(rt_get(&ends, part) - rt_get(&begins, part) <= extent);
        for (int64_t e = rt_get(&begins, part); e < rt_get(&ends, part); e++) {
            times[rt_get(&order, e)]++;
            CHECK(m->at[rt_get(&order, e)] == rt_get(&rows, part));
        }
    }
    for (int64_t e = 0; e < m->n; e++) CHECK(times[e] == (m->at[e] >= 0));
    rt_free(c, order.data);
    rt_free(c, ends.data);
    rt_free(c, begins.data);
    rt_free(c, rows.data);
    rt_free(c, v.values.data);
}

// Of rows in an order, or of their numbers: parts of those that are cut, then the others.
static void part_lists(gnn_context *c, const map *m, int64_t extent, bool wide, bool ordered) {
    rt_map_view v = view(c, m, wide), d = {.codomain = m->n + 1}, o = {.codomain = m->into};
    rt_ints rows, begins, ends, heads, offsets;
    int64_t at = 0, head = 0;
    GOOD(c, rt_build_degrees(c, &v, wide, &d.values));
    GOOD(c, rt_build_order_desc(c, &d, wide, &o.values));
    GOOD(c, rt_build_offsets(c, &v, wide, &offsets));
    const rt_map_view *by = ordered ? &o : NULL;
    GOOD(c, rt_build_parts(c, RT_PART_ROWS, &v, by, extent, wide, &rows));
    GOOD(c, rt_build_parts(c, RT_PART_BEGINS, &v, by, extent, wide, &begins));
    GOOD(c, rt_build_parts(c, RT_PART_ENDS, &v, by, extent, wide, &ends));
    GOOD(c, rt_build_parts(c, RT_PART_HEADS, &v, by, extent, wide, &heads));
    for (int cut = 1; cut >= 0; cut--) {
        for (int64_t p = 0; p < m->into; p++) {
            int64_t row = ordered ? rt_get(&o.values, p) : p, from = rt_get(&offsets, row),
                    n = size_of(m, row);
            if ((n > extent) != cut) continue;
            if (cut) CHECK(head < heads.count && rt_get(&heads, head++) == at);
            for (int64_t k = 0; k == 0 || k < n; k += extent, at++) {
                CHECK(at < rows.count && rt_get(&rows, at) == row &&
                      rt_get(&begins, at) == from + k);
                CHECK(rt_get(&ends, at) == from + (n - k < extent ? n : k + extent));
            }
        }
        if (cut) CHECK(heads.count == head + 1 && rt_get(&heads, head) == at);
    }
    CHECK(rows.count == at && begins.count == at && ends.count == at);
    rt_free(c, rows.data);
    rt_free(c, begins.data);
    rt_free(c, ends.data);
    rt_free(c, heads.data);
    rt_free(c, offsets.data);
    rt_free(c, d.values.data);
    rt_free(c, o.values.data);
    rt_free(c, v.values.data);
}

// Where whole rows begin and end, as a plan asks for it, in an order of theirs.
static void row_ends(gnn_context *c, const map *m, bool wide, bool desc) {
    rt_map_view v = view(c, m, wide), d = {.codomain = m->n + 1}, o = {.codomain = m->into};
    rt_ints begins, ends, offsets;
    int64_t times[MOST] = {0};
    GOOD(c, rt_build_degrees(c, &v, wide, &d.values));
    GOOD(c, desc ? rt_build_order_desc(c, &d, wide, &o.values)
                 : rt_build_order(c, &d, wide, &o.values));
    GOOD(c, rt_build_offsets(c, &v, wide, &offsets));
    GOOD(c, rt_build_parts(c, RT_PART_BEGINS, &v, &o, INT64_MAX, wide, &begins));
    GOOD(c, rt_build_parts(c, RT_PART_ENDS, &v, &o, INT64_MAX, wide, &ends));
    CHECK(begins.count == m->into && ends.count == m->into && begins.wide == wide &&
          ends.wide == wide);
    for (int64_t p = 0; p < m->into; p++) {
        const int64_t row = rt_get(&o.values, p);
        CHECK(rt_get(&begins, p) == rt_get(&offsets, row) &&
              rt_get(&ends, p) == rt_get(&offsets, row + 1));
        CHECK(rt_get(&ends, p) - rt_get(&begins, p) == size_of(m, row) && !times[row]++);
    }
    rt_free(c, begins.data);
    rt_free(c, ends.data);
    rt_free(c, offsets.data);
    rt_free(c, d.values.data);
    rt_free(c, o.values.data);
    rt_free(c, v.values.data);
}

static int64_t copies_before(const map *m, const map *s, int64_t e) {
    int64_t n = 0;
    for (int64_t f = 0; f < e; f++) n += m->at[f] == m->at[e] && s->at[f] == s->at[e];
    return n;
}

// The first entry of the slot of e, spelled out: the same window and column, and as many equal
// entries before it.
static int64_t first_of(const map *m, const map *s, int64_t extent, int64_t e) {
    int64_t f = 0;
    while (m->at[f] < 0 || m->at[f] / extent != m->at[e] / extent || s->at[f] != s->at[e] ||
           copies_before(m, s, f) != copies_before(m, s, e))
        f++;
    return f;
}

// The number of the slot of e in its window: how many, each told by its first entry, come before.
static int64_t nth_slot(const map *m, const map *s, int64_t extent, int64_t e) {
    int64_t slot = 0, first = first_of(m, s, extent, e);
    for (int64_t f = 0; f < first; f++)
        slot += m->at[f] >= 0 && s->at[f] >= 0 && m->at[f] / extent == m->at[e] / extent &&
                first_of(m, s, extent, f) == f;
    return slot;
}

static void windows(gnn_context *c, const map *m, const map *s, int64_t extent, int64_t said,
                    bool wide) {
    rt_map_view v = view(c, m, wide), w = view(c, s, wide), slots = {0};
    rt_ints begins, columns, entries, masks;
    int64_t most[MOST] = {0}, placed = 0, windows = (m->into + extent - 1) / extent,
            slot_block = rt_block(extent, said);
    GOOD(c, rt_build_window_slots(c, &v, &w, extent, slot_block, wide, &slots.values,
                                  &slots.codomain));
    GOOD(c, rt_build_window_begins(c, &v, &slots, extent, slot_block, wide, &begins));
    GOOD(c, rt_build_window_columns(c, &w, &slots, wide, &columns));
    GOOD(c, rt_build_window_entries(c, &v, &slots, extent, slot_block, wide, &entries));
    GOOD(c, rt_build_window_masks(c, &v, &slots, extent, slot_block, wide, &masks));
    CHECK(begins.count == windows + 1 && rt_get(&begins, 0) == 0 &&
          rt_get(&begins, windows) * slot_block == slots.codomain);
    CHECK(columns.count == slots.codomain && entries.count == slots.codomain * extent);
    for (int64_t e = 0; e < m->n; e++) {
        int64_t slot = rt_get(&slots.values, e);
        if (m->at[e] < 0 || s->at[e] < 0) {
            CHECK(slot == -1);
            continue;
        }
        int64_t window = m->at[e] / extent, nth = nth_slot(m, s, extent, e),
                block = slot / slot_block;
        CHECK(slot == rt_get(&begins, window) * slot_block + nth && slot < slots.codomain);
        CHECK(rt_get(&columns, slot) == s->at[e]);
        CHECK(rt_get(&entries,
                     (block * extent + m->at[e] % extent) * slot_block + slot % slot_block) == e);
        most[window] = nth >= most[window] ? nth + 1 : most[window];
        placed++;
    }
    for (int64_t i = 0; i < windows; i++) {
        int64_t blocks = (most[i] + slot_block - 1) / slot_block,
                first = rt_get(&begins, i) * slot_block;
        CHECK(rt_get(&begins, i + 1) - rt_get(&begins, i) == blocks);
        for (int64_t k = most[i]; k < blocks * slot_block; k++)
            CHECK(rt_get(&columns, first + k) == rt_get(&columns, first + most[i] - 1));
    }
    CHECK(masks.count * slot_block == entries.count);
    for (int64_t i = 0; i < entries.count; i++) {
        bool bit = rt_get(&masks, i / slot_block) >> i % slot_block & 1;
        CHECK(bit == (rt_get(&entries, i) >= 0) &&
              (slot_block == RT_MOST_SLOTS || rt_get(&masks, i / slot_block) >> slot_block == 0));
        placed -= rt_get(&entries, i) >= 0;
    }
    CHECK(placed == 0);
    CHECK(rt_density(m->n, slots.codomain, extent) ==
          (slots.codomain ? 1000 * m->n / (slots.codomain * extent) : 1000));
    rt_free(c, masks.data);
    rt_free(c, entries.data);
    rt_free(c, columns.data);
    rt_free(c, begins.data);
    rt_free(c, slots.values.data);
    rt_free(c, v.values.data);
    rt_free(c, w.values.data);
}

// Whether all entries of values before v have smaller values of s than those of v and behind it.
static bool apart(const map *m, const map *s, int64_t v) {
    for (int64_t e = 0; e < m->n; e++)
        for (int64_t f = 0; f < m->n; f++)
            if (m->at[e] >= 0 && m->at[e] < v && m->at[f] >= v && s->at[e] >= 0 && s->at[f] >= 0 &&
                s->at[e] >= s->at[f])
                return false;
    return true;
}

static void places(gnn_context *c, const map *m, const map *s, int64_t extent, bool wide) {
    rt_map_view v = view(c, m, wide), w = view(c, s, wide), at = {0};
    rt_ints starts;
    const int64_t full = (m->into + extent - 1) / extent, limit = full + full / 4;
    int64_t window = 0, start = 0;
    GOOD(c, rt_build_window_places(c, &v, &w, extent, wide, &at.values, &at.codomain));
    GOOD(c, rt_build_window_starts(c, &at, extent, wide, &starts));
    CHECK(at.codomain == limit * extent && at.values.count == m->into && starts.count == limit + 1);
    CHECK(rt_get(&starts, 0) == 0 && rt_get(&starts, limit) == m->into);
    for (int64_t k = 1; k < m->into; k++) {
        const int64_t length = k - start, rest = (m->into - k + extent - 1) / extent;
        if (length < extent &&
            !(2 * length >= extent && window + 1 + rest <= limit && apart(m, s, k)))
            continue;
        start = k;
        CHECK(rt_get(&starts, ++window) == k);
    }
    for (int64_t k = 0; k < m->into; k++) {
        const int64_t place = rt_get(&at.values, k), of = place / extent;
        CHECK(of < limit && place % extent == k - rt_get(&starts, of) &&
              k < rt_get(&starts, of + 1));
    }
    for (int64_t k = window + 1; k <= limit; k++) CHECK(rt_get(&starts, k) == m->into);
    rt_free(c, starts.data);
    rt_free(c, at.values.data);
    rt_free(c, v.values.data);
    rt_free(c, w.values.data);
}

static int64_t told(const rt_preimages *m, rt_token_kind k, int64_t value) {
    return rt_statistic(m, &(rt_token){.kind = k, .value = value});
}

// floor(1000 entries / rows), rows being the tiles' times n.
static int64_t filled(const map *m, int64_t n) {
    int64_t entries = 0, rows = 0;
    for (int64_t k = 0; k < m->into; k++) {
        entries += size_of(m, k);
        for (int64_t left = size_of(m, k); left > 0; left -= n) rows += n;
    }
    return rows ? 1000 * entries / rows : 1000;
}

static int64_t cut(const map *m, int64_t n) {
    int64_t parts = 0;
    for (int64_t k = 0; k < m->into; k++)
        for (int64_t left = size_of(m, k), all = left; all > n && left > 0; left -= n) parts++;
    return parts;
}

static void quantiles(const rt_preimages *got, const map *m) {
    for (int64_t q = 0; q <= 1000; q += 25) {
        int64_t size = told(got, RT_QUANTILE_PREIMAGE, q), within = 0, below = 0, occurs = 0;
        for (int64_t k = 0; k < m->into; k++) {
            within += size_of(m, k) <= size;
            below += size_of(m, k) < size;
            occurs += size_of(m, k) == size;
        }
        CHECK(m->into
                  ? occurs && 1000 * within >= q * m->into && (!below || 1000 * below < q * m->into)
                  : size == 0);
    }
}

static void statistics(gnn_context *c, const map *m) {
    rt_map_view v = view(c, m, true);
    rt_preimages got;
    int64_t most = 0, least = m->into ? MOST : 0, sum = 0, squares = 0;
    GOOD(c, rt_measure(c, &v, &got));
    for (int64_t k = 0; k < m->into; k++) {
        int64_t n = size_of(m, k);
        most = n > most ? n : most;
        least = n < least ? n : least;
        sum += n;
        squares += n * n;
    }
    CHECK(told(&got, RT_MAX_PREIMAGE, 0) == most && told(&got, RT_MIN_PREIMAGE, 0) == least);
    CHECK(told(&got, RT_AVG_PREIMAGE, 0) == (m->into ? sum / m->into : 0));
    const int64_t d = told(&got, RT_STD_PREIMAGE, 0), n = m->into, spread = n * squares - sum * sum;
    CHECK(d * d * n * n <= spread && (spread < (d + 1) * (d + 1) * n * n || !n));
    quantiles(&got, m);
    for (int64_t size = 0; size <= MOST; size++) {
        int64_t count = 0;
        for (int64_t k = 0; k < m->into; k++) count += size_of(m, k) >= size;
        CHECK(told(&got, RT_AT_LEAST, size) == count);
        CHECK(told(&got, RT_FILL, size + 1) == filled(m, size + 1));
        CHECK(told(&got, RT_CUT_PARTS, size + 1) == cut(m, size + 1));
    }
    rt_free(c, got.sizes);
    rt_free(c, v.values.data);
}

// Sizes of which no array is here: products beyond 64 bits, and roots on either side of a square.
static void large(void) {
    int64_t sizes[] = {0, (int64_t)1 << 40}, counts[] = {(int64_t)1 << 40, 1};
    rt_preimages m = {((int64_t)1 << 40) + 1, (int64_t)1 << 40, 2, sizes, counts};
    CHECK(told(&m, RT_STD_PREIMAGE, 0) == 1048575);   // a little below 2^20
    CHECK(told(&m, RT_FILL, INT64_MAX) == 0 && told(&m, RT_FILL, 1) == 1000);
    CHECK(told(&m, RT_QUANTILE_PREIMAGE, 999) == 0 &&
          told(&m, RT_QUANTILE_PREIMAGE, 1000) == (int64_t)1 << 40);
    // one of 2 d, one of 0: deviation d; of 2 d + 1: floor(d + 1/2)
    for (int64_t d = 0; d < 2000; d++) {
        int64_t two[] = {0, 2 * d + d % 2}, once[] = {1, 1};
        m = (rt_preimages){2, two[1], 2, two, once};
        CHECK(told(&m, RT_STD_PREIMAGE, 0) == d);
    }
}

static void symmetric(gnn_context *c, const map *a, const map *b) {
    rt_map_view v = view(c, a, false), w = view(c, b, false);
    rt_ints offsets = {0};
    int64_t got, wanted = 1;
    bool named = false;
    rt_edge odd = {-1, 0, 0};
    const bool sorted = rt_sorted(&w);
    if (sorted) GOOD(c, rt_build_offsets(c, &w, true, &offsets));
    GOOD(c, rt_symmetric(c, &v, &w, sorted ? &offsets : NULL, &got, &odd));
    for (int64_t e = 0; e < a->n; e++) {
        int64_t there = 0, back = 0;   // up to e, and in all
        for (int64_t f = 0; f < a->n && a->at[e] >= 0 && b->at[e] >= 0; f++) {
            there += f <= e && a->at[f] == a->at[e] && b->at[f] == b->at[e];
            back += a->at[f] == b->at[e] && b->at[f] == a->at[e];
        }
        named |= e == odd.at && there > back && odd.src == a->at[e] && odd.dst == b->at[e];
        wanted &= there <= back;
    }
    CHECK(got == wanted);
    CHECK(got ? odd.at < 0 : named);
    GOOD(c, rt_symmetric(c, &v, &w, NULL, &got, NULL));
    CHECK(got == wanted);
    rt_free(c, offsets.data);
    rt_free(c, v.values.data);
    rt_free(c, w.values.data);
}

// As edges of a graph stand: sorted by b, and by a where these are the same.
static void sort_edges(map *a, map *b, bool both) {
    for (int64_t i = 1; i < a->n; i++)
        for (int64_t k = i; k > 0; k--) {
            const uint64_t x = (uint64_t)b->at[k], y = (uint64_t)b->at[k - 1];
            const bool turned = (uint64_t)a->at[k] < (uint64_t)a->at[k - 1];
            if (x > y || (x == y && !(both && turned))) break;
            const int64_t s = a->at[k], d = b->at[k];
            a->at[k] = a->at[k - 1], b->at[k] = b->at[k - 1];
            a->at[k - 1] = s, b->at[k - 1] = d;
        }
}

static void symmetries(gnn_context *c, uint64_t *r) {
    map a = random_map(r, random_below(r, 7), 2), b = random_map(r, a.n, 3);
    if (random_below(r, 2))   // both ways
        for (int64_t e = 0; e + 1 < a.n; e += 2) a.at[e + 1] = b.at[e], b.at[e + 1] = a.at[e];
    a.into = b.into = 3;
    symmetric(c, &a, &b);
    for (int both = 0; both < 2; both++) {
        map x = a, y = b;
        sort_edges(&x, &y, both);
        symmetric(c, &x, &y);
        symmetric(c, &y, &x);
    }
}

static void round_of(gnn_context *c, uint64_t *r) {
    const int64_t n = random_below(r, 4) ? random_below(r, MOST) : 0, into = random_below(r, 9);
    const bool wide = random_below(r, 2);
    const map maps[3] = {random_map(r, n, into), random_map(r, n, random_below(r, 5)),
                         random_map(r, n, random_below(r, 3))};
    const map next = random_map(r, into, random_below(r, 6));
    offsets(c, maps, wide);
    order(c, maps, wide);
    compose(c, maps, &next, wide);
    column(c, maps, wide);
    classes(c, maps, 1 + (uint32_t)random_below(r, 3), wide);
    degrees(c, maps, wide);
    order_desc(c, maps, wide);
    tiles(c, maps, 1 + random_below(r, 40), wide);
    tiles(c, maps, random_below(r, 2) ? 1 : INT64_MAX, wide);
    tile_lists(c, maps, 1 + random_below(r, 9), wide);
    part_lists(c, maps, 1 + random_below(r, 9), wide, random_below(r, 2));
    for (int i = 0; i < 4; i++) row_ends(c, maps, i % 2, i / 2);
    tile_lists(c, maps, random_below(r, 2) ? 1 : INT64_MAX, wide);
    tiles_cover(c, maps, 1 + random_below(r, 20), wide);
    parts_cover(c, maps, 1 + random_below(r, 20), wide);
    windows(c, &maps[0], &maps[1], 1 + random_below(r, 9),
            random_below(r, 2) ? 0 : 1 << random_below(r, 6), wide);
    places(c, &maps[0], &maps[1], 1 + random_below(r, 5), wide);
    // each value apart from the one before
    places(c, &maps[0], &maps[0], 1 + random_below(r, 5), wide);
    statistics(c, maps);
    symmetries(c, r);
}

int main(void) {
    ledger l;
    uint64_t r = 1;
    gnn_context *c = new_context(&l, 1);
    for (int i = 0; i < 400; i++) round_of(c, &r);
    const map path = {4, 3, {0, 1, 1, 2}}, back = {4, 3, {1, 0, 2, 1}};
    symmetric(c, &path, &back);
    large();
    end_context(c, &l);
    return failed;
}
