// Graphs from a description such as "rmat:10:8:1,types=16". A generator has units, of few edges
// each, which are drawn in their order from one stream of random numbers. First the stream alone is
// run through, and its state kept where each block of units begins; so blocks are made by all
// cores, twice: to count edges and to place them.
#define _DEFAULT_SOURCE
#include "generators.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int64_t smaller(int64_t x, int64_t y) { return x < y ? x : y; }

static int64_t blocks_of(int64_t n, int64_t together) { return n / together + (n % together != 0); }

// ---- Descriptions -------------------------------------------------------------------------------
static gnn_status bad_description(const rt_generation *m, const char *expected) {
    return rt_fail(m->c, GNN_BAD_GENERATOR, "generator '%.100s': expected %s", m->description,
                   expected);
}

static gnn_status bad_value(const rt_generation *m, const rt_parameter *p, const char *at,
                            const char *end) {
    int n = end - at > 40 ? 40 : (int)(end - at);
    if (p->most == RT_PROBABILITY)
        return rt_fail(m->c, GNN_BAD_GENERATOR,
                       "generator '%.100s': %s must be a number from 0 to 1, got '%.*s'",
                       m->description, p->name, n, at);
    return rt_fail(m->c, GNN_BAD_GENERATOR,
                   "generator '%.100s': %s must be an integer from %lld to %lld, got '%.*s'",
                   m->description, p->name, (long long)p->least, (long long)p->most, n, at);
}

// Decimal digits into 2^-32, rounded down; no floating point, so the same everywhere.
static bool parse_probability(const char *p, const char *end, int64_t *out) {
    enum { MOST_DIGITS = 9 };
    if (p == end || (*p != '0' && *p != '1')) return false;
    uint64_t digits = (uint64_t)(*p++ - '0'), scale = 1;
    if (p < end && *p == '.')
        for (p++; p < end && *p >= '0' && *p <= '9' && scale < 1000000000u; p++, scale *= 10)
            digits = digits * 10 + (uint64_t)(*p - '0');
    *out = (int64_t)((digits << 32) / scale);
    return p == end && digits <= scale;
}

static gnn_status parse_value(const rt_generation *m, const rt_parameter *p, const char *at,
                              const char *end, int64_t *out) {
    bool good = p->most == RT_PROBABILITY
                    ? parse_probability(at, end, out)
                    : rt_parse_count(at, end, out) == end && *out >= p->least && *out <= p->most;
    return good ? GNN_OK : bad_value(m, p, at, end);
}

static const char *field_end(const char *p, const char *end) {
    const char *colon = memchr(p, ':', (size_t)(end - p));
    return colon ? colon : end;
}

static gnn_status parse_fields(rt_generation *m, const char *p, const char *end) {
    static const rt_parameter seed = {"SEED", 0, INT64_MAX};
    for (int i = 0; i < 3 && m->kind->params[i].name; i++) {
        if (p == end) return bad_description(m, m->kind->usage);
        const char *last = field_end(p + 1, end);
        gnn_status s = parse_value(m, &m->kind->params[i], p + 1, last, &m->arg[i]);
        if (s) return s;
        p = last;
    }
    m->seed = 1;
    if (p == end) return GNN_OK;
    if (!m->kind->seeded || field_end(p + 1, end) != end) return bad_description(m, m->kind->usage);
    return parse_value(m, &seed, p + 1, end, &m->seed);
}

static gnn_status parse_description(rt_generation *m) {
    static const rt_parameter types = {"types", 1, INT32_MAX};
    const char *text = m->description, *comma = strchr(text, ','),
               *end = comma ? comma : text + strlen(text);
    const char *name_end = field_end(text, end);
    size_t n = (size_t)(name_end - text);
    for (const rt_generator *g = rt_generators; g->name && !m->kind; g++)
        if (strlen(g->name) == n && !memcmp(g->name, text, n)) m->kind = g;
    if (!m->kind)
        return bad_description(m, "rmat, er, hubs, grid, star, path, empty, clique or batch");
    gnn_status s = parse_fields(m, name_end, end);
    if (s || !comma) return s;
    if (strncmp(comma, ",types=", 7)) return bad_description(m, "',types=R' after the comma");
    return parse_value(m, &types, comma + 7, comma + strlen(comma), &m->types);
}

// ---- Making it ----------------------------------------------------------------------------------
gnn_status rt_check_memory(gnn_context *c, const char *description, const gnn_graph *sizes) {
    int64_t has = (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE), edges, nodes,
            bytes;
    if (rt_mul(sizes->edges, sizes->types ? 16 : 8, &edges) && rt_mul(sizes->nodes, 8, &nodes) &&
        rt_add(edges, nodes, &bytes) && bytes <= has)
        return GNN_OK;
    return rt_fail(c, GNN_TOO_LARGE,
                   "generator '%.100s': %lld nodes and up to %lld edges do not fit the memory of "
                   "%lld MiB",
                   description, (long long)sizes->nodes, (long long)sizes->edges,
                   (long long)(has >> 20));
}

