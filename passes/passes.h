// Passes: from tensor IR to a program of SIMT kernels. One file per pass; passes.def lists them in order.
//
// Enters: verified tensor IR. Leaves: a program whose simt module verifies.
#ifndef GNNC_PASSES_H
#define GNNC_PASSES_H

#include "tensor.h"

typedef struct {
    uint32_t index_bits;     // 32 or 64
} pass_options;

// The naive plan: every stage that reduces or is a result is a kernel, one thread a point, reductions serial over the
// preimage. Right for every op on every target; kept as --no-schedule. NULL: ds tells why.
program *pass_naive(arena *a, diag_set *ds, const tensor_op *op, const pass_options *o);

#endif
