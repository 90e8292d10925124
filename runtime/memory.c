// Memory, streams and time of the context's device.
#define _POSIX_C_SOURCE 200809L
#include "prepare.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

// Runs one driver call in our context.
#define IN_CONTEXT(c, name, args)                                                                  \
    bool pushed;                                                                                   \
    gnn_status s = rt_enter((c), &pushed);                                                         \
    if (!s) s = CU_CALL((c), name, args);                                                          \
    rt_leave((c), pushed)

gnn_status gnn_alloc(gnn_context *c, size_t bytes, void **out) {
    if (!rt_begin(c, __func__, out)) return GNN_BAD_ARGUMENT;
    *out = NULL;
    if (!bytes) return GNN_OK;
    if (!rt_on_cuda(c)) {
        *out = c->memory.alloc(c->memory.user, bytes, 256);
        return *out ? GNN_OK
                    : rt_fail(c, GNN_NO_MEMORY, "out of memory: %zu bytes asked for", bytes);
    }
    uint64_t address = 0;
    bool pushed;
    gnn_status s = rt_enter(c, &pushed);
    int error = s ? 0 : c->cuda.MemAlloc(&address, bytes);
    if (error == RT_CUDA_OUT_OF_MEMORY)
        s = rt_fail(c, GNN_NO_MEMORY, "out of device memory: %zu bytes asked for", bytes);
    else if (error) s = rt_cuda_fail(c, error, "MemAlloc");
    rt_leave(c, pushed);
    *out = (void *)(uintptr_t)address;
    return s;
}

void gnn_free(gnn_context *c, void *memory) {
    if (!c || !memory) return;
    if (!rt_on_cuda(c)) {
        rt_free(c, memory);
        return;
    }
    bool pushed;
    // the context keeps what went wrong
    if (rt_enter_to_free(c, &pushed)) (void)CU_CALL(c, MemFree, ((uint64_t)(uintptr_t)memory));
    rt_leave(c, pushed);
}

gnn_status gnn_copy_in(gnn_context *c, void *device, const void *host, size_t bytes,
                       gnn_stream stream) {
    if (!rt_begin(c, __func__, !(bytes && (!device || !host)))) return GNN_BAD_ARGUMENT;
    if (!bytes) return GNN_OK;
    if (!rt_on_cuda(c)) {
        memmove(device, host, bytes);
        return GNN_OK;
    }
    IN_CONTEXT(c, CopyIn, ((uint64_t)(uintptr_t)device, host, bytes, stream));
    return s;
}

gnn_status gnn_copy_out(gnn_context *c, void *host, const void *device, size_t bytes,
                        gnn_stream stream) {
    if (!rt_begin(c, __func__, !(bytes && (!device || !host)))) return GNN_BAD_ARGUMENT;
    if (!bytes) return GNN_OK;
    if (!rt_on_cuda(c)) {
        memmove(host, device, bytes);
        return GNN_OK;
    }
    IN_CONTEXT(c, CopyOut, (host, (uint64_t)(uintptr_t)device, bytes, stream));
    return s;
}

gnn_status gnn_fill(gnn_context *c, void *device, uint8_t byte, size_t bytes, gnn_stream stream) {
    if (!rt_begin(c, __func__, !(bytes && !device))) return GNN_BAD_ARGUMENT;
    if (!bytes) return GNN_OK;
    if (!rt_on_cuda(c)) {
        memset(device, byte, bytes);
        return GNN_OK;
    }
    IN_CONTEXT(c, Fill, ((uint64_t)(uintptr_t)device, byte, bytes, stream));
    return s;
}

gnn_status gnn_sync(gnn_context *c, gnn_stream stream) {
    if (!rt_begin(c, __func__, true)) return GNN_BAD_ARGUMENT;
    if (!rt_on_cuda(c)) return GNN_OK;
    IN_CONTEXT(c, StreamSynchronize, (stream));
    if (!s) rt_gpu_memory_quiet(c, stream, false);
    return s;
}

