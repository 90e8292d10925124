// Trains the network of dense.gnn on a graph with dense features, as examples/train does on words.
#include "train.h"

#include "dense.h"

enum { H = SIZE_H };
enum { W1, B1, W2, B2, WEIGHTS };

int main(int argc, char **argv) {
    static train t;
    train_begin(&t, argc, argv, true, TRAIN_f32);
    train_read(&t);
    const gnn_array *x = &t.graph.x;
    int64_t k = SIZE_K, c = SIZE_C;
    if (x->rank != 2 || x->shape[1] != k || t.classes > c) train_must(&t, GNN_SIZE_MISMATCH);
    gnn_tensor features = train_tensor(&t, x->data, (size_t)gnn_array_count(x) * sizeof(float));
    const train_weight weights[WEIGHTS] = {
        [W1] = {k * H, .fan = k + H}, [B1] = {H},
        [W2] = {H * c, .fan = H + c}, [B2] = {c}};
    train_weights(&t, weights, WEIGHTS);
    struct gcn_step_args step = {
        .E = t.graph.edges, .N = t.graph.nodes, .src = t.src, .dst = t.dst, .x = features,
        .w1 = t.w[W1], .b1 = t.w[B1], .w2 = t.w[W2], .b2 = t.w[B2],
        .p = 0.5f, .seed = (int64_t)t.seed, .step = t.step, .dloss = t.scale,
        .dw1 = t.g[W1], .db1 = t.g[B1], .dw2 = t.g[W2], .db2 = t.g[B2]};
    struct gcn_loss_args loss = {
        .E = t.graph.edges, .N = t.graph.nodes, .src = t.src, .dst = t.dst, .x = features,
        .w1 = t.w[W1], .b1 = t.w[B1], .w2 = t.w[W2], .b2 = t.w[B2],
        .step = t.step, .loss = t.loss, .hits = t.hits};
    train_run(&t, &(train_model){.step = {&gcn_step_artefact, &step, &step.label},
                                 .loss = {&gcn_loss_artefact, &loss, &loss.label}, .rate = 0.01f, .epochs = 100});
    return 0;
}
