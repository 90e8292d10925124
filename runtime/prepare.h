// Arrays of indices, what is built from them on the host, and numbers that conditions ask for.
#ifndef GNNRT_PREPARE_H
#define GNNRT_PREPARE_H

#include "builders.h"
#include "size_expr.h"

// ---- prepare.c: arrays of indices and what is built from them -----------------------------------
typedef struct {
    void *data;
    int64_t count;
    bool wide;   // 64 bits
} rt_ints;
static inline int64_t rt_get(const rt_ints *a, int64_t i) {
    return a->wide ? ((const int64_t *)a->data)[i] : ((const int32_t *)a->data)[i];
}
static inline void rt_set(const rt_ints *a, int64_t i, int64_t value) {
    if (a->wide) ((int64_t *)a->data)[i] = value;
    else ((int32_t *)a->data)[i] = (int32_t)value;
}
gnn_status rt_ints_new(gnn_context *c, int64_t count, bool wide, rt_ints *out);

typedef struct {
    rt_ints values;
    int64_t codomain;
    bool sorted;   // which was checked; false: nobody knows
} rt_map_view;
gnn_status rt_count_offsets(gnn_context *c, int64_t codomain, int64_t *out);   // how many there are
// Each allocates *out. Values are none or below the codomain.
gnn_status rt_build_offsets(gnn_context *c, const rt_map_view *m, bool wide, rt_ints *out);
gnn_status rt_build_order(gnn_context *c, const rt_map_view *m, bool wide, rt_ints *out);
gnn_status rt_build_order_desc(gnn_context *c, const rt_map_view *m, bool wide, rt_ints *out);
gnn_status rt_build_degrees(gnn_context *c, const rt_map_view *m, bool wide, rt_ints *out);
gnn_status rt_build_tiles(gnn_context *c, const rt_map_view *m, int64_t extent, bool wide,
                          rt_ints *out, int64_t *tiles);
gnn_status rt_build_tile_begins(gnn_context *c, const rt_map_view *m, int64_t extent, bool wide,
                                rt_ints *out);
gnn_status rt_build_tile_values(gnn_context *c, const rt_map_view *m, int64_t extent, bool wide,
                                rt_ints *out);
// Parts of rows (parts.c); order: of the rows, or NULL.
gnn_status rt_build_parts(gnn_context *c, rt_builder what, const rt_map_view *m,
                          const rt_map_view *order, int64_t extent, bool wide, rt_ints *out);
// Places of rows in windows (window_places.c), of which there are rt_window_limit; where each
// window begins, as rows.
int64_t rt_window_limit(int64_t rows, int64_t extent);
gnn_status rt_place_rows(gnn_context *c, const rt_ints *least, const rt_ints *most, int64_t extent,
                         bool wide, rt_ints *out, int64_t *places);
gnn_status rt_build_window_places(gnn_context *c, const rt_map_view *m, const rt_map_view *s,
                                  int64_t extent, bool wide, rt_ints *out, int64_t *places);
gnn_status rt_build_window_starts(gnn_context *c, const rt_map_view *places, int64_t extent,
                                  bool wide, rt_ints *out);
// Windows of rows (windows.c); slots: as rt_build_window_slots gives them.
gnn_status rt_build_window_slots(gnn_context *c, const rt_map_view *m, const rt_map_view *s,
                                 int64_t extent, int64_t block, bool wide, rt_ints *out,
                                 int64_t *count);
gnn_status rt_build_window_begins(gnn_context *c, const rt_map_view *m, const rt_map_view *slots,
                                  int64_t extent, int64_t block, bool wide, rt_ints *out);
gnn_status rt_build_window_columns(gnn_context *c, const rt_map_view *s, const rt_map_view *slots,
                                   bool wide, rt_ints *out);
// of all blocks
gnn_status rt_count_window_rows(gnn_context *c, int64_t slots, int64_t extent, int64_t block,
                                int64_t *out);
gnn_status rt_build_window_masks(gnn_context *c, const rt_map_view *m, const rt_map_view *slots,
                                 int64_t extent, int64_t block, bool wide, rt_ints *out);
gnn_status rt_build_window_entries(gnn_context *c, const rt_map_view *m, const rt_map_view *slots,
                                   int64_t extent, int64_t block, bool wide, rt_ints *out);
gnn_status rt_count_cells(gnn_context *c, int64_t n, int64_t extent,
                          // so many times so many, in windows
                          int64_t *out);
int64_t rt_density(int64_t entries, int64_t slots, int64_t extent);   // of 1000 cells
// each step-th entry from the first one on
gnn_status rt_build_column(gnn_context *c, const rt_map_view *m, int64_t step, int64_t first,
                           bool wide, rt_ints *out);
gnn_status rt_build_compose(gnn_context *c, const rt_map_view *m, const rt_map_view *n, bool wide,
                            rt_ints *out);
// By several maps, the first above all.
gnn_status rt_build_order_by(gnn_context *c, const rt_map_view *maps, uint32_t n, bool wide,
                             rt_ints *out);
gnn_status rt_build_classes(gnn_context *c, const rt_map_view *maps, uint32_t n, bool wide,
                            rt_ints *out, int64_t *classes);
gnn_status rt_build_expanded(gnn_context *c, const rt_ints *offsets, int64_t domain, bool wide,
                             rt_ints *out);

// ---- statistics.c -------------------------------------------------------------------------------
// How many preimages of a map have each size that occurs, smallest first: at most about sqrt(2 E)
// rows.
typedef struct {
    int64_t codomain, entries;   // preimages, none of them left out; entries that aren't none
    int64_t rows;
    int64_t *sizes, *counts;   // one allocation, sizes'; NULL where there are no preimages
} rt_preimages;
gnn_status rt_measure(gnn_context *c, const rt_map_view *m, rt_preimages *out);
// all but IS_SORTED, SYMMETRIC, DENSITY
int64_t rt_statistic(const rt_preimages *m, const rt_token *t);
// Preimages with more entries than that, and the parts of so many that these are cut into.
int64_t rt_count_cut(const rt_preimages *m, int64_t extent);
int64_t rt_count_parts(const rt_preimages *m, int64_t extent);
int64_t rt_sorted(const rt_map_view *m);
typedef struct {
    int64_t at, src, dst;
} rt_edge;
// As often as (u, v) stands (v, u) does. offsets: of dst, which is sorted; or NULL. odd: an edge
// that has none back, where some has not; may be NULL.
gnn_status rt_symmetric(gnn_context *c, const rt_map_view *src, const rt_map_view *dst,
                        const rt_ints *offsets, int64_t *out, rt_edge *odd);

#endif
