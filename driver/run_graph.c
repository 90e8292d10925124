// The graph of a run: read from a file or generated, and its arrays by name.
#include "bind.h"
#include "graph_file.h"
#include "progress.h"

#include <string.h>
#include <sys/stat.h>

// ---- Loading ------------------------------------------------------------------------------------

static bool is_generator(const char *text) {
    struct stat info;
    return strchr(text, ':') && stat(text, &info) != 0;
}

static int64_t label_at(const gnn_array *y, int64_t at) {
    switch (y->dtype) {
    case GNN_I32: return ((const int32_t *)y->data)[at];
    case GNN_I64: return ((const int64_t *)y->data)[at];
    case GNN_BOOL: return ((const uint8_t *)y->data)[at];
    case GNN_F64:
    case GNN_F32:
    case GNN_BF16:
    case GNN_F16:
    case GNN_DTYPE_COUNT: break;
    }
    return -1;
}

static bool are_labels(const gnn_graph *g) {
    return g->y.rank == 1 && g->y.shape[0] == g->nodes &&
           (g->y.dtype == GNN_I32 || g->y.dtype == GNN_I64 || g->y.dtype == GNN_BOOL);
}

static void count_classes(run_graph *g) {
    for (int64_t i = 0; are_labels(&g->graph) && i < g->graph.nodes; i++) {
        int64_t label = label_at(&g->graph.y, i);
        if (label >= g->classes) g->classes = label + 1;
        if (label < -1 || label > INT32_MAX) {   // no classes
            g->classes = 0;
            return;
        }
    }
}

static const char generators[] =
    "rmat:SCALE:DEGREE er:N:M hubs:N:M batch:COUNT:MEAN:P grid:W:H clique:N star:N path:N empty:N";

static bool graph_fault(driver *d, const run_graph *g, gnn_status s) {
    const char *why = g->context ? gnn_context_error(g->context) : gnn_status_text(s);
    if (s == GNN_BAD_GENERATOR) {
        diag_help(usage(d, E0812, "--graph=%s: %s", g->text, why), "generators are %s", generators);
    } else {
        diagnostic *e = graph_file_fault(d, g->context, s);
        if (s == GNN_IO && !strpbrk(g->text, "./")) diag_help(e, "generators are %s", generators);
    }
    return false;
}

bool run_graph_load(driver *d, const char *text, run_graph *g) {
    *g = (run_graph){.given = text != NULL, .text = text ? text : ""};
    gnn_status s = gnn_context_new(&(gnn_context_options){.device = GNN_HOST}, &g->context);
    if (s) return graph_fault(d, g, s);
    if (!g->given) return true;
    phase(d, "graph");
    bool generated = is_generator(g->text);
    progress told = progress_begin(generated ? "generating" : "reading", g->text);
    if (generated) graph_file_unasked(d);
    gnn_graph_watch(g->context, progress_tell, &told);
    s = generated ? gnn_graph_generate(g->context, g->text, &g->graph)
                  : graph_file_read(d, g->context, g->text, &g->graph);
    gnn_graph_watch(g->context, NULL, NULL);
    progress_end(&told);
    if (!s) s = gnn_graph_expand(g->context, &g->graph);
    if (s) return graph_fault(d, g, s);
    count_classes(g);
    return true;
}

void run_graph_free(run_graph *g) {
    if (g->context) gnn_graph_free(g->context, &g->graph);
    gnn_context_free(g->context);
}

// ---- Arrays -------------------------------------------------------------------------------------

int64_t graph_counted(const run_graph *g, graph_count c) {
    switch (c) {
    case COUNT_EDGES: return g->graph.edges;
    case COUNT_NODES: return g->graph.nodes;
    case COUNT_SOURCES: return g->graph.sources;
    case COUNT_TYPES: return g->graph.types;
    case COUNT_NODE_TYPES: return g->graph.node_types;
    case COUNT_GRAPHS: return g->graph.graphs;
    case COUNT_CLASSES: return g->classes;
    }
    ICE("count %d", (int)c);
}

const char *graph_count_text(graph_count c) {
    switch (c) {
    case COUNT_EDGES: return "edges";
    case COUNT_NODES: return "nodes";
    case COUNT_SOURCES: return "sources";
    case COUNT_TYPES: return "edge types";
    case COUNT_NODE_TYPES: return "node types";
    case COUNT_GRAPHS: return "graphs";
    case COUNT_CLASSES: return "classes";
    }
    ICE("count %d", (int)c);
}

const graph_array_info *graph_array_table(graph_array x) {
    static const graph_array_info table[] = {
#define X(id, name, other, domain, codomain) {name, other, domain, codomain},
        GRAPH_ARRAYS(X)
#undef X
    };
    return &table[x];
}

bool graph_has(const run_graph *g, graph_array x) {
    if (!g->given) return false;
    switch (x) {
    case GRAPH_COL:
    case GRAPH_ROW: return true;
    case GRAPH_ETYPE: return g->graph.etype != NULL;
    case GRAPH_NTYPE: return g->graph.ntype != NULL;
    case GRAPH_BATCH: return g->graph.batch != NULL;
    case GRAPH_LABEL: return g->classes > 0;
    case GRAPH_ARRAY_COUNT: break;
    }
    ICE("graph array %d", (int)x);
}

const int64_t *graph_values(const run_graph *g, graph_array x) {
    switch (x) {
    case GRAPH_COL: return g->graph.col;
    case GRAPH_ROW: return g->graph.dst;
    case GRAPH_ETYPE: return g->graph.etype;
    case GRAPH_NTYPE: return g->graph.ntype;
    case GRAPH_BATCH: return g->graph.batch;
    case GRAPH_LABEL: return NULL;
    case GRAPH_ARRAY_COUNT: break;
    }
    ICE("graph array %d", (int)x);
}

int64_t graph_label(const run_graph *g, int64_t at) { return label_at(&g->graph.y, at); }

const gnn_array *graph_tensor(const run_graph *g, const char *name) {
    const gnn_array *a = !strcmp(name, "x")        ? &g->graph.x
                         : !strcmp(name, "weight") ? &g->graph.weight
                                                   : NULL;
    return g->given && a && a->rank ? a : NULL;
}
