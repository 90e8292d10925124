// Edge lists as SNAP and KONECT have them: "u v" or "u v weight" a line, between blanks or commas,
// is an edge u -> v; lines that begin with # or % are comments, and those before the first edge may
// say more (read_head.c). Ids are kept: there are as many nodes as the largest id and one, or as a
// header says. The file is read twice, to count and to place; three times and four where ids are
// numbered anew.
#include "files.h"

#include <ctype.h>
#include <string.h>

typedef struct {
    int64_t from, to;
    double weight;
} edge;
typedef struct {
    int64_t least, most;        // ids, as they stand there, but those of the first edge
    int64_t to_end, from_end;   // the largest id and one, of each column
    int64_t edges;              // lines
    bool times;                 // a fourth column was there
    bool strayed;               // a source that was not there when they were counted
} found;
typedef struct edge_list edge_list;
struct edge_list {
    rt_lines lines;
    rt_rows *rows;
    gnn_graph_format format;
    rt_edge_head head;
    int64_t base;      // of ids
    int64_t limit;     // of nodes
    int columns;       // 0 until the first edge tells
    int64_t told_at;   // its line
    edge raw;          // the last edge, by the ids of the file
    edge first;        // the first one likewise, in case it is counts
    bool at_counts;    // the next content is counts
    rt_ids ids;        // where they are numbered anew
    bool renamed;
    int64_t pass;
    int64_t sources;                                                    // when edges are placed
    void (*use)(const edge_list *l, const edge *e, rt_edge_block *b);   // what is done with an edge
    gnn_status (*take)(void *user, uint32_t n);                         // and with blocks of them
    found found;
    found *parts;   // of the pieces of a round
};

// The position behind a separator, or NULL.
static const char *skip_separator(const char *p, const char *end) {
    const char *q = rt_skip_blanks(p, end);
    if (q < end && *q == ',') return rt_skip_blanks(q + 1, end);
    return q > p ? q : NULL;
}

static gnn_status bad_line(edge_list *l, const char *expected, const char *p) {
    char quoted[RT_QUOTE];
    if (rt_carriage_return(&l->lines)) return l->lines.status;
    p = rt_skip_blanks(p, l->lines.end);
    bool names = !l->columns && p < l->lines.end && (isalpha((unsigned char)*p) || *p == '"');
    return rt_line_fail(
        &l->lines, "expected %s, got %s%s", expected, rt_quote(p, l->lines.end, quoted),
        names ? "; tail -n +2 OLD > NEW leaves out the names of a table's columns" : "");
}

static gnn_status check_columns(edge_list *l, int columns) {
    if (!l->columns) {
        l->columns = columns;
        l->told_at = l->lines.number;
    }
    if (columns == l->columns) return GNN_OK;
    return rt_line_fail(&l->lines, "expected %d columns as on line %lld, got %d", l->columns,
                        (long long)l->told_at, columns);
}

static const char *parse_id(edge_list *l, const char *p, int64_t *out) {
    const char *q = rt_parse_count(p, l->lines.end, out);
    if (!q || !rt_ends_token(q, l->lines.end)) {
        bad_line(l, "two integers", p);
        return NULL;
    }
    *out -= l->base;
    if (*out < 0) {
        rt_line_fail(&l->lines, "id 0 stands there, but ids count from 1%s",
                     l->head.konect ? " under such a header" : "");
        return NULL;
    }
    if (*out < l->limit) return q;
    l->lines.status = rt_fail(
        l->lines.s->c, GNN_TOO_LARGE,
        "%s:%lld: id %lld is too large for a file of %llu bytes, whose ids must be below %lld; "
        "renumber the nodes",
        l->lines.s->name, (long long)l->lines.number, (long long)*out,
        (unsigned long long)l->lines.s->size, (long long)l->limit);
    return NULL;
}

