// Edges in blocks, filled by all cores, from lines of text too.
#ifndef GNNRT_GRAPH_BLOCKS_H
#define GNNRT_GRAPH_BLOCKS_H

#include "read_lines.h"

// ---- graph.c ------------------------------------------------------------------------------------
// Of the passes over all edges a graph is made by; what follows them takes what is left of the
// time.
typedef struct {
    int64_t number, of;
} rt_pass;
void rt_tell_part(const gnn_context *c, rt_pass pass, double part);   // to who watches

// ---- graph_blocks.c: edges in blocks, by all cores ----------------------------------------------
// Edges come in rounds of at most RT_BLOCKS blocks, each filled by one thread. What a block holds
// depends on its number alone, and blocks are taken in their order, so the result is the same on
// any number of threads. Rows lie in ranges, and a block is sorted by them: then one thread has all
// edges of a range. Neighbouring counters of a line of the cache are of one range.
enum { RT_BLOCKS = 32, RT_BLOCK = 8192, RT_RANGES = 64, RT_RANGE_SHIFT = 3 };
typedef struct {
    int64_t row, col;
} rt_edge;
typedef struct {
    rt_edge *edge, *sorted;   // RT_BLOCK each; sorted: by range, otherwise in order
    double *weight, *sorted_weight;
    int64_t *sorted_row;   // in place of sorted, where rows alone are asked for
    uint32_t n, begin[RT_RANGES + 1];
    int64_t most;    // the largest row; -1: none
    uint64_t seen;   // of rows in order
} rt_edge_block;
typedef struct {
    gnn_context *c;
    uint32_t made, filled;       // that have memory; of the last round
    bool rows_alone, weighted;   // what is sorted beside the rows
    unsigned shift;              // added to a row before its range is taken
    void (*fill)(void *user, uint32_t i, rt_edge_block *b);
    void *user;
    rt_edge_block block[RT_BLOCKS];
} rt_edge_blocks;
// Of up to RT_BLOCKS blocks: `fill` puts the edges of the i-th, on any thread.
gnn_status rt_edge_blocks_fill(rt_edge_blocks *k, uint32_t n,
                               void (*fill)(void *user, uint32_t i, rt_edge_block *b), void *user);
void rt_edge_blocks_free(rt_edge_blocks *k);

static inline void rt_edge_put(rt_edge_block *b, int64_t row, int64_t col, double weight) {
    b->weight[b->n] = weight;
    b->edge[b->n++] = (rt_edge){row, col};
}

// Runs body for pieces of the rows from 0 to nodes that hold about as many entries each, on all
// cores where there are many.
typedef struct {
    const int64_t *offsets;
    int64_t nodes;
    void (*body)(void *user, int64_t first, int64_t last);
    void *user;
    uint32_t pieces;
} rt_row_pieces;
gnn_status rt_each_rows(gnn_context *c, rt_row_pieces *p);

// ---- read_blocks.c: lines by all cores ----------------------------------------------------------
typedef struct {
    rt_lines *lines;
    rt_edge_blocks *blocks;
    rt_pass pass;
    // Of a piece of the lines, on any thread: puts their edges until they end, the block has no
    // room for those of a line, or one is wrong, as the status of the piece says.
    void (*parse)(void *user, uint32_t i, rt_lines *piece, rt_edge_block *b);
    bool (*accept)(void *user,
                   // what a piece found, in their order; false: a line is wrong beside the others
                   uint32_t i);
    gnn_status (*take)(void *user, uint32_t n);   // the blocks of those accepted
    // reads on line by line from where that piece begins, up to the wrong one
    gnn_status (*tell)(void *user);
    void *user;
} rt_line_rounds;
gnn_status rt_read_rounds(const rt_line_rounds *w);   // to the end

#endif
