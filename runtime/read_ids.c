// Ids of an edge list numbered anew: those that occur, in their order. Where they lie close
// together, a bit says that one occurs, and a count how many do before its word; else they are
// listed and sorted.
#include "files.h"

#include <string.h>

enum { WORD = 64 };

static int64_t words_of(const rt_ids *ids) { return ids->end / WORD + 1; }

gnn_status rt_ids_reserve(gnn_context *c, rt_ids *ids, int64_t n, int64_t end) {
    ids->end = end;
    ids->capacity = n;
    int64_t words = words_of(ids);
    if (2 * words > n) {
        ids->id = rt_alloc_array(c, n, sizeof *ids->id);
        return ids->id ? GNN_OK : GNN_NO_MEMORY;
    }
    ids->id = rt_alloc_array(c, 2 * words, sizeof *ids->id);   // no more than a list takes
    if (!ids->id) return GNN_NO_MEMORY;
    ids->before = ids->id + words;
    memset(ids->id, 0, (size_t)words * sizeof *ids->id);
    return GNN_OK;
}

void rt_ids_add(rt_ids *ids, int64_t id) {
    if (ids->before && id < ids->end) ids->id[id / WORD] |= (int64_t)(UINT64_C(1) << id % WORD);
    else if (!ids->before && ids->n < ids->capacity) ids->id[ids->n++] = id;
}

static void finish_list(rt_ids *ids) {
    int64_t kept = 0;
    rt_sort_row(ids->id, NULL, ids->n);
    for (int64_t i = 0; i < ids->n; i++)
        if (!i || ids->id[i] != ids->id[i - 1]) ids->id[kept++] = ids->id[i];
    ids->n = kept;
}

void rt_ids_finish(rt_ids *ids) {
    if (!ids->before) {
        finish_list(ids);
        return;
    }
    for (int64_t w = 0; w < words_of(ids); w++) {
        ids->before[w] = ids->n;
        ids->n += __builtin_popcountll((uint64_t)ids->id[w]);
    }
}

static int64_t find_listed(const rt_ids *ids, int64_t id) {
    int64_t low = 0, high = ids->n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (ids->id[middle] < id) low = middle + 1;
        else high = middle;
    }
    return low < ids->n && ids->id[low] == id ? low : ids->n;
}

int64_t rt_ids_find(const rt_ids *ids, int64_t id) {
    if (!ids->before) return find_listed(ids, id);
    if (id >= ids->end) return ids->n;
    uint64_t word = (uint64_t)ids->id[id / WORD], bit = UINT64_C(1) << id % WORD;
    return word & bit ? ids->before[id / WORD] + __builtin_popcountll(word & (bit - 1)) : ids->n;
}
