// The CUDA driver: opened at run time, and the context of it that we work in.
#include "size_expr.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

gnn_status rt_cuda_fail(gnn_context *c, int error, const char *call) {
    const char *name = NULL, *text = NULL;
    c->cuda.GetErrorName(error, &name);
    c->cuda.GetErrorString(error, &text);
    return rt_fail(c, error == RT_CUDA_OUT_OF_MEMORY ? GNN_NO_MEMORY : GNN_CUDA,
                   "CUDA driver, %s: %s (%s)", call, name ? name : "unknown error",
                   text ? text : "no text");
}

gnn_status rt_cuda_result(gnn_context *c, int error, const char *call) {
    return error ? rt_cuda_fail(c, error, call) : GNN_OK;
}

static gnn_status load_symbols(gnn_context *c) {
    // ISO C has no conversion from an object pointer to a function's; POSIX promises that the bytes
    // are the same.
    void *found;
#define CU_IF(name, symbol, params)                                                                \
    found = dlsym(c->library, symbol);                                                             \
    memcpy(&c->cuda.name, &found, sizeof found);
#define CU(name, symbol, params)                                                                   \
    CU_IF(name, symbol, params)                                                                    \
    if (!found)                                                                                    \
        return rt_fail(c, GNN_NO_DRIVER, "libcuda.so.1 has no " symbol ": the driver is too old");
#include "cuda_api.def"
#undef CU
    return GNN_OK;
}

static gnn_status find_device(gnn_context *c) {
    int count = 0;
    gnn_status s = CU_CALL(c, DeviceGetCount, (&count));
    if (s) return s;
    if (c->device >= count)
        return rt_fail(c, GNN_NO_DEVICE, "there is no CUDA device %d: the driver shows %d",
                       c->device, count);
    return CU_CALL(c, DeviceGet, (&c->cuda_device, c->device));
}

static gnn_status find_context(gnn_context *c) {
    int device = -1;
    rt_cuda_context current = NULL;
    if (!c->cuda.CtxGetCurrent(&current) && current && !c->cuda.CtxGetDevice(&device) &&
        device == c->cuda_device) {
        c->cuda_context = current;
        return GNN_OK;
    }
    gnn_status s = CU_CALL(c, PrimaryRetain, (&c->cuda_context, c->cuda_device));
    c->retained = !s;
    return s;
}

// Drivers from CUDA 12.3 on also capture such launches into graphs.
static gnn_status find_early(gnn_context *c) {
    enum { SINCE = 12030 };
    int version = 0;
    gnn_status s = CU_CALL(c, DriverGetVersion, (&version));
    c->launches_early = !s && c->cuda.LaunchEx && version >= SINCE;
    return s;
}

gnn_status rt_cuda_launch_early(gnn_context *c, rt_cuda_function f, rt_cuda_launch *launch,
                                void **params) {
    rt_cuda_attribute early = {.id = RT_PROGRAMMATIC_STREAM_SERIALIZATION, .value = {1}};
    launch->attributes = &early;
    launch->nattributes = 1;
    return CU_CALL(c, LaunchEx, (launch, f, params, NULL));
}

gnn_status rt_cuda_open(gnn_context *c) {
    c->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!c->library)
        return rt_fail(c, GNN_NO_DRIVER, "the CUDA driver cannot be opened: %s", dlerror());
    gnn_status s = load_symbols(c);
    if (!s) s = CU_CALL(c, Init, (0));
    if (!s) s = find_device(c);
    if (!s) s = find_early(c);
    return s ? s : find_context(c);
}

void rt_cuda_close(gnn_context *c) {
    if (c->retained) c->cuda.PrimaryRelease(c->cuda_device);
    if (c->library) dlclose(c->library);
    c->retained = false;
    c->library = NULL;
}

gnn_status rt_cuda_own(gnn_context *c) {
    if (!rt_on_cuda(c) || !rt_forked(c)) return GNN_OK;
    return rt_fail(c, GNN_CUDA,
                   "CUDA does not work in a forked child of the process that made the context: "
                   "fork before contexts are made, or start a new program");
}

gnn_status rt_enter(gnn_context *c, bool *pushed) {
    *pushed = false;
    gnn_status s = rt_cuda_own(c);
    return s ? s : rt_enter_to_launch(c, pushed);
}

bool rt_enter_to_free(gnn_context *c, bool *pushed) {
    *pushed = false;
    return !(rt_on_cuda(c) && rt_forked(c)) && !rt_enter_to_launch(c, pushed);
}

gnn_status rt_enter_to_launch(gnn_context *c, bool *pushed) {
    *pushed = false;
    if (!rt_on_cuda(c)) return GNN_OK;
    if (!c->cuda_context) return rt_fail(c, GNN_BAD_ARGUMENT, "the context was not made");
    rt_cuda_context current = NULL;
    gnn_status s = CU_CALL(c, CtxGetCurrent, (&current));
    if (s || current == c->cuda_context) return s;
    s = CU_CALL(c, CtxPush, (c->cuda_context));
    *pushed = !s;
    return s;
}

void rt_leave(gnn_context *c, bool pushed) {
    rt_cuda_context ours;
    if (pushed) c->cuda.CtxPop(&ours);
}

gnn_status rt_cuda_load(gnn_context *c, const char *whose, const char *target, const void *image,
                        rt_cuda_module *out) {
    enum { JIT_ERROR_LOG = 5, JIT_ERROR_LOG_BYTES = 6, LOG = 400 };   // of CUjit_option
    char log[LOG] = "";
    int options[] = {JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES};
    void *values[] = {log, (void *)(uintptr_t)LOG};
    int error = c->cuda.ModuleLoad(out, image, 2, options, values);
    if (!error) return GNN_OK;
    *out = NULL;
    const char *name = NULL;
    c->cuda.GetErrorName(error, &name);
    log[LOG - 1] = 0;
    return rt_fail(c, GNN_BAD_CODE, "%.60s: the driver refuses the code for %.20s: %s%s%s", whose,
                   target, name ? name : "unknown error", *log ? ": " : "", log);
}
