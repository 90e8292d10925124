// Edges in blocks: filled and sorted by the ranges of their rows, a block by one thread. And work
// on rows, by pieces of them.
#include "graph_blocks.h"

#include <string.h>

// ---- Blocks -------------------------------------------------------------------------------------
static uint32_t range_of(const rt_edge_blocks *k, int64_t row) {
    return (uint32_t)(((uint64_t)row + k->shift) >> RT_RANGE_SHIFT) % RT_RANGES;
}

// Of a row at a place; a sum of them tells order, and each is found without those before.
static uint64_t hash(uint64_t row, uint64_t at) {
    uint64_t x = (row + at * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    return (x ^ (x >> 29)) * 0x94d049bb133111ebu;
}

static void count_ranges(const rt_edge_blocks *k, rt_edge_block *b) {
    uint32_t count[RT_RANGES] = {0};
    b->most = -1;
    b->seen = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        int64_t row = b->edge[i].row;
        count[range_of(k, row)]++;
        b->most = row > b->most ? row : b->most;
        b->seen += hash((uint64_t)row, i);
    }
    b->begin[0] = 0;
    for (uint32_t r = 0; r < RT_RANGES; r++) b->begin[r + 1] = b->begin[r] + count[r];
}

static void fill_block(void *user, uint32_t i) {
    rt_edge_blocks *k = user;
    rt_edge_block *b = &k->block[i];
    uint32_t at[RT_RANGES];
    if (k->fill) k->fill(k->user, i, b);
    count_ranges(k, b);
    memcpy(at, b->begin, sizeof at);
    for (uint32_t e = 0; e < b->n && k->rows_alone; e++)
        b->sorted_row[at[range_of(k, b->edge[e].row)]++] = b->edge[e].row;
    for (uint32_t e = 0; e < b->n && !k->rows_alone; e++) {
        uint32_t to = at[range_of(k, b->edge[e].row)]++;
        b->sorted[to] = b->edge[e];
        if (k->weighted) b->sorted_weight[to] = b->weight[e];
    }
}

static gnn_status make_blocks(rt_edge_blocks *k, uint32_t n) {
    for (; k->made < n; k->made++) {
        rt_edge_block *b = &k->block[k->made];
        b->edge = rt_alloc_array(k->c, 2 * RT_BLOCK, sizeof *b->edge + sizeof *b->weight);
        if (!b->edge) return GNN_NO_MEMORY;
        b->sorted = b->edge + RT_BLOCK;
        b->weight = (double *)(b->sorted + RT_BLOCK);
        b->sorted_weight = b->weight + RT_BLOCK;
        b->sorted_row = (int64_t *)b->sorted;
        b->n = 0;
    }
    return n > 1 ? rt_pool_start(k->c) : GNN_OK;
}

gnn_status rt_edge_blocks_fill(rt_edge_blocks *k, uint32_t n,
                               void (*fill)(void *user, uint32_t i, rt_edge_block *b), void *user) {
    gnn_status s = make_blocks(k, n);
    if (s) return s;
    for (uint32_t i = 0; i < n && fill; i++) k->block[i].n = 0;
    k->filled = n;
    k->fill = fill;
    k->user = user;
    rt_parallel(k->c, n, fill_block, k);
    return GNN_OK;
}

void rt_edge_blocks_free(rt_edge_blocks *k) {
    for (uint32_t i = 0; i < k->made; i++) rt_free(k->c, k->block[i].edge);
    *k = (rt_edge_blocks){.c = k->c};
}

// ---- Pieces of rows -----------------------------------------------------------------------------
// The first row of a piece: rows and entries before it are that share of all.
static int64_t piece_begin(const rt_row_pieces *p, uint32_t i) {
    int64_t low = 0, high = p->nodes, share = (p->offsets[p->nodes] + p->nodes) / p->pieces * i;
    if (i == p->pieces) return p->nodes;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (p->offsets[middle] + middle < share) low = middle + 1;
        else high = middle;
    }
    return low;
}

static void run_piece(void *user, uint32_t i) {
    const rt_row_pieces *p = user;
    p->body(p->user, piece_begin(p, i), piece_begin(p, i + 1));
}

gnn_status rt_each_rows(gnn_context *c, rt_row_pieces *p) {
    enum { PIECES = 256, FEW = 1 << 16 };
    bool few = p->offsets[p->nodes] < FEW && p->nodes < FEW;
    gnn_status s = few ? GNN_OK : rt_pool_start(c);
    p->pieces = few ? 1 : PIECES;
    if (!s) rt_parallel(c, p->pieces, run_piece, p);
    return s;
}
