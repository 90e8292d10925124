// Maps that lie on a GPU are checked, measured and prepared there: the kernels of builders/, and
// what is made of them. Arrays of these calls lie on the device, views of maps included; each call
// enqueues on the stream of its session, and waits only to read a number. All arrays that they make
// live until the session's end, but those taken from it.
#ifndef GNNRT_GPU_H
#define GNNRT_GPU_H

#include "launch_plan.h"
#include "validate.h"

// ---- gpu_kernels.c ------------------------------------------------------------------------------
typedef enum {
#define KERNEL(name, text, shared) RT_GPU_##name,
#include "gpu_kernels.def"
#undef KERNEL
    RT_GPU_KERNEL_COUNT
} rt_gpu_kernel;

typedef struct rt_gpu_temp rt_gpu_temp;
typedef struct {
    gnn_context *c;
    gnn_stream stream;
    bool wide;              // the indices of the kernels: 64 bits
    bool entered, pushed;   // our CUDA context is current until the end
    rt_heap heap;
    rt_gpu_temp *temps;
} rt_gpu;
// also to change the width
gnn_status rt_gpu_begin(rt_gpu *g, gnn_context *c, gnn_stream stream, bool wide);
// Gives its arrays back, for work behind it on the stream; gives s.
gnn_status rt_gpu_end(rt_gpu *g, gnn_status s);
gnn_status rt_gpu_array(rt_gpu *g, int64_t count, size_t element, void **out);   // until the end
// of the session's width
gnn_status rt_gpu_ints(rt_gpu *g, int64_t count, rt_ints *out);
void rt_gpu_take(rt_gpu *g, const void *array);   // is the caller's from now on

// Slots are eight bytes: pointers and i64.
#define RT_POINTER(p) ((uint64_t)(uintptr_t)(p))
#define RT_NUMBER(n) ((uint64_t)(n))
gnn_status rt_gpu_launch(rt_gpu *g, rt_gpu_kernel k, int64_t blocks, uint64_t *slots,
                         uint32_t nslots);
int64_t rt_gpu_blocks(int64_t n);   // for kernels that stride over n positions
#define RT_LAUNCH(g, kernel, n, ...)                                                               \
    rt_gpu_launch((g), RT_GPU_##kernel, rt_gpu_blocks(n), (uint64_t[]){__VA_ARGS__},               \
                  RT_COUNT(((uint64_t[]){__VA_ARGS__})))
// Waits. Of an i64, and of an entry of an array.
gnn_status rt_gpu_read(rt_gpu *g, const void *number, int64_t *out);
gnn_status rt_gpu_get(rt_gpu *g, const rt_ints *a, int64_t i, int64_t *out);

// ---- gpu_build.c: as prepare.c ------------------------------------------------------------------
// counts is zeroed first
gnn_status rt_gpu_tally(rt_gpu *g, const rt_ints *values, const rt_ints *counts);
// sums before each entry
gnn_status rt_gpu_scan(rt_gpu *g, const rt_ints *x, const rt_ints *out);
gnn_status rt_gpu_offsets(rt_gpu *g, const rt_map_view *m, rt_ints *out);
gnn_status rt_gpu_expanded(rt_gpu *g, const rt_ints *offsets, int64_t domain, rt_ints *out);
gnn_status rt_gpu_order(rt_gpu *g, const rt_map_view *m, bool largest, rt_ints *out);
gnn_status rt_gpu_degrees(rt_gpu *g, const rt_map_view *m, rt_ints *out);
gnn_status rt_gpu_raise(rt_gpu *g, const rt_ints *x, int64_t least);   // entries below it
gnn_status rt_gpu_tiles(rt_gpu *g, const rt_map_view *m, int64_t extent, rt_ints *out,
                        int64_t *tiles);
// In `begins`, of as many entries as there are offsets, the number of the first tile of each class,
// and of all.
gnn_status rt_gpu_number_tiles(rt_gpu *g, const rt_ints *offsets, int64_t extent,
                               const rt_ints *begins);
