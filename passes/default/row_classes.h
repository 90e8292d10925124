// Inside the default schedule: rows by their length, and what a version supposes of rows
// (default/rows.c).
#ifndef GNNC_DEFAULT_ROW_CLASSES_H
#define GNNC_DEFAULT_ROW_CLASSES_H

#include "default/default.h"

typedef struct {
    const char *name;
    row_owner owner;
    int64_t owners, limit;   // groups of a row's block, or lanes of a row (0: as elsewhere); rows
                             // from there on are of the next class, the last has none
} default_class;
typedef struct {
    const default_class *of;
    uint32_t n;
    bool stands;   // rows of the first class are left as they stand
} default_classes;
typedef struct {
    const schedule *use;
    int64_t limit;   // as above
} default_bucket_class;
// "to", "together"; NULL: neither
void default_fill_bucket(making *m, const tensor_stage *st, tensor_var row, tensor_val map,
                         const default_bucket_class *all, uint32_t n, const char *option);
// Rows by length, each class with a schedule of its own, to whose cells `more` adds.
void default_bucket(making *m, const stage_group *g, tensor_val map, const default_classes *all,
                    void (*more)(void *user, uint32_t number), void *user);
void default_long_rows(making *m, const stage_group *g, tensor_val map);   // two classes
// A kernel of sums of rows alone, and of what is computed from them, may cut long ones.
bool default_cuts(const planner *p, const stage_group *g);
// when its stages are dealt out
void default_cut(making *m, const stage_group *g, tensor_val map);
// elements of an entry that a thread has at a time
int64_t default_held(making *m, const tensor_stage *st);
// rows of a few entries; those of the fewest go without rounds; false: it is no such kernel
bool default_short(making *m, const stage_group *g);
// rows that a group goes through in a few rounds; false: too few of its lanes share one
bool default_at_once(making *m, const stage_group *g, tensor_val map);
// a condition of the schedule
void default_suppose_longest(making *m, tensor_val map, int64_t entries);

// ---- Guards -------------------------------------------------------------------------------------
bool default_is_windows(plan_rows rows);   // of rows of any length, or of long ones
void default_guard_windows(making *m);     // behind other guards: they are dense
void default_guard_blocks(making *m);      // each row that is walked has a block
void default_guard_short(making *m);       // or few entries are
void default_guard_even(making *m);   // or no row that is walked is most of what there is to do
// or none has very many parts of so many entries
void default_guard_parts(making *m, int64_t part);
void default_guard_thin(making *m);   // rows have few entries on average
// or not all of them have a little more than that
void default_guard_uneven(making *m, int64_t part);
void default_guard_kept(making *m);   // it takes little room

#endif
