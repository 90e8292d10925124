// The gradient of an op, which is an op like any other: reverse mode on index equations. Its
// parameters are those of the op and, for each float result y, a tensor dy; its results are da for
// each a asked for. What it needs of the op's own stages it computes again, but for those that are
// saved: tensors, too, which the op has given as results.
//
//     y[v, f] = sum {e : dst[e] == v} mul(w[e], x[src[e], f])
//  →  dw[e]    = sum {f} mul(dy[dst[e], f], x[src[e], f])
//     dx[u, f] = sum {e : src[e] == u} mul(dy[dst[e], f], w[e])
#ifndef GNNC_GRADIENT_H
#define GNNC_GRADIENT_H

#include "tensor.h"

typedef struct {
    tensor_val val;   // of a stage of the op that writes nothing else
    ir_dtype type;    // that it is kept in
    // of the softmax whose maximum `val` is: what is kept is val + log(sum); TENSOR_NO_VAL: val
    // itself
    tensor_val sum;
} gradient_saved;

// What a saved value is called: of a softmax "a.lse".
const char *gradient_saved_name(arena *a, const tensor_op *op, const gradient_saved *x);
// Whether an op depends on both as on the maximum and the sum of a softmax alone
// (gradient_softmax.c).
bool tensor_is_softmax(arena *a, const tensor_op *op, tensor_val max, tensor_val sum);

typedef struct {
    const char *name;        // of the gradient
    const tensor_val *wrt;   // tensors of floats among the op's parameters
    uint32_t nwrt;
    const gradient_saved *saved;
    uint32_t nsaved;
    const tensor_val *given;   // results of the op: tensors, too, where they save a walk over a row
    uint32_t ngiven;
    span at;   // where it is asked for
} gradient_request;

// NULL: ds tells what has no gradient, and a way out.
tensor_op *tensor_gradient(arena *a, diag_set *ds, const tensor_op *op, const gradient_request *r);

// The op with what is saved among its results, behind its own.
tensor_op *tensor_saving(arena *a, const tensor_op *op, const char *name,
                         const gradient_saved *saved, uint32_t nsaved);

// The op without the stages that none of its results needs, directly or by others: `op` itself
// where all are needed, and where results do not come last among its parameters, as those of the
// language do.
tensor_op *tensor_without_unread(arena *a, tensor_op *op);

#endif
