// Text and verification of tensor IR (TENSOR.md).
#ifndef GNNC_TENSOR_TEXT_H
#define GNNC_TENSOR_TEXT_H

#include "tensor_op.h"

void tensor_print(textbuf *out, const tensor_op *op);
// One op or several from text; each reads back to the same text. false: ds tells why.
typedef VEC(tensor_op *) tensor_ops;
bool tensor_parse(arena *a, diag_set *ds, const source_file *text, tensor_ops *out);
const char *tensor_verify(arena *a, const tensor_op *op);   // NULL, or what is wrong, in words
// likewise; it may have prepared values and graph sizes
const char *tensor_verify_of_plan(arena *a, const tensor_op *op);

#endif
