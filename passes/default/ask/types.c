// The type of 16 bits that an expression's values have.
#include "default/ask/ask.h"

// A conversion between floats of which it is an argument loses nothing.
ir_dtype default_narrow_type(const tensor_op *op, tensor_expr e) {
    const tensor_node *n = tensor_node_at(op, e);
    while (n->op == TENSOR_CVT_OP && tensor_type_is_float(n->type))
        e = n->args[0], n = tensor_node_at(op, e);
    return tensor_held_in(op, e);
}
