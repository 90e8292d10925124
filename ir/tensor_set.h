// Sets of variables or values, each once, in order. What is in one never changes: sets are shared.
// Every node of an expression knows the variables that it mentions and the values that it loads, so
// that nobody walks an expression for that: a node that many arguments share stands on countless
// ways.
#ifndef GNNC_TENSOR_SET_H
#define GNNC_TENSOR_SET_H

#include "support/support.h"

typedef struct tensor_set {
    uint32_t n;
    uint32_t at[];
} tensor_set;   // NULL: the empty one

static inline bool tensor_set_has(const tensor_set *s, uint32_t x) {
    uint32_t i = 0;
    while (s && i < s->n && s->at[i] < x) i++;
    return s && i < s->n && s->at[i] == x;
}
// One of the two where that has all of the other.
const tensor_set *tensor_set_join(arena *a, const tensor_set *x, const tensor_set *y);
bool tensor_set_all(const tensor_set *of, const tensor_set *s);   // of s, that they are in `of`
const tensor_set *tensor_set_with(arena *a, const tensor_set *s, uint32_t x);

#endif
