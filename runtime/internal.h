// What the files of the runtime share: memory and errors of the context, the driver's calls, the tables of a
// program, the structures of a plan.
#ifndef GNNRT_INTERNAL_H
#define GNNRT_INTERNAL_H

#include "gnnrt.h"

#include <stdarg.h>

#define RT_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define RT_COUNT(array) (sizeof(array) / sizeof *(array))

// ---- context.c: errors -----------------------------------------------------------------------------------
// Opens each call of gnnrt.h that may fail: the error that is kept is the first of the last such call. `given`: what it
// must be given is; false: it is not, which is told, or there is no context.
bool rt_begin(gnn_context *c, const char *call, bool given);
#define RT_OF(x) ((x) ? (x)->c : NULL)   // the context of a handle
// Keeps the text where it is the call's first error, and returns s: `return rt_fail(c, GNN_IO, "%s: %s", path,
// why);`
gnn_status rt_fail(gnn_context *c, gnn_status s, const char *format, ...) RT_PRINTF(3, 4);

// ---- context.c: host memory ------------------------------------------------------------------------------
// NULL is out of memory, with the error kept. Zero bytes give a pointer that may be freed. Not zeroed.
void *rt_alloc(gnn_context *c, size_t bytes);
void *rt_alloc_zeroed(gnn_context *c, size_t bytes);
void *rt_alloc_array(gnn_context *c, int64_t count, size_t element);   // count * element overflow-checked
void *rt_resize(gnn_context *c, void *old, size_t old_bytes, size_t bytes);   // on failure old stays
void rt_free(gnn_context *c, void *memory);   // NULL is fine

// Memory that is freed as a whole, zeroed.
typedef struct rt_heap_node rt_heap_node;
typedef struct {
    gnn_context *c;
    rt_heap_node *last;
} rt_heap;
void *rt_heap_alloc(rt_heap *h, size_t count, size_t element);   // NULL: out of memory, error kept
void rt_heap_free(rt_heap *h);

// ---- cuda_api.c: the driver ------------------------------------------------------------------------------
typedef struct CUctx_st *rt_cuda_context;
typedef struct CUmod_st *rt_cuda_module;
typedef struct CUfunc_st *rt_cuda_function;
typedef struct CUevent_st *rt_cuda_event;
typedef struct CUgraph_st *rt_cuda_graph;
typedef struct CUgraphExec_st *rt_cuda_replay;
enum { RT_PROGRAMMATIC_STREAM_SERIALIZATION = 6 };   // of CUlaunchAttributeID
typedef struct {   // as the driver has it: CUlaunchAttribute
    _Alignas(8) int id;
    _Alignas(8) int value[16];
} rt_cuda_attribute;
typedef struct {   // CUlaunchConfig
    unsigned grid[3], block[3], shared;
    gnn_stream stream;
    rt_cuda_attribute *attributes;
    unsigned nattributes;
} rt_cuda_launch;
typedef struct {
#define CU(name, symbol, params) int (*name) params;
#include "cuda_api.def"
#undef CU
} rt_cuda_api;

// ---- threads.c -------------------------------------------------------------------------------------------
typedef struct rt_pool rt_pool;
gnn_status rt_pool_start(gnn_context *c);   // nothing to do with a hook, one thread or a running pool
void rt_pool_stop(gnn_context *c);
void rt_parallel(gnn_context *c, uint32_t n, void (*body)(void *data, uint32_t i), void *data);
uint32_t rt_cores(void);

struct gnn_context {
    int device;      // an ordinal, or GNN_HOST
    int process;     // that made it
    gnn_allocator memory;
    gnn_parallel_for parallel_for;
    void *parallel_user;
    const gnn_simulator *simulator;
    uint32_t threads;
    rt_pool *pool;
    void (*watch)(void *user, double part);   // gnn_graph_watch
    void *watch_user;
    gnn_status status;
    bool told;       // an error of the call at hand, by status and error
    char error[512];
    void *library;   // of the driver
    rt_cuda_api cuda;
    rt_cuda_context cuda_context;
    int cuda_device;
    bool retained;   // the primary context, to be released
    bool launches_early;
    struct rt_gpu_kernels *gpu_kernels[2];   // of indices of 32 and of 64 bits; NULL: not asked for so far
};
static inline bool rt_on_cuda(const gnn_context *c) {
    return c->device != GNN_HOST;
}

