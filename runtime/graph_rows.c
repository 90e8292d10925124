// Rows from edges in any order: one round counts them, a second places them, then each row is sorted. Nothing
// but the result is allocated.
#include "files.h"

#include <string.h>

gnn_status rt_rows_new(gnn_context *c, const char *name, int64_t nodes, rt_rows *out)
{
    *out = (rt_rows){.c = c, .name = name};
    gnn_status s = rt_rows_grow(out, nodes);
    out->nodes = nodes;
    return s;
}

// Offsets have room for capacity + 1.
gnn_status rt_rows_grow(rt_rows *r, int64_t nodes)
{
    if (r->offsets && nodes <= r->capacity) {
        r->nodes = nodes > r->nodes ? nodes : r->nodes;
        return GNN_OK;
    }
    int64_t capacity = r->offsets && nodes < r->capacity * 2 ? r->capacity * 2 : nodes;
    if (capacity >= INT64_MAX / 8)
        return rt_fail(r->c, GNN_TOO_LARGE, "%s: %lld nodes are too many", r->name, (long long)nodes);
    size_t old = r->offsets ? ((size_t)r->capacity + 1) * sizeof(int64_t) : 0;
    size_t bytes = ((size_t)capacity + 1) * sizeof(int64_t);
    int64_t *offsets = rt_resize(r->c, r->offsets, old, bytes);
    if (!offsets)
        return GNN_NO_MEMORY;
    memset((char *)offsets + old, 0, bytes - old);
    r->offsets = offsets;
    r->capacity = capacity;
    r->nodes = nodes;
    return GNN_OK;
}

static void count_pending(rt_rows *r)
{
    for (uint32_t i = 0; i < r->npending; i++) {
        int64_t row = r->pending[i].row;
        r->offsets[row + 1]++;
        r->seen = (r->seen ^ (uint64_t)row) * 0x100000001b3u;
    }
    r->edges += r->npending;
}

// Whatever the second round tells, nothing is written outside the arrays.
static void place_pending(rt_rows *r)
{
    int64_t at[RT_PENDING];
    for (uint32_t i = 0; i < r->npending; i++) {
        int64_t row = r->pending[i].row;
        if (row >= r->nodes || r->placed == r->edges || r->offsets[row] >= r->edges) {
            r->strayed = true;
            r->npending = i;
            break;
        }
        at[i] = r->offsets[row]++;
        __builtin_prefetch(&r->col[at[i]], 1);
        r->placed++;
        r->seen_again = (r->seen_again ^ (uint64_t)row) * 0x100000001b3u;
    }
    for (uint32_t i = 0; i < r->npending; i++)
        r->col[at[i]] = r->pending[i].col;
    for (uint32_t i = 0; i < r->npending && r->weight; i++)
        r->weight[at[i]] = r->pending[i].weight;
}

void rt_rows_flush(rt_rows *r)
{
    if (r->col)
        place_pending(r);
    else
        count_pending(r);
    r->npending = 0;
}

static gnn_status drop_spare_capacity(rt_rows *r)
{
    if (r->capacity == r->nodes)
        return GNN_OK;
    size_t bytes = ((size_t)r->nodes + 1) * sizeof(int64_t);
    int64_t *fitting = rt_resize(r->c, r->offsets, bytes, bytes);
    if (!fitting)
        return GNN_NO_MEMORY;
    r->offsets = fitting;
    r->capacity = r->nodes;
    return GNN_OK;
}

gnn_status rt_rows_place_all(rt_rows *r, bool weighted)
{
    rt_rows_flush(r);
    if (drop_spare_capacity(r))
        return GNN_NO_MEMORY;
    for (int64_t v = 0; v < r->nodes; v++)
        r->offsets[v + 1] += r->offsets[v];
    r->col = rt_alloc_array(r->c, r->edges, sizeof *r->col);
    if (!r->col)
        return GNN_NO_MEMORY;
    if (weighted) {
        r->weight = rt_alloc_array(r->c, r->edges, sizeof *r->weight);
        if (!r->weight)
            return GNN_NO_MEMORY;
    }
    return GNN_OK;
}

// Placing left each offset at the end of its row.
static void restore_offsets(rt_rows *r)
{
    memmove(r->offsets + 1, r->offsets, (size_t)r->nodes * sizeof(int64_t));
    r->offsets[0] = 0;
}

static void move_into(rt_rows *r, gnn_graph *g)
{
    g->nodes = r->nodes;
    g->edges = r->edges;
    g->rowptr = r->offsets;
    g->col = r->col;
    if (r->weight)
        g->weight = (gnn_array){.dtype = GNN_F64, .rank = 1, .shape = {r->edges}, .data = r->weight};
    *r = (rt_rows){.c = r->c};
}

gnn_status rt_rows_finish(rt_rows *r, gnn_graph *g)
{
    gnn_status s = GNN_OK;
    rt_rows_flush(r);
    if (r->strayed || r->placed != r->edges || r->seen != r->seen_again) {
        s = rt_fail(r->c, GNN_IO, "%s: the file changed while it was read", r->name);
    } else {
        restore_offsets(r);
        for (int64_t v = 0; v < r->nodes; v++) {
            int64_t first = r->offsets[v];
            rt_sort_row(r->col + first, r->weight ? r->weight + first : NULL, r->offsets[v + 1] - first);
        }
        move_into(r, g);
    }
    rt_rows_free(r);
    return s;
}

void rt_rows_free(rt_rows *r)
{
    rt_free(r->c, r->offsets);
    rt_free(r->c, r->col);
    rt_free(r->c, r->weight);
    *r = (rt_rows){.c = r->c};
}
