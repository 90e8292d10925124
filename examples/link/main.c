// Reads a graph, plans the op once, launches it, and compares the result with a plain loop.
// Usage: link GRAPH
#include "mean.h"

#include <gnnrt_io.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { FEATURES = 4 };

static gnn_context *context;

static void must(gnn_status s) {
    if (!s) return;
    const char *why = context ? gnn_context_error(context) : "";
    fprintf(stderr, "%s\n", *why ? why : gnn_status_text(s));
    exit(1);
}

// The op as a person would write it in C: the definition that the result is held against.
static void plain_loop(const gnn_graph *g, const float *x, float *y) {
    for (int64_t v = 0; v < g->nodes; v++)
        for (int64_t f = 0; f < FEATURES; f++) {
            float sum = 0;
            for (int64_t e = g->rowptr[v]; e < g->rowptr[v + 1]; e++)
                sum += x[g->col[e] * FEATURES + f];
            int64_t degree = g->rowptr[v + 1] - g->rowptr[v];
            y[v * FEATURES + f] = degree ? sum / (float)degree : 0;
        }
}

static void *on_device(const void *host, size_t bytes) {
    void *memory;
    must(gnn_alloc(context, bytes, &memory));
    if (host) must(gnn_copy_in(context, memory, host, bytes, NULL));
    return memory;
}

// Plans and launches; y is on the host.
static void run(const gnn_graph *g, const float *x, float *y) {
    size_t x_bytes = (size_t)g->sources * FEATURES * sizeof *x,
           y_bytes = (size_t)g->nodes * FEATURES * sizeof *y;
    struct neighbour_mean_f32_args args = {.E = gnn_count(g->edges),
                                           .U = gnn_count(g->sources),
                                           .V = gnn_count(g->nodes),
                                           .F = FEATURES};
    args.src = (gnn_map){.index = g->col, .width = 64};
    args.dst = (gnn_map){.offsets = g->rowptr, .width = 64};
    args.x = (gnn_tensor){.data = on_device(x, x_bytes)};
    args.y = (gnn_tensor){.data = on_device(NULL, y_bytes)};

    gnn_op *op;
    gnn_plan *plan;
    must(neighbour_mean_f32_load(context, &op));
    must(neighbour_mean_f32_plan(op, &args, NULL, &plan));
    size_t workspace_bytes;
    must(neighbour_mean_f32_workspace(plan, &args, &workspace_bytes));
    void *workspace = on_device(NULL, workspace_bytes);
    must(neighbour_mean_f32_launch(plan, &args, workspace, workspace_bytes, NULL));
    must(gnn_copy_out(context, y, args.y.data, y_bytes, NULL));
    must(gnn_sync(context, NULL));

    gnn_free(context, workspace);
    gnn_free(context, args.x.data);
    gnn_free(context, args.y.data);
    gnn_plan_free(plan);
    gnn_op_free(op);
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: link GRAPH\n");
        return 2;
    }
    gnn_graph g;
    must(gnn_context_new(&(gnn_context_options){.device = GNN_AUTO}, &context));
    must(gnn_graph_read(context, argv[1], &g));
    float *x = malloc((size_t)g.sources * FEATURES * sizeof *x);
    float *y = calloc((size_t)g.nodes * FEATURES, sizeof *y),
          *expected = calloc((size_t)g.nodes * FEATURES, sizeof *y);
    if (!x || !y || !expected) return 1;
    for (int64_t i = 0; i < g.sources * FEATURES; i++) x[i] = sinf((float)i);

    run(&g, x, y);
    plain_loop(&g, x, expected);
    double sum = 0, expected_sum = 0, worst = 0;
    for (int64_t i = 0; i < g.nodes * FEATURES; i++) {
        sum += y[i];
        expected_sum += expected[i];
        worst = fmax(worst, fabs((double)y[i] - (double)expected[i]));
    }
    for (int64_t v = 0; v < g.nodes && v < 8; v++)
        printf("y[%lld] = %9.6f %9.6f %9.6f %9.6f\n", (long long)v, (double)y[v * FEATURES],
               (double)y[v * FEATURES + 1], (double)y[v * FEATURES + 2],
               (double)y[v * FEATURES + 3]);
    gnn_device_info device;
    must(gnn_device_query(context, &device));
    bool right = worst <= 1e-6;
    printf("%s: checksum %.6f, of the plain loop %.6f, largest difference %.1e: %s\n", device.name,
           sum, expected_sum, worst, right ? "right" : "WRONG");

    free(expected);
    free(y);
    free(x);
    gnn_graph_free(context, &g);
    gnn_context_free(context);
    return right ? 0 : 1;
}
