// Whether a launch's arguments fit the program and the plan: types, shapes, strides, alignment, and
// results that share no memory but what is declared inplace.
#include "launch_plan.h"

gnn_status rt_check_shape(const gnn_plan *plan, uint32_t param, const gnn_tensor *t) {
    const rt_param *q = &plan->p->params[param];
    if (t->dtype != q->dtype)
        return rt_fail(plan->c, GNN_BAD_TENSOR, "%.60s has type %s, not %s", q->name,
                       gnn_dtype_text(t->dtype), gnn_dtype_text(q->dtype));
    if (t->rank != q->rank)
        return rt_fail(plan->c, GNN_BAD_TENSOR, "%.60s has %u axes, not %u", q->name, t->rank,
                       q->rank);
    for (uint32_t i = 0; i < q->rank; i++)
        if (t->shape[i] < 0 || (plan->known[q->axes[i]] && t->shape[i] != plan->sizes[q->axes[i]]))
            return rt_fail(plan->c, GNN_SIZE_MISMATCH,
                           "%.60s: axis %u has %lld elements, but %.60s is %lld", q->name, i,
                           (long long)t->shape[i], plan->p->spaces[q->axes[i]].name,
                           (long long)plan->sizes[q->axes[i]]);
    return GNN_OK;
}

static gnn_status bad_stride(const gnn_plan *plan, const rt_param *q, const gnn_tensor *t,
                             uint32_t axis, const char *why) {
    return rt_fail(plan->c, GNN_BAD_TENSOR, "%.60s: the stride of axis %u is %lld%s", q->name, axis,
                   (long long)t->strides[axis], why);
}

static gnn_status check_strides(const gnn_plan *plan, const rt_param *q, const gnn_tensor *t) {
    if (!t->has_strides) return GNN_OK;
    gnn_tensor packed = *t;
    packed.has_strides = false;
    bool empty = false;   // then strides lead nowhere
    for (uint32_t i = 0; i < q->rank; i++) empty |= t->shape[i] == 0;
    for (uint32_t i = 0; i < q->rank; i++) {
        if (t->strides[i] < 0)
            return bad_stride(plan, q, t, i, ": negative strides are not allowed");
        if (!empty && t->shape[i] > 1 && i == q->rank - 1 && t->strides[i] != 1 &&
            !(q->facts & RT_STRIDED))
            return bad_stride(plan, q, t, i, ", not 1, and it is not declared strided");
        if (!empty && t->shape[i] > 1 && q->facts & RT_PACKED &&
            t->strides[i] != rt_tensor_stride(&packed, i))
            return bad_stride(plan, q, t, i, ", but it is declared packed");
    }
    return GNN_OK;
}

static gnn_status check_tensor(const gnn_plan *plan, uint32_t param, const gnn_tensor *t) {
    const rt_param *q = &plan->p->params[param];
    if (!t) return rt_fail(plan->c, GNN_MISSING, "%.60s is not given", q->name);
    gnn_status s = rt_check_shape(plan, param, t);
    if (!s) s = check_strides(plan, q, t);
    if (s) return s;
    if (!rt_tensor_extent(t, &plan->extents[param]))
        return rt_fail(plan->c, GNN_TOO_LARGE, "%.60s: its extent overflows", q->name);
    if (plan->extents[param] && !t->data)
        return rt_fail(plan->c, GNN_MISSING, "%.60s has no data", q->name);
    if ((uintptr_t)t->data % q->align)
        return rt_fail(plan->c, GNN_MISALIGNED, "%.60s is not aligned to %zu bytes", q->name,
                       q->align);
    if (q->role == GNN_PARAM_RESULT && rt_strides_overlap(t))
        return rt_fail(plan->c, GNN_OVERLAP, "%.60s: elements of a result share memory", q->name);
    return GNN_OK;
}

static gnn_status check_scalar(const gnn_plan *plan, const rt_param *q, const gnn_scalar *v) {
    if (!q->is_index || q->into < 0 || (v->i64 >= 0 && v->i64 < plan->sizes[q->into]))
        return GNN_OK;
    return rt_fail(plan->c, GNN_BAD_INDEX, "%.60s = %lld is outside %.60s (%lld)", q->name,
                   (long long)v->i64, plan->p->spaces[q->into].name,
                   (long long)plan->sizes[q->into]);
}