bool rt_forked(const gnn_context *c);       // this is a child of the process that made it, which has nothing of the driver

gnn_status rt_cuda_open(gnn_context *c);    // driver, device, context
void rt_cuda_close(gnn_context *c);
enum { RT_CUDA_OUT_OF_MEMORY = 2 };         // of CUresult
gnn_status rt_cuda_fail(gnn_context *c, int error, const char *call);
// A launch that may start while the one before it in the stream runs.
gnn_status rt_cuda_launch_early(gnn_context *c, rt_cuda_function f, rt_cuda_launch *launch, void **params);
gnn_status rt_cuda_own(gnn_context *c);     // no fault but in a forked child of a context of CUDA
gnn_status rt_enter(gnn_context *c, bool *pushed);   // makes our CUDA context current where it isn't
bool rt_enter_to_free(gnn_context *c, bool *pushed); // likewise; false: there is nothing to be freed, or no way to
gnn_status rt_enter_to_launch(gnn_context *c, bool *pushed);   // likewise, where a call to ask who we are would cost; a driver refuses children itself
void rt_leave(gnn_context *c, bool pushed);
// One driver call inside our context: CU_CALL(c, MemFree, (address)).
#define CU_CALL(c, name, args) rt_cuda_result((c), (c)->cuda.name args, #name)
gnn_status rt_cuda_result(gnn_context *c, int error, const char *call);
// Inside our context; whose code it is, and what for, stand in the message.
gnn_status rt_cuda_load(gnn_context *c, const char *whose, const char *target, const void *image, rt_cuda_module *out);
void rt_gpu_unload(gnn_context *c, bool wide);   // gpu_kernels.c

// ---- size_expr.c: integer expressions in postfix ---------------------------------------------------------
#define RT_OPERATORS(X)                                                                                     \
    X(ADD, "+", 2) X(SUB, "-", 2) X(MUL, "*", 2) X(DIV, "/", 2) X(MOD, "%", 2) X(CEILDIV, "ceildiv", 2)     \
    X(MIN, "min", 2) X(MAX, "max", 2) X(EQ, "==", 2) X(NE, "!=", 2) X(LT, "<", 2) X(LE, "<=", 2)            \
    X(GT, ">", 2) X(GE, ">=", 2) X(AND, "&&", 2) X(OR, "||", 2) X(NOT, "!", 1)
// Of maps; numbers of the second form lie from low to high.
#define RT_STATISTICS(X) /* X(name, text, what follows the map, low, high) */                               \
    X(MAX_PREIMAGE, "max", NOTHING, 0, 0) X(MIN_PREIMAGE, "min", NOTHING, 0, 0)                             \
    X(AVG_PREIMAGE, "avg", NOTHING, 0, 0) X(STD_PREIMAGE, "std", NOTHING, 0, 0)                             \
    X(QUANTILE_PREIMAGE, "quantile", NUMBER, 0, 1000) X(AT_LEAST, "at_least", NUMBER, 0, INT64_MAX)         \
    X(CUT_PARTS, "cut_parts", NUMBER, 1, INT64_MAX)                                                         \
    X(FILL, "fill", NUMBER, 1, INT64_MAX) X(IS_SORTED, "sorted", NOTHING, 0, 0) X(SYMMETRIC, "symmetric", MAP, 0, 0) \
    X(DENSITY, "density", MAP_NUMBER, 1, INT64_MAX)
