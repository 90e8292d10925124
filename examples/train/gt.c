// Trains the graph transformer of gt.gnn on graphs with planted clusters: nodes of one cluster are
// joined more often than others, and of some nodes the cluster is known. Who is not joined counts,
// too: so its edges are all pairs of nodes of a graph, each with whether the two are joined.
#include "train.h"

#include "gt.h"

#include <math.h>
#include <stdio.h>

enum { K = SIZE_K, H = SIZE_H, D = SIZE_D, J = SIZE_J, C = SIZE_C, M = SIZE_M, R = SIZE_R };
enum { GRAPHS = 160, FIT = 120, VALIDATION = 16, FEWEST = 6, MOST = 14 };   // nodes of a cluster
enum { W0, WQ, WK, WV, WO, BIAS, S1, T1, W1, C1, W2, C2, S2, T2, W3, WEIGHTS };
// How often two nodes are joined, of one cluster and of two, and how often the cluster of a node is
// known.
static const double inside = 0.6, across = 0.05, told = 0.25;

typedef struct {   // one graph; its nodes stand in the order of their clusters
    int n, cluster[C * MOST];
    bool known[C * MOST], joined[C * MOST][C * MOST];
} small;

static void draw_graph(train *t, small *g) {
    g->n = 0;
    for (int c = 0; c < C; c++) {
        int size = FEWEST + (int)(train_uniform(t) * (MOST - FEWEST + 1));
        for (int i = 0; i < size; i++) g->cluster[g->n++] = c;
    }
    for (int v = 0; v < g->n; v++) {
        g->known[v] = train_uniform(t) < told;
        for (int u = 0; u <= v; u++)
            g->joined[v][u] = g->joined[u][v] =
                u < v && train_uniform(t) < (g->cluster[u] == g->cluster[v] ? inside : across);
    }
}

// Whether the likeliest cluster of v is its own, for one who knows how often nodes are joined and
// the clusters of all the others (none does better), or of those that are told.
static bool likely(const small *g, int v, bool all) {
    double best = -INFINITY;
    int at = 0;
    for (int c = 0; c < C; c++) {
        double sum = 0;
        for (int u = 0; u < g->n; u++)
            if (u != v && g->cluster[u] == c && (all || g->known[u]))
                sum += g->joined[v][u] ? log(inside / across) : log((1 - inside) / (1 - across));
        if (sum > best) best = sum, at = c;
    }
    return at == g->cluster[v];
}

typedef struct {
    int64_t nodes, pairs, *rowptr, *col, *joined, *hint, *label[TRAIN_SETS];
    // labelled nodes; those of the test likely by what is told, by all
    int64_t count[TRAIN_SETS], least, most;
} batch;

static void add_node(batch *b, const small *g, int v, int set) {
    int64_t first = b->nodes - v;
    bool known = g->known[v];
    for (int u = 0; u < g->n; u++) {
        if (u == v) continue;
        b->joined[b->pairs] = g->joined[v][u];
        b->col[b->pairs++] = first + u;
    }
    b->hint[b->nodes] = known ? g->cluster[v] : C;
    for (int s = 0; s < TRAIN_SETS; s++)
        b->label[s][b->nodes] = s == set && !known ? g->cluster[v] : -1;
    b->count[set] += !known;
    b->least += set == TRAIN_TEST && !known && likely(g, v, false);
    b->most += set == TRAIN_TEST && !known && likely(g, v, true);
    b->rowptr[++b->nodes] = b->pairs;
}

static batch draw_batch(train *t) {
    static small g;
    size_t nodes = (size_t)GRAPHS * C * MOST;
    batch b = {.rowptr = train_zeros(nodes + 1, sizeof(int64_t)),
               .col = train_zeros(nodes * C * MOST, sizeof(int64_t)),
               .joined = train_zeros(nodes * C * MOST, sizeof(int64_t)),
               .hint = train_zeros(nodes, sizeof(int64_t))};
    for (int s = 0; s < TRAIN_SETS; s++) b.label[s] = train_zeros(nodes, sizeof(int64_t));
    for (int i = 0; i < GRAPHS; i++) {
        int set = i < FIT ? TRAIN_FIT : i < FIT + VALIDATION ? TRAIN_VALIDATION : TRAIN_TEST;
        draw_graph(t, &g);
        for (int v = 0; v < g.n; v++) add_node(&b, &g, v, set);
    }
    for (int s = 0; s < TRAIN_SETS; s++)
        t->data.set[s] = (train_set){{.index = b.label[s], .width = 64}, b.count[s]};
    return b;
}

