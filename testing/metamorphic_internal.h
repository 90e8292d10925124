// What the files of metamorphic relations share and nobody else sees.
#ifndef GNNC_METAMORPHIC_INTERNAL_H
#define GNNC_METAMORPHIC_INTERNAL_H

#include "metamorphic.h"

static inline uint64_t meta_random(uint64_t seed, uint64_t at) {   // splitmix64
    uint64_t z = seed + (at + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

// Each fills in what the op says of the relation: why_not, or result and the rest.
void meta_permuted(arena *a, const tensor_op *op, meta_relation *r);
void meta_scaled(arena *a, const tensor_op *op, meta_relation *r);
void meta_split(arena *a, const tensor_op *op, meta_relation *r);
// Of these spaces the one that stands for all whose points have the same numbers as its own.
tensor_space meta_leader(arena *a, const tensor_op *op, tensor_space s);

// Each makes the new numbering and sizes, or the new values. false: *why.
bool meta_permute(arena *a, const tensor_op *op, meta_change *c, const tensor_eval_input *in,
                  uint64_t seed, const char **why);
bool meta_scale(arena *a, meta_change *c, uint64_t seed, const char **why);
bool meta_cut(arena *a, const tensor_op *op, meta_change *c, const tensor_eval_input *in,
              uint64_t seed, const char **why);

uint32_t meta_bytes(ir_dtype t);   // of an element of a tensor_array
int64_t meta_points(const tensor_array *x);
// along its axes
void meta_move(arena *a, const tensor_op *op, meta_change *c, tensor_val v, const tensor_array *x);

#endif
