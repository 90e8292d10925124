// A graph from the arrays of a .npz: rowptr and col, and what else it has of types, batches,
// labels, weights and splits. Each array is checked against the sizes the first two give.
#include "files.h"

#include <string.h>

// ---- Checks -------------------------------------------------------------------------------------
gnn_status rt_check_file_offsets(gnn_context *c, const char *file, const char *array,
                                 const gnn_array *offsets, int64_t n, int64_t total,
                                 const char *of) {
    const int64_t *o = offsets->data;
    if (offsets->shape[0] != n + 1)
        return rt_fail(c, GNN_BAD_FILE, "%s: %s has %lld entries, must have %lld", file, array,
                       (long long)offsets->shape[0], (long long)n + 1);
    if (o[0] != 0)
        return rt_fail(c, GNN_BAD_FILE, "%s: %s[0] = %lld, must be 0", file, array,
                       (long long)o[0]);
    for (int64_t i = 1; i <= n; i++)
        if (o[i] < o[i - 1])
            return rt_fail(c, GNN_BAD_FILE, "%s: %s[%lld] = %lld after %lld", file, array,
                           (long long)i, (long long)o[i], (long long)o[i - 1]);
    if (o[n] != total)
        return rt_fail(c, GNN_BAD_FILE, "%s: %s[%lld] = %lld, but there are %lld %s", file, array,
                       (long long)n, (long long)o[n], (long long)total, of);
    return GNN_OK;
}

gnn_status rt_check_file_indices(gnn_context *c, const char *file, const char *array,
                                 const gnn_array *indices, int64_t below, const char *space) {
    const int64_t *index = indices->data;
    for (int64_t i = 0; i < indices->shape[0]; i++)
        if (index[i] < 0 || index[i] >= below)
            return rt_fail(c, GNN_BAD_FILE, "%s: %s[%lld] = %lld is outside %s (%lld)", file, array,
                           (long long)i, (long long)index[i], space, (long long)below);
    return GNN_OK;
}

enum { ANY_LENGTH = -1 };

static gnn_status check_length(const rt_archive *a, const char *member, const gnn_array *array,
                               int64_t length) {
    if (array->rank == 0)
        return rt_fail(a->c, GNN_BAD_FILE, "%s: %s is a scalar, must have an axis", a->name,
                       member);
    if (length != ANY_LENGTH && array->shape[0] != length)
        return rt_fail(a->c, GNN_BAD_FILE, "%s: %s has %lld entries, must have %lld", a->name,
                       member, (long long)array->shape[0], (long long)length);
    return GNN_OK;
}

// Integers along one axis; absent, data is NULL.
static gnn_status read_integers(rt_archive *a, const char *member, bool required, int64_t length,
                                gnn_array *out) {
    gnn_status s = rt_archive_read(a, member, required, RT_AS_INDEX, out);
    if (s || !out->data) return s;
    s = check_length(a, member, out, length);
    if (!s && out->rank != 1)
        s = rt_fail(a->c, GNN_BAD_FILE, "%s: %s has %u axes, must have 1", a->name, member,
                    out->rank);
    if (s) gnn_array_free(a->c, out);
    return s;
}

static int64_t *take(gnn_array *a) {
    int64_t *data = a->data;
    *a = (gnn_array){0};
    return data;
}

// ---- Rows ---------------------------------------------------------------------------------------
static gnn_status read_sources(rt_archive *a, gnn_graph *g) {
    gnn_array sources;
    g->sources = g->nodes;
    gnn_status s = rt_archive_read(a, "num_src", false, RT_AS_INDEX, &sources);
    if (s || !sources.data) return s;
    int64_t count = gnn_array_count(&sources), value = count == 1 ? *(int64_t *)sources.data : -1;
    gnn_array_free(a->c, &sources);
    g->sources = value;
    return value >= 0 ? GNN_OK
                      : rt_fail(a->c, GNN_BAD_FILE, "%s: num_src must be one number, not negative",
                                a->name);
}

