// Cubins by the PTX that they are assembled from, the assembler and its options.
#include "cache.h"

#include <string.h>

static cache_key key_of(arena *a, const char *how, const cg_output *ptx) {
    textbuf facts = textbuf_new(a);
    cache_fact_text(&facts, "cubin");
    cache_fact_text(&facts, how);
    cache_fact(&facts, ptx->data, ptx->size);
    return cache_hash(facts.data, facts.len);
}

static bool find(cg_cubins *cubins, arena *a, const char *how, const cg_output *ptx,
                 cg_output *out) {
    cache *c = (cache *)cubins;
    const cache_key k = key_of(a, how, ptx);
    textbuf payload;
    size_t at = 0;
    const bool found = cache_get(c, a, CACHE_CUBIN, &k, &payload) &&
                       cache_next(&payload, &at, &out->data, &out->size) &&
                       cache_next_text(&payload, &at, &out->log) && at == payload.len;
    if (!found) *out = (cg_output){.log = ""};
    c->hits += found;
    c->misses += !found;
    return found;
}

static void keep(cg_cubins *cubins, arena *a, const char *how, const cg_output *ptx,
                 const cg_output *cubin) {
    const cache_key k = key_of(a, how, ptx);
    textbuf payload = textbuf_new(a);
    cache_fact(&payload, cubin->data, cubin->size);
    cache_fact_text(&payload, cubin->log ? cubin->log : "");
    cache_put((cache *)cubins, a, CACHE_CUBIN, &k, &payload);
}

cg_cubins *cache_cubins(driver *d) {
    cache *c = cache_of(d);
    if (!c) return NULL;
    c->cubins.find = find;
    c->cubins.keep = keep;
    return &c->cubins;
}

void cache_report(const driver *d, FILE *out) {
    const cache *c = d->cache;
    if (!c) return;
    if (!c->limit) fprintf(out, "cache: none: GNNC_CACHE_SIZE is 0\n");
    else if (c->folder < 0) fprintf(out, "cache: none: %s\n", c->why);
    else
        fprintf(out, "cache: compile %s, cubins: %u hits, %u misses\n",
                c->compile ? c->compile : "not asked for", c->hits, c->misses);
}
