// Trains the graph attention network of gat.gnn.
#include "train.h"

#include "gat.h"

enum { H = SIZE_H, D = SIZE_D };   // heads and their width
enum { W1, AL1, AR1, B1, W2, AL2, AR2, B2, WEIGHTS };

// A node is its own neighbour: its loop follows its other edges.
static void add_loops(train *t) {
    int64_t n = t->data.graph.nodes, *rowptr = train_zeros((size_t)n + 1, sizeof *rowptr);
    int64_t *col = train_zeros((size_t)(t->data.graph.edges + n), sizeof *col), edges = 0;
    for (int64_t v = 0; v < n; v++) {
        for (int64_t e = t->data.graph.rowptr[v]; e < t->data.graph.rowptr[v + 1]; e++)
            col[edges++] = t->data.graph.col[e];
        col[edges++] = v;
        rowptr[v + 1] = edges;
    }
    t->data.src.index = col;
    t->data.dst.offsets = rowptr;
}

int main(int argc, char **argv) {
    static train t;
    train_begin(&t, argc, argv, true, TRAIN_TYPE);
    train_read(&t);
    add_loops(&t);
    int64_t n = t.data.graph.nodes, k = t.data.words, c = t.data.classes, features = H * D;
    const train_weight weights[WEIGHTS] = {[W1] = {k * features, .fan = k + features},
                                           [AL1] = {features, .fan = D + 1},
                                           [AR1] = {features, .fan = D + 1},
                                           [B1] = {features},
                                           [W2] = {features * c, .fan = features + c},
                                           [AL2] = {c, .fan = c + 1},
                                           [AR2] = {c, .fan = c + 1},
                                           [B2] = {c}};
    train_weights(&t, weights, WEIGHTS);
    // clang-format off
    struct ARGS(gat_step) step = {
        .Z = t.data.entries, .N = n, .K = k, .E = t.data.graph.edges + n, .C = c,
        .paper = t.data.paper, .word = t.data.word, .val = t.data.val, .src = t.data.src,
        .dst = t.data.dst,
        .w1 = t.w[W1], .al1 = t.w[AL1], .ar1 = t.w[AR1], .b1 = t.w[B1],
        .w2 = t.w[W2], .al2 = t.w[AL2], .ar2 = t.w[AR2], .b2 = t.w[B2],
        .p = 0.6f, .decay = 5e-4f, .seed = (int64_t)t.asked.seed, .step = t.step, .dloss = t.scale,
        .dw1 = t.g[W1], .dal1 = t.g[AL1], .dar1 = t.g[AR1], .db1 = t.g[B1],
        .dw2 = t.g[W2], .dal2 = t.g[AL2], .dar2 = t.g[AR2], .db2 = t.g[B2]};
    struct ARGS(gat_loss) loss = {
        .Z = t.data.entries, .N = n, .K = k, .E = t.data.graph.edges + n, .C = c,
        .paper = t.data.paper, .word = t.data.word, .val = t.data.val, .src = t.data.src,
        .dst = t.data.dst, .w1 = t.w[W1], .al1 = t.w[AL1], .ar1 = t.w[AR1], .b1 = t.w[B1],
        .w2 = t.w[W2], .al2 = t.w[AL2], .ar2 = t.w[AR2], .b2 = t.w[B2], .step = t.step,
        .loss = t.loss, .hits = t.hits};
    // clang-format on
    train_run(&t, &(train_model){.step = {&ARTEFACT(gat_step), &step, &step.label},
                                 .loss = {&ARTEFACT(gat_loss), &loss, &loss.label},
                                 .rate = 0.005f,
                                 .epochs = 1000,
                                 .patience = 100});
    return 0;
}
