// The struct of a linked op's arguments, read by the op's manifest: its members lie where C puts
// them, sizes of free spaces first, then parameters, then what is saved, of which some are, then
// results that are read where that is. codegen/header.c declares the same members in the same
// order.
#include "launch_plan.h"

gnn_status rt_arguments_new(rt_heap *h, const gnn_program *p, rt_arguments **out) {
    rt_arguments *r = *out = rt_heap_alloc(h, 1, sizeof *r);
    bool good = r && (r->sizes = rt_heap_alloc(h, p->nspaces, sizeof *r->sizes)) &&
                (r->maps = rt_heap_alloc(h, p->nparams, sizeof *r->maps)) &&
                (r->tensors = rt_heap_alloc(h, p->nparams, sizeof *r->tensors)) &&
                (r->args = rt_heap_alloc(h, p->nparams, sizeof *r->args));
    return good ? GNN_OK : GNN_NO_MEMORY;
}

typedef struct {
    const char *base;
    size_t at;
} members;

static const void *next(members *m, size_t bytes, size_t align) {
    m->at = (m->at + align - 1) / align * align;
    const void *member = m->base + m->at;
    m->at += bytes;
    return member;
}
#define NEXT(m, T) (*(const T *)next((m), sizeof(T), _Alignof(T)))

static gnn_scalar read_scalar(const rt_param *q, members *m) {
    if (q->is_index) return (gnn_scalar){.i64 = NEXT(m, int64_t)};
    switch (q->dtype) {
    case GNN_F64: return (gnn_scalar){.f64 = NEXT(m, double)};
    case GNN_F32:
    case GNN_BF16:
    case GNN_F16: return (gnn_scalar){.f32 = NEXT(m, float)};
    case GNN_I32: return (gnn_scalar){.i32 = NEXT(m, int32_t)};
    case GNN_BOOL: return (gnn_scalar){.i64 = NEXT(m, bool)};
    case GNN_I64:
    case GNN_DTYPE_COUNT: break;
    }
    return (gnn_scalar){.i64 = NEXT(m, int64_t)};
}

static void read_param(const rt_param *q, members *m, uint32_t i, rt_arguments *to) {
    to->args[i] = (gnn_arg){0};
    switch (q->role) {
    case GNN_PARAM_MAP:
        if (!(q->facts & RT_PREFIX)) to->maps[i] = NEXT(m, gnn_map);
        break;
    case GNN_PARAM_SCALAR: to->args[i].scalar = read_scalar(q, m); break;
    case GNN_PARAM_TENSOR:
    case GNN_PARAM_RESULT:
        to->tensors[i] = q->facts & RT_SAVED ? (gnn_tensor){0} : NEXT(m, gnn_tensor);
        to->args[i].tensor = &to->tensors[i];
    }
}

void rt_arguments_read(const gnn_program *p, const void *from, rt_arguments *to) {
    members m = {from, 0};
    for (uint32_t i = 0; i < p->nspaces; i++)
        to->sizes[i] = p->spaces[i].kind == RT_FREE ? NEXT(&m, int64_t) : -1;
    for (uint32_t i = 0; i < p->nparams; i++)
        if (!(p->params[i].facts & RT_GIVEN)) read_param(&p->params[i], &m, i, to);
    to->saved = p->made.saved ? (void *)NEXT(&m, uintptr_t) : NULL;
    for (uint32_t i = 0; i < p->nparams; i++)
        if (p->params[i].facts & RT_GIVEN) read_param(&p->params[i], &m, i, to);
}
