// Launches on the host: the steps in order, strides, loops, the same bits on any number of threads;
// what is refused.
#include "Inputs/harness.h"

#include <sched.h>
#include <stdatomic.h>
#include <time.h>

enum { E = 500, U = 40, V = 64, F = 9 };
typedef struct {
    int32_t src[E];
    int64_t offsets[V + 1];
    float x[U * F * 2], y[V * F];
    _Alignas(256) char workspace[V * F * 4];
} data;

static void make_data(data *d) {
    uint64_t r = 7;
    for (int e = 0; e < E; e++) d->src[e] = (int32_t)random_below(&r, U);
    for (int v = 0; v <= V; v++)
        d->offsets[v] = v < 3 ? 0 : v >= 60 ? E : d->offsets[v - 1] + random_below(&r, 9);
    for (int i = 0; i < U * F * 2; i++) d->x[i] = (float)random_below(&r, 1000) / 7;
}

static void wanted(const data *d, float *y) {
    for (int v = 0; v < V; v++)
        for (int f = 0; f < F; f++) {
            float t = 0, sum = 0;
            for (int64_t e = d->offsets[v]; e < d->offsets[v + 1]; e++)
                t += d->x[d->src[e] * F * 2 + f * 2];
            for (int r = 0; r < 3; r++) sum = sum + (float)(r + 1) * 0.5f * t;
            y[v * F + f] = sum;
        }
}

static gnn_tensor tensor_x(data *d) {
    return (gnn_tensor){.data = d->x,
                        .dtype = GNN_F32,
                        .rank = 2,
                        .has_strides = true,
                        .shape = {U, F},
                        .strides = {F * 2, 2}};
}

static gnn_tensor tensor_y(data *d) {
    return (gnn_tensor){.data = d->y, .dtype = GNN_F32, .rank = 2, .shape = {V, F}};
}

static gnn_plan *make_plan(gnn_context *c, gnn_program *p, const data *d, uint32_t flags) {
    const gnn_named_map maps[] = {
        {"src", {.index = d->src, .width = 32, .domain = E, .codomain = U}},
        {"dst", {.offsets = d->offsets, .width = 64, .domain = E, .codomain = V}}};
    gnn_plan *plan = NULL;
    GOOD(c, gnn_plan_new(p,
                         &(gnn_plan_options){.sizes = &(gnn_size){"F", F},
                                             .nsizes = 1,
                                             .maps = maps,
                                             .nmaps = 2,
                                             .flags = flags},
                         &plan));
    return plan;
}

static void on_threads(data *d, gnn_context_options o) {
    ledger l = {.fail_at = -1};
    gnn_context *c = NULL;
    float y[V * F];
    o.allocator = (gnn_allocator){ledger_alloc, ledger_release, &l};
    gnn_context_new(&o, &c);
    gnn_program *p = load_spmm(c);
    gnn_plan *plan = make_plan(c, p, d, 0);
    const gnn_tensor tx = tensor_x(d), ty = tensor_y(d);
    const gnn_arg args[5] = {
        [2] = {.tensor = &tx}, [3] = {.scalar = {.f32 = 0.5f}}, [4] = {.tensor = &ty}};
    int64_t calls = l.calls;
    for (int i = 0; i < 20; i++) {
        memset(d->y, 0xff, sizeof d->y);
        GOOD(c, gnn_launch(plan, args, 5, d->workspace, sizeof d->workspace, NULL));
        wanted(d, y);
        CHECK(!memcmp(y, d->y, sizeof y));
    }
    CHECK(l.calls == calls);
    gnn_plan_free(plan);
    gnn_program_free(p);
    end_context(c, &l);
}

static void backwards(void *user, uint32_t n, void (*body)(void *, uint32_t), void *piece) {
    ++*(int *)user;
    while (n--) body(piece, n);
}

// Two pieces that wait for each other need two threads.
static void meet(void *data, uint32_t i) {
    atomic_int *met = data;
    (void)i;
    atomic_fetch_add(met, 1);
    for (time_t begun = time(NULL); atomic_load(met) < 2 && time(NULL) - begun < 20;) sched_yield();
    CHECK(atomic_load(met) == 2);
}

static void together(void) {
    ledger l;
    gnn_context *c = new_context(&l, 2);
    GOOD(c, rt_pool_start(c));
    for (int i = 0; i < 50; i++) {
        atomic_int met = 0;
        rt_parallel(c, 2, meet, &met);
    }
    end_context(c, &l);
}

static gnn_status launch_with(gnn_plan *plan, data *d, const gnn_tensor *x, const gnn_tensor *y) {
    const gnn_arg args[5] = {[2] = {.tensor = x}, [4] = {.tensor = y}};
    return gnn_launch(plan, args, 5, d->workspace, sizeof d->workspace, NULL);
}

