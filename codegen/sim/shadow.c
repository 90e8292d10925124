// What is known of each byte of a buffer. A buffer may be far larger than what is touched of it, so
// that a large shadow takes memory where it is written alone.
#define _DEFAULT_SOURCE
#include "machine.h"

#include <sys/mman.h>

void *sim_shadow(sim *s, size_t bytes) {
    enum { LARGE = 1 << 28 };
    if (bytes < LARGE) return arena_alloc(s->memory, bytes);
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) out_of_memory(bytes);
    VEC_PUSH(s->memory, &s->mapped, ((sim_mapping){at, bytes}));
    return at;
}

void sim_unmap_shadows(sim *s) {
    for (uint32_t i = 0; i < s->mapped.len; i++)
        munmap(s->mapped.data[i].at, s->mapped.data[i].bytes);
    memset(&s->mapped, 0, sizeof s->mapped);
}
