// Where the values of each parameter come from: --param NAME=V, else the graph's array of that
// name, else chance.
#include "bind.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// ---- What was given -----------------------------------------------------------------------------

static const char *given(const binding *b, tensor_val v) {
    const char *name = b->op->vals.data[v].name, *found = NULL;
    for (uint32_t i = 0; i < b->d->values[OPT_PARAM].len; i++) {
        const char *text = b->d->values[OPT_PARAM].data[i];
        size_t n = strlen(name);
        if (!strncmp(text, name, n) && text[n] == '=') found = text + n + 1;
    }
    return found;
}

static bool array_named(const char *name, graph_array *out) {
    for (graph_array x = 0; x < GRAPH_ARRAY_COUNT; x++) {
        const graph_array_info *info = graph_array_table(x);
        if (strcmp(name, info->name) != 0 && strcmp(name, info->other) != 0) continue;
        *out = x;
        return true;
    }
    return false;
}

static bool from_graph(binding *b, tensor_val v, const char *name) {
    const tensor_val_info *info = &b->op->vals.data[v];
    bind_source *s = &b->sources[v];
    if (info->role == VAL_MAP && info->rank == 1 && array_named(name, &s->which) &&
        graph_has(b->graph, s->which)) {
        s->from = FROM_GRAPH;
        return true;
    }
    s->array = graph_tensor(b->graph, name);
    s->from = FROM_ARRAY;
    if (info->role == VAL_TENSOR && s->array) return true;
    diagnostic *fault = bind_fault(b, v, E0818, "cannot be the graph's '%s'", name);
    if (info->role == VAL_MAP)
        diag_help(fault,
                  "maps of a graph are col, row, and where it has them etype, ntype, batch and y");
    else diag_help(fault, "tensors of a graph are x and weight, where it has them");
    return false;
}

static bool from_file(binding *b, tensor_val v, const char *path) {
    gnn_context *c = b->graph->context;
    if (gnn_array_read_npy(c, path, &b->files[v])) {
        b->d->io_fault |= gnn_context_status(c) == GNN_IO;
        diag(b->d->ds, runtime_code((int)gnn_context_status(c), E0817), NO_SPAN, "%s",
             gnn_context_error(c));
        gnn_context_clear_error(c);
        return false;
    }
    b->sources[v].from = FROM_ARRAY;
    b->sources[v].array = &b->files[v];
    return true;
}

static bool is_number(const char *text) {
    char *end;
    errno = 0;
    strtod(text, &end);
    return *text && !*end;
}

static bool is_seed(const char *text, uint64_t *out) {
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno;
}

static bool from_text(binding *b, tensor_val v, const char *text) {
    const tensor_val_info *info = &b->op->vals.data[v];
    bind_source *s = &b->sources[v];
    s->text = text;
    if (*text == '@') return from_graph(b, v, text + 1);
    if (path_ends(text, ".npy")) return from_file(b, v, text);
    if (!strcmp(text, "zero")) s->from = FROM_ZERO;
    else if (is_number(text) && info->role != VAL_MAP) s->from = FROM_NUMBER;
    else if (!strncmp(text, "random:", 7) && is_seed(text + 7, &s->seed)) s->from = FROM_RANDOM;
    else {
        bind_fault(
            b, v, E0818,
            "cannot be '%s': values are a .npy file, random:SEED, zero, @ARRAY of the graph%s",
            text, info->role == VAL_MAP ? "" : ", or a number");
        return false;
    }
    return true;
}

// ---- By name ------------------------------------------------------------------------------------

static bool is_graph_map(const binding *b, tensor_val v, graph_array *x) {
    const tensor_val_info *info = &b->op->vals.data[v];
    return info->role == VAL_MAP && info->rank == 1 && !(info->facts & FACT_PREFIX) &&
           array_named(info->name, x) && graph_has(b->graph, *x);
}

// The domain of the map from the graph's rows, or where there is none, of its columns or types.
static void find_edges(binding *b) {
    static const graph_array order[] = {GRAPH_ROW, GRAPH_COL, GRAPH_ETYPE};
    for (tensor_val v = 0; v < b->op->nparams && b->edges == TENSOR_NO_SPACE; v++)
        if (b->sources[v].from == FROM_GRAPH &&
            graph_array_table(b->sources[v].which)->domain == COUNT_EDGES)
            b->edges = b->op->vals.data[v].axes[0];
    for (size_t k = 0; k < sizeof order / sizeof *order && b->edges == TENSOR_NO_SPACE; k++)
        for (tensor_val v = 0; v < b->op->nparams; v++) {
            graph_array x;
            if (!given(b, v) && is_graph_map(b, v, &x) && x == order[k])
                b->edges = b->op->vals.data[v].axes[0];
        }
}

static void from_name(binding *b, tensor_val v) {
    graph_array x;
    if (!is_graph_map(b, v, &x)) return;
    bool of_edges = graph_array_table(x)->domain == COUNT_EDGES;
    if (of_edges != (b->op->vals.data[v].axes[0] == b->edges)) return;
    b->sources[v].from = FROM_GRAPH;
    b->sources[v].which = x;
}

bool bind_sources(binding *b) {
    bool good = true;
    for (tensor_val v = 0; v < b->op->nparams; v++) {
        const tensor_val_info *info = &b->op->vals.data[v];
        b->sources[v] = (bind_source){.from = FROM_RANDOM, .seed = b->options->seed};
        const char *text = given(b, v);
        if (!text) continue;
        if (info->role == VAL_RESULT || info->facts & FACT_PREFIX) {
            bind_fault(b, v, E0818, "takes no value: it is %s",
                       info->role == VAL_RESULT ? "a result" : "the identity");
            good = false;
        } else good &= from_text(b, v, text);
    }
    find_edges(b);
    for (tensor_val v = 0; v < b->op->nparams && good; v++)
        if (!given(b, v)) from_name(b, v);
    return good;
}
