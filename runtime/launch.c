// Launching: the steps of a version with one call's arguments. Allocates nothing, waits for nothing
// on a device, and works on the stream given alone, so that it can be captured.
#include "launch_plan.h"

#include <string.h>

typedef struct {
    gnn_context *c;
    gnn_plan *plan;
    const gnn_program *p;
    const gnn_arg *args;
    void *workspace;
    gnn_stream stream;
    const gnn_watch *watch;   // NULL: nobody is told
    int64_t round;            // of the innermost loop
    bool follows;   // the last launch is one of those after which the next may start early
} call;

// ---- Slots --------------------------------------------------------------------------------------
static uint64_t pack(const void *value, size_t bytes) {
    uint64_t slot = 0;
    memcpy(&slot, value, bytes);   // little-endian: the low bytes
    return slot;
}

static uint64_t scalar_slot(const rt_param *q, const gnn_scalar *v) {
    if (q->is_index) return pack(&v->i64, sizeof v->i64);
    switch (q->dtype) {
    case GNN_F64: return pack(&v->f64, sizeof v->f64);
    case GNN_F32:
    case GNN_BF16:
    case GNN_F16: return pack(&v->f32, sizeof v->f32);
    case GNN_I32: return pack(&v->i32, sizeof v->i32);
    case GNN_I64:
    case GNN_BOOL:
    case GNN_DTYPE_COUNT: break;
    }
    return pack(&v->i64, sizeof v->i64);
}

static uint64_t patch_value(const call *k, const rt_patch *p) {
    switch (p->kind) {
    case RT_ARG_DATA: return (uint64_t)(uintptr_t)k->args[p->index].tensor->data;
    case RT_ARG_STRIDE: return (uint64_t)rt_tensor_stride(k->args[p->index].tensor, p->axis);
    case RT_ARG_VALUE: return scalar_slot(&k->p->params[p->index], &k->args[p->index].scalar);
    case RT_ARG_TEMP: return (uint64_t)((uintptr_t)k->workspace + p->offset);
    case RT_ARG_STEP: return (uint64_t)k->round;
    case RT_ARG_SIZE:
    case RT_ARG_MAGIC:
    case RT_ARG_SHIFT:
    case RT_ARG_PREPARED:
    case RT_ARG_NUMBER:
    case RT_ARG_KINDS: break;   // the plan filled them in
    }
    return 0;
}

// ---- Host ---------------------------------------------------------------------------------------
typedef struct {
    gnn_host_fn fn;
    const uint64_t *slots;
    uint32_t blocks, pieces;
} host_launch;

static void run_piece(void *data, uint32_t i) {
    const host_launch *h = data;
    uint32_t from = (uint32_t)((uint64_t)h->blocks * i / h->pieces);
    uint32_t to = (uint32_t)((uint64_t)h->blocks * (i + 1) / h->pieces);
    for (uint32_t b = from; b < to; b++) h->fn(h->slots, b, h->blocks);
}

static gnn_status launch_host(const call *k, const rt_ready_step *step) {
    enum { PIECES_A_THREAD = 32 };   // so that threads with light blocks take more
    const uint32_t blocks = (uint32_t)step->count,
                   most = k->c->threads < 2 ? 1 : k->c->threads * PIECES_A_THREAD;
    host_launch h = {step->kernel->host, step->slots, blocks, blocks < most ? blocks : most};
    rt_parallel(k->c, h.pieces, run_piece, &h);
    return GNN_OK;
}

// ---- Steps --------------------------------------------------------------------------------------
static gnn_status launch_cuda(const call *k, const rt_ready_step *step, bool early) {
    const rt_kernel *kernel = step->kernel;
    rt_cuda_launch how = {.grid = {(unsigned)step->count, 1, 1},
                          .block = {kernel->block, 1, 1},
                          .shared = kernel->dynamic,
                          .stream = k->stream};
    if (early && k->c->launches_early)
        return rt_cuda_launch_early(k->c, kernel->cuda, &how, step->params);
    return CU_CALL(k->c, Launch,
                   (kernel->cuda, (unsigned)step->count, 1, 1, kernel->block, 1, 1, kernel->dynamic,
                    k->stream, step->params, NULL));
}

static gnn_status submit(const call *k, const rt_step *from, const rt_ready_step *step,
                         bool early) {
    if (k->c->simulator) return rt_simulate(k->plan, from, step, k->args, early);
    return rt_on_cuda(k->c) ? launch_cuda(k, step, early) : launch_host(k, step);
}

