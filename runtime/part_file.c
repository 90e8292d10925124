// Parts of a graph in files: the arrays of a graph's .npz, and `ids edge_ids halo_ptr send_ptr
// send`, all i64, and `part`: part, parts, nodes and edges of the whole graph, its checksum.
#include "files.h"

#include <string.h>
#include <zip.h>

enum { NUMBERS = 5 };   // of the member "part"

static gnn_array numbers(const int64_t *data, int64_t n) {
    return (gnn_array){.dtype = GNN_I64, .rank = 1, .shape = {n}, .data = (void *)(uintptr_t)data};
}

// ---- Writing ------------------------------------------------------------------------------------
typedef struct {
    gnn_context *c;
    const char *path;
    zip_t *zip;
    uint32_t members;
    unsigned char headers[24][RT_NPY_HEADER];   // which libzip reads when it closes the file
} writing;

static gnn_status write_failed(const writing *w, const char *why) {
    return rt_fail(w->c, GNN_IO, "%s: cannot be written: %s", rt_short_name(w->path), why);
}

// What is absent is left out.
static gnn_status add(writing *w, const char *member, gnn_array a) {
    if (!a.data) return GNN_OK;
    unsigned char *header = w->headers[w->members++];
    const zip_uint64_t length = rt_npy_write_header(&a, header),
                       bytes = (zip_uint64_t)gnn_array_count(&a) * gnn_dtype_bytes(a.dtype);
    const zip_buffer_fragment_t pieces[] = {{header, length}, {a.data, bytes}};
    zip_source_t *source = zip_source_buffer_fragment(w->zip, pieces, RT_COUNT(pieces), 0);
    if (!source) return write_failed(w, zip_strerror(w->zip));
    const zip_int64_t at = zip_file_add(w->zip, member, source, ZIP_FL_OVERWRITE);
    if (at < 0) {
        zip_source_free(source);
        return write_failed(w, zip_strerror(w->zip));
    }
    if (zip_set_file_compression(w->zip, (zip_uint64_t)at, ZIP_CM_STORE, 0))
        return write_failed(w, zip_strerror(w->zip));
    return GNN_OK;
}

static gnn_status add_all(writing *w, const gnn_part *p, const int64_t said[NUMBERS],
                          const int64_t *sources) {
    const gnn_graph *g = &p->graph;
    const struct {
        const char *member;
        gnn_array array;
    } members[] = {{"part.npy", numbers(said, NUMBERS)},
                   {"rowptr.npy", numbers(g->rowptr, g->nodes + 1)},
                   {"col.npy", numbers(g->col, g->edges)},
                   {"num_src.npy", numbers(sources, 1)},
                   {"ids.npy", numbers(p->ids, p->owned + p->halo)},
                   {"edge_ids.npy", numbers(p->edge_ids, g->edges)},
                   {"halo_ptr.npy", numbers(p->halo_ptr, p->parts + 1)},
                   {"send_ptr.npy", numbers(p->send_ptr, p->parts + 1)},
                   {"send.npy", numbers(p->send, p->send_ptr[p->parts])},
                   {"etype.npy", numbers(g->etype, g->edges)},
                   {"ntype.npy", numbers(g->ntype, g->nodes)},
                   {"weight.npy", g->weight},
                   {"x.npy", g->x},
                   {"y.npy", g->y},
                   {"train_idx.npy", g->train_idx},
                   {"val_idx.npy", g->val_idx},
                   {"test_idx.npy", g->test_idx}};
    gnn_status s = GNN_OK;
    for (size_t i = 0; i < RT_COUNT(members) && !s; i++)
        s = add(w, members[i].member, members[i].array);
    return s;
}