// A result in the very place of the tensor it may overwrite.
static bool is_inplace(const gnn_plan *plan, uint32_t result, uint32_t other, const gnn_arg *args) {
    const rt_param *q = &plan->p->params[result];
    const gnn_tensor *a = args[result].tensor, *b = args[other].tensor;
    if (q->inplace != (int32_t)other || a->data != b->data || a->dtype != b->dtype ||
        a->rank != b->rank)
        return false;
    for (uint32_t i = 0; i < a->rank; i++)
        if (a->shape[i] != b->shape[i] ||
            (a->shape[i] > 1 && rt_tensor_stride(a, i) != rt_tensor_stride(b, i)))
            return false;
    return true;
}

// Most memory lies apart as a whole, which is quickly seen.
static bool touches(const gnn_plan *plan, uint32_t param, const gnn_tensor *t, const void *memory,
                    size_t bytes) {
    const uintptr_t a = (uintptr_t)t->data, b = (uintptr_t)memory;
    return plan->extents[param] && bytes && a < b + bytes && b < a + plan->extents[param];
}

static bool hits_map(const gnn_plan *plan, uint32_t param, const gnn_tensor *t,
                     const rt_structure *m) {
    const size_t bytes = (size_t)m->host.count * (m->host.wide ? 8 : 4);
    return touches(plan, param, t, m->device, bytes) && rt_tensor_hits(t, m->device, bytes);
}

static gnn_status check_apart(const gnn_plan *plan, uint32_t result, const gnn_arg *args) {
    const gnn_program *p = plan->p;
    const gnn_tensor *r = args[result].tensor;
    const char *name = p->params[result].name;
    for (uint32_t i = 0; i < p->nparams; i++) {
        const rt_param *q = &p->params[i];
        const rt_structure *m = plan->maps[i];
        bool overlaps = m && hits_map(plan, result, r, m);
        if (rt_is_tensor(q) && i != result && !(q->role == GNN_PARAM_RESULT && i < result) &&
            touches(plan, result, r, args[i].tensor->data, plan->extents[i]) &&
            !is_inplace(plan, result, i, args))
            overlaps = rt_tensors_overlap(r, args[i].tensor);
        if (overlaps)
            return rt_fail(plan->c, GNN_OVERLAP, "%.60s shares memory with %.60s%s", name, q->name,
                           p->params[result].inplace == (int32_t)i
                               ? ", but not in the very place inplace allows"
                               : "");
    }
    return GNN_OK;
}

gnn_status rt_check_count(const gnn_plan *plan, const gnn_arg *args, size_t nargs) {
    const gnn_program *p = plan->p;
    if (nargs == p->nparams && (args || !nargs)) return GNN_OK;
    return rt_fail(plan->c, GNN_BAD_ARGUMENT, "%zu arguments for the %u parameters of %.60s", nargs,
                   p->nparams, p->name);
}

gnn_status rt_check_args(const gnn_plan *plan, const gnn_arg *args) {
    const gnn_program *p = plan->p;
    gnn_status s = GNN_OK;
    for (uint32_t i = 0; i < p->nparams && !s; i++) {
        const rt_param *q = &p->params[i];
        if (rt_is_tensor(q)) s = check_tensor(plan, i, args[i].tensor);
        else if (q->role == GNN_PARAM_SCALAR) s = check_scalar(plan, q, &args[i].scalar);
    }
    for (uint32_t i = 0; i < p->nparams && !s; i++)
        if (p->params[i].role == GNN_PARAM_RESULT) s = check_apart(plan, i, args);
    return s;
}

gnn_status rt_check_outside(const gnn_plan *plan, const gnn_arg *args, const void *workspace,
                            size_t bytes) {
    for (uint32_t i = 0; i < plan->p->nparams; i++) {
        const rt_param *q = &plan->p->params[i];
        if (rt_is_tensor(q) && touches(plan, i, args[i].tensor, workspace, bytes) &&
            rt_tensor_hits(args[i].tensor, workspace, bytes))
            return rt_fail(plan->c, GNN_OVERLAP, "%.60s lies in the workspace", q->name);
    }
    return GNN_OK;
}

gnn_status gnn_check(gnn_plan *plan, const gnn_arg *args, size_t nargs) {
    if (!rt_begin(RT_OF(plan), __func__, true)) return GNN_BAD_ARGUMENT;
    gnn_status s = rt_check_count(plan, args, nargs);
    return s ? s : rt_check_args(plan, args);
}
