// Generators: sizes, shapes and order as documented, the same bits everywhere, and clear refusals.
#include "files_support.h"

static gnn_graph make(gnn_context *c, const char *description) {
    gnn_graph g;
    gnn_status s = gnn_graph_generate(c, description, &g);
    CHECK(!s, "%s: %s", description, gnn_context_error(c));
    const char *fault = s ? NULL : test_graph_fault(&g);
    CHECK(!fault, "%s: %s", description, fault ? fault : "");
    for (int64_t v = 0; v < g.nodes; v++)
        for (int64_t e = g.rowptr[v] + 1; e < g.rowptr[v + 1]; e++) {
            bool sorted = g.col[e - 1] < g.col[e] ||
                          (g.col[e - 1] == g.col[e] && (!g.etype || g.etype[e - 1] <= g.etype[e]));
            CHECK(sorted, "%s: edge %lld is out of order", description, (long long)e);
        }
    return g;
}

static uint64_t digest(const gnn_graph *g) {
    uint64_t h = 0xcbf29ce484222325u;
    for (int64_t i = 0; i <= g->nodes; i++) h = (h ^ (uint64_t)g->rowptr[i]) * 0x100000001b3u;
    for (int64_t i = 0; i < g->edges; i++) h = (h ^ (uint64_t)g->col[i]) * 0x100000001b3u;
    for (int64_t i = 0; i < g->edges && g->etype; i++)
        h = (h ^ (uint64_t)g->etype[i]) * 0x100000001b3u;
    return h;
}

static const struct {
    const char *description;
    int64_t nodes, edges;
    uint64_t digest;
} known[] = {
    {"rmat:0:3", 1, 3, 0x04cc4bc0228ab39c},
    {"rmat:8:8", 256, 2048, 0xe865d483c1583ba2},
    {"rmat:8:8:1", 256, 2048, 0xe865d483c1583ba2},
    {"rmat:8:8:2", 256, 2048, 0xcd83a63654522375},
    {"rmat:9:4:7,types=16", 512, 2048, 0x1b5b3bec5f2c6226},
    {"er:0:0", 0, 0, 0xaf63bd4c8601b7df},
    {"er:1:5", 1, 5, 0x289b251610ce8b8a},
    {"er:100:1000:3", 100, 1000, 0x1053dd3b7a1cba89},
    {"hubs:1000:5000", 1000, 5000, 0x874b8fac69438c88},
    {"grid:0:5", 0, 0, 0xaf63bd4c8601b7df},
    {"grid:1:1", 1, 0, 0x08328807b4eb6fed},
    {"grid:4:3", 12, 34, 0xe222140a14def3c1},
    {"star:1", 1, 0, 0x08328807b4eb6fed},
    {"star:50", 50, 49, 0x1f11ed0ea475e5d0},
    {"path:0", 0, 0, 0xaf63bd4c8601b7df},
    {"path:5", 5, 4, 0x22f21c4ebc0d6e91},
    {"empty:0", 0, 0, 0xaf63bd4c8601b7df},
    {"empty:7", 7, 0, 0xa8c7f832281a39c5},
    {"clique:6", 6, 30, 0x6c5b5609162c77c5},
    {"batch:0:5:1", 0, 0, 0xaf63bd4c8601b7df},
    {"batch:9:1:1", 9, 0, 0x69d307cc20f6ef8d},
    {"batch:20:8:0.25:5", 162, 328, 0x1160ca59516f811b},
};

static void sizes_and_bits(gnn_context *c) {
    for (size_t i = 0; i < RT_COUNT(known); i++) {
        gnn_graph g = make(c, known[i].description), again = make(c, known[i].description);
        CHECK(g.nodes == known[i].nodes && g.edges == known[i].edges && g.sources == g.nodes,
              "%s: %lld nodes, %lld edges", known[i].description, (long long)g.nodes,
              (long long)g.edges);
        CHECK(digest(&g) == known[i].digest, "%s: digest 0x%016llx", known[i].description,
              (unsigned long long)digest(&g));
        CHECK(digest(&g) == digest(&again), "%s differs from itself", known[i].description);
        CHECK(!strcmp(g.name, known[i].description), "%s is named %s", known[i].description,
              g.name);
        gnn_graph_free(c, &g);
        gnn_graph_free(c, &again);
    }
}

