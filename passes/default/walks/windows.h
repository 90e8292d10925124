// A walk of windows by default: what of it is products (window_sums.c), and how it is scheduled
// (windows.c).
#ifndef GNNC_DEFAULT_WINDOWS_H
#define GNNC_DEFAULT_WINDOWS_H

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

// ---- windows.c ----------------------------------------------------------------------------------
// the walk's cells; false: it is no such walk
bool default_window_walk(walks *w, const walk *of, const stage_group *all);
// whether a block has one head of each row
bool default_window_alone(walks *w, const walk *of);
// whether its sums have walks of their own: four warps have room for one, and not for all
bool default_window_parts(walks *w, const walk *of);
// the score's cells; false: it is no product of what such a walk has
bool default_window_score(walks *w, const walk *of, const tensor_stage *st);

#endif
