// An application with an op linked in that has a choice: which version its plans take.
#include "choice.h"

#include <stdio.h>
#include <string.h>

enum { E = 12, MOST = 8 };

static void take(gnn_context *c, gnn_op *op, int64_t v, int64_t f) {
    static int32_t dst[E];
    static float x[E * MOST], y[E * MOST];
    struct total_args a;
    gnn_plan *plan = NULL;
    gnn_tensor tensors[2];
    gnn_arg args[3];
    const char *version = "none";
    int wrong = 0;
    memset(&a, 0, sizeof a);
    memset(tensors, 0, sizeof tensors);
    memset(args, 0, sizeof args);
    for (int64_t e = 0; e < E; e++) dst[e] = (int32_t)(e * v / E);
    for (int64_t i = 0; i < E * f; i++) x[i] = (float)i;
    a.E = E, a.V = v, a.F = f;
    a.dst.index = dst, a.dst.width = 32;
    a.x.data = x, a.y.data = y;
    if (total_plan(op, &a, NULL, &plan) || total_launch(plan, &a, NULL, 0, NULL))
        printf("%s\n", gnn_context_error(c));
    for (int64_t i = 0; i < v * f; i++) {
        float sum = 0;
        for (int64_t e = 0; e < E; e++)
            if (dst[e] == i / f) sum += x[e * f + i % f];
        wrong += sum != y[i];
    }
    for (int k = 0; k < 2; k++) {
        if (gnn_plan_shape(plan, (uint32_t)k + 1, &tensors[k])) printf("no shape\n");
        tensors[k].data = k ? y : x;
        args[k + 1].tensor = &tensors[k];
    }
    if (gnn_plan_version(plan, args, 3, &version)) printf("%s\n", gnn_context_error(c));
    printf("V=%d F=%d: %s, %d wrong\n", (int)v, (int)f, version, wrong);
    gnn_plan_free(plan);
}

int main(void) {
    gnn_context *c = NULL;
    gnn_op *op = NULL;
    gnn_context_options options;
    memset(&options, 0, sizeof options);
    options.device = GNN_HOST;
    if (gnn_context_new(&options, &c) || total_load(c, &op)) return 1;
    take(c, op, 3, 4);
    take(c, op, 6, 4);
    take(c, op, 6, 2);
    take(c, op, 12, 8);
    gnn_op_free(op);
    gnn_context_free(c);
    return 0;
}
