// Plans as functions of the TVM FFI: its values are read as its stable C interface lays them out
// (tvm/ffi/c_api.h, dlpack.h), and nothing of it is linked.
#include "gnnrt_ffi.h"
#include "launch_plan.h"

#include <stdio.h>
#include <string.h>

// ---- Values of the TVM FFI ----------------------------------------------------------------------
typedef struct {   // a DLTensor
    void *data;
    int32_t device_type, device;
    int32_t rank;
    uint8_t code, bits;
    uint16_t lanes;
    const int64_t *shape, *strides;   // of elements; NULL: packed
    uint64_t byte_offset;
} dl_tensor;
enum { DL_CPU = 1, DL_CUDA = 2 };

typedef struct {
    int32_t type;
    uint32_t padding;
    union {
        int64_t i;
        double f;
        void *p;
    } of;
} any;
enum { ANY_INT = 1, ANY_BOOL = 2, ANY_FLOAT = 3, ANY_DL_TENSOR = 7, ANY_TENSOR = 70 };
enum { OBJECT_BYTES = 24 };   // ahead of a tensor object's DLTensor

// By gnn_dtype: the codes and bits of DLPack.
static const struct {
    uint8_t code, bits;
} dl_types[GNN_DTYPE_COUNT] = {
    [GNN_F64] = {2, 64}, [GNN_F32] = {2, 32}, [GNN_BF16] = {4, 16}, [GNN_F16] = {2, 16},
    [GNN_I32] = {0, 32}, [GNN_I64] = {0, 64}, [GNN_BOOL] = {6, 8},
};

// ---- Functions ----------------------------------------------------------------------------------
struct gnn_ffi {
    gnn_plan *plan;
    gnn_ffi_api api;
    gnn_arg *args;         // of all parameters
    gnn_tensor *tensors;   // of all parameters
    uint32_t *order;       // of arguments: their parameters
    uint32_t count;
    void *workspace;   // aligned
    void *memory;      // that it lies in
    size_t bytes;
};

enum { ALIGNMENT = 256 };

void gnn_ffi_free(void *self) {
    gnn_ffi *f = self;
    if (!f) return;
    gnn_context *c = f->plan->c;
    gnn_free(c, f->memory);
    rt_free(c, f->args);
    rt_free(c, f->tensors);
    rt_free(c, f->order);
    rt_free(c, f);
}

static bool is_given(const rt_param *q, bool results) {
    return results ? q->role == GNN_PARAM_RESULT
                   : q->role == GNN_PARAM_TENSOR || q->role == GNN_PARAM_SCALAR;
}

static void list_arguments(gnn_ffi *f) {
    const gnn_program *p = f->plan->p;
    for (int results = 0; results < 2; results++)
        for (uint32_t i = 0; i < p->nparams; i++)
            if (is_given(&p->params[i], results)) f->order[f->count++] = i;
    for (uint32_t i = 0; i < p->nparams; i++) f->args[i].tensor = &f->tensors[i];
    for (uint32_t i = 0; i < p->nparams; i++)
        if (p->params[i].role == GNN_PARAM_SCALAR) f->args[i].tensor = NULL;
}

gnn_status gnn_ffi_new(gnn_plan *plan, const gnn_ffi_api *api, gnn_ffi **out) {
    if (!plan || !rt_begin(plan->c, __func__, api && api->raise && api->stream && out))
        return GNN_BAD_ARGUMENT;
    gnn_context *c = plan->c;
    const uint32_t n = plan->p->nparams;
    gnn_ffi *f = *out = rt_alloc_zeroed(c, sizeof *f);
    if (!f) return GNN_NO_MEMORY;
    *f = (gnn_ffi){.plan = plan, .api = *api, .bytes = gnn_plan_workspace(plan)};
    f->args = rt_alloc_zeroed(c, (n + 1) * sizeof *f->args);
    f->tensors = rt_alloc_zeroed(c, (n + 1) * sizeof *f->tensors);
    f->order = rt_alloc_zeroed(c, (n + 1) * sizeof *f->order);
    gnn_status s = f->args && f->tensors && f->order ? GNN_OK : GNN_NO_MEMORY;
    if (!s && f->bytes) s = gnn_alloc(c, f->bytes + ALIGNMENT, &f->memory);
    if (!s) {
        const uintptr_t at = (uintptr_t)f->memory;
        f->workspace = f->bytes ? (char *)f->memory + (ALIGNMENT - at % ALIGNMENT) % ALIGNMENT
                                : NULL;
        list_arguments(f);
        return GNN_OK;
    }
    gnn_ffi_free(f);
    *out = NULL;
    return s;
}

