// From which data on windows are faster than walks of edges: how dense they are, how long rows, and
// how many entries there are in all.
#include "default/ask/limits.h"
#include "default/walks/walks.h"
#include "default/walks/windows.h"

// ---- Density ------------------------------------------------------------------------------------
// The share of cells in use, in thousandths, from which on windows are faster than walks of edges.
// It was measured on an H200 over batches of graphs of 128 nodes, of which 0.08, 0.10, 0.14 and
// 0.25 are in use, and 0.43 of pattern1024. A cell costs so much per head, an edge by all features.
// Where a walk has one product, as for the weights of GAT, edges cost little.
static const struct {
    int64_t width;          // numbers of a head, at least
    int64_t one, several;   // products of a walk, those of scores counted
} densities[] = {{128, 150, 90}, {64, 180, 90}, {32, 250, 120}, {0, 350, 170}};

int64_t window_density(const windows *x) {
    uint32_t i = 0;
    if (x->type == DT_F32 && (!x->products || !window_rereads(x) || x->scores < 2))
        return x->products ? DEFAULT_WORDS_DENSITY : DEFAULT_WORDS_SCORES_DENSITY;
    if (x->type == DT_F32)
        return x->columns > DEFAULT_WINDOW_JOINED * DEFAULT_WINDOW_WIDE && window_joins(x)
                   ? DEFAULT_WORDS_JOINED_DENSITY
                   : DEFAULT_WORDS_REREAD_DENSITY;
    while (window_width(x) < densities[i].width) i++;
    return x->products + x->scores < 2 ? densities[i].one : densities[i].several;
}

int64_t window_entries(const windows *x) {
    if (window_rereads(x) && x->scores > 1) return DEFAULT_WORDS_REREAD_LONG;
    return x->w->m->rows == ROWS_WALKED_WINDOWS_LONG ? DEFAULT_WINDOW_LONG : 0;
}

int window_entries_least(const windows *x) {
    if (x->type == DT_F32) return DEFAULT_WINDOW_ENTRIES_WORDS;
    if (x->scores && !x->bounded) return DEFAULT_WINDOW_ENTRIES_GRADIENT;
    return x->dots ? DEFAULT_WINDOW_ENTRIES : DEFAULT_WINDOW_ENTRIES_PLAIN;
}
