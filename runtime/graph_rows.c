// Rows from edges in any order: one pass counts them, a second places them, then each row is
// sorted. Nothing but the result and the blocks of a round is allocated.
#include "graph_rows.h"

#include <stdatomic.h>
#include <string.h>

enum { TOGETHER = 64 };

gnn_status rt_rows_new(gnn_context *c, const char *name, int64_t nodes, rt_rows *out) {
    *out = (rt_rows){.c = c, .name = name, .blocks = {.c = c, .rows_alone = true, .shift = 1}};
    gnn_status s = rt_rows_grow(out, nodes);
    out->nodes = nodes;
    return s ? s : rt_edge_blocks_fill(&out->blocks, 1, NULL, NULL);
}

// Offsets have room for capacity + 1.
gnn_status rt_rows_grow(rt_rows *r, int64_t nodes) {
    if (r->offsets && nodes <= r->capacity) {
        r->nodes = nodes > r->nodes ? nodes : r->nodes;
        return GNN_OK;
    }
    int64_t capacity = r->offsets && nodes < r->capacity * 2 ? r->capacity * 2 : nodes;
    if (capacity >= INT64_MAX / 8)
        return rt_fail(r->c, GNN_TOO_LARGE, "%s: %lld nodes are too many", r->name,
                       (long long)nodes);
    size_t old = r->offsets ? ((size_t)r->capacity + 1) * sizeof(int64_t) : 0;
    size_t bytes = ((size_t)capacity + 1) * sizeof(int64_t);
    int64_t *offsets = rt_resize(r->c, r->offsets, old, bytes);
    if (!offsets) return GNN_NO_MEMORY;
    memset((char *)offsets + old, 0, bytes - old);
    r->offsets = offsets;
    r->capacity = capacity;
    r->nodes = nodes;
    return GNN_OK;
}

// ---- Rounds -------------------------------------------------------------------------------------
static void count_range(rt_rows *r, const rt_edge_block *b, uint32_t first, uint32_t last) {
    for (uint32_t i = first; i < last; i++) r->offsets[b->sorted_row[i] + 1]++;
}

// Places of a few edges are found before they are written to, so that they miss the caches
// together. Whatever the second round tells, nothing is written outside the arrays; in a file that
// changed, two threads may meet at an element.
static void place_few(rt_rows *r, const rt_edge *e, const double *weight, uint32_t n) {
    int64_t at[TOGETHER];
    for (uint32_t i = 0; i < n; i++) {
        if (e[i].row >= r->nodes || r->offsets[e[i].row] >= r->edges) {
            atomic_store_explicit(&r->strayed, true, memory_order_relaxed);
            n = i;
            break;
        }
        at[i] = r->offsets[e[i].row]++;
        __builtin_prefetch(&r->col[at[i]], 1);
    }
    for (uint32_t i = 0; i < n; i++) __atomic_store_n(&r->col[at[i]], e[i].col, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < n && r->weight; i++)
        __atomic_store(&r->weight[at[i]], &weight[i], __ATOMIC_RELAXED);
}

static void place_range(rt_rows *r, const rt_edge_block *b, uint32_t first, uint32_t last) {
    for (uint32_t n; first < last; first += n) {
        n = last - first < TOGETHER ? last - first : TOGETHER;
        place_few(r, b->sorted + first, b->sorted_weight + first, n);
    }
}

static void take_range(void *user, uint32_t range) {
    rt_rows *r = user;
    for (uint32_t i = 0; i < r->taken; i++) {
        const rt_edge_block *b = &r->blocks.block[i];
        (r->col ? place_range : count_range)(r, b, b->begin[range], b->begin[range + 1]);
    }
}

static void see(uint64_t *seen, uint64_t hash) { *seen = (*seen ^ hash) * 0x100000001b3u; }

static gnn_status begin_round(rt_rows *r) {
    int64_t most = -1, edges = 0;
    for (uint32_t i = 0; i < r->taken; i++) {
        const rt_edge_block *b = &r->blocks.block[i];
        most = b->most > most ? b->most : most;
        edges += b->n;
        see(r->col ? &r->seen_again : &r->seen, b->seen);
    }
    if (r->col) {
        r->placed += edges;
        r->strayed |= r->placed > r->edges;
        return GNN_OK;
    }
    r->edges += edges;
    return most < r->nodes ? GNN_OK : rt_rows_grow(r, most + 1);
}