typedef enum { RT_WITH_NOTHING, RT_WITH_NUMBER, RT_WITH_MAP, RT_WITH_MAP_NUMBER } rt_operand_kind;
#define RT_DEVICE_FACTS(X) X(SMS, "sms") X(SHARED_BYTES, "shared_bytes") X(L2_BYTES, "l2_bytes") X(CORES, "cores")
typedef enum {
#define X(name, text) RT_DEVICE_##name,
    RT_DEVICE_FACTS(X)
#undef X
    RT_DEVICE_FACT_COUNT
} rt_device_fact;
typedef enum {
    RT_CONST, RT_SPACE, RT_DEVICE,   // value; a: the space; a: the fact, text: device(sms)
#define X(name, ...) RT_##name,
    RT_OPERATORS(X)
    RT_STATISTICS(X)   // a, b: parameters; value: the number
#undef X
    RT_TOKEN_KINDS
} rt_token_kind;
static inline bool rt_is_statistic(rt_token_kind k) {
    return k >= RT_MAX_PREIMAGE && k <= RT_DENSITY;
}
static inline bool rt_is_fact(rt_token_kind k) {   // told by the plan
    return k == RT_DEVICE || rt_is_statistic(k);
}
typedef struct {
    rt_token_kind kind;
    uint32_t a, b;
    int64_t value;
} rt_token;
typedef struct {
    const char *text;
    uint32_t count;
    rt_token *tokens;
} rt_expr;
enum { RT_EXPR_DEPTH = 64 };

// Names in expressions; statistics are told by the plan.
typedef struct {
    int (*space)(const void *names, const char *text, size_t length);   // -1: none
    int (*map)(const void *names, const char *text, size_t length);
    const void *names;
} rt_scope;
// NULL: well formed; else what is wrong with it, of which *at tells the token.
const char *rt_expr_parse(rt_heap *h, const char *text, const rt_scope *scope, rt_expr *out, char at[64]);
typedef struct {
    const int64_t *sizes;
    gnn_status (*fact)(void *user, const rt_token *t, int64_t *out);   // statistics, DEVICE
    void *user;
} rt_values;
// Division by zero and overflow are errors of the context, unless && or || doesn't want the value.
gnn_status rt_expr_eval(gnn_context *c, const rt_expr *e, const rt_values *v, int64_t *out);

// ---- device.c --------------------------------------------------------------------------------------------
gnn_status rt_device_number(gnn_context *c, rt_device_fact f, int64_t *out);   // 0 where the device has no such thing

// ---- manifest_*.c: the tables of a program ---------------------------------------------------------------
typedef enum { RT_FREE, RT_FIXED, RT_COUNTED } rt_space_kind;   // FIXED: const and expr
typedef struct {
    const char *name;
    rt_space_kind kind;
    rt_expr size;        // FIXED
    uint32_t prepared;   // COUNTED
} rt_space;

enum { RT_SORTED = 1, RT_UNIQUE = 2, RT_PARTIAL = 4, RT_PREFIX = 8, RT_STRIDED = 16, RT_PACKED = 32, RT_SAVED = 64, RT_GIVEN = 128 };
typedef struct {
    const char *name;
    gnn_role role;
    gnn_dtype dtype;
    bool is_index;
    uint32_t facts, rank;
    uint32_t *axes;
    int32_t into;        // -1: none
    size_t align;        // bytes, at least the element's
    int32_t sorted_by, inplace;
} rt_param;

typedef struct {
    const char *text;
    rt_expr holds;
} rt_require;

