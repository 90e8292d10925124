// The tables of a program, as its manifest has them.
#ifndef GNNRT_TABLES_H
#define GNNRT_TABLES_H

#include "builders.h"
#include "size_expr.h"

typedef enum { RT_FREE, RT_FIXED, RT_COUNTED } rt_space_kind;   // FIXED: const and expr
typedef struct {
    const char *name;
    rt_space_kind kind;
    rt_expr size;        // FIXED
    uint32_t prepared;   // COUNTED
} rt_space;

enum {
    RT_SORTED = 1,
    RT_UNIQUE = 2,
    RT_PARTIAL = 4,
    RT_PREFIX = 8,
    RT_STRIDED = 16,
    RT_PACKED = 32,
    RT_SAVED = 64,
    RT_GIVEN = 128
};
typedef struct {
    const char *name;
    gnn_role role;
    gnn_dtype dtype;
    bool is_index;
    uint32_t facts, rank;
    uint32_t *axes;
    int32_t into;   // -1: none
    size_t align;   // bytes, at least the element's
    int32_t sorted_by, inplace;
    const char *adjoint_of;   // NULL: none
} rt_param;

typedef struct {
    const char *text;
    rt_expr holds;
} rt_require;

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

#define RT_ARGS(X)                                                                                 \
    X(DATA, "data")                                                                                \
    X(STRIDE, "stride")                                                                            \
    X(VALUE, "value")                                                                              \
    X(SIZE, "size")                                                                                \
    X(PREPARED, "prepared")                                                                        \
    X(TEMP, "temp")                                                                                \
    X(MAGIC, "magic")                                                                              \
    X(SHIFT, "shift")                                                                              \
    X(NUMBER, "number")                                                                            \
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
// of a launch; nested; of a table
enum { RT_MAX_ARGS = 512, RT_MAX_LOOPS = 16, RT_MAX_ROWS = 2048 };

typedef enum { RT_LAUNCH, RT_LOOP, RT_END } rt_step_kind;
typedef struct {
    rt_step_kind kind;
    rt_expr count;     // LAUNCH: blocks; LOOP: rounds
    uint32_t kernel;   // LAUNCH
    bool early;        // LAUNCH: it may start while the launch before runs
    // LAUNCH, early: before that has ended it touches nothing that a launch writes
    bool waits_first;
    bool waits_to_write;   // likewise: nor writes temps that no launch before touches
    uint32_t match;        // LOOP: its END; END: its LOOP
    uint32_t nargs;
    rt_arg *args;
} rt_step;

typedef enum {
    RT_GUARD_HOLDS,
    RT_GUARD_ALIGNED,
    RT_GUARD_STRIDE,
    RT_GUARD_PITCH,
    RT_GUARD_REACH
} rt_guard_kind;
typedef struct {
    rt_guard_kind kind;
    bool pays;          // HOLDS: of what is fast alone
    const char *text;   // HOLDS
    rt_expr holds;
    uint32_t param, axis;   // the others
    int64_t value;          // bytes; a multiple; a bound
} rt_guard;
typedef struct {
    const char *name;
    uint32_t of;   // the number of its schedule, where there is a choice
    uint32_t nguards, nsteps;
    rt_guard *guards;
    rt_step *steps;
} rt_version;

typedef struct {
    const char *text;   // NULL: there is no choice
    rt_expr of;         // the number of the schedule whose versions come first
    uint32_t nschedules;
} rt_choice;

// How its code was made, and for what.
typedef struct {
    const char *target;
    uint32_t index_bits;
    bool deterministic;
    bool saved;                     // its struct of arguments ends in that buffer
    const char *gradient_of;        // the name of an op; NULL: none
    const gnn_artefact *artefact;   // of linked ops
    rt_choice choice;               // among its versions
} rt_made;

struct gnn_program {
    gnn_context *c;
    rt_heap heap;
    const struct rt_json *json;   // of the manifest, which has the names
    const char *name;
    rt_made made;
    uint32_t nspaces, nparams, nrequired, nprepared, ntemps, nkernels, nversions;
    rt_space *spaces;
    rt_param *params;
    rt_require *required;
    rt_prepared *prepared;
    rt_temp *temps;
    rt_kernel *kernels;
    rt_version *versions;
    rt_cuda_module module;
};
gnn_status rt_manifest_read(gnn_program *p, const char *text, size_t length);
void rt_manifest_free(gnn_program *p);

#endif
