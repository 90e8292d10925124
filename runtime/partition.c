// Cuts a graph into parts: who owns a node, which nodes of others a part reads. Parts are looked at
// by all cores, each with a bit a node, so memory stays at 24 bytes a node beside the halos.
#include "partition.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { MOST_PARTS = 4096, MOST_THREADS = 16, WORD = 64 };

// ---- Owners -------------------------------------------------------------------------------------
static gnn_status take_owners(gnn_partition *p, const int64_t *owner) {
    for (int64_t v = 0; v < p->g->nodes; v++) {
        if (owner[v] < 0 || owner[v] >= p->parts)
            return rt_fail(p->c, GNN_BAD_INDEX, "owner[%lld] = %lld is none of %lld parts",
                           (long long)v, (long long)owner[v], (long long)p->parts);
        p->owner[v] = (int32_t)owner[v];
    }
    return GNN_OK;
}

static gnn_status find_owners(gnn_partition *p, const gnn_partition_options *o) {
    const gnn_graph *g = p->g;
    const uint64_t parts = (uint64_t)p->parts, all = (uint64_t)(g->nodes + g->edges);
    switch (o->owners) {
    case GNN_OWNERS_GIVEN: return take_owners(p, o->owner);
    case GNN_OWNERS_METIS: return rt_owners_by_metis(p->c, g, p->parts, o->seed, p->owner);
    case GNN_OWNERS_HASH:
        for (int64_t v = 0; v < g->nodes; v++) p->owner[v] = (int32_t)(rt_mix((uint64_t)v) % parts);
        return GNN_OK;
    case GNN_OWNERS_BLOCK: break;
    }
    for (int64_t v = 0; v < g->nodes; v++)   // by how many rows and edges stand before it
        p->owner[v] = (int32_t)((unsigned __int128)(uint64_t)(v + g->rowptr[v]) * parts / all);
    return GNN_OK;
}

static gnn_status order_rows(gnn_partition *p) {
    const int64_t n = p->g->nodes;
    p->rows = rt_alloc_array(p->c, n, sizeof *p->rows);
    p->local = rt_alloc_array(p->c, n, sizeof *p->local);
    p->row_ptr = rt_alloc_zeroed(p->c, (size_t)(p->parts + 2) * sizeof *p->row_ptr);
    if (!p->rows || !p->local || !p->row_ptr) return GNN_NO_MEMORY;
    int64_t *next = p->row_ptr + 1;   // while they are placed it lags by one part
    for (int64_t v = 0; v < n; v++) p->local[v] = next[p->owner[v] + 1]++;
    for (int64_t i = 1; i <= p->parts; i++) next[i] += next[i - 1];
    memmove(p->row_ptr, next, (size_t)(p->parts + 1) * sizeof *next);
    for (int64_t v = 0; v < n; v++) p->rows[p->row_ptr[p->owner[v]] + p->local[v]] = v;
    return GNN_OK;
}

// ---- Halos --------------------------------------------------------------------------------------
typedef struct {
    gnn_partition *p;
    int64_t words;
    uint64_t *seen;   // `words` of each thread
    _Atomic int64_t next, cut;
    pthread_mutex_t memory;   // an allocator is asked by one thread at a time
    _Atomic bool no_memory;
} search;

static int64_t mark_sources(const gnn_partition *p, int64_t part, uint64_t *seen) {
    int64_t cut = 0;
    for (int64_t i = p->row_ptr[part]; i < p->row_ptr[part + 1]; i++) {
        const int64_t v = p->rows[i];
        for (int64_t e = p->g->rowptr[v]; e < p->g->rowptr[v + 1]; e++) {
            const int64_t u = p->g->col[e];
            if (p->owner[u] == part) continue;
            seen[u / WORD] |= UINT64_C(1) << (u % WORD);
            cut++;
        }
    }
    return cut;
}

static void each_seen(const uint64_t *seen, int64_t words, const int32_t *owner, int64_t *count,
                      int64_t *ids) {
    for (int64_t w = 0; w < words; w++)
        for (uint64_t bits = seen[w]; bits; bits &= bits - 1) {
            const int64_t u = w * WORD + __builtin_ctzll(bits);
            if (ids) ids[count[owner[u]]] = u;
            count[owner[u]]++;
        }
}

static void *allocate(search *s, int64_t count) {
    pthread_mutex_lock(&s->memory);
    int64_t *made = rt_alloc_array(s->p->c, count, sizeof *made);
    pthread_mutex_unlock(&s->memory);
    return made;
}

static bool take_halo(search *s, int64_t part, uint64_t *seen) {
    gnn_partition *p = s->p;
    rt_halo *h = &p->halo[part];
    memset(seen, 0, (size_t)s->words * sizeof *seen);
    atomic_fetch_add(&s->cut, mark_sources(p, part, seen));
    h->ptr = allocate(s, p->parts + 2);
    if (!h->ptr) return false;
    memset(h->ptr, 0, (size_t)(p->parts + 2) * sizeof *h->ptr);
    each_seen(seen, s->words, p->owner, h->ptr + 2, NULL);
    for (int64_t q = 2; q <= p->parts + 1; q++) h->ptr[q] += h->ptr[q - 1];
    h->ids = allocate(s, h->ptr[p->parts + 1]);
    if (!h->ids) return false;
    each_seen(seen, s->words, p->owner, h->ptr + 1, h->ids);   // leaves where each owner's end
    return true;
}