enum { RT_MAX_MAPS = 16 };   // of a builder
#define RT_BUILDERS(X) /* X(name, text, least and most maps it takes) */                                    \
    X(OFFSETS, "offsets", 1, 1) X(ORDER, "order", 1, 1) X(COMPOSE, "compose", 2, 2)                         \
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
typedef enum {
#define X(name, text, least, most) RT_##name,
    RT_BUILDERS(X)
#undef X
    RT_BUILDER_COUNT
} rt_builder;
typedef struct {
    bool prepared;
    uint32_t index;
} rt_map_ref;
typedef struct {
    const char *name;
    rt_builder builder;
    uint32_t nargs;
    rt_map_ref *args;
    int64_t extent;          // of tiles, parts, windows; the least degree; else 0
    int64_t slots;           // of a block of windows, where that is said; else 0
    uint32_t domain, into;   // spaces
} rt_prepared;
static inline bool rt_counts(rt_builder b) {   // the space it is into
    return b == RT_CLASSES || b == RT_TILES;
}
static inline bool rt_orders(rt_builder b) {   // a permutation
    return b == RT_ORDER || b == RT_ORDER_DESC;
}
static inline bool rt_maps(rt_builder b) {   // it may be an argument
    return b == RT_COMPOSE || b == RT_CLASSES || b == RT_DEGREES || b == RT_DEGREES_FROM ||
           b == RT_WINDOW_SLOTS || b == RT_WINDOW_PLACES || rt_orders(b);
}
static inline bool rt_parts(rt_builder b) {   // of rows, of which a second map is the order
    return b == RT_PART_ROWS || b == RT_PART_BEGINS || b == RT_PART_ENDS || b == RT_PART_HEADS;
}
static inline bool rt_row_ends(rt_builder b) { return b == RT_ROW_BEGINS || b == RT_ROW_ENDS; }   // of whole rows, in the order that the second map says
enum { RT_MOST_SLOTS = 32 };   // of a block: bits of a mask, of which the 32nd is the sign of an index of 32
static inline int64_t rt_block(int64_t extent, int64_t slots) {   // of windows of so many rows; 0: nothing is said
    return slots ? slots : extent < 16 ? extent : 16;
}
static inline bool rt_blocks(rt_builder b) {   // of slots
    return b == RT_WINDOW_SLOTS || b == RT_WINDOW_BEGINS || b == RT_WINDOW_ENTRIES || b == RT_WINDOW_MASKS;
}
static inline bool rt_windows(rt_builder b) {   // of so many rows
    return b == RT_WINDOW_PLACES || b == RT_WINDOW_STARTS || rt_blocks(b);
}
static inline bool rt_tiles(rt_builder b) {   // it has an extent
    return b == RT_TILES || b == RT_TILE_BEGINS || b == RT_TILE_VALUES || rt_parts(b) || rt_windows(b) ||
           b == RT_DEGREES_FROM;
}

typedef struct {
    const char *name;
    size_t bytes;   // of an element
    rt_expr length;
} rt_temp;

typedef struct {
    const char *name;
    uint32_t block, shared, nparams;
    gnn_host_fn host;
    rt_cuda_function cuda;
    uint32_t dynamic;   // shared bytes a launch asks for
    bool unfit;         // the device has fewer
} rt_kernel;

#define RT_ARGS(X)                                                                                          \
    X(DATA, "data") X(STRIDE, "stride") X(VALUE, "value") X(SIZE, "size") X(PREPARED, "prepared")           \
    X(TEMP, "temp") X(MAGIC, "magic") X(SHIFT, "shift") X(NUMBER, "number")                      \
    X(STEP, "step")
typedef enum {
#define X(name, text) RT_ARG_##name,
    RT_ARGS(X)
#undef X
    RT_ARG_KINDS
} rt_arg_kind;
typedef struct {
    rt_arg_kind kind;
    uint32_t index, axis;
    rt_expr number;   // NUMBER
} rt_arg;
enum { RT_MAX_ARGS = 512, RT_MAX_LOOPS = 16, RT_MAX_ROWS = 2048 };   // of a launch; nested; of a table

typedef enum { RT_LAUNCH, RT_LOOP, RT_END } rt_step_kind;
typedef struct {
    rt_step_kind kind;
    rt_expr count;     // LAUNCH: blocks; LOOP: rounds
    uint32_t kernel;   // LAUNCH
    bool early;        // LAUNCH: it may start while the launch before runs
    bool waits_first;  // LAUNCH, early: before that has ended it touches nothing that a launch writes
    bool waits_to_write;   // likewise: nor writes temps that no launch before touches
    uint32_t match;    // LOOP: its END; END: its LOOP
    uint32_t nargs;
    rt_arg *args;
} rt_step;

