// Kernels of the benchmark's own, for GPUs: PTX for the oldest architecture, which the driver
// compiles.
#include "bench.h"

#include <string.h>

typedef struct {
    const char *name, *code, *manifest;
} own_kernel;

// What any launch takes, whatever it does.
static const own_kernel empty_kernel = {
    "an empty kernel",
    ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry empty(.param .u64 nothing) { ret; }\n",
    "{\"gnnc_manifest\": 1, \"name\": \"empty\", \"target\": \"sm_80\", \"index_bits\": 32,"
    " \"kernels\": [{\"name\": \"empty\", \"block\": 32, \"params\": [\"i64\"]}],"
    " \"versions\": [{\"name\": \"naive\", \"steps\": [{\"launch\": \"empty\", \"blocks\": \"1\","
    " \"args\": [{\"number\": \"0\"}]}]}]}"};

// One thread that waits for so many nanoseconds: what is submitted meanwhile begins without waiting
// for the host.
static const own_kernel pause_kernel = {
    "a pause",
    ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry pause(.param .u64 ns) {\n"
    "  .reg .u64 %t<4>;\n  .reg .pred %p;\n"
    "  ld.param.u64 %t0, [ns];\n  mov.u64 %t1, %globaltimer;\n"
    "again:\n  mov.u64 %t2, %globaltimer;\n  sub.u64 %t3, %t2, %t1;\n  setp.lt.u64 %p, %t3, %t0;\n  @%p bra again;\n"
    "  ret;\n}\n",
    "{\"gnnc_manifest\": 1, \"name\": \"pause\", \"target\": \"sm_80\", \"index_bits\": 32,"
    " \"kernels\": [{\"name\": \"pause\", \"block\": 1, \"params\": [\"i64\"]}],"
    " \"versions\": [{\"name\": \"naive\", \"steps\": [{\"launch\": \"pause\", \"blocks\": \"1\","
    " \"args\": [{\"number\": \"40000\"}]}]}]}"};

static bool own_open(run_session *r, arena *a, const own_kernel *k, run_op *out) {
    unit_op *op = ARENA_NEW(a, unit_op);
    *op = (unit_op){.name = k->name, .op = tensor_op_new(a, k->name)};
    *out = (run_op){.r = r, .arena = a, .op = op};
    const gnn_code code = {.image = k->code, .size = strlen(k->code) + 1};
    return !run_failed(out, gnn_program_load(r->context, k->manifest, strlen(k->manifest), &code,
                                             &out->program)) &&
           !run_failed(out, gnn_plan_new(out->program, &(gnn_plan_options){0}, &out->ready.plan));
}

static void own_close(run_op *o) {
    gnn_plan_free(o->ready.plan);
    gnn_program_free(o->program);
}

bool bench_pause_open(bench_session *s, arena *a) {
    s->pause = (run_op){0};
    return s->run.target.kind != CG_CUDA || own_open(&s->run, a, &pause_kernel, &s->pause);
}

void bench_pause_close(bench_session *s) {
    own_close(&s->pause);
    s->pause = (run_op){0};
}

bool bench_empty(bench_session *s, arena *a) {
    if (s->run.target.kind != CG_CUDA || s->empty.hot > 0) return true;
    phase(s->run.d, "empty kernel");
    run_op empty;
    bool good = own_open(&s->run, a, &empty_kernel, &empty) && bench_cold(&empty, &s->empty_cold) &&
                bench_hot(&empty, &s->empty);
    own_close(&empty);
    return good;
}
