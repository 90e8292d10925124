// Graph files as the options say they are, with what should be looked at told.
#include "graph_file.h"

#include <string.h>

static const struct {
    option_id id;
    const char *name;
} of_files[] = {{OPT_GRAPH_FORMAT, "graph-format"},
                {OPT_GRAPH_BASE, "graph-base"},
                {OPT_GRAPH_COMPACT, "graph-compact"},
                {OPT_GRAPH_MEMORY, "graph-memory"}};

static const char *way_out_of_note(gnn_note kind) {
    switch (kind) {
    case GNN_NOTE_BASE:
        return "--graph-base=1 makes node 1 the first; --graph-base=0 says that node 0 is meant to be there";
    case GNN_NOTE_GAPS: return "--graph-compact numbers those that edges name anew, in their order";
    case GNN_NOTE_HEADER:
        return "--graph-format=edges takes each line as an edge, whatever comments say";
    case GNN_NOTE_IGNORED: break;
    }
    return NULL;
}

static void tell_note(void *user, gnn_note kind, const char *text) {
    driver *d = user;
    if (kind == GNN_NOTE_BASE && option_given(d, OPT_GRAPH_BASE)) return;
    diagnostic *w = diag(d->ds, W0811, NO_SPAN, "%s", arena_strndup(d->arena, text, strlen(text)));
    if (way_out_of_note(kind)) diag_help(w, "%s", way_out_of_note(kind));
}

static gnn_graph_format format_of(const driver *d) {
    static const char *const names[] = {
#define X(name, text, reader) text,
        GNN_GRAPH_FORMATS(X)
#undef X
    };
    for (int i = 0; i < GNN_GRAPH_FORMAT_COUNT; i++)
        if (!strcmp(names[i], option_text(d, OPT_GRAPH_FORMAT, "auto"))) return (gnn_graph_format)i;
    return GNN_GRAPH_AUTO;
}

gnn_status graph_file_read(driver *d, gnn_context *c, const char *path, gnn_graph *out) {
    enum { MOST_MIB = 1 << 30 };
    const char *base = option_text(d, OPT_GRAPH_BASE, "");
    const int64_t mib = option_number(d, OPT_GRAPH_MEMORY, 0);
    gnn_graph_options o = {.format = format_of(d),
                           .base = !*base         ? GNN_BASE_AUTO
                                   : *base == '1' ? GNN_BASE_1
                                                  : GNN_BASE_0,
                           .compact = option_given(d, OPT_GRAPH_COMPACT),
                           .memory = (uint64_t)(mib < MOST_MIB ? mib : MOST_MIB) << 20,
                           .note = tell_note,
                           .user = d};
    return gnn_graph_read_as(c, path, &o, out);
}

static const struct {
    const char *said, *help;
} ways_out[] = {
    {"the format says which",
     "--graph-format=counts takes that line as counts, --graph-format=edges as an edge"},
    {"count from 1", "--graph-base=0 or --graph-base=1 says which id is the first"},
    {"renumber the nodes",
     "--graph-compact does; --graph-memory=MIB lets a small file have so many"},
    {"too many for a file", "--graph-memory=MIB lets a small file have so many"},
    {"being allowed more memory", "--graph-memory=MIB allows it"},
    {"rowptr",
     "a graph's .npz holds rowptr, where the edges of each destination begin, and col, their sources; "
     "it may hold etype, ntype, weight, batch, y and x"},
    {"edge_index",
     "rowptr counts the edges sorted by edge_index[1], col is edge_index[0] in that order: the README has the lines"},
};

diagnostic *graph_file_fault(driver *d, const gnn_context *c, gnn_status s) {
    const char *why = c ? gnn_context_error(c) : gnn_status_text(s);
    d->io_fault |= s == GNN_IO;
    diagnostic *e = diag(d->ds, s == GNN_IO ? E0801 : runtime_code((int)s, E0817), NO_SPAN, "%s",
                         why);
    for (size_t i = 0; s != GNN_IO && i < sizeof ways_out / sizeof *ways_out; i++)
        if (strstr(why, ways_out[i].said)) diag_help(e, "%s", ways_out[i].help);
    return e;
}

void graph_file_unasked(driver *d) {
    for (size_t i = 0; i < sizeof of_files / sizeof *of_files; i++)
        if (option_given(d, of_files[i].id))
            diag(d->ds, W0801, NO_SPAN, "--%s has no effect on a graph that is generated",
                 of_files[i].name);
}

void graph_file_options(const driver *d, graph_words *out) {
    for (size_t i = 0; i < sizeof of_files / sizeof *of_files; i++) {
        const char *value = option_text(d, of_files[i].id, "");
        if (option_given(d, of_files[i].id))
            VEC_PUSH(
                d->arena, out,
                arena_printf(d->arena, "--%s%s%s", of_files[i].name, *value ? "=" : "", value));
    }
}
