// The context: where it works, host memory through the caller's allocator, the error of the last
// call that failed.
#define _POSIX_C_SOURCE 200809L
#include "size_expr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *default_alloc(void *user, size_t bytes, size_t align) {
    (void)user;
    if (bytes > SIZE_MAX - align) return NULL;
    size_t rounded = (bytes + align - 1) / align * align;
    return aligned_alloc(align, rounded ? rounded : align);
}

static void default_release(void *user, void *memory) {
    (void)user;
    free(memory);
}

bool rt_begin(gnn_context *c, const char *call, bool given) {
    if (!c) return false;
    c->told = false;
    if (!given)
        rt_fail(c, GNN_BAD_ARGUMENT,
                "%s: an argument that it needs is NULL, or none of the program's", call);
    return given;
}

gnn_status rt_fail(gnn_context *c, gnn_status s, const char *format, ...) {
    if (c->told) return s;
    c->told = true;
    c->status = s;
    va_list args;
    va_start(args, format);
    vsnprintf(c->error, sizeof c->error, format, args);
    va_end(args);
    return s;
}

void *rt_alloc(gnn_context *c, size_t bytes) {
    void *memory = c->memory.alloc(c->memory.user, bytes ? bytes : 1, 64);
    if (!memory) rt_fail(c, GNN_NO_MEMORY, "out of memory: %zu bytes asked for", bytes);
    return memory;
}

void *rt_alloc_zeroed(gnn_context *c, size_t bytes) {
    void *memory = rt_alloc(c, bytes);
    return memory ? memset(memory, 0, bytes) : NULL;
}

void *rt_alloc_array(gnn_context *c, int64_t count, size_t element) {
    size_t bytes;
    if (count < 0 || __builtin_mul_overflow((size_t)count, element, &bytes)) {
        rt_fail(c, GNN_NO_MEMORY, "no memory holds %lld elements of %zu bytes", (long long)count,
                element);
        return NULL;
    }
    return rt_alloc(c, bytes);
}

void *rt_resize(gnn_context *c, void *old, size_t old_bytes, size_t bytes) {
    void *memory = rt_alloc(c, bytes);
    if (!memory) return NULL;
    if (old) memcpy(memory, old, old_bytes < bytes ? old_bytes : bytes);
    rt_free(c, old);
    return memory;
}

void rt_free(gnn_context *c, void *memory) {
    if (memory) c->memory.release(c->memory.user, memory);
}

struct rt_heap_node {
    _Alignas(64) rt_heap_node *before;
};

void *rt_heap_alloc(rt_heap *h, size_t count, size_t element) {
    size_t bytes;
    if (__builtin_mul_overflow(count, element, &bytes) || bytes > SIZE_MAX - sizeof(rt_heap_node)) {
        rt_fail(h->c, GNN_NO_MEMORY, "no memory holds %zu rows of %zu bytes", count, element);
        return NULL;
    }
    rt_heap_node *n = rt_alloc_zeroed(h->c, sizeof *n + bytes);
    if (!n) return NULL;
    n->before = h->last;
    h->last = n;
    return n + 1;
}

void rt_heap_free(rt_heap *h) {
    while (h->last) {
        rt_heap_node *n = h->last;
        h->last = n->before;
        rt_free(h->c, n);
    }
}

bool rt_forked(const gnn_context *c) { return getpid() != c->process; }

enum { MOST_THREADS = 1024 };

// A GPU where there is a driver that shows one; whatever else is wrong with it is told.
static gnn_status open_any(gnn_context *c) {
    c->device = 0;
    gnn_status s = rt_cuda_open(c);
    if (s != GNN_NO_DRIVER && s != GNN_NO_DEVICE) return s;
    rt_cuda_close(c);
    gnn_context_clear_error(c);
    c->device = GNN_HOST;
    return GNN_OK;
}

gnn_status gnn_context_new(const gnn_context_options *o, gnn_context **out) {
    static const gnn_context_options none;
    if (!out) return GNN_BAD_ARGUMENT;
    *out = NULL;
    if (!o) o = &none;
    if (!o->allocator.alloc != !o->allocator.release) return GNN_BAD_ARGUMENT;
    gnn_allocator memory = o->allocator;
    if (!memory.alloc) memory = (gnn_allocator){default_alloc, default_release, NULL};
    gnn_context *c = memory.alloc(memory.user, sizeof *c, 64);
    if (!c) return GNN_NO_MEMORY;
    *c = (gnn_context){.device = o->device > GNN_AUTO ? o->device - GNN_GPU(0) : o->device,
                       .process = getpid(),
                       .memory = memory,
                       .parallel = {o->parallel_for, o->parallel_user},
                       .simulator = o->simulator,
                       .threads = o->threads ? o->threads : rt_cores()};
    c->threads = c->threads < MOST_THREADS ? c->threads : MOST_THREADS;
    *out = c;
    if (o->device == GNN_AUTO) return open_any(c);
    if (o->device < GNN_HOST)
        return rt_fail(c, GNN_NO_DEVICE,
                       "there is no device %d: GNN_AUTO, GNN_HOST or GNN_GPU(ordinal)", o->device);
    return rt_on_cuda(c) ? rt_cuda_open(c) : GNN_OK;
}

void gnn_context_free(gnn_context *c) {
    if (!c) return;
    rt_pool_stop(c);
    rt_gpu_unload(c, false);
    rt_gpu_unload(c, true);
    rt_gpu_memory_close(c);
    if (!rt_forked(c)) rt_cuda_close(c);
    gnn_allocator memory = c->memory;
    memory.release(memory.user, c);
}

const char *gnn_context_error(const gnn_context *c) { return c ? c->error : ""; }

gnn_status gnn_context_status(const gnn_context *c) { return c ? c->status : GNN_BAD_ARGUMENT; }

void gnn_context_clear_error(gnn_context *c) {
    if (!c) return;
    c->status = GNN_OK;
    c->told = false;
    c->error[0] = 0;
}

int gnn_context_device(const gnn_context *c) {
    return c && rt_on_cuda(c) ? GNN_GPU(c->device) : GNN_HOST;
}
