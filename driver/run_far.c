// Tensors that reach further than memory does: from one point of the outermost axis to the next it
// is so far that offsets of elements reach the end of 31 bits, or pass it. Nothing lies in between,
// and what is not touched of the memory does not exist.
#define _DEFAULT_SOURCE
#include "run_memory.h"

#include <sys/mman.h>

enum { APART = 64, MULTIPLE = 16 };   // elements between slices of the image; vectors stay aligned

bool run_is_far(run_layout l) { return l == LAYOUT_REACH || l == LAYOUT_FAR; }

bool run_check_far(run_session *r) {
    if (!run_is_far(r->asked.layout) || (!r->pack && (r->simulator || r->target.kind == CG_HOST)))
        return true;
    usage(r->d, E0812,
          "--layout=%s takes --target=host or sim: elsewhere all of the memory has to be there",
          option_text(r->d, OPT_LAYOUT, ""));
    return false;
}

void run_choose_far(run_layout layout, run_buffer *x) {
    static const int64_t narrow = PASS_NARROW_OFFSETS, past = INT64_C(1) << 31;
    int64_t inner = x->strides[0], steps = x->shape[0] - 1;
    if (steps < 1 || !inner) return;
    for (uint32_t k = 1; k < x->rank; k++)
        if (!x->shape[k]) return;   // empty: no slice has a byte
    int64_t apart = layout == LAYOUT_FAR ? past / steps + MULTIPLE : (narrow - inner) / steps;
    apart -= apart % MULTIPLE;
    if (apart < inner + APART) return;
    x->strides[0] = inner + APART;
    x->apart = apart;
}

bool run_map_far(run_op *o, run_buffer *x, size_t element) {
    x->mapped = x->bytes + (size_t)((x->shape[0] - 1) * (x->apart - x->strides[0])) * element;
    x->memory = mmap(NULL, x->mapped, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (x->memory != MAP_FAILED) return true;
    diag(o->r->d->ds, E0824, o->op->op->at, "%s: this machine gives no %.1f GiB of addresses",
         o->op->name, (double)x->mapped / 1073741824.0);
    x->memory = NULL;
    x->mapped = 0;   // nothing is there to be given back
    return false;
}

void run_unmap_far(run_buffer *x) {
    if (x->mapped) munmap(x->memory, x->mapped);
}

bool run_copy_far(run_op *o, const run_buffer *x, bool in) {
    gnn_context *c = o->r->context;
    size_t element = gnn_dtype_bytes(x->dtype), begin = 0;
    for (int64_t i = 0; i < x->shape[0]; i++) {
        bool last = i + 1 == x->shape[0];
        size_t end = last ? x->bytes : x->first + (size_t)((i + 1) * x->strides[0]) * element;
        uint8_t *at = (uint8_t *)x->memory + begin +
                      (size_t)(i * (x->apart - x->strides[0])) * element;
        if (run_failed(o, in ? gnn_copy_in(c, at, x->image + begin, end - begin, NULL)
                             : gnn_copy_out(c, x->image + begin, at, end - begin, NULL)))
            return false;
        begin = end;
    }
    return true;
}
