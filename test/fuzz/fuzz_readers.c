// A libFuzzer entry over all readers of files. The first byte chooses the reader, the rest is the
// file.
#include "files.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_array(gnn_context *c,
                       gnn_status (*read)(gnn_context *, const uint8_t *, size_t, gnn_array *),
                       const uint8_t *data, size_t size) {
    gnn_array a = {0};
    gnn_status s = read(c, data, size, &a);
    if (!s != !*gnn_context_error(c) || (s && a.data)) abort();
    for (size_t i = 0; a.data && i < (size_t)gnn_array_count(&a) * gnn_dtype_bytes(a.dtype); i++)
        (void)*((volatile unsigned char *)a.data + i);
    gnn_array_free(c, &a);
}

static gnn_status npy(gnn_context *c, const uint8_t *data, size_t size, gnn_array *a) {
    return rt_npy_from_memory(c, "a.npy", data, size, a);
}

static gnn_status npz(gnn_context *c, const uint8_t *data, size_t size, gnn_array *a) {
    return rt_npz_from_memory(c, "a.npz", data, size, "x", a);
}

static void read_graph(gnn_context *c, const char *name, const uint8_t *data, size_t size) {
    gnn_graph g = {0};
    gnn_status s = rt_graph_from_memory(c, name, data, size, &g);
    if (!s != !*gnn_context_error(c) || (s && (g.rowptr || g.x.data))) abort();
    for (int64_t v = 0; !s && v < g.nodes; v++)
        for (int64_t e = g.rowptr[v]; e < g.rowptr[v + 1]; e++)
            if (g.col[e] < 0 || g.col[e] >= g.sources) abort();
    gnn_graph_free(c, &g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    gnn_context *c = NULL;
    if (size == 0 || gnn_context_new(&(gnn_context_options){.device = GNN_HOST, .threads = 1}, &c))
        return 0;
    switch (data[0] % 5) {
    case 0: read_array(c, npy, data + 1, size - 1); break;
    case 1: read_array(c, npz, data + 1, size - 1); break;
    case 2: read_graph(c, "g.npz", data + 1, size - 1); break;
    case 3: read_graph(c, "g.mtx", data + 1, size - 1); break;
    case 4: read_graph(c, "g.txt", data + 1, size - 1); break;
    }
    gnn_context_free(c);
    return 0;
}
