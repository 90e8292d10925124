// Memory of one run: tensors laid out as asked for, near and far, between guards.
#ifndef GNNC_RUN_MEMORY_H
#define GNNC_RUN_MEMORY_H

#include "run.h"

// ---- run_memory.c -------------------------------------------------------------------------------
// A tensor on the device between guards; what does not belong to its elements holds a poison.
struct run_buffer {
    bool used;
    gnn_dtype dtype;
    uint32_t rank;
    int64_t shape[8], strides[8];   // in elements, of the image
    // of a far one: the first stride of the memory; 0: as in the image
    int64_t apart;
    size_t mapped;         // bytes, of a far one
    size_t bytes, first;   // of the whole; byte of element 0
    size_t off;            // of them, beyond what the parameter's alignment asks for
    uint8_t *image;        // what it holds, on the host
    void *memory;          // on the device
};
// The parameter whose memory --inplace gives a result, or TENSOR_NO_VAL.
tensor_val run_overwritten(const run_op *o, tensor_val result);
bool run_is_overwritten(const run_op *o, tensor_val parameter);
run_layout run_layout_of(const run_op *o, tensor_val v);
bool run_buffer_new(run_op *o, tensor_val v, run_buffer *out);
void run_buffer_poison(run_buffer *x, uint8_t byte);              // the image
void run_buffer_put(run_buffer *x, const tensor_array *values);   // into the image
void run_buffer_get(const run_buffer *x, tensor_array *values);   // from the image
bool run_buffer_upload(run_op *o, run_buffer *x);
bool run_buffer_download(run_op *o, run_buffer *x);
// Whether the image is as poisoned but for these elements.
bool run_buffer_intact(const run_buffer *x, const tensor_array *elements, uint8_t byte);
gnn_tensor run_buffer_tensor(const run_buffer *x, bool has_strides);
// packed
const void *run_buffer_elements(run_op *o, const run_buffer *x, const tensor_array *values,
                                size_t *bytes);
gnn_dtype run_dtype(ir_dtype t, uint32_t index_bits);

// ---- run_far.c ----------------------------------------------------------------------------------
bool run_is_far(run_layout l);
bool run_check_far(run_session *r);                      // false: a usage fault
void run_choose_far(run_layout layout, run_buffer *x);   // of packed strides
bool run_map_far(run_op *o, run_buffer *x, size_t element);
void run_unmap_far(run_buffer *x);
bool run_copy_far(run_op *o, const run_buffer *x, bool in);   // between image and memory

#endif
