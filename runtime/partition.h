// A graph cut into parts.
#ifndef GNNRT_PARTITION_H
#define GNNRT_PARTITION_H

#include "graph_blocks.h"

typedef struct {   // nodes of others that a part reads
    int64_t *ids;
    int64_t *ptr;   // parts + 1: by owner, then by number
} rt_halo;

struct gnn_partition {
    gnn_context *c;
    const gnn_graph *g;
    int64_t parts, cut;
    int32_t *owner;
    int64_t *rows, *row_ptr;   // nodes by owner, then by number; parts + 1
    int64_t *local;            // of each node: its place among its owner's
    rt_halo *halo;             // a part
    int64_t checksum;
};

// Owners by libmetis. Status MISSING: it is not there.
gnn_status rt_owners_by_metis(gnn_context *c, const gnn_graph *g, int64_t parts, int64_t seed,
                              int32_t *owner);

static inline uint64_t rt_mix(uint64_t z) {   // splitmix64
    z += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

#endif
