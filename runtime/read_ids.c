// Ids of an edge list numbered anew: those that occur, in their order.
#include "files.h"

#include <string.h>

gnn_status rt_ids_reserve(gnn_context *c, rt_ids *ids, int64_t n)
{
    ids->id = rt_alloc_array(c, n, sizeof *ids->id);
    ids->capacity = n;
    return ids->id ? GNN_OK : GNN_NO_MEMORY;
}

void rt_ids_finish(rt_ids *ids)
{
    int64_t kept = 0;
    rt_sort_row(ids->id, NULL, ids->n);
    for (int64_t i = 0; i < ids->n; i++)
        if (!i || ids->id[i] != ids->id[i - 1])
            ids->id[kept++] = ids->id[i];
    ids->n = kept;
}

int64_t rt_ids_find(const rt_ids *ids, int64_t id)
{
    int64_t low = 0, high = ids->n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (ids->id[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < ids->n && ids->id[low] == id ? low : ids->n;
}
