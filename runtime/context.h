// The context: errors and memory of the host, threads, the driver.
#ifndef GNNRT_CONTEXT_H
#define GNNRT_CONTEXT_H

#include "cuda_api.h"

#include <stdarg.h>

#define RT_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define RT_COUNT(array) (sizeof(array) / sizeof *(array))

// ---- context.c: errors --------------------------------------------------------------------------
// Opens each call of gnnrt.h that may fail: the error that is kept is the first of the last such
// call. `given`: what it must be given is; false: it is not, which is told, or there is no context.
bool rt_begin(gnn_context *c, const char *call, bool given);
#define RT_OF(x) ((x) ? (x)->c : NULL)   // the context of a handle
// Keeps the text where it is the call's first error, and returns s: `return rt_fail(c, GNN_IO, "%s:
// %s", path, why);`
gnn_status rt_fail(gnn_context *c, gnn_status s, const char *format, ...) RT_PRINTF(3, 4);

// ---- context.c: host memory ---------------------------------------------------------------------
// NULL is out of memory, with the error kept. Zero bytes give a pointer that may be freed. Not
// zeroed.
void *rt_alloc(gnn_context *c, size_t bytes);
void *rt_alloc_zeroed(gnn_context *c, size_t bytes);
// count * element overflow-checked
void *rt_alloc_array(gnn_context *c, int64_t count, size_t element);
// on failure old stays
void *rt_resize(gnn_context *c, void *old, size_t old_bytes, size_t bytes);
void rt_free(gnn_context *c, void *memory);   // NULL is fine

// Memory that is freed as a whole, zeroed.
typedef struct rt_heap_node rt_heap_node;
typedef struct {
    gnn_context *c;
    rt_heap_node *last;
} rt_heap;
void *rt_heap_alloc(rt_heap *h, size_t count, size_t element);   // NULL: out of memory, error kept
void rt_heap_free(rt_heap *h);

// ---- threads.c ----------------------------------------------------------------------------------
typedef struct rt_pool rt_pool;
// nothing to do with a hook, one thread or a running pool
gnn_status rt_pool_start(gnn_context *c);
void rt_pool_stop(gnn_context *c);
void rt_parallel(gnn_context *c, uint32_t n, void (*body)(void *data, uint32_t i), void *data);
uint32_t rt_cores(void);

struct gnn_context {
    int device;    // an ordinal, or GNN_HOST
    int process;   // that made it
    gnn_allocator memory;
    struct {
        gnn_parallel_for run;   // NULL: the pool
        void *user;
    } parallel;
    const gnn_simulator *simulator;
    uint32_t threads;
    rt_pool *pool;
    struct {   // gnn_graph_watch
        void (*tell)(void *user, double part);
        void *user;
    } watch;
    gnn_status status;
    bool told;   // an error of the call at hand, by status and error
    char error[512];
    void *library;   // of the driver
    rt_cuda_api cuda;
    rt_cuda_context cuda_context;
    int cuda_device;
    bool retained;   // the primary context, to be released
    bool launches_early;
    gnn_device_info info;   // of a CUDA device, once asked for; sms 0: not yet
    // of indices of 32 and of 64 bits; NULL: not asked for so far
    struct rt_gpu_kernels *gpu_kernels[2];
    struct rt_gpu_memory *gpu_memory;   // NULL: nothing was taken so far
};
static inline bool rt_on_cuda(const gnn_context *c) { return c->device != GNN_HOST; }

bool rt_forked(
    // this is a child of the process that made it, which has nothing of the driver
    const gnn_context *c);

// ---- cuda_api.c ---------------------------------------------------------------------------------
gnn_status rt_cuda_open(gnn_context *c);   // driver, device, context
void rt_cuda_close(gnn_context *c);
enum { RT_CUDA_OUT_OF_MEMORY = 2 };   // of CUresult
gnn_status rt_cuda_fail(gnn_context *c, int error, const char *call);
// A launch that may start while the one before it in the stream runs.
gnn_status rt_cuda_launch_early(gnn_context *c, rt_cuda_function f, rt_cuda_launch *launch,
                                void **params);
// no fault but in a forked child of a context of CUDA
gnn_status rt_cuda_own(gnn_context *c);
// makes our CUDA context current where it isn't
gnn_status rt_enter(gnn_context *c, bool *pushed);
bool rt_enter_to_free(gnn_context *c,
                      // likewise; false: there is nothing to be freed, or no way to
                      bool *pushed);
gnn_status rt_enter_to_launch(
    gnn_context *c,
    // likewise, where a call to ask who we are would cost; a driver refuses children itself
    bool *pushed);
void rt_leave(gnn_context *c, bool pushed);
// One driver call inside our context: CU_CALL(c, MemFree, (address)).
#define CU_CALL(c, name, args) rt_cuda_result((c), (c)->cuda.name args, #name)
gnn_status rt_cuda_result(gnn_context *c, int error, const char *call);
// Inside our context; whose code it is, and what for, stand in the message.
gnn_status rt_cuda_load(gnn_context *c, const char *whose, const char *target, const void *image,
                        rt_cuda_module *out);
void rt_gpu_unload(gnn_context *c, bool wide);   // gpu_kernels.c

// ---- gpu_memory.c: device memory of plans, kept for the next ones -------------------------------
// For work on a stream. Zero bytes are legal and give NULL.
gnn_status rt_gpu_memory_take(gnn_context *c, size_t bytes, gnn_stream stream, void **out);
// stream: all that was launched and may touch it; NULL: launches of any may.
void rt_gpu_memory_give(gnn_context *c, const void *memory, const gnn_stream *stream);
// What was launched on a stream is done, or on all.
void rt_gpu_memory_quiet(gnn_context *c, gnn_stream stream, bool all);
// So much is kept at most; 0: each array has memory of its own, whose ends what plays a GPU knows.
gnn_status rt_gpu_memory_keep(gnn_context *c, size_t most);
void rt_gpu_memory_close(gnn_context *c);

// ---- arithmetic ---------------------------------------------------------------------------------
static inline bool rt_add(int64_t a, int64_t b, int64_t *out) {
    return !__builtin_add_overflow(a, b, out);
}
static inline bool rt_mul(int64_t a, int64_t b, int64_t *out) {
    return !__builtin_mul_overflow(a, b, out);
}

#endif
