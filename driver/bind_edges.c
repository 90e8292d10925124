// In which order an op gets the edges of the graph. Maps declared sorted decide; otherwise the graph's own
// order stays, or, where edges are to be mixed, a random one.
#include "bind.h"

#include <stdlib.h>

typedef struct {
    int64_t edge;
    uint64_t rank;         // among equals
    const int64_t *keys;   // of all edges, a row each
    uint32_t nkeys;
} ordered_edge;

static int by_keys(const void *x, const void *y) {
    const ordered_edge *a = x, *b = y;
    for (uint32_t k = 0; k < a->nkeys; k++) {
        int64_t p = a->keys[a->edge * a->nkeys + k], q = b->keys[b->edge * b->nkeys + k];
        if (p != q) return p < q ? -1 : 1;
    }
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    return a->edge < b->edge ? -1 : a->edge > b->edge;
}

static bool of_graph_edges(const binding *b, tensor_val v) {
    return b->op->vals.data[v].role == VAL_MAP && b->sources[v].from == FROM_GRAPH &&
           b->op->vals.data[v].axes[0] == b->edges;
}

// Arrays to sort by: of maps sorted as a whole first, then of those sorted within another's preimages.
static uint32_t order_keys(const binding *b, graph_array *keys) {
    uint32_t n = 0;
    for (int within = 0; within < 2; within++)
        for (tensor_val v = 0; v < b->op->nparams && n < GRAPH_ARRAY_COUNT; v++) {
            const tensor_val_info *info = &b->op->vals.data[v];
            if (of_graph_edges(b, v) && info->facts & FACT_SORTED &&
                (info->sorted_by != TENSOR_NO_VAL) == within)
                keys[n++] = b->sources[v].which;
        }
    return n;
}

// Edges that a file has by destination, mostly: there is nothing to sort then.
static bool in_order(const binding *b, const graph_array *keys, uint32_t nkeys) {
    for (int64_t e = 1; e < b->graph->graph.edges; e++)
        for (uint32_t k = 0; k < nkeys; k++) {
            int64_t before = graph_value(b->graph, keys[k], e - 1), x = graph_value(b->graph, keys[k], e);
            if (before > x) return false;
            if (before < x) break;
        }
    return true;
}

static void sort_edges(binding *b, const graph_array *keys, uint32_t nkeys) {
    int64_t n = b->graph->graph.edges;
    arena *scratch = arena_new();
    int64_t *rows = ARENA_ARRAY(scratch, int64_t, n * nkeys);
    ordered_edge *order = ARENA_ARRAY(scratch, ordered_edge, n);
    for (int64_t e = 0; e < n; e++) {
        for (uint32_t k = 0; k < nkeys; k++) rows[e * nkeys + k] = graph_value(b->graph, keys[k], e);
        order[e] = (ordered_edge){e, b->options->mixed ? bind_random(b->options->seed, (uint64_t)e) : 0, rows,
                                  nkeys};
    }
    if (n) qsort(order, (size_t)n, sizeof *order, by_keys);
    b->edge_order = ARENA_ARRAY(b->arena, int64_t, n);
    for (int64_t e = 0; e < n; e++) b->edge_order[e] = order[e].edge;
    arena_free(scratch);
}

bool bind_edge_order(binding *b) {
    graph_array keys[GRAPH_ARRAY_COUNT];
    if (b->edges == TENSOR_NO_SPACE) return true;
    uint32_t n = order_keys(b, keys);
    if (b->options->mixed || !in_order(b, keys, n)) sort_edges(b, keys, n);
    return true;
}
