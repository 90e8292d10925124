// Graphs are the same on any number of threads, and as many blocks of edges, pieces of text and
// rounds of them as there may be; so are the messages about files: the first wrong line is told,
// whoever met it.
#include "files_support.h"

#include <math.h>

static gnn_context *context_of(uint32_t threads) {
    gnn_context *c = NULL;
    gnn_context_new(&(gnn_context_options){.device = GNN_HOST, .threads = threads}, &c);
    return c;
}

static const uint32_t threads[] = {1, 2, 7};

static uint64_t digest(const gnn_graph *g) {
    uint64_t h = 0xcbf29ce484222325u;
    if (!g->dst) return 0;
    for (int64_t i = 0; i <= g->nodes; i++) h = (h ^ (uint64_t)g->rowptr[i]) * 0x100000001b3u;
    for (int64_t i = 0; i < g->edges; i++)
        h = (h ^ (uint64_t)g->col[i] ^ (uint64_t)g->dst[i] << 32) * 0x100000001b3u;
    for (int64_t i = 0; i < g->edges && g->etype; i++)
        h = (h ^ (uint64_t)g->etype[i]) * 0x100000001b3u;
    for (int64_t i = 0; i < g->edges && g->weight.data; i++)
        h = (h ^ ((const uint64_t *)g->weight.data)[i]) * 0x100000001b3u;
    return h;
}

// ---- Generators ---------------------------------------------------------------------------------
static const struct {
    const char *description;
    uint64_t digest;
} generated[] = {
    {"rmat:13:40:3", 0xbd460663c7900046},   // more than one round
    {"rmat:15:1,types=5", 0x4d1097ae1c725511},
    {"er:3000:40000", 0x7f507e040fc2c758},
    {"hubs:3000:40000,types=16", 0x1f9d9d179324ada6},
    {"grid:200:60", 0xafd845dc730077ab},
    {"star:40000", 0xe868a3248fe42ca5},
    {"path:40000", 0x376520d21b32d11a},
    {"clique:200", 0xd94692405a641a47},
    {"batch:60:20:0.5", 0xa0ed0f5254a261df},
};

static void generators(void) {
    for (size_t i = 0; i < RT_COUNT(generated); i++)
        for (size_t t = 0; t < RT_COUNT(threads); t++) {
            gnn_context *c = context_of(threads[t]);
            gnn_graph g;
            CHECK(!gnn_graph_generate(c, generated[i].description, &g) && !gnn_graph_expand(c, &g),
                  "%s", gnn_context_error(c));
            CHECK(digest(&g) == generated[i].digest, "%s, %u threads: digest 0x%016llx",
                  generated[i].description, threads[t], (unsigned long long)digest(&g));
            gnn_graph_free(c, &g);
            gnn_context_free(c);
        }
}

// ---- Text ---------------------------------------------------------------------------------------
typedef struct {
    char *text;
    size_t size;
} file;

// Lines from `line` for each number below n, then an end.
static file lines(const char *head, int n, const char *line, const char *end) {
    file f = {malloc((size_t)n * 64 + strlen(head) + strlen(end) + 1), 0};
    if (!f.text) abort();
    f.size = (size_t)sprintf(f.text, "%s", head);
    for (int i = 0; i < n; i++)
        f.size += (size_t)sprintf(f.text + f.size, line, (int)(i * 7919LL % 5003) + 1,
                                  (int)(i * 104729LL % 4999) + 1, i % 17);
    f.size += (size_t)sprintf(f.text + f.size, "%s", end);
    return f;
}

static void same(const char *name, file f, int64_t edges) {
    uint64_t first = 0;
    for (size_t t = 0; t < RT_COUNT(threads); t++) {
        gnn_context *c = context_of(threads[t]);
        gnn_graph g;
        CHECK(!rt_graph_from_memory(c, name, f.text, f.size, &g) && !gnn_graph_expand(c, &g), "%s",
              gnn_context_error(c));
        CHECK(g.edges == edges && (!t || digest(&g) == first),
              "%s, %u threads: %lld edges, digest 0x%016llx", name, threads[t], (long long)g.edges,
              (unsigned long long)digest(&g));
        first = digest(&g);
        gnn_graph_free(c, &g);
        gnn_context_free(c);
    }
    free(f.text);
}

static void refused(const char *name, file f, const char *error) {
    for (size_t t = 0; t < RT_COUNT(threads); t++) {
        gnn_context *c = context_of(threads[t]);
        gnn_graph g;
        CHECK(rt_graph_from_memory(c, name, f.text, f.size, &g), "%s is read", name);
        CHECK(!strcmp(gnn_context_error(c), error), "%s, %u threads: %s", name, threads[t],
              gnn_context_error(c));
        gnn_context_free(c);
    }
    free(f.text);
}

#define MTX "%%MatrixMarket matrix coordinate real general\n5003 4999 "
enum { MANY = 220000 };   // lines: more than one round

