// Kernels of rows by their length: classes, cuts, tiles, and what follows in one kernel.
#ifndef GNNC_DEFAULT_ROWS_H
#define GNNC_DEFAULT_ROWS_H

#include "default/cells/cells.h"

// ---- degree.c -----------------------------------------------------------------------------------
typedef struct {
    const schedule *use;
    int64_t limit;   // rows from there on are of the next class, the last has none
} default_bucket_class;
typedef struct {
    int64_t most;   // entries of rows that stand in their own order; 0: none do
    bool fused;     // one launch has all classes
} default_standing;
void default_fill_bucket(making *m, const tensor_stage *st, tensor_var row, tensor_val map,
                         const default_bucket_class *all, uint32_t n, const default_standing *how);
void default_order_by_degree(making *m, const tensor_stage *st, tensor_var row, tensor_val map);

// ---- classes.c ----------------------------------------------------------------------------------
typedef struct {
    const char *name;
    row_owner owner;
    int64_t owners,
        limit;   // groups of a row's block, or lanes of a row (0: as elsewhere); as above
} default_class;
typedef struct {
    const default_class *of;
    uint32_t n;
    bool stands;   // rows of the first class are left as they stand
} default_classes;
// Rows by length, each class with a schedule of its own, to whose cells `more` adds.
void default_bucket(making *m, const stage_group *g, tensor_val map, const default_classes *all,
                    void (*more)(void *user, uint32_t number), void *user);
void default_long_rows(making *m, const stage_group *g, tensor_val map);   // two classes

// ---- cut.c --------------------------------------------------------------------------------------
// when its stages are dealt out
// Of a key that is several maps one after the other, or a column of one.
bool default_of_prepared(making *m, const tensor_stage *st);
void default_cut_prepared(making *m, const stage_group *g);
void default_cut(making *m, const stage_group *g, tensor_val map);
// rows of a few entries; those of the fewest go without rounds; false: it is no such kernel
bool default_short(making *m, const stage_group *g);
// rows that a group goes through in a few rounds; false: too few of its lanes share one
bool default_at_once(making *m, const stage_group *g, tensor_val map);

// ---- fused.c ------------------------------------------------------------------------------------
// short rows, or few, and what entries take from them in one kernel; false: there is nothing such
bool default_follow_rows(making *m);
// rows of any length and what entries take from them in one kernel a class, where there are such
void default_follow(making *m);

// ---- tiled.c ------------------------------------------------------------------------------------
// A kernel of long rows of points that reduce a dense axis, by the first of the maps they may be
// of, the second …; false: it is no such kernel.
bool default_tile(making *m, const stage_group *g, uint32_t number);

#endif
