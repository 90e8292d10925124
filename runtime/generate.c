// Graphs from a description such as "rmat:10:8:1,types=16". Only integers decide, so every machine makes the
// same graph: xoshiro256** (Blackman and Vigna, 2018), seeded by splitmix64. Each generator runs twice, to
// count and to place.
#define _DEFAULT_SOURCE
#include "files.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    uint64_t s[4];
} random_state;
typedef struct generator generator;
typedef struct {
    gnn_context *c;
    const char *description;
    const generator *kind;
    int64_t arg[3];         // of the parameters; a probability in 2^-32
    int64_t seed, types;    // types 0: none
    int64_t nodes, edges;   // edges: about as many
    random_state random;
    rt_rows rows;
    bool placing;
    gnn_graph *g;
} generation;

// ---- Random numbers --------------------------------------------------------------------------------------
static uint64_t splitmix64(uint64_t *x)
{
    uint64_t z = *x += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// Streams of one seed are independent.
static random_state random_new(int64_t seed, uint64_t stream)
{
    uint64_t x = (uint64_t)seed + (stream << 56);
    random_state r;
    for (int i = 0; i < 4; i++)
        r.s[i] = splitmix64(&x);
    return r;
}

static uint64_t rotate(uint64_t x, int k)
{
    return x << k | x >> (64 - k);
}

static uint64_t next(random_state *r)
{
    uint64_t *s = r->s, result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

// Uniform below n > 0, by rejection.
static int64_t below(random_state *r, int64_t n)
{
    uint64_t mask = n > 1 ? UINT64_MAX >> __builtin_clzll((uint64_t)n - 1) : 0, x;
    do
        x = next(r) & mask;
    while (x >= (uint64_t)n);
    return (int64_t)x;
}

// ---- Generators ------------------------------------------------------------------------------------------
static void emit(generation *m, int64_t row, int64_t col)
{
    if (m->placing)
        rt_rows_place(&m->rows, row, col, 0);
    else
        rt_rows_count(&m->rows, row);
}

static bool square(int64_t n, int64_t *out)
{
    return rt_mul(n, n, out);
}

static bool rmat_sizes(generation *m)
{
    m->nodes = (int64_t)1 << m->arg[0];
    return rt_mul(m->nodes, m->arg[1], &m->edges);
}

// Chakrabarti, Zhan and Faloutsos, SDM 2004, with Graph500's shares; 16 random bits a level.
static void rmat_edges(generation *m)
{
    for (int64_t e = 0; e < m->edges; e++) {
        int64_t row = 0, col = 0;
        uint64_t bits = 0;
        for (int64_t level = 0; level < m->arg[0]; level++, bits >>= 16) {
            if (level % 4 == 0)
                bits = next(&m->random);
            uint64_t x = bits & 0xffff;
            row = row << 1 | (x >= 49807);
            col = col << 1 | ((x >= 37356 && x < 49807) || x >= 62259);
        }
        emit(m, row, col);
    }
}

static bool listed_sizes(generation *m)
{
    m->nodes = m->arg[0];
    m->edges = m->arg[1];
    return true;
}

static void er_edges(generation *m)
{
    for (int64_t e = 0; e < m->edges; e++) {
        int64_t row = below(&m->random, m->nodes);
        emit(m, row, below(&m->random, m->nodes));
    }
}

// A row's level k is uniform and level k holds 2^k rows, so a row's share is about 1 / (row + 1).
static void hubs_edges(generation *m)
{
    int64_t levels = m->nodes > 0 ? 64 - __builtin_clzll((uint64_t)m->nodes) : 0;
    for (int64_t e = 0; e < m->edges; e++) {
        int64_t row;
        do {
            int64_t size = (int64_t)1 << below(&m->random, levels);
            row = size - 1 + below(&m->random, size);
        } while (row >= m->nodes);
        emit(m, row, below(&m->random, m->nodes));
    }
}

static bool grid_sizes(generation *m)
{
    return rt_mul(m->arg[0], m->arg[1], &m->nodes) && rt_mul(m->nodes, 4, &m->edges);
}

static void both_ways(generation *m, int64_t u, int64_t v)
{
    emit(m, u, v);
    emit(m, v, u);
}

static void grid_edges(generation *m)
{
    int64_t width = m->arg[0];
    for (int64_t v = 0; v < m->nodes; v++) {
        if (v % width + 1 < width)
            both_ways(m, v, v + 1);
        if (v + width < m->nodes)
            both_ways(m, v, v + width);
    }
}

static bool line_sizes(generation *m)
{
    m->nodes = m->edges = m->arg[0];
    return true;
}

static void star_edges(generation *m)
{
    for (int64_t v = 1; v < m->nodes; v++)
        emit(m, 0, v);
}

static void path_edges(generation *m)
{
    for (int64_t v = 1; v < m->nodes; v++)
        emit(m, v, v - 1);
}

static bool empty_sizes(generation *m)
{
    m->nodes = m->arg[0];
    return true;
}

static void no_edges(generation *m)
{
    (void)m;
}

static bool clique_sizes(generation *m)
{
    m->nodes = m->arg[0];
    return square(m->nodes, &m->edges);
}

static void clique_edges(generation *m)
{
    for (int64_t row = 0; row < m->nodes; row++)
        for (int64_t col = 0; col < m->nodes; col++)
            if (row != col)
                emit(m, row, col);
}

// Every pair is drawn for, so their number bounds the time as well.
static bool batch_sizes(generation *m)
{
    int64_t most;
    return square(2 * m->arg[1] - 1, &most) && rt_mul(most, m->arg[0], &m->edges) &&
           rt_mul(m->arg[0], 2 * m->arg[1] - 1, &m->nodes);
}

static void batch_edges(generation *m)
{
    for (int64_t b = 0; b < m->g->graphs; b++)
        for (int64_t u = m->g->graph_ptr[b]; u < m->g->graph_ptr[b + 1]; u++)
            for (int64_t v = u + 1; v < m->g->graph_ptr[b + 1]; v++)
                if ((int64_t)(next(&m->random) >> 32) < m->arg[2])
                    both_ways(m, u, v);
}

static gnn_status batch_nodes(generation *m)
{
    gnn_graph *g = m->g;
    g->graphs = m->arg[0];
    g->graph_ptr = rt_alloc_array(m->c, g->graphs + 1, sizeof *g->graph_ptr);
    if (!g->graph_ptr)
        return GNN_NO_MEMORY;
    random_state r = random_new(m->seed, 1);
    g->graph_ptr[0] = 0;
    for (int64_t b = 0; b < g->graphs; b++)
        g->graph_ptr[b + 1] = g->graph_ptr[b] + 1 + below(&r, 2 * m->arg[1] - 1);
    m->nodes = g->graph_ptr[g->graphs];
    g->batch = rt_alloc_array(m->c, m->nodes, sizeof *g->batch);
    if (!g->batch)
        return GNN_NO_MEMORY;
    for (int64_t b = 0; b < g->graphs; b++)
        for (int64_t v = g->graph_ptr[b]; v < g->graph_ptr[b + 1]; v++)
            g->batch[v] = b;
    return GNN_OK;
}

// ---- The table -------------------------------------------------------------------------------------------
enum { PROBABILITY = -1 };   // as a parameter's most
#define LARGEST ((int64_t)1 << 40)

typedef struct {
    const char *name;
    int64_t least, most;
} parameter;
struct generator {
    const char *name, *usage;
    parameter params[3];
    bool seeded;
    bool (*sizes)(generation *m);           // false: they do not fit
    gnn_status (*prepare)(generation *m);   // or NULL
    void (*edges)(generation *m);
};
static const generator generators[] = {
    {"rmat", "rmat:SCALE:DEGREE[:SEED]", {{"SCALE", 0, 40}, {"DEGREE", 0, LARGEST}}, true,
     rmat_sizes, NULL, rmat_edges},
    {"er", "er:N:M[:SEED]", {{"N", 0, LARGEST}, {"M", 0, LARGEST}}, true, listed_sizes, NULL, er_edges},
    {"hubs", "hubs:N:M[:SEED]", {{"N", 0, LARGEST}, {"M", 0, LARGEST}}, true, listed_sizes, NULL, hubs_edges},
    {"grid", "grid:W:H", {{"W", 0, LARGEST}, {"H", 0, LARGEST}}, false, grid_sizes, NULL, grid_edges},
    {"star", "star:N", {{"N", 0, LARGEST}}, false, line_sizes, NULL, star_edges},
    {"path", "path:N", {{"N", 0, LARGEST}}, false, line_sizes, NULL, path_edges},
    {"empty", "empty:N", {{"N", 0, LARGEST}}, false, empty_sizes, NULL, no_edges},
    {"clique", "clique:N", {{"N", 0, LARGEST}}, false, clique_sizes, NULL, clique_edges},
    {"batch", "batch:COUNT:MEAN:P[:SEED]", {{"COUNT", 0, LARGEST}, {"MEAN", 1, 1 << 20}, {"P", 0, PROBABILITY}},
     true, batch_sizes, batch_nodes, batch_edges},
};

// ---- Descriptions ----------------------------------------------------------------------------------------
static gnn_status bad_description(const generation *m, const char *expected)
{
    return rt_fail(m->c, GNN_BAD_GENERATOR, "generator '%.100s': expected %s", m->description, expected);
}

static gnn_status bad_value(const generation *m, const parameter *p, const char *at, const char *end)
{
    int n = end - at > 40 ? 40 : (int)(end - at);
    if (p->most == PROBABILITY)
        return rt_fail(m->c, GNN_BAD_GENERATOR,
                       "generator '%.100s': %s must be a number from 0 to 1, got '%.*s'", m->description,
                       p->name, n, at);
    return rt_fail(m->c, GNN_BAD_GENERATOR,
                   "generator '%.100s': %s must be an integer from %lld to %lld, got '%.*s'", m->description,
                   p->name, (long long)p->least, (long long)p->most, n, at);
}

// Decimal digits into 2^-32, rounded down; no floating point, so the same everywhere.
static bool parse_probability(const char *p, const char *end, int64_t *out)
{
    enum { MOST_DIGITS = 9 };
    if (p == end || (*p != '0' && *p != '1'))
        return false;
    uint64_t digits = (uint64_t)(*p++ - '0'), scale = 1;
    if (p < end && *p == '.')
        for (p++; p < end && *p >= '0' && *p <= '9' && scale < 1000000000u; p++, scale *= 10)
            digits = digits * 10 + (uint64_t)(*p - '0');
    *out = (int64_t)((digits << 32) / scale);
    return p == end && digits <= scale;
}

static gnn_status parse_value(const generation *m, const parameter *p, const char *at, const char *end,
                              int64_t *out)
{
    bool good = p->most == PROBABILITY
                    ? parse_probability(at, end, out)
                    : rt_parse_count(at, end, out) == end && *out >= p->least && *out <= p->most;
    return good ? GNN_OK : bad_value(m, p, at, end);
}

static const char *field_end(const char *p, const char *end)
{
    const char *colon = memchr(p, ':', (size_t)(end - p));
    return colon ? colon : end;
}

static gnn_status parse_fields(generation *m, const char *p, const char *end)
{
    static const parameter seed = {"SEED", 0, INT64_MAX};
    for (int i = 0; i < 3 && m->kind->params[i].name; i++) {
        if (p == end)
            return bad_description(m, m->kind->usage);
        const char *last = field_end(p + 1, end);
        gnn_status s = parse_value(m, &m->kind->params[i], p + 1, last, &m->arg[i]);
        if (s)
            return s;
        p = last;
    }
    m->seed = 1;
    if (p == end)
        return GNN_OK;
    if (!m->kind->seeded || field_end(p + 1, end) != end)
        return bad_description(m, m->kind->usage);
    return parse_value(m, &seed, p + 1, end, &m->seed);
}

static gnn_status parse_description(generation *m)
{
    static const parameter types = {"types", 1, INT32_MAX};
    const char *text = m->description, *comma = strchr(text, ','), *end = comma ? comma : text + strlen(text);
    const char *name_end = field_end(text, end);
    size_t n = (size_t)(name_end - text);
    for (size_t i = 0; i < RT_COUNT(generators) && !m->kind; i++)
        if (strlen(generators[i].name) == n && !memcmp(generators[i].name, text, n))
            m->kind = &generators[i];
    if (!m->kind)
        return bad_description(m, "rmat, er, hubs, grid, star, path, empty, clique or batch");
    gnn_status s = parse_fields(m, name_end, end);
    if (s || !comma)
        return s;
    if (strncmp(comma, ",types=", 7))
        return bad_description(m, "',types=R' after the comma");
    return parse_value(m, &types, comma + 7, comma + strlen(comma), &m->types);
}

// ---- Making it -------------------------------------------------------------------------------------------
// Memory may be promised that is not there, so sizes are compared with what the machine has.
static gnn_status check_memory(const generation *m)
{
    int64_t has = (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE), edges, nodes, bytes;
    if (rt_mul(m->edges, m->types ? 16 : 8, &edges) && rt_mul(m->nodes, 8, &nodes) &&
        rt_add(edges, nodes, &bytes) && bytes <= has)
        return GNN_OK;
    return rt_fail(m->c, GNN_TOO_LARGE,
                   "generator '%.100s': %lld nodes and up to %lld edges do not fit the memory of %lld "
                   "MiB",
                   m->description, (long long)m->nodes, (long long)m->edges, (long long)(has >> 20));
}

static void run(generation *m, bool placing)
{
    m->placing = placing;
    m->random = random_new(m->seed, 0);
    m->kind->edges(m);
}

static gnn_status make_rows(generation *m)
{
    gnn_status s = rt_rows_new(m->c, m->description, m->nodes, &m->rows);
    if (s)
        return s;
    run(m, false);
    s = rt_rows_place_all(&m->rows, false);
    if (s)
        return s;
    run(m, true);
    return rt_rows_finish(&m->rows, m->g);
}

// Types of edges that share row and column are sorted, so that edges are by (row, col, etype).
static gnn_status make_types(generation *m)
{
    gnn_graph *g = m->g;
    g->types = m->types;
    g->etype = rt_alloc_array(m->c, g->edges, sizeof *g->etype);
    if (!g->etype)
        return GNN_NO_MEMORY;
    random_state r = random_new(m->seed, 2);
    for (int64_t e = 0; e < g->edges; e++)
        g->etype[e] = below(&r, m->types);
    for (int64_t v = 0; v < g->nodes; v++)
        for (int64_t e = g->rowptr[v], last; e < g->rowptr[v + 1]; e = last) {
            for (last = e + 1; last < g->rowptr[v + 1] && g->col[last] == g->col[e];)
                last++;
            rt_sort_row(g->etype + e, NULL, last - e);
        }
    return GNN_OK;
}

static gnn_status make(generation *m)
{
    gnn_status s = parse_description(m);
    if (!s && !m->kind->sizes(m))
        s = rt_fail(m->c, GNN_TOO_LARGE, "generator '%.100s': its sizes do not fit 64 bits", m->description);
    if (!s && m->edges && !m->nodes)
        s = bad_description(m, "nodes where there are edges");
    if (!s)
        s = check_memory(m);
    if (!s && m->kind->prepare)
        s = m->kind->prepare(m);
    if (!s)
        s = make_rows(m);
    m->g->sources = m->g->nodes;
    return s || !m->types ? s : make_types(m);
}

gnn_status gnn_graph_generate(gnn_context *c, const char *description, gnn_graph *out)
{
    if (!rt_begin(c, __func__, description && out))
        return GNN_BAD_ARGUMENT;
    *out = (gnn_graph){0};
    generation m = {.c = c, .description = description, .g = out, .rows = {.c = c}};
    gnn_status s = make(&m);
    rt_rows_free(&m.rows);
    if (s)
        gnn_graph_free(c, out);
    else
        snprintf(out->name, sizeof out->name, "%s", description);
    return s;
}
