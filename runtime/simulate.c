// Launches of a simulated GPU: what each pointer among a kernel's arguments may reach, as the plan
// and the caller's tensors have it.
#include "launch_plan.h"

// A result that lies where a parameter does holds that one's values.
static bool overwrites(const gnn_program *p, const gnn_arg *args, uint32_t result) {
    for (uint32_t i = 0; i < p->nparams; i++)
        if (p->params[i].role == GNN_PARAM_TENSOR &&
            args[i].tensor->data == args[result].tensor->data)
            return true;
    return false;
}

static size_t structure_bytes(const rt_structure *s) {
    return (size_t)s->host.count * (s->host.wide ? 8 : 4);
}

static gnn_status extent_of_data(const gnn_plan *plan, uint32_t param, const gnn_arg *args,
                                 gnn_extent *out) {
    const rt_param *q = &plan->p->params[param];
    out->name = q->name;
    if (plan->maps[param]) {
        out->bytes = structure_bytes(plan->maps[param]);
        return GNN_OK;
    }
    out->result = q->role == GNN_PARAM_RESULT;
    out->written = !out->result || overwrites(plan->p, args, param);
    return rt_tensor_extent(args[param].tensor, &out->bytes) ? GNN_OK : GNN_TOO_LARGE;
}

static gnn_status extent_of_temp(gnn_plan *plan, uint32_t temp, gnn_extent *out) {
    const rt_temp *t = &plan->p->temps[temp];
    int64_t length = 0;
    gnn_status s = rt_plan_eval(plan, &t->length, &length);   // placing it found no overflow
    *out = (gnn_extent){
        .name = t->name, .data = out->data, .bytes = (size_t)length * t->bytes, .scratch = true};
    return s;
}

static gnn_status extent_of(gnn_plan *plan, const rt_arg *a, uint64_t slot, const gnn_arg *args,
                            gnn_extent *out) {
    *out = (gnn_extent){.data = (void *)(uintptr_t)slot, .written = true};
    switch (a->kind) {
    case RT_ARG_DATA: return extent_of_data(plan, a->index, args, out);
    case RT_ARG_TEMP: return extent_of_temp(plan, a->index, out);
    case RT_ARG_PREPARED:
        out->name = plan->p->prepared[a->index].name;
        out->bytes = structure_bytes(plan->prepared[a->index]);
        return GNN_OK;
    case RT_ARG_STRIDE:
    case RT_ARG_VALUE:
    case RT_ARG_SIZE:
    case RT_ARG_MAGIC:
    case RT_ARG_SHIFT:
    case RT_ARG_NUMBER:
    case RT_ARG_STEP:
    case RT_ARG_KINDS: break;
    }
    *out = (gnn_extent){0};
    return GNN_OK;
}

gnn_status rt_simulate(gnn_plan *plan, const rt_step *step, const rt_ready_step *ready,
                       const gnn_arg *args, bool early) {
    const gnn_simulator *to = plan->c->simulator;
    gnn_extent extents[RT_MAX_ARGS];
    gnn_status s = GNN_OK;
    for (uint32_t i = 0; i < step->nargs && !s; i++)
        s = extent_of(plan, &step->args[i], ready->slots[i], args, &extents[i]);
    if (!s)
        to->launch(to->user, ready->kernel->name, ready->slots, extents, (uint32_t)ready->count,
                   early);
    return s;
}
