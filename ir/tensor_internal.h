// What the files of tensor IR share and nobody else sees.
#ifndef GNNC_TENSOR_INTERNAL_H
#define GNNC_TENSOR_INTERNAL_H

#include "tensor.h"

// Why a node may not stand in op (its arguments' handles are valid), in words; NULL where it may.
const char *tensor_node_fault(arena *a, const tensor_op *op, const tensor_node *n);
// The type that follows from the operation and its arguments, where it does (arithmetic, compares,
// maths, select, stop, …); for the others the node's own.
tensor_type tensor_result_type(const tensor_op *op, const tensor_node *n);
// As tensor_verify; the op of a plan may have prepared values.
const char *tensor_fault(arena *a, const tensor_op *op, bool of_plan);
const char *tensor_type_text(arena *a, const tensor_op *op, tensor_type t);

// What the (checked) node n is equal to where that is an existing or simpler expression, exactly
// and on every target; else 0.
tensor_expr tensor_fold(tensor_op *op, const tensor_node *n);

// What a node says of its whole expression, by the nodes of its arguments.
void tensor_node_tell(arena *a, const tensor_node *all, tensor_node *n);
// Other nodes than it had: what is given is the op's now.
void tensor_take_nodes(tensor_op *op, tensor_node *nodes, uint32_t n);
// Values and spaces under other numbers: each has vals[v], spaces[s]. Those of parameters stay.
void tensor_renumber(tensor_op *op, const tensor_val *vals, const tensor_space *spaces);

// Name of the builtin reducer of a kind; NULL for REDUCE_USER.
const char *tensor_reduce_name(tensor_reduce_kind kind);

#endif
