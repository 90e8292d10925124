// Arrays of indices that plans hold, on the host and on the device, shared through a cache by those
// who want the same.
#include "structure.h"
#include "tables.h"

#include <string.h>

struct gnn_cache {
    gnn_context *c;
    rt_structure *first;
};

gnn_status rt_structure_new(gnn_context *c, const int64_t *key, uint32_t nkey, rt_structure **out) {
    *out = NULL;
    rt_structure *s = rt_alloc_zeroed(c, sizeof *s + nkey * sizeof *key);
    if (!s) return GNN_NO_MEMORY;
    s->c = c;
    s->owners = 1;
    s->nkey = nkey;
    s->key = (int64_t *)(s + 1);
    memcpy(s->key, key, nkey * sizeof *key);
    *out = s;
    return GNN_OK;
}

void rt_structure_drop(rt_structure *s) {
    if (!s || --s->owners) return;
    if (s->owns_host) rt_free(s->c, s->host.data);
    if (s->owns_device) rt_gpu_memory_give(s->c, s->device, NULL);
    rt_free(s->c, s->preimages.sizes);
    rt_free(s->c, s);
}

static size_t bytes_of(const rt_structure *s) {
    return (size_t)s->host.count * (s->host.wide ? 8 : 4);   // such an array was allocated
}

gnn_status rt_structure_upload(rt_structure *s, gnn_stream stream) {
    if (!rt_on_cuda(s->c)) {
        s->device = s->host.data;
        return GNN_OK;
    }
    void *device;
    gnn_status status = rt_gpu_memory_take(s->c, bytes_of(s), stream, &device);
    if (status) return status;
    s->device = device;
    s->owns_device = true;
    return gnn_copy_in(s->c, device, s->host.data, bytes_of(s), stream);
}

gnn_status rt_fetch(gnn_context *c, const void *device, size_t bytes, void *host,
                    gnn_stream stream) {
    gnn_status s = gnn_copy_out(c, host, device, bytes, stream);
    return s ? s : gnn_sync(c, stream);
}

// ---- Where work is done -------------------------------------------------------------------------
static bool lies_away(const rt_structure *s) {   // on the device alone
    return rt_on_cuda(s->c) && !s->host.data && s->host.count;
}

gnn_status rt_structures_meet(rt_structure *const *s, uint32_t n, gnn_stream stream,
                              bool *on_device) {
    gnn_status status = GNN_OK;
    *on_device = false;
    for (uint32_t i = 0; i < n; i++) *on_device |= lies_away(s[i]);
    for (uint32_t i = 0; i < n && *on_device && !status; i++)
        if (!s[i]->device && s[i]->host.count) status = rt_structure_upload(s[i], stream);
    return status;
}

rt_map_view rt_structure_view(const rt_structure *s, bool on_device) {
    rt_map_view view = {s->host, s->codomain, s->checked & RT_SORTED};
    if (on_device) view.values.data = (void *)(uintptr_t)s->device;
    return view;
}

// ---- Caches -------------------------------------------------------------------------------------
gnn_status gnn_cache_new(gnn_context *c, gnn_cache **out) {
    if (!rt_begin(c, __func__, out)) return GNN_BAD_ARGUMENT;
    *out = rt_alloc_zeroed(c, sizeof **out);
    if (!*out) return GNN_NO_MEMORY;
    (*out)->c = c;
    return GNN_OK;
}

void gnn_cache_free(gnn_cache *k) {
    if (!k) return;
    while (k->first) {
        rt_structure *s = k->first;
        k->first = s->next;
        s->next = NULL;
        rt_structure_drop(s);
    }
    rt_free(k->c, k);
}

rt_structure *rt_cache_find(gnn_cache *k, const int64_t *key, uint32_t nkey) {
    for (rt_structure *s = k ? k->first : NULL; s; s = s->next)
        if (s->nkey == nkey && !memcmp(s->key, key, nkey * sizeof *key)) {
            s->owners++;
            return s;
        }
    return NULL;
}

void rt_cache_add(gnn_cache *k, rt_structure *s) {
    if (!k) return;
    s->owners++;
    s->next = k->first;
    k->first = s;
}
