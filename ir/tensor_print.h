// The writer of tensor IR text: what loop IR's shares with it.
#ifndef GNNC_TENSOR_PRINT_H
#define GNNC_TENSOR_PRINT_H

#include "tensor_internal.h"

typedef struct {
    textbuf *out;
    const tensor_op *op;
    arena *scratch;
    const char **spaces, **vals, **reducers, **vars;   // names in the text
    uint32_t *uses, *depth, *let;                      // per expression, within one equation
    // expressions of the equation, arguments first
    VEC(tensor_expr) order;
    uint32_t nlets;
} printer;

printer tensor_printer(textbuf *out, const tensor_op *op, arena *scratch);   // names are chosen
void tensor_print_op(printer *p);

// Expressions of one equation: all are collected, lets are written, then each is, then they are
// forgotten.
void tensor_print_collect(printer *p, tensor_expr root);
// Each let on a line of its own.
void tensor_print_lets(printer *p, const char *indent);
void tensor_print_expr(printer *p, tensor_expr e, bool defining);
void tensor_print_forget(printer *p);

// A set of names: open hashing, never more than half full.
typedef struct {
    arena *arena;
    const char **slots;
    uint32_t count, cap;
} name_set;
name_set tensor_print_constants(arena *a);                  // words that stand where variables do
const char *tensor_print_fit(arena *a, const char *name);   // as the text can hold it
const char *tensor_print_unique(name_set *set,
                                // fit, unlike those of the set, to which it is added
                                const char *name);

#endif
