// Metamorphic relations: changes of an op's inputs that its results must follow in a known way,
// whatever they are. They need no oracle, so they also judge the evaluator (Chen, Cheung and Yiu,
// Metamorphic testing: a new approach for generating next test cases, 1998). Which of them an op
// has follows from its equations alone:
//
//   nodes, edges, features   the points of a space are numbered anew, along every axis, in every map
//   scaled                   a float input times a power of two: results times that to their degree in it
//   split                    a row of a space becomes two that share its entries; sums over rows add up
//
//     meta_relations all = {0};
//     meta_find(arena, op, &all);
//     meta_change c;
//     if (all.data[0].why_not || !meta_apply(arena, op, &all.data[0], &in, seed, &c, &why)) return;
//     tensor_eval(arena, op, &c.in, after, &why);
//     meta_compare(op, &c, result, &before[0], &after[0]);
#ifndef GNNC_METAMORPHIC_H
#define GNNC_METAMORPHIC_H

#include "tensor_eval.h"

typedef enum {
    META_NODES,
    META_EDGES,
    META_FEATURES,
    META_SCALED,
    META_SPLIT,
    META_KINDS
} meta_kind;
const char *meta_kind_text(meta_kind k);   // "nodes"

// What a result does, per value below nparams. Permuted: META_EXACT where no order of summation can
// change it. Scaled: twice its degree, for roots. Split: META_COPY, or the axis along which rows
// add up. META_NOTHING: it is not compared.
enum { META_NOTHING = INT32_MAX, META_COPY = -1, META_BOUND = 0, META_EXACT = 1 };

typedef struct {
    meta_kind kind;
    const char *name;      // of the space or input
    tensor_space space;    // permuted, or whose row is split
    tensor_val input;      // scaled
    const char *why_not;   // the op has no such relation; NULL: it has
    int32_t *result;
    uint8_t *moves;   // permuted: per space, whether its points may get other numbers
    uint32_t nresorted;
    // permuted: spaces that follow, so that their sorted maps stay sorted
    const tensor_space *resorted;
} meta_relation;
typedef VEC(meta_relation) meta_relations;

// Every change that makes sense for a parameter of the op, those it cannot follow among them.
void meta_find(arena *a, const tensor_op *op, meta_relations *out);

typedef struct {
    const meta_relation *relation;
    tensor_eval_input in;   // the changed inputs
    int64_t *sizes;         // per space; what in.sizes points at
    tensor_array *inputs;   // in.inputs
    const int64_t **from;   // per space: the old number of each new point; NULL: the same
    int exponent;           // scaled by 2 to it
    int64_t row;            // split into row and row + 1
    // what is compared adds its terms up in an order of its own each time: no permutation is exact
    bool unordered;
} meta_change;
// false: *why says what about these inputs leaves nothing to change.
bool meta_apply(arena *a, const tensor_op *op, const meta_relation *r, const tensor_eval_input *in,
                uint64_t seed, meta_change *out, const char **why);

// A result before and after: values with bounds, of the evaluator or of an implementation.
// Positions are those after.
tensor_comparison meta_compare(const tensor_op *op, const meta_change *c, tensor_val result,
                               const tensor_evaluated *before, const tensor_evaluated *after);

#endif