gnn_status rt_gpu_tile_begins(rt_gpu *g, const rt_map_view *m, int64_t extent, rt_ints *out);
gnn_status rt_gpu_tile_values(rt_gpu *g, const rt_map_view *m, int64_t extent, rt_ints *out);
// The arrays of parts, which are made of the same numbers: RT_PART_ROWS and the ones behind it.
enum { RT_PART_ARRAYS = RT_PART_HEADS - RT_PART_ROWS + 1 };
typedef struct {   // to be cut into parts
    rt_ints offsets;
    const rt_ints *order;   // NULL: they stand as they are
    int64_t cut, parts;     // how many rows are cut, and into how many parts all of them
} rt_rows;
gnn_status rt_gpu_parts(rt_gpu *g, const rt_rows *r, int64_t extent, rt_ints out[RT_PART_ARRAYS]);
// gpu_windows.c: as windows.c
gnn_status rt_gpu_window_places(rt_gpu *g, const rt_map_view *m, const rt_map_view *s,
                                int64_t extent, rt_ints *out, int64_t *places);
gnn_status rt_gpu_window_starts(rt_gpu *g, const rt_map_view *places, int64_t extent, rt_ints *out);
gnn_status rt_gpu_window_slots(rt_gpu *g, const rt_map_view *m, const rt_map_view *s,
                               int64_t extent, int64_t block, rt_ints *out, int64_t *count);
gnn_status rt_gpu_window_begins(rt_gpu *g, const rt_map_view *m, const rt_map_view *slots,
                                int64_t extent, int64_t block, rt_ints *out);
gnn_status rt_gpu_window_columns(rt_gpu *g, const rt_map_view *s, const rt_map_view *slots,
                                 rt_ints *out);
gnn_status rt_gpu_window_masks(rt_gpu *g, const rt_map_view *m, const rt_map_view *slots,
                               int64_t extent, int64_t block, rt_ints *out);
gnn_status rt_gpu_window_entries(rt_gpu *g, const rt_map_view *m, const rt_map_view *slots,
                                 int64_t extent, int64_t block, rt_ints *out);
gnn_status rt_gpu_column(rt_gpu *g, const rt_map_view *m, int64_t step, int64_t first,
                         rt_ints *out);
gnn_status rt_gpu_compose(rt_gpu *g, const rt_map_view *m, const rt_map_view *n, rt_ints *out);
gnn_status rt_gpu_order_by(rt_gpu *g, const rt_map_view *maps, uint32_t n, rt_ints *out);
gnn_status rt_gpu_classes(rt_gpu *g, const rt_map_view *maps, uint32_t n, rt_ints *out,
                          int64_t *classes);

// ---- gpu_measure.c: as statistics.c -------------------------------------------------------------
gnn_status rt_gpu_measure(rt_gpu *g, const rt_map_view *m, rt_preimages *out);
gnn_status rt_gpu_sorted(rt_gpu *g, const rt_map_view *m, int64_t *out);
gnn_status rt_gpu_symmetric(rt_gpu *g, const rt_map_view *src, const rt_map_view *dst,
                            const rt_ints *offsets, int64_t *out, rt_edge *odd);

// ---- gpu_check.c: as validate.c -----------------------------------------------------------------
gnn_status rt_gpu_found_new(rt_gpu *g, void **found);   // an i64, beyond all positions
gnn_status rt_gpu_check_map(rt_gpu *g, const rt_checked *m);
gnn_status rt_gpu_check_sorted_by(rt_gpu *g, const rt_checked *m, const char *by_name,
                                  const rt_map_view *by);
gnn_status rt_gpu_check_offsets(rt_gpu *g, const rt_checked *m, const rt_ints *offsets);
gnn_status rt_gpu_check_agreement(rt_gpu *g, const rt_checked *m, const rt_ints *offsets);
gnn_status rt_gpu_widen(rt_gpu *g, const rt_ints *from, const rt_ints *to);
gnn_status rt_gpu_narrow(rt_gpu *g, const char *name, const rt_ints *from, const rt_ints *to);

// ---- gpu_plan.c: as plan_maps.c and plan_prepare.c ----------------------------------------------
gnn_status rt_gpu_map(gnn_plan *plan, uint32_t param, const rt_checked *m, rt_structure *s);
gnn_status rt_gpu_check_again(gnn_plan *plan, uint32_t param, const rt_checked *m, rt_structure *s);
typedef struct {   // of a recipe's first map, where its builder asks for it
    rt_ints offsets;
    const rt_preimages *sizes;
} rt_known;
// s: one structure; for parts all RT_PART_ARRAYS of them, in their order.
gnn_status rt_gpu_prepare(gnn_plan *plan, const rt_prepared *q, const rt_map_view *maps,
                          const rt_known *known, rt_structure **s);

#endif
