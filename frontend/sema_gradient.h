// Gradients that a file asks for, and what their ops save for them.
#ifndef GNNC_SEMA_GRADIENT_H
#define GNNC_SEMA_GRADIENT_H

#include "autodiff/gradient.h"
#include "sema.h"

// What is saved (sema_saved.c): stages of f, which the path names, in its order; and its results
// that a gradient may read, those that are to be read first.
typedef struct {
    VEC(gradient_saved) stages;
    VEC(tensor_val) results;
    uint32_t nasked;
} saved_stages;
// Gradients (sema_gradient.c): what one is called, by which name it is found, the op that it is of
// in the end.
const char *gradient_path(sema *s, const ast_item *grad);
const ast_item *gradient_find(sema *s, const char *path);
const ast_item *gradient_source(sema *s, const ast_path *path, uint32_t depth);
const char *gradient_name_in_c(sema *s, const char *path);   // a point is an underscore
// What it is with respect to, of what it differentiates.
const ast_names *gradient_names(sema *s, const ast_item *grad, const tensor_op *op);
void gradient_check(sema *s, const ast_item *grad);
// what it is of
tensor_op *gradient_lower_source(sema *s, const ast_item *grad,
                                 tensor_op *(*forward)(sema *, const ast_item *, const char *),
                                 const char *source);
tensor_op *gradient_lower(sema *s, const ast_item *grad,
                          tensor_op *(*forward)(sema *, const ast_item *, const char *),
                          const char *source);
tensor_op *gradient_derive(sema *s, const ast_item *grad, const tensor_op *f,
                           const saved_stages *kept);
tensor_op *gradient_verified(sema *s, tensor_op *made);
// Of f, lowered from `item`: the op that gives what its gradients save, and such a gradient. NULL:
// nothing is saved, or a fault was told.
tensor_op *saved_lower_forward(sema *s, const ast_item *item, tensor_op *f);
tensor_op *saved_lower_gradient(sema *s, const ast_item *grad, tensor_op *f);
// of one of those gradients
bool saved_list(sema *s, const ast_item *grad, const tensor_op *f, frontend_kept_list *out);
// what schedules of the gradient g say
void saved_check(sema *s, const ast_item *grad, const tensor_op *f, const tensor_op *g);

#endif
