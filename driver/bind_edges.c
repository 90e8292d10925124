// In which order an op gets the edges of the graph. Maps declared sorted decide; otherwise the
// graph's own order stays, or, where edges are to be mixed, a random one.
#include "bind.h"

#include "spread.h"

#include <stdatomic.h>
#include <string.h>

static bool of_graph_edges(const binding *b, tensor_val v) {
    return b->op->vals.data[v].role == VAL_MAP && b->sources[v].from == FROM_GRAPH &&
           b->op->vals.data[v].axes[0] == b->edges;
}

// Arrays to sort by: of maps sorted as a whole first, then of those sorted within another's
// preimages.
static uint32_t order_keys(const binding *b, graph_array *keys) {
    uint32_t n = 0;
    for (int within = 0; within < 2; within++)
        for (tensor_val v = 0; v < b->op->nparams && n < GRAPH_ARRAY_COUNT; v++) {
            const tensor_val_info *info = &b->op->vals.data[v];
            if (of_graph_edges(b, v) && info->facts & FACT_SORTED &&
                (info->sorted_by != TENSOR_NO_VAL) == within)
                keys[n++] = b->sources[v].which;
        }
    return n;
}

// ---- Order --------------------------------------------------------------------------------------

typedef struct {
    const int64_t *keys[GRAPH_ARRAY_COUNT];
    int64_t below[GRAPH_ARRAY_COUNT];   // which their values are
    uint32_t nkeys;
    atomic_bool falls;
} edge_keys;

static void look_for_falls(void *user, int64_t first, int64_t last) {
    edge_keys *k = user;
    bool falls = false;
    for (int64_t e = first ? first : 1; e < last && !falls; e++)
        for (uint32_t i = 0; i < k->nkeys; i++) {
            int64_t before = k->keys[i][e - 1], x = k->keys[i][e];
            falls |= before > x;
            if (before != x) break;
        }
    if (falls) atomic_store(&k->falls, true);
}

// Edges that a file has by destination, mostly: there is nothing to sort then.
static bool in_order(const binding *b, edge_keys *k) {
    spread(b->graph->graph.edges, look_for_falls, k);
    return !atomic_load(&k->falls);
}

// ---- Sorting ------------------------------------------------------------------------------------

// A stable round, by a key or by some bits of a random number.
typedef struct {
    const int64_t *key;   // NULL: the bits
    uint64_t seed;
    int bit;
    int64_t below;
} sort_round;
enum { BITS = 11 };

static int64_t digit(const sort_round *r, int64_t edge) {
    return r->key ? r->key[edge]
                  : (int64_t)(bind_random(r->seed, (uint64_t)edge) >> r->bit & ((1 << BITS) - 1));
}

static void sort_by(const sort_round *r, const int64_t *from, int64_t *to, int64_t n) {
    arena *scratch = arena_new();
    int64_t *at = ARENA_ARRAY(scratch, int64_t, r->below + 1);
    for (int64_t i = 0; i < n; i++) at[digit(r, from[i]) + 1]++;
    for (int64_t x = 0; x < r->below; x++) at[x + 1] += at[x];
    for (int64_t i = 0; i < n; i++) to[at[digit(r, from[i])]++] = from[i];
    arena_free(scratch);
}

// The least of what decides comes first: of equals a random number, if they are mixed, then the
// edge.
static uint32_t sort_rounds(const binding *b, const edge_keys *k, sort_round rounds[]) {
    uint32_t n = 0;
    for (int bit = 0; b->options->mixed && bit < 64; bit += BITS)
        rounds[n++] = (sort_round){.seed = b->options->seed, .bit = bit, .below = 1 << BITS};
    for (uint32_t i = k->nkeys; i-- > 0;)
        rounds[n++] = (sort_round){.key = k->keys[i], .below = k->below[i]};
    return n;
}

static void sort_edges(binding *b, const edge_keys *k) {
    sort_round rounds[64 / BITS + 1 + GRAPH_ARRAY_COUNT];
    uint32_t nrounds = sort_rounds(b, k, rounds);
    int64_t n = b->graph->graph.edges;
    arena *scratch = arena_new();
    int64_t *from = ARENA_ARRAY(b->arena, int64_t, n), *to = ARENA_ARRAY(scratch, int64_t, n);
    b->edge_order = from;
    for (int64_t e = 0; e < n; e++) from[e] = e;
    for (uint32_t i = 0; i < nrounds; i++) {
        sort_by(&rounds[i], from, to, n);
        int64_t *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != b->edge_order) memcpy(b->edge_order, from, (size_t)n * sizeof *from);
    arena_free(scratch);
}

bool bind_edge_order(binding *b) {
    graph_array which[GRAPH_ARRAY_COUNT];
    edge_keys k = {0};
    if (b->edges == TENSOR_NO_SPACE) return true;
    k.nkeys = order_keys(b, which);
    for (uint32_t i = 0; i < k.nkeys; i++) {
        k.keys[i] = graph_values(b->graph, which[i]);
        k.below[i] = graph_counted(b->graph, graph_array_table(which[i])->codomain);
    }
    if (b->options->mixed || !in_order(b, &k)) sort_edges(b, &k);
    return true;
}
