// Edge lists as SNAP has them: "u v" or "u v weight" a line, between blanks or commas, is an edge u -> v;
// lines that begin with # or % are comments. Ids are kept: there are as many nodes as the largest id and one.
#include "files.h"

typedef struct {
    int64_t from, to;
    double weight;
} edge;
typedef struct {
    rt_lines lines;
    int64_t limit;     // of nodes
    int columns;       // 0 until the first edge tells
    int64_t told_at;   // its line
} edge_list;

// The position behind a separator, or NULL.
static const char *skip_separator(const char *p, const char *end)
{
    const char *q = rt_skip_blanks(p, end);
    if (q < end && *q == ',')
        return rt_skip_blanks(q + 1, end);
    return q > p ? q : NULL;
}

static gnn_status bad_line(edge_list *l, const char *expected, const char *p)
{
    char quoted[RT_QUOTE];
    return rt_line_fail(&l->lines, "expected %s, got %s", expected, rt_quote(p, l->lines.end, quoted));
}

static gnn_status check_columns(edge_list *l, int columns)
{
    if (!l->columns) {
        l->columns = columns;
        l->told_at = l->lines.number;
    }
    if (columns == l->columns)
        return GNN_OK;
    return rt_line_fail(&l->lines, "expected %d columns as on line %lld, got %d", l->columns,
                        (long long)l->told_at, columns);
}

static const char *parse_id(edge_list *l, const char *p, int64_t *out)
{
    const char *q = rt_parse_count(p, l->lines.end, out);
    if (!q || !rt_ends_token(q, l->lines.end)) {
        bad_line(l, "two integers", p);
        return NULL;
    }
    if (*out < l->limit)
        return q;
    l->lines.status =
        rt_fail(l->lines.s->c, GNN_TOO_LARGE,
                "%s:%lld: id %lld is too large for a file of %llu bytes, whose ids must be below %lld; "
                "renumber the nodes",
                l->lines.s->name, (long long)l->lines.number, (long long)*out,
                (unsigned long long)l->lines.s->size, (long long)l->limit);
    return NULL;
}

static gnn_status parse_edge(edge_list *l, edge *e)
{
    const char *end = l->lines.end;
    const char *p = parse_id(l, rt_skip_blanks(l->lines.at, end), &e->from);
    if (!p)
        return l->lines.status;
    const char *second = skip_separator(p, end);
    if (!second)
        return bad_line(l, "two integers", p);
    p = parse_id(l, second, &e->to);
    if (!p)
        return l->lines.status;
    e->weight = 1;
    const char *third = skip_separator(p, end);
    if (!third || (third == end && third[-1] != ','))
        return check_columns(l, 2);
    p = rt_parse_real(third, end, &e->weight);
    if (!p || !rt_ends_token(p, end))
        return bad_line(l, "a number as weight", third);
    if (rt_skip_blanks(p, end) < end)
        return bad_line(l, "at most three columns", p);
    return check_columns(l, 3);
}

static gnn_status count_edges(edge_list *l, rt_rows *rows, int64_t *nodes)
{
    edge e;
    while (rt_next_content(&l->lines)) {
        if (parse_edge(l, &e))
            return l->lines.status;
        int64_t needed = (e.from > e.to ? e.from : e.to) + 1;
        *nodes = needed > *nodes ? needed : *nodes;
        if (e.to >= rows->nodes && rt_rows_grow(rows, e.to + 1))
            return GNN_NO_MEMORY;
        rt_rows_count(rows, e.to);
    }
    return l->lines.status;
}

static gnn_status place_edges(edge_list *l, rt_rows *rows)
{
    edge e;
    while (rt_next_content(&l->lines)) {
        if (parse_edge(l, &e))
            return l->lines.status;
        rows->strayed |= e.from >= rows->nodes;
        rt_rows_place(rows, e.to, e.from, e.weight);
    }
    return l->lines.status;
}

static gnn_status read_rows(edge_list *l, rt_rows *rows)
{
    int64_t nodes = 0;
    gnn_status s = count_edges(l, rows, &nodes);
    if (!s)
        s = rt_rows_grow(rows, nodes);
    if (!s)
        s = rt_rows_place_all(rows, l->columns == 3);
    if (s)
        return s;
    rt_lines_rewind(&l->lines);
    return place_edges(l, rows);
}

gnn_status rt_read_edge_list(rt_source *source, gnn_graph *g)
{
    gnn_context *c = source->c;
    edge_list l = {.limit = rt_node_limit(source->size)};
    rt_rows rows;
    gnn_status s = rt_rows_new(c, source->name, 0, &rows);
    if (!s)
        s = rt_lines_open(source, "#%", &l.lines);
    if (!s)
        s = read_rows(&l, &rows);
    if (l.lines.buffer)
        rt_lines_close(&l.lines);
    if (!s)
        s = rt_rows_finish(&rows, g);
    rt_rows_free(&rows);
    g->sources = g->nodes;
    return s;
}
