// One op for two sizes, and for any, in one program.
#include "any.h"
#include "three.h"
#include "two.h"

#include <stdio.h>

static const int32_t src[] = {1, 0, 1}, dst[] = {0, 1, 1};
static const float x[] = {1, 2, 3, 4, 5, 6};
static float y[6];

#define RUN(op, ...)                                                                               \
    do {                                                                                           \
        struct op##_args a = {.E = 3, .U = 2, .V = 2, __VA_ARGS__};                                \
        a.src = (gnn_map){.index = src, .width = 32};                                              \
        a.dst = (gnn_map){.index = dst, .width = 32};                                              \
        a.x = (gnn_tensor){.data = (void *)x};                                                     \
        a.y = (gnn_tensor){.data = y};                                                             \
        if (op##_load(c, &o) || op##_plan(o, &a, NULL, &p) || op##_launch(p, &a, NULL, 0, NULL))   \
            return printf("%s\n", gnn_context_error(c)), 1;                                        \
        printf("%s: %g %g %g\n", #op, y[0], y[1], y[2]);                                           \
        gnn_plan_free(p);                                                                          \
        gnn_op_free(o);                                                                            \
    } while (0)

int main(void) {
    gnn_context_options options = {.device = GNN_HOST};
    gnn_context *c;
    gnn_op *o;
    gnn_plan *p;
    if (gnn_context_new(&options, &c)) return 1;
    RUN(scaled_f32_2);
    RUN(scaled_f32_3);
    RUN(scaled_f32, .F = 1);
    gnn_context_free(c);
    return 0;
}