gnn_status gnn_part_write(gnn_context *c, const char *path, const gnn_part *part) {
    if (!rt_begin(c, __func__, path && part && part->graph.rowptr)) return GNN_BAD_ARGUMENT;
    writing *w = rt_alloc_zeroed(c, sizeof *w);
    if (!w) return GNN_NO_MEMORY;
    w->c = c, w->path = path;
    int why = 0;
    w->zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &why);
    zip_error_t e;
    zip_error_init_with_code(&e, why);
    const int64_t said[NUMBERS] = {part->part, part->parts, part->nodes, part->edges,
                                   part->checksum};
    gnn_status s = w->zip ? add_all(w, part, said, &part->graph.sources)
                          : write_failed(w, zip_error_strerror(&e));
    zip_error_fini(&e);
    if (!s && zip_close(w->zip)) s = write_failed(w, zip_strerror(w->zip));
    else if (!s) w->zip = NULL;
    if (w->zip) zip_discard(w->zip);
    rt_free(c, w);
    return s;
}

// ---- Reading ------------------------------------------------------------------------------------
static gnn_status read_list(rt_archive *a, const char *member, int64_t length, int64_t below,
                            int64_t **out) {
    gnn_array list;
    gnn_status s = rt_archive_read(a, member, true, RT_AS_INDEX, &list);
    if (!s && (list.rank != 1 || list.shape[0] != length))
        s = rt_fail(a->c, GNN_BAD_FILE, "%s: %s has not %lld entries", a->name, member,
                    (long long)length);
    if (!s && below >= 0)
        s = rt_check_file_indices(a->c, a->name, member, &list, below, "what it numbers");
    if (s) gnn_array_free(a->c, &list);
    else *out = list.data;
    return s;
}

static gnn_status read_offsets(rt_archive *a, const char *member, int64_t parts, int64_t total,
                               int64_t **out) {
    gnn_status s = read_list(a, member, parts + 1, -1, out);
    const gnn_array list = numbers(*out, parts + 1);
    if (!s && total < 0) total = (*out)[parts];
    return s ? s : rt_check_file_offsets(a->c, a->name, member, &list, parts, total, "rows");
}

static gnn_status read_numbers(rt_archive *a, gnn_part *p) {
    int64_t *said = NULL;
    gnn_status s = read_list(a, "part", NUMBERS, -1, &said);
    if (s) return s;
    p->part = said[0], p->parts = said[1], p->nodes = said[2], p->edges = said[3];
    p->checksum = said[4];
    rt_free(a->c, said);
    const bool fits = p->parts >= 1 && p->parts <= 4096 && p->part >= 0 && p->part < p->parts &&
                      p->nodes >= p->owned && p->edges >= p->graph.edges && p->halo >= 0;
    return fits ? GNN_OK
                : rt_fail(a->c, GNN_BAD_FILE, "%s: part %lld of %lld does not fit its rows",
                          a->name, (long long)p->part, (long long)p->parts);
}

static gnn_status read_part(rt_archive *a, gnn_part *p) {
    p->owned = p->graph.nodes, p->halo = p->graph.sources - p->graph.nodes;
    gnn_status s = read_numbers(a, p);
    if (!s) s = read_list(a, "ids", p->owned + p->halo, p->nodes, &p->ids);
    if (!s) s = read_list(a, "edge_ids", p->graph.edges, p->edges, &p->edge_ids);
    if (!s) s = read_offsets(a, "halo_ptr", p->parts, p->halo, &p->halo_ptr);
    if (!s) s = read_offsets(a, "send_ptr", p->parts, -1, &p->send_ptr);
    return s ? s : read_list(a, "send", p->send_ptr[p->parts], p->owned, &p->send);
}

gnn_status gnn_part_read(gnn_context *c, const char *path, gnn_part *out) {
    if (!rt_begin(c, __func__, path && out)) return GNN_BAD_ARGUMENT;
    *out = (gnn_part){0};
    gnn_status s = gnn_graph_read(c, path, &out->graph);
    if (s) return s;
    rt_archive a;
    s = rt_archive_open(c, path, &a);
    uint64_t budget = a.file.size * 32;   // as of a graph's arrays
    a.budget = &budget;
    if (!s) s = read_part(&a, out);
    rt_archive_close(&a);
    if (s) gnn_part_free(c, out);
    return s;
}
