// What walks by default: found in default/walks.c, scheduled in default/walked.c.
#ifndef GNNC_PASSES_PLAN_DEFAULT_WALKS_H
#define GNNC_PASSES_PLAN_DEFAULT_WALKS_H

#include "default/default.h"

typedef struct {
    tensor_val map;
    stage_group sums, late;   // late: what rows make of the sums
    // what rows are known to be before they are walked: sums of their own arrays, and what those
    // make
    stage_group early;
    stage_group edges;    // results of edges, and scores, stored on the way
    bool scores, meets;   // a score is stored for some sum; some sum needs another
} walk;

typedef struct {
    making *m;
    planner *p;
    const tensor_op *given;   // as the op came: nothing is inlined there
    bool *scores;             // per stage: of edges, stored if no walk computed it
    bool *stored;             // per stage: a score that one walk stores, for others
    VEC(walk) walks;
    uint32_t *walk_of;    // per stage: number from 1; 0: none
    bool *windowed;       // per walk: it is one of windows
    stage_group shared;   // maps at whose values warps of a window read rows together
    bool natural;         // windows of several heads: without vectors
    bool joined;          // warps of a window's row add parts of scores up
    // the operation by which four warps multiply at once, of all that windows have; NULL: each by
    // itself
    const char *four;
    // of a score of windows: the fewest that a walk which multiplies wants; 0: none is of windows
    int64_t accumulators;
    // several of windows, none of which needs what another one sums: their blocks alternate
    bool independent;
    bool single;   // one walk of those that are worth one
    // several walks, some of which read several rows of an edge, or sum them
    bool heavy;
    bool light;   // an edge has one row for each, and it sums one
} walks;

bool default_find_walks(walks *w);   // false: something else reads a score that walks would compute
bool default_walk_is_worth(const walks *w, const walk *of);
bool default_is_walked(const walks *w, tensor_space s);   // some map leads from the space to rows
bool default_reads(const walks *w, uint32_t reader, uint32_t writer);
// some sum of the walk reads it
bool default_finds(const walks *w, const walk *of, uint32_t score);
// it needs scores that are sums of an edge, and are not stored
bool default_reduces_at_edges(const walks *w, const walk *of);
// of few rows all walks begin at once: none waits for what another one finds of a row
bool default_again_at_edges(const walks *w);
bool default_reads_score(const walks *w, uint32_t stage);
// ---- default/sizes.c ----------------------------------------------------------------------------
typedef struct {
    const char *name;
    // groups of a row; entries from which on it is of the next class; of a row that is cut, 0: none
    // is
    int64_t sharers, limit, part;
} default_row_size;
// of rows that are alike, or cut by one length
int64_t default_block_groups(const making *m, int64_t lanes);
bool default_whole_classes(plan_rows rows);   // rows are of three classes, and whole
bool default_cut_classes(const walks *w);     // of two, and those of the longest are cut
int64_t default_class_groups(const walks *w, int64_t lanes);   // of a block; lanes: of a group
uint32_t default_row_sizes(const walks *w, int64_t groups, default_row_size size[3]);   // how many
// ---- default/length.c ---------------------------------------------------------------------------
// Instructions of a step: for an edge, and so many numbers of its row, along the last index of the
// deepest sum.
int64_t default_walk_length(const walks *w, const walk *of, const tensor_stage *deepest,
                            int64_t held);
// instructions for each point that it reduces
int64_t default_score_length(const walks *w, const tensor_stage *st);
// Words of 32 bits that its scores load for what they reduce of their own.
int64_t default_inside_words(const walks *w, const walk *of, const tensor_stage *deepest,
                             int64_t held);
// ---- default/nest.c -----------------------------------------------------------------------------
// the score of most indices that it reads; UINT32_MAX: none
uint32_t default_deepest_read(const walks *w, uint32_t stage);
void default_nest(walks *w, uint32_t stage);
// Walks of windows (default/windows.c): their cells, and those of a score; false: it is no such
// walk.
bool default_window_walk(walks *w, const walk *of, const stage_group *all);
bool default_window_alone(walks *w, const walk *of);   // whether a block has one head of each row
// whether its sums have walks of their own: four warps have room for one, and not for all
bool default_window_parts(walks *w, const walk *of);
// false: it is no product of what such a walk has
bool default_window_score(walks *w, const walk *of, const tensor_stage *st);
#endif
