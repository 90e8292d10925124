// Reads a graph from a path or from memory, by the reader of its form.
#include "files.h"

#include <string.h>

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

enum { ARCHIVE_FACTOR = 32 };   // bytes of arrays a byte of their archive

// path is NULL for a source in memory.
static gnn_status read_npz(rt_source *s, const char *path, gnn_graph *g)
{
    rt_archive a;
    uint64_t budget = s->size * ARCHIVE_FACTOR + rt_graph_memory(s);
    gnn_status opened = path ? rt_archive_open(s->c, path, &a)
                             : rt_archive_memory(s->c, s->name, s->bytes, (size_t)s->size, &a);
    a.budget = &budget;
    return read_archive(&a, opened, g);
}

static gnn_status read_graph(rt_source *s, const char *path, gnn_graph *g)
{
    gnn_graph_format form;
    gnn_status status = rt_find_form(s, &form);
    bool list = form == GNN_GRAPH_AUTO || form == GNN_GRAPH_EDGES || form == GNN_GRAPH_COUNTS;
    if (status)
        return status;
    if (!list && s->o && (s->o->base != GNN_BASE_AUTO || s->o->compact))
        rt_note(s, GNN_NOTE_IGNORED, "it is no edge list, so where ids begin is not asked, and none is numbered anew");
    switch (form) {
    case GNN_GRAPH_NPZ: return read_npz(s, path, g);
    case GNN_GRAPH_MTX: return rt_read_matrix_market(s, g);
    case GNN_GRAPH_METIS: return rt_read_metis(s, g);
    case GNN_GRAPH_AUTO:
    case GNN_GRAPH_EDGES:
    case GNN_GRAPH_COUNTS: return rt_read_edge_list(s, g);
    case GNN_GRAPH_FORMAT_COUNT: break;
    }
    return rt_fail(s->c, GNN_BAD_ARGUMENT, "%s: there is no graph format of the number %d", s->name, (int)form);
}

gnn_status gnn_graph_read(gnn_context *c, const char *path, gnn_graph *out)
{
    return gnn_graph_read_as(c, path, NULL, out);
}

gnn_status gnn_graph_read_as(gnn_context *c, const char *path, const gnn_graph_options *o, gnn_graph *out)
{
    if (!rt_begin(c, __func__, path && out))
        return GNN_BAD_ARGUMENT;
    *out = (gnn_graph){0};
    rt_source s;
    gnn_status status = rt_source_open(c, path, &s);
    s.o = o;
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
