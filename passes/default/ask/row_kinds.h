// What versions of the default schedule are for, by row_kinds.def.
#ifndef GNNC_DEFAULT_ROW_KINDS_H
#define GNNC_DEFAULT_ROW_KINDS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
#define ROWS(id, text, family, like, rest, most, longest, traits) ROWS_##id,
#include "default/ask/row_kinds.def"
    ROWS_COUNT
} plan_rows;

typedef enum {
    ROWS_FAMILY_PLAIN,    // any op
    ROWS_FAMILY_WALK,     // sums of rows that need each other: one walk
    ROWS_FAMILY_FUSED,    // scores of entries that their rows alone read: one kernel
    ROWS_FAMILY_ALONE,    // one kernel that walks rows, and no other one
    ROWS_FAMILY_POINTS,   // kernels of points, and none that walks rows
    ROWS_FAMILY_OUTER,    // sums of outer products, and no other kernel that walks rows
    ROWS_FAMILY_TILES     // long rows of points, and no kernel that walks rows
} rows_family;

typedef enum {
    ROWS_ARE_BUCKETED = 1 << 0,           // long ones are cut, or have a class of their own
    ROWS_ARE_FOLLOWED = 1 << 1,           // what reads a row's result shares its kernel
    ROWS_ARE_OF_ANY_LENGTH = 1 << 2,      // no guard says how long a row may be
    ROWS_ARE_AT_ONCE = 1 << 3,            // there is a block for each: no row waits for another
    ROWS_ARE_WHOLE = 1 << 4,              // a walk cuts none
    ROWS_ARE_CLASSED = 1 << 5,            // a walk has classes of them by length, in one launch
    ROWS_ARE_WINDOWED = 1 << 6,           // a walk takes sixteen at once, on tensor cores
    ROWS_ARE_IN_PARTS = 1 << 7,           // a walk cuts long ones, into not too many parts
    ROWS_ARE_UNEVEN = 1 << 8,             // some are much longer than others, or all are long
    ROWS_ARE_OF_KNOWN_EXTENTS = 1 << 9,   // the version supposes nothing of dense axes
    ROWS_ARE_NEEDED = 1 << 10   // if it cannot be made, no later one of its family is tried
} rows_trait;

typedef struct {
    const char *text;
    rows_family family;
    plan_rows like, rest;
    int64_t most, longest;
    unsigned traits;   // rows_trait
} rows_info;
const rows_info *plan_rows_info(plan_rows rows);

static inline bool plan_rows_has(plan_rows rows, rows_trait t) {
    return plan_rows_info(rows)->traits & t;
}

#endif
