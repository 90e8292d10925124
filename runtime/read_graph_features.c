// Features of a graph's nodes: "x" as it is, or its sparse rows x_indptr, x_indices, x_data with
// x_dim columns, made dense.
#include "files.h"

typedef struct {
    gnn_array indptr, indices, data, dim;
} sparse_rows;

// A small file must not ask for a vast array: beyond 64 MiB at least one in 128 entries must be
// there.
enum { SPARSE_FLOOR = 64 << 20, SPARSE_FACTOR = 128 };

static gnn_status check_rank(const rt_archive *a, const char *name, const gnn_array *array) {
    return array->rank == 1 ? GNN_OK
                            : rt_fail(a->c, GNN_BAD_FILE, "%s: %s has %u axes, must have 1",
                                      a->name, name, array->rank);
}

static gnn_status check_columns(const rt_archive *a, const sparse_rows *x) {
    const int64_t *indptr = x->indptr.data, *column = x->indices.data;
    for (int64_t v = 0; v + 1 < x->indptr.shape[0]; v++)
        for (int64_t i = indptr[v] + 1; i < indptr[v + 1]; i++)
            if (column[i] <= column[i - 1])
                return rt_fail(a->c, GNN_BAD_FILE,
                               "%s: x_indices[%lld] = %lld after %lld in row %lld", a->name,
                               (long long)i, (long long)column[i], (long long)column[i - 1],
                               (long long)v);
    return GNN_OK;
}

static gnn_status check_rows(const rt_archive *a, const gnn_graph *g, const sparse_rows *x,
                             int64_t *columns) {
    const gnn_array *arrays[] = {&x->indptr, &x->indices, &x->data};
    static const char *const names[] = {"x_indptr", "x_indices", "x_data"};
    gnn_status s = GNN_OK;
    for (int i = 0; i < 3 && !s; i++) s = check_rank(a, names[i], arrays[i]);
    if (s) return s;
    *columns = gnn_array_count(&x->dim) == 1 ? *(const int64_t *)x->dim.data : -1;
    if (*columns < 0)
        return rt_fail(a->c, GNN_BAD_FILE, "%s: x_dim must be one number, not negative", a->name);
    if (x->data.dtype != GNN_F32)
        return rt_fail(a->c, GNN_BAD_FILE, "%s: x_data must be of type f4", a->name);
    if (x->data.shape[0] != x->indices.shape[0])
        return rt_fail(a->c, GNN_BAD_FILE, "%s: x_data has %lld entries, but x_indices has %lld",
                       a->name, (long long)x->data.shape[0], (long long)x->indices.shape[0]);
    s = rt_check_file_offsets(a->c, a->name, "x_indptr", &x->indptr, g->nodes, x->indices.shape[0],
                              "entries in x_indices");
    if (!s) s = rt_check_file_indices(a->c, a->name, "x_indices", &x->indices, *columns, "x_dim");
    return s ? s : check_columns(a, x);
}

static gnn_status make_dense(const rt_archive *a, gnn_graph *g, const sparse_rows *x,
                             int64_t columns) {
    int64_t bytes, entries = x->indices.shape[0];
    if (!rt_mul(g->nodes * 4, columns, &bytes) ||
        bytes / 4 > SPARSE_FLOOR / 4 + entries * SPARSE_FACTOR)
        return rt_fail(a->c, GNN_TOO_LARGE,
                       "%s: x would be %lld x %lld, too large for its %lld entries", a->name,
                       (long long)g->nodes, (long long)columns, (long long)entries);
    gnn_status s = gnn_array_new(a->c, GNN_F32, 2, (int64_t[]){g->nodes, columns}, &g->x);
    if (s) return s;
    const int64_t *indptr = x->indptr.data, *column = x->indices.data;
    const float *value = x->data.data;
    float *to = g->x.data;
    for (int64_t v = 0; v < g->nodes; v++, to += columns)
        for (int64_t i = indptr[v]; i < indptr[v + 1]; i++) to[column[i]] = value[i];
    return GNN_OK;
}

static gnn_status read_sparse(rt_archive *a, gnn_graph *g, sparse_rows *x) {
    gnn_status s = rt_archive_read(a, "x_indptr", false, RT_AS_INDEX, &x->indptr);
    if (s || !x->indptr.data) return s;
    if (g->x.data) return rt_fail(a->c, GNN_BAD_FILE, "%s: has both x and x_indptr", a->name);
    int64_t columns = 0;
    s = rt_archive_read(a, "x_indices", true, RT_AS_INDEX, &x->indices);
    if (!s) s = rt_archive_read(a, "x_data", true, RT_AS_STORED, &x->data);
    if (!s) s = rt_archive_read(a, "x_dim", true, RT_AS_INDEX, &x->dim);
    if (!s) s = check_rows(a, g, x, &columns);
    return s ? s : make_dense(a, g, x, columns);
}

gnn_status rt_read_graph_features(rt_archive *a, gnn_graph *g) {
    gnn_status s = rt_archive_read(a, "x", false, RT_AS_STORED, &g->x);
    if (!s && g->x.data && (g->x.rank == 0 || g->x.shape[0] != g->nodes))
        s = rt_fail(a->c, GNN_BAD_FILE, "%s: x must have %lld rows, one a node", a->name,
                    (long long)g->nodes);
    sparse_rows x = {0};
    if (!s) s = read_sparse(a, g, &x);
    gnn_array_free(a->c, &x.indptr);
    gnn_array_free(a->c, &x.indices);
    gnn_array_free(a->c, &x.data);
    gnn_array_free(a->c, &x.dim);
    return s;
}
