// Numbers of maps that preconditions and guards ask for.
#include "prepare.h"

// ---- Sizes of preimages -------------------------------------------------------------------------
// How many preimages have each size from 0 to the largest.
static gnn_status count_sizes(gnn_context *c, const rt_ints *degrees, rt_ints *out) {
    int64_t most = 0;
    for (int64_t v = 0; v < degrees->count; v++) {
        int64_t n = rt_get(degrees, v);
        most = n > most ? n : most;
    }
    gnn_status s = rt_ints_new(c, most + 1, true, out);
    for (int64_t n = 0; n <= most && !s; n++) rt_set(out, n, 0);
    for (int64_t v = 0; v < degrees->count && !s; v++) {
        int64_t n = rt_get(degrees, v);
        rt_set(out, n, rt_get(out, n) + 1);
    }
    return s;
}

static gnn_status keep_rows(gnn_context *c, const rt_ints *counts, rt_preimages *out) {
    for (int64_t n = 0; n < counts->count; n++) out->rows += rt_get(counts, n) > 0;
    out->sizes = rt_alloc_array(c, out->rows, 2 * sizeof *out->sizes);
    if (!out->sizes) return GNN_NO_MEMORY;
    out->counts = out->sizes + out->rows;
    for (int64_t n = 0, i = 0; n < counts->count; n++)
        if (rt_get(counts, n)) {
            out->sizes[i] = n;
            out->counts[i++] = rt_get(counts, n);
        }
    return GNN_OK;
}

gnn_status rt_measure(gnn_context *c, const rt_map_view *m, rt_preimages *out) {
    rt_ints degrees, counts = {0};
    *out = (rt_preimages){.codomain = m->codomain};
    if (!m->codomain) return GNN_OK;
    gnn_status s = rt_build_degrees(c, m, true, &degrees);
    if (s) return s;
    for (int64_t v = 0; v < m->codomain; v++) out->entries += rt_get(&degrees, v);
    s = count_sizes(c, &degrees, &counts);
    if (!s) s = keep_rows(c, &counts, out);
    rt_free(c, counts.data);
    rt_free(c, degrees.data);
    return s;
}

// ---- Numbers of them ----------------------------------------------------------------------------
typedef unsigned __int128 wide;   // squares of sizes, times how many there are

static int64_t square_root(wide x) {   // floor; Newton's method falls to it from above
    wide root = x / 2 + 1;
    for (wide next = (root + x / root) / 2; next < root; next = root ? (root + x / root) / 2 : 0)
        root = next;
    return (int64_t)root;
}

// sqrt(sum d^2 / V - (sum d / V)^2), exactly floored.
static int64_t deviation(const rt_preimages *m) {
    wide squares = 0, n = (wide)(uint64_t)m->codomain, sum = (wide)(uint64_t)m->entries;
    for (int64_t i = 0; i < m->rows; i++)
        squares = squares + (wide)(uint64_t)m->sizes[i] * (wide)(uint64_t)m->sizes[i] *
                                (wide)(uint64_t)m->counts[i];
    return square_root((n * squares - sum * sum) / (n * n));
}

// Nearest rank: the smallest size that at least q thousandths of the preimages do not exceed.
static int64_t quantile(const rt_preimages *m, int64_t q) {
    int64_t i = 0;
    for (wide within = 0; i + 1 < m->rows; i++) {
        within = within + (wide)(uint64_t)m->counts[i];
        if (within * 1000u >= (wide)(uint64_t)q * (wide)(uint64_t)m->codomain) break;
    }
    return m->sizes[i];
}

int64_t rt_count_cut(const rt_preimages *m, int64_t extent) {
    int64_t n = 0;
    for (int64_t i = 0; i < m->rows; i++) n += m->sizes[i] > extent ? m->counts[i] : 0;
    return n;
}

static int64_t at_least(const rt_preimages *m, int64_t size) {
    int64_t n = 0;
    for (int64_t i = 0; i < m->rows; i++) n += m->sizes[i] >= size ? m->counts[i] : 0;
    return n;
}

// Parts of n entries, the last of fewer, that preimages with more than n are cut into.
int64_t rt_count_parts(const rt_preimages *m, int64_t n) {
    int64_t parts = 0;
    for (int64_t i = 0; i < m->rows; i++)
        if (m->sizes[i] > n) parts += m->counts[i] * (m->sizes[i] / n + (m->sizes[i] % n != 0));
    return parts;
}

// Entries in a thousand rows of tiles of n rows, a preimage beginning a tile of its own.
static int64_t fill(const rt_preimages *m, int64_t n) {
    wide tiles = 0;
    for (int64_t i = 0; i < m->rows; i++)
        tiles = tiles +
                (wide)(uint64_t)m->counts[i] * (wide)(m->sizes[i] / n + (m->sizes[i] % n != 0));
    return m->entries ? (int64_t)((wide)(uint64_t)m->entries * 1000u / (tiles * (uint64_t)n))
                      : 1000;
}

