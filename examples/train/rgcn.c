// Trains the relational graph convolutional networks of rgcn.gnn: with --bases the second.
#include "train.h"

#include "rgcn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HIDDEN = SIZE_H, BASES = SIZE_B };

// Takes an option of this program's own out of the command line.
static bool taken(int *argc, char **argv, const char *option) {
    for (int i = 1; i < *argc; i++) {
        if (strcmp(argv[i], option) != 0) continue;
        memmove(argv + i, argv + i + 1, (size_t)(*argc - i) * sizeof *argv);
        --*argc;
        return true;
    }
    return false;
}

static gnn_map types(const train *t) {
    return (gnn_map){.index = t->data.graph.etype, .width = 64};
}

// The pairs of a relation and a source that edges have, numbered as they come.
static gnn_map pairs(const train *t, int64_t *count) {
    const gnn_graph *g = &t->data.graph;
    int64_t *number = train_zeros((size_t)(g->types * g->nodes), sizeof *number);   // 0: none yet
    int64_t *row = train_zeros((size_t)g->edges, sizeof *row);
    *count = 0;
    for (int64_t e = 0; e < g->edges; e++) {
        int64_t *n = &number[g->etype[e] * g->nodes + g->col[e]];
        if (!*n) *n = ++*count;
        row[e] = *n - 1;
    }
    free(number);
    return (gnn_map){.index = row, .width = 64};
}

static void plain(train *t) {
    enum { W1, S1, W2, S2, WEIGHTS };
    int64_t n = t->data.graph.nodes, r = t->data.graph.types, c = t->data.classes, q;
    gnn_map row = pairs(t, &q);
    const train_weight weights[WEIGHTS] = {[W1] = {q * HIDDEN, .fan = n + HIDDEN},
                                           [S1] = {n * HIDDEN, .fan = n + HIDDEN},
                                           [W2] = {r * HIDDEN * c, .fan = HIDDEN + c},
                                           [S2] = {HIDDEN * c, .fan = HIDDEN + c}};
    train_weights(t, weights, WEIGHTS);
    // clang-format off
    struct ARGS(rgcn_step) step = {
        .E = t->data.graph.edges, .N = n, .R = r, .Q = q, .C = c,
        .src = t->data.src, .dst = t->data.dst, .type = types(t), .row = row,
        .w1 = t->w[W1], .s1 = t->w[S1], .w2 = t->w[W2], .s2 = t->w[S2], .dloss = t->scale,
        .dw1 = t->g[W1], .ds1 = t->g[S1], .dw2 = t->g[W2], .ds2 = t->g[S2]};
    struct ARGS(rgcn_loss) loss = {
        .E = t->data.graph.edges, .N = n, .R = r, .Q = q, .C = c, .src = t->data.src,
        .dst = t->data.dst, .type = types(t), .row = row, .w1 = t->w[W1], .s1 = t->w[S1],
        .w2 = t->w[W2], .s2 = t->w[S2], .loss = t->loss, .hits = t->hits};
    // clang-format on
    train_run(t, &(train_model){.step = {&ARTEFACT(rgcn_step), &step, &step.label},
                                .loss = {&ARTEFACT(rgcn_loss), &loss, &loss.label},
                                .rate = 0.01f,
                                .epochs = 50});
}

static void by_bases(train *t) {
    enum { A1, B1, W1, A2, B2, W2, WEIGHTS };
    int64_t n = t->data.graph.nodes, r = t->data.graph.types, c = t->data.classes;
    const train_weight weights[WEIGHTS] = {[A1] = {r * BASES, .fan = r + 1 + BASES},
                                           [B1] = {BASES, .fan = r + 1 + BASES},
                                           [W1] = {n * BASES * HIDDEN, .fan = n + HIDDEN},
                                           [A2] = {r * BASES, .fan = r + 1 + BASES},
                                           [B2] = {BASES, .fan = r + 1 + BASES},
                                           [W2] = {BASES * HIDDEN * c, .fan = HIDDEN + c}};
    train_weights(t, weights, WEIGHTS);
    struct ARGS(rgcn_basis_step) step = {.E = t->data.graph.edges,
                                         .N = n,
                                         .R = r,
                                         .C = c,
                                         .src = t->data.src,
                                         .dst = t->data.dst,
                                         .type = types(t),
                                         .a1 = t->w[A1],
                                         .b1 = t->w[B1],
                                         .w1 = t->w[W1],
                                         .a2 = t->w[A2],
                                         .b2 = t->w[B2],
                                         .w2 = t->w[W2],
                                         .decay = 5e-4f,
                                         .dloss = t->scale,
                                         .da1 = t->g[A1],
                                         .db1 = t->g[B1],
                                         .dw1 = t->g[W1],
                                         .da2 = t->g[A2],
                                         .db2 = t->g[B2],
                                         .dw2 = t->g[W2]};
    struct ARGS(rgcn_basis_loss) loss = {.E = t->data.graph.edges,
                                         .N = n,
                                         .R = r,
                                         .C = c,
                                         .src = t->data.src,
                                         .dst = t->data.dst,
                                         .type = types(t),
                                         .a1 = t->w[A1],
                                         .b1 = t->w[B1],
                                         .w1 = t->w[W1],
                                         .a2 = t->w[A2],
                                         .b2 = t->w[B2],
                                         .w2 = t->w[W2],
                                         .loss = t->loss,
                                         .hits = t->hits};
    train_run(t, &(train_model){.step = {&ARTEFACT(rgcn_basis_step), &step, &step.label},
                                .loss = {&ARTEFACT(rgcn_basis_loss), &loss, &loss.label},
                                .rate = 0.01f,
                                .epochs = 50});
}

int main(int argc, char **argv) {
    static train t;
    bool bases = taken(&argc, argv, "--bases");
    train_begin(&t, argc, argv, true, TRAIN_TYPE);
    train_read(&t);
    if (!t.data.graph.etype) {
        fprintf(stderr, "%s: needs etype\n", t.asked.file);
        return 1;
    }
    if (bases) by_bases(&t);
    else plain(&t);
    return 0;
}
