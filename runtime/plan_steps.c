// The steps of the versions a plan keeps: how large their launches are, and slots in which only
// what the arguments decide is left open.
#include "launch_plan.h"

// ---- Slots --------------------------------------------------------------------------------------
static int64_t map_stride(const gnn_plan *plan, uint32_t param, uint32_t axis) {
    gnn_tensor packed;   // row-major
    gnn_plan_shape(plan, param, &packed);
    return rt_tensor_stride(&packed, axis);
}

// Whether arguments decide the slot: it may change from launch to launch.
static bool is_open(const gnn_plan *plan, const rt_arg *a) {
    const bool array = a->kind == RT_ARG_DATA || a->kind == RT_ARG_STRIDE;
    return (array && !plan->maps[a->index]) || a->kind == RT_ARG_VALUE || a->kind == RT_ARG_TEMP ||
           a->kind == RT_ARG_STEP;
}

static gnn_status fill_slot(gnn_plan *plan, const rt_arg *a, uint64_t *slot) {
    int64_t value = 0;
    gnn_status s = GNN_OK;
    switch (a->kind) {
    case RT_ARG_DATA: *slot = (uint64_t)(uintptr_t)plan->maps[a->index]->device; break;
    case RT_ARG_STRIDE: *slot = (uint64_t)map_stride(plan, a->index, a->axis); break;
    case RT_ARG_SIZE: *slot = (uint64_t)plan->sizes[a->index]; break;
    case RT_ARG_MAGIC: *slot = plan->magic[a->index]; break;
    case RT_ARG_SHIFT: *slot = plan->shift[a->index]; break;
    case RT_ARG_PREPARED: *slot = (uint64_t)(uintptr_t)plan->prepared[a->index]->device; break;
    case RT_ARG_NUMBER:
        s = rt_plan_eval(plan, &a->number, &value);
        *slot = (uint64_t)value;
        break;
    case RT_ARG_VALUE:
    case RT_ARG_TEMP:
    case RT_ARG_STEP:
    case RT_ARG_KINDS: break;   // open
    }
    return s;
}

static gnn_status ready_slots(gnn_plan *plan, const rt_step *step, const int64_t *temps,
                              rt_ready_step *out) {
    rt_heap *h = &plan->heap;
    out->slots = rt_heap_alloc(h, step->nargs, sizeof *out->slots);
    out->params = rt_heap_alloc(h, step->nargs, sizeof *out->params);
    out->patches = rt_heap_alloc(h, step->nargs, sizeof *out->patches);
    if (!out->slots || !out->params || !out->patches) return GNN_NO_MEMORY;
    gnn_status s = GNN_OK;
    for (uint32_t i = 0; i < step->nargs && !s; i++) {
        const rt_arg *a = &step->args[i];
        size_t offset = a->kind == RT_ARG_TEMP ? (size_t)temps[a->index] : 0;
        out->params[i] = &out->slots[i];
        if (is_open(plan, a))
            out->patches[out->npatches++] = (rt_patch){a->kind, i, a->index, a->axis, offset};
        else s = fill_slot(plan, a, &out->slots[i]);
    }
    return s;
}

// ---- Steps --------------------------------------------------------------------------------------
static gnn_status check_launch(gnn_plan *plan, const rt_ready_step *r) {
    if (r->count > INT32_MAX)
        return rt_fail(plan->c, GNN_TOO_LARGE,
                       "kernel %.60s: a grid of %lld blocks is larger than 2147483647",
                       r->kernel->name, (long long)r->count);
    int64_t most = 0;
    gnn_status s = r->kernel->unfit ? rt_device_number(plan->c, RT_DEVICE_SHARED_BYTES, &most)
                                    : GNN_OK;
    if (s || !r->kernel->unfit) return s;
    return rt_fail(plan->c, GNN_BAD_CODE,
                   "kernel %.60s: %u bytes of shared memory, but a block of the device has %lld",
                   r->kernel->name, r->kernel->shared, (long long)most);
}

static gnn_status ready_step(gnn_plan *plan, const rt_version *v, uint32_t i, const int64_t *temps,
                             rt_ready_step *steps) {
    const rt_step *step = &v->steps[i];
    rt_ready_step *out = &steps[i];
    out->kind = step->kind;
    out->match = step->match;
    out->early = step->early;
    if (step->kind == RT_END) {
        out->count = steps[step->match].count;
        return GNN_OK;
    }
    gnn_status s = rt_plan_eval(plan, &step->count, &out->count);
    if (s) return s;
    if (out->count < 0)
        return rt_fail(plan->c, GNN_BAD_MANIFEST, "version %.60s: steps[%u]: its count is %lld",
                       v->name, i, (long long)out->count);
    if (step->kind == RT_LOOP) return GNN_OK;
    out->kernel = &plan->p->kernels[step->kernel];
    s = check_launch(plan, out);
    return s ? s : ready_slots(plan, step, temps, out);
}

gnn_status rt_plan_steps(gnn_plan *plan) {
    gnn_status s = GNN_OK;
    int64_t top = 0, *temps = rt_alloc_array(plan->c, plan->p->ntemps, sizeof *temps);
    if (!temps) return GNN_NO_MEMORY;
    for (uint32_t k = 0; k < plan->nready && !s; k++) {
        rt_ready *r = &plan->ready[k];
        r->steps = rt_heap_alloc(&plan->heap, r->version->nsteps, sizeof *r->steps);
        s = r->steps ? rt_place_temps(plan, r->version, temps, &top) : GNN_NO_MEMORY;
        r->workspace = s ? 0 : (size_t)top;
        if (r->workspace > plan->workspace) plan->workspace = r->workspace;
        for (uint32_t i = 0; i < r->version->nsteps && !s; i++)
            s = ready_step(plan, r->version, i, temps, r->steps);
    }
    rt_free(plan->c, temps);
    return s;
}
