// The gradient of an op, which is an op like any other: reverse mode on index equations. Its parameters are those of
// the op and, for each float result y, a tensor dy; its results are da for each a asked for. What it needs of the op's own
// stages it computes again, but for those that are saved: tensors, too, which the op has given as results.
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
} gradient_saved;

typedef struct {
    const char *name;        // of the gradient
    const tensor_val *wrt;   // tensors of floats among the op's parameters
    uint32_t nwrt;
    const gradient_saved *saved;
    uint32_t nsaved;
    const tensor_val *given;   // results of the op: tensors, too, where they save a walk over a row
    uint32_t ngiven;
    span at;                 // where it is asked for
} gradient_request;

// NULL: ds tells what has no gradient, and a way out.
tensor_op *tensor_gradient(arena *a, diag_set *ds, const tensor_op *op, const gradient_request *r);

// The op with what is saved among its results, behind its own.
tensor_op *tensor_saving(arena *a, const tensor_op *op, const char *name, const gradient_saved *saved,
                         uint32_t nsaved);

#endif
