// A graph like another one, at another size. Rows are drawn in their order, so what lies together
// stays together. In-degrees are quantiles of the other graph's, so the longest row is among them
// whatever is drawn, and are scaled to the number of edges that is asked for.
#include "generators.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    gnn_context *c;
    const gnn_graph *of;
    gnn_graph *g;
    rt_random random;
    int64_t *row;              // of each node: the row of `of` that it is drawn from
    int64_t *degrees, *keys;   // of `of`, sorted; of the rows that were drawn
    double *number, *edge;     // of a node by its key; of each edge: the one of `of`
} likeness;

static int64_t part(int64_t x, int64_t of, int64_t n) {   // x of n, as a share of `of`
    return (int64_t)((unsigned __int128)(uint64_t)x * (uint64_t)of / (uint64_t)n);
}

// One of those that the ith of n takes of `of`.
static int64_t draw(likeness *l, int64_t i, int64_t of, int64_t n) {
    const int64_t first = part(i, of, n), last = part(i + 1, of, n);
    return first + (last > first + 1 ? rt_random_below(&l->random, last - first) : 0);
}

static int64_t degree(const gnn_graph *g, int64_t v) { return g->rowptr[v + 1] - g->rowptr[v]; }

// ---- Rows ---------------------------------------------------------------------------------------
static gnn_status make_room(likeness *l) {
    gnn_context *c = l->c;
    gnn_graph *g = l->g;
    const int64_t n = g->nodes, m = g->edges;
    l->row = rt_alloc_array(c, n, sizeof *l->row);
    l->keys = rt_alloc_array(c, n, sizeof *l->keys);
    l->number = rt_alloc_array(c, n, sizeof *l->number);
    l->degrees = rt_alloc_array(c, l->of->nodes, sizeof *l->degrees);
    l->edge = rt_alloc_array(c, m, sizeof *l->edge);
    g->rowptr = rt_alloc_array(c, n + 1, sizeof *g->rowptr);
    g->col = rt_alloc_array(c, m, sizeof *g->col);
    return l->row && l->keys && l->number && l->degrees && l->edge && g->rowptr && g->col
               ? GNN_OK
               : GNN_NO_MEMORY;
}

// The nodes by the degrees of the rows they are drawn from have the quantiles of all degrees.
static void make_rows(likeness *l) {
    const gnn_graph *of = l->of;
    gnn_graph *g = l->g;
    const int64_t n = g->nodes;
    for (int64_t v = 0; v < of->nodes; v++) l->degrees[v] = degree(of, v);
    for (int64_t i = 0; i < n; i++) {
        l->row[i] = draw(l, i, of->nodes, n);
        l->keys[i] = l->degrees[l->row[i]];
        l->number[i] = (double)i;
    }
    rt_sort_row(l->degrees, NULL, of->nodes);
    rt_sort_row(l->keys, l->number, n);
    g->rowptr[0] = 0;
    for (int64_t k = 0; k < n; k++)
        g->rowptr[(int64_t)l->number[k] + 1] =
            l->degrees[of->nodes - 1 - part(n - 1 - k, of->nodes, n)];
    for (int64_t i = 0; i < n; i++) g->rowptr[i + 1] += g->rowptr[i];
    const int64_t sum = g->rowptr[n];
    for (int64_t i = 0; i < n && sum; i++) g->rowptr[i + 1] = part(g->rowptr[i + 1], g->edges, sum);
}

// ---- Graphs of a batch --------------------------------------------------------------------------
static gnn_status make_graphs(likeness *l) {
    const gnn_graph *of = l->of;
    gnn_graph *g = l->g;
    if (!of->batch || !of->graph_ptr) return GNN_OK;
    g->graphs = of->graphs;
    g->batch = rt_alloc_array(l->c, g->nodes, sizeof *g->batch);
    g->graph_ptr = rt_alloc_array(l->c, g->graphs + 1, sizeof *g->graph_ptr);
    if (!g->batch || !g->graph_ptr) return GNN_NO_MEMORY;
    for (int64_t b = 0; b <= g->graphs; b++) g->graph_ptr[b] = 0;
    for (int64_t i = 0; i < g->nodes; i++) {
        g->batch[i] = of->batch[l->row[i]];
        g->graph_ptr[g->batch[i] + 1]++;
    }
    for (int64_t b = 0; b < g->graphs; b++) g->graph_ptr[b + 1] += g->graph_ptr[b];
    return GNN_OK;
}

// An edge stays in its graph.
static int64_t within_graph(likeness *l, int64_t i, int64_t col) {
    const gnn_graph *g = l->g;
    if (!g->batch || g->sources != g->nodes) return col;
    const int64_t first = g->graph_ptr[g->batch[i]], last = g->graph_ptr[g->batch[i] + 1];
    return col >= first && col < last ? col : first + rt_random_below(&l->random, last - first);
}

// ---- Edges --------------------------------------------------------------------------------------
// A row that is to be longer goes on with the edges behind its own.
static int64_t edge_of(likeness *l, int64_t i, int64_t k, int64_t n) {
    const int64_t all = l->of->edges, has = degree(l->of, l->row[i]);
    int64_t first = l->of->rowptr[l->row[i]];
    if (n <= has) return first + draw(l, k, has, n);
    if (first > all - n) first = n < all ? all - n : 0;
    return (first + k) % all;
}

