// Graphs like others: sizes as asked for, degrees of the same shape, what nodes and edges hold, the
// same bits again, clear refusals.
#include "files_support.h"

static gnn_graph generated(gnn_context *c, const char *description) {
    gnn_graph g;
    CHECK(!gnn_graph_generate(c, description, &g), "%s: %s", description, gnn_context_error(c));
    return g;
}

static gnn_graph like(gnn_context *c, const gnn_graph *of, gnn_graph_likeness o) {
    gnn_graph g;
    gnn_status s = gnn_graph_like(c, of, &o, &g);
    CHECK(!s, "like %s: %s", of->name, gnn_context_error(c));
    const char *fault = s ? NULL : test_graph_fault(&g);
    CHECK(!fault, "%s: %s", g.name, fault ? fault : "");
    CHECK(g.nodes == o.nodes && g.edges == o.edges, "%s: %lld nodes, %lld edges", g.name,
          (long long)g.nodes, (long long)g.edges);
    for (int64_t v = 0; v < g.nodes; v++)
        for (int64_t e = g.rowptr[v] + 1; e < g.rowptr[v + 1]; e++)
            CHECK(g.col[e - 1] <= g.col[e], "%s: edge %lld is out of order", g.name, (long long)e);
    return g;
}

static bool same(const gnn_graph *x, const gnn_graph *y) {
    return x->nodes == y->nodes && x->edges == y->edges &&
           !memcmp(x->rowptr, y->rowptr, (size_t)(x->nodes + 1) * sizeof *x->rowptr) &&
           !memcmp(x->col, y->col, (size_t)x->edges * sizeof *x->col);
}

// ---- Shapes -------------------------------------------------------------------------------------
static void skewed(gnn_context *c) {
    gnn_graph of = generated(c, "hubs:4000:40000"),
              smaller = like(c, &of, (gnn_graph_likeness){1000, 10000, 1}),
              larger = like(c, &of, (gnn_graph_likeness){16000, 160000, 1}),
              denser = like(c, &of, (gnn_graph_likeness){4000, 80000, 1});
    gnn_graph_statistics m, small, large, dense;
    CHECK(!gnn_graph_measure(c, &of, &m) && !gnn_graph_measure(c, &smaller, &small) &&
              !gnn_graph_measure(c, &larger, &large) && !gnn_graph_measure(c, &denser, &dense),
          "%s", gnn_context_error(c));
    for (int i = 0; i < 5; i++)
        CHECK(llabs(large.quantiles[i] - m.quantiles[i]) <= 1 + m.quantiles[i] / 4 &&
                  llabs(dense.quantiles[i] - 2 * m.quantiles[i]) <= 2 + m.quantiles[i] / 2,
              "quantile %d: %lld of it, %lld of a larger one, %lld of a denser one", i,
              (long long)m.quantiles[i], (long long)large.quantiles[i],
              (long long)dense.quantiles[i]);
    CHECK(small.max_degree > m.max_degree / 2 && dense.max_degree > 3 * m.max_degree / 2,
          "longest rows: %lld; %lld of a smaller one, %lld of a denser one",
          (long long)m.max_degree, (long long)small.max_degree, (long long)dense.max_degree);
    gnn_graph *all[] = {&of, &smaller, &larger, &denser};
    for (size_t i = 0; i < RT_COUNT(all); i++) gnn_graph_free(c, all[i]);
}

// Of a path no edge leads far.
static void local(gnn_context *c) {
    gnn_graph of = generated(c, "path:1000");
    for (int64_t n = 250; n <= 4000; n *= 4) {
        gnn_graph g = like(c, &of, (gnn_graph_likeness){n, n - 1, 2});
        CHECK(!gnn_graph_expand(c, &g), "%s", gnn_context_error(c));
        for (int64_t e = 0; e < g.edges; e++)
            CHECK(llabs(g.dst[e] - g.col[e]) <= 8 * (1 + n / 1000), "%s: edge %lld -> %lld", g.name,
                  (long long)g.col[e], (long long)g.dst[e]);
        gnn_graph_free(c, &g);
    }
    gnn_graph_free(c, &of);
}

static void batched(gnn_context *c) {
    gnn_graph of = generated(c, "batch:60:9:0.4");
    for (int64_t n = 20; n <= 2000; n *= 10) {
        gnn_graph g = like(c, &of, (gnn_graph_likeness){n, 3 * n, 5});
        CHECK(g.graphs == 60 && g.graph_ptr[60] == n && !gnn_graph_expand(c, &g), "%s: %lld graphs",
              g.name, (long long)g.graphs);
        for (int64_t e = 0; e < g.edges; e++)
            CHECK(g.batch[g.dst[e]] == g.batch[g.col[e]], "%s: edge %lld leaves its graph", g.name,
                  (long long)e);
        gnn_graph_free(c, &g);
    }
    gnn_graph_free(c, &of);
}