// KONECT's fourth column.
static gnn_status parse_time(edge_list *l, const char *p) {
    double time;
    const char *end = l->lines.end, *q = l->head.konect ? skip_separator(p, end) : NULL;
    q = q && q < end ? rt_parse_real(q, end, &time) : NULL;
    if (!q || rt_skip_blanks(q, end) < end)
        return bad_line(l, l->head.konect ? "at most four columns" : "at most three columns",
                        rt_skip_blanks(p, end));
    l->found.times = true;
    return check_columns(l, 4);
}

static gnn_status parse_edge(edge_list *l, edge *e) {
    const char *end = l->lines.end;
    const char *p = parse_id(l, rt_skip_blanks(l->lines.at, end), &e->from);
    if (!p) return l->lines.status;
    const char *second = skip_separator(p, end);
    if (!second) return bad_line(l, "two integers", p);
    p = parse_id(l, second, &e->to);
    if (!p) return l->lines.status;
    e->weight = 1;
    const char *third = skip_separator(p, end);
    if (!third || (third == end && third[-1] != ',')) return check_columns(l, 2);
    p = rt_parse_real(third, end, &e->weight);
    if (!p || !rt_ends_token(p, end)) return bad_line(l, "a number as weight", third);
    return rt_skip_blanks(p, end) < end ? parse_time(l, p) : check_columns(l, 3);
}

// ---- Counts at the head -------------------------------------------------------------------------
// "nodes edges", or "nodes nodes edges".
static gnn_status parse_counts(edge_list *l) {
    const char *p = l->lines.at, *end = l->lines.end;
    int64_t count[3];
    int n = 0;
    for (p = rt_skip_blanks(p, end); n < 3 && p < end; n++) {
        const char *q = rt_parse_count(p, end, &count[n]);
        if (!q || !rt_ends_token(q, end)) return bad_line(l, "counts of nodes and edges", p);
        p = q == end ? q : skip_separator(q, end);
    }
    if (n < 2 || p < end)
        return rt_line_fail(&l->lines, "expected 'nodes edges' or 'nodes nodes edges'");
    l->at_counts = false;
    l->head.edges = count[n - 1];
    l->head.rows = n == 2 || count[0] > count[1] ? count[0] : count[1];
    l->head.sources = l->head.rows;
    return GNN_OK;
}

static bool may_be_counts(const edge_list *l) {
    double last = l->columns == 3 ? l->first.weight : (double)(l->first.to + l->base);
    int64_t nodes = l->first.from + l->base;
    if (l->columns == 3 && l->first.to + l->base > nodes) nodes = l->first.to + l->base;
    const found *f = &l->found;
    return f->edges > 1 && l->columns <= 3 && last == (double)(f->edges - 1) &&
           nodes >= f->most + (f->least == 0);
}

static gnn_status check_counts(edge_list *l) {
    rt_source *s = l->lines.s;
    bool heeded = l->format != GNN_GRAPH_EDGES;
    if (l->format == GNN_GRAPH_COUNTS && l->found.edges != l->head.edges)
        return rt_fail(s->c, GNN_BAD_FILE,
                       "%s: its first line promises %lld edges, and %lld lines follow", s->name,
                       (long long)l->head.edges, (long long)l->found.edges);
    if (l->format == GNN_GRAPH_AUTO && !l->head.konect && may_be_counts(l))
        return rt_fail(
            s->c, GNN_BAD_FILE,
            "%s:%lld: this may be an edge, and it may be the counts of nodes and of the %lld edges behind it: the "
            "format says which, 'edges' or 'counts'",
            s->name, (long long)l->told_at, (long long)l->found.edges - 1);
    if (heeded && l->head.edges >= 0 && l->head.edges != l->found.edges)
        rt_note(s, GNN_NOTE_HEADER, "its header promises %lld edges, and it has %lld",
                (long long)l->head.edges, (long long)l->found.edges);
    return GNN_OK;
}

// ---- Edges --------------------------------------------------------------------------------------
static bool next_content(edge_list *l) {
    while (rt_next_line(&l->lines)) {
        if (rt_is_comment(&l->lines)) {
            if (!l->columns && l->format == GNN_GRAPH_AUTO)
                rt_edge_head_line(&l->head, l->lines.at, l->lines.end);
        } else if (rt_skip_blanks(l->lines.at, l->lines.end) < l->lines.end) {
            return true;
        }
    }
    return false;
}

