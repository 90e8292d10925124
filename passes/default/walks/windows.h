// A walk of windows by default: what of it is products (window_sums.c), whether and how it fits
// (window_fit.c), from which data on it is faster (window_worth.c), its cells (windows.c).
#ifndef GNNC_DEFAULT_WINDOWS_H
#define GNNC_DEFAULT_WINDOWS_H

#include "default/ask/limits.h"
#include "default/walks/walks.h"

typedef struct {
    walks *w;
    const walk *of;
    tensor_val source;
    ir_dtype type;                              // of what is multiplied; DT_COUNT: nothing
    uint32_t depth;                             // levels of the deepest sums
    int64_t columns, heads, products, scores;   // sums and scores that are products
    int64_t dots;           // points of the products that scores are; 0: they are none
    bool bounded;           // what cells hold is at most 1
    bool apart;             // heads have blocks of their own, and are as one here
    bool wide;              // all heads have much, together
    int64_t accumulators;   // of the score at hand
} windows;

static inline windows default_windows_of(walks *w, const walk *of) {
    return (windows){.w = w, .of = of, .source = TENSOR_NO_VAL, .type = DT_COUNT};
}
static inline const tensor_stage *window_stage(const walks *w, uint32_t i) {
    return &w->p->op->stages.data[i];
}
// Whether all that the walk sums, and its scores, is such as windows have; finds source, type,
// depth, columns, products, scores, dots and bounded.
bool default_window_sums(windows *x);
// a score that is such a product; finds source, type, dots
bool default_window_dot(windows *x, const tensor_stage *st);
// A load of an input, at the map or at what a row is, that ends on the index.
bool default_window_rows(const windows *x, tensor_expr factor, tensor_var along, bool *row,
                         tensor_val *map);
// one that reduces, which the walk's sums read
bool default_window_is_score(const windows *x, uint32_t stage);

// such windows there are; finds what window_sums.c does, and heads, wide and apart
bool window_fits(windows *x);
int64_t window_up_to(int64_t n, int64_t multiple);   // rounded up
int64_t window_width(const windows *x);              // numbers of a row of one head
int64_t window_words_of_rows(const windows *x);      // registers of a thread
int64_t window_words_of_sums(const windows *x);      // likewise
bool window_is_odd(const windows *x);                // its width is no multiple of a piece
bool window_is_shared(const windows *x);             // warps of a block share rows that it copies
bool window_is_rounded(const windows *x);            // cells are of the results' 16 bits
bool window_has_little(const windows *x);            // heads that are apart, and are not wide
bool window_by_four(const windows *x);               // four warps may multiply at once
bool window_rereads(const windows *x);               // rounds read the window's own rows again
bool window_joins(const windows *x);                 // warps add up scores of parts of columns
int64_t window_slots(const windows *x);              // of a round
int64_t window_rows(const windows *x);               // of a window
int64_t window_sharing(const windows *x);            // warps of a window's slots, of other rows
int64_t window_parts(const windows *x);              // of a row's columns; 0: there is no room
int64_t window_pieces(const windows *x);             // pieces of rows that a warp has
int64_t window_heads_held(const windows *x);         // by a warp
// whether a block has one head of each row
bool default_window_alone(walks *w, const walk *of);
// whether its sums have walks of their own: four warps have room for one, and not for all
bool default_window_parts(walks *w, const walk *of);

// ---- window_worth.c -----------------------------------------------------------------------------
int64_t window_density(const windows *x);     // of cells in use, in thousandths, at least
int64_t window_entries(const windows *x);     // of a row, on average, at least; 0: any number
int window_entries_least(const windows *x);   // of all rows, at least

// ---- windows.c ----------------------------------------------------------------------------------
// the walk's cells; false: it is no such walk
bool default_window_walk(walks *w, const walk *of, const stage_group *all);
// the score's cells; false: it is no product of what such a walk has
bool default_window_score(walks *w, const walk *of, const tensor_stage *st);

#endif
