// The kernels of builders/, loaded where first asked for, and a session of their launches.
#include "gpu.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    const char *name, *text;
    size_t size;
} embedded_file;
extern const embedded_file rt_builders_files[];   // PTX for indices of 32 bits, then of 64

typedef struct rt_gpu_kernels {
    rt_cuda_module module;
    rt_cuda_function functions[RT_GPU_KERNEL_COUNT];
} rt_gpu_kernels;

// ---- Code ---------------------------------------------------------------------------------------
static gnn_status find_functions(gnn_context *c, rt_gpu_kernels *k, bool wide) {
    static const char *const names[] = {
#define KERNEL(name, text, shared) text,
#include "gpu_kernels.def"
#undef KERNEL
    };
    gnn_status s = GNN_OK;
    for (uint32_t i = 0; i < RT_GPU_KERNEL_COUNT && !s; i++) {
        char name[40];
        snprintf(name, sizeof name, "%s_%d", names[i], wide ? 64 : 32);
        s = CU_CALL(c, ModuleGetFunction, (&k->functions[i], k->module, name));
    }
    return s;
}

static gnn_status load(gnn_context *c, bool wide) {
    rt_gpu_kernels *k = c->gpu_kernels[wide] = rt_alloc_zeroed(c, sizeof *k);
    if (!k) return GNN_NO_MEMORY;
    gnn_status s = rt_cuda_load(c, "kernels that prepare maps", "sm_80",
                                rt_builders_files[wide].text, &k->module);
    if (!s) s = find_functions(c, k, wide);
    if (s) rt_gpu_unload(c, wide);
    return s;
}

void rt_gpu_unload(gnn_context *c, bool wide) {
    rt_gpu_kernels *k = c->gpu_kernels[wide];
    bool pushed;
    if (k && k->module && rt_enter_to_free(c, &pushed)) {
        c->cuda.ModuleUnload(k->module);
        rt_leave(c, pushed);
    }
    rt_free(c, k);
    c->gpu_kernels[wide] = NULL;
}

// ---- Sessions -----------------------------------------------------------------------------------
struct rt_gpu_temp {
    rt_gpu_temp *before;
    void *memory;
};

gnn_status rt_gpu_begin(rt_gpu *g, gnn_context *c, gnn_stream stream, bool wide) {
    g->c = g->heap.c = c;
    g->stream = stream;
    g->wide = wide;
    gnn_status s = g->entered ? GNN_OK : rt_enter(c, &g->pushed);
    g->entered |= !s;
    return s || c->gpu_kernels[wide] ? s : load(c, wide);
}

gnn_status rt_gpu_end(rt_gpu *g, gnn_status s) {
    gnn_context *c = g->c;
    for (rt_gpu_temp *t = g->temps; t; t = t->before) rt_gpu_memory_give(c, t->memory, &g->stream);
    rt_heap_free(&g->heap);
    rt_leave(c, g->pushed);
    *g = (rt_gpu){.c = c};
    return s;
}

gnn_status rt_gpu_array(rt_gpu *g, int64_t count, size_t element, void **out) {
    size_t bytes;
    *out = NULL;
    if (count < 0 || __builtin_mul_overflow((size_t)count, element, &bytes))
        return rt_fail(g->c, GNN_NO_MEMORY, "no memory holds %lld elements of %zu bytes",
                       (long long)count, element);
    rt_gpu_temp *t = rt_heap_alloc(&g->heap, 1, sizeof *t);
    gnn_status s = t ? rt_gpu_memory_take(g->c, bytes, g->stream, out) : GNN_NO_MEMORY;
    if (s) return s;
    *t = (rt_gpu_temp){g->temps, *out};
    g->temps = t;
    return GNN_OK;
}

gnn_status rt_gpu_ints(rt_gpu *g, int64_t count, rt_ints *out) {
    *out = (rt_ints){NULL, count, g->wide};
    return rt_gpu_array(g, count, g->wide ? 8 : 4, &out->data);
}

void rt_gpu_take(rt_gpu *g, const void *array) {
    for (rt_gpu_temp *t = g->temps; t; t = t->before)
        if (t->memory == array) t->memory = NULL;
}

// ---- Launches -----------------------------------------------------------------------------------
enum { THREADS = 256 };        // of a block, as the texts have it
enum { MOST_BLOCKS = 1024 };   // that fill the largest GPUs

int64_t rt_gpu_blocks(int64_t n) {
    const int64_t blocks = n / THREADS + (n % THREADS != 0);
    return blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS;
}

gnn_status rt_gpu_launch(rt_gpu *g, rt_gpu_kernel k, int64_t blocks, uint64_t *slots,
                         uint32_t nslots) {
    enum { MOST_SLOTS = 16 };
    static const unsigned shared[] = {
#define KERNEL(name, text, shared) shared,
#include "gpu_kernels.def"
#undef KERNEL
    };
    gnn_context *c = g->c;
    void *params[MOST_SLOTS];
    if (!blocks) return GNN_OK;
    for (uint32_t i = 0; i < nslots; i++) params[i] = &slots[i];
    return CU_CALL(c, Launch,
                   (c->gpu_kernels[g->wide]->functions[k], (unsigned)blocks, 1, 1, THREADS, 1, 1,
                    shared[k], g->stream, params, NULL));
}

gnn_status rt_gpu_read(rt_gpu *g, const void *number, int64_t *out) {
    return rt_fetch(g->c, number, sizeof *out, out, g->stream);
}

gnn_status rt_gpu_get(rt_gpu *g, const rt_ints *a, int64_t i, int64_t *out) {
    int32_t narrow = 0;
    int64_t wide = 0;
    const size_t bytes = a->wide ? sizeof wide : sizeof narrow;
    void *to = a->wide ? (void *)&wide : &narrow;
    gnn_status s = rt_fetch(g->c, (const char *)a->data + (size_t)i * bytes, bytes, to, g->stream);
    *out = a->wide ? wide : narrow;
    return s;
}