static void make_edges(likeness *l) {
    gnn_graph *g = l->g;
    for (int64_t i = 0; i < g->nodes; i++) {
        const int64_t first = g->rowptr[i], n = degree(g, i);
        for (int64_t k = 0; k < n; k++) {
            const int64_t e = edge_of(l, i, k, n),
                          col = draw(l, l->of->col[e], g->sources, l->of->sources);
            l->edge[first + k] = (double)e;
            g->col[first + k] = within_graph(l, i, col);
        }
        rt_sort_row(g->col + first, l->edge + first, n);
    }
}

// ---- What nodes and edges hold ------------------------------------------------------------------
// Of each edge, or each node, what the one has that it is drawn from.
static gnn_status gather(likeness *l, bool edges, const void *from, size_t bytes, void *to) {
    const int64_t n = edges ? l->g->edges : l->g->nodes;
    if (!to) return GNN_NO_MEMORY;
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = edges ? (int64_t)l->edge[i] : l->row[i];
        memcpy((char *)to + (size_t)i * bytes, (const char *)from + (size_t)at * bytes, bytes);
    }
    return GNN_OK;
}

static gnn_status gather_indices(likeness *l, bool edges, const int64_t *from, int64_t **to) {
    if (!from) return GNN_OK;
    *to = rt_alloc_array(l->c, edges ? l->g->edges : l->g->nodes, sizeof **to);
    return gather(l, edges, from, sizeof **to, *to);
}

static gnn_status gather_array(likeness *l, bool edges, const gnn_array *from, gnn_array *to) {
    int64_t shape[GNN_MAX_RANK];
    if (!from->rank || from->shape[0] != (edges ? l->of->edges : l->of->nodes)) return GNN_OK;
    memcpy(shape, from->shape, sizeof shape);
    shape[0] = edges ? l->g->edges : l->g->nodes;
    gnn_status s = gnn_array_new(l->c, from->dtype, from->rank, shape, to);
    size_t bytes = gnn_dtype_bytes(from->dtype);
    for (uint32_t k = 1; k < from->rank; k++) bytes *= (size_t)from->shape[k];
    return s ? s : gather(l, edges, from->data, bytes, to->data);
}

static gnn_status make_arrays(likeness *l) {
    const gnn_graph *of = l->of;
    gnn_graph *g = l->g;
    g->types = of->types;
    g->node_types = of->node_types;
    gnn_status s = gather_indices(l, true, of->etype, &g->etype);
    if (!s) s = gather_indices(l, false, of->ntype, &g->ntype);
    if (!s) s = gather_array(l, true, &of->weight, &g->weight);
    if (!s) s = gather_array(l, false, &of->y, &g->y);
    return s ? s : gather_array(l, false, &of->x, &g->x);
}

// ---- The graph ----------------------------------------------------------------------------------
static gnn_status check(likeness *l, const gnn_graph_likeness *o) {
    const gnn_graph *of = l->of;
    gnn_graph *g = l->g;
    if (o->nodes < 0 || o->edges < 0 || (o->nodes && !of->nodes) || (o->edges && !of->edges) ||
        (o->edges && !o->nodes))
        return rt_fail(l->c, GNN_BAD_GENERATOR,
                       "no graph of %lld nodes and %lld edges is like one of %lld and %lld",
                       (long long)o->nodes, (long long)o->edges, (long long)of->nodes,
                       (long long)of->edges);
    g->nodes = o->nodes;
    g->edges = o->edges;
    g->sources = o->nodes;
    if (of->sources != of->nodes && of->nodes) g->sources = part(o->nodes, of->sources, of->nodes);
    if (!g->sources && o->edges) g->sources = 1;
    snprintf(g->name, sizeof g->name, "like:%.20s:%lld:%lld", of->name, (long long)o->nodes,
             (long long)o->edges);
    return rt_check_memory(l->c, g->name,
                           &(gnn_graph){.nodes = g->nodes, .edges = g->edges, .types = of->types});
}

static gnn_status make(likeness *l, const gnn_graph_likeness *o) {
    gnn_status s = check(l, o);
    if (!s) s = make_room(l);
    if (s) return s;
    make_rows(l);
    s = make_graphs(l);
    if (s) return s;
    make_edges(l);
    return make_arrays(l);
}

gnn_status gnn_graph_like(gnn_context *c, const gnn_graph *of, const gnn_graph_likeness *o,
                          gnn_graph *out) {
    if (!rt_begin(c, __func__, of && of->rowptr && o && out)) return GNN_BAD_ARGUMENT;
    *out = (gnn_graph){0};
    likeness l = {.c = c, .of = of, .g = out, .random = rt_random_new(o->seed, 3)};
    gnn_status s = make(&l, o);
    void *own[] = {l.row, l.keys, l.number, l.degrees, l.edge};
    for (size_t i = 0; i < RT_COUNT(own); i++) rt_free(c, own[i]);
    if (s) gnn_graph_free(c, out);
    return s;
}
