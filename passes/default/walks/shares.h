// How a walk is dealt out: shares of a row (shares.c), sizes of rows (sizes.c), instructions of a
// step (length.c), rows and scores (walk_rows.c).
#ifndef GNNC_DEFAULT_SHARES_H
#define GNNC_DEFAULT_SHARES_H

#include "default/ask/limits.h"
#include "default/walks/walks.h"

// ---- shares.c -----------------------------------------------------------------------------------
typedef struct {
    int64_t vector, lanes, registers;
} level_share;
typedef struct {
    uint32_t depth;
    level_share level[8];   // by level of the deepest sum; the first is that of rows
    int64_t lanes, held;    // of a row; numbers of a thread
    const tensor_stage *deepest;
} row_shares;
// false: an extent is not known, or too much of a row is a thread's
bool default_share_rows(const walks *w, const walk *of, row_shares *s);
void default_halve_lanes(const walks *w, row_shares *s, int64_t steps);
void default_share_many(const walks *w, row_shares *s);
// bytes of the widest number that the walk's sums have along that level
int64_t default_walk_bytes(const walks *w, const walk *of, uint32_t level);
// numbers of a thread, of which the row has one
int64_t default_held_of(const walks *w, const walk *of, const row_shares *s);
int64_t default_walk_steps(const walks *w, const walk *of, const row_shares *s);   // loaded at once
bool default_is_light(const walks *w, const walk *of, const row_shares *s);
bool default_is_again(const walks *w, uint32_t stage);   // each walk finds it at its edges

// ---- sizes.c ------------------------------------------------------------------------------------
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
bool default_has_classes(const walks *w);
int64_t default_class_groups(const walks *w, int64_t lanes);   // of a block; lanes: of a group
uint32_t default_row_sizes(const walks *w, int64_t groups, default_row_size size[3]);   // how many

// ---- length.c -----------------------------------------------------------------------------------
// Instructions of a step: for an edge, and so many numbers of its row, along the last index of the
// deepest sum.
int64_t default_walk_length(const walks *w, const walk *of, const tensor_stage *deepest,
                            int64_t held);
// instructions for each point that it reduces
int64_t default_score_length(const walks *w, const tensor_stage *st);
// Words of 32 bits that its scores load for what they reduce of their own.
int64_t default_inside_words(const walks *w, const walk *of, const tensor_stage *deepest,
                             int64_t held);

// ---- walk_rows.c --------------------------------------------------------------------------------
void default_walk_rows(walks *w, const walk *of, const row_shares *s);
// What a score reduces has the lanes that its walks use for what it has not; those of the first
// one. false: walks of windows and others read it, for which it is dealt out otherwise.
bool default_walk_score(walks *w, uint32_t score, const row_shares *s);

#endif
