// gnnc run: what its files share. An op is bound (bind.h), compiled, launched, compared with the evaluator,
// and reported.
#ifndef GNNC_RUN_H
#define GNNC_RUN_H

#include "bind.h"

typedef enum { LAYOUT_PACKED, LAYOUT_STRIDED, LAYOUT_MISALIGNED, LAYOUT_BROADCAST } run_layout;

// What all ops of a run share.
typedef struct {
    driver *d;
    run_graph graph;
    bind_options options;
    run_layout layout;
    bool check, inplace;
    int64_t repeat;
    cg_target target;
    gnn_context *context;   // of the target
    const char *out;        // folder for results; NULL: none
} run_session;

// What a row of the table says.
typedef struct {
    const char *name, *target, *type, *sizes;
    const char *verdict;   // "right", "WRONG", "refused", "ran", "skipped: …"
    bool ran, checked;
    int64_t compared, uncertain;
    double worst_ratio;   // error over bound
    double median_ms, fastest_ms;
} run_row;
typedef VEC(run_row) run_rows;

// One op while it runs. Memory is the arena's, device memory what run_op_free gives back.
typedef struct run_buffer run_buffer;
typedef struct {
    run_session *r;
    arena *arena;
    unit_op *op;
    binding *b;
    cg_jit *jit;
    gnn_program *program;
    gnn_plan *plan;
    run_buffer *buffers;   // per parameter; those of maps and scalars are empty
    gnn_tensor *tensors;
    gnn_arg *args;
    void *workspace;
    size_t workspace_bytes;
    tensor_array *results;   // per parameter: what the first launch stored, packed
} run_op;

// ---- run_memory.c ----------------------------------------------------------------------------------------
// A tensor on the device between guards; what does not belong to its elements holds a poison.
struct run_buffer {
    bool used;
    gnn_dtype dtype;
    uint32_t rank;
    int64_t shape[8], strides[8];   // in elements
    size_t bytes, first;            // of the whole; byte of element 0
    uint8_t *image;                 // what it holds, on the host
    void *memory;                   // on the device
};
// The parameter whose memory --inplace gives a result, or TENSOR_NO_VAL.
tensor_val run_overwritten(const run_op *o, tensor_val result);
bool run_is_overwritten(const run_op *o, tensor_val parameter);
bool run_buffer_new(run_op *o, tensor_val v, run_buffer *out);
void run_buffer_poison(run_buffer *x, uint8_t byte);              // the image
void run_buffer_put(run_buffer *x, const tensor_array *values);   // into the image
void run_buffer_get(const run_buffer *x, tensor_array *values);   // from the image
bool run_buffer_upload(run_op *o, run_buffer *x);
bool run_buffer_download(run_op *o, run_buffer *x);
// Whether the image is as poisoned but for these elements.
bool run_buffer_intact(const run_buffer *x, const tensor_array *elements, uint8_t byte);
gnn_tensor run_buffer_tensor(const run_buffer *x, bool has_strides);
gnn_dtype run_dtype(ir_dtype t, uint32_t index_bits);

// ---- run_launch.c ----------------------------------------------------------------------------------------
bool run_load(run_op *o);      // compiles and loads
bool run_prepare(run_op *o);   // plan, memory, arguments
bool run_launches(run_op *o, run_row *row);   // results, times; nothing but results may change
void run_op_free(run_op *o);
bool run_failed(run_op *o, gnn_status s);   // true where it is a fault, told by a diagnostic

// ---- run_fault.c -----------------------------------------------------------------------------------------
bool run_fault_skips(void);
bool run_fault_apply(run_op *o, bool again);   // again: after the second launch; false: could not

// ---- run_check.c, run_report.c ---------------------------------------------------------------------------
bool run_affordable(run_op *o);   // whether comparing is; false: a diagnostic tells why not
bool run_compare(run_op *o, run_row *row);   // with the evaluator; false: a diagnostic tells why not
void run_mismatch(run_op *o, const char *format, ...) SUP_PRINTF(2, 3);
bool run_write(run_op *o);   // results to .npy files
void run_print(const run_session *r, const run_rows *rows, FILE *out);
void run_print_default(const char *name, int64_t size);
const char *run_sizes(const binding *b);     // "E=10556 N=2708"
const char *run_type(const tensor_op *op);   // of the first tensor

#endif
