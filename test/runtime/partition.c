// Parts of graphs: each node and edge is in one, halos and lists of senders say the same, what
// nodes and edges have comes along, files read back, allocations that fail are told, refusals.
#include "files_support.h"

#include <unistd.h>

enum { MOST = 16 };

typedef struct {
    gnn_context *c;
    const char *name;
    const gnn_graph *g;
    int64_t parts;
    gnn_part part[MOST];
} pieces;

// ---- What holds of all parts --------------------------------------------------------------------
static void check_rows(const pieces *x, const gnn_part *p) {
    const gnn_graph *g = x->g;
    CHECK(p->graph.nodes == p->owned && p->graph.sources == p->owned + p->halo, "%s: sizes",
          x->name);
    for (int64_t i = 0; i < p->owned; i++) {
        const int64_t v = p->ids[i], first = p->graph.rowptr[i], n = p->graph.rowptr[i + 1] - first;
        CHECK(i == 0 || p->ids[i - 1] < v, "%s: row %lld is out of order", x->name, (long long)i);
        CHECK(n == g->rowptr[v + 1] - g->rowptr[v], "%s: row of node %lld", x->name, (long long)v);
        for (int64_t k = 0; k < n; k++) {
            const int64_t e = p->edge_ids[first + k];
            CHECK(e == g->rowptr[v] + k && p->ids[p->graph.col[first + k]] == g->col[e],
                  "%s: edge %lld", x->name, (long long)e);
            CHECK(!g->etype || p->graph.etype[first + k] == g->etype[e], "%s: type of %lld",
                  x->name, (long long)e);
            CHECK(!g->weight.data ||
                      ((double *)p->graph.weight.data)[first + k] == ((double *)g->weight.data)[e],
                  "%s: weight of %lld", x->name, (long long)e);
        }
    }
}

static void check_lists(const pieces *x, const gnn_part *p) {
    for (int64_t q = 0; q < x->parts; q++) {
        const gnn_part *from = &x->part[q];
        const int64_t *sent = from->send + from->send_ptr[p->part],
                      n = from->send_ptr[p->part + 1] - from->send_ptr[p->part];
        CHECK(p->halo_ptr[q + 1] - p->halo_ptr[q] == n && (q != p->part || n == 0),
              "%s: %lld rows of %lld to %lld", x->name, (long long)n, (long long)q,
              (long long)p->part);
        for (int64_t i = 0; i < n; i++)
            CHECK(from->ids[sent[i]] == p->ids[p->owned + p->halo_ptr[q] + i], "%s: row %lld",
                  x->name, (long long)i);
    }
}

static void check_pieces(const pieces *x, int64_t cut) {
    int64_t owned = 0, edges = 0, apart = 0;
    for (int64_t i = 0; i < x->parts; i++) {
        const gnn_part *p = &x->part[i];
        owned += p->owned, edges += p->graph.edges;
        CHECK(p->part == i && p->parts == x->parts && p->nodes == x->g->nodes &&
                  p->edges == x->g->edges && p->checksum == x->part[0].checksum,
              "%s: part %lld", x->name, (long long)i);
        for (int64_t e = 0; e < p->graph.edges; e++) apart += p->graph.col[e] >= p->owned;
        check_rows(x, p);
        check_lists(x, p);
    }
    CHECK(owned == x->g->nodes && edges == x->g->edges && apart == cut, "%s: %lld nodes", x->name,
          (long long)owned);
}

static gnn_status make(pieces *x, const gnn_partition_options *o, int64_t *cut) {
    gnn_partition *p;
    x->parts = o->parts;
    gnn_status s = gnn_partition_new(x->c, x->g, o, &p);
    for (int64_t i = 0; i < o->parts && !s; i++) s = gnn_partition_part(p, i, &x->part[i]);
    if (!s) *cut = gnn_partition_cut(p);
    gnn_partition_free(p);
    return s;
}