// ---- Calls --------------------------------------------------------------------------------------
static int refuse(const gnn_ffi *f, const char *kind, uint32_t at, const char *why) {
    const rt_param *q = &f->plan->p->params[f->order[at]];
    char text[256];
    snprintf(text, sizeof text, "argument %u, %.60s: %s", at, q->name, why);
    f->api.raise(kind, text);
    return -1;
}

static const dl_tensor *tensor_in(const any *v) {
    if (v->type == ANY_DL_TENSOR) return v->of.p;
    return v->type == ANY_TENSOR ? (const void *)((const char *)v->of.p + OBJECT_BYTES) : NULL;
}

static bool lies_there(const gnn_context *c, const dl_tensor *t) {
    return rt_on_cuda(c) ? t->device_type == DL_CUDA && t->device == c->device
                         : t->device_type == DL_CPU;
}

static int read_tensor(gnn_ffi *f, uint32_t at, const any *v) {
    const rt_param *q = &f->plan->p->params[f->order[at]];
    const dl_tensor *t = tensor_in(v);
    if (!t) return refuse(f, "TypeError", at, "a tensor is wanted");
    if (q->is_index) return refuse(f, "TypeError", at, "results that are maps are not given here");
    if (t->code != dl_types[q->dtype].code || t->bits != dl_types[q->dtype].bits || t->lanes != 1)
        return refuse(f, "TypeError", at, "its elements have another type than the op's");
    if (!lies_there(f->plan->c, t))
        return refuse(f, "ValueError", at, "it lies on another device than the plan");
    if (t->rank < 0 || t->rank > GNN_MAX_RANK)
        return refuse(f, "ValueError", at, "it has too many axes");
    gnn_tensor *to = &f->tensors[f->order[at]];
    *to = (gnn_tensor){.data = (char *)t->data + t->byte_offset,
                       .dtype = q->dtype,
                       .rank = (uint32_t)t->rank,
                       .has_strides = t->strides != NULL};
    for (int32_t k = 0; k < t->rank; k++) {
        to->shape[k] = t->shape[k];
        if (t->strides) to->strides[k] = t->strides[k];
    }
    return 0;
}

static int read_number(gnn_ffi *f, uint32_t at, const any *v) {
    const rt_param *q = &f->plan->p->params[f->order[at]];
    gnn_scalar *to = &f->args[f->order[at]].scalar;
    const bool whole = v->type == ANY_INT || v->type == ANY_BOOL;
    if (!whole && v->type != ANY_FLOAT) return refuse(f, "TypeError", at, "a number is wanted");
    const bool integer = q->is_index || q->dtype == GNN_I32 || q->dtype == GNN_I64 ||
                         q->dtype == GNN_BOOL;
    if (integer && !whole) return refuse(f, "TypeError", at, "a whole number is wanted");
    const double x = whole ? (double)v->of.i : v->of.f;
    if (!integer && q->dtype == GNN_F64) to->f64 = x;
    else if (!integer) to->f32 = (float)x;
    else if (!q->is_index && q->dtype == GNN_I32) to->i32 = (int32_t)v->of.i;
    else to->i64 = v->of.i;
    return 0;
}

int gnn_ffi_call(void *self, const void *args, int32_t nargs, void *result) {
    gnn_ffi *f = self;
    const any *v = args;
    (void)result;   // none, as it is given
    if (nargs != (int32_t)f->count) {
        char text[256];
        snprintf(text, sizeof text,
                 "%.60s takes %u arguments (tensors and numbers, then results), and is given %d",
                 f->plan->p->name, f->count, nargs);
        f->api.raise("TypeError", text);
        return -1;
    }
    for (uint32_t i = 0; i < f->count; i++) {
        const bool number = f->plan->p->params[f->order[i]].role == GNN_PARAM_SCALAR;
        if (number ? read_number(f, i, &v[i]) : read_tensor(f, i, &v[i])) return -1;
    }
    gnn_stream stream = rt_on_cuda(f->plan->c) ? f->api.stream(DL_CUDA, f->plan->c->device) : NULL;
    if (!gnn_launch(f->plan, f->args, f->plan->p->nparams, f->workspace, f->bytes, stream))
        return 0;
    f->api.raise("RuntimeError", gnn_context_error(f->plan->c));
    gnn_context_clear_error(f->plan->c);
    return -1;
}
