// DIMACS graphs: a line begins with what it is. "p KIND nodes edges" comes first, where KIND is sp,
// edge, col or clq; "a u v weight" is an arc from u to v, "e u v" an edge, which stands in both
// directions; ids count from 1. "c …" are comments, and "n …", numbers of nodes, are skipped.
#include "files.h"

#include <string.h>

typedef struct {
    rt_lines lines;
    int64_t nodes, promised, read;
    int64_t weights;   // arcs that have one
    bool skipped;
} dimacs;

static gnn_status bad_line(dimacs *d, const char *what, const char *p) {
    char quoted[RT_QUOTE];
    return rt_carriage_return(&d->lines) ? d->lines.status
                                         : rt_line_fail(&d->lines, "expected %s, got %s", what,
                                                        rt_quote(p, d->lines.end, quoted));
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

// The position behind the next word of the line; NULL: it is another one.
static const char *word(const dimacs *d, const char *p, const char *text) {
    p = rt_skip_blanks(p, d->lines.end);
    const char *q = p + strlen(text);
    return rt_find_word(p, d->lines.end, text) && (q == d->lines.end || is_blank(*q)) ? q : NULL;
}

// That behind the next count; NULL: a failure is told.
static const char *count(dimacs *d, const char *p, const char *what, int64_t *out) {
    p = rt_skip_blanks(p, d->lines.end);
    const char *q = rt_parse_count(p, d->lines.end, out);
    if (q && (q == d->lines.end || is_blank(*q))) return q;
    bad_line(d, what, p);
    return NULL;
}

static gnn_status ended(dimacs *d, const char *p) {
    p = rt_skip_blanks(p, d->lines.end);
    return p == d->lines.end ? GNN_OK : bad_line(d, "the end of the line", p);
}

// ---- The first line -----------------------------------------------------------------------------
static const char *skip_kind(dimacs *d, const char *p) {
    static const char *const kinds[] = {"sp", "edge", "edges", "col", "clq"};
    for (size_t i = 0; i < RT_COUNT(kinds); i++)
        if (word(d, p, kinds[i])) return word(d, p, kinds[i]);
    bad_line(d, "a graph of kind sp, edge, col or clq", rt_skip_blanks(p, d->lines.end));
    return NULL;
}

static gnn_status read_sizes(dimacs *d) {
    rt_source *s = d->lines.s;
    bool there = rt_next_content(&d->lines);
    if (!there && !d->lines.status)
        rt_line_fail(&d->lines, "the file ends before 'p KIND nodes edges'");
    if (!there) return d->lines.status;
    const char *p = word(d, d->lines.at, "p");
    if (!p) return bad_line(d, "'p KIND nodes edges'", d->lines.at);
    if (!(p = skip_kind(d, p)) || !(p = count(d, p, "a count of nodes", &d->nodes)) ||
        !(p = count(d, p, "a count of edges", &d->promised)) || ended(d, p))
        return d->lines.status;
    if (d->nodes <= rt_node_limit(s, RT_ROWS_SHARE)) return GNN_OK;
    d->lines.status = rt_fail(
        s->c, GNN_TOO_LARGE, "%s:%lld: %lld nodes are too many for a file of %llu bytes", s->name,
        (long long)d->lines.number, (long long)d->nodes, (unsigned long long)s->size);
    return d->lines.status;
}

// ---- Edges --------------------------------------------------------------------------------------
static const char *node(dimacs *d, const char *p, int64_t *out) {
    if (!(p = count(d, p, "the number of a node", out))) return NULL;
    if (*out < 1 || *out > d->nodes) {
        rt_line_fail(&d->lines, "node %lld is outside 1 to %lld", (long long)*out,
                     (long long)d->nodes);
        return NULL;
    }
    --*out;
    return p;
}

static gnn_status read_edge(dimacs *d, rt_rows *rows, const char *p, bool both) {
    int64_t from, to;
    double weight = 1;
    if (!(p = node(d, p, &from)) || !(p = node(d, p, &to))) return d->lines.status;
    p = rt_skip_blanks(p, d->lines.end);
    if (!both && p < d->lines.end) {
        const char *q = rt_parse_real(p, d->lines.end, &weight);
        if (!q) return bad_line(d, "a weight", p);
        d->weights += !rows->col;
        p = q;
    }
    if (ended(d, p)) return d->lines.status;
    rt_rows_put(rows, to, rows->col ? from : 0, weight);
    if (both && from != to) rt_rows_put(rows, from, rows->col ? to : 0, weight);
    return GNN_OK;
}

static gnn_status read_line(dimacs *d, rt_rows *rows) {
    const char *arc = word(d, d->lines.at, "a"), *edge = word(d, d->lines.at, "e");
    d->read += arc || edge;
    if (arc || edge) return read_edge(d, rows, arc ? arc : edge, edge);
    d->skipped |= word(d, d->lines.at, "n") != NULL;
    return word(d, d->lines.at, "n") ? GNN_OK
                                     : bad_line(d, "a line of 'a', 'e', 'n' or 'c'", d->lines.at);
}

static gnn_status walk(dimacs *d, rt_rows *rows) {
    enum { TOLD_LINES = 1 << 16 };
    gnn_status s = GNN_OK;
    d->read = 0;
    while (!s && rt_next_content(&d->lines)) {
        s = read_line(d, rows);
        if (d->read % TOLD_LINES == 0 && d->promised)
            rt_tell_part(rows->c, (rt_pass){rows->col != NULL, 2},
                         (double)d->read / (double)d->promised);
    }
    rt_rows_flush(rows);
    return s ? s : d->lines.status;
}

// The sizes that rows were made for hold, whatever a file says that has changed meanwhile.
static gnn_status read_rows(dimacs *d, rt_rows *rows) {
    gnn_status s = read_sizes(d);
    if (!s) s = rt_rows_new(rows->c, rows->name, d->nodes, rows);
    if (!s) s = walk(d, rows);
    if (!s && d->weights && d->weights != d->read)
        s = rt_fail(rows->c, GNN_BAD_FILE,
                    "%s: %lld of its %lld edges have a weight, and the others none", rows->name,
                    (long long)d->weights, (long long)d->read);
    if (!s) s = rt_rows_place_all(rows, d->weights);
    if (s) return s;
    int64_t nodes = d->nodes;
    rt_lines_rewind(&d->lines);
    s = read_sizes(d);
    rows->strayed |= d->nodes != nodes;
    d->nodes = nodes;
    return s ? s : walk(d, rows);
}

gnn_status rt_read_dimacs(rt_source *source, gnn_graph *g) {
    dimacs d = {0};
    rt_rows rows = {.c = source->c, .name = source->name, .blocks = {.c = source->c}};
    gnn_status s = rt_lines_open(source, "c", &d.lines);
    if (!s) s = read_rows(&d, &rows);
    if (d.lines.buffer) rt_lines_close(&d.lines);
    if (!s && d.skipped) rt_note(source, GNN_NOTE_IGNORED, "numbers of its nodes are not read");
    if (!s && d.read != d.promised)
        rt_note(source, GNN_NOTE_HEADER, "its header promises %lld edges, and it has %lld",
                (long long)d.promised, (long long)d.read);
    if (!s) s = rt_rows_finish(&rows, g);
    rt_rows_free(&rows);
    g->sources = g->nodes;
    return s;
}
