// What the comments at the head of an edge list say of it.
//     # Undirected graph: …            each edge stands there once, in one direction (SNAP)
//     # Nodes: 7115 Edges: 103689      nodes without an edge are counted (SNAP)
//     % sym positive                   no direction; asym: edges as they are; bip: two kinds of nodes (KONECT); ids from 1
//     % 2742 1899 1899                 edges, nodes of the first column and of the second
#include "files.h"

#include <string.h>
#include <strings.h>

enum { WORD = 24 };

// The position behind the next word, which is `out`, or NULL.
static const char *next_word(const char *p, const char *end, char out[WORD]) {
    size_t n = 0;
    p = rt_skip_blanks(p, end);
    for (; p < end && *p != ' ' && *p != '\t'; p++)
        if (n < WORD - 1) out[n++] = *p;
    out[n] = 0;
    return n ? p : NULL;
}

static void find_count(const char *p, const char *end, const char *name, int64_t *out) {
    int64_t n;
    for (; p < end; p++)
        if (rt_find_word(p, end, name) &&
            rt_parse_count(rt_skip_blanks(p + strlen(name), end), end, &n))
            *out = n;
}

static void snap_line(rt_edge_head *h, const char *p, const char *end) {
    int64_t nodes = -1;
    h->both |= rt_find_word(p, end, "undirected graph");
    find_count(p, end, "nodes:", &nodes);
    find_count(p, end, "edges:", &h->edges);
    if (nodes >= 0) h->rows = h->sources = nodes;
}

static bool konect_format(rt_edge_head *h, const char *p, const char *end) {
    static const char *const weights[] = {"unweighted",    "positive",         "posweighted",
                                          "weighted",      "signed",           "multisigned",
                                          "multiweighted", "multiposweighted", "dynamic"};
    char direction[WORD], weight[WORD];
    p = next_word(p, end, direction);
    p = p ? next_word(p, end, weight) : NULL;
    bool both = p && !strcasecmp(direction, "sym"), two = p && !strcasecmp(direction, "bip"),
         known = false;
    for (size_t i = 0; p && i < RT_COUNT(weights); i++) known |= !strcasecmp(weight, weights[i]);
    if (!known || !(both || two || !strcasecmp(direction, "asym")) || rt_skip_blanks(p, end) < end)
        return false;
    h->konect = true;
    h->both = both;
    h->bipartite = two;
    return true;
}

static void konect_sizes(rt_edge_head *h, const char *p, const char *end) {
    int64_t sizes[3];
    for (int i = 0; i < 3; i++) {
        p = rt_parse_count(rt_skip_blanks(p, end), end, &sizes[i]);
        if (!p) return;
    }
    if (rt_skip_blanks(p, end) < end) return;
    h->edges = sizes[0];
    h->sources = sizes[1];
    h->rows = sizes[2];
}

void rt_edge_head_line(rt_edge_head *h, const char *p, const char *end) {
    char mark = *p;
    while (p < end && *p == mark) p++;
    p = rt_skip_blanks(p, end);
    if (mark == '#') snap_line(h, p, end);
    else if (!h->konect) konect_format(h, p, end);
    else if (h->edges < 0) konect_sizes(h, p, end);
}