static void drop(pieces *x) {
    for (int64_t i = 0; i < MOST; i++) gnn_part_free(x->c, &x->part[i]);
}

static void cut_graphs(gnn_context *c) {
    static const char *const graphs[] = {"rmat:8:6,types=3", "path:5",   "empty:7",      "empty:0",
                                         "star:9",           "clique:6", "hubs:300:2000"};
    static const int64_t parts[] = {1, 2, 4, 7, 16};
    for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++) {
        gnn_graph g;
        CHECK(!gnn_graph_generate(c, graphs[i], &g), "%s", gnn_context_error(c));
        gnn_array_new(c, GNN_F64, 1, &g.edges, &g.weight);
        for (int64_t e = 0; e < g.edges; e++) ((double *)g.weight.data)[e] = (double)e / 2;
        for (size_t k = 0; k < 3 * sizeof parts / sizeof *parts; k++) {
            pieces x = {.c = c, .name = graphs[i], .g = &g};
            int64_t cut = 0;
            const gnn_partition_options o = {parts[k / 3], (gnn_owners)(k % 3), NULL, 1};
            const gnn_status s = make(&x, &o, &cut);
            const bool absent = o.owners == GNN_OWNERS_METIS && s == GNN_MISSING;
            CHECK(!s || absent, "%s: %s", graphs[i], gnn_context_error(c));
            if (!s) check_pieces(&x, cut);
            drop(&x);
        }
        gnn_graph_free(c, &g);
    }
}

// ---- Files --------------------------------------------------------------------------------------
static bool same(const void *a, const void *b, int64_t n) {
    return !memcmp(a, b, (size_t)n * sizeof(int64_t));
}

static void files(gnn_context *c) {
    static const char path[] = "part.npz";
    gnn_graph g;
    CHECK(!gnn_graph_generate(c, "rmat:6:5,types=2", &g), "%s", gnn_context_error(c));
    g.x = (gnn_array){0};
    gnn_array_new(c, GNN_F32, 2, (int64_t[]){g.nodes, 3}, &g.x);
    for (int64_t i = 0; i < g.nodes * 3; i++) ((float *)g.x.data)[i] = (float)i;
    gnn_array_new(c, GNN_I64, 1, (int64_t[]){4}, &g.train_idx);
    memcpy(g.train_idx.data, (int64_t[]){60, 3, 0, 63}, 4 * sizeof(int64_t));
    pieces x = {.c = c, .g = &g};
    int64_t cut, found = 0;
    CHECK(!make(&x, &(gnn_partition_options){.parts = 3}, &cut), "%s", gnn_context_error(c));
    for (int64_t p = 0; p < 3; p++) {
        gnn_part back;
        const gnn_part *part = &x.part[p];
        CHECK(!gnn_part_write(c, path, part) && !gnn_part_read(c, path, &back), "%s",
              gnn_context_error(c));
        CHECK(back.part == p && back.parts == 3 && back.checksum == part->checksum &&
                  back.owned == part->owned && back.halo == part->halo &&
                  same(back.graph.col, part->graph.col, part->graph.edges) &&
                  same(back.graph.etype, part->graph.etype, part->graph.edges) &&
                  same(back.ids, part->ids, part->owned + part->halo) &&
                  same(back.edge_ids, part->edge_ids, part->graph.edges) &&
                  same(back.halo_ptr, part->halo_ptr, 4) &&
                  same(back.send_ptr, part->send_ptr, 4) &&
                  same(back.send, part->send, part->send_ptr[3]),
              "part %lld reads back as another", (long long)p);
        for (int64_t i = 0; i < back.owned; i++)
            CHECK(((float *)back.graph.x.data)[3 * i + 1] == (float)(3 * back.ids[i] + 1),
                  "features");
        for (int64_t i = 0; i < back.graph.train_idx.shape[0]; i++, found++) {
            const int64_t v = back.ids[((int64_t *)back.graph.train_idx.data)[i]];
            CHECK(v == 60 || v == 3 || v == 0 || v == 63, "node %lld is in no set", (long long)v);
        }
        gnn_part_free(c, &back);
    }
    CHECK(found == 4, "%lld nodes of the set", (long long)found);
    x.part[1].send[0] = x.part[1].owned;   // no row of its own
    CHECK(!gnn_part_write(c, path, &x.part[1]) &&
              gnn_part_read(c, path, &x.part[4]) == GNN_BAD_FILE &&
              strstr(gnn_context_error(c), "part.npz: send[0] = "),
          "%s", gnn_context_error(c));
    CHECK(gnn_part_write(c, "nowhere/part.npz", &x.part[0]) == GNN_IO, "%s", gnn_context_error(c));
    unlink(path);
    drop(&x);
    gnn_graph_free(c, &g);
}