// The header may say where ids begin.
static void set_base(edge_list *l) {
    const gnn_graph_options *o = l->lines.s->o;
    l->base = o && o->base != GNN_BASE_AUTO ? o->base == GNN_BASE_1 : l->head.konect;
}

static bool next_edge(edge_list *l, edge *e) {
    if (!next_content(l) || (l->at_counts && (parse_counts(l) || !next_content(l)))) return false;
    if (!l->columns) set_base(l);
    if (parse_edge(l, e)) return false;
    l->raw = *e;
    if (l->renamed) {
        e->from = rt_ids_find(&l->ids, e->from);
        e->to = rt_ids_find(&l->ids, e->to);
    }
    return true;
}

static void rewind_edges(edge_list *l) {
    rt_lines_rewind(&l->lines);
    l->at_counts = l->format == GNN_GRAPH_COUNTS;
}

static bool mirrored(const edge_list *l, const edge *e) { return l->head.both && e->from != e->to; }

static int64_t larger(int64_t x, int64_t y) { return x > y ? x : y; }

static int64_t smaller(int64_t x, int64_t y) { return x < y ? x : y; }

static const found nothing = {.least = INT64_MAX};

static void find(edge_list *l, const edge *e) {
    found *f = &l->found;
    f->from_end = larger(f->from_end, e->from + 1);
    f->to_end = larger(f->to_end, e->to + 1);
    f->strayed |= e->from >= l->sources || (mirrored(l, e) && e->to >= l->sources);
    f->edges++;
}

static void find_ids(edge_list *l) {
    found *f = &l->found;
    f->least = smaller(f->least, smaller(l->raw.from, l->raw.to) + l->base);
    f->most = larger(f->most, larger(l->raw.from, l->raw.to) + l->base);
}

static void merge(found *f, const found *part) {
    f->least = smaller(f->least, part->least);
    f->most = larger(f->most, part->most);
    f->to_end = larger(f->to_end, part->to_end);
    f->from_end = larger(f->from_end, part->from_end);
    f->edges += part->edges;
    f->times |= part->times;
    f->strayed |= part->strayed;
}

// ---- Rounds -------------------------------------------------------------------------------------
static void parse_piece(void *user, uint32_t i, rt_lines *piece, rt_edge_block *b) {
    edge_list l = *(const edge_list *)user;
    edge e;
    l.lines = *piece;
    l.found = nothing;
    while (b->n + 2 <= RT_BLOCK && next_edge(&l, &e)) {
        find(&l, &e);
        find_ids(&l);
        l.use(&l, &e, b);
    }
    l.parts[i] = l.found;
    *piece = l.lines;
}

static bool accept_piece(void *user, uint32_t i) {
    edge_list *l = user;
    merge(&l->found, &l->parts[i]);
    return true;
}

static gnn_status tell_wrong(void *user) {
    edge_list *l = user;
    edge e;
    while (next_edge(l, &e)) {
    }
    return l->lines.status;
}

static bool is_compact(const edge_list *l) {
    const gnn_graph_options *o = l->lines.s->o;
    return o && o->compact;
}

// The first edge says how the others stand there.
static gnn_status walk(edge_list *l) {
    edge e;
    rt_edge_block *b = &l->rows->blocks.block[0];
    l->found = nothing;
    if (!next_edge(l, &e)) return l->lines.status;
    find(l, &e);
    l->first = l->raw;
    b->n = 0;
    l->use(l, &e, b);
    gnn_status s = rt_edge_blocks_fill(&l->rows->blocks, 1, NULL, NULL);
    if (!s) s = l->take(l, 1);
    if (s) return s;
    return rt_read_rounds(&(rt_line_rounds){.lines = &l->lines,
                                            .blocks = &l->rows->blocks,
                                            .pass = {l->pass++, is_compact(l) ? 4 : 2},
                                            .parse = parse_piece,
                                            .accept = accept_piece,
                                            .take = l->take,
                                            .tell = tell_wrong,
                                            .user = l});
}