static void shapes(gnn_context *c) {
    gnn_graph_statistics m;
    gnn_graph g = make(c, "star:1000");
    CHECK(g.rowptr[1] == 999 && !gnn_graph_measure(c, &g, &m) && m.max_degree == 999 &&
              m.empty_rows == 999,
          "star");
    gnn_graph_free(c, &g);
    g = make(c, "hubs:1024:100000");
    CHECK(!gnn_graph_measure(c, &g, &m) && m.max_degree > 50 * m.quantiles[1],
          "hubs: max %lld, median %lld", (long long)m.max_degree, (long long)m.quantiles[1]);
    gnn_graph_free(c, &g);
    g = make(c, "batch:500:16:0.5");
    CHECK(g.graphs == 500 && g.nodes > 7000 && g.nodes < 9000, "batch: %lld nodes",
          (long long)g.nodes);
    CHECK(!gnn_graph_expand(c, &g), "%s", gnn_context_error(c));
    for (int64_t e = 0; e < g.edges; e++)
        CHECK(g.batch[g.dst[e]] == g.batch[g.col[e]] && g.dst[e] != g.col[e],
              "batch: edge %lld leaves its graph", (long long)e);
    gnn_graph_free(c, &g);
    g = make(c, "er:10:10000,types=5");
    int64_t count[5] = {0};
    for (int64_t e = 0; e < g.edges; e++) count[g.etype[e]]++;
    for (int t = 0; t < 5; t++)
        CHECK(count[t] > 1800 && count[t] < 2200, "type %d has %lld edges", t, (long long)count[t]);
    CHECK(g.types == 5, "%lld types", (long long)g.types);
    gnn_graph_free(c, &g);
}

static const struct {
    const char *description, *error;
    gnn_status status;
} refused[] = {
    {"", "generator '': expected rmat, er, hubs, grid, star, path, empty, clique or batch",
     GNN_BAD_GENERATOR},
    {"tree:3", "expected rmat, er, hubs", GNN_BAD_GENERATOR},
    {"rmat", "generator 'rmat': expected rmat:SCALE:DEGREE[:SEED]", GNN_BAD_GENERATOR},
    {"rmat:10", "expected rmat:SCALE:DEGREE[:SEED]", GNN_BAD_GENERATOR},
    {"rmat:10:x", "DEGREE must be an integer from 0 to 1099511627776, got 'x'", GNN_BAD_GENERATOR},
    {"rmat:10:", "DEGREE must be an integer from 0 to 1099511627776, got ''", GNN_BAD_GENERATOR},
    {"rmat:41:1", "SCALE must be an integer from 0 to 40, got '41'", GNN_BAD_GENERATOR},
    {"rmat:-1:1", "SCALE must be an integer from 0 to 40, got '-1'", GNN_BAD_GENERATOR},
    {"rmat: 1:1", "SCALE must be an integer from 0 to 40, got ' 1'", GNN_BAD_GENERATOR},
    {"rmat:1e1:1", "got '1e1'", GNN_BAD_GENERATOR},
    {"rmat:40:1099511627776", "its sizes do not fit 64 bits", GNN_TOO_LARGE},
    {"rmat:40:1", "do not fit the memory of", GNN_TOO_LARGE},
    {"rmat:3:3:99999999999999999999", "SEED must be an integer from 0 to 9223372036854775807",
     GNN_BAD_GENERATOR},
    {"rmat:3:3:1:1", "expected rmat:SCALE:DEGREE[:SEED]", GNN_BAD_GENERATOR},
    {"star:3:1", "expected star:N", GNN_BAD_GENERATOR},
    {"er:0:1", "expected nodes where there are edges", GNN_BAD_GENERATOR},
    {"er:99999999999999999999:1", "N must be an integer from 0 to 1099511627776",
     GNN_BAD_GENERATOR},
    {"clique:1099511627776", "its sizes do not fit 64 bits", GNN_TOO_LARGE},
    {"grid:1099511627776:1099511627776", "its sizes do not fit 64 bits", GNN_TOO_LARGE},
    {"batch:3:0:1", "MEAN must be an integer from 1 to 1048576, got '0'", GNN_BAD_GENERATOR},
    {"batch:3:3:1.5", "P must be a number from 0 to 1, got '1.5'", GNN_BAD_GENERATOR},
    {"batch:3:3:nan", "P must be a number from 0 to 1, got 'nan'", GNN_BAD_GENERATOR},
    {"batch:3:3:.5", "P must be a number from 0 to 1, got '.5'", GNN_BAD_GENERATOR},
    {"star:3,types=0", "types must be an integer from 1 to 2147483647, got '0'", GNN_BAD_GENERATOR},
    {"star:3,types=", "types must be an integer from 1 to 2147483647, got ''", GNN_BAD_GENERATOR},
    {"star:3,weights", "expected ',types=R' after the comma", GNN_BAD_GENERATOR},
};

int main(void) {
    gnn_context *c = test_context(NULL);
    sizes_and_bits(c);
    shapes(c);
    for (size_t i = 0; i < RT_COUNT(refused); i++) {
        gnn_graph g;
        gnn_status s = gnn_graph_generate(c, refused[i].description, &g);
        CHECK(s == refused[i].status, "%s: status %d", refused[i].description, s);
        CHECK(strstr(gnn_context_error(c), refused[i].error), "%s: '%s'", refused[i].description,
              gnn_context_error(c));
        CHECK(test_is_empty(&g, sizeof g), "%s: left something behind", refused[i].description);
        gnn_context_clear_error(c);
        gnn_graph_free(c, &g);
    }
    gnn_context_free(c);
    return test_failures != 0;
}