typedef enum { RT_GUARD_HOLDS, RT_GUARD_ALIGNED, RT_GUARD_STRIDE, RT_GUARD_PITCH, RT_GUARD_REACH } rt_guard_kind;
typedef struct {
    rt_guard_kind kind;
    bool pays;               // HOLDS: of what is fast alone
    const char *text;        // HOLDS
    rt_expr holds;
    uint32_t param, axis;    // the others
    int64_t value;           // bytes; a multiple; a bound
} rt_guard;
typedef struct {
    const char *name;
    uint32_t nguards, nsteps;
    rt_guard *guards;
    rt_step *steps;
} rt_version;

struct gnn_program {
    gnn_context *c;
    rt_heap heap;
    const struct rt_json *json;   // of the manifest, which has the names
    const char *name, *target;
    uint32_t index_bits;
    bool deterministic;
    bool saved;     // its struct of arguments ends in that buffer
    uint32_t nspaces, nparams, nrequires, nprepared, ntemps, nkernels, nversions;
    rt_space *spaces;
    rt_param *params;
    rt_require *requires;
    rt_prepared *prepared;
    rt_temp *temps;
    rt_kernel *kernels;
    rt_version *versions;
    rt_cuda_module module;
    const gnn_artefact *artefact;   // of linked ops
};
gnn_status rt_manifest_read(gnn_program *p, const char *text, size_t length);
void rt_manifest_free(gnn_program *p);

// ---- prepare.c: arrays of indices and what is built from them --------------------------------------------
typedef struct {
    void *data;
    int64_t count;
    bool wide;   // 64 bits
} rt_ints;
static inline int64_t rt_get(const rt_ints *a, int64_t i) {
    return a->wide ? ((const int64_t *)a->data)[i] : ((const int32_t *)a->data)[i];
}
static inline void rt_set(const rt_ints *a, int64_t i, int64_t value) {
    if (a->wide)
        ((int64_t *)a->data)[i] = value;
    else
        ((int32_t *)a->data)[i] = (int32_t)value;
}
gnn_status rt_ints_new(gnn_context *c, int64_t count, bool wide, rt_ints *out);

typedef struct {
    rt_ints values;
    int64_t codomain;
} rt_map_view;
gnn_status rt_count_offsets(gnn_context *c, int64_t codomain, int64_t *out);   // how many there are
// Each allocates *out. Values are none or below the codomain.
gnn_status rt_build_offsets(gnn_context *c, const rt_map_view *m, bool wide, rt_ints *out);
gnn_status rt_build_order(gnn_context *c, const rt_map_view *m, bool wide, rt_ints *out);
gnn_status rt_build_order_desc(gnn_context *c, const rt_map_view *m, bool wide, rt_ints *out);
gnn_status rt_build_degrees(gnn_context *c, const rt_map_view *m, bool wide, rt_ints *out);
gnn_status rt_build_tiles(gnn_context *c, const rt_map_view *m, int64_t extent, bool wide, rt_ints *out,
                          int64_t *tiles);
gnn_status rt_build_tile_begins(gnn_context *c, const rt_map_view *m, int64_t extent, bool wide, rt_ints *out);
gnn_status rt_build_tile_values(gnn_context *c, const rt_map_view *m, int64_t extent, bool wide, rt_ints *out);
// Parts of rows (parts.c); order: of the rows, or NULL.
gnn_status rt_build_parts(gnn_context *c, rt_builder what, const rt_map_view *m, const rt_map_view *order, int64_t extent, bool wide, rt_ints *out);
// Places of rows in windows (window_places.c), of which there are rt_window_limit; where each window begins, as rows.
int64_t rt_window_limit(int64_t rows, int64_t extent);
gnn_status rt_place_rows(gnn_context *c, const rt_ints *least, const rt_ints *most, int64_t extent, bool wide, rt_ints *out,
                         int64_t *places);
gnn_status rt_build_window_places(gnn_context *c, const rt_map_view *m, const rt_map_view *s, int64_t extent, bool wide,
                                  rt_ints *out, int64_t *places);
gnn_status rt_build_window_starts(gnn_context *c, const rt_map_view *places, int64_t extent, bool wide, rt_ints *out);
// Windows of rows (windows.c); slots: as rt_build_window_slots gives them.
gnn_status rt_build_window_slots(gnn_context *c, const rt_map_view *m, const rt_map_view *s, int64_t extent, int64_t block, bool wide,
                                 rt_ints *out, int64_t *count);
