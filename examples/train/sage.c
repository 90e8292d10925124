// Trains the GraphSAGE of sage.gnn.
#include "train.h"

#include "sage.h"

enum { H = SIZE_H };   // hidden
enum { U1, W1, B1, U2, W2, B2, WEIGHTS };

int main(int argc, char **argv) {
    static train t;
    train_begin(&t, argc, argv, true, TRAIN_TYPE);
    train_read(&t);
    int64_t k = t.data.words, c = t.data.classes;
    const train_weight weights[WEIGHTS] = {
        [U1] = {k * H, .fan = k + H}, [W1] = {k * H, .fan = k + H}, [B1] = {H},
        [U2] = {H * c, .fan = H + c}, [W2] = {H * c, .fan = H + c}, [B2] = {c}};
    train_weights(&t, weights, WEIGHTS);
    // clang-format off
    struct ARGS(sage_step) step = {
        .Z = t.data.entries, .N = t.data.graph.nodes, .K = k, .E = t.data.graph.edges, .C = c,
        .paper = t.data.paper, .word = t.data.word, .val = t.data.val, .src = t.data.src,
        .dst = t.data.dst,
        .u1 = t.w[U1], .w1 = t.w[W1], .b1 = t.w[B1], .u2 = t.w[U2], .w2 = t.w[W2], .b2 = t.w[B2],
        .p = 0.5f, .decay = 5e-4f, .seed = (int64_t)t.asked.seed, .step = t.step, .dloss = t.scale,
        .du1 = t.g[U1], .dw1 = t.g[W1], .db1 = t.g[B1], .du2 = t.g[U2], .dw2 = t.g[W2],
        .db2 = t.g[B2]};
    struct ARGS(sage_loss) loss = {
        .Z = t.data.entries, .N = t.data.graph.nodes, .K = k, .E = t.data.graph.edges, .C = c,
        .paper = t.data.paper, .word = t.data.word, .val = t.data.val, .src = t.data.src,
        .dst = t.data.dst, .u1 = t.w[U1], .w1 = t.w[W1], .b1 = t.w[B1], .u2 = t.w[U2],
        .w2 = t.w[W2], .b2 = t.w[B2], .step = t.step, .loss = t.loss, .hits = t.hits};
    // clang-format on
    train_run(&t, &(train_model){.step = {&ARTEFACT(sage_step), &step, &step.label},
                                 .loss = {&ARTEFACT(sage_loss), &loss, &loss.label},
                                 .rate = 0.01f,
                                 .epochs = 200});
    return 0;
}
