// Trains the graph isomorphism network of gin.gnn.
#include "train.h"

#include "gin.h"

enum { H = SIZE_H };   // hidden
enum { EPS1, W1, B1, V1, C1, EPS2, W2, B2, V2, C2, WEIGHTS };

int main(int argc, char **argv) {
    static train t;
    train_begin(&t, argc, argv, true, TRAIN_TYPE);
    train_read(&t);
    int64_t k = t.data.words, c = t.data.classes;
    // clang-format off
    const train_weight weights[WEIGHTS] = {
        [EPS1] = {1}, [W1] = {k * H, .fan = k + H}, [B1] = {H}, [V1] = {H * H, .fan = H + H},
        [C1] = {H},
        [EPS2] = {1}, [W2] = {H * H, .fan = H + H}, [B2] = {H}, [V2] = {H * c, .fan = H + c},
        [C2] = {c}};
    // clang-format on
    train_weights(&t, weights, WEIGHTS);
    // clang-format off
    struct ARGS(gin_step) step = {
        .Z = t.data.entries, .N = t.data.graph.nodes, .K = k, .E = t.data.graph.edges, .C = c,
        .paper = t.data.paper, .word = t.data.word, .val = t.data.val, .src = t.data.src,
        .dst = t.data.dst,
        .eps1 = t.w[EPS1], .w1 = t.w[W1], .b1 = t.w[B1], .v1 = t.w[V1], .c1 = t.w[C1],
        .eps2 = t.w[EPS2], .w2 = t.w[W2], .b2 = t.w[B2], .v2 = t.w[V2], .c2 = t.w[C2],
        .p = 0.5f, .decay = 5e-4f, .seed = (int64_t)t.asked.seed, .step = t.step, .dloss = t.scale,
        .deps1 = t.g[EPS1], .dw1 = t.g[W1], .db1 = t.g[B1], .dv1 = t.g[V1], .dc1 = t.g[C1],
        .deps2 = t.g[EPS2], .dw2 = t.g[W2], .db2 = t.g[B2], .dv2 = t.g[V2], .dc2 = t.g[C2]};
    struct ARGS(gin_loss) loss = {
        .Z = t.data.entries, .N = t.data.graph.nodes, .K = k, .E = t.data.graph.edges, .C = c,
        .paper = t.data.paper, .word = t.data.word, .val = t.data.val, .src = t.data.src,
        .dst = t.data.dst, .eps1 = t.w[EPS1], .w1 = t.w[W1], .b1 = t.w[B1], .v1 = t.w[V1],
        .c1 = t.w[C1], .eps2 = t.w[EPS2], .w2 = t.w[W2], .b2 = t.w[B2], .v2 = t.w[V2],
        .c2 = t.w[C2], .step = t.step, .loss = t.loss, .hits = t.hits};
    // clang-format on
    train_run(&t, &(train_model){.step = {&ARTEFACT(gin_step), &step, &step.label},
                                 .loss = {&ARTEFACT(gin_loss), &loss, &loss.label},
                                 .rate = 0.002f,
                                 .epochs = 200,
                                 .patience = 50});
    return 0;
}