static void refused_tensors(gnn_context *c, gnn_plan *plan, data *d) {
    gnn_tensor x = tensor_x(d), y = tensor_y(d), bad = y;
    EXPECT(c, launch_with(plan, d, NULL, &y), MISSING, "x is not given");
    bad.dtype = GNN_F64;
    EXPECT(c, launch_with(plan, d, &x, &bad), BAD_TENSOR, "y has type f64, not f32");
    bad = y, bad.rank = 3;
    EXPECT(c, launch_with(plan, d, &x, &bad), BAD_TENSOR, "y has 3 axes, not 2");
    bad = y, bad.shape[0] = V + 1;
    EXPECT(c, launch_with(plan, d, &x, &bad), SIZE_MISMATCH,
           "y: axis 0 has 65 elements, but V is 64");
    bad = y, bad.data = NULL;
    EXPECT(c, launch_with(plan, d, &x, &bad), MISSING, "y has no data");
    bad = y, bad.data = (char *)d->y + 2;
    EXPECT(c, launch_with(plan, d, &x, &bad), MISALIGNED, "y is not aligned to 4 bytes");
    bad = y, bad.has_strides = true, bad.strides[0] = 1, bad.strides[1] = V;
    EXPECT(c, launch_with(plan, d, &x, &bad), BAD_TENSOR,
           "y: the stride of axis 1 is 64, not 1, and it is not declared strided");
    bad.strides[0] = F - 1, bad.strides[1] = 1;
    EXPECT(c, launch_with(plan, d, &x, &bad), OVERLAP, "y: elements of a result share memory");
    bad.strides[0] = INT64_MAX / 2;
    EXPECT(c, launch_with(plan, d, &x, &bad), TOO_LARGE, "y: its extent overflows");
    bad = x, bad.strides[0] = -1;
    EXPECT(c, launch_with(plan, d, &bad, &y), BAD_TENSOR,
           "x: the stride of axis 0 is -1: negative strides are not allowed");
    bad = x, bad.data = d->y, bad.strides[0] = 0, bad.strides[1] = 1;
    EXPECT(c, launch_with(plan, d, &bad, &y), OVERLAP, "y shares memory with x");
    bad = y, bad.data = d->src;
    EXPECT(c, launch_with(plan, d, &x, &bad), OVERLAP, "y shares memory with src");
    bad = x, bad.strides[0] = 0, bad.data = d->workspace + 64;
    EXPECT(c, launch_with(plan, d, &bad, &y), OVERLAP, "x lies in the workspace");
}

static void refused(data *d) {
    ledger l;
    gnn_context *c = new_context(&l, 1);
    gnn_program *p = load_spmm(c);
    gnn_plan *plan = make_plan(c, p, d, 0);
    const gnn_tensor x = tensor_x(d), y = tensor_y(d);
    const gnn_arg args[5] = {[2] = {.tensor = &x}, [4] = {.tensor = &y}};
    refused_tensors(c, plan, d);
    GOOD(c, gnn_check(plan, args, 5));
    EXPECT(c, gnn_check(plan, args, 4), BAD_ARGUMENT, "4 arguments for the 5 parameters of spmm");
    EXPECT(c, gnn_launch(plan, args, 5, d->workspace, 2304 - 1, NULL), BAD_WORKSPACE,
           "the workspace has 2303 bytes; version naive of spmm needs 2304");
    EXPECT(c, gnn_launch(plan, args, 5, NULL, 2304, NULL), BAD_WORKSPACE,
           "the workspace has 0 bytes; version naive of spmm needs 2304");
    EXPECT(c, gnn_launch(plan, args, 5, d->workspace + 128, 2304, NULL), BAD_WORKSPACE,
           "the workspace is not aligned to 256 bytes");
    gnn_plan_free(plan);
    gnn_program_free(p);
    end_context(c, &l);
}

// No nodes, no edges, no features: nothing runs, nothing is refused.
static void empty(void) {
    ledger l;
    gnn_context *c = new_context(&l, 2);
    gnn_program *p = load_spmm(c);
    const gnn_named_map maps[] = {{"src", {.width = 32}}, {"dst", {.width = 32}}};
    gnn_plan *plan = NULL;
    GOOD(c, gnn_plan_new(p,
                         &(gnn_plan_options){
                             .sizes = &(gnn_size){"F", 0}, .nsizes = 1, .maps = maps, .nmaps = 2},
                         &plan));
    const gnn_tensor none = {.dtype = GNN_F32, .rank = 2};
    const gnn_arg args[5] = {[2] = {.tensor = &none}, [4] = {.tensor = &none}};
    GOOD(c, gnn_launch(plan, args, 5, NULL, 0, NULL));
    gnn_plan_free(plan);
    gnn_program_free(p);
    end_context(c, &l);
}

