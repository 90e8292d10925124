// Reads a graph from a path or from memory: which reader it is follows from the first bytes, then from the
// extension.
#include "files.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

typedef enum { ARCHIVE, MATRIX_MARKET, EDGE_LIST } graph_form;

static bool has_extension(const char *path, const char *extension)
{
    size_t n = strlen(path), m = strlen(extension);
    return n >= m && !strcasecmp(path + n - m, extension);
}

static gnn_status refuse(const rt_source *s, const char *why)
{
    return rt_fail(s->c, GNN_BAD_FILE, "%s: %s", s->name, why);
}

static gnn_status find_form(rt_source *s, graph_form *form)
{
    char head[16] = "";
    size_t got;
    gnn_status status = rt_source_read(s, head, sizeof head - 1, &got);
    rt_source_rewind(s);
    if (status)
        return status;
    *form = EDGE_LIST;
    if (!memcmp(head, "PK\3\4", 4) || !memcmp(head, "PK\5\6", 4))
        *form = ARCHIVE;
    else if (!strncasecmp(head, "%%MatrixMarket", 14))
        *form = MATRIX_MARKET;
    else if (!memcmp(head, "\x93NUMPY", 6))
        return refuse(s, "is a single array; a graph is a .npz with rowptr and col, a .mtx or an edge list");
    else if (!memcmp(head, "\x1f\x8b", 2))
        return refuse(s, "is compressed by gzip; decompress it first");
    else if (has_extension(s->name, ".npz"))
        return refuse(s, "does not begin as a .npz archive does");
    else if (has_extension(s->name, ".mtx"))
        return refuse(s, "does not begin with '%%MatrixMarket'");
    return GNN_OK;
}

static void set_name(gnn_graph *g, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    size_t n = dot && dot > base ? (size_t)(dot - base) : strlen(base);
    n = n < sizeof g->name ? n : sizeof g->name - 1;
    memcpy(g->name, base, n);
    g->name[n] = 0;
}

static gnn_status read_archive(rt_archive *a, gnn_status opened, gnn_graph *g)
{
    gnn_status s = opened ? opened : rt_read_graph_archive(a, g);
    rt_archive_close(a);
    return s;
}

// path is NULL for a source in memory.
static gnn_status read_graph(rt_source *s, const char *path, gnn_graph *g)
{
    graph_form form;
    rt_archive a;
    gnn_status status = find_form(s, &form);
    if (status)
        return status;
    switch (form) {
    case ARCHIVE:
        return read_archive(&a,
                            path ? rt_archive_open(s->c, path, &a)
                                 : rt_archive_memory(s->c, s->name, s->bytes, (size_t)s->size, &a),
                            g);
    case MATRIX_MARKET: return rt_read_matrix_market(s, g);
    case EDGE_LIST: return rt_read_edge_list(s, g);
    }
    return GNN_BAD_FILE;
}

gnn_status gnn_graph_read(gnn_context *c, const char *path, gnn_graph *out)
{
    if (!rt_begin(c, __func__, path && out))
        return GNN_BAD_ARGUMENT;
    *out = (gnn_graph){0};
    rt_source s;
    gnn_status status = rt_source_open(c, path, &s);
    if (!status)
        status = read_graph(&s, path, out);
    rt_source_close(&s);
    if (status)
        gnn_graph_free(c, out);
    else
        set_name(out, path);
    return status;
}

gnn_status rt_graph_from_memory(gnn_context *c, const char *name, const void *bytes, size_t size,
                                gnn_graph *out)
{
    *out = (gnn_graph){0};
    rt_source s = rt_source_memory(c, name, bytes, size);
    gnn_status status = read_graph(&s, NULL, out);
    if (status)
        gnn_graph_free(c, out);
    else
        set_name(out, name);
    return status;
}