static gnn_status read_rows(rt_archive *a, gnn_graph *g) {
    gnn_array rowptr, col = {0};
    gnn_status s = read_integers(a, "rowptr", true, ANY_LENGTH, &rowptr);
    if (!s && rowptr.shape[0] == 0)
        s = rt_fail(a->c, GNN_BAD_FILE, "%s: rowptr is empty, must begin with 0", a->name);
    if (!s) s = read_integers(a, "col", true, ANY_LENGTH, &col);
    g->nodes = s ? 0 : rowptr.shape[0] - 1;
    g->edges = s ? 0 : col.shape[0];
    if (!s)
        s = rt_check_file_offsets(a->c, a->name, "rowptr", &rowptr, g->nodes, g->edges,
                                  "entries in col");
    if (!s) s = read_sources(a, g);
    if (!s) s = rt_check_file_indices(a->c, a->name, "col", &col, g->sources, "U");
    g->rowptr = take(&rowptr);
    g->col = take(&col);
    return s;
}

// ---- Types --------------------------------------------------------------------------------------
static gnn_status read_types(rt_archive *a, const char *member, int64_t length, int64_t **out,
                             int64_t *types) {
    gnn_array array;
    gnn_status s = read_integers(a, member, false, length, &array);
    if (s || !array.data) return s;
    const int64_t *value = *out = take(&array);
    for (int64_t i = 0; i < length; i++) {
        if (value[i] < 0 || value[i] == INT64_MAX)
            return rt_fail(a->c, GNN_BAD_FILE, "%s: %s[%lld] = %lld is not a type", a->name, member,
                           (long long)i, (long long)value[i]);
        *types = value[i] >= *types ? value[i] + 1 : *types;
    }
    return GNN_OK;
}

// ---- Batches ------------------------------------------------------------------------------------
static gnn_status expand_batch(gnn_context *c, gnn_graph *g) {
    g->batch = rt_alloc_array(c, g->nodes, sizeof *g->batch);
    if (!g->batch) return GNN_NO_MEMORY;
    for (int64_t b = 0; b < g->graphs; b++)
        for (int64_t v = g->graph_ptr[b]; v < g->graph_ptr[b + 1]; v++) g->batch[v] = b;
    return GNN_OK;
}

static gnn_status check_batch(rt_archive *a, const gnn_graph *g, const int64_t *batch) {
    int64_t limit = g->nodes + rt_node_limit(&a->file, RT_IDS_SHARE);
    for (int64_t v = 0, before = 0; v < g->nodes; before = batch[v++])
        if (batch[v] < before)
            return rt_fail(a->c, GNN_BAD_FILE, "%s: batch[%lld] = %lld after %lld", a->name,
                           (long long)v, (long long)batch[v], (long long)before);
    if (g->nodes && batch[g->nodes - 1] >= limit)
        return rt_fail(a->c, GNN_TOO_LARGE,
                       "%s: batch[%lld] = %lld, more than %lld graphs of %lld nodes", a->name,
                       (long long)g->nodes - 1, (long long)batch[g->nodes - 1], (long long)limit,
                       (long long)g->nodes);
    return GNN_OK;
}

static gnn_status offsets_of_batch(gnn_context *c, gnn_graph *g) {
    g->graphs = g->nodes ? g->batch[g->nodes - 1] + 1 : 0;
    gnn_array offsets;
    gnn_status s = gnn_array_new(c, GNN_I64, 1, &(int64_t){g->graphs + 1}, &offsets);
    if (s) return s;
    g->graph_ptr = offsets.data;
    for (int64_t v = 0; v < g->nodes; v++) g->graph_ptr[g->batch[v] + 1]++;
    for (int64_t b = 0; b < g->graphs; b++) g->graph_ptr[b + 1] += g->graph_ptr[b];
    return GNN_OK;
}

