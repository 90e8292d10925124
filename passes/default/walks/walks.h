// What walks by default (walks.c), and what is asked about it. How it is dealt out: shares.h.
#ifndef GNNC_DEFAULT_WALKS_H
#define GNNC_DEFAULT_WALKS_H

#include "default/cells/making.h"

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
    // several of windows, none of which needs what another one sums: their blocks take turns
    bool independent;
    bool single;   // one walk of those that are worth one
    // several walks, some of which read several rows of an edge, or sum them
    bool heavy;
    bool light;   // an edge has one row for each, and it sums one
} walks;

bool default_find_walks(walks *w);   // false: something else reads a score that walks would compute
bool default_walk(making *m);   // false: no sums of rows need each other, or extents are not known

// ---- reads.c ------------------------------------------------------------------------------------
tensor_space default_first_space(const walks *w, const tensor_stage *st);
bool default_sums_outer(const planner *p, const tensor_stage *st);
// by which a stage sums rows that a walk may have; TENSOR_NO_VAL: none
tensor_val default_map_of(const walks *w, uint32_t stage);
bool default_is_walked(const walks *w, tensor_space s);   // some map leads from the space to rows
bool default_reads(const walks *w, uint32_t reader, uint32_t writer);
bool default_reads_score(const walks *w, uint32_t stage);
bool default_reads_sum(const walks *w, const walk *of, uint32_t stage);
// some sum of the walk reads it
bool default_finds(const walks *w, const walk *of, uint32_t score);
// it needs scores that are sums of an edge, and are not stored
bool default_reduces_at_edges(const walks *w, const walk *of);
// the score of most indices that it reads; UINT32_MAX: none
uint32_t default_deepest_read(const walks *w, uint32_t stage);
// of few rows all walks begin at once: none waits for what another one finds of a row
bool default_again_at_edges(const walks *w);
// its indices are the first ones of some sum of the walk
bool default_has_loops_of(const walks *w, const walk *of, const tensor_stage *st);
bool default_walk_is_worth(const walks *w, const walk *of);

// ---- join.c, early.c, late.c, nest.c: parts of default_find_walks -------------------------------
void default_join_walks(walks *w);
void default_part_walks(walks *w);   // of windows: sums that have walks of their own
bool default_are_independent(walks *w);
void default_find_early(walks *w);
void default_find_late(walks *w);
void default_nest(walks *w, uint32_t stage);

// ---- kept.c, rfactor.c: of the op as it came ----------------------------------------------------
// Scores of edges that are stored; with spares, those too that spare another walk all that it
// reduces at an edge.
default_stored default_kept(planner *p, bool spares);
// The op with sums over all points that walks of rows take along, as the schedule says then.
tensor_op *default_rfactor(planner *p, schedule *s);

#endif