gnn_status rt_build_window_begins(gnn_context *c, const rt_map_view *m, const rt_map_view *slots, int64_t extent, int64_t block, bool wide,
                                  rt_ints *out);
gnn_status rt_build_window_columns(gnn_context *c, const rt_map_view *s, const rt_map_view *slots, bool wide, rt_ints *out);
gnn_status rt_count_window_rows(gnn_context *c, int64_t slots, int64_t extent, int64_t block, int64_t *out);   // of all blocks
gnn_status rt_build_window_masks(gnn_context *c, const rt_map_view *m, const rt_map_view *slots, int64_t extent, int64_t block, bool wide,
                                 rt_ints *out);
gnn_status rt_build_window_entries(gnn_context *c, const rt_map_view *m, const rt_map_view *slots, int64_t extent, int64_t block, bool wide,
                                   rt_ints *out);
gnn_status rt_count_cells(gnn_context *c, int64_t n, int64_t extent, int64_t *out);   // so many times so many, in windows
int64_t rt_density(int64_t entries, int64_t slots, int64_t extent);                     // of 1000 cells
gnn_status rt_build_compose(gnn_context *c, const rt_map_view *m, const rt_map_view *n, bool wide,
                            rt_ints *out);
gnn_status rt_build_classes(gnn_context *c, const rt_map_view *maps, uint32_t n, bool wide, rt_ints *out,
                            int64_t *classes);
gnn_status rt_build_expanded(gnn_context *c, const rt_ints *offsets, int64_t domain, bool wide, rt_ints *out);

// ---- statistics.c ----------------------------------------------------------------------------------------
// How many preimages of a map have each size that occurs, smallest first: at most about sqrt(2 E) rows.
typedef struct {
    int64_t codomain, entries;   // preimages, none of them left out; entries that aren't none
    int64_t rows;
    int64_t *sizes, *counts;     // one allocation, sizes'; NULL where there are no preimages
} rt_preimages;
gnn_status rt_measure(gnn_context *c, const rt_map_view *m, rt_preimages *out);
int64_t rt_statistic(const rt_preimages *m, const rt_token *t);   // all but IS_SORTED, SYMMETRIC, DENSITY
int64_t rt_sorted(const rt_map_view *m);
gnn_status rt_symmetric(gnn_context *c, const rt_map_view *src, const rt_map_view *dst, int64_t *out);

// ---- validate.c: what a map declares ---------------------------------------------------------------------
typedef struct {
    const char *name, *into;
    uint32_t facts, rank;
    int64_t axes[GNN_MAX_RANK];   // sizes, for positions in messages
    rt_map_view map;
} rt_checked;
gnn_status rt_check_map(gnn_context *c, const rt_checked *m);
gnn_status rt_check_sorted_by(gnn_context *c, const rt_checked *m, const char *by_name,
                              const rt_map_view *by);
gnn_status rt_check_offsets(gnn_context *c, const rt_checked *m, const rt_ints *offsets);         // alone
// Beside the index.
gnn_status rt_check_agreement(gnn_context *c, const rt_checked *m, const rt_ints *offsets);
// What each of them tells: entry e is v.
gnn_status rt_tell_outside(gnn_context *c, const rt_checked *m, int64_t e, int64_t v);
gnn_status rt_tell_unsorted(gnn_context *c, const rt_checked *m, int64_t e, int64_t v, int64_t before, const char *by);
gnn_status rt_tell_repeated(gnn_context *c, const rt_checked *m, int64_t e, int64_t v, int64_t earlier);
gnn_status rt_tell_falling(gnn_context *c, const rt_checked *m, int64_t v, int64_t at, int64_t before);
gnn_status rt_tell_last(gnn_context *c, const rt_checked *m, int64_t v, int64_t at);
gnn_status rt_tell_disagreement(gnn_context *c, const rt_checked *m, int64_t v, int64_t said, int64_t counted);
gnn_status rt_tell_unfit(gnn_context *c, const char *name, int64_t e, int64_t v);   // in 32 bits

