// Making rows from edges: sorting agrees with the C library's, a second round that differs from the
// first is refused and harms nothing, and lines, comments and rows of any length are read across
// the buffer's ends.
#include "files_support.h"

static uint64_t state = 88172645463325252u;

static int64_t draw(int64_t n) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int64_t)(state >> 11) % n;
}

// ---- Sorting ------------------------------------------------------------------------------------
typedef struct {
    int64_t col;
    double weight;
} pair;

static int compare(const void *a, const void *b) {
    const pair *x = a, *y = b;
    if (x->col != y->col) return x->col < y->col ? -1 : 1;
    return x->weight < y->weight ? -1 : x->weight > y->weight;
}

static int64_t value(int pattern, int64_t i, int64_t n) {
    const int64_t patterns[] = {draw(1000000), draw(3), i, n - i, i % 7, i < n / 2 ? i : n - i, 5};
    return patterns[pattern];
}
enum { PATTERNS = 7, LONGEST = 3000 };

static void sort_one(int pattern, int64_t n, bool weighted, int depth) {
    static int64_t col[LONGEST];
    static double weight[LONGEST];
    static pair expected[LONGEST];
    for (int64_t i = 0; i < n; i++) {
        col[i] = value(pattern, i, n);
        weight[i] = weighted ? (double)draw(4) - 2 : 0;
        expected[i] = (pair){col[i], weight[i]};
    }
    qsort(expected, (size_t)n, sizeof *expected, compare);
    if (depth < 0) rt_sort_row(col, weighted ? weight : NULL, n);
    else rt_sort_row_to_depth(col, weighted ? weight : NULL, n, depth);
    for (int64_t i = 0; i < n; i++)
        if (col[i] != expected[i].col || weight[i] != expected[i].weight) {
            CHECK(false, "pattern %d of %lld, depth %d: differs at %lld", pattern, (long long)n,
                  depth, (long long)i);
            return;
        }
}

static void sorting(void) {
    static const int64_t lengths[] = {0, 1, 2, 3, 24, 25, 26, 64, 1000, LONGEST};
    for (size_t l = 0; l < RT_COUNT(lengths); l++)
        for (int pattern = 0; pattern < PATTERNS; pattern++)
            for (int depth = -1; depth < 4; depth++)
                for (int weighted = 0; weighted < 2; weighted++)
                    sort_one(pattern, lengths[l], weighted, depth);
}

// ---- Two rounds that differ ---------------------------------------------------------------------
static void expect_changed(gnn_context *c, const char *what, const int64_t *first,
                           const int64_t *second, int n, int m) {
    rt_rows r;
    gnn_graph g = {0};
    CHECK(!rt_rows_new(c, "f.txt", 3, &r), "%s", gnn_context_error(c));
    for (int i = 0; i < n; i++) rt_rows_put(&r, first[i], 0, 0);
    CHECK(!rt_rows_place_all(&r, false), "%s", gnn_context_error(c));
    for (int i = 0; i < m; i++) rt_rows_put(&r, second[i], 0, 0);
    CHECK(rt_rows_finish(&r, &g) == GNN_IO && !g.rowptr, "%s: not refused", what);
    CHECK(!strcmp(gnn_context_error(c), "f.txt: the file changed while it was read"), "%s",
          gnn_context_error(c));
    gnn_context_clear_error(c);
}

static void changing_files(gnn_context *c) {
    static const int64_t a[] = {0, 1, 1, 2}, swapped[] = {0, 1, 2, 2}, order[] = {1, 0, 1, 2},
                         far[] = {0, 1, 1, 9};
    static const int64_t more[] = {0, 1, 1, 2, 2, 2, 2, 2, 2};
    expect_changed(c, "other rows", a, swapped, 4, 4);
    expect_changed(c, "another order", a, order, 4, 4);
    expect_changed(c, "a row beyond", a, far, 4, 4);
    expect_changed(c, "fewer edges", a, a, 4, 3);
    expect_changed(c, "more edges", a, more, 4, 9);
}

// ---- Long text ----------------------------------------------------------------------------------
static test_file as_text(const gnn_graph *g, size_t comment) {
    enum { LONGEST_LINE = 48 };
    test_file f = {malloc(comment + 1 + (size_t)g->edges * LONGEST_LINE), comment + 1};
    if (!f.bytes) abort();
    memset(f.bytes, '#', comment);
    f.bytes[comment] = '\n';
    for (int64_t v = g->nodes - 1; v >= 0; v--)
        for (int64_t e = g->rowptr[v]; e < g->rowptr[v + 1]; e++)
            f.size += (size_t)snprintf((char *)f.bytes + f.size, LONGEST_LINE, "%lld %lld\r\n",
                                       (long long)g->col[e], (long long)v);
    return f;
}