// What an edge holds says which one it was, what a node holds likewise.
static void arrays(gnn_context *c) {
    gnn_graph of = generated(c, "rmat:8:6:3,types=7");
    CHECK(!gnn_array_new(c, GNN_F64, 1, &of.edges, &of.weight) &&
              !gnn_array_new(c, GNN_F32, 2, (int64_t[]){of.nodes, 3}, &of.x) &&
              !gnn_array_new(c, GNN_I64, 1, &of.nodes, &of.y),
          "%s", gnn_context_error(c));
    for (int64_t e = 0; e < of.edges; e++) ((double *)of.weight.data)[e] = (double)of.etype[e];
    for (int64_t v = 0; v < of.nodes; v++) {
        ((int64_t *)of.y.data)[v] = v;
        for (int64_t k = 0; k < 3; k++) ((float *)of.x.data)[3 * v + k] = (float)(10 * v + k);
    }
    gnn_graph g = like(c, &of, (gnn_graph_likeness){300, 900, 4});
    CHECK(g.types == 7 && g.etype && g.weight.rank == 1 && g.x.shape[1] == 3 && g.y.rank == 1,
          "%s lacks an array", g.name);
    for (int64_t e = 0; e < g.edges; e++)
        CHECK(((double *)g.weight.data)[e] == (double)g.etype[e], "edge %lld", (long long)e);
    for (int64_t v = 0; v < g.nodes; v++)
        CHECK(((float *)g.x.data)[3 * v + 2] == (float)(10 * ((int64_t *)g.y.data)[v] + 2) &&
                  (!v || ((int64_t *)g.y.data)[v - 1] <= ((int64_t *)g.y.data)[v]),
              "node %lld", (long long)v);
    gnn_graph_free(c, &g);
    gnn_graph_free(c, &of);
}

// ---- Chance and edges of the range --------------------------------------------------------------
static void again(gnn_context *c) {
    gnn_graph of = generated(c, "rmat:9:8"), x = like(c, &of, (gnn_graph_likeness){300, 2000, 1}),
              y = like(c, &of, (gnn_graph_likeness){300, 2000, 1}),
              z = like(c, &of, (gnn_graph_likeness){300, 2000, 2});
    CHECK(same(&x, &y) && !same(&x, &z), "seeds");
    gnn_graph *all[] = {&of, &x, &y, &z};
    for (size_t i = 0; i < RT_COUNT(all); i++) gnn_graph_free(c, all[i]);
}

static const struct {
    const char *of;
    gnn_graph_likeness asked;
    const char *error;   // NULL: it is made
} bounds[] = {
    {"empty:0", {0, 0, 1}, NULL},
    {"empty:5", {9, 0, 1}, NULL},
    {"star:2000", {1, 7, 1}, NULL},
    {"path:2", {1, 1, 1}, NULL},
    {"clique:6", {0, 0, 1}, NULL},
    {"clique:6", {6, 0, 1}, NULL},
    {"empty:0", {3, 0, 1}, "no graph of 3 nodes and 0 edges is like one of 0 and 0"},
    {"empty:5", {5, 1, 1}, "no graph of 5 nodes and 1 edges is like one of 5 and 0"},
    {"path:3", {0, 1, 1}, "no graph of 0 nodes and 1 edges is like one of 3 and 2"},
    {"path:3", {-1, 1, 1}, "no graph of -1 nodes"},
    {"path:3", {INT64_MAX, 1, 1}, "do not fit the memory"},
    {"path:3", {3, INT64_MAX, 1}, "do not fit the memory"},
};

static void ends(gnn_context *c) {
    for (size_t i = 0; i < RT_COUNT(bounds); i++) {
        gnn_graph of = generated(c, bounds[i].of), g = {0};
        if (!bounds[i].error) g = like(c, &of, bounds[i].asked);
        else
            CHECK(gnn_graph_like(c, &of, &bounds[i].asked, &g) &&
                      strstr(gnn_context_error(c), bounds[i].error) && test_is_empty(&g, sizeof g),
                  "like %s: '%s'", bounds[i].of, gnn_context_error(c));
        gnn_context_clear_error(c);
        gnn_graph_free(c, &g);
        gnn_graph_free(c, &of);
    }
    CHECK(gnn_graph_like(c, NULL, NULL, NULL) == GNN_BAD_ARGUMENT, "of nothing");
}

int main(void) {
    gnn_context *c = test_context(NULL);
    skewed(c);
    local(c);
    batched(c);
    arrays(c);
    again(c);
    ends(c);
    gnn_context_free(c);
    return test_failures != 0;
}
