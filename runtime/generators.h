// Generators of graphs: random numbers, and a table of what each makes of them. Only integers
// decide, so every machine makes the same graph: xoshiro256** (Blackman and Vigna, 2018), seeded by
// splitmix64.
#ifndef GNNRT_GENERATORS_H
#define GNNRT_GENERATORS_H

#include "files.h"

// ---- Random numbers -----------------------------------------------------------------------------
typedef struct {
    uint64_t s[4];
} rt_random;

static inline uint64_t rt_splitmix64(uint64_t *x) {
    uint64_t z = *x += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// Streams of one seed are independent.
static inline rt_random rt_random_new(int64_t seed, uint64_t stream) {
    uint64_t x = (uint64_t)seed + (stream << 56);
    rt_random r;
    for (int i = 0; i < 4; i++) r.s[i] = rt_splitmix64(&x);
    return r;
}

static inline uint64_t rt_rotate(uint64_t x, int k) { return x << k | x >> (64 - k); }

static inline uint64_t rt_random_next(rt_random *r) {
    uint64_t *s = r->s, result = rt_rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rt_rotate(s[3], 45);
    return result;
}

// Uniform below n > 0, by rejection.
static inline int64_t rt_random_below(rt_random *r, int64_t n) {
    uint64_t mask = n > 1 ? UINT64_MAX >> __builtin_clzll((uint64_t)n - 1) : 0, x;
    do x = rt_random_next(r) & mask;
    while (x >= (uint64_t)n);
    return (int64_t)x;
}

// ---- Generators ---------------------------------------------------------------------------------
typedef struct rt_generator rt_generator;
typedef struct {
    gnn_context *c;
    const char *description;
    const rt_generator *kind;
    int64_t arg[3];            // of the parameters; a probability in 2^-32
    int64_t seed, types;       // types 0: none
    int64_t nodes, edges;      // edges: about as many
    int64_t units, together;   // units; so many make a block
    int64_t *pairs;            // of a batch: before each graph, and in all
    rt_random *states;         // where each block begins; NULL: nothing is random
    int64_t first;             // block of the round
    rt_rows rows;
    gnn_graph *g;
} rt_generation;

enum { RT_PROBABILITY = -1 };   // as a parameter's most
typedef struct {
    const char *name;
    int64_t least, most;
} rt_parameter;
struct rt_generator {
    const char *name, *usage;
    rt_parameter params[3];
    bool seeded;
    bool (*sizes)(rt_generation *m);           // false: they do not fit
    gnn_status (*prepare)(rt_generation *m);   // or NULL
    int64_t (*units)(const rt_generation *m);
    int64_t most;   // edges of a unit
    // Puts the edges of the units from `first` to `last`, where random numbers stand as r says.
    // Without a block, it draws alone.
    void (*edges)(const rt_generation *m, rt_random *r, int64_t first, int64_t last,
                  rt_edge_block *b);
};

extern const rt_generator rt_generators[];   // the last has no name

// Memory may be promised that is not there, so sizes are compared with what the machine has.
gnn_status rt_check_memory(gnn_context *c, const char *description, const gnn_graph *sizes);

#endif