// ---- structure.c: an array of a plan, shared by those who want the same ----------------------------------
typedef struct rt_structure rt_structure;
struct rt_structure {
    gnn_context *c;
    uint32_t owners;
    rt_structure *next;     // in a cache
    uint32_t nkey;
    int64_t *key;           // what it is of: recipe and maps
    rt_ints host;           // data NULL: not brought to the host
    bool owns_host, owns_device;
    const void *device;     // what kernels get; on the host, host.data
    int64_t codomain;       // where it counts a space: how many
    uint32_t checked;       // facts found to hold, as bits, and RT_CHECKED
    bool measured;
    rt_preimages preimages;   // measured
};
enum { RT_CHECKED = 1 << 30 };
// One owner.
gnn_status rt_structure_new(gnn_context *c, const int64_t *key, uint32_t nkey, rt_structure **out);
void rt_structure_drop(rt_structure *s);
rt_structure *rt_cache_find(gnn_cache *k, const int64_t *key, uint32_t nkey);   // adds an owner; NULL: none
void rt_cache_add(gnn_cache *k, rt_structure *s);                              // k may be NULL
gnn_status rt_structure_upload(rt_structure *s, gnn_stream stream);             // from its host array
// Where work on all of them is done: on the device where one lies there alone (the others are uploaded), else on the host.
gnn_status rt_structures_meet(rt_structure *const *s, uint32_t n, gnn_stream stream, bool *on_device);
rt_map_view rt_structure_view(const rt_structure *s, bool on_device);
// Waits.
gnn_status rt_fetch(gnn_context *c, const void *device, size_t bytes, void *host, gnn_stream stream);

// ---- arguments.c: the struct of a linked op's arguments --------------------------------------------------
typedef struct {
    int64_t *sizes;        // by space; -1: not told
    gnn_map *maps;         // by parameter
    gnn_tensor *tensors;   // by parameter
    gnn_arg *args;         // by parameter
    void *saved;
} rt_arguments;
gnn_status rt_arguments_new(rt_heap *h, const gnn_program *p, rt_arguments **out);
void rt_arguments_read(const gnn_program *p, const void *from, rt_arguments *to);