static void texts(void) {
    same("a.txt", lines("", MANY, "%d %d\n", ""), MANY);
    same("weighted.txt", lines("", MANY, "%d %d %d.5\r\n", "7 8 1"), MANY + 1);
    // its blocks are full before a piece ends
    same("short.txt", lines("# Undirected graph\n", MANY, "1 2\n", ""), 2 * MANY);
    same("m.mtx", lines(MTX "220000\n", MANY, "%d %d %d\n", ""), MANY);
    same("s.mtx",
         lines("%%MatrixMarket matrix coordinate pattern symmetric\n9 9 220000\n", MANY, "2 1\n",
               ""),
         2 * MANY);
}

static void faults(void) {
    refused("a.txt", lines("", MANY, "%d %d\n", "1 x\n2 y\n"),
            "a.txt:220001: expected two integers, got 'x'");
    refused("a.txt", lines("# 1\n", MANY, "%d %d\n", "%\n1 2 3\n1 x\n"),
            "a.txt:220003: expected 2 columns as on line 2, got 3");
    refused("a.txt", lines("0 0\n0 y\n", MANY, "1 x\n", ""),
            "a.txt:2: expected two integers, got 'y'");
    refused("m.mtx", lines(MTX "220000\n", MANY, "%d %d %d\n", "\n1 1 1\n"),
            "m.mtx:220004: there are more than the 220000 entries promised");
    refused("m.mtx", lines(MTX "220001\n", MANY, "%d %d %d\n", "\n"),
            "m.mtx:220004: the file ends after 220000 of 220001 entries");
    refused("m.mtx", lines(MTX "220009\n", MANY, "%d %d %d\n", "5004 1 1\n9 9 z\n"),
            "m.mtx:220003: row 5004 is outside 1 to 5003");
}

static file within_comments(const char *last) {
    file f = lines("", 20000, "%d %d\n", "");
    const size_t comment = 3 * RT_TEXT;
    f.text = realloc(f.text, f.size + comment + 99);
    memset(f.text + f.size, '#', comment);
    f.size += comment;
    f.size += (size_t)sprintf(f.text + f.size, "\n%s\n", last);
    return f;
}

static file within_a_line(size_t blanks) {
    file f = lines("", 60000, "%d %d\n", "");
    f.text = realloc(f.text, f.size + blanks + 99);
    memset(f.text + f.size, ' ', blanks);
    f.size += blanks;
    f.size += (size_t)sprintf(f.text + f.size, "1 2\n");
    return f;
}

static void long_lines(void) {
    same("c.txt", within_comments("3 4"), 20001);
    refused("c.txt", within_comments("3"),
            "c.txt:20002: expected two integers, got the end of the line");
    same("l.txt", within_a_line(RT_LINE_BUFFER - 4), 60001);
    refused("l.txt", within_a_line(RT_LINE_BUFFER - 3),
            "l.txt:60001: the line is longer than 262144 bytes");
    refused("l.txt", within_a_line(2 * RT_TEXT),
            "l.txt:60001: the line is longer than 262144 bytes");
}

// ---- Equal weights that are not the same bits ---------------------------------------------------
static void zeros(void) {
    gnn_context *c = context_of(1);
    static const char *const texts[] = {"0 0 -0\n0 0 0\n0 0 nan\n0 0 -nan\n0 0 -1\n",
                                        "0 0 nan\n0 0 0\n0 0 -1\n0 0 -nan\n0 0 -0\n"};
    for (size_t i = 0; i < RT_COUNT(texts); i++) {
        gnn_graph g;
        CHECK(!rt_graph_from_memory(c, "w.txt", texts[i], strlen(texts[i]), &g), "%s",
              gnn_context_error(c));
        const double *w = g.weight.data;
        CHECK(w[0] == -1 && signbit(w[1]) && w[1] == 0 && !signbit(w[2]) && w[2] == 0 &&
                  signbit(w[3]) && isnan(w[3]) && isnan(w[4]) && !signbit(w[4]),
              "%g %g %g %g %g", w[0], w[1], w[2], w[3], w[4]);
        gnn_graph_free(c, &g);
    }
    gnn_context_free(c);
}

// ---- Who watches --------------------------------------------------------------------------------
typedef struct {
    int calls;
    double last;
    bool fell;
} watched;

static void watch(void *user, double part) {
    watched *w = user;
    w->fell |= part < w->last || part > 1;
    w->last = part;
    w->calls++;
}

static void progress(void) {
    gnn_context *c = context_of(2);
    watched made = {0}, read = {0};
    gnn_graph g, h;
    file f = lines("", MANY, "%d %d\n", "");
    gnn_graph_watch(c, watch, &made);
    CHECK(!gnn_graph_generate(c, "er:3000:800000", &g), "%s", gnn_context_error(c));
    gnn_graph_watch(c, watch, &read);
    CHECK(!rt_graph_from_memory(c, "a.txt", f.text, f.size, &h), "%s", gnn_context_error(c));
    CHECK(made.calls == 8 && !made.fell && made.last > 0.6, "generating: %d calls, %g", made.calls,
          made.last);
    CHECK(read.calls == 4 && !read.fell && read.last > 0.8, "reading: %d calls, %g", read.calls,
          read.last);
    gnn_graph_free(c, &g);
    gnn_graph_free(c, &h);
    gnn_context_free(c);
    free(f.text);
}

int main(void) {
    generators();
    progress();
    texts();
    faults();
    long_lines();
    zeros();
    return test_failures != 0;
}
