// Rows from edges in any order.
#ifndef GNNRT_GRAPH_ROWS_H
#define GNNRT_GRAPH_ROWS_H

#include "graph_blocks.h"

// Edges are told twice in the same order: first they are counted, then placed.
//
//     rt_rows_new(c, name, rows, &r);  each edge: rt_rows_put(&r, row, 0, 0);
//     rt_rows_place_all(&r, weighted);  each edge: rt_rows_put(&r, row, col, weight);
//     rt_rows_finish(&r, graph);   // or rt_rows_free
//
// Many edges come by rounds instead: rt_edge_blocks_fill(&r.blocks, …), then rt_rows_take(&r,
// blocks).
typedef struct {
    gnn_context *c;
    const char *name;
    int64_t nodes, edges, placed, capacity;   // capacity: of offsets
    int64_t *offsets;
    int64_t *col;
    double *weight;              // NULL: none
    uint64_t seen, seen_again;   // of rows in order: the file may change between the two passes
    _Atomic bool strayed;
    uint32_t taken;      // blocks of the round at hand
    gnn_status status;   // of a round that failed
    rt_edge_blocks blocks;
} rt_rows;
gnn_status rt_rows_new(gnn_context *c, const char *name, int64_t nodes, rt_rows *out);
gnn_status rt_rows_grow(rt_rows *r, int64_t nodes);   // at least that many
gnn_status rt_rows_take(rt_rows *r,
                        // the first of those filled; while rows are counted, there may be new ones
                        uint32_t blocks);
gnn_status rt_rows_place_all(rt_rows *r, bool weighted);
// Sorts each row, moves the arrays into g and sets its nodes and edges.
gnn_status rt_rows_finish(rt_rows *r, gnn_graph *g);
void rt_rows_free(rt_rows *r);
gnn_status rt_rows_flush(rt_rows *r);   // of what was put

static inline void rt_rows_put(rt_rows *r, int64_t row, int64_t col, double weight) {
    rt_edge_put(&r->blocks.block[0], row, col, weight);
    if (r->blocks.block[0].n == RT_BLOCK) rt_rows_flush(r);
}

// ---- graph_sort.c -------------------------------------------------------------------------------
void rt_sort_row(int64_t *col, double *weight, int64_t n);   // by (col, weight); weight may be NULL
void rt_sort_row_to_depth(int64_t *col, double *weight, int64_t n, int depth);   // of quicksort

#endif
