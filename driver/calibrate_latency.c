// Cycles until a load is there: one thread that goes round a ring, each step of which waits for the
// one before. Two lengths are timed, so that what a launch takes by itself falls away.
#include "calibrate.h"
#include "run_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOADS = 16,           // of a round of latency.simt
    ADDITIONS = 64,       // likewise
    FMA_CYCLES = 4,       // of an addition: a fact of the hardware
    ADDRESS_CYCLES = 5,   // a GPU's between two loads, as codegen/sim/costs.def counts them
    FEW = 256,
    MANY = 768   // rounds
};
typedef struct {
    calibration *c;
    simt_module *module;
    run_code code;
    gnn_code image;
} latency;

// ---- The kernels --------------------------------------------------------------------------------
static bool compile_host(latency *l, const cg_options *options) {
    driver *d = l->c->bench.run.d;
    const uint32_t n = l->module->funcs.len;
    gnn_host_kernel *kernels = ARENA_ARRAY(d->arena, gnn_host_kernel, n);
    l->code.jit = cg_jit_new(d->arena, d->ds, l->module, options);
    if (!l->code.jit) return false;
    for (uint32_t i = 0; i < n; i++) {
        const char *name = l->module->funcs.data[i]->name;
        kernels[i] = (gnn_host_kernel){name, cg_jit_kernel(l->code.jit, name)};
    }
    l->image = (gnn_code){.kernels = kernels, .nkernels = n};
    return true;
}

static bool compile(latency *l) {
    const embedded_text *text = calibrate_text("latency.simt");
    driver *d = l->c->bench.run.d;
    const source_file *source = source_map_add(d->sources, text->name, text->text, text->size);
    l->module = source ? simt_parse(d->arena, d->ds, source) : NULL;
    if (!l->module) ICE("the probes of latencies do not parse");
    const cg_options options = settings_codegen(d);
    cg_output image = {0};
    if (l->c->host) return compile_host(l, &options);
    if (!cg_emit(d->arena, d->ds, l->module, &l->c->bench.run.target, CG_CUBIN, &options, &image))
        return false;
    l->image = (gnn_code){.image = image.data, .size = image.size};
    return true;
}

static const char *manifest(const latency *l, const char *kernel) {
    const cg_target *t = &l->c->bench.run.target;
    const unsigned shared = strcmp(kernel, "shared_loads") ? 0 : 4096;
    return arena_printf(
        l->c->bench.run.d->arena,
        "{\"gnnc_manifest\": 1, \"name\": \"%s\", \"target\": \"%s\", \"index_bits\": 32,"
        " \"spaces\": [{\"name\": \"U\", \"kind\": \"free\"},"
        " {\"name\": \"one\", \"kind\": \"const\", \"size\": \"1\"}],"
        " \"params\": [{\"name\": \"next\", \"role\": \"tensor\", \"type\": \"i32\","
        " \"axes\": [\"U\"]},"
        " {\"name\": \"y\", \"role\": \"result\", \"type\": \"i32\", \"axes\": [\"one\"]},"
        " {\"name\": \"rounds\", \"role\": \"scalar\", \"type\": \"i32\"}],"
        " \"kernels\": [{\"name\": \"%s\", \"block\": 1, \"shared\": %u,"
        " \"params\": [\"ptr\", \"ptr\", \"i32\"]}],"
        " \"versions\": [{\"name\": \"naive\", \"steps\": [{\"launch\": \"%s\", \"blocks\": \"1\","
        " \"args\": [{\"data\": \"next\"}, {\"data\": \"y\"}, {\"value\": \"rounds\"}]}]}]}",
        kernel, l->c->host ? "host" : t->arch->name, kernel, shared, kernel);
}

