// Reads or generates what its arguments name and prints it, for the tests in files/: paths of .npy
// and graph files, "npz PATH MEMBER", "generate DESCRIPTION". Ends with 1 and the error's text if
// that fails. Without arguments it checks its own printing.
#include "gnnrt_io.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void print_indices(FILE *f, const char *name, const int64_t *values, int64_t n) {
    enum { SHOWN = 12 };
    if (!values) return;
    fprintf(f, "%s:", name);
    for (int64_t i = 0; i < n && i < SHOWN; i++) fprintf(f, " %" PRId64, values[i]);
    fprintf(f, n > SHOWN ? " ...\n" : "\n");
}

static double element(const gnn_array *a, int64_t i) {
    switch (a->dtype) {
    case GNN_F64: return ((double *)a->data)[i];
    case GNN_F32: return (double)((float *)a->data)[i];
    case GNN_I64: return (double)((int64_t *)a->data)[i];
    case GNN_I32: return ((int32_t *)a->data)[i];
    case GNN_F16:
    case GNN_BF16: return ((uint16_t *)a->data)[i];   // its bits
    case GNN_BOOL: return ((uint8_t *)a->data)[i];
    case GNN_DTYPE_COUNT: break;
    }
    return 0;
}

static void print_array(FILE *f, const char *name, const gnn_array *a) {
    enum { SHOWN = 12 };
    if (!a->data) return;
    fprintf(f, "%s: %s [", name, gnn_dtype_text(a->dtype));
    for (uint32_t i = 0; i < a->rank; i++) fprintf(f, "%s%" PRId64, i ? ", " : "", a->shape[i]);
    fprintf(f, "]");
    int64_t n = gnn_array_count(a);
    for (int64_t i = 0; i < n && i < SHOWN; i++) fprintf(f, " %.9g", element(a, i));
    fprintf(f, n > SHOWN ? " ...\n" : "\n");
}

// FNV-1a over rows and columns: equal for equal graphs.
static uint64_t digest(const gnn_graph *g) {
    uint64_t h = 0xcbf29ce484222325u;
    for (int64_t i = 0; i <= g->nodes; i++) h = (h ^ (uint64_t)g->rowptr[i]) * 0x100000001b3u;
    for (int64_t i = 0; i < g->edges; i++) h = (h ^ (uint64_t)g->col[i]) * 0x100000001b3u;
    for (int64_t i = 0; i < g->edges && g->etype; i++)
        h = (h ^ (uint64_t)g->etype[i]) * 0x100000001b3u;
    return h;
}

static void print_graph(FILE *f, gnn_context *c, gnn_graph *g) {
    gnn_graph_statistics m;
    if (gnn_graph_measure(c, g, &m) || gnn_graph_expand(c, g)) return;
    fprintf(f,
            "%s: nodes %" PRId64 " sources %" PRId64 " edges %" PRId64 " digest %016" PRIx64 "\n",
            g->name, g->nodes, g->sources, g->edges, digest(g));
    fprintf(f,
            "degree: min %" PRId64 " max %" PRId64 " mean %.4g deviation %.4g empty %" PRId64
            " loops %" PRId64 " quantiles",
            m.min_degree, m.max_degree, m.mean_degree, m.deviation, m.empty_rows, m.self_loops);
    for (int i = 0; i < 5; i++) fprintf(f, " %" PRId64, m.quantiles[i]);
    fprintf(f, "\n");
    print_indices(f, "rowptr", g->rowptr, g->nodes + 1);
    print_indices(f, "col", g->col, g->edges);
    print_indices(f, "dst", g->dst, g->edges);
    if (g->etype) fprintf(f, "types %" PRId64 "\n", g->types);
    print_indices(f, "etype", g->etype, g->edges);
    if (g->ntype) fprintf(f, "node types %" PRId64 "\n", g->node_types);
    print_indices(f, "ntype", g->ntype, g->nodes);
    if (g->graph_ptr) fprintf(f, "graphs %" PRId64 "\n", g->graphs);
    print_indices(f, "graph_ptr", g->graph_ptr, g->graphs + 1);
    print_indices(f, "batch", g->batch, g->nodes);
    print_array(f, "weight", &g->weight);
    print_array(f, "y", &g->y);
    print_array(f, "x", &g->x);
    print_array(f, "train_idx", &g->train_idx);
    print_array(f, "val_idx", &g->val_idx);
    print_array(f, "test_idx", &g->test_idx);
}

static gnn_status show(FILE *f, gnn_context *c, int n, char **args) {
    size_t length = strlen(args[0]);
    gnn_array a = {0};
    gnn_graph g = {0};
    gnn_status s;
    if (n == 3 && !strcmp(args[0], "npz")) s = gnn_array_read_npz(c, args[1], args[2], &a);
    else if (n == 2 && !strcmp(args[0], "generate")) s = gnn_graph_generate(c, args[1], &g);
    else if (length > 4 && !strcmp(args[0] + length - 4, ".npy"))
        s = gnn_array_read_npy(c, args[0], &a);
    else s = gnn_graph_read(c, args[0], &g);
    if (!s && g.rowptr) print_graph(f, c, &g);
    else if (!s) print_array(f, "array", &a);
    gnn_array_free(c, &a);
    gnn_graph_free(c, &g);
    return s;
}

static int check_itself(gnn_context *c) {
    static const char expected[] = "path:3: nodes 3 sources 3 edges 2 digest ";
    char text[2048] = "", *args[] = {"generate", "path:3"};
    FILE *f = fmemopen(text, sizeof text, "w");
    if (!f) return 1;
    gnn_status s = show(f, c, 2, args);
    fclose(f);
    if (!s && !strncmp(text, expected, strlen(expected)) &&
        strstr(text, "\nrowptr: 0 0 1 2\ncol: 0 1\ndst: 1 2\n"))
        return 0;
    printf("path:3 is shown as:\n%s", text);
    return 1;
}

int main(int argc, char **argv) {
    gnn_context *c = NULL;
    int result = 1;
    if (!gnn_context_new(&(gnn_context_options){.device = GNN_HOST}, &c)) {
        if (argc < 2) result = check_itself(c);
        else if (show(stdout, c, argc - 1, argv + 1))
            printf("error %d: %s\n", gnn_context_status(c), gnn_context_error(c));
        else result = 0;
    }
    gnn_context_free(c);
    return result;
}
