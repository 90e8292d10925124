#include "scale.h"

#include <cstdio>

int main() {
    float x[2] = {1, 20}, y[2] = {};
    gnn_context *context;
    gnn_context_options options = {};   // AUTO
    options.device = GNN_HOST;
    gnn_op *op;
    gnn_plan *plan;
    scale_f32_args args = {};
    args.N = 2;
    args.x.data = x;
    args.y.data = y;
    if (gnn_context_new(&options, &context) || scale_f32_load(context, &op) || scale_f32_plan(op, &args, nullptr, &plan) ||
        scale_f32_launch(plan, &args, nullptr, 0, nullptr))
        return std::printf("%s\n", gnn_context_error(context)), 1;
    std::printf("%g %g\n", y[0], y[1]);
    gnn_plan_free(plan);
    gnn_op_free(op);
    gnn_context_free(context);
}
