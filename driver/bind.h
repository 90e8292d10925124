// Binding: what the parameters of an op are on one graph. Sizes of spaces come from -D, files, the
// graph, and defaults; maps from the graph by name, or at random within their facts; the rest from
// files or at random.
//
//     binding *b = bind_op(d, a, op, &graph, &options);      // NULL: diagnostics tell why
//     tensor_eval(a, op, &(tensor_eval_input){.sizes = b->sizes, .inputs = b->arrays}, …);
#ifndef GNNC_BIND_H
#define GNNC_BIND_H

#include "driver.h"
#include "tensor_eval.h"
#include "runtime/gnnrt_io.h"

// ---- The graph ----------------------------------------------------------------------------------
typedef struct {
    bool given;
    const char *text;       // as given to --graph
    gnn_context *context;   // of the host
    gnn_graph graph;        // expanded
    int64_t classes;        // of the labels; 0: none
} run_graph;
// NULL: none; false: diagnostics tell why
bool run_graph_load(driver *d, const char *text, run_graph *g);
bool run_graph_read(driver *d, const char *text, run_graph *g);   // likewise, but not expanded
void run_graph_free(run_graph *g);

// What a graph has one of for each edge or node, and how many values it takes.
typedef enum {
    COUNT_EDGES,
    COUNT_NODES,
    COUNT_SOURCES,
    COUNT_TYPES,
    COUNT_NODE_TYPES,
    COUNT_GRAPHS,
    COUNT_CLASSES
} graph_count;
int64_t graph_counted(const run_graph *g, graph_count c);
const char *graph_count_text(graph_count c);   // "edges"
// Arrays of a graph: X(id, name, other name, domain, codomain).
#define GRAPH_ARRAYS(X)                                                                            \
    X(COL, "col", "src", COUNT_EDGES, COUNT_SOURCES)                                               \
    X(ROW, "row", "dst", COUNT_EDGES, COUNT_NODES)                                                 \
    X(ETYPE, "etype", "type", COUNT_EDGES, COUNT_TYPES)                                            \
    X(NTYPE, "ntype", "ntype", COUNT_NODES, COUNT_NODE_TYPES)                                      \
    X(BATCH, "batch", "graph", COUNT_NODES, COUNT_GRAPHS)                                          \
    X(LABEL, "y", "label", COUNT_NODES, COUNT_CLASSES)
typedef enum {
#define X(id, name, other, domain, codomain) GRAPH_##id,
    GRAPH_ARRAYS(X)
#undef X
        GRAPH_ARRAY_COUNT
} graph_array;
typedef struct {
    const char *name, *other;
    graph_count domain, codomain;
} graph_array_info;
const graph_array_info *graph_array_table(graph_array x);
bool graph_has(const run_graph *g, graph_array x);
// NULL: they have another type, labels alone
const int64_t *graph_values(const run_graph *g, graph_array x);
int64_t graph_label(const run_graph *g, int64_t at);                   // -1: none
const gnn_array *graph_tensor(const run_graph *g, const char *name);   // x, weight; NULL: none

// ---- Where values come from ---------------------------------------------------------------------
typedef enum { VALUES_RANDOM, VALUES_SPECIAL } bind_values;
typedef struct {
    uint64_t seed;
    bind_values values;
    // edges shuffled where no order is declared, none among them where it is allowed
    bool mixed;
    bool broadcast;    // one axis of each tensor is constant, so that its stride may be 0
    bool maps_alone;   // sizes and maps: tensors have no elements
} bind_options;

typedef enum { FROM_RANDOM, FROM_ZERO, FROM_NUMBER, FROM_GRAPH, FROM_ARRAY } bind_from;
typedef struct {
    bind_from from;
    uint64_t seed;            // RANDOM
    const char *text;         // NUMBER, and what was written
    graph_array which;        // GRAPH: a map
    const gnn_array *array;   // ARRAY: a file's, or the graph's x or weight
} bind_source;

// ---- One op -------------------------------------------------------------------------------------
typedef struct {
    bool known, is_default;
    int64_t at_least;     // entries of the graph point that far
    const char *origin;   // who told: "the graph's edges"
} bind_space;

typedef struct {
    driver *d;
    arena *arena;
    const tensor_op *op;
    const run_graph *graph;
    const bind_options *options;
    bind_source *sources;   // per value below nparams
    bind_space *spaces;     // per space
    int64_t *sizes;         // per space; -1 while it is not known
    tensor_space edges;     // the space of the graph's edges, or TENSOR_NO_SPACE
    int64_t *edge_order;    // edge of the graph at each of its points; NULL: as they are
    tensor_array *arrays;   // per value below nparams: what the op is given, packed
    gnn_array *files;       // per value below nparams, freed by bind_free
} binding;

// The binding's memory is the arena's, but for what bind_free gives back.
binding *bind_op(driver *d, arena *a, const tensor_op *op, const run_graph *g,
                 const bind_options *o);
void bind_free(binding *b);
// A size that nothing told: "F" and 16, in order of spaces from *at on. false: no more.
bool bind_default(const binding *b, uint32_t *at, const char **name, int64_t *size);

// ---- Between the files --------------------------------------------------------------------------
bool bind_sources(binding *b);                // bind_source.c: --param, else by name
bool bind_sizes(binding *b);                  // bind_sizes.c
bool bind_requires(binding *b);               // bind_requires.c: defaults changed until they hold
bool bind_edge_order(binding *b);             // bind_edges.c
bool bind_map(binding *b, tensor_val v);      // bind_maps.c
bool bind_tensor(binding *b, tensor_val v);   // bind_values.c
// false: it needs more than sizes
bool bind_expression(const binding *b, tensor_expr e, int64_t *out);
// of its axes; false: too many
bool bind_points(const binding *b, const tensor_val_info *v, int64_t *out);
double bind_memory(void);   // bytes this machine has
diagnostic *bind_fault(binding *b, tensor_val v, diag_code code, const char *format, ...)
    SUP_PRINTF(4, 5);

// A stream of 64-bit words by place, the same in any order: splitmix64's finaliser over seed and
// counter.
static inline uint64_t bind_mix(uint64_t z) {
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
static inline uint64_t bind_random(uint64_t stream, uint64_t at) {
    return bind_mix(stream + (at + 1) * 0x9e3779b97f4a7c15u);
}
// of a parameter, by its name and seed
uint64_t bind_stream(const binding *b, tensor_val v);
static inline int64_t bind_below(uint64_t word, int64_t n) {   // in [0, n)
    return n <= 0 ? 0 : (int64_t)(((unsigned __int128)word * (uint64_t)n) >> 64);
}
void bind_store(ir_dtype t, void *data, int64_t at, double x);   // rounded to nearest even
double bind_load(ir_dtype t, const void *data, int64_t at);      // floats
uint32_t bind_bytes(ir_dtype t);                                 // of an element of a tensor_array

#endif
