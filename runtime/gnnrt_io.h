// libgnnrt_io: graphs and arrays from files and generators, beside libgnnrt (gnnrt.h), whose
// contexts, statuses and types it takes. It needs libzip.
//
//     gnn_graph g;
//     gnn_graph_read(c, "cora.npz", &g);
//     gnn_graph_free(c, &g);
#ifndef GNNRT_IO_H
#define GNNRT_IO_H

#include "gnnrt.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Files and generators -----------------------------------------------------------------------
// Host arrays, zeroed structs when unused. Files are untrusted: malformed ones give BAD_FILE with
// the place.
typedef struct {
    gnn_dtype dtype;
    uint32_t rank;
    int64_t shape[GNN_MAX_RANK];
    void *data;   // packed, row-major; owned
} gnn_array;
// Zeros.
gnn_status gnn_array_new(gnn_context *c, gnn_dtype t, uint32_t rank, const int64_t *shape,
                         gnn_array *out);
void gnn_array_free(gnn_context *c, gnn_array *a);
int64_t gnn_array_count(const gnn_array *a);
gnn_tensor gnn_array_tensor(const gnn_array *a);   // a packed view, for a host context

// .npy: little-endian, C or Fortran order; f8 f4 f2 i8 i4 b1, narrower integers widened to i32, u4
// and u8 to i64. bf16 is written as f32.
gnn_status gnn_array_read_npy(gnn_context *c, const char *path, gnn_array *out);
gnn_status gnn_array_write_npy(gnn_context *c, const char *path, const gnn_array *a);
// "x" or "x.npy".
gnn_status gnn_array_read_npz(gnn_context *c, const char *path, const char *member, gnn_array *out);

// A graph in rows: the in-edges of node v are rowptr[v] … rowptr[v + 1], edge e comes from col[e].
typedef struct {
    char name[64];
    int64_t nodes, sources, edges;       // V, U, E
    int64_t *rowptr;                     // V + 1
    int64_t *col;                        // E, each below U
    int64_t *dst;                        // E: the row of each edge; NULL until gnn_graph_expand
    int64_t types, node_types, graphs;   // sizes of the spaces below; 0 where absent
    int64_t *etype;                      // E, below types
    int64_t *ntype;                      // V, below node_types
    int64_t *graph_ptr;                  // graphs + 1: nodes of each graph of a batch
    int64_t *batch;                      // V: the graph of each node, non-decreasing
    gnn_array y, x;                      // labels and features, rank 0 where absent
    gnn_array weight;   // E: third column of a text file (f64) or npz "weight"; rank 0 where absent
    gnn_array train_idx, val_idx, test_idx;   // nodes, i64; rank 0 where absent
} gnn_graph;

// By content, then extension:
//   .npz           rowptr, col; where there etype, ntype, batch, graph_ptr, x or sparse x_indptr x_indices x_data x_dim, y, weight,
//                  train_idx val_idx test_idx, num_src; edges stay in their order
//   Matrix Market  coordinate; the row is the destination; symmetric, skew-symmetric and hermitian ones have both triangles
//   METIS          .graph: a line a node, ids from 1
//   DIMACS         "p KIND nodes edges", then "a src dst [weight]" or, both ways, "e u v" a line, ids from 1
//   edge list      "src dst [weight]" a line, # and % comments. Headers are heeded: SNAP's "# Undirected graph" and "# Nodes: N
//                  Edges: M", KONECT's "% sym|asym|bip WEIGHTS" (ids from 1, sizes on the next line)
// Edges of text files are sorted by (row, col, weight). A first line that may be an edge, or counts
// of nodes and edges, is refused, until the format says which. A text file of B bytes has ids below
// (B + 16 MiB) / 8, .mtx, METIS and DIMACS (B + 48 MiB) / 8 rows; the arrays of a .npz take at most
// 32 B + 64 MiB: a small file cannot ask for much memory.
gnn_status gnn_graph_read(gnn_context *c, const char *path, gnn_graph *out);

// clang-format off
#define GNN_GRAPH_FILES(X) /* X(name, text, reader) */                                                \
    X(NPZ, "npz", npz) X(MTX, "mtx", matrix_market) X(EDGES, "edges", edge_list)                      \
    X(COUNTS, "counts", edge_list) X(METIS, "metis", metis) X(DIMACS, "dimacs", dimacs)
// clang-format on
#define GNN_GRAPH_FORMATS(X) X(AUTO, "auto", edge_list) GNN_GRAPH_FILES(X)
typedef enum {
#define X(name, text, reader) GNN_GRAPH_##name,
    GNN_GRAPH_FORMATS(X)
#undef X
        GNN_GRAPH_FORMAT_COUNT
} gnn_graph_format;   // EDGES: an edge list whose comments say nothing; COUNTS: one whose first line is "nodes edges" or "nodes nodes edges"
typedef enum {
    GNN_NOTE_BASE,     // ids seem to count from 1
    GNN_NOTE_GAPS,     // most ids occur nowhere
    GNN_NOTE_HEADER,   // the file is not what its header says
    GNN_NOTE_IGNORED   // a part of the file is not read
} gnn_note;
typedef struct {
    gnn_graph_format format;
    // of ids in edge lists; AUTO: 0, or as a header says
    enum { GNN_BASE_AUTO, GNN_BASE_0, GNN_BASE_1 } base;
    bool compact;   // edge lists: ids that occur are numbered anew, in their order
    // bytes in place of the 64 MiB above, and a proportional part of them for ids and rows; 0: 64
    // MiB
    uint64_t memory;
    // what the caller should look at; NULL: nobody listens
    void (*note)(void *user, gnn_note kind, const char *text);
    void *user;
} gnn_graph_options;
// o NULL: all 0
gnn_status gnn_graph_read_as(gnn_context *c, const char *path, const gnn_graph_options *o,
                             gnn_graph *out);
