// Where tensors lie: extents, and whether two may share an element. The test may say yes where the
// answer is no, never the other way round; it tells apart the columns of one matrix.
#include "launch_plan.h"

int64_t rt_tensor_stride(const gnn_tensor *t, uint32_t axis) {
    if (t->has_strides) return t->strides[axis];
    int64_t stride = 1;
    for (uint32_t i = axis + 1; i < t->rank; i++)
        if (!rt_mul(stride, t->shape[i], &stride))
            return 0;   // an array of such a shape is empty, or its extent was refused
    return stride;
}

static bool is_empty(const gnn_tensor *t) {
    for (uint32_t i = 0; i < t->rank; i++)
        if (!t->shape[i]) return true;
    return false;
}

bool rt_tensor_extent(const gnn_tensor *t, size_t *bytes) {
    int64_t last = 0, element = (int64_t)gnn_dtype_bytes(t->dtype);
    *bytes = 0;
    if (is_empty(t)) return true;
    int64_t packed = 1;
    for (uint32_t i = t->rank; i--;) {
        int64_t reach, stride = t->has_strides ? t->strides[i] : packed;
        if (!rt_mul(t->shape[i] - 1, stride, &reach) || !rt_add(last, reach, &last) ||
            !rt_mul(packed, t->shape[i], &packed))
            return false;
    }
    if (!rt_add(last, 1, &last) || !rt_mul(last, element, &last)) return false;
    *bytes = (size_t)last;
    return true;
}

typedef struct {
    uint32_t n;
    // ascending strides, axes of one element left out
    int64_t shape[GNN_MAX_RANK], strides[GNN_MAX_RANK];
} axes;

static axes by_stride(const gnn_tensor *t) {
    axes a = {.n = 0};
    for (uint32_t i = t->rank; i--;) {
        int64_t stride = rt_tensor_stride(t, i);
        uint32_t at = a.n;
        if (t->shape[i] == 1) continue;
        for (; at && a.strides[at - 1] > stride; at--) {
            a.strides[at] = a.strides[at - 1];
            a.shape[at] = a.shape[at - 1];
        }
        a.strides[at] = stride;
        a.shape[at] = t->shape[i];
        a.n++;
    }
    return a;
}

// Sufficient: each axis steps past all that the finer ones reach.
bool rt_strides_overlap(const gnn_tensor *t) {
    int64_t reach = 1;
    if (is_empty(t)) return false;
    const axes a = by_stride(t);
    for (uint32_t i = 0; i < a.n; i++) {
        if (a.strides[i] < reach) return true;
        reach += (a.shape[i] - 1) * a.strides[i];   // the extent was found not to overflow
    }
    return false;
}

typedef struct {
    uintptr_t base;
    size_t bytes, run,
        // whole extent; of a contiguous piece; pieces lie multiples of pitch apart, 0: one piece
        pitch;
} lay;

static size_t gcd(size_t a, size_t b) {
    while (b) {
        size_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

static lay lay_of(const gnn_tensor *t) {
    lay l = {.base = (uintptr_t)t->data, .run = gnn_dtype_bytes(t->dtype)};
    if (is_empty(t) || !rt_tensor_extent(t, &l.bytes)) return l;
    const size_t element = l.run;
    const axes a = by_stride(t);
    for (uint32_t i = 0; i < a.n; i++) {
        size_t step = (size_t)a.strides[i] * element;
        if (step == l.run && !l.pitch) l.run *= (size_t)a.shape[i];
        else l.pitch = gcd(l.pitch, step);
    }
    return l;
}

static bool lays_overlap(lay a, lay b) {
    if (!a.bytes || !b.bytes || a.base + a.bytes <= b.base || b.base + b.bytes <= a.base)
        return false;
    size_t pitch = gcd(a.pitch, b.pitch);
    if (!pitch || a.run > pitch || b.run > pitch) return true;
    size_t apart = a.base <= b.base ? (b.base - a.base) % pitch
                                    : (pitch - (a.base - b.base) % pitch) % pitch;
    return apart < a.run || apart + b.run > pitch;
}

bool rt_tensors_overlap(const gnn_tensor *a, const gnn_tensor *b) {
    return lays_overlap(lay_of(a), lay_of(b));
}

bool rt_tensor_hits(const gnn_tensor *t, const void *memory, size_t bytes) {
    return lays_overlap(lay_of(t), (lay){.base = (uintptr_t)memory, .bytes = bytes, .run = bytes});
}
