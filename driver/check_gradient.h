// gnnc check --grad: what its files share.
#ifndef GNNC_CHECK_GRADIENT_H
#define GNNC_CHECK_GRADIENT_H

#include "run.h"

#include <math.h>

// An op on the way from one that is no gradient to the one that is checked: each is the gradient of
// the one below.
typedef struct {
    const tensor_op *op;      // in f64
    const ast_names *wrt;     // of its parameters, those by which the one above differentiates it
    tensor_array *inputs;     // per value below nparams
    tensor_array **weights;   // per float result: what the one above is given for it
    uint32_t nweights;
} check_level;

typedef struct {
    int64_t elements, compared, skipped, not_finite;
    double worst;   // error over the largest element of the gradient
    int64_t worst_at, first_not_finite;
    const char *beyond;   // what the type at hand makes of it; NULL: numbers
} outcome;

typedef struct {
    driver *d;
    const tensor_op *own, *gradient;   // as it is, and in f64
    const tensor_op *saving, *saved;   // twins of the op and the gradient; NULL: nothing is saved
    check_level *levels;               // the op that is no gradient first
    uint32_t depth;
    const tensor_op *root;   // the first of them as it is
    const ast_names *wrt;    // of the gradient
    // of the gradient, whose parameters are those of all levels and more
    binding *b;
    // per value below nparams of the gradient: of their types; the same numbers in f64
    tensor_array *narrow, *wide;
    const int64_t *sizes;
    int64_t left_out;    // elements of results that are not finite, or uncertain
    int64_t uncertain;   // of those: rounding alone could turn what they choose
    double reach;        // of the inputs that the type at hand was tried with
    VEC(const char *) cells;
    VEC(const char *) told;   // of the inputs: lines below the table
    uint32_t rows;
} checking;

// a parameter or result; TENSOR_NO_VAL: none
tensor_val check_named(const tensor_op *op, const char *name);
int64_t check_elements(const tensor_array *x);
bool check_evaluate(checking *c, const tensor_op *op, const tensor_array *inputs, arena *a,
                    tensor_evaluated *out);
double check_value_at(const tensor_evaluated *x, int64_t k);   // NaN where any may stand
bool check_told_not_finite(const tensor_evaluated *x, int64_t k);

// ---- Differences (check_difference.c) -----------------------------------------------------------
// What the gradient differentiates is a number, the sum of what the level below it gives, times
// weights. It is told by the op that is no gradient alone: a level above that is a difference of it
// along the weights.
bool check_leave_out(checking *c);   // weighs nothing that is not finite
bool check_element(checking *c, tensor_array *x, int64_t at, double given, double largest,
                   outcome *o);
// whether there is a derivative
bool check_is_smooth(checking *c, tensor_array *x, int64_t at, bool *out);
double check_tolerance(const checking *c);
void check_note_error(outcome *o, double error, int64_t at);

// ---- Inputs (check_inputs.c) --------------------------------------------------------------------
// other random inputs where results are not finite, where that helps
bool check_find_domain(checking *c);
// Whether the gradient has numbers in its own type where it has some in f64, of inputs that reach
// 1, 100 and 10,000.
bool check_in_type(checking *c, outcome *outcomes);

#endif
