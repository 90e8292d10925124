// An op in f64 throughout, as finite differences need it.
#ifndef GNNC_WIDEN_H
#define GNNC_WIDEN_H

#include "tensor.h"

// Every float becomes f64, and what rounds one keeps it. The op is for evaluation alone.
void tensor_widen(tensor_op *op);

#endif
