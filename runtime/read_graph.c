// Reads a graph from a path or from memory, by the reader of its form.
#include "files.h"

#include <string.h>

static void set_name(gnn_graph *g, const char *path) {
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    size_t n = dot && dot > base ? (size_t)(dot - base) : strlen(base);
    n = n < sizeof g->name ? n : sizeof g->name - 1;
    memcpy(g->name, base, n);
    g->name[n] = 0;
}

static gnn_status read_graph(rt_source *s, gnn_graph *g) {
    typedef gnn_status (*reader)(rt_source *s, gnn_graph *g);
    static const reader readers[GNN_GRAPH_FORMAT_COUNT] = {
#define X(name, text, reader) rt_read_##reader,
        GNN_GRAPH_FORMATS(X)
#undef X
    };
    gnn_graph_format form;
    gnn_status status = rt_find_form(s, &form);
    if (status) return status;
    if ((unsigned)form >= GNN_GRAPH_FORMAT_COUNT)
        return rt_fail(s->c, GNN_BAD_ARGUMENT, "%s: there is no graph format of the number %d",
                       s->name, (int)form);
    if (readers[form] != rt_read_edge_list && s->o &&
        (s->o->base != GNN_BASE_AUTO || s->o->compact))
        rt_note(s, GNN_NOTE_IGNORED,
                "it is no edge list, so where ids begin is not asked, and none is numbered anew");
    return readers[form](s, g);
}

gnn_status gnn_graph_read(gnn_context *c, const char *path, gnn_graph *out) {
    return gnn_graph_read_as(c, path, NULL, out);
}

gnn_status gnn_graph_read_as(gnn_context *c, const char *path, const gnn_graph_options *o,
                             gnn_graph *out) {
    if (!rt_begin(c, __func__, path && out)) return GNN_BAD_ARGUMENT;
    *out = (gnn_graph){0};
    rt_source s;
    gnn_status status = rt_source_open(c, path, &s);
    s.o = o;
    s.path = path;
    if (!status) status = read_graph(&s, out);
    rt_source_close(&s);
    if (status) gnn_graph_free(c, out);
    else set_name(out, path);
    return status;
}

gnn_status rt_graph_from_memory(gnn_context *c, const char *name, const void *bytes, size_t size,
                                gnn_graph *out) {
    *out = (gnn_graph){0};
    rt_source s = rt_source_memory(c, name, bytes, size);
    gnn_status status = read_graph(&s, out);
    if (status) gnn_graph_free(c, out);
    else set_name(out, name);
    return status;
}
