// What every file of bind*.c asks of a binding, and how it tells a fault.
#include "bind.h"

#include <unistd.h>

diagnostic *bind_fault(binding *b, tensor_val v, diag_code code, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    const char *message = arena_vprintf(b->d->arena, format, ap);
    va_end(ap);
    return diag(b->d->ds, code, b->op->vals.data[v].at, "%s: '%s' %s", b->op->name,
                b->op->vals.data[v].name, message);
}

bool bind_points(const binding *b, const tensor_val_info *v, int64_t *out) {
    bool fits = true, empty = false;
    *out = 1;
    for (uint32_t k = 0; k < v->rank; k++) {
        int64_t n = b->sizes[v->axes[k]];
        empty |= n == 0;
        fits &= n == 0 || !__builtin_mul_overflow(*out, n, out);
    }
    if (empty) *out = 0;
    return empty || (fits && *out <= (int64_t)1 << 34);
}

uint64_t bind_stream(const binding *b, tensor_val v) {
    uint64_t hash = 0xcbf29ce484222325u;   // FNV-1a
    for (const char *c = b->op->vals.data[v].name; *c; c++)
        hash = (hash ^ (uint8_t)*c) * 0x100000001b3u;
    return bind_mix(hash ^ bind_mix(b->sources[v].seed + 1));
}

double bind_memory(void) {
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && bytes > 0 ? (double)pages * (double)bytes : 1e9;
}
