// What a launch through libgnnrt costs the caller's thread beside a bare cuLaunchKernel of an empty
// kernel with as many parameters, and its share of a replay of ten; median of batches, each waited
// for before the next. On a GPU:
//
//     gnnc stdlib/spmm.gnn --op spmm -D F=32 --emit=obj,header -o build/launch/
//     cc -O2 -Iruntime -Ibuild/launch bench/launch.c build/launch/spmm.o build/libgnnrt.a -lz -lpthread -ldl -o build/launch/launch
//     build/launch/launch
#include "spmm.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROWS = 64, EDGES = 256, FEATURES = 32, BATCHES = 101, LAUNCHES = 200, CAPTURED = 10 };

static const char empty_kernel[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry empty(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .u64 e, .param .u64 f,\n"
    " .param .u64 g, .param .u64 h) { ret; }\n";
enum { PARAMS = 8 };

typedef int initialise(unsigned flags);
typedef int retain_context(void **context, int device);
typedef int set_context(void *context);
typedef int load_module(void **module, const void *image);
typedef int get_function(void **function, void *module, const char *name);
typedef int launch_kernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                          unsigned by, unsigned bz, unsigned shared, gnn_stream s, void **params,
                          void **extra);

static gnn_context *context;
static void must(gnn_status s) {
    if (!s) return;
    fprintf(stderr, "%s\n", context ? gnn_context_error(context) : gnn_status_text(s));
    exit(1);
}

static void *symbol(const char *name) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *found = driver ? dlsym(driver, name) : NULL;
    if (!found) {
        fprintf(stderr, "the CUDA driver has no %s here\n", name);
        exit(1);
    }
    return found;
}

// The calling thread's, as an application's would be: libgnnrt then works in it.
static void make_context_current(void) {
    void *primary;
    if (((initialise *)symbol("cuInit"))(0) ||
        ((retain_context *)symbol("cuDevicePrimaryCtxRetain"))(&primary, 0) ||
        ((set_context *)symbol("cuCtxSetCurrent"))(primary)) {
        fprintf(stderr, "no GPU\n");
        exit(1);
    }
}

typedef struct {
    struct spmm_f32_args args;
    gnn_plan *plan;
    void *workspace;
    size_t bytes;
    gnn_stream stream;
    gnn_replay *replay;
    launch_kernel *launch;
    void *function;
    void *params[PARAMS];
} bench;

static void linked(bench *b) {
    must(spmm_f32_launch(b->plan, &b->args, b->workspace, b->bytes, b->stream));
}
static void bare(bench *b) {
    if (b->launch(b->function, ROWS, 1, 1, 32, 1, 1, 0, b->stream, b->params, NULL)) exit(1);
}

static void replayed(bench *b) { must(gnn_replay_launch(b->replay, b->stream)); }

static void capture(bench *b) {
    must(gnn_capture_begin(context, b->stream));
    for (int i = 0; i < CAPTURED; i++) linked(b);
    must(gnn_capture_end(context, b->stream, &b->replay));
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double nanoseconds(bench *b, void (*call)(bench *b), int calls) {
    double took[BATCHES];
    for (int k = 0; k < BATCHES; k++) {
        double from = now();
        for (int i = 0; i < calls; i++) call(b);
        took[k] = (now() - from) / calls;
        must(gnn_sync(context, b->stream));
    }
    qsort(took, BATCHES, sizeof *took, ascending);
    return took[BATCHES / 2];
}

static void *on_device(const void *host, size_t bytes) {
    void *memory;
    must(gnn_alloc(context, bytes, &memory));
    if (host) must(gnn_copy_in(context, memory, host, bytes, NULL));
    else must(gnn_fill(context, memory, 0, bytes, NULL));
    return memory;
}

int main(void) {
    static int32_t src[EDGES], offsets[ROWS + 1];
    for (int v = 0; v <= ROWS; v++) offsets[v] = v * (EDGES / ROWS);
    for (int e = 0; e < EDGES; e++) src[e] = e % ROWS;
    make_context_current();
    must(gnn_context_new(&(gnn_context_options){.device = GNN_GPU(0)}, &context));
    bench b = {.args = {.E = EDGES, .U = ROWS, .V = ROWS},
               .launch = (launch_kernel *)symbol("cuLaunchKernel")};
    b.args.src = (gnn_map){.index = src, .width = 32};
    b.args.dst = (gnn_map){.offsets = offsets, .width = 32};
    b.args.w.data = on_device(NULL, EDGES * sizeof(float));
    b.args.x.data = on_device(NULL, ROWS * FEATURES * sizeof(float));
    b.args.y.data = on_device(NULL, ROWS * FEATURES * sizeof(float));
    must(gnn_stream_new(context, &b.stream));
    gnn_op *op;
    must(spmm_f32_load(context, &op));
    static const char *const how[] = {"checked", "trusted"};
    for (uint32_t trusted = 0; trusted < 2; trusted++) {
        must(spmm_f32_plan(op, &b.args, &(gnn_op_options){.flags = trusted ? GNN_TRUSTED : 0},
                           &b.plan));
        b.bytes = gnn_plan_workspace(b.plan);
        b.workspace = on_device(NULL, b.bytes);
        linked(&b);
        static uint64_t value;
        void *module;
        for (int k = 0; k < PARAMS; k++) b.params[k] = &value;
        if (!b.function &&
            (((load_module *)symbol("cuModuleLoadData"))(&module, empty_kernel) ||
             ((get_function *)symbol("cuModuleGetFunction"))(&b.function, module, "empty")))
            return fprintf(stderr, "the empty kernel cannot be loaded\n"), 1;
        bare(&b);
        double whole = nanoseconds(&b, linked, LAUNCHES), call = nanoseconds(&b, bare, LAUNCHES);
        printf("%s: a linked launch takes %.0f ns, a bare cuLaunchKernel %.0f: %.0f over it\n",
               how[trusted], whole, call, whole - call);
        capture(&b);
        printf("%s: one of %d that are replayed takes %.0f\n", how[trusted], CAPTURED,
               nanoseconds(&b, replayed, LAUNCHES / CAPTURED) / CAPTURED);
        gnn_replay_free(b.replay);
        gnn_free(context, b.workspace);
        gnn_plan_free(b.plan);
    }
    gnn_op_free(op);
    gnn_context_free(context);
    return 0;
}
