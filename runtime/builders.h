// What is built from maps before launches: the table of builders, and which of them are alike.
#ifndef GNNRT_BUILDERS_H
#define GNNRT_BUILDERS_H

#include <stdbool.h>
#include <stdint.h>

enum { RT_MAX_MAPS = 16 };   // of a builder
// clang-format off
#define RT_BUILDERS(X) /* X(name, text, least and most maps it takes) */                                    \
    X(OFFSETS, "offsets", 1, 1) X(ORDER, "order", 1, 1) X(COMPOSE, "compose", 2, 2)                         \
    X(COLUMN, "column", 1, 1) \
    X(DEGREES, "degrees", 1, 1) X(DEGREES_FROM, "degrees_from", 1, 1)                                       \
    X(ORDER_DESC, "order_desc", 1, 1) X(TILES, "tiles", 1, 1)                                               \
    X(ROW_BEGINS, "row_begins", 2, 2) X(ROW_ENDS, "row_ends", 2, 2)                                         \
    X(TILE_BEGINS, "tile_begins", 1, 1) X(TILE_VALUES, "tile_values", 1, 1)                                 \
    X(PART_ROWS, "part_rows", 1, 2) X(PART_BEGINS, "part_begins", 1, 2) X(PART_ENDS, "part_ends", 1, 2)     \
    X(PART_HEADS, "part_heads", 1, 2) X(WINDOW_SLOTS, "window_slots", 2, 2)                                 \
    X(WINDOW_PLACES, "window_places", 2, 2) X(WINDOW_STARTS, "window_starts", 1, 1)                         \
    X(WINDOW_BEGINS, "window_begins", 2, 2) X(WINDOW_COLUMNS, "window_columns", 2, 2)                       \
    X(WINDOW_ENTRIES, "window_entries", 2, 2) X(WINDOW_MASKS, "window_masks", 2, 2)                         \
    X(CLASSES, "classes", 1, RT_MAX_MAPS)
// clang-format on
typedef enum {
#define X(name, text, least, most) RT_##name,
    RT_BUILDERS(X)
#undef X
        RT_BUILDER_COUNT
} rt_builder;

static inline bool rt_counts(rt_builder b) {   // the space it is into
    return b == RT_CLASSES || b == RT_TILES;
}
static inline bool rt_orders(rt_builder b) {   // a permutation
    return b == RT_ORDER || b == RT_ORDER_DESC;
}
static inline bool rt_maps(rt_builder b) {   // it may be an argument
    return b == RT_COMPOSE || b == RT_COLUMN || b == RT_CLASSES || b == RT_DEGREES ||
           b == RT_DEGREES_FROM || b == RT_WINDOW_SLOTS || b == RT_WINDOW_PLACES || rt_orders(b);
}
static inline bool rt_parts(rt_builder b) {   // of rows, of which a second map is the order
    return b == RT_PART_ROWS || b == RT_PART_BEGINS || b == RT_PART_ENDS || b == RT_PART_HEADS;
}
static inline bool rt_row_ends(rt_builder b) {
    return b == RT_ROW_BEGINS || b == RT_ROW_ENDS;
}   // of whole rows, in the order that the second map says
// of a block: bits of a mask, of which the 32nd is the sign of an index of 32
enum { RT_MOST_SLOTS = 32 };
static inline int64_t rt_block(int64_t extent,
                               int64_t slots) {   // of windows of so many rows; 0: nothing is said
    return slots ? slots : extent < 16 ? extent : 16;
}
static inline bool rt_blocks(rt_builder b) {   // of slots
    return b == RT_WINDOW_SLOTS || b == RT_WINDOW_BEGINS || b == RT_WINDOW_ENTRIES ||
           b == RT_WINDOW_MASKS;
}
static inline bool rt_windows(rt_builder b) {   // of so many rows
    return b == RT_WINDOW_PLACES || b == RT_WINDOW_STARTS || rt_blocks(b);
}
static inline bool rt_tiles(rt_builder b) {   // it has an extent
    return b == RT_COLUMN || b == RT_TILES || b == RT_TILE_BEGINS || b == RT_TILE_VALUES ||
           rt_parts(b) || rt_windows(b) || b == RT_DEGREES_FROM;
}

#endif
