// See tensor_set.h.
#include "tensor_set.h"

static tensor_set *set_new(arena *a, uint32_t most) {
    return arena_alloc(a, sizeof(tensor_set) + sizeof(uint32_t) * most);
}

// How many are in both.
static uint32_t common(const tensor_set *x, const tensor_set *y) {
    uint32_t n = 0;
    for (uint32_t i = 0, k = 0; i < x->n && k < y->n;) {
        const uint32_t l = x->at[i], r = y->at[k];
        n += l == r;
        i += l <= r;
        k += r <= l;
    }
    return n;
}

bool tensor_set_all(const tensor_set *of, const tensor_set *s) {
    return !s || of == s || (of && of->n >= s->n && common(of, s) == s->n);
}

const tensor_set *tensor_set_join(arena *a, const tensor_set *x, const tensor_set *y) {
    if (!x || !y || x == y) return x ? x : y;
    const uint32_t both = common(x, y);
    if (both == y->n) return x;
    if (both == x->n) return y;
    tensor_set *s = set_new(a, x->n + y->n - both);
    for (uint32_t i = 0, k = 0; i < x->n || k < y->n;) {
        const bool left = k == y->n || (i < x->n && x->at[i] <= y->at[k]),
                   right = i == x->n || (k < y->n && y->at[k] <= x->at[i]);
        s->at[s->n++] = left ? x->at[i] : y->at[k];
        i += left;
        k += right;
    }
    return s;
}

const tensor_set *tensor_set_with(arena *a, const tensor_set *s, uint32_t x) {
    if (tensor_set_has(s, x)) return s;
    tensor_set *one = set_new(a, 1);
    one->at[one->n++] = x;
    return tensor_set_join(a, s, one);
}
