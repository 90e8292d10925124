// The type of 16 bits that an expression's values have; whether matrix operations may have a sum.
#include "default/ask/ask.h"
#include "base/base.h"

// A conversion between floats of which it is an argument loses nothing.
ir_dtype default_narrow_type(const tensor_op *op, tensor_expr e) {
    const tensor_node *n = tensor_node_at(op, e);
    while (n->op == TENSOR_CVT_OP && tensor_type_is_float(n->type))
        e = n->args[0], n = tensor_node_at(op, e);
    return tensor_held_in(op, e);
}

bool default_is_scalar(const planner *p, const tensor_stage *st) {
    const plan_retreat *r = p->facts->retreat;
    return !p->machine->gpu || p->facts->no_matrices || (r && plan_has_id(&r->scalar, st->id));
}
