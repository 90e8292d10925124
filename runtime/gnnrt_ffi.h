// A plan as a function of the TVM FFI, which calls it with tensors of any package that has DLPack.
// That library is not linked: who makes the function hands over what is needed of it.
//
//     gnn_ffi *f;
//     gnn_ffi_new(plan, &from_tvm_ffi, &f);
//     TVMFFIFunctionCreate(f, gnn_ffi_call, gnn_ffi_free, &function);
//
// Arguments are the plan's tensors and numbers in its order, then its results, which are written,
// and what it saves for a gradient, where it does.
// Nothing is allocated in a call. Calls on several streams at once share the workspace: they want
// a function each.
#ifndef GNNRT_FFI_H
#define GNNRT_FFI_H

#include "gnnrt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gnn_ffi gnn_ffi;
typedef struct {
    void (*raise)(const char *kind, const char *message);   // TVMFFIErrorSetRaisedFromCStr
    void *(*stream)(int32_t device_type, int32_t device);   // TVMFFIEnvGetStream
} gnn_ffi_api;

// The plan has to outlive it. NO_MEMORY: *out is NULL.
gnn_status gnn_ffi_new(gnn_plan *plan, const gnn_ffi_api *api, gnn_ffi **out);
void gnn_ffi_free(void *f);   // a gnn_ffi; NULL is fine
// A TVMFFISafeCallType: 0, or -1 after `raise` was told ValueError or TypeError with the position
// of the argument, or RuntimeError with what gnn_launch says.
int gnn_ffi_call(void *f, const void *args, int32_t nargs, void *result);

#ifdef __cplusplus
}
#endif

#endif