int64_t rt_statistic(const rt_preimages *m, const rt_token *t) {
    if (t->kind == RT_FILL) return fill(m, t->value);
    if (!m->codomain) return 0;
    switch ((int)t->kind) {
    case RT_MAX_PREIMAGE: return m->sizes[m->rows - 1];
    case RT_MIN_PREIMAGE: return m->sizes[0];
    case RT_AVG_PREIMAGE: return m->entries / m->codomain;
    case RT_STD_PREIMAGE: return deviation(m);
    case RT_QUANTILE_PREIMAGE: return quantile(m, t->value);
    case RT_AT_LEAST: return at_least(m, t->value);
    case RT_CUT_PARTS: return rt_count_parts(m, t->value);
    }
    return 0;
}

// ---- Order --------------------------------------------------------------------------------------
// none counts as the largest value, which nothing may stand behind
int64_t rt_sorted(const rt_map_view *m) {
    bool sorted = !m->values.count || rt_get(&m->values, m->values.count - 1) >= 0;
    for (int64_t e = 1; e < m->values.count && sorted; e++)
        sorted = (uint64_t)rt_get(&m->values, e) >= (uint64_t)rt_get(&m->values, e - 1);
    return sorted;
}

// ---- Symmetry -----------------------------------------------------------------------------------
// Pairs (row, column) in the order of both: as they stand, or by positions.
typedef struct {
    const rt_map_view *row, *column;
    rt_ints offsets, order;   // of row; order.data NULL: as they stand
} pairs;

static int64_t entry_of(const pairs *p, int64_t i) {
    return p->order.data ? rt_get(&p->order, i) : i;
}
static int64_t column_of(const pairs *p, int64_t i) {
    return rt_get(&p->column->values, entry_of(p, i));
}

// none is the largest, as in orders
static bool stand_sorted(const rt_map_view *row, const rt_map_view *column) {
    for (int64_t e = 1; e < row->values.count; e++) {
        const uint64_t r = (uint64_t)rt_get(&row->values, e),
                       before = (uint64_t)rt_get(&row->values, e - 1);
        if (r < before || (r == before && (uint64_t)rt_get(&column->values, e) <
                                              (uint64_t)rt_get(&column->values, e - 1)))
            return false;
    }
    return true;
}

// Where `column` stands in a row, or would.
static int64_t find_in_row(const pairs *p, int64_t row, int64_t column) {
    int64_t low = rt_get(&p->offsets, row), high = rt_get(&p->offsets, row + 1);
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if ((uint64_t)column_of(p, middle) < (uint64_t)column) low = middle + 1;
        else high = middle;
    }
    return low;
}

// Whether the pair at i, which is the nth of its like, has an nth that is turned round.
static bool has_mirror(const pairs *p, int64_t i) {
    const int64_t row = rt_get(&p->row->values, entry_of(p, i)), column = column_of(p, i);
    if (row < 0 || column < 0) return true;
    if (column >= p->row->codomain) return false;
    const int64_t nth = i - find_in_row(p, row, column), mirror = find_in_row(p, column, row) + nth;
    return mirror < rt_get(&p->offsets, column + 1) && column_of(p, mirror) == row;
}

// Rows are those of dst where these stand sorted, else of src: where dst alone is sorted, one sort
// does.
static gnn_status make_pairs(gnn_context *c, const rt_map_view *src, const rt_map_view *dst,
                             const rt_ints *offsets, pairs *p) {
    gnn_status s = GNN_OK;
    *p = (pairs){.row = dst, .column = src};
    if (!stand_sorted(dst, src)) {
        *p = (pairs){.row = src, .column = dst};
        offsets = NULL;
        if (!stand_sorted(src, dst))
            s = rt_build_order_by(c, (rt_map_view[]){*src, *dst}, rt_sorted(dst) ? 1 : 2, true,
                                  &p->order);
    }
    if (s) return s;
    if (offsets) p->offsets = *offsets;
    return offsets ? GNN_OK : rt_build_offsets(c, p->row, true, &p->offsets);
}

gnn_status rt_symmetric(gnn_context *c, const rt_map_view *src, const rt_map_view *dst,
                        const rt_ints *offsets, int64_t *out, rt_edge *odd) {
    pairs p;
    int64_t at = 0;
    *out = 0;
    if (src->values.count != dst->values.count) return GNN_OK;
    gnn_status s = make_pairs(c, src, dst, offsets, &p);
    while (!s && at < src->values.count && has_mirror(&p, at)) at++;
    *out = !s && at == src->values.count;
    if (!s && !*out && odd) {
        const int64_t e = entry_of(&p, at);
        *odd = (rt_edge){e, rt_get(&src->values, e), rt_get(&dst->values, e)};
    }
    rt_free(c, p.order.data);
    if (!offsets || p.offsets.data != offsets->data) rt_free(c, p.offsets.data);
    return s;
}