// ---- Nested loops, scalars, inplace -------------------------------------------------------------
static const char nested[] =
    "{\"gnnc_manifest\": 1, \"name\": \"op\", \"target\": \"host\", \"index_bits\": 64, \"spaces\": ["
    "{\"name\": \"N\", \"kind\": \"free\"}, {\"name\": \"M\", \"kind\": \"free\"}],"
    "\"params\": [{\"name\": \"x\", \"role\": \"tensor\", \"type\": \"i64\", \"axes\": [\"N\"]},"
    "{\"name\": \"h\", \"role\": \"scalar\", \"type\": \"f16\"}, {\"name\": \"d\", \"role\": \"scalar\", \"type\": \"f64\"},"
    "{\"name\": \"i\", \"role\": \"scalar\", \"type\": \"i32\"}, {\"name\": \"b\", \"role\": \"scalar\", \"type\": \"bool\"},"
    "{\"name\": \"k\", \"role\": \"scalar\", \"type\": \"index\", \"into\": \"N\"},"
    "{\"name\": \"y\", \"role\": \"result\", \"type\": \"i64\", \"axes\": [\"N\"], \"inplace\": \"x\"}],"
    "\"kernels\": [{\"name\": \"log\", \"block\": 1, \"params\": [\"ptr\", \"i64\", \"f32\", \"f64\", \"i32\", \"i32\", \"i64\"]}],"
    "\"versions\": [{\"name\": \"naive\", \"steps\": [{\"loop\": \"M\"}, {\"loop\": \"2\"}, {\"launch\": \"log\", \"blocks\": \"1\", \"args\": [{\"data\": \"y\"}, {\"step\": true},"
    "{\"value\": \"h\"}, {\"value\": \"d\"}, {\"value\": \"i\"}, {\"value\": \"b\"}, {\"value\": \"k\"}]}, {\"end\": true},"
    "{\"launch\": \"log\", \"blocks\": \"M 1 -\", \"args\": [{\"data\": \"y\"}, {\"step\": true},"
    "{\"value\": \"h\"}, {\"value\": \"d\"}, {\"value\": \"i\"}, {\"value\": \"b\"}, {\"value\": \"k\"}]}, {\"end\": true}]}]}";

static void log_round(const uint64_t *a, uint32_t block, uint32_t blocks) {
    int64_t *y = (int64_t *)a[0];
    float h;
    double d;
    memcpy(&h, &a[2], sizeof h);
    memcpy(&d, &a[3], sizeof d);
    CHECK(h == 1.5f && d == 2.5 && (int32_t)a[4] == -3 && a[5] == 1 && a[6] == 2);
    if (!block) y[0] = y[0] * 10 + (int64_t)a[1] + (blocks == 2 ? 5 : 0);
}

static void rounds(void) {
    ledger l;
    gnn_context *c = new_context(&l, 1);
    gnn_program *p = NULL;
    gnn_plan *plan = NULL;
    int64_t memory[6] = {0};
    const gnn_code code = {.kernels = &(gnn_host_kernel){"log", log_round}, .nkernels = 1};
    GOOD(c, gnn_program_load(c, nested, sizeof nested - 1, &code, &p));
    const gnn_size sizes[] = {{"N", 4}, {"M", 3}};
    GOOD(c, gnn_plan_new(p, &(gnn_plan_options){.sizes = sizes, .nsizes = 2}, &plan));
    gnn_tensor x = {.data = memory, .dtype = GNN_I64, .rank = 1, .shape = {4}}, y = x;
    gnn_arg args[7] = {{.tensor = &x},          {.scalar = {.f32 = 1.5f}}, {.scalar = {.f64 = 2.5}},
                       {.scalar = {.i32 = -3}}, {.scalar = {.i64 = 1}},    {.scalar = {.i64 = 2}},
                       {.tensor = &y}};
    GOOD(c, gnn_launch(plan, args, 7, NULL, 0, NULL));
    CHECK(memory[0] == 15016017);   // rounds 0, 1 inside, then 5 + the outer round, three times
    y.data = memory + 1;
    EXPECT(c, gnn_launch(plan, args, 7, NULL, 0, NULL), OVERLAP,
           "y shares memory with x, but not in the very place inplace allows");
    y.data = memory;
    args[5].scalar.i64 = 4;
    EXPECT(c, gnn_launch(plan, args, 7, NULL, 0, NULL), BAD_INDEX, "k = 4 is outside N (4)");
    gnn_plan_free(plan);
    gnn_program_free(p);
    end_context(c, &l);
}

int main(void) {
    static data d;
    int hooked = 0;
    make_data(&d);
    for (uint32_t threads = 0; threads < 8; threads++)
        on_threads(&d, (gnn_context_options){.device = GNN_HOST, .threads = threads});
    on_threads(&d, (gnn_context_options){.device = GNN_HOST,
                                         .threads = 4,
                                         .parallel_for = backwards,
                                         .parallel_user = &hooked});
    CHECK(hooked == 20 * 4);
    together();
    refused(&d);
    empty();
    rounds();
    return failed;
}
