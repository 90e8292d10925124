// The generators: sizes, units and their edges.
#include "generators.h"

static void put(rt_edge_block *b, int64_t row, int64_t col) {
    if (b) b->edge[b->n++] = (rt_edge){row, col};
}

static int64_t count_edges(const rt_generation *m) { return m->edges; }

static int64_t count_nodes(const rt_generation *m) { return m->nodes; }

static bool square(int64_t n, int64_t *out) { return rt_mul(n, n, out); }

static bool rmat_sizes(rt_generation *m) {
    m->nodes = (int64_t)1 << m->arg[0];
    return rt_mul(m->nodes, m->arg[1], &m->edges);
}

// Chakrabarti, Zhan and Faloutsos, SDM 2004, with Graph500's shares; 16 random bits a level. A word
// has four levels, the first in its low bits; two of them lie apart, so that a sum carries into a
// bit of its own.
#define TWO UINT64_C(0x0000000100000001)

static uint64_t at_least(uint64_t two, uint64_t share) {
    return (two + (0x10000 - share) * TWO) >> 16 & TWO;
}

static int64_t in_turn(uint64_t even, uint64_t odd) {
    return (int64_t)((even << 3 | odd << 2 | even >> 31 | odd >> 32) & 15);
}

static void descend(uint64_t bits, int64_t levels, int64_t *row, int64_t *col) {
    uint64_t even = bits & 0xffff * TWO, odd = bits >> 16 & 0xffff * TWO;
    uint64_t even_row = at_least(even, 49807), odd_row = at_least(odd, 49807);
    uint64_t even_col = at_least(even, 37356) ^ even_row ^ at_least(even, 62259);
    uint64_t odd_col = at_least(odd, 37356) ^ odd_row ^ at_least(odd, 62259);
    *row = *row << levels | in_turn(even_row, odd_row) >> (4 - levels);
    *col = *col << levels | in_turn(even_col, odd_col) >> (4 - levels);
}

static void rmat_edges(const rt_generation *m, rt_random *r, int64_t first, int64_t last,
                       rt_edge_block *b) {
    enum { OF_A_WORD = 4 };
    const int64_t words = m->arg[0] / OF_A_WORD, rest = m->arg[0] % OF_A_WORD;
    rt_random s = *r;   // in registers
    for (int64_t n = b ? 0 : (last - first) * (words + (rest != 0)); n > 0; n--) rt_random_next(&s);
    for (int64_t e = first; e < last && b; e++) {
        int64_t row = 0, col = 0;
        for (int64_t i = 0; i < words; i++) descend(rt_random_next(&s), OF_A_WORD, &row, &col);
        if (rest) descend(rt_random_next(&s), rest, &row, &col);
        put(b, row, col);
    }
    *r = s;
}

static bool listed_sizes(rt_generation *m) {
    m->nodes = m->arg[0];
    m->edges = m->arg[1];
    return true;
}

static void er_edges(const rt_generation *m, rt_random *r, int64_t first, int64_t last,
                     rt_edge_block *b) {
    for (int64_t e = first; e < last; e++) {
        int64_t row = rt_random_below(r, m->nodes);
        put(b, row, rt_random_below(r, m->nodes));
    }
}

// A row's level k is uniform and level k holds 2^k rows, so a row's share is about 1 / (row + 1).
static void hubs_edges(const rt_generation *m, rt_random *r, int64_t first, int64_t last,
                       rt_edge_block *b) {
    int64_t levels = m->nodes > 0 ? 64 - __builtin_clzll((uint64_t)m->nodes) : 0;
    for (int64_t e = first; e < last; e++) {
        int64_t row;
        do {
            int64_t size = (int64_t)1 << rt_random_below(r, levels);
            row = size - 1 + rt_random_below(r, size);
        } while (row >= m->nodes);
        put(b, row, rt_random_below(r, m->nodes));
    }
}

static bool grid_sizes(rt_generation *m) {
    return rt_mul(m->arg[0], m->arg[1], &m->nodes) && rt_mul(m->nodes, 4, &m->edges);
}

static void both_ways(rt_edge_block *b, int64_t u, int64_t v) {
    put(b, u, v);
    put(b, v, u);
}

static void grid_edges(const rt_generation *m, rt_random *r, int64_t first, int64_t last,
                       rt_edge_block *b) {
    (void)r;
    for (int64_t v = first, width = m->arg[0]; v < last; v++) {
        if (v % width + 1 < width) both_ways(b, v, v + 1);
        if (v + width < m->nodes) both_ways(b, v, v + width);
    }
}

static bool line_sizes(rt_generation *m) {
    m->nodes = m->edges = m->arg[0];
    return true;
}

static void star_edges(const rt_generation *m, rt_random *r, int64_t first, int64_t last,
                       rt_edge_block *b) {
    (void)m, (void)r;
    for (int64_t v = first > 1 ? first : 1; v < last; v++) put(b, 0, v);
}

static void path_edges(const rt_generation *m, rt_random *r, int64_t first, int64_t last,
                       rt_edge_block *b) {
    (void)m, (void)r;
    for (int64_t v = first > 1 ? first : 1; v < last; v++) put(b, v, v - 1);
}

static bool empty_sizes(rt_generation *m) {
    m->nodes = m->arg[0];
    return true;
}

static bool clique_sizes(rt_generation *m) {
    m->nodes = m->arg[0];
    return square(m->nodes, &m->edges);
}

