// Memory of a tensor as it would lie in an application's, between guards.
#include "replay.h"

#include <stdlib.h>
#include <string.h>

enum { GUARD = 256 };

static size_t element_bytes(const region *x) { return gnn_dtype_bytes(x->tensor.dtype); }

// Elements from the first to the end of the last; -1: too many.
static int64_t extent(const gnn_tensor *t, int64_t *count) {
    int64_t last = 0, step;
    *count = 1;
    for (uint32_t k = 0; k < t->rank; k++) {
        if (t->shape[k] < 0 || t->strides[k] < 0 ||
            __builtin_mul_overflow(*count, t->shape[k], count))
            return -1;
        if (t->shape[k] && (__builtin_mul_overflow(t->shape[k] - 1, t->strides[k], &step) ||
                            __builtin_add_overflow(last, step, &last)))
            return -1;
    }
    return last > (int64_t)1 << 32 ? -1 : *count ? last + 1 : 0;
}

gnn_status region_new(gnn_context *c, const gnn_tensor *like, size_t align, size_t off, region *x) {
    *x = (region){.context = c, .tensor = *like};
    const int64_t elements = extent(like, &x->count);
    if (elements < 0 || off > GUARD || align > 1 << 20) return GNN_TOO_LARGE;
    if (align < GUARD) align = GUARD;
    x->bytes = GUARD + align + off + (size_t)elements * element_bytes(x) + GUARD;
    x->image = malloc(x->bytes);
    x->wanted = malloc(x->bytes);
    gnn_status s = x->image && x->wanted ? gnn_alloc(c, x->bytes, &x->memory) : GNN_NO_MEMORY;
    if (s) return s;
    x->first = ((uintptr_t)x->memory + GUARD + align - 1) / align * align - (uintptr_t)x->memory +
               off;
    x->tensor.data = (uint8_t *)x->memory + x->first;
    return GNN_OK;
}

void region_free(region *x) {
    if (x->memory) gnn_free(x->context, x->memory);
    free(x->image);
    free(x->wanted);
    *x = (region){0};
}

// Calls with the place of each element in the image, in row-major order.
static void walk(const region *x, uint8_t *image, uint8_t *packed, bool put) {
    const size_t n = element_bytes(x);
    int64_t at[GNN_MAX_RANK] = {0}, place = 0;
    for (int64_t i = 0; i < x->count; i++) {
        uint8_t *in = image + x->first + (size_t)place * n, *out = packed + (size_t)i * n;
        memcpy(put ? in : out, put ? out : in, n);
        for (uint32_t k = x->tensor.rank; k-- > 0;) {
            place += x->tensor.strides[k];
            if (++at[k] < x->tensor.shape[k]) break;
            place -= x->tensor.shape[k] * x->tensor.strides[k];
            at[k] = 0;
        }
    }
}

void region_put(const region *x, uint8_t *image, const void *elements) {
    walk(x, image, (uint8_t *)(uintptr_t)elements, true);
}
void region_get(const region *x, void *elements) { walk(x, x->image, elements, false); }

static void make(const region *x, uint8_t *image, uint8_t poison, const void *elements) {
    memset(image, poison, x->bytes);
    if (elements) region_put(x, image, elements);
}

gnn_status region_upload(region *x, uint8_t poison, const void *elements) {
    make(x, x->image, poison, elements);
    return gnn_copy_in(x->context, x->memory, x->image, x->bytes, NULL);
}

gnn_status region_download(region *x) {
    gnn_status s = gnn_copy_out(x->context, x->image, x->memory, x->bytes, NULL);
    return s ? s : gnn_sync(x->context, NULL);
}

bool region_intact(const region *x, uint8_t poison, const void *elements) {
    make(x, x->wanted, poison, elements);
    return !memcmp(x->wanted, x->image, x->bytes);
}
