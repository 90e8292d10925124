// Passes: from tensor IR to a program of SIMT kernels. One idea a file; passes.def lists the passes in order.
//
// Enters: verified tensor IR. Leaves: a program whose simt module verifies. Memory: the arena passed first.
//
//     program *p = pass_naive(a, ds, op, &(pass_options){.index_bits = 32});     // NULL: ds tells why
#ifndef GNNC_PASSES_H
#define GNNC_PASSES_H

#include "tensor.h"

typedef struct {
    const char *name, *summary;
} pass_info;
const pass_info *pass_at(uint32_t i);   // NULL past the last

typedef struct {
    uint32_t index_bits;   // 32 or 64: of index arrays, given and prepared
} pass_options;

// The naive plan, kept for ever as --no-schedule: every stage is a kernel with one thread a point of its
// targets; a reduction is serial in index order over the points its keys leave. Right for every op on every
// target.
program *pass_naive(arena *a, diag_set *ds, const tensor_op *op, const pass_options *o);

#endif
