// METIS graphs: "nodes edges [format [weights]]", then a line a node with its neighbours, ids from
// 1. Each edge stands in both of its nodes' lines. A format of three digits says whether sizes of
// nodes, weights of nodes and weights of edges are there; the first two are skipped.
#include "files.h"

typedef struct {
    rt_lines lines;
    int64_t nodes, edges;
    int64_t skipped;   // numbers of a node before its neighbours
    bool weighted;
} metis;

static gnn_status bad_number(metis *m, const char *what, const char *p) {
    char quoted[RT_QUOTE];
    return rt_carriage_return(&m->lines) ? m->lines.status
                                         : rt_line_fail(&m->lines, "expected %s, got %s", what,
                                                        rt_quote(p, m->lines.end, quoted));
}

// The position behind the next integer; NULL: there is none, or a failure is told.
static const char *next_count(metis *m, const char *p, const char *what, int64_t *out) {
    p = rt_skip_blanks(p, m->lines.end);
    if (p == m->lines.end) return NULL;
    const char *q = rt_parse_count(p, m->lines.end, out);
    if (q && (q == m->lines.end || *q == ' ' || *q == '\t')) return q;
    bad_number(m, what, p);
    return NULL;
}

// ---- The first line -----------------------------------------------------------------------------
static gnn_status check_sizes(metis *m, int64_t format, int64_t weights) {
    rt_source *s = m->lines.s;
    int64_t node_weights = format / 10 % 10;
    if (format > 111 || format % 10 > 1 || node_weights > 1 || (weights && !node_weights))
        return rt_line_fail(
            &m->lines,
            "the third number is one of 0, 1, 10, 11, 100, 101, 110, 111, and the fourth, of weights a "
            "node, needs its second digit");
    if ((uint64_t)m->edges > s->size || (uint64_t)weights > s->size)   // each is a byte at least
        return rt_line_fail(
            &m->lines, "%lld edges and %lld weights a node are too many for a file of %llu bytes",
            (long long)m->edges, (long long)weights, (unsigned long long)s->size);
    m->weighted = format % 10;
    m->skipped = format / 100 + (node_weights ? (weights ? weights : 1) : 0);
    if (m->nodes <= rt_node_limit(s, RT_ROWS_SHARE)) return GNN_OK;
    return m->lines.status = rt_fail(s->c, GNN_TOO_LARGE,
                                     "%s:%lld: %lld nodes are too many for a file of %llu bytes",
                                     s->name, (long long)m->lines.number, (long long)m->nodes,
                                     (unsigned long long)s->size);
}

static gnn_status read_sizes(metis *m) {
    int64_t count[4] = {0};
    int n = 0;
    if (!rt_next_content(&m->lines))
        return m->lines.status ? m->lines.status
                               : rt_line_fail(&m->lines, "the file ends before its sizes");
    const char *p = m->lines.at;
    while (n < 4 && (p = next_count(m, p, "counts of nodes and edges", &count[n]))) n++;
    if (m->lines.status) return m->lines.status;
    if (n < 2 || (p && rt_skip_blanks(p, m->lines.end) < m->lines.end))
        return rt_line_fail(&m->lines, "expected 'nodes edges [format [weights]]'");
    m->nodes = count[0];
    m->edges = count[1];
    return check_sizes(m, count[2], count[3]);
}

// ---- Nodes --------------------------------------------------------------------------------------
static gnn_status read_neighbours(metis *m, rt_rows *rows, int64_t node) {
    const char *p = m->lines.at;
    int64_t number, weight = 1;
    for (int64_t i = 0; i < m->skipped; i++)
        if (!(p = next_count(m, p, "a size or weight of the node", &number)))
            return m->lines.status ? m->lines.status
                                   : bad_number(m, "a size or weight of the node", m->lines.end);
    while ((p = next_count(m, p, "the number of a node", &number))) {
        if (number < 1 || number > m->nodes)
            return rt_line_fail(&m->lines, "neighbour %lld is outside 1 to %lld", (long long)number,
                                (long long)m->nodes);
        if (m->weighted && !(p = next_count(m, p, "the weight of an edge", &weight)))
            return m->lines.status ? m->lines.status
                                   : bad_number(m, "the weight of an edge", m->lines.end);
        if (rows->col) rt_rows_put(rows, node, number - 1, (double)weight);
        else rt_rows_put(rows, node, 0, 0);
    }
    return m->lines.status;
}

static bool next_node(metis *m) {
    while (rt_next_line(&m->lines))
        if (!rt_is_comment(&m->lines)) return true;
    return false;
}

static gnn_status walk(metis *m, rt_rows *rows) {
    enum { TOLD_NODES = 4096 };
    int64_t node = 0;
    gnn_status s = GNN_OK;
    for (; !s && node < m->nodes && next_node(m); node++) {
        s = read_neighbours(m, rows, node);
        if (node % TOLD_NODES == 0)
            rt_tell_part(rows->c, (rt_pass){rows->col != NULL, 2}, (double)node / (double)m->nodes);
    }
    if (!s && !m->lines.status && rt_next_content(&m->lines))
        s = rt_line_fail(&m->lines, "there are more lines than the %lld nodes promised",
                         (long long)m->nodes);
    s = s ? s : m->lines.status;
    rt_rows_flush(rows);
    if (!s && rows->edges != 2 * m->edges)
        return rt_fail(rows->c, GNN_BAD_FILE,
                       "%s: it has %lld neighbours, and %lld edges promise %lld", rows->name,
                       (long long)rows->edges, (long long)m->edges, 2 * (long long)m->edges);
    return s;   // lines that are missing at the end have no neighbours
}

// The sizes that rows were made for hold, whatever a file says that has changed meanwhile.
static gnn_status read_rows(metis *m, rt_rows *rows) {
    gnn_status s = read_sizes(m);
    if (!s) s = rt_rows_new(rows->c, rows->name, m->nodes, rows);
    if (!s) s = walk(m, rows);
    if (!s) s = rt_rows_place_all(rows, m->weighted);
    if (s) return s;
    int64_t nodes = m->nodes;
    rt_lines_rewind(&m->lines);
    s = read_sizes(m);
    rows->strayed |= m->nodes != nodes;
    m->nodes = nodes;
    return s ? s : walk(m, rows);
}

gnn_status rt_read_metis(rt_source *source, gnn_graph *g) {
    metis m = {0};
    rt_rows rows = {.c = source->c, .name = source->name, .blocks = {.c = source->c}};
    gnn_status s = rt_lines_open(source, "%", &m.lines);
    if (!s) s = read_rows(&m, &rows);
    if (m.lines.buffer) rt_lines_close(&m.lines);
    if (!s && m.skipped)
        rt_note(source, GNN_NOTE_IGNORED, "sizes and weights of its nodes are not read");
    if (!s) s = rt_rows_finish(&rows, g);
    rt_rows_free(&rows);
    g->sources = g->nodes;
    return s;
}
