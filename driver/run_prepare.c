// A plan, memory and arguments of an op: all that a launch takes.
#include "run_memory.h"

#include <string.h>

static bool make_plan(run_op *o) {
    const gnn_plan_options options = run_plan_options(o);
    run_alone_begin(o->r);
    gnn_status s = gnn_plan_new(o->program, &options, &o->ready.plan);
    run_alone_end(o->r);
    return !run_failed(o, s);
}

static gnn_scalar scalar_of(const tensor_array *x) {
    if (x->type == DT_F64) return (gnn_scalar){.f64 = *(const double *)x->data};
    if (ir_dtype_is_float(x->type))
        return (gnn_scalar){.f32 = (float)bind_load(x->type, x->data, 0)};
    if (x->type == DT_I32) return (gnn_scalar){.i32 = *(const int32_t *)x->data};
    return (gnn_scalar){.i64 = x->type == DT_BOOL ? *(const uint8_t *)x->data
                                                  : *(const int64_t *)x->data};
}

static bool make_argument(run_op *o, tensor_val v) {
    const tensor_val_info *info = &o->op->op->vals.data[v];
    if (info->role == VAL_SCALAR) o->ready.args[v].scalar = scalar_of(&o->b->arrays[v]);
    if (info->role != VAL_TENSOR && info->role != VAL_RESULT) return true;
    tensor_val under = run_overwritten(o, v);
    if (under == TENSOR_NO_VAL && !run_buffer_new(o, v, &o->ready.buffers[v])) return false;
    const run_buffer *x = &o->ready.buffers[under == TENSOR_NO_VAL ? v : under];
    run_layout layout = run_layout_of(o, v);
    o->ready.tensors[v] = run_buffer_tensor(x, layout == LAYOUT_STRIDED ||
                                                   layout == LAYOUT_BROADCAST || x->apart);
    o->ready.args[v].tensor = &o->ready.tensors[v];
    return true;
}

static bool make_results(run_op *o, tensor_val v) {
    int64_t points;
    const tensor_val_info *info = &o->op->op->vals.data[v];
    if (info->role != VAL_RESULT || !bind_points(o->b, info, &points)) return true;
    o->results[v] = o->b->arrays[v];
    o->results[v].data = arena_alloc(o->arena, (size_t)points * bind_bytes(info->type) + 8);
    return true;
}

bool run_prepare(run_op *o) {
    uint32_t n = o->op->op->nparams;
    o->ready.buffers = ARENA_ARRAY(o->arena, run_buffer, n + 1);
    o->ready.tensors = ARENA_ARRAY(o->arena, gnn_tensor, n + 1);
    o->ready.args = ARENA_ARRAY(o->arena, gnn_arg, n + 1);
    o->results = ARENA_ARRAY(o->arena, tensor_array, n + 1);
    if (!make_plan(o)) return false;
    for (tensor_val v = 0; v < n; v++)
        if (!make_argument(o, v) || !make_results(o, v)) return false;
    if (run_failed(o, gnn_plan_version(o->ready.plan, o->ready.args, n, &o->taken)) ||
        run_failed(
            o, gnn_plan_workspace_for(o->ready.plan, o->ready.args, n, &o->ready.workspace_bytes)))
        return false;
    run_tell_version(o);
    if (o->r->target.kind == CG_HOST && (double)o->ready.workspace_bytes > bind_memory()) {
        diag(o->r->d->ds, E0819, o->op->op->at, "%s: these sizes need a workspace of %.1f GiB",
             o->op->name, (double)o->ready.workspace_bytes / 1073741824.0);
        return false;
    }
    return !o->r->asked.repeat ||
           !run_failed(o, gnn_alloc(o->r->context, o->ready.workspace_bytes,
                                    &o->ready.workspace));   // of no launch there is none
}

void run_plan_free(run_op *o) {
    for (uint32_t v = 0; o->ready.buffers && v < o->op->op->nparams; v++)
        if (o->ready.buffers[v].mapped) run_unmap_far(&o->ready.buffers[v]);
        else if (o->ready.buffers[v].memory) gnn_free(o->r->context, o->ready.buffers[v].memory);
    gnn_free(o->r->context, o->ready.workspace);
    gnn_plan_free(o->ready.plan);
    o->ready.buffers = NULL;
    o->ready.workspace = NULL;
    o->ready.plan = NULL;
}
