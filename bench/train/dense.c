// Trains the network of dense.gnn on a graph with dense features, as examples/train does on words.
#include "train.h"

#include "dense.h"

enum { H = SIZE_H };
// Features, in the type that the network has them in.
static gnn_tensor features(train *t, const gnn_array *x) {
    enum { BYTES = TRAIN_TYPE == TRAIN_f32 ? 4 : 2 };
    gnn_tensor wide, out = train_tensor(t, NULL, (size_t)gnn_array_count(x) * BYTES);
    train_must(t, gnn_alloc(t->context, (size_t)gnn_array_count(x) * sizeof(float), &wide.data));
    train_must(t, gnn_copy_in(t->context, wide.data, x->data,
                              (size_t)gnn_array_count(x) * sizeof(float), t->stream));
    struct ARGS(stored) args = {.N = x->shape[0], .x = {.data = wide.data}, .y = out};
    gnn_op *op;
    gnn_plan *plan;
    train_must(t, gnn_op_load(&ARTEFACT(stored), t->context, &op));
    train_must(t, gnn_op_plan(&ARTEFACT(stored), op, &args, NULL, &plan));
    train_must(t, gnn_op_launch(&ARTEFACT(stored), plan, &args, NULL, 0, t->stream));
    train_must(t, gnn_sync(t->context, t->stream));
    gnn_free(t->context, wide.data);
    return out;
}

enum { W1, B1, W2, B2, WEIGHTS };

int main(int argc, char **argv) {
    static train t;
    train_begin(&t, argc, argv, true, TRAIN_TYPE);
    train_read(&t);
    const gnn_array *x = &t.graph.x;
    int64_t k = SIZE_K, c = SIZE_C;
    if (x->rank != 2 || x->shape[1] != k || t.classes > c) train_must(&t, GNN_SIZE_MISMATCH);
    gnn_tensor in = features(&t, x);
    const train_weight weights[WEIGHTS] = {
        [W1] = {k * H, .fan = k + H}, [B1] = {H}, [W2] = {H * c, .fan = H + c}, [B2] = {c}};
    train_weights(&t, weights, WEIGHTS);
    // clang-format off
    struct ARGS(gcn_step) step = {
        .E = t.graph.edges, .N = t.graph.nodes, .src = t.src, .dst = t.dst, .x = in,
        .w1 = t.w[W1], .b1 = t.w[B1], .w2 = t.w[W2], .b2 = t.w[B2],
        .p = 0.5f, .seed = (int64_t)t.seed, .step = t.step, .dloss = t.scale,
        .dw1 = t.g[W1], .db1 = t.g[B1], .dw2 = t.g[W2], .db2 = t.g[B2]};
    struct ARGS(gcn_loss) loss = {
        .E = t.graph.edges, .N = t.graph.nodes, .src = t.src, .dst = t.dst, .x = in, .w1 = t.w[W1],
        .b1 = t.w[B1], .w2 = t.w[W2], .b2 = t.w[B2], .step = t.step, .loss = t.loss,
        .hits = t.hits};
    // clang-format on
    train_run(&t, &(train_model){.step = {&ARTEFACT(gcn_step), &step, &step.label},
                                 .loss = {&ARTEFACT(gcn_loss), &loss, &loss.label},
                                 .rate = 0.01f,
                                 .epochs = 100});
    return 0;
}