// Made with integers alone, so the same on every machine; edges are sorted by (row, col, etype).
// SEED is 1 if left out.
//   rmat:SCALE:DEGREE[:SEED]        2^SCALE nodes, DEGREE edges a node, a b c d = .57 .19 .19 .05; loops, duplicates stay
//   er:N:M[:SEED]                   M edges, both ends uniform
//   hubs:N:M[:SEED]                 M edges; in-degrees follow a power law, node v gets a share of about 1 / (v + 1)
//   batch:COUNT:MEAN:P[:SEED]       COUNT graphs of 1 to 2 MEAN - 1 nodes, each pair joined with probability P
//   grid:W:H  clique:N              undirected: both directions of each edge, no loops
//   star:N  path:N  empty:N         edges v -> 0 for v > 0; edges v -> v + 1; no edges
// A suffix ",types=R" gives each edge one of R types, uniformly.
gnn_status gnn_graph_generate(gnn_context *c, const char *description, gnn_graph *out);
// A graph like another one at another size: its rows lie in the same order and have in-degrees of
// the same shape, which add up to `edges`; columns lie where those of the other lie. Types, labels,
// features, weights and graphs of a batch come along; training sets do not.
typedef struct {
    int64_t nodes, edges, seed;
} gnn_graph_likeness;
gnn_status gnn_graph_like(gnn_context *c, const gnn_graph *of, const gnn_graph_likeness *o,
                          gnn_graph *out);
// While graphs of c are read or made: where that takes long, the thread that asked for it is told
// now and then which part is done, from 0 to 1. NULL: nobody listens.
void gnn_graph_watch(gnn_context *c, void (*progress)(void *user, double part), void *user);
gnn_status gnn_graph_expand(gnn_context *c, gnn_graph *g);   // fills dst
void gnn_graph_free(gnn_context *c, gnn_graph *g);

typedef struct {   // of rows
    int64_t max_degree, min_degree, empty_rows, self_loops;
    double mean_degree, deviation;
    int64_t quantiles[5];   // degrees at 0.25 0.5 0.75 0.9 0.99
} gnn_graph_statistics;
gnn_status gnn_graph_measure(gnn_context *c, const gnn_graph *g, gnn_graph_statistics *out);

// ---- Parts of a graph ---------------------------------------------------------------------------
// A graph is cut by its nodes. A part owns some of them, with all their in-edges, so rows are
// whole. The sources of its edges are the nodes it owns, then its halo: nodes of other parts.
//
//     gnn_partition_options o = {.parts = 8};
//     gnn_partition_new(c, &g, &o, &cut);
//     gnn_partition_part(cut, 3, &part);   // and gnn_part_write, or run ops on part.graph
//     gnn_part_free(c, &part);  gnn_partition_free(cut);
//
// Before an op part p sends row send[i] of its own to part q, for i from send_ptr[q] to
// send_ptr[q + 1]. What it receives of q are the rows from owned + halo_ptr[q] to owned +
// halo_ptr[q + 1], in their order.
typedef enum {
    GNN_OWNERS_BLOCK,   // consecutive nodes, with about as many rows and edges each
    GNN_OWNERS_HASH,    // by a hash of the node's number
    GNN_OWNERS_METIS,   // by libmetis, which is opened at run time; few edges between parts
    GNN_OWNERS_GIVEN
} gnn_owners;
typedef struct {
    int64_t parts;   // 1 to 4096
    gnn_owners owners;
    const int64_t *owner;   // GIVEN: of each node, below parts
    int64_t seed;           // METIS
} gnn_partition_options;
typedef struct gnn_partition gnn_partition;
// Of a graph whose sources are its nodes. It has to stay as it is until the partition is freed.
gnn_status gnn_partition_new(gnn_context *c, const gnn_graph *g, const gnn_partition_options *o,
                             gnn_partition **out);
void gnn_partition_free(gnn_partition *p);
int64_t gnn_partition_cut(const gnn_partition *p);   // edges whose source another part owns

typedef struct {
    int64_t part, parts;
    int64_t nodes, edges;   // of the whole graph
    int64_t checksum;       // of the whole graph and its owners: the same in all parts of one cut
    // its own rows, in the order of their numbers; graph.sources is owned + halo. Types, weights,
    // features, labels and sets come along; graphs of a batch do not.
    gnn_graph graph;
    int64_t owned, halo;
    int64_t *ids;        // owned + halo: the node's number in the whole graph; a halo lies by owner
    int64_t *edge_ids;   // of each edge: its number in the whole graph
    int64_t *halo_ptr, *send_ptr;   // parts + 1
    int64_t *send;                  // send_ptr[parts]: rows of its own, by receiver
} gnn_part;
gnn_status gnn_partition_part(const gnn_partition *p, int64_t part, gnn_part *out);
// A .npz that gnn_graph_read takes too, as the graph of the part's rows.
gnn_status gnn_part_write(gnn_context *c, const char *path, const gnn_part *part);
gnn_status gnn_part_read(gnn_context *c, const char *path, gnn_part *out);
void gnn_part_free(gnn_context *c, gnn_part *part);

#ifdef __cplusplus
}
#endif
#endif