// ---- plan_*.c --------------------------------------------------------------------------------------------
typedef struct {   // a slot that each launch fills: DATA, STRIDE, VALUE, TEMP, STEP
    rt_arg_kind kind;
    uint32_t slot, index, axis;
    size_t offset;   // TEMP: in the workspace
} rt_patch;
typedef struct {   // a step with all that doesn't change between launches in place
    rt_step_kind kind;
    bool early;
    uint32_t match;           // LOOP, END
    int64_t count;            // blocks, rounds; END: of its loop
    const rt_kernel *kernel;
    uint64_t *slots;
    void **params;            // where each slot lies
    uint32_t npatches;
    rt_patch *patches;
} rt_ready_step;
typedef struct {   // a version that launches may take
    const rt_version *version;
    bool guarded;             // some guard waits for the arguments
    size_t workspace;         // bytes that its launches use
    rt_ready_step *steps;
} rt_ready;
struct gnn_plan {
    gnn_context *c;
    gnn_program *p;
    rt_heap heap;
    uint32_t flags;
    gnn_stream stream;      // while it is made
    gnn_cache *cache;       // while it is made
    int64_t *sizes;         // of spaces
    uint64_t *magic;        // what divides by each size: MANIFEST.md
    uint64_t *shift;
    bool *known;
    const char **origin;    // the map or tensor that told the size; NULL: the caller or a formula
    gnn_map *given;         // by parameter
    rt_structure **maps;    // by parameter; prefix maps: NULL until somebody reads them
    rt_structure **prepared;
    bool *wants_space, *wants_prepared;   // what is asked for so far
    rt_ready *ready;        // in the order of the program; the last is not guarded unless the caller chose it
    uint32_t nready;
    size_t workspace;       // bytes, of the version that needs most
    size_t *extents;        // by parameter: bytes of its tensor, while a launch is checked
    rt_arguments *arguments;   // of linked ops: room for a launch's
    bool keeps;                // of linked ops: made with GNN_SAVED
};
// Binds maps; all sizes but counted ones.
gnn_status rt_plan_sizes(gnn_plan *plan, const gnn_plan_options *o);
gnn_status rt_plan_fixed_sizes(gnn_plan *plan);   // those that follow from known ones
gnn_status rt_plan_eval(gnn_plan *plan, const rt_expr *e, int64_t *out);
// ": F = 12, max(dst) = 40", for a condition that doesn't hold.
void rt_plan_tell(gnn_plan *plan, const rt_expr *e, char *out, size_t size);
// Product of the axes; false: overflow.
bool rt_plan_domain(const gnn_plan *plan, uint32_t param, int64_t *out);
size_t rt_saved_bytes(const gnn_plan *plan, uint32_t param);   // of `saved` that the parameter has; 0: it is not there
gnn_status rt_plan_maps(gnn_plan *plan);   // checked, in the program's index width
gnn_status rt_plan_map(gnn_plan *plan, uint32_t param, rt_structure **out);   // prefix maps are written out
gnn_status rt_plan_requires(gnn_plan *plan);
void rt_plan_want(gnn_plan *plan, const rt_expr *e);   // the sizes it names
void rt_plan_close(gnn_plan *plan);                    // wants what the wanted takes
gnn_status rt_plan_prepare(gnn_plan *plan);            // builds what is wanted, and what that takes
// The slots of windows of `extent` rows, of two parameters; the caller owns it.
gnn_status rt_plan_slots(gnn_plan *plan, uint32_t rows, uint32_t columns, int64_t extent, rt_structure **out);
gnn_status rt_plan_versions(gnn_plan *plan, const char *name);   // those that launches may take; NULL: any
// From the start of the workspace, per temp of the version; *top: the bytes it has.
gnn_status rt_place_temps(gnn_plan *plan, const rt_version *v, int64_t *offsets, int64_t *top);
gnn_status rt_plan_steps(gnn_plan *plan);                        // of those: workspace, sizes of launches, slots
// The version a launch takes; NULL: the one the caller chose cannot run, with the error kept.
const rt_ready *rt_plan_choose(const gnn_plan *plan, const gnn_arg *args);

// ---- simulate.c ------------------------------------------------------------------------------------------
// A launch of a simulated GPU; args are those of the step, whose slots are filled.
gnn_status rt_simulate(gnn_plan *plan, const rt_step *step, const rt_ready_step *ready, const gnn_arg *args, bool early);

// ---- check.c: whether arguments fit ----------------------------------------------------------------------
gnn_status rt_check_shape(const gnn_plan *plan, uint32_t param, const gnn_tensor *t);
gnn_status rt_check_count(const gnn_plan *plan, const gnn_arg *args, size_t nargs);
gnn_status rt_check_args(const gnn_plan *plan, const gnn_arg *args);
// Of arguments that were checked: whether they lie apart from the workspace.
gnn_status rt_check_outside(const gnn_plan *plan, const gnn_arg *args, const void *workspace, size_t bytes);
static inline bool rt_is_tensor(const rt_param *q) {
    return q->role == GNN_PARAM_TENSOR || q->role == GNN_PARAM_RESULT;
}
// overlap.c
bool rt_strides_overlap(const gnn_tensor *t);                    // some element lies where another does
bool rt_tensors_overlap(const gnn_tensor *a, const gnn_tensor *b);
bool rt_tensor_hits(const gnn_tensor *t, const void *memory, size_t bytes);
// From data to the last element's end; false: overflow.
bool rt_tensor_extent(const gnn_tensor *t, size_t *bytes);
int64_t rt_tensor_stride(const gnn_tensor *t, uint32_t axis);

// ---- arithmetic ------------------------------------------------------------------------------------------
static inline bool rt_add(int64_t a, int64_t b, int64_t *out) {
    return !__builtin_add_overflow(a, b, out);
}
static inline bool rt_mul(int64_t a, int64_t b, int64_t *out) {
    return !__builtin_mul_overflow(a, b, out);
}

#endif
