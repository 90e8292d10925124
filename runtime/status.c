// Names and texts of the tables in the public header.
#include "size_expr.h"

const char *gnn_status_text(gnn_status s) {
    switch (s) {
#define X(name, number, text)                                                                      \
    case GNN_##name: return text;
        GNN_STATUSES(X)
#undef X
    }
    return "no such status";
}

static const struct {
    const char *text;
    size_t bytes;
} dtypes[] = {
#define X(name, text, bytes) [GNN_##name] = {text, bytes},
    GNN_DTYPES(X)
#undef X
};

const char *gnn_dtype_text(gnn_dtype t) {
    return (uint32_t)t < GNN_DTYPE_COUNT ? dtypes[t].text : "no type";
}

size_t gnn_dtype_bytes(gnn_dtype t) { return (uint32_t)t < GNN_DTYPE_COUNT ? dtypes[t].bytes : 0; }
