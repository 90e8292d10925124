// Reads many graphs from one archive and judges each: what test/fuzz/malformed.py makes.
//
//     read_many ARCHIVE
//
// A record is a header, then a name, what is wanted, and the file's bytes. Of a good file "nodes
// sources edges sum weights" is wanted, where sum is that of all (row * 1000003 + col + 1) and
// weights of weight * (edge + 1), modulo 2^64; -: none. Of a bad one status and parts of the
// message are, a line each. Both must stay below the memory that files.h promises; a bad one leaves
// nothing behind.
#include "runtime/files.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

typedef struct {
    uint32_t name, wanted;   // bytes of each
    uint64_t size;
    int32_t status;
    uint32_t unused;
} record;

// ---- Memory -------------------------------------------------------------------------------------
typedef struct {
    size_t live, peak;
} account;
// HEAD keeps a block's size, and its alignment
enum { HEAD = 64, ALLOWANCE = 64 << 20, FACTOR = 4 };

static void *take(void *user, size_t bytes, size_t align) {
    account *a = user;
    size_t whole = (bytes + 2 * HEAD - 1) / HEAD * HEAD;
    char *block = align <= HEAD && whole > bytes ? aligned_alloc(HEAD, whole) : NULL;
    if (!block) return NULL;
    memcpy(block, &bytes, sizeof bytes);
    a->live += bytes;
    a->peak = a->live > a->peak ? a->live : a->peak;
    return block + HEAD;
}

static void give(void *user, void *memory) {
    size_t bytes;
    memcpy(&bytes, (char *)memory - HEAD, sizeof bytes);
    ((account *)user)->live -= bytes;
    free((char *)memory - HEAD);
}

// ---- Judging ------------------------------------------------------------------------------------
static uint64_t sum_of_edges(const gnn_graph *g) {
    uint64_t sum = 0;
    for (int64_t v = 0; v < g->nodes; v++)
        for (int64_t e = g->rowptr[v]; e < g->rowptr[v + 1]; e++)
            sum += (uint64_t)v * 1000003 + (uint64_t)g->col[e] + 1;
    return sum;
}

static int64_t sum_of_weights(const gnn_graph *g) {
    double sum = 0;
    for (int64_t e = 0; e < g->edges; e++)
        sum += (double)(e + 1) * (g->weight.dtype == GNN_F64
                                      ? ((const double *)g->weight.data)[e]
                                      : (double)((const float *)g->weight.data)[e]);
    return (int64_t)sum;
}

static const char *judge_good(const gnn_graph *g, const char *wanted) {
    static char got[200];
    int n = snprintf(got, sizeof got, "%" PRId64 " %" PRId64 " %" PRId64 " %" PRIu64, g->nodes,
                     g->sources, g->edges, sum_of_edges(g));
    if (g->weight.data) snprintf(got + n, sizeof got - (size_t)n, " %" PRId64, sum_of_weights(g));
    else snprintf(got + n, sizeof got - (size_t)n, " -");
    return strcmp(got, wanted) ? got : NULL;
}

static bool says(const char *message, const char *wanted) {
    for (const char *line = wanted; *line;) {
        char part[200];
        size_t n = strcspn(line, "\n");
        snprintf(part, sizeof part, "%.*s", (int)n, line);
        if (!strstr(message, part)) return false;
        line += n + (line[n] == '\n');
    }
    return true;
}

static const char *judge(gnn_context *c, const record *r, gnn_status s, const gnn_graph *g,
                         const char *wanted) {
    static const gnn_graph empty;
    if (s != r->status) return s ? gnn_context_error(c) : "it is accepted";
    if (!s) return judge_good(g, wanted);
    if (memcmp(g, &empty, sizeof empty)) return "it leaves something behind";
    return says(gnn_context_error(c), wanted) ? NULL : gnn_context_error(c);
}

static size_t highest;   // peak beyond FACTOR times the file's size

// false: it is not as wanted, or takes too much.
static bool read_one(const record *r, const char *name, const char *wanted, const void *bytes) {
    account memory = {0};
    gnn_context *c = NULL;
    gnn_graph g;
    if (gnn_context_new(&(gnn_context_options){.device = GNN_HOST,
                                               .threads = 1,
                                               .allocator = {take, give, &memory}},
                        &c))
        abort();
    gnn_status s = rt_graph_from_memory(c, name, bytes, (size_t)r->size, &g);
    const char *fault = judge(c, r, s, &g, wanted);
    if (fault)
        printf("%s: status %d\n  wanted %d: %s\n  got %s\n", name, s, r->status, wanted, fault);
    gnn_graph_free(c, &g);
    gnn_context_free(c);
    size_t beyond = memory.peak > FACTOR * (size_t)r->size ? memory.peak - FACTOR * (size_t)r->size
                                                           : 0;
    highest = beyond > highest ? beyond : highest;
    if (beyond > ALLOWANCE)
        printf("%s: %zu bytes of memory for a file of %" PRIu64 "\n", name, memory.peak, r->size);
    if (memory.live) printf("%s: %zu bytes are not freed\n", name, memory.live);
    return !fault && beyond <= ALLOWANCE && !memory.live;
}

// Zero-terminated; NULL: the archive ends.
static char *read_bytes(FILE *f, uint64_t n) {
    char *bytes = malloc((size_t)n + 1);
    if (!bytes) abort();
    bytes[n] = 0;
    if (fread(bytes, 1, (size_t)n, f) == n) return bytes;
    free(bytes);
    return NULL;
}

int main(int argc, char **argv) {
    FILE *f = argc == 2 ? fopen(argv[1], "rb") : NULL;
    record r;
    uint64_t read[2] = {0}, wrong[2] = {0};   // good ones, bad ones
    while (f && fread(&r, sizeof r, 1, f) == 1) {
        char *name = read_bytes(f, r.name), *wanted = read_bytes(f, r.wanted),
             *bytes = read_bytes(f, r.size);
        if (!name || !wanted || !bytes) return 2;
        read[r.status != 0]++;
        wrong[r.status != 0] += !read_one(&r, name, wanted, bytes);
        free(name), free(wanted), free(bytes);
    }
    if (!f || fclose(f)) return 2;
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    printf("%" PRIu64 " of %" PRIu64 " valid files are read, %" PRIu64 " of %" PRIu64
           " malformed ones refused as they must be\n",
           read[0] - wrong[0], read[0], read[1] - wrong[1], read[1]);
    printf("memory: at most %.1f MiB and 4 times the file; the process %ld MiB\n",
           (double)highest / (1 << 20), used.ru_maxrss / 1024);
    return wrong[0] || wrong[1] || !read[0] || !read[1];
}