gnn_status gnn_stream_new(gnn_context *c, gnn_stream *out) {
    if (!rt_begin(c, __func__, out)) return GNN_BAD_ARGUMENT;
    *out = NULL;
    if (!rt_on_cuda(c)) return GNN_OK;
    enum { CU_STREAM_NON_BLOCKING = 1 };
    IN_CONTEXT(c, StreamCreate, (out, CU_STREAM_NON_BLOCKING));
    return s;
}

void gnn_stream_free(gnn_context *c, gnn_stream stream) {
    if (!c || !rt_on_cuda(c) || !stream) return;
    bool pushed;
    if (rt_enter_to_free(c, &pushed)) (void)CU_CALL(c, StreamDestroy, (stream));
    rt_leave(c, pushed);
}

// ---- Time ---------------------------------------------------------------------------------------
struct gnn_timer {
    gnn_context *c;
    rt_cuda_event events[2];   // start, stop
    struct timespec times[2];
    bool marked[2];
};

gnn_status gnn_timer_new(gnn_context *c, gnn_timer **out) {
    if (!rt_begin(c, __func__, out)) return GNN_BAD_ARGUMENT;
    *out = NULL;
    gnn_timer *t = rt_alloc_zeroed(c, sizeof *t);
    if (!t) return GNN_NO_MEMORY;
    t->c = c;
    bool pushed;
    gnn_status s = rt_enter(c, &pushed);
    for (int i = 0; i < 2 && !s && rt_on_cuda(c); i++)
        s = CU_CALL(c, EventCreate, (&t->events[i], 0));
    rt_leave(c, pushed);
    if (s) gnn_timer_free(t);
    else *out = t;
    return s;
}

static gnn_status mark(gnn_timer *t, int which, gnn_stream stream) {
    if (!rt_begin(RT_OF(t), which ? "gnn_timer_stop" : "gnn_timer_start", true))
        return GNN_BAD_ARGUMENT;
    t->marked[which] = true;
    if (!rt_on_cuda(t->c)) {
        clock_gettime(CLOCK_MONOTONIC, &t->times[which]);
        return GNN_OK;
    }
    IN_CONTEXT(t->c, EventRecord, (t->events[which], stream));
    return s;
}

gnn_status gnn_timer_start(gnn_timer *t, gnn_stream stream) { return mark(t, 0, stream); }

gnn_status gnn_timer_stop(gnn_timer *t, gnn_stream stream) { return mark(t, 1, stream); }

gnn_status gnn_timer_read(gnn_timer *t, double *milliseconds) {
    if (!rt_begin(RT_OF(t), __func__, milliseconds)) return GNN_BAD_ARGUMENT;
    *milliseconds = 0;
    if (!t->marked[0] || !t->marked[1])
        return rt_fail(t->c, GNN_BAD_ARGUMENT, "a timer is read that was not started and stopped");
    if (!rt_on_cuda(t->c)) {
        *milliseconds = (double)(t->times[1].tv_sec - t->times[0].tv_sec) * 1e3 +
                        (double)(t->times[1].tv_nsec - t->times[0].tv_nsec) * 1e-6;
        return GNN_OK;
    }
    float elapsed = 0;
    bool pushed;
    gnn_status s = rt_enter(t->c, &pushed);
    if (!s) s = CU_CALL(t->c, EventSynchronize, (t->events[1]));
    if (!s) s = CU_CALL(t->c, EventElapsed, (&elapsed, t->events[0], t->events[1]));
    rt_leave(t->c, pushed);
    *milliseconds = elapsed;
    return s;
}

void gnn_timer_free(gnn_timer *t) {
    if (!t) return;
    bool pushed;
    const bool entered = rt_enter_to_free(t->c, &pushed);
    for (int i = 0; i < 2 && entered; i++)
        if (t->events[i]) t->c->cuda.EventDestroy(t->events[i]);
    rt_leave(t->c, pushed);
    rt_free(t->c, t);
}