static void put_edge(const edge_list *l, const edge *e, rt_edge_block *b) {
    rt_edge_put(b, e->to, e->from, e->weight);
    if (mirrored(l, e)) rt_edge_put(b, e->from, e->to, e->weight);
}

static gnn_status take_rows(void *user, uint32_t n) {
    const edge_list *l = user;
    l->rows->strayed |= l->found.strayed;
    return rt_rows_take(l->rows, n);
}

static gnn_status count_edges(edge_list *l) {
    l->use = put_edge;
    l->take = take_rows;
    l->sources = INT64_MAX;
    gnn_status s = walk(l);
    return s ? s : check_counts(l);
}

static gnn_status place_edges(edge_list *l, int64_t sources) {
    l->sources = sources;
    return walk(l);
}

// ---- Nodes --------------------------------------------------------------------------------------
static gnn_status count_nodes(edge_list *l, int64_t *rows, int64_t *sources) {
    rt_source *s = l->lines.s;
    int64_t said = larger(l->head.rows, l->head.sources);
    if (said > l->limit)
        return rt_fail(s->c, GNN_TOO_LARGE,
                       "%s: %lld nodes, as its header says, are too many for a file of %llu bytes",
                       s->name, (long long)said, (unsigned long long)s->size);
    if (l->format == GNN_GRAPH_COUNTS && larger(l->found.to_end, l->found.from_end) > said)
        return rt_fail(s->c, GNN_BAD_FILE,
                       "%s: id %lld is outside the %lld nodes that its first line promises%s",
                       s->name,
                       (long long)(larger(l->found.to_end, l->found.from_end) - 1 + l->base),
                       (long long)said, l->base ? "" : "; do ids count from 1?");
    *rows = larger(l->found.to_end, l->renamed ? l->ids.n : l->head.rows);
    *sources = larger(l->found.from_end, l->renamed ? l->ids.n : l->head.sources);
    if (!l->head.bipartite) *rows = *sources = larger(*rows, *sources);
    return GNN_OK;
}

static gnn_status read_rows(edge_list *l, gnn_graph *g) {
    rt_rows *rows = l->rows;
    int64_t nodes = 0;
    gnn_status s = count_edges(l);
    if (!s) s = count_nodes(l, &nodes, &g->sources);
    if (!s) s = rt_rows_grow(rows, nodes);
    if (!s) s = rt_rows_place_all(rows, l->columns >= 3);
    if (s) return s;
    const found counted = l->found;
    rewind_edges(l);
    s = place_edges(l, g->sources);
    l->found = counted;
    return s;
}

// ---- Ids anew -----------------------------------------------------------------------------------
static void use_none(const edge_list *l, const edge *e, rt_edge_block *b) {
    (void)l, (void)e, (void)b;
}

static gnn_status take_none(void *user, uint32_t n) {
    (void)user, (void)n;
    return GNN_OK;
}

static gnn_status take_ids(void *user, uint32_t n) {
    edge_list *l = user;
    for (uint32_t i = 0; i < n; i++) {
        const rt_edge_block *b = &l->rows->blocks.block[i];
        for (uint32_t k = 0; k < b->n; k++) {
            rt_ids_add(&l->ids, b->edge[k].col);
            rt_ids_add(&l->ids, b->edge[k].row);
        }
    }
    return GNN_OK;
}

static void put_ids(const edge_list *l, const edge *e, rt_edge_block *b) {
    (void)l;
    rt_edge_put(b, e->to, e->from, 0);
}

static gnn_status list_ids(edge_list *l) {
    l->limit = l->sources = INT64_MAX;
    l->use = use_none;
    l->take = take_none;
    gnn_status s = walk(l);
    if (!s)
        s = rt_ids_reserve(l->lines.s->c, &l->ids, 2 * l->found.edges,
                           larger(l->found.to_end, l->found.from_end));
    if (s) return s;
    rewind_edges(l);
    l->use = put_ids;
    l->take = take_ids;
    s = walk(l);
    rt_ids_finish(&l->ids);
    l->renamed = true;
    rewind_edges(l);
    return s;
}