// Where the random numbers of each block begin.
static gnn_status keep_states(rt_generation *m, int64_t blocks) {
    m->states = m->kind->seeded ? rt_alloc_array(m->c, blocks, sizeof *m->states) : NULL;
    if (m->kind->seeded && !m->states) return GNN_NO_MEMORY;
    rt_random r = rt_random_new(m->seed, 0);
    for (int64_t b = 0; m->states && b < blocks; b++) {
        m->states[b] = r;
        m->kind->edges(m, &r, b * m->together, smaller(m->units, (b + 1) * m->together), NULL);
    }
    return GNN_OK;
}

static void fill(void *user, uint32_t i, rt_edge_block *b) {
    const rt_generation *m = user;
    int64_t block = m->first + i;
    rt_random r = m->states ? m->states[block] : (rt_random){{0}};
    m->kind->edges(m, &r, block * m->together, smaller(m->units, (block + 1) * m->together), b);
}

static gnn_status run_rounds(rt_generation *m, int64_t blocks, int64_t pass) {
    gnn_status s = GNN_OK;
    for (m->first = 0; m->first < blocks && !s; m->first += RT_BLOCKS) {
        uint32_t n = (uint32_t)smaller(blocks - m->first, RT_BLOCKS);
        s = rt_edge_blocks_fill(&m->rows.blocks, n, fill, m);
        if (!s) s = rt_rows_take(&m->rows, n);
        rt_tell_part(m->c, (rt_pass){pass, 2}, (double)m->first / (double)blocks);
    }
    return s;
}

static gnn_status make_rows(rt_generation *m) {
    m->units = m->kind->units(m);
    m->together = RT_BLOCK / m->kind->most;
    int64_t blocks = blocks_of(m->units, m->together);
    gnn_status s = rt_rows_new(m->c, m->description, m->nodes, &m->rows);
    if (!s) s = keep_states(m, blocks);
    if (!s) s = run_rounds(m, blocks, 0);
    if (!s) s = rt_rows_place_all(&m->rows, false);
    if (!s) s = run_rounds(m, blocks, 1);
    return s ? s : rt_rows_finish(&m->rows, m->g);
}

// ---- Types --------------------------------------------------------------------------------------
static void draw_types(void *user, uint32_t block) {
    const rt_generation *m = user;
    rt_random r = m->states[block];
    int64_t first = (int64_t)block * RT_BLOCK, last = smaller(m->g->edges, first + RT_BLOCK);
    for (int64_t e = first; e < last; e++) m->g->etype[e] = rt_random_below(&r, m->types);
}

// Types of edges that share row and column are sorted, so that edges are by (row, col, etype).
static void sort_types(void *user, int64_t begin, int64_t end) {
    const gnn_graph *g = user;
    for (int64_t v = begin; v < end; v++)
        for (int64_t e = g->rowptr[v], last; e < g->rowptr[v + 1]; e = last) {
            for (last = e + 1; last < g->rowptr[v + 1] && g->col[last] == g->col[e];) last++;
            rt_sort_row(g->etype + e, NULL, last - e);
        }
}

static gnn_status make_types(rt_generation *m) {
    gnn_graph *g = m->g;
    int64_t blocks = blocks_of(g->edges, RT_BLOCK);
    rt_random r = rt_random_new(m->seed, 2);
    g->types = m->types;
    g->etype = rt_alloc_array(m->c, g->edges, sizeof *g->etype);
    rt_free(m->c, m->states);
    m->states = rt_alloc_array(m->c, blocks, sizeof *m->states);
    if (!g->etype || !m->states) return GNN_NO_MEMORY;
    for (int64_t e = 0; e < g->edges; e++) {
        if (e % RT_BLOCK == 0) m->states[e / RT_BLOCK] = r;
        rt_random_below(&r, m->types);
    }
    rt_parallel(m->c, (uint32_t)blocks, draw_types, m);
    return rt_each_rows(
        m->c,
        &(rt_row_pieces){.offsets = g->rowptr, .nodes = g->nodes, .body = sort_types, .user = g});
}

static gnn_status make(rt_generation *m) {
    gnn_status s = parse_description(m);
    if (!s && !m->kind->sizes(m))
        s = rt_fail(m->c, GNN_TOO_LARGE, "generator '%.100s': its sizes do not fit 64 bits",
                    m->description);
    if (!s && m->edges && !m->nodes) s = bad_description(m, "nodes where there are edges");
    if (!s)
        s = rt_check_memory(m->c, m->description,
                            &(gnn_graph){.nodes = m->nodes, .edges = m->edges, .types = m->types});
    if (!s && m->kind->prepare) s = m->kind->prepare(m);
    if (!s) s = make_rows(m);
    m->g->sources = m->g->nodes;
    return s || !m->types ? s : make_types(m);
}

gnn_status gnn_graph_generate(gnn_context *c, const char *description, gnn_graph *out) {
    if (!rt_begin(c, __func__, description && out)) return GNN_BAD_ARGUMENT;
    *out = (gnn_graph){0};
    rt_generation m = {
        .c = c, .description = description, .g = out, .rows = {.c = c, .blocks = {.c = c}}};
    gnn_status s = make(&m);
    rt_rows_free(&m.rows);
    rt_free(c, m.pairs);
    rt_free(c, m.states);
    if (s) gnn_graph_free(c, out);
    else snprintf(out->name, sizeof out->name, "%s", description);
    return s;
}
