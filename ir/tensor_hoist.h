// Products of rows with matrices, which every point of a row has in common, before an op is
// differentiated.
#ifndef GNNC_TENSOR_HOIST_H
#define GNNC_TENSOR_HOIST_H

#include "tensor_op.h"

// The expression reads what the map says of the variable, and nothing else of that.
bool tensor_reads_row(const tensor_op *op, tensor_expr e, tensor_var point, tensor_val map);
// Something is found for each value of the space anyway: a result or a sum has them all.
bool tensor_has_all_rows(const tensor_op *op, tensor_space rows);
// The term is a product with a matrix: one factor has nothing of the stage's first index, the other
// nothing of the last one, of which there are some.
bool tensor_is_with_matrix(const tensor_op *op, const tensor_stage *st, tensor_expr term);
// A sum of numbers over all points of spaces that no map leads to or from, and no more than that.
bool tensor_sums_dense(const tensor_op *op, const tensor_stage *st);
// So many terms that to find their sum takes longer than to read it.
bool tensor_sums_many(const tensor_op *op, const tensor_stage *st);
typedef struct {
    tensor_expr of;
    bool minus;
} tensor_addend;
// What the expression adds up and takes away, from left to right: so many, at most `most`.
uint32_t tensor_addends(const tensor_op *op, tensor_expr e, tensor_addend *out, uint32_t most);
// With one more; sum: of those before it, 0: none.
tensor_expr tensor_add_addend(tensor_op *op, tensor_expr sum, tensor_addend one);
bool tensor_hoist_rows(tensor_op *op);   // false: there are none

#endif