static void search_parts(void *user, uint32_t thread) {
    search *s = user;
    for (;;) {
        const int64_t part = atomic_fetch_add(&s->next, 1);
        if (part >= s->p->parts || s->no_memory) return;
        if (!take_halo(s, part, s->seen + thread * s->words)) s->no_memory = true;
    }
}

static gnn_status find_halos(gnn_partition *p) {
    const uint32_t threads = p->parts < MOST_THREADS ? (uint32_t)p->parts : MOST_THREADS;
    search s = {.p = p, .words = p->g->nodes / WORD + 1, .memory = PTHREAD_MUTEX_INITIALIZER};
    p->halo = rt_alloc_zeroed(p->c, (size_t)p->parts * sizeof *p->halo);
    s.seen = rt_alloc_array(p->c, threads * s.words, sizeof *s.seen);
    gnn_status status = p->halo && s.seen ? rt_pool_start(p->c) : GNN_NO_MEMORY;
    if (!status) rt_parallel(p->c, threads, search_parts, &s);
    rt_free(p->c, s.seen);
    p->cut = s.cut;
    if (!status && s.no_memory) status = GNN_NO_MEMORY;
    return status;
}

// ---- Checksum -----------------------------------------------------------------------------------
typedef struct {
    const gnn_partition *p;
    _Atomic uint64_t sum;
} summing;

static void sum_rows(void *user, int64_t first, int64_t last) {
    summing *s = user;
    const gnn_graph *g = s->p->g;
    uint64_t sum = 0;
    for (int64_t v = first; v < last; v++) {
        const uint64_t row = rt_mix(((uint64_t)v << 16) ^ (uint64_t)s->p->owner[v]);
        sum += row;
        for (int64_t e = g->rowptr[v]; e < g->rowptr[v + 1]; e++)
            sum += rt_mix(row ^ ((uint64_t)g->col[e] << 1));
    }
    atomic_fetch_add(&s->sum, sum);
}

static gnn_status sum_graph(gnn_partition *p) {
    summing s = {.p = p};
    const gnn_status status = rt_each_rows(
        p->c, &(rt_row_pieces){
                  .offsets = p->g->rowptr, .nodes = p->g->nodes, .body = sum_rows, .user = &s});
    p->checksum = (int64_t)rt_mix(s.sum ^ (uint64_t)p->parts);
    return status;
}

// ---- Partitions ---------------------------------------------------------------------------------
static gnn_status check(gnn_context *c, const gnn_graph *g, const gnn_partition_options *o) {
    if (o->parts < 1 || o->parts > MOST_PARTS)
        return rt_fail(c, GNN_BAD_ARGUMENT, "a graph is cut into 1 to %d parts, not %lld",
                       MOST_PARTS, (long long)o->parts);
    if (g->sources != g->nodes)
        return rt_fail(
            c, GNN_BAD_ARGUMENT,
            "a graph of %lld sources and %lld nodes has no owners of sources: make them one set",
            (long long)g->sources, (long long)g->nodes);
    if ((o->owners == GNN_OWNERS_GIVEN) != (o->owner != NULL))
        return rt_fail(c, GNN_BAD_ARGUMENT, "owners are given by GNN_OWNERS_GIVEN alone");
    return GNN_OK;
}

gnn_status gnn_partition_new(gnn_context *c, const gnn_graph *g, const gnn_partition_options *o,
                             gnn_partition **out) {
    if (!rt_begin(c, __func__, g && g->rowptr && o && out)) return GNN_BAD_ARGUMENT;
    *out = NULL;
    gnn_status s = check(c, g, o);
    if (s) return s;
    gnn_partition *p = rt_alloc_zeroed(c, sizeof *p);
    if (!p) return GNN_NO_MEMORY;
    *p = (gnn_partition){.c = c, .g = g, .parts = o->parts};
    p->owner = rt_alloc_array(c, g->nodes, sizeof *p->owner);
    s = p->owner ? find_owners(p, o) : GNN_NO_MEMORY;
    if (!s) s = order_rows(p);
    if (!s) s = find_halos(p);
    if (!s) s = sum_graph(p);
    if (s) gnn_partition_free(p);
    else *out = p;
    return s;
}

void gnn_partition_free(gnn_partition *p) {
    if (!p) return;
    for (int64_t i = 0; p->halo && i < p->parts; i++) {
        rt_free(p->c, p->halo[i].ids);
        rt_free(p->c, p->halo[i].ptr);
    }
    void *arrays[] = {p->owner, p->rows, p->row_ptr, p->local, p->halo, p};
    gnn_context *c = p->c;
    for (size_t i = 0; i < RT_COUNT(arrays); i++) rt_free(c, arrays[i]);
}

int64_t gnn_partition_cut(const gnn_partition *p) { return p ? p->cut : 0; }
