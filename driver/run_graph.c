// The graph of a run: read from a file or generated, and its arrays by name.
#include "bind.h"
#include "graph_file.h"
#include "progress.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LIKE "like:"

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
    "rmat:SCALE:DEGREE er:N:M hubs:N:M batch:COUNT:MEAN:P grid:W:H clique:N star:N path:N empty:N "
    "like:GRAPH:N:M:SEED";

static bool graph_fault(driver *d, const run_graph *g, const char *text, gnn_status s) {
    const char *why = g->context ? gnn_context_error(g->context) : gnn_status_text(s);
    if (s == GNN_BAD_GENERATOR) {
        diag_help(usage(d, E0812, "--graph=%s: %s", text, why), "generators are %s", generators);
    } else {
        diagnostic *e = graph_file_fault(d, g->context, s);
        if (s == GNN_IO && !strpbrk(text, "./")) diag_help(e, "generators are %s", generators);
    }
    return false;
}

static gnn_status make_graph(driver *d, run_graph *g, const char *text, gnn_graph *out);

// like:GRAPH:N:M:SEED, where GRAPH may have colons. false: the three numbers are not there.
static bool read_likeness(arena *a, const char *text, const char **of, gnn_graph_likeness *o) {
    enum { DIGITS = 18 };   // fit 64 bits
    int64_t *const numbers[] = {&o->seed, &o->edges, &o->nodes};
    size_t end = strlen(text);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        size_t at = end;
        while (at && text[at - 1] >= '0' && text[at - 1] <= '9') at--;
        if (at == end || end - at > DIGITS || !at || text[at - 1] != ':') return false;
        *numbers[i] = strtoll(text + at, NULL, 10);
        end = at - 1;
    }
    *of = end > strlen(LIKE) ? arena_strndup(a, text + strlen(LIKE), end - strlen(LIKE)) : NULL;
    return *of;
}

static gnn_status make_like(driver *d, run_graph *g, const char *text, gnn_graph *out) {
    gnn_graph of = {0};
    gnn_graph_likeness o;
    const char *name;
    if (!read_likeness(d->arena, text, &name, &o)) {
        diag_help(usage(d, E0812, "--graph=%s: expected like:GRAPH:N:M:SEED", text),
                  "N nodes and M edges, with rows like those of GRAPH, a file or a generator");
        return GNN_BAD_GENERATOR;
    }
    gnn_status s = make_graph(d, g, name, &of);
    if (s) return s;
    s = gnn_graph_like(g->context, &of, &o, out);
    gnn_graph_free(g->context, &of);
    if (s) graph_fault(d, g, text, s);
    return s;
}

// Not GNN_OK: a diagnostic tells why.
static gnn_status make_graph(driver *d, run_graph *g, const char *text, gnn_graph *out) {
    if (is_generator(text) && !strncmp(text, LIKE, strlen(LIKE))) return make_like(d, g, text, out);
    const bool generated = is_generator(text);
    if (generated) graph_file_unasked(d);
    gnn_status s = generated ? gnn_graph_generate(g->context, text, out)
                             : graph_file_read(d, g->context, text, out);
    if (s) graph_fault(d, g, text, s);
    return s;
}

bool run_graph_read(driver *d, const char *text, run_graph *g) {
    *g = (run_graph){.given = text != NULL, .text = text ? text : ""};
    gnn_status s = gnn_context_new(&(gnn_context_options){.device = GNN_HOST}, &g->context);
    if (s) return graph_fault(d, g, g->text, s);
    if (!g->given) return true;
    phase(d, "graph");
    progress told = progress_begin(is_generator(text) ? "generating" : "reading", text);
    gnn_graph_watch(g->context, progress_tell, &told);
    s = make_graph(d, g, text, &g->graph);
    gnn_graph_watch(g->context, NULL, NULL);
    progress_end(&told);
    return !s;
}

bool run_graph_load(driver *d, const char *text, run_graph *g) {
    if (!run_graph_read(d, text, g)) return false;
    if (!g->given) return true;
    const gnn_status s = gnn_graph_expand(g->context, &g->graph);
    if (s) return graph_fault(d, g, text, s);
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
