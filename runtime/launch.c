// Launching: the steps of a program with one call's arguments. Allocates nothing, waits for nothing on a
// device.
#include "internal.h"

#include <string.h>

typedef struct {
    const gnn_plan *plan;
    const gnn_arg *args;
    void *workspace;
    gnn_stream stream;
    int64_t round;   // of the innermost loop
} call;

// ---- Slots -----------------------------------------------------------------------------------------------
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

static uint64_t data_slot(const call *k, uint32_t param) {
    const rt_structure *m = k->plan->maps[param];
    return (uint64_t)(uintptr_t)(m ? m->device : k->args[param].tensor->data);
}

static uint64_t stride_slot(const call *k, uint32_t param, uint32_t axis) {
    if (k->args[param].tensor) return (uint64_t)rt_tensor_stride(k->args[param].tensor, axis);
    gnn_tensor packed;   // a map: row-major
    gnn_plan_shape(k->plan, param, &packed);
    return (uint64_t)rt_tensor_stride(&packed, axis);
}

static uint64_t slot(const call *k, const rt_arg *a) {
    const gnn_plan *plan = k->plan;
    switch (a->kind) {
    case RT_ARG_DATA: return data_slot(k, a->index);
    case RT_ARG_STRIDE: return stride_slot(k, a->index, a->axis);
    case RT_ARG_VALUE: return scalar_slot(&plan->p->params[a->index], &k->args[a->index].scalar);
    case RT_ARG_SIZE: return (uint64_t)plan->sizes[a->index];
    case RT_ARG_MAGIC: return plan->magic[a->index];
    case RT_ARG_SHIFT: return plan->shift[a->index];
    case RT_ARG_PREPARED: return (uint64_t)(uintptr_t)plan->prepared[a->index]->device;
    case RT_ARG_TEMP: return (uint64_t)((uintptr_t)k->workspace + plan->temps[a->index]);
    case RT_ARG_STEP: return (uint64_t)k->round;
    case RT_ARG_KINDS: break;
    }
    return 0;
}

// ---- Host ------------------------------------------------------------------------------------------------
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

static gnn_status launch_host(const call *k, const rt_kernel *kernel, const uint64_t *slots,
                              uint32_t blocks) {
    enum { PIECES_A_THREAD = 8 };   // so that threads with light blocks take more
    gnn_context *c = k->plan->c;
    uint32_t most = c->threads < 2 ? 1 : c->threads * PIECES_A_THREAD;
    host_launch h = {kernel->host, slots, blocks, blocks < most ? blocks : most};
    rt_parallel(c, h.pieces, run_piece, &h);
    return GNN_OK;
}

// ---- CUDA ------------------------------------------------------------------------------------------------
static gnn_status launch_cuda(const call *k, const rt_kernel *kernel, uint64_t *slots, uint32_t nslots,
                              uint32_t blocks) {
    gnn_context *c = k->plan->c;
    void *params[RT_MAX_ARGS];
    for (uint32_t i = 0; i < nslots; i++) params[i] = &slots[i];
    return CU_CALL(
        c, Launch,
        (kernel->cuda, blocks, 1, 1, kernel->block, 1, 1, kernel->dynamic, k->stream, params, NULL));
}

// ---- Steps -----------------------------------------------------------------------------------------------
static gnn_status launch(const call *k, uint32_t i) {
    const gnn_program *p = k->plan->p;
    const rt_step *step = &p->steps[i];
    const rt_kernel *kernel = &p->kernels[step->kernel];
    uint32_t blocks = (uint32_t)k->plan->counts[i];
    uint64_t slots[RT_MAX_ARGS];
    if (!blocks) return GNN_OK;
    for (uint32_t a = 0; a < step->nargs; a++) slots[a] = slot(k, &step->args[a]);
    return rt_on_cuda(p->c) ? launch_cuda(k, kernel, slots, step->nargs, blocks)
                            : launch_host(k, kernel, slots, blocks);
}

static gnn_status run_steps(call *k) {
    const gnn_plan *plan = k->plan;
    int64_t rounds[RT_MAX_LOOPS + 1] = {0};
    uint32_t depth = 0;
    gnn_status s = GNN_OK;
    for (uint32_t i = 0; i < plan->p->nsteps && !s; i++) {
        const rt_step *step = &plan->p->steps[i];
        k->round = rounds[depth];
        if (step->kind == RT_LAUNCH) s = launch(k, i);
        else if (step->kind == RT_LOOP && !plan->counts[i]) i = step->match;
        else if (step->kind == RT_LOOP) rounds[++depth] = 0;
        else if (++rounds[depth] < plan->counts[step->match]) i = step->match;
        else depth--;
    }
    return s;
}

static gnn_status check_call(const gnn_plan *plan, const gnn_arg *args, size_t nargs, const void *workspace,
                             size_t bytes) {
    gnn_status s = rt_check_count(plan, args, nargs);
    if (s) return s;
    if (bytes < plan->workspace || (plan->workspace && !workspace))
        return rt_fail(plan->c, GNN_BAD_WORKSPACE, "the workspace has %zu bytes; %.60s needs %zu",
                       workspace ? bytes : 0, plan->p->name, plan->workspace);
    if (plan->workspace && (uintptr_t)workspace % 256)
        return rt_fail(plan->c, GNN_BAD_WORKSPACE, "the workspace is not aligned to 256 bytes");
    return plan->flags & GNN_TRUSTED ? GNN_OK : rt_check_args(plan, args, workspace);
}

gnn_status gnn_launch(gnn_plan *plan, const gnn_arg *args, size_t nargs, void *workspace,
                      size_t workspace_bytes, gnn_stream stream) {
    if (!plan) return GNN_BAD_ARGUMENT;
    call k = {.plan = plan, .args = args, .workspace = workspace, .stream = stream};
    gnn_status s = check_call(plan, args, nargs, workspace, workspace_bytes);
    bool pushed;
    if (s || (s = rt_enter(plan->c, &pushed))) return s;
    s = run_steps(&k);
    rt_leave(plan->c, pushed);
    return s;
}
