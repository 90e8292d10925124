// Tensor IR: what an op means, as index equations over spaces, maps and tensors. Its f64 evaluator
// is the meaning of the language and the oracle of every test.
//
// Enters: built by frontend/ (names resolved, generics bound, functions and called ops inlined) or
// read from text. Leaves: the same in normal form: N1 an equation is either one reduction or
// reduction-free, so inner reductions are stages of their own; N2 a reduction's guard is split into
// keys (f(bound) == g(free)) and filters; N3 its indices stand in the order in which keys find the
// fewest points, however they were written; N4 normalisers such as softmax are stages; N5
// expressions are shared; N6 the order of independent equations says nothing. Memory: the arena of
// the op.
//
//     spmm:  y.sum[v, f] = sum {e : dst(e) == v} mul(w(e), x(src(e), f))        a reduction
//            y[v, f]     = y.sum(v, f)                                          stored, rounded to y's type
// (where nothing follows the reduction, y is the reduction's own target and there is one stage).
#ifndef GNNC_TENSOR_H
#define GNNC_TENSOR_H

#include "tensor_op.h"      // the op and what it consists of
#include "tensor_build.h"   // building, asking
#include "tensor_text.h"    // text, verification
// Where it is evaluated: tensor_eval.h.

#endif