static void across_buffers(gnn_context *c, size_t comment) {
    gnn_graph g, again;
    CHECK(!gnn_graph_generate(c, "rmat:12:24", &g), "%s", gnn_context_error(c));
    test_file f = as_text(&g, comment);
    CHECK(f.size > 2 * RT_LINE_BUFFER, "the text has only %zu bytes", f.size);
    CHECK(!rt_graph_from_memory(c, "e.txt", f.bytes, f.size, &again), "%s", gnn_context_error(c));
    CHECK(again.edges == g.edges && again.nodes <= g.nodes, "%lld edges", (long long)again.edges);
    CHECK(again.col && !memcmp(again.col, g.col, (size_t)g.edges * sizeof *g.col), "col differs");
    CHECK(again.rowptr && !memcmp(again.rowptr, g.rowptr, (size_t)again.nodes * sizeof *g.rowptr),
          "rowptr differs");
    gnn_graph_free(c, &g);
    gnn_graph_free(c, &again);
    free(f.bytes);
}

static void only_a_comment(gnn_context *c) {
    gnn_graph g;
    test_file f = test_bytes("", 0);
    f.bytes = realloc(f.bytes, RT_LINE_BUFFER * 2);
    f.size = RT_LINE_BUFFER * 2;
    memset(f.bytes, '%', f.size);
    CHECK(!rt_graph_from_memory(c, "e.txt", f.bytes, f.size, &g) && g.nodes == 0, "%s",
          gnn_context_error(c));
    gnn_graph_free(c, &g);
    free(f.bytes);
}

// ---- Arrays -------------------------------------------------------------------------------------
static void arguments(gnn_context *c) {
    gnn_array a;
    gnn_graph g = {0};
    gnn_graph_statistics m;
    CHECK(gnn_array_new(c, GNN_F32, 1, (int64_t[]){-1}, &a) == GNN_BAD_ARGUMENT, "a negative size");
    CHECK(gnn_array_new(c, GNN_F32, 2, (int64_t[]){INT64_MAX, 8}, &a) == GNN_TOO_LARGE,
          "too large a size");
    CHECK(gnn_array_new(c, GNN_F32, GNN_MAX_RANK + 1, (int64_t[]){1}, &a) == GNN_BAD_ARGUMENT,
          "too many axes");
    CHECK(gnn_graph_expand(c, &g) == GNN_BAD_ARGUMENT &&
              gnn_graph_measure(c, &g, &m) == GNN_BAD_ARGUMENT,
          "no graph");
    CHECK(gnn_graph_read(c, NULL, &g) == GNN_BAD_ARGUMENT &&
              gnn_graph_generate(c, NULL, &g) == GNN_BAD_ARGUMENT &&
              gnn_array_read_npy(c, NULL, &a) == GNN_BAD_ARGUMENT &&
              gnn_array_write_npy(c, NULL, &a) == GNN_BAD_ARGUMENT &&
              gnn_array_read_npz(c, "x", NULL, &a) == GNN_BAD_ARGUMENT,
          "no path");
    gnn_context_clear_error(c);
    CHECK(!gnn_array_new(c, GNN_F32, 2, (int64_t[]){3, 4}, &a), "%s", gnn_context_error(c));
    gnn_tensor t = gnn_array_tensor(&a);
    CHECK(t.data == a.data && t.rank == 2 && t.shape[1] == 4 && !t.has_strides,
          "a tensor of an array");
    gnn_array_free(c, &a);
    gnn_array_free(NULL, &a);
    gnn_graph_free(NULL, &g);
}

// ---- Ids numbered anew --------------------------------------------------------------------------
// Every third id of 300: listed where they lie apart, else bits.
static void ids(gnn_context *c, int64_t apart, bool listed) {
    rt_ids ids = {0};
    CHECK(!rt_ids_reserve(c, &ids, 400, 297 * apart + 1), "%s", gnn_context_error(c));
    CHECK(listed == !ids.before, "ids %lld apart are %slisted", (long long)apart,
          ids.before ? "not " : "");
    for (int64_t i = 400; i-- > 0;) rt_ids_add(&ids, i % 100 * 3 * apart);
    rt_ids_add(&ids, 298 * apart);   // more than there should be
    rt_ids_finish(&ids);
    CHECK(ids.n == 100, "%lld ids", (long long)ids.n);
    for (int64_t id = 0; id <= 300; id++)
        CHECK(rt_ids_find(&ids, id * apart) == (id % 3 || id == 300 ? 100 : id / 3), "id %lld",
              (long long)id);
    rt_free(c, ids.id);
}

int main(void) {
    gnn_context *c = test_context(NULL);
    sorting();
    changing_files(c);
    ids(c, 1, false);
    ids(c, 1000, true);
    across_buffers(c, 10);
    across_buffers(c, RT_LINE_BUFFER * 3 + 5);
    only_a_comment(c);
    arguments(c);
    gnn_context_free(c);
    return test_failures != 0;
}
