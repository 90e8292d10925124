// Each allocation of each reader, generator and writer, and of a graph like what was read, fails
// once: the call says NO_MEMORY, frees all it took, and works when it is called again.
#include "files_support.h"

#include <unistd.h>

typedef struct {
    long live, made, fails_at;
} counted;

static void *counted_alloc(void *user, size_t bytes, size_t align) {
    counted *n = user;
    if (n->made++ == n->fails_at) return NULL;
    void *memory = aligned_alloc(align, (bytes + align - 1) / align * align);
    n->live += memory != NULL;
    return memory;
}

static void counted_release(void *user, void *memory) {
    ((counted *)user)->live -= memory != NULL;
    free(memory);
}

typedef struct {
    const char *name;
    test_file file;
} input;

static gnn_status use(gnn_context *c, const input *in, gnn_graph *g, gnn_array *a) {
    const char *dot = strrchr(in->name, '.');
    float one = 1;
    const gnn_array written = {.dtype = GNN_F32, .rank = 1, .shape = {1}, .data = &one};
    gnn_graph_statistics m;
    gnn_graph like = {0};
    gnn_status s;
    if (!in->file.bytes) s = gnn_graph_generate(c, in->name, g);
    else if (dot && !strcmp(dot, ".npy"))
        return rt_npy_from_memory(c, in->name, in->file.bytes, in->file.size, a);
    else if (dot && !strcmp(dot, ".out")) return gnn_array_write_npy(c, in->name, &written);
    else s = rt_graph_from_memory(c, in->name, in->file.bytes, in->file.size, g);
    if (!s) s = gnn_graph_expand(c, g);
    if (!s) s = gnn_graph_like(c, g, &(gnn_graph_likeness){2 * g->nodes, 2 * g->edges, 1}, &like);
    gnn_graph_free(c, &like);
    return s ? s : gnn_graph_measure(c, g, &m);
}

// Returns the number of allocations it takes.
static long try(counted *n, const input *in, long fails_at, gnn_status expected) {
    gnn_context *c = test_context(&(gnn_allocator){counted_alloc, counted_release, n});
    long before = n->live;
    gnn_graph g = {0};
    gnn_array a = {0};
    n->made = 0;
    n->fails_at = fails_at;
    gnn_status s = use(c, in, &g, &a);
    n->fails_at = -1;
    CHECK(s == expected, "%s, allocation %ld: status %d, '%s'", in->name, fails_at, s,
          gnn_context_error(c));
    gnn_graph_free(c, &g);
    gnn_array_free(c, &a);
    CHECK(n->live == before, "%s, allocation %ld: %ld not freed", in->name, fails_at,
          n->live - before);
    gnn_context_free(c);
    return n->made;
}

int main(void) {
    float values[6] = {1, 2, 3, 4, 5, 6};
    input inputs[] = {
        {"g.npz", test_graph_npz(ZIP_CM_DEFLATE)},
        {"m.mtx",
         test_text("%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1\n3 3 2\n")},
        {"e.txt", test_text("0 1 2\n5 6 7\n9 20 1\n")},
        {"a.npy", test_npy("<f4", "(2, 3)", values, sizeof values)},
        {"files_faults.out", test_text("x")},
        {"rmat:4:4,types=3", {0}},
        {"batch:3:4:0.5", {0}},
    };
    counted n = {.fails_at = -1};
    for (size_t i = 0; i < RT_COUNT(inputs); i++) {
        long allocations = try(&n, &inputs[i], -1, GNN_OK);
        CHECK(allocations > 0, "%s allocates nothing", inputs[i].name);
        for (long k = 0; k < allocations; k++) try(&n, &inputs[i], k, GNN_NO_MEMORY);
        free(inputs[i].file.bytes);
    }
    unlink("files_faults.out");
    return test_failures != 0;
}
