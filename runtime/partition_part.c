// One part of a partition: its rows with sources numbered anew, its lists, and what its nodes and
// edges have.
#include "partition.h"

#include <string.h>

typedef struct {
    const gnn_partition *p;
    gnn_part *part;
    const int64_t *rows;   // its nodes
    int64_t *place;        // of each node of the whole graph: the row here, for nodes of the halo
} making;

// ---- Rows ---------------------------------------------------------------------------------------
static gnn_status count_rows(const making *m) {
    const gnn_graph *whole = m->p->g;
    gnn_graph *g = &m->part->graph;
    g->nodes = m->part->owned, g->sources = m->part->owned + m->part->halo;
    g->rowptr = rt_alloc_array(m->p->c, g->nodes + 1, sizeof *g->rowptr);
    if (!g->rowptr) return GNN_NO_MEMORY;
    for (int64_t i = 0; i < g->nodes; i++) {
        g->rowptr[i] = g->edges;
        g->edges += whole->rowptr[m->rows[i] + 1] - whole->rowptr[m->rows[i]];
    }
    g->rowptr[g->nodes] = g->edges;
    g->col = rt_alloc_array(m->p->c, g->edges, sizeof *g->col);
    m->part->edge_ids = rt_alloc_array(m->p->c, g->edges, sizeof *m->part->edge_ids);
    return g->col && m->part->edge_ids ? GNN_OK : GNN_NO_MEMORY;
}

static void number_sources(void *user, int64_t first, int64_t last) {
    const making *m = user;
    const gnn_partition *p = m->p;
    for (int64_t i = first; i < last; i++) {
        const int64_t from = p->g->rowptr[m->rows[i]], to = p->g->rowptr[m->rows[i] + 1];
        int64_t at = m->part->graph.rowptr[i];
        for (int64_t e = from; e < to; e++, at++) {
            const int64_t u = p->g->col[e];
            m->part->graph.col[at] = p->owner[u] == m->part->part ? p->local[u] : m->place[u];
            m->part->edge_ids[at] = e;
        }
    }
}

static gnn_status make_rows(making *m) {
    const gnn_partition *p = m->p;
    const rt_halo *halo = &p->halo[m->part->part];
    gnn_status s = count_rows(m);
    if (!s) m->place = rt_alloc_array(p->c, p->g->nodes, sizeof *m->place);
    if (s || !m->place) return GNN_NO_MEMORY;
    for (int64_t i = 0; i < m->part->halo; i++) m->place[halo->ids[i]] = m->part->owned + i;
    s = rt_each_rows(p->c, &(rt_row_pieces){.offsets = m->part->graph.rowptr,
                                            .nodes = m->part->owned,
                                            .body = number_sources,
                                            .user = m});
    rt_free(p->c, m->place);
    return s;
}

// ---- Lists --------------------------------------------------------------------------------------
static gnn_status make_ids(const making *m) {
    gnn_part *part = m->part;
    const rt_halo *halo = &m->p->halo[part->part];
    const size_t ptr_bytes = (size_t)(part->parts + 1) * sizeof(int64_t);
    part->ids = rt_alloc_array(m->p->c, part->owned + part->halo, sizeof *part->ids);
    part->halo_ptr = rt_alloc(m->p->c, ptr_bytes);
    if (!part->ids || !part->halo_ptr) return GNN_NO_MEMORY;
    memcpy(part->halo_ptr, halo->ptr, ptr_bytes);
    memcpy(part->ids, m->rows, (size_t)part->owned * sizeof *part->ids);
    memcpy(part->ids + part->owned, halo->ids, (size_t)part->halo * sizeof *part->ids);
    return GNN_OK;
}

// What others have of it in their halos, receiver by receiver.
static gnn_status make_sends(const making *m) {
    const gnn_partition *p = m->p;
    gnn_part *part = m->part;
    part->send_ptr = rt_alloc_array(p->c, part->parts + 1, sizeof *part->send_ptr);
    if (!part->send_ptr) return GNN_NO_MEMORY;
    int64_t n = 0;
    for (int64_t q = 0; q < part->parts; q++) {
        part->send_ptr[q] = n;
        n += p->halo[q].ptr[part->part + 1] - p->halo[q].ptr[part->part];
    }
    part->send_ptr[part->parts] = n;
    part->send = rt_alloc_array(p->c, n, sizeof *part->send);
    if (!part->send) return GNN_NO_MEMORY;
    n = 0;
    for (int64_t q = 0; q < part->parts; q++)
        for (int64_t i = p->halo[q].ptr[part->part]; i < p->halo[q].ptr[part->part + 1]; i++)
            part->send[n++] = p->local[p->halo[q].ids[i]];
    return GNN_OK;
}

