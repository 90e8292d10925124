// A plan: what is made ready for launches, and the arguments that they are given.
#ifndef GNNRT_LAUNCH_PLAN_H
#define GNNRT_LAUNCH_PLAN_H

#include "structure.h"
#include "tables.h"

// ---- arguments.c: the struct of a linked op's arguments -----------------------------------------
typedef struct {
    int64_t *sizes;        // by space; -1: not told
    gnn_map *maps;         // by parameter
    gnn_tensor *tensors;   // by parameter
    gnn_arg *args;         // by parameter
    void *saved;
} rt_arguments;
gnn_status rt_arguments_new(rt_heap *h, const gnn_program *p, rt_arguments **out);
void rt_arguments_read(const gnn_program *p, const void *from, rt_arguments *to);

// ---- plan_*.c -----------------------------------------------------------------------------------
typedef struct {   // a slot that each launch fills: DATA, STRIDE, VALUE, TEMP, STEP
    rt_arg_kind kind;
    uint32_t slot, index, axis;
    size_t offset;   // TEMP: in the workspace
} rt_patch;
typedef struct {   // a step with all that doesn't change between launches in place
    rt_step_kind kind;
    bool early;
    uint32_t match;   // LOOP, END
    int64_t count;    // blocks, rounds; END: of its loop
    const rt_kernel *kernel;
    uint64_t *slots;
    void **params;   // where each slot lies
    uint32_t npatches;
    rt_patch *patches;
} rt_ready_step;
typedef struct {   // a version that launches may take
    const rt_version *version;
    bool guarded;       // some guard waits for the arguments
    size_t workspace;   // bytes that its launches use
    rt_ready_step *steps;
} rt_ready;
typedef struct {   // while it is made
    gnn_stream stream;
    gnn_cache *cache;
    bool *wants_space, *wants_prepared;   // what is asked for so far
} rt_making;
struct gnn_plan {
    gnn_context *c;
    gnn_program *p;
    rt_heap heap;
    uint32_t flags;
    rt_making making;
    int64_t *sizes;    // of spaces
    uint64_t *magic;   // what divides by each size: MANIFEST.md
    uint64_t *shift;
    bool *known;
    const char **origin;   // the map or tensor that told the size; NULL: the caller or a formula
    gnn_map *given;        // by parameter
    rt_structure **maps;   // by parameter; prefix maps: NULL until somebody reads them
    rt_structure **prepared;
    // in the order they are tried; the last is not guarded unless the caller chose it
    rt_ready *ready;
    uint32_t nready;
    size_t workspace;          // bytes, of the version that needs most
    size_t *extents;           // by parameter: bytes of its tensor, while a launch is checked
    rt_arguments *arguments;   // of linked ops: room for a launch's
    bool keeps;                // of linked ops: made with GNN_SAVED
};
// Binds maps; all sizes but counted ones.
gnn_status rt_plan_sizes(gnn_plan *plan, const gnn_plan_options *o);
gnn_status rt_plan_fixed_sizes(gnn_plan *plan);   // those that follow from known ones
gnn_status rt_plan_eval(gnn_plan *plan, const rt_expr *e, int64_t *out);
gnn_status rt_plan_measure(gnn_plan *plan, rt_structure *m);   // its preimages, once
// ": F = 12, max(dst) = 40", for a condition that doesn't hold.
void rt_plan_tell(gnn_plan *plan, const rt_expr *e, char *out, size_t size);
// Product of the axes; false: overflow.
bool rt_plan_domain(const gnn_plan *plan, uint32_t param, int64_t *out);
size_t rt_saved_bytes(const gnn_plan *plan,
                      uint32_t param);     // of `saved` that the parameter has; 0: it is not there
gnn_status rt_plan_maps(gnn_plan *plan);   // checked, in the program's index width
// prefix maps are written out
gnn_status rt_plan_map(gnn_plan *plan, uint32_t param, rt_structure **out);
gnn_status rt_plan_requires(gnn_plan *plan);
void rt_plan_want(gnn_plan *plan, const rt_expr *e);   // the sizes it names
void rt_plan_close(gnn_plan *plan);                    // wants what the wanted takes
gnn_status rt_plan_prepare(gnn_plan *plan);            // builds what is wanted, and what that takes
// The slots of windows of `extent` rows, of two parameters; the caller owns it.
gnn_status rt_plan_slots(gnn_plan *plan, uint32_t rows, uint32_t columns, int64_t extent,
                         rt_structure **out);
// The offsets of a parameter of one axis; the caller owns it.
gnn_status rt_plan_offsets(gnn_plan *plan, uint32_t param, rt_structure **out);
// those that launches may take; NULL: any
gnn_status rt_plan_versions(gnn_plan *plan, const char *name);
// From the start of the workspace, per temp of the version; *top: the bytes it has.
gnn_status rt_place_temps(gnn_plan *plan, const rt_version *v, int64_t *offsets, int64_t *top);
gnn_status rt_plan_steps(gnn_plan *plan);   // of those: workspace, sizes of launches, slots
// The version a launch takes; NULL: the one the caller chose cannot run, with the error kept.
const rt_ready *rt_plan_choose(const gnn_plan *plan, const gnn_arg *args);

// ---- simulate.c ---------------------------------------------------------------------------------
// A launch of a simulated GPU; args are those of the step, whose slots are filled.
gnn_status rt_simulate(gnn_plan *plan, const rt_step *step, const rt_ready_step *ready,
                       const gnn_arg *args, bool early);

// ---- check.c: whether arguments fit -------------------------------------------------------------
gnn_status rt_check_shape(const gnn_plan *plan, uint32_t param, const gnn_tensor *t);
gnn_status rt_check_count(const gnn_plan *plan, const gnn_arg *args, size_t nargs);
gnn_status rt_check_args(const gnn_plan *plan, const gnn_arg *args);
// Of arguments that were checked: whether they lie apart from the workspace.
gnn_status rt_check_outside(const gnn_plan *plan, const gnn_arg *args, const void *workspace,
                            size_t bytes);
static inline bool rt_is_tensor(const rt_param *q) {
    return q->role == GNN_PARAM_TENSOR || q->role == GNN_PARAM_RESULT;
}
// overlap.c
bool rt_strides_overlap(const gnn_tensor *t);   // some element lies where another does
bool rt_tensors_overlap(const gnn_tensor *a, const gnn_tensor *b);
bool rt_tensor_hits(const gnn_tensor *t, const void *memory, size_t bytes);
// From data to the last element's end; false: overflow.
bool rt_tensor_extent(const gnn_tensor *t, size_t *bytes);
int64_t rt_tensor_stride(const gnn_tensor *t, uint32_t axis);

#endif