int main(int argc, char **argv) {
    static train t;
    train_begin(&t, argc, argv, false, TRAIN_TYPE);
    batch b = draw_batch(&t);
    double percent = 100 / (double)b.count[TRAIN_TEST];
    printf(
        "%lld nodes, %lld pairs in %d graphs; accuracy by chance %.1f, by nodes told %.1f, at most %.1f\n",
        (long long)b.nodes, (long long)b.pairs, GRAPHS, 100.0 / C, percent * (double)b.least,
        percent * (double)b.most);
    const train_weight weights[WEIGHTS] = {[W0] = {M * K, .fan = M + K},
                                           [WQ] = {K * H * D, .fan = K + H * D},
                                           [WK] = {K * H * D, .fan = K + H * D},
                                           [WV] = {K * H * D, .fan = K + H * D},
                                           [WO] = {H * D * K, .fan = H * D + K},
                                           [BIAS] = {R * H},
                                           [S1] = {K, .value = 1},
                                           [T1] = {K},
                                           [S2] = {K, .value = 1},
                                           [T2] = {K},
                                           [W1] = {K * J, .fan = K + J},
                                           [C1] = {J},
                                           [W2] = {J * K, .fan = J + K},
                                           [C2] = {K},
                                           [W3] = {K * C}};   // all are as likely at first
    train_weights(&t, weights, WEIGHTS);
    gnn_map src = {.index = b.col, .width = 64}, dst = {.offsets = b.rowptr, .width = 64};
    gnn_map joined = {.index = b.joined, .width = 64}, hint = {.index = b.hint, .width = 64};
    // clang-format off
    struct ARGS(gt_step) step = {
        .E = b.pairs, .N = b.nodes, .src = src, .dst = dst, .joined = joined, .hint = hint,
        .w0 = t.w[W0], .wq = t.w[WQ], .wk = t.w[WK], .wv = t.w[WV], .wo = t.w[WO],
        .bias = t.w[BIAS],
        .s1 = t.w[S1], .t1 = t.w[T1], .s2 = t.w[S2], .t2 = t.w[T2],
        .w1 = t.w[W1], .c1 = t.w[C1], .w2 = t.w[W2], .c2 = t.w[C2], .w3 = t.w[W3],
        .p = 0.3f, .seed = (int64_t)t.asked.seed, .step = t.step, .dloss = t.scale,
        .dw0 = t.g[W0], .dwq = t.g[WQ], .dwk = t.g[WK], .dwv = t.g[WV], .dwo = t.g[WO],
        .dbias = t.g[BIAS], .ds1 = t.g[S1], .dt1 = t.g[T1], .ds2 = t.g[S2], .dt2 = t.g[T2],
        .dw1 = t.g[W1], .dc1 = t.g[C1], .dw2 = t.g[W2], .dc2 = t.g[C2], .dw3 = t.g[W3]};
    struct ARGS(gt_loss) loss = {
        .E = b.pairs, .N = b.nodes, .src = src, .dst = dst, .joined = joined, .hint = hint,
        .w0 = t.w[W0], .wq = t.w[WQ], .wk = t.w[WK], .wv = t.w[WV], .wo = t.w[WO],
        .bias = t.w[BIAS], .s1 = t.w[S1], .t1 = t.w[T1], .s2 = t.w[S2], .t2 = t.w[T2],
        .w1 = t.w[W1], .c1 = t.w[C1], .w2 = t.w[W2], .c2 = t.w[C2], .w3 = t.w[W3], .step = t.step,
        .loss = t.loss, .hits = t.hits};
    // clang-format on
    train_run(&t, &(train_model){.step = {&ARTEFACT(gt_step), &step, &step.label},
                                 .loss = {&ARTEFACT(gt_loss), &loss, &loss.label},
                                 .rate = 0.01f,
                                 .epochs = 300,
                                 .patience = 100});
    return 0;
}