// ---- What nodes and edges have ------------------------------------------------------------------
static gnn_status take_numbers(gnn_context *c, const int64_t *from, const int64_t *ids, int64_t n,
                               int64_t **out) {
    if (!from) return GNN_OK;
    *out = rt_alloc_array(c, n, sizeof **out);
    if (!*out) return GNN_NO_MEMORY;
    for (int64_t i = 0; i < n; i++) (*out)[i] = from[ids[i]];
    return GNN_OK;
}

static gnn_status take_rows(gnn_context *c, const gnn_array *from, const int64_t *ids, int64_t n,
                            gnn_array *out) {
    if (!from->data) return GNN_OK;
    int64_t shape[GNN_MAX_RANK], elements = 1;
    memcpy(shape, from->shape, sizeof shape);
    shape[0] = n;
    for (uint32_t k = 1; k < from->rank; k++) elements *= shape[k];
    const gnn_status s = gnn_array_new(c, from->dtype, from->rank, shape, out);
    const size_t bytes = (size_t)elements * gnn_dtype_bytes(from->dtype);
    for (int64_t i = 0; i < n && !s; i++)
        memcpy((char *)out->data + (size_t)i * bytes,
               (const char *)from->data + (size_t)ids[i] * bytes, bytes);
    return s;
}

// Those of a set of nodes that it owns, in their order.
static gnn_status take_set(const making *m, const gnn_array *from, gnn_array *out) {
    if (!from->data) return GNN_OK;
    const gnn_partition *p = m->p;
    const int64_t *v = from->data;
    int64_t n = 0;
    for (int64_t i = 0; i < from->shape[0]; i++) n += p->owner[v[i]] == m->part->part;
    const gnn_status s = gnn_array_new(p->c, GNN_I64, 1, &n, out);
    int64_t *to = out->data;
    for (int64_t i = 0; i < from->shape[0] && !s; i++)
        if (p->owner[v[i]] == m->part->part) *to++ = p->local[v[i]];
    return s;
}

static gnn_status take_along(const making *m) {
    const gnn_graph *whole = m->p->g;
    gnn_graph *g = &m->part->graph;
    gnn_context *c = m->p->c;
    const int64_t *nodes = m->rows, *edges = m->part->edge_ids;
    g->types = whole->types, g->node_types = whole->node_types;
    gnn_status s = take_numbers(c, whole->etype, edges, g->edges, &g->etype);
    if (!s) s = take_numbers(c, whole->ntype, nodes, g->nodes, &g->ntype);
    if (!s) s = take_rows(c, &whole->weight, edges, g->edges, &g->weight);
    if (!s) s = take_rows(c, &whole->x, nodes, g->nodes, &g->x);
    if (!s) s = take_rows(c, &whole->y, nodes, g->nodes, &g->y);
    if (!s) s = take_set(m, &whole->train_idx, &g->train_idx);
    if (!s) s = take_set(m, &whole->val_idx, &g->val_idx);
    return s ? s : take_set(m, &whole->test_idx, &g->test_idx);
}

gnn_status gnn_partition_part(const gnn_partition *p, int64_t part, gnn_part *out) {
    if (!rt_begin(RT_OF(p), __func__, p && out && part >= 0 && part < p->parts))
        return GNN_BAD_ARGUMENT;
    *out = (gnn_part){.part = part,
                      .parts = p->parts,
                      .nodes = p->g->nodes,
                      .edges = p->g->edges,
                      .checksum = p->checksum,
                      .owned = p->row_ptr[part + 1] - p->row_ptr[part],
                      .halo = p->halo[part].ptr[p->parts]};
    memcpy(out->graph.name, p->g->name, sizeof out->graph.name);
    making m = {.p = p, .part = out, .rows = p->rows + p->row_ptr[part]};
    gnn_status s = make_rows(&m);
    if (!s) s = make_ids(&m);
    if (!s) s = make_sends(&m);
    if (!s) s = take_along(&m);
    if (s) gnn_part_free(p->c, out);
    return s;
}

void gnn_part_free(gnn_context *c, gnn_part *part) {
    if (!c || !part) return;
    int64_t *arrays[] = {part->ids, part->edge_ids, part->halo_ptr, part->send_ptr, part->send};
    for (size_t i = 0; i < RT_COUNT(arrays); i++) rt_free(c, arrays[i]);
    gnn_graph_free(c, &part->graph);
    *part = (gnn_part){0};
}