static gnn_status read_graph_offsets(rt_archive *a, gnn_graph *g) {
    gnn_array offsets;
    gnn_status s = read_integers(a, "graph_ptr", false, ANY_LENGTH, &offsets);
    if (s || !offsets.data) return s;
    if (offsets.shape[0] == 0)
        s = rt_fail(a->c, GNN_BAD_FILE, "%s: graph_ptr is empty, must begin with 0", a->name);
    else
        s = rt_check_file_offsets(a->c, a->name, "graph_ptr", &offsets, offsets.shape[0] - 1,
                                  g->nodes, "nodes");
    g->graphs = offsets.shape[0] - 1;
    g->graph_ptr = take(&offsets);
    return s ? s : expand_batch(a->c, g);
}

static gnn_status read_batch(rt_archive *a, gnn_graph *g) {
    gnn_array batch;
    gnn_status s = read_graph_offsets(a, g);
    if (!s) s = read_integers(a, "batch", false, g->nodes, &batch);
    if (s || !batch.data) return s;
    s = check_batch(a, g, batch.data);
    for (int64_t v = 0; v < g->nodes && !s && g->batch; v++) {
        int64_t b = ((int64_t *)batch.data)[v];
        if (b != g->batch[v])
            s = rt_fail(a->c, GNN_BAD_FILE,
                        "%s: batch[%lld] = %lld, but graph_ptr puts it into graph %lld", a->name,
                        (long long)v, (long long)b, (long long)g->batch[v]);
    }
    if (s || g->batch) {
        gnn_array_free(a->c, &batch);
        return s;
    }
    g->batch = take(&batch);
    return offsets_of_batch(a->c, g);
}

// ---- The rest -----------------------------------------------------------------------------------
static gnn_status read_along(rt_archive *a, const char *member, int64_t length, gnn_array *out) {
    gnn_status s = rt_archive_read(a, member, false, RT_AS_STORED, out);
    return s || !out->data ? s : check_length(a, member, out, length);
}

static gnn_status read_split(rt_archive *a, const char *member, const gnn_graph *g,
                             gnn_array *out) {
    gnn_status s = read_integers(a, member, false, ANY_LENGTH, out);
    return s || !out->data ? s : rt_check_file_indices(a->c, a->name, member, out, g->nodes, "V");
}

static gnn_status read_graph(rt_archive *a, gnn_graph *g) {
    gnn_status s = read_rows(a, g);
    if (!s) s = read_types(a, "etype", g->edges, &g->etype, &g->types);
    if (!s) s = read_types(a, "ntype", g->nodes, &g->ntype, &g->node_types);
    if (!s) s = read_batch(a, g);
    if (!s) s = read_along(a, "y", g->nodes, &g->y);
    if (!s) s = read_along(a, "weight", g->edges, &g->weight);
    if (!s) s = read_split(a, "train_idx", g, &g->train_idx);
    if (!s) s = read_split(a, "val_idx", g, &g->val_idx);
    if (!s) s = read_split(a, "test_idx", g, &g->test_idx);
    return s ? s : rt_read_graph_features(a, g);
}

static gnn_status read_archive(rt_archive *a, gnn_status opened, gnn_graph *g) {
    gnn_status s = opened ? opened : read_graph(a, g);
    rt_archive_close(a);
    return s;
}

enum { ARCHIVE_FACTOR = 32 };   // bytes of arrays a byte of their archive

gnn_status rt_read_npz(rt_source *s, gnn_graph *g) {
    rt_archive a;
    uint64_t budget = s->size * ARCHIVE_FACTOR + rt_graph_memory(s);
    gnn_status opened = s->path ? rt_archive_open(s->c, s->path, &a)
                                : rt_archive_memory(s->c, s->name, s->bytes, (size_t)s->size, &a);
    a.budget = &budget;
    return read_archive(&a, opened, g);
}
