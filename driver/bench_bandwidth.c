// The bandwidth of the memory, as the faster of a copy and a sum reaches it: ops in tensor IR that
// are compiled and launched as any other. (A core that writes a line first reads it, so that on a
// host a sum is the faster.)
#include "bench.h"
#include "run_memory.h"

#include <string.h>

enum { TERMS = 64, WIDTH = 32 };
static const struct {
    const char *text;
    uint32_t rank[2];
    int64_t shape[2][3];   // of x and y; the first axis is N
} probes[] = {
    {"op copy { space N space F = 32 tensor x : f64[N, F] result y : f64[N, F] y[n:N, f:F] = x[n, f] }",
     {2, 2},
     {{0, WIDTH}, {0, WIDTH}}},
    {"op sum { space N space K = 64 space F = 32 tensor x : f64[N, K, F] result y : f64[N, F] "
     "y[n:N, f:F] = sum {k:K} (x[n, k, f]) }",
     {3, 2},
     {{0, TERMS, WIDTH}, {0, WIDTH}}}};

// Elements of the larger array: more than any cache holds.
static int64_t elements(void) {
    double most = bind_memory() / 8, wanted = 268435456;
    return (int64_t)((wanted < most ? wanted : most) / sizeof(double));
}

static bool make_tensor(run_op *o, uint32_t probe, uint32_t v, int64_t n, double *bytes) {
    gnn_tensor *t = &o->ready.tensors[v];
    *t = (gnn_tensor){.dtype = GNN_F64, .rank = probes[probe].rank[v], .shape = {n}};
    size_t size = (size_t)n * sizeof(double);
    for (uint32_t k = 1; k < t->rank; k++)
        size *= (size_t)(t->shape[k] = probes[probe].shape[v][k]);
    *bytes += (double)size;
    if (run_failed(o, gnn_alloc(o->r->context, size, &t->data))) return false;
    o->ready.buffers[v].memory = t->data;   // run_op_free gives it back
    o->ready.args[v].tensor = t;
    return !run_failed(o, gnn_fill(o->r->context, t->data, 0x3f, size, NULL));
}

static bool plan_probe(run_op *o, uint32_t probe, double *bytes) {
    int64_t n = elements() / WIDTH / (probes[probe].rank[0] == 3 ? TERMS : 1);
    gnn_size size = {"N", n};
    if (!run_load(o) ||
        run_failed(o, gnn_plan_new(o->program, &(gnn_plan_options){.sizes = &size, .nsizes = 1},
                                   &o->ready.plan)))
        return false;
    o->ready.workspace_bytes = gnn_plan_workspace(o->ready.plan);
    o->ready.tensors = ARENA_ARRAY(o->arena, gnn_tensor, 2);
    o->ready.args = ARENA_ARRAY(o->arena, gnn_arg, 2);
    o->ready.buffers = ARENA_ARRAY(o->arena, run_buffer, 2);
    return make_tensor(o, probe, 0, n, bytes) && make_tensor(o, probe, 1, n, bytes) &&
           !run_failed(o, gnn_alloc(o->r->context, o->ready.workspace_bytes, &o->ready.workspace));
}

// The fastest of several: what disturbs a launch only slows it.
static bool time_probe(run_op *o, double *fastest) {
    enum { LAUNCHES = 12 };
    gnn_timer *timer = NULL;
    bool good = !run_failed(o, gnn_timer_new(o->r->context, &timer));
    for (int i = 0; i < LAUNCHES && good; i++) {
        double ms = 0;
        good = !run_failed(o, gnn_timer_start(timer, NULL)) && run_launch(o, NULL) &&
               !run_failed(o, gnn_timer_stop(timer, NULL)) &&
               !run_failed(o, gnn_timer_read(timer, &ms));
        if (i == 0 || ms < *fastest) *fastest = ms;
    }
    gnn_timer_free(timer);
    return good;
}

static bool measure(bench_session *s, uint32_t probe) {
    driver *d = s->run.d;
    tensor_ops ops = {0};
    const char *text = probes[probe].text;
    const source_file *source = source_map_add(d->sources, "probe", text, strlen(text));
    if (!source || !tensor_parse(d->arena, d->ds, source, &ops))
        ICE("probe %u does not parse", probe);
    unit_op op = {.name = ops.data[0]->name, .op = ops.data[0]};
    run_op o = {.r = &s->run, .arena = arena_new(), .op = &op};
    double ms = 0, bytes = 0;
    bool good = plan_probe(&o, probe, &bytes) && time_probe(&o, &ms);
    if (good && bytes / ms * 1e3 > s->bandwidth) s->bandwidth = bytes / ms * 1e3;
    run_op_free(&o);
    arena_free(o.arena);
    return good;
}

bool bench_bandwidth(bench_session *s) {
    if (s->bandwidth > 0) return true;
    phase(s->run.d, "bandwidth");
    s->is_measured = true;
    return measure(s, 0) && measure(s, 1);
}