// ---- A ring -------------------------------------------------------------------------------------
static uint64_t next_random(uint64_t *state) {   // xorshift64
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

// Round all of n elements, a step apart, in an order of chance: one cycle, by Sattolo's algorithm.
static int32_t *ring(int64_t n, int64_t step) {
    int32_t *order = xmalloc((size_t)n * sizeof *order),
            *next = xmalloc((size_t)(n * step) * sizeof *next);
    uint64_t state = 88172645463325252u;
    memset(next, 0, (size_t)(n * step) * sizeof *next);
    for (int64_t i = 0; i < n; i++) order[i] = (int32_t)i;
    for (int64_t i = n - 1; i > 0; i--) {
        const int64_t k = (int64_t)(next_random(&state) % (uint64_t)i);
        const int32_t kept = order[i];
        order[i] = order[k];
        order[k] = kept;
    }
    for (int64_t i = 0; i < n; i++) next[i * step] = order[i] * (int32_t)step;
    free(order);
    return next;
}

static bool time_rounds(run_op *o, int32_t rounds, bool flush, double *ns) {
    o->ready.args[2].scalar = (gnn_scalar){.i32 = rounds};
    return calibrate_time(o, flush, ns);
}

static bool time_kernel(run_op *o, const latency *l, const int32_t *next, int64_t n, bool flush,
                        double *ns) {
    gnn_context *c = o->r->context;
    const size_t bytes = (size_t)n * sizeof *next;
    const char *text = manifest(l, o->op->name);
    const gnn_size size = {"U", n};
    double few, many;
    o->ready.tensors = ARENA_ARRAY(o->arena, gnn_tensor, 2);
    o->ready.args = ARENA_ARRAY(o->arena, gnn_arg, 3);
    o->ready.buffers = ARENA_ARRAY(o->arena, run_buffer, 3);
    o->ready.tensors[0] = (gnn_tensor){.dtype = GNN_I32, .rank = 1, .shape = {n}};
    o->ready.tensors[1] = (gnn_tensor){.dtype = GNN_I32, .rank = 1, .shape = {1}};
    if (run_failed(o, gnn_program_load(c, text, strlen(text), &l->image, &o->program)) ||
        run_failed(o, gnn_plan_new(o->program, &(gnn_plan_options){.sizes = &size, .nsizes = 1},
                                   &o->ready.plan)) ||
        !calibrate_alloc(o, 0, bytes) || !calibrate_alloc(o, 1, sizeof *next) ||
        run_failed(o, gnn_copy_in(c, o->ready.tensors[0].data, next, bytes, NULL)) ||
        run_failed(o, gnn_sync(c, NULL)) || !time_rounds(o, FEW, flush, &few) ||
        !time_rounds(o, MANY, flush, &many))
        return false;
    *ns = fmax(0, many - few) / (MANY - FEW);
    return true;
}

// What a round of a kernel takes, of a ring of so many bytes.
static bool time_ring(const latency *l, const char *kernel, double bytes, int64_t step, bool flush,
                      double *ns) {
    arena *a = arena_new();
    tensor_op *op = tensor_op_new(a, kernel);
    op->nparams = 3;
    for (uint32_t i = 0; i < op->nparams; i++) VEC_PUSH(a, &op->vals, ((tensor_val_info){0}));
    unit_op named = {.name = kernel, .op = op};
    run_op o = {.r = &l->c->bench.run, .arena = a, .op = &named};
    const int64_t n = (int64_t)(bytes / 4) / step;
    int32_t *next = ring(n, step);
    const bool good = time_kernel(&o, l, next, n * step, flush, ns);
    free(next);
    run_plan_free(&o);
    gnn_program_free(o.program);
    arena_free(a);
    return good;
}

// ---- What they tell -----------------------------------------------------------------------------
static bool time_clock(const latency *l) {
    calibration *c = l->c;
    double ns;
    if (!time_ring(l, "additions", 1024, 1, false, &ns)) return false;
    if (ns > 0)
        calibrate_set(c, COST_FIELD_mhz, round(1e3 * ADDITIONS * FMA_CYCLES / ns), COST_MEASURED);
    if (c->device.mhz)
        textbuf_printf(&c->notes, "# clock: at most %d MHz, by the driver\n", c->device.mhz);
    return true;
}

// Cycles of a load, without those of its address.
static double cycles_of(const calibration *c, double round_ns) {
    const double all = round_ns / LOADS * c->out.mhz * 1e-3;
    return fmax(1, round(all - (c->host ? 0 : ADDRESS_CYCLES)));
}

static bool time_loads(const latency *l) {
    enum { LINE = 32, RING_OF_L1 = 16 << 10, RING_OF_SHARED = 4096 };   // LINE: elements of one
    calibration *c = l->c;
    const double cache = c->out.l2_mib * (1 << 20), of_cache = fmin(cache / 4, 4 << 20),
                 beyond = fmin(fmin(8 * cache, 512 << 20), c->most_bytes);
    double l1, l2, memory, shared;
    if (!time_ring(l, "loads", RING_OF_L1, LINE, false, &l1) ||
        !time_ring(l, "loads", of_cache, LINE, false, &l2) ||
        !time_ring(l, "loads", beyond, LINE, true, &memory) ||
        (!c->host && !time_ring(l, "shared_loads", RING_OF_SHARED, 1, false, &shared)))
        return false;
    const double near = cycles_of(c, l2), far = cycles_of(c, memory);
    textbuf_printf(&c->notes, "# cycles of a load: the largest cache %g, memory %g\n", near, far);
    calibrate_set(c, COST_FIELD_l1_cycles, cycles_of(c, l1), COST_MEASURED);
    calibrate_set(c, COST_FIELD_memory_cycles, round((near + far) / 2), COST_MEASURED);
    if (!c->host) calibrate_set(c, COST_FIELD_shared_cycles, cycles_of(c, shared), COST_MEASURED);
    return true;
}

bool calibrate_latencies(calibration *c) {
    latency l = {.c = c};
    phase(c->bench.run.d, "latencies");
    bool good = compile(&l);
    if (good) {
        c->bench.scratch_bytes = (size_t)fmin(2 * (double)bench_cache_bytes(&c->bench.run),
                                              c->most_bytes);
        gnn_status s = gnn_alloc(c->bench.run.context, c->bench.scratch_bytes, &c->bench.scratch);
        good = !s;
        if (s)
            diag(c->bench.run.d->ds, runtime_code((int)s, E0822), NO_SPAN, "calibrate: %s",
                 gnn_context_error(c->bench.run.context));
    }
    good = good && time_clock(&l) && time_loads(&l);
    gnn_free(c->bench.run.context, c->bench.scratch);
    cg_jit_free(l.code.jit);
    return good;
}