// ---- Refusals and allocations -------------------------------------------------------------------
static void refusals(gnn_context *c) {
    gnn_graph g;
    gnn_partition *p;
    CHECK(!gnn_graph_generate(c, "path:4", &g), "%s", gnn_context_error(c));
    const struct {
        gnn_partition_options o;
        gnn_status s;
        const char *text;
    } cases[] = {{{.parts = 0}, GNN_BAD_ARGUMENT, "1 to 4096 parts, not 0"},
                 {{.parts = 5000}, GNN_BAD_ARGUMENT, "not 5000"},
                 {{.parts = 2, .owners = GNN_OWNERS_GIVEN}, GNN_BAD_ARGUMENT, "owners are given"},
                 {{2, GNN_OWNERS_GIVEN, (int64_t[]){0, 1, 2, 0}, 0},
                  GNN_BAD_INDEX,
                  "owner[2] = 2 is none of 2 parts"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK(gnn_partition_new(c, &g, &cases[i].o, &p) == cases[i].s && !p &&
                  strstr(gnn_context_error(c), cases[i].text),
              "case %zu: %s", i, gnn_context_error(c));
    g.sources = 9;
    CHECK(gnn_partition_new(c, &g, &(gnn_partition_options){.parts = 2}, &p) == GNN_BAD_ARGUMENT &&
              strstr(gnn_context_error(c), "9 sources and 4 nodes"),
          "%s", gnn_context_error(c));
    gnn_graph_free(c, &g);
}

typedef struct {
    long live, made, fails_at;
} counted;

static void *counted_alloc(void *user, size_t bytes, size_t align) {
    counted *n = user;
    if (n->made++ == n->fails_at) return NULL;
    n->live++;
    return aligned_alloc(align, (bytes + align - 1) / align * align);
}

static void counted_release(void *user, void *memory) {
    ((counted *)user)->live -= memory != NULL;
    free(memory);
}

static void allocations(void) {
    counted n = {.fails_at = -1};
    gnn_context *c = test_context(&(gnn_allocator){counted_alloc, counted_release, &n});
    gnn_graph g;
    CHECK(!gnn_graph_generate(c, "rmat:5:4", &g), "%s", gnn_context_error(c));
    long all = 0;
    for (long i = -1; i < all; i++) {   // the first counts them
        pieces x = {.c = c, .g = &g};
        int64_t cut;
        const long before = n.live;
        n.made = 0, n.fails_at = i;
        const gnn_status s = make(&x, &(gnn_partition_options){.parts = 3}, &cut);
        if (i < 0) all = n.made;
        n.fails_at = -1;
        CHECK(s == (i < 0 ? GNN_OK : GNN_NO_MEMORY), "allocation %ld: %d", i, s);
        drop(&x);
        CHECK(n.live == before || i < 0, "allocation %ld: %ld not freed", i, n.live - before);
    }
    CHECK(all > 30, "%ld allocations", all);
    gnn_graph_free(c, &g);
    gnn_context_free(c);
}

int main(void) {
    gnn_context *c = test_context(NULL);
    cut_graphs(c);
    files(c);
    refusals(c);
    gnn_context_free(c);
    allocations();
    return test_failures != 0;
}