// ---- What the caller should look at -------------------------------------------------------------
static int64_t named_nodes(rt_source *s, const gnn_graph *g) {
    bool *named = rt_alloc_zeroed(s->c, (size_t)g->nodes + 1);
    int64_t n = 0;
    if (!named) return -1;
    for (int64_t v = 0; v < g->nodes; v++) named[v] |= g->rowptr[v + 1] > g->rowptr[v];
    for (int64_t e = 0; e < g->edges; e++) named[g->col[e]] = true;
    for (int64_t v = 0; v < g->nodes; v++) n += named[v];
    rt_free(s->c, named);
    return n;
}

static int64_t doubled(const gnn_graph *g) {
    int64_t n = 0;
    for (int64_t v = 0; v < g->nodes; v++)
        for (int64_t e = g->rowptr[v] + 1; e < g->rowptr[v + 1]; e++)
            n += g->col[e] == g->col[e - 1];
    return n;
}

static void note_nodes(edge_list *l, const gnn_graph *g) {
    enum { FEW_NODES = 64 };
    rt_source *s = l->lines.s;
    int64_t least = l->found.edges
                        ? larger(0, l->first.from < l->first.to ? l->first.from : l->first.to)
                        : 0,
            named;
    least = l->found.least - l->base < least ? l->found.least - l->base : least;
    if (l->base || l->renamed || l->head.bipartite || !l->found.edges) return;
    if (least == 1)
        rt_note(s, GNN_NOTE_BASE,
                "no edge names node 0; where ids count from 1, every node lies one too far");
    if (g->nodes >= FEW_NODES && l->head.rows < 0 && (named = named_nodes(s, g)) >= 0 &&
        named < g->nodes / 2)
        rt_note(
            s, GNN_NOTE_GAPS,
            "edges name %lld of its %lld nodes; the other ids up to the largest are nodes without edges",
            (long long)named, (long long)g->nodes);
}

static gnn_status note_all(edge_list *l, const gnn_graph *g) {
    rt_source *s = l->lines.s;
    if (!s->o || !s->o->note) return GNN_OK;
    if (l->found.times) rt_note(s, GNN_NOTE_IGNORED, "its fourth column, of times, is not read");
    if (l->head.both && doubled(g))
        rt_note(
            s, GNN_NOTE_HEADER,
            "%lld edges are there twice: its header says that each pair of nodes stands there once",
            (long long)doubled(g));
    note_nodes(l, g);
    return s->c->told ? GNN_NO_MEMORY : GNN_OK;
}

// ---- The whole ----------------------------------------------------------------------------------
static gnn_status read_list(edge_list *l, gnn_graph *g) {
    gnn_status s = is_compact(l) ? list_ids(l) : GNN_OK;
    if (!s) s = read_rows(l, g);
    if (!s) s = rt_rows_finish(l->rows, g);
    return s ? s : note_all(l, g);
}

gnn_status rt_read_edge_list(rt_source *source, gnn_graph *g) {
    gnn_context *c = source->c;
    gnn_graph_format format = source->o ? source->o->format : GNN_GRAPH_AUTO;
    rt_rows rows;
    found parts[RT_BLOCKS];
    edge_list l = {.format = format,
                   .rows = &rows,
                   .parts = parts,
                   .head = {-1, -1, -1, false, false, false},
                   .at_counts = format == GNN_GRAPH_COUNTS,
                   .limit = rt_node_limit(source, RT_IDS_SHARE)};
    gnn_status s = rt_rows_new(c, source->name, 0, &rows);
    if (!s) s = rt_lines_open(source, "#%", &l.lines);
    if (!s) s = read_list(&l, g);
    if (l.lines.buffer) rt_lines_close(&l.lines);
    rt_free(c, l.ids.id);
    rt_rows_free(&rows);
    return s;
}