// A launch that is early counts on launches of this call alone: down to the last that was not, none
// of them meets it before it waits. What ran before those, or in a loop, it knows nothing of.
static gnn_status launch(call *k, const rt_step *from, const rt_ready_step *step) {
    bool early = step->early && k->follows && !k->watch;
    if (!step->early || step->count) k->follows = step->count > 0;
    if (!step->count) return GNN_OK;
    for (uint32_t i = 0; i < step->npatches; i++)
        step->slots[step->patches[i].slot] = patch_value(k, &step->patches[i]);
    if (!k->watch) return submit(k, from, step, early);
    k->watch->tell(k->watch->user, step->kernel->name, false);
    gnn_status s = submit(k, from, step, early);
    k->watch->tell(k->watch->user, step->kernel->name, true);
    return s;
}

static gnn_status run_steps(call *k, const rt_ready *r) {
    int64_t rounds[RT_MAX_LOOPS + 1] = {0};
    uint32_t depth = 0;
    gnn_status s = GNN_OK;
    for (uint32_t i = 0; i < r->version->nsteps && !s; i++) {
        const rt_ready_step *step = &r->steps[i];
        k->round = rounds[depth];
        k->follows = k->follows && step->kind == RT_LAUNCH;
        if (step->kind == RT_LAUNCH) s = launch(k, &r->version->steps[i], step);
        else if (step->kind == RT_LOOP && !step->count) i = step->match;
        else if (step->kind == RT_LOOP) rounds[++depth] = 0;
        else if (++rounds[depth] < step->count) i = step->match;
        else depth--;
    }
    return s;
}

// Against what the version taken uses: others of the plan may need more.
static gnn_status check_workspace(const gnn_plan *plan, const rt_ready *r, const gnn_arg *args,
                                  const void *workspace, size_t bytes) {
    if (!r->workspace) return GNN_OK;
    if (bytes < r->workspace || !workspace)
        return rt_fail(plan->c, GNN_BAD_WORKSPACE,
                       "the workspace has %zu bytes; version %.60s of %.60s needs %zu",
                       workspace ? bytes : 0, r->version->name, plan->p->name, r->workspace);
    if ((uintptr_t)workspace % 256)
        return rt_fail(plan->c, GNN_BAD_WORKSPACE, "the workspace is not aligned to 256 bytes");
    return plan->flags & GNN_TRUSTED ? GNN_OK
                                     : rt_check_outside(plan, args, workspace, r->workspace);
}

static gnn_status launch_all(gnn_plan *plan, call *k, size_t nargs, size_t workspace_bytes) {
    gnn_status s = rt_check_count(plan, k->args, nargs);
    if (!s && !(plan->flags & GNN_TRUSTED)) s = rt_check_args(plan, k->args);
    if (s) return s;
    const rt_ready *version = rt_plan_choose(plan, k->args);
    if (!version) return GNN_NO_VERSION;
    s = check_workspace(plan, version, k->args, k->workspace, workspace_bytes);
    if (s) return s;
    bool pushed;
    s = rt_enter_to_launch(plan->c, &pushed);
    if (s) return s;
    s = run_steps(k, version);
    rt_leave(plan->c, pushed);
    return s;
}

gnn_status gnn_launch(gnn_plan *plan, const gnn_arg *args, size_t nargs, void *workspace,
                      size_t workspace_bytes, gnn_stream stream) {
    if (!rt_begin(RT_OF(plan), __func__, true)) return GNN_BAD_ARGUMENT;
    call k = {.c = plan->c,
              .plan = plan,
              .p = plan->p,
              .args = args,
              .workspace = workspace,
              .stream = stream};
    return launch_all(plan, &k, nargs, workspace_bytes);
}

gnn_status gnn_launch_watched(gnn_plan *plan, const gnn_arg *args, size_t nargs, void *workspace,
                              size_t workspace_bytes, gnn_stream stream, const gnn_watch *watch) {
    if (!rt_begin(RT_OF(plan), __func__, watch && watch->tell)) return GNN_BAD_ARGUMENT;
    call k = {.c = plan->c,
              .plan = plan,
              .p = plan->p,
              .args = args,
              .workspace = workspace,
              .stream = stream,
              .watch = watch};
    return launch_all(plan, &k, nargs, workspace_bytes);
}
