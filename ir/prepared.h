// What is prepared once per graph: the arrays that the runtime builds of maps.
#ifndef GNNC_PREPARED_H
#define GNNC_PREPARED_H

#include "support/support.h"

// Arrays of the index width. `none` entries are kept out of offsets and come last in orders.
// clang-format off
#define PREPARED_BUILDERS(X)                                                                                \
    X(OFFSETS, "offsets") /* of map m: E -> V: V + 1 entries; where class v begins in the order of m */     \
    X(ORDER, "order")     /* of map m: E entries; positions of m sorted by value, stable */                 \
    X(COMPOSE, "compose") /* of m: E -> V, n: V -> W: E entries, n[m[e]], none where either is none */      \
    X(COLUMN, "column")   /* of map m of several indices, extent T, number B: each T-th entry,  \
                             from the B-th on */                                                \
    X(DEGREES, "degrees") /* of map m: E -> V: V entries; the size of each preimage */                      \
    X(DEGREES_FROM, "degrees_from") /* of map m, extent T: as degrees, but at least T, or the largest of them where it is less */ \
    X(ORDER_DESC, "order_desc") /* of map m: as order, largest value first, stable */                       \
    X(ROW_BEGINS, "row_begins") /* of map m: E -> V, order o of V: V entries; where each class begins in the order of m, \
                                   classes in the order o */                                                \
    X(ROW_ENDS, "row_ends")     /* likewise: where it ends */                                               \
    X(TILES, "tiles")     /* of map m, extent T: where each tile begins in the order of m, and where the     \
                             last ends; a tile has at most T entries, all of one value; also counts tiles */ \
    X(TILE_BEGINS, "tile_begins") /* of map m, extent T: V + 1 entries: the number of the first of those of v */ \
    X(TILE_VALUES, "tile_values") /* of map m, extent T: for each of them its value; then, where V > 0, the last  \
                                     value up to E / T + V entries, which no map has more tiles than */           \
    X(PART_ROWS, "part_rows") /* of map m, order o of V (the order of numbers without one), extent T: of each part of rows \
                                 its row. First the parts, of T entries and a last of fewer, of rows with more than T, \
                                 then the other rows, a part each, empty or not; both in the order o */       \
    X(PART_BEGINS, "part_begins") /* likewise: where each part begins in the order of m */                  \
    X(PART_ENDS, "part_ends") /* likewise: where it ends */                                                 \
    X(PART_HEADS, "part_heads") /* likewise: the first part of each row that has more than T entries, and how many parts \
                                   they have */                                                             \
    X(WINDOW_PLACES, "window_places") /* of maps m: E -> V, s: E -> U, extent T: of each value of m its place, T to a window:   \
                                         in order, but that a window of T / 2 or more ends where all values of s of entries   \
                                         before are smaller than those behind, while n + n / 4 windows suffice, n those of T */ \
    X(WINDOW_STARTS, "window_starts") /* of the places, extent T: the value that each window begins with, V where none is \
                                         left, and V behind them */                                         \
    X(WINDOW_SLOTS, "window_slots") /* of maps m: E -> V, s: E -> U, extent T: of each entry the slot it has in a window of T \
                                       values of m, in which entries with one value of s share a slot, but for those with  \
                                       one value of m, of which the k-th takes the k-th slot of that value. Slots are       \
                                       numbered by window, then by their first entry, those of a window from a multiple of    \
                                       B on: as is said, or the less of T and 16; none where either is none */                       \
    X(WINDOW_BEGINS, "window_begins") /* of m and the slots of it, extent T: the first block of B slots of each window, and \
                                         how many blocks there are */                                       \
    X(WINDOW_COLUMNS, "window_columns") /* of s and the slots: the value of s of each slot, where it has no entry of the \
                                           one before */                                                    \
    X(WINDOW_ENTRIES, "window_entries") /* of m and the slots, extent T: T * B cells a block, for each value of its window \
                                           the entry that each of its slots has there, or none */           \
    X(WINDOW_MASKS, "window_masks") /* of m and the slots, extent T: T numbers of B bits a block, one for each value of its \
                                       window: bit i is set where its i-th slot has an entry there */       \
    X(CLASSES, "classes") /* of m1 … mk over E: E entries; the number of (m1[e] … mk[e]) among the distinct  \
                             tuples in lexicographic order; none where one is none; also counts them */
// clang-format on
typedef enum {
#define X(name, text) PREPARED_##name,
    PREPARED_BUILDERS(X)
#undef X
        PREPARED_BUILDER_COUNT
} prepared_builder;
const char *prepared_builder_text(prepared_builder b);
static inline bool prepared_row_ends(prepared_builder b) {
    return b == PREPARED_ROW_BEGINS || b == PREPARED_ROW_ENDS;
}
static inline bool prepared_parts(prepared_builder b) {
    return b == PREPARED_PART_ROWS || b == PREPARED_PART_BEGINS || b == PREPARED_PART_ENDS ||
           b == PREPARED_PART_HEADS;
}
// of the slots of windows, its second argument
static inline bool prepared_slotted(prepared_builder b) {
    return b == PREPARED_WINDOW_BEGINS || b == PREPARED_WINDOW_COLUMNS ||
           b == PREPARED_WINDOW_ENTRIES || b == PREPARED_WINDOW_MASKS;
}
// of a block: bits of a mask, of which the 32nd is the sign of an index of 32
enum { PREPARED_MOST_SLOTS = 32 };
// of a block of windows of so many rows; 0: nothing is said
static inline int64_t prepared_slots(int64_t extent, int64_t slots) {
    return slots ? slots : extent < 16 ? extent : 16;
}
static inline bool prepared_blocks(prepared_builder b) {   // of slots: it may say how many
    return b == PREPARED_WINDOW_SLOTS || (prepared_slotted(b) && b != PREPARED_WINDOW_COLUMNS);
}
// it says the same in whatever order points are visited
static inline bool prepared_value(prepared_builder b) {
    return b == PREPARED_OFFSETS || b == PREPARED_DEGREES || b == PREPARED_COMPOSE;
}
// entries of a map, or of maps one after the other: as a map is, and may be none
static inline bool prepared_entries(prepared_builder b) {
    return b == PREPARED_COMPOSE || b == PREPARED_COLUMN;
}
static inline bool prepared_second(prepared_builder b) {   // a number behind its extent
    return prepared_blocks(b) || b == PREPARED_COLUMN;
}
static inline bool prepared_tiles(prepared_builder b) {   // it has an extent
    return b == PREPARED_COLUMN || b == PREPARED_TILES || b == PREPARED_TILE_BEGINS ||
           b == PREPARED_TILE_VALUES || prepared_parts(b) || b == PREPARED_WINDOW_PLACES ||
           b == PREPARED_WINDOW_STARTS || prepared_blocks(b) || b == PREPARED_DEGREES_FROM;
}

#endif
