// Owners by METIS (Karypis and Kumar, A Fast and High Quality Multilevel Scheme for Partitioning
// Irregular Graphs, 1998). The library is opened when it is asked for; nothing of it is linked.
#include "partition.h"

#include <dlfcn.h>
#include <string.h>

// Of metis.h 5.1.
enum { METIS_OPTIONS = 40, METIS_SEED = 8, METIS_OK = 1 };
typedef int32_t idx;
typedef int (*set_defaults)(idx *options);
typedef int (*cut_graph)(idx *nvtxs, idx *ncon, idx *xadj, idx *adjncy, idx *vwgt, idx *vsize,
                         idx *adjwgt, idx *nparts, float *tpwgts, float *ubvec, idx *options,
                         idx *edgecut, idx *part);

typedef struct {
    gnn_context *c;
    const gnn_graph *g;
    idx *begin, *neighbours, *weights;   // both directions of each edge; weight: of a row
} both_ways;

static gnn_status fill_both_ways(both_ways *b) {
    const gnn_graph *g = b->g;
    const int64_t n = g->nodes;
    b->begin = rt_alloc_zeroed(b->c, (size_t)(n + 2) * sizeof *b->begin);
    b->neighbours = rt_alloc_array(b->c, 2 * g->edges, sizeof *b->neighbours);
    b->weights = rt_alloc_array(b->c, n, sizeof *b->weights);
    if (!b->begin || !b->neighbours || !b->weights) return GNN_NO_MEMORY;
    for (int64_t v = 0; v < n; v++)
        for (int64_t e = g->rowptr[v]; e < g->rowptr[v + 1]; e++)
            if (g->col[e] != v) b->begin[v + 2]++, b->begin[g->col[e] + 2]++;
    for (int64_t v = 1; v <= n; v++) b->begin[v + 1] += b->begin[v];
    for (int64_t v = 0; v < n; v++) {
        b->weights[v] = (idx)(g->rowptr[v + 1] - g->rowptr[v] + 1);
        for (int64_t e = g->rowptr[v]; e < g->rowptr[v + 1]; e++) {
            const int64_t u = g->col[e];
            if (u == v) continue;
            b->neighbours[b->begin[v + 1]++] = (idx)u;
            b->neighbours[b->begin[u + 1]++] = (idx)v;
        }
    }
    return GNN_OK;
}

// Whether the library's integers have 32 bits: it fills so many of them.
static bool is_narrow(set_defaults defaults) {
    idx options[2 * METIS_OPTIONS] = {0};
    defaults(options);
    return options[METIS_OPTIONS] == 0 && options[0] != 0;
}

static gnn_status cut_by(both_ways *b, void *library, int64_t parts, int64_t seed, idx *owner) {
    set_defaults defaults;
    cut_graph cut;
    *(void **)&defaults = dlsym(library, "METIS_SetDefaultOptions");
    *(void **)&cut = dlsym(library, "METIS_PartGraphKway");
    if (!defaults || !cut || !is_narrow(defaults))
        return rt_fail(b->c, GNN_MISSING, "libmetis is none of version 5 with integers of 32 bits");
    gnn_status s = fill_both_ways(b);
    if (s) return s;
    idx options[METIS_OPTIONS], n = (idx)b->g->nodes, one = 1, nparts = (idx)parts, edges;
    defaults(options);
    options[METIS_SEED] = (idx)seed;
    const int status = cut(&n, &one, b->begin, b->neighbours, b->weights, NULL, NULL, &nparts, NULL,
                           NULL, options, &edges, owner);
    return status == METIS_OK
               ? GNN_OK
               : rt_fail(b->c, GNN_NO_MEMORY, "METIS cannot cut it: status %d", status);
}

gnn_status rt_owners_by_metis(gnn_context *c, const gnn_graph *g, int64_t parts, int64_t seed,
                              int32_t *owner) {
    memset(owner, 0, (size_t)g->nodes * sizeof *owner);
    for (int64_t v = 0; v < g->nodes && g->nodes <= parts; v++) owner[v] = (int32_t)v;
    if (parts == 1 || g->nodes <= parts) return GNN_OK;
    if (2 * g->edges > INT32_MAX || g->nodes > INT32_MAX)
        return rt_fail(c, GNN_TOO_LARGE,
                       "METIS counts in 32 bits, and %lld edges both ways are more",
                       (long long)g->edges);
    void *library = dlopen("libmetis.so.5", RTLD_NOW | RTLD_LOCAL);
    if (!library) library = dlopen("libmetis.so", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return rt_fail(c, GNN_MISSING, "libmetis cannot be opened (Debian has it in libmetis5): %s",
                       dlerror());
    both_ways b = {.c = c, .g = g};
    const gnn_status s = cut_by(&b, library, parts, seed, owner);
    void *arrays[] = {b.begin, b.neighbours, b.weights};
    for (size_t i = 0; i < RT_COUNT(arrays); i++) rt_free(c, arrays[i]);
    dlclose(library);
    return s;
}
