// From which data on windows are faster than walks of edges: how dense they are, how long rows, and
// how many entries there are in all.
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

// Likewise, of f32, which takes three products for one.
enum {
    WORDS_DENSITY = 300,
    WORDS_SCORES_DENSITY = 340,   // of a gradient's walk of scores alone: its other walk costs more
    // Where rounds read rows again, and a walk has two scores, as a gradient's has.
    WORDS_REREAD_DENSITY = 350,
    WORDS_JOINED_DENSITY = 200   // likewise, where warps add up scores of parts of columns
};

int64_t window_density(const windows *x) {
    uint32_t i = 0;
    if (x->type == DT_F32 && (!x->products || !window_rereads(x) || x->scores < 2))
        return x->products ? WORDS_DENSITY : WORDS_SCORES_DENSITY;
    if (x->type == DT_F32)
        return x->columns > WINDOW_JOINED * WINDOW_WIDE && window_joins(x) ? WORDS_JOINED_DENSITY
                                                                           : WORDS_REREAD_DENSITY;
    while (window_width(x) < densities[i].width) i++;
    return x->products + x->scores < 2 ? densities[i].one : densities[i].several;
}

// ---- Entries ------------------------------------------------------------------------------------
// Entries of a row on average, at least: measured over batches of graphs of 16, 30, 70, 100 and 119
// nodes.
enum {
    LONG = 40,               // of a version for windows of long rows
    WORDS_REREAD_LONG = 48   // of f32, where rounds read rows again
};

int64_t window_entries(const windows *x) {
    if (window_rereads(x) && x->scores > 1) return WORDS_REREAD_LONG;
    return x->w->m->rows == ROWS_WALKED_WINDOWS_LONG ? LONG : 0;
}

// Entries in all from which on windows are faster. Of few entries all are walked at once, while a
// block goes through its window's rounds one after the other, however few windows there are.
// Measured on an H200 over batches of 4 to 128 graphs of 119 nodes and 51 entries a row.
enum {
    LEAST_ENTRIES = 150000,
    LEAST_ENTRIES_PLAIN = 300000,   // of walks whose scores are no products, such as GAT's
    LEAST_ENTRIES_GRADIENT = 75000,
    LEAST_ENTRIES_WORDS = 600000   // of f32
};

int window_entries_least(const windows *x) {
    if (x->type == DT_F32) return LEAST_ENTRIES_WORDS;
    if (x->scores && !x->bounded) return LEAST_ENTRIES_GRADIENT;
    return x->dots ? LEAST_ENTRIES : LEAST_ENTRIES_PLAIN;
}