static void clique_edges(const rt_generation *m, rt_random *r, int64_t first, int64_t last,
                         rt_edge_block *b) {
    (void)r;
    for (int64_t i = first, row = first / m->nodes, col = first % m->nodes; i < last; i++) {
        if (row != col) put(b, row, col);
        col = col + 1 < m->nodes ? col + 1 : 0;
        row += col == 0;
    }
}

// Every pair is drawn for, so their number bounds the time as well.
static bool batch_sizes(rt_generation *m) {
    int64_t most;
    return square(2 * m->arg[1] - 1, &most) && rt_mul(most, m->arg[0], &m->edges) &&
           rt_mul(m->arg[0], 2 * m->arg[1] - 1, &m->nodes);
}

static int64_t pairs_of(int64_t nodes) { return nodes * (nodes - 1) / 2; }

// The last of n at which what is before does not exceed i.
static int64_t last_before(const int64_t *before, int64_t n, int64_t i) {
    int64_t low = 0, high = n;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (before[middle] <= i) low = middle;
        else high = middle;
    }
    return low;
}

// The node that the i-th of all pairs u < v of so many nodes has as u.
static int64_t pair_begin(int64_t nodes, int64_t i) {
    int64_t low = 0, high = nodes;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (pairs_of(nodes) - pairs_of(nodes - middle) <= i) low = middle;
        else high = middle;
    }
    return low;
}

static void batch_edges(const rt_generation *m, rt_random *r, int64_t first, int64_t last,
                        rt_edge_block *b) {
    const gnn_graph *g = m->g;
    int64_t graph = last_before(m->pairs, g->graphs, first), within = first - m->pairs[graph];
    int64_t begin = g->graph_ptr[graph], end = g->graph_ptr[graph + 1],
            u = pair_begin(end - begin, within);
    int64_t v = u + 1 + within - (pairs_of(end - begin) - pairs_of(end - begin - u));
    for (u += begin, v += begin; first < last; first++, v++) {
        if (v == end) v = ++u + 1;
        while (v >= end) {   // the next graph's
            u = end;
            v = u + 1;
            end = g->graph_ptr[++graph + 1];
        }
        if ((int64_t)(rt_random_next(r) >> 32) < m->arg[2]) both_ways(b, u, v);
    }
}

static int64_t count_pairs(const rt_generation *m) { return m->pairs[m->g->graphs]; }

static gnn_status batch_nodes(rt_generation *m) {
    gnn_graph *g = m->g;
    g->graphs = m->arg[0];
    g->graph_ptr = rt_alloc_array(m->c, g->graphs + 1, sizeof *g->graph_ptr);
    if (!g->graph_ptr) return GNN_NO_MEMORY;
    rt_random r = rt_random_new(m->seed, 1);
    g->graph_ptr[0] = 0;
    for (int64_t b = 0; b < g->graphs; b++)
        g->graph_ptr[b + 1] = g->graph_ptr[b] + 1 + rt_random_below(&r, 2 * m->arg[1] - 1);
    m->nodes = g->graph_ptr[g->graphs];
    m->pairs = rt_alloc_array(m->c, g->graphs + 1, sizeof *m->pairs);
    g->batch = rt_alloc_array(m->c, m->nodes, sizeof *g->batch);
    if (!g->batch || !m->pairs) return GNN_NO_MEMORY;
    m->pairs[0] = 0;
    for (int64_t b = 0; b < g->graphs; b++) {
        for (int64_t v = g->graph_ptr[b]; v < g->graph_ptr[b + 1]; v++) g->batch[v] = b;
        m->pairs[b + 1] = m->pairs[b] + pairs_of(g->graph_ptr[b + 1] - g->graph_ptr[b]);
    }
    return GNN_OK;
}

// ---- The table ----------------------------------------------------------------------------------
#define LARGEST ((int64_t)1 << 40)

// clang-format off
const rt_generator rt_generators[] = {
    {"rmat", "rmat:SCALE:DEGREE[:SEED]", {{"SCALE", 0, 40}, {"DEGREE", 0, LARGEST}}, true,
     rmat_sizes, NULL, count_edges, 1, rmat_edges},
    {"er", "er:N:M[:SEED]", {{"N", 0, LARGEST}, {"M", 0, LARGEST}}, true, listed_sizes, NULL, count_edges, 1, er_edges},
    {"hubs", "hubs:N:M[:SEED]", {{"N", 0, LARGEST}, {"M", 0, LARGEST}}, true, listed_sizes, NULL, count_edges, 1, hubs_edges},
    {"grid", "grid:W:H", {{"W", 0, LARGEST}, {"H", 0, LARGEST}}, false, grid_sizes, NULL, count_nodes, 4, grid_edges},
    {"star", "star:N", {{"N", 0, LARGEST}}, false, line_sizes, NULL, count_nodes, 1, star_edges},
    {"path", "path:N", {{"N", 0, LARGEST}}, false, line_sizes, NULL, count_nodes, 1, path_edges},
    {"empty", "empty:N", {{"N", 0, LARGEST}}, false, empty_sizes, NULL, count_edges, 1, path_edges},
    {"clique", "clique:N", {{"N", 0, LARGEST}}, false, clique_sizes, NULL, count_edges, 1, clique_edges},
    {"batch", "batch:COUNT:MEAN:P[:SEED]", {{"COUNT", 0, LARGEST}, {"MEAN", 1, 1 << 20}, {"P", 0, RT_PROBABILITY}},
     true, batch_sizes, batch_nodes, count_pairs, 2, batch_edges},
    {0},
};
// clang-format on
