// An array of a plan, shared by those who want the same.
#ifndef GNNRT_STRUCTURE_H
#define GNNRT_STRUCTURE_H

#include "prepare.h"

typedef struct rt_structure rt_structure;
struct rt_structure {
    gnn_context *c;
    uint32_t owners;
    rt_structure *next;   // in a cache
    uint32_t nkey;
    int64_t *key;   // what it is of: recipe and maps
    rt_ints host;   // data NULL: not brought to the host
    bool owns_host, owns_device;
    const void *device;   // what kernels get; on the host, host.data
    int64_t codomain;     // where it counts a space: how many
    uint32_t checked;     // facts found to hold, as bits, and RT_CHECKED
    bool measured;
    rt_preimages preimages;   // measured
};
enum { RT_CHECKED = 1 << 30 };
// One owner.
gnn_status rt_structure_new(gnn_context *c, const int64_t *key, uint32_t nkey, rt_structure **out);
void rt_structure_drop(rt_structure *s);
// adds an owner; NULL: none
rt_structure *rt_cache_find(gnn_cache *k, const int64_t *key, uint32_t nkey);
void rt_cache_add(gnn_cache *k, rt_structure *s);   // k may be NULL
// from its host array
gnn_status rt_structure_upload(rt_structure *s, gnn_stream stream);
// Where work on all of them is done: on the device where one lies there alone (the others are
// uploaded), else on the host.
gnn_status rt_structures_meet(rt_structure *const *s, uint32_t n, gnn_stream stream,
                              bool *on_device);
rt_map_view rt_structure_view(const rt_structure *s, bool on_device);
// Waits.
gnn_status rt_fetch(gnn_context *c, const void *device, size_t bytes, void *host,
                    gnn_stream stream);

#endif
