// Arrays and graphs on the host: made, freed, expanded, measured.
#include "graph_blocks.h"

#include <math.h>
#include <string.h>

// ---- Arrays -------------------------------------------------------------------------------------
gnn_status gnn_array_new(gnn_context *c, gnn_dtype t, uint32_t rank, const int64_t *shape,
                         gnn_array *out) {
    if (!rt_begin(c, __func__, out)) return GNN_BAD_ARGUMENT;
    if (rank > GNN_MAX_RANK || (rank && !shape) || (unsigned)t >= GNN_DTYPE_COUNT)
        return rt_fail(c, GNN_BAD_ARGUMENT, "an array needs a type and a shape");
    *out = (gnn_array){.dtype = t, .rank = rank};
    int64_t bytes = (int64_t)gnn_dtype_bytes(t);
    bool empty = false;
    for (uint32_t i = 0; i < rank; i++) {
        out->shape[i] = shape[i];
        empty |= shape[i] == 0;
        if (shape[i] < 0)
            return rt_fail(c, GNN_BAD_ARGUMENT, "axis %u of an array has the size %lld", i,
                           (long long)shape[i]);
    }
    for (uint32_t i = 0; i < rank && !empty; i++)
        if (!rt_mul(bytes, shape[i], &bytes))
            return rt_fail(c, GNN_TOO_LARGE, "an array is too large at axis %u of %lld", i,
                           (long long)shape[i]);
    out->data = rt_alloc_zeroed(c, empty ? 0 : (size_t)bytes);
    return out->data ? GNN_OK : GNN_NO_MEMORY;
}

void gnn_array_free(gnn_context *c, gnn_array *a) {
    if (!c || !a) return;
    rt_free(c, a->data);
    *a = (gnn_array){0};
}

int64_t gnn_array_count(const gnn_array *a) {
    int64_t n = 1;
    for (uint32_t i = 0; i < a->rank; i++)
        if (a->shape[i] == 0) return 0;
    for (uint32_t i = 0; i < a->rank; i++) n *= a->shape[i];
    return n;
}

gnn_tensor gnn_array_tensor(const gnn_array *a) {
    gnn_tensor t = {.data = a->data, .dtype = a->dtype, .rank = a->rank};
    memcpy(t.shape, a->shape, sizeof t.shape);
    return t;
}

// ---- Graphs -------------------------------------------------------------------------------------
void gnn_graph_watch(gnn_context *c, void (*progress)(void *user, double part), void *user) {
    if (!c) return;
    c->watch.tell = progress;
    c->watch.user = user;
}

void rt_tell_part(const gnn_context *c, rt_pass pass, double part) {
    static const double passes = 0.85;
    if (c->watch.tell)
        c->watch.tell(c->watch.user, passes * ((double)pass.number + part) / (double)pass.of);
}

static void expand_rows(void *user, int64_t first, int64_t last) {
    const gnn_graph *g = user;
    for (int64_t v = first; v < last; v++)
        for (int64_t e = g->rowptr[v]; e < g->rowptr[v + 1]; e++) g->dst[e] = v;
}

gnn_status gnn_graph_expand(gnn_context *c, gnn_graph *g) {
    if (!rt_begin(c, __func__, g && g->rowptr)) return GNN_BAD_ARGUMENT;
    if (g->dst) return GNN_OK;
    g->dst = rt_alloc_array(c, g->edges, sizeof *g->dst);
    if (!g->dst) return GNN_NO_MEMORY;
    return rt_each_rows(
        c,
        &(rt_row_pieces){.offsets = g->rowptr, .nodes = g->nodes, .body = expand_rows, .user = g});
}

void gnn_graph_free(gnn_context *c, gnn_graph *g) {
    if (!c || !g) return;
    int64_t *indices[] = {g->rowptr, g->col, g->dst, g->etype, g->ntype, g->graph_ptr, g->batch};
    for (size_t i = 0; i < RT_COUNT(indices); i++) rt_free(c, indices[i]);
    gnn_array *arrays[] = {&g->y, &g->x, &g->weight, &g->train_idx, &g->val_idx, &g->test_idx};
    for (size_t i = 0; i < RT_COUNT(arrays); i++) gnn_array_free(c, arrays[i]);
    *g = (gnn_graph){0};
}

static int64_t degree(const gnn_graph *g, int64_t v) { return g->rowptr[v + 1] - g->rowptr[v]; }

static void measure_rows(const gnn_graph *g, gnn_graph_statistics *s) {
    double squares = 0;
    s->min_degree = g->nodes ? INT64_MAX : 0;
    s->mean_degree = g->nodes ? (double)g->edges / (double)g->nodes : 0;
    for (int64_t v = 0; v < g->nodes; v++) {
        int64_t d = degree(g, v);
        s->max_degree = d > s->max_degree ? d : s->max_degree;
        s->min_degree = d < s->min_degree ? d : s->min_degree;
        s->empty_rows += d == 0;
        squares += ((double)d - s->mean_degree) * ((double)d - s->mean_degree);
        for (int64_t e = g->rowptr[v]; e < g->rowptr[v + 1]; e++) s->self_loops += g->col[e] == v;
    }
    s->deviation = g->nodes ? sqrt(squares / (double)g->nodes) : 0;
}

// The quantile of share q is the smallest degree that at least q of the rows do not exceed.
static void quantiles(const int64_t *rows_of, int64_t nodes, int64_t out[5]) {
    static const int percent[5] = {25, 50, 75, 90, 99};
    int64_t d = 0, seen = nodes ? rows_of[0] : 0;
    for (int i = 0; i < 5 && nodes; i++) {
        int64_t wanted = nodes / 100 * percent[i] + (nodes % 100 * percent[i] + 99) / 100;
        while (seen < wanted) seen += rows_of[++d];
        out[i] = d;
    }
}

gnn_status gnn_graph_measure(gnn_context *c, const gnn_graph *g, gnn_graph_statistics *out) {
    if (!rt_begin(c, __func__, g && out && g->rowptr)) return GNN_BAD_ARGUMENT;
    *out = (gnn_graph_statistics){0};
    measure_rows(g, out);
    gnn_array rows_of;
    gnn_status s = gnn_array_new(c, GNN_I64, 1, &(int64_t){out->max_degree + 1}, &rows_of);
    if (s) return s;
    int64_t *count = rows_of.data;
    for (int64_t v = 0; v < g->nodes; v++) count[degree(g, v)]++;
    quantiles(count, g->nodes, out->quantiles);
    gnn_array_free(c, &rows_of);
    return GNN_OK;
}