static void take_ranges(rt_rows *r) {
    if (r->taken > 1) rt_parallel(r->c, RT_RANGES, take_range, r);
    for (uint32_t range = 0; r->taken == 1 && range < RT_RANGES; range++) take_range(r, range);
}

gnn_status rt_rows_take(rt_rows *r, uint32_t blocks) {
    r->taken = blocks;
    if (!r->status) r->status = begin_round(r);
    if (!r->status && !r->strayed) take_ranges(r);
    r->blocks.block[0].n = 0;   // where edges are put one by one
    return r->status;
}

gnn_status rt_rows_flush(rt_rows *r) {
    if (r->blocks.made && r->blocks.block[0].n && !r->status) {
        r->status = rt_edge_blocks_fill(&r->blocks, 1, NULL, NULL);
        rt_rows_take(r, 1);
    }
    r->blocks.block[0].n = 0;   // of a round that failed, too
    return r->status;
}

static gnn_status drop_spare_capacity(rt_rows *r) {
    if (r->capacity == r->nodes) return GNN_OK;
    size_t bytes = ((size_t)r->nodes + 1) * sizeof(int64_t);
    int64_t *fitting = rt_resize(r->c, r->offsets, bytes, bytes);
    if (!fitting) return GNN_NO_MEMORY;
    r->offsets = fitting;
    r->capacity = r->nodes;
    return GNN_OK;
}

gnn_status rt_rows_place_all(rt_rows *r, bool weighted) {
    if (rt_rows_flush(r)) return r->status;
    r->blocks.rows_alone = false;
    r->blocks.shift = 0;
    r->blocks.weighted = weighted;
    if (drop_spare_capacity(r)) return GNN_NO_MEMORY;
    for (int64_t v = 0; v < r->nodes; v++) r->offsets[v + 1] += r->offsets[v];
    r->col = rt_alloc_array(r->c, r->edges, sizeof *r->col);
    if (!r->col) return GNN_NO_MEMORY;
    if (weighted) {
        r->weight = rt_alloc_array(r->c, r->edges, sizeof *r->weight);
        if (!r->weight) return GNN_NO_MEMORY;
    }
    return GNN_OK;
}

// Placing left each offset at the end of its row.
static void restore_offsets(rt_rows *r) {
    memmove(r->offsets + 1, r->offsets, (size_t)r->nodes * sizeof(int64_t));
    r->offsets[0] = 0;
}

static void move_into(rt_rows *r, gnn_graph *g) {
    g->nodes = r->nodes;
    g->edges = r->edges;
    g->rowptr = r->offsets;
    g->col = r->col;
    if (r->weight)
        g->weight = (gnn_array){
            .dtype = GNN_F64, .rank = 1, .shape = {r->edges}, .data = r->weight};
    r->offsets = r->col = NULL;
    r->weight = NULL;
}

static void sort_rows(void *user, int64_t first, int64_t last) {
    const rt_rows *r = user;
    for (int64_t v = first; v < last; v++) {
        int64_t at = r->offsets[v];
        rt_sort_row(r->col + at, r->weight ? r->weight + at : NULL, r->offsets[v + 1] - at);
    }
}

gnn_status rt_rows_finish(rt_rows *r, gnn_graph *g) {
    gnn_status s = rt_rows_flush(r);
    if (!s && (r->strayed || r->placed != r->edges || r->seen != r->seen_again))
        s = rt_fail(r->c, GNN_IO, "%s: the file changed while it was read", r->name);
    if (!s) {
        restore_offsets(r);
        s = rt_each_rows(
            r->c, &(rt_row_pieces){
                      .offsets = r->offsets, .nodes = r->nodes, .body = sort_rows, .user = r});
    }
    if (!s) move_into(r, g);
    rt_rows_free(r);
    return s;
}

void rt_rows_free(rt_rows *r) {
    rt_free(r->c, r->offsets);
    rt_free(r->c, r->col);
    rt_free(r->c, r->weight);
    rt_edge_blocks_free(&r->blocks);
    *r = (rt_rows){.c = r->c};
}
