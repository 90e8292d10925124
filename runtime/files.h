// Readers of graph files: what a file is, what its head says, ids, and each format.
//
// Messages name file, place and value: "g.npz: col[123] = 99 is outside U (34)",
// "g.mtx:17: expected two integers, got 'x'". Memory for a text file of B bytes stays below 4 B +
// 64 MiB, but where ids are numbered anew (8 B more at most). What a member of an archive takes is
// bounded by its shape, which must agree with its size, which must be one that its compressed bytes
// can give; all members of a graph take at most 32 B + 64 MiB (graphs that people have take 3 to 28
// B).
#ifndef GNNRT_FILES_H
#define GNNRT_FILES_H

#include "graph_rows.h"
#include "read_arrays.h"

// ---- read_form.c: what a graph file is by its first bytes ---------------------------------------
gnn_status rt_find_form(rt_source *s, gnn_graph_format *form);

// ---- read_head.c: what the comments before the first edge say -----------------------------------
typedef struct {
    int64_t rows, sources, edges;   // -1: not said
    // each edge of two nodes stands there once, and has no direction
    bool both;
    bool bipartite;   // the two columns count apart
    bool konect;      // ids from 1; a fourth column holds times
} rt_edge_head;
void rt_edge_head_line(rt_edge_head *h, const char *p, const char *end);   // of a comment

// ---- read_ids.c: ids numbered anew --------------------------------------------------------------
typedef struct {
    int64_t *id;       // sorted, each once; with `before`, bits of those that occur
    int64_t *before;   // for each word of bits how many stand before it; NULL: they are listed
    int64_t n, capacity, end;
} rt_ids;
// for at most n, which lie below end
gnn_status rt_ids_reserve(gnn_context *c, rt_ids *ids, int64_t n, int64_t end);
void rt_ids_add(rt_ids *ids, int64_t id);
void rt_ids_finish(rt_ids *ids);                      // when all are added
int64_t rt_ids_find(const rt_ids *ids, int64_t id);   // ids->n: it is not there

// ---- read_graph*.c, and a reader a format -------------------------------------------------------
gnn_status rt_read_graph_features(rt_archive *a, gnn_graph *g);   // x, dense or sparse
#define X(name, text, reader) gnn_status rt_read_##reader(rt_source *s, gnn_graph *g);
GNN_GRAPH_FORMATS(X)
#undef X
// Offsets of n classes over total entries: 0 first, total last, never falling.
gnn_status rt_check_file_offsets(gnn_context *c, const char *file, const char *array,
                                 const gnn_array *offsets, int64_t n, int64_t total,
                                 const char *of);
gnn_status rt_check_file_indices(gnn_context *c, const char *file, const char *array,
                                 const gnn_array *indices, int64_t below, const char *space);

// From memory, as the fuzzers and tests want it; name stands in messages, its extension counts as a
// path's.
gnn_status rt_npy_from_memory(gnn_context *c, const char *name, const void *bytes, size_t size,
                              gnn_array *out);
gnn_status rt_npz_from_memory(gnn_context *c, const char *name, const void *bytes, size_t size,
                              const char *member, gnn_array *out);
gnn_status rt_graph_from_memory(gnn_context *c, const char *name, const void *bytes, size_t size,
                                gnn_graph *out);

#endif
