// Ops evaluated for gnnc check --grad, and elements of what comes out.
#include "check_gradient.h"

#include <string.h>

tensor_val check_named(const tensor_op *op, const char *name) {
    for (tensor_val v = 0; v < op->nparams; v++)
        if (!strcmp(op->vals.data[v].name, name)) return v;
    return TENSOR_NO_VAL;
}

int64_t check_elements(const tensor_array *x) {
    int64_t n = 1;
    for (uint32_t i = 0; i < x->rank; i++) n *= x->shape[i];
    return n;
}

bool check_evaluate(checking *c, const tensor_op *op, const tensor_array *inputs, arena *a,
                    tensor_evaluated *out) {
    const char *why = "";
    tensor_eval_input in = {.sizes = c->sizes, .inputs = inputs};
    if (tensor_eval(a, op, &in, out, &why)) return true;
    diag(c->d->ds, E0821, NO_SPAN, "op '%s' cannot be evaluated: %s", op->name, why);
    return false;
}

// Where any value may stand the evaluator has a 0.
double check_value_at(const tensor_evaluated *x, int64_t k) {
    return isinf(x->bound[k]) ? (double)NAN : x->value[k];
}

bool check_told_not_finite(const tensor_evaluated *x, int64_t k) {
    return !isinf(x->bound[k]) && !isfinite(x->value[k]);
}
