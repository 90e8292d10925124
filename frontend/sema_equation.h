// An op's signature and equations, and ops that are called in these.
#ifndef GNNC_SEMA_EQUATION_H
#define GNNC_SEMA_EQUATION_H

#include "sema_expr.h"

// sema_signature.c
// a result of the op at hand or of one called in it, before its equations
typedef struct declared {
    const char *name;     // in the equations
    const char *target;   // what the outer op calls it
    tensor_val val;       // where it exists already, else TENSOR_NO_VAL: a stage to be made
    bool has_axes;
    uint32_t rank;
    const tensor_space *axes;
    span at;
} declared;
// Gives the op at hand its spaces and values, and the scope their names.
bool signature_declare(lowering *L, scope *s, const ast_item *op, const ast_names *generics,
                       const char *shown);
const char *signature_name(lowering *L, const ast_item *op, const scope *s, const char *shown);
void signature_require(lowering *L, scope *s, const ast_item *op);
bool generic_bind(lowering *L, scope *s, const ast_generic *g, const char *name, span at);

// sema_equation.c
typedef struct equations {   // the equations of one op, or of one called in it
    scope *scope;
    const ast_item *op;
    const char *prefix;   // of stage names; NULL: none
    VEC(declared) results;
    // per name of a target: how many equations fill it (number), and did so far (space)
    scope targets;
} equations;
void equations_lower(lowering *L, equations *q);
// sema_definition.c
bool definition_distinct(lowering *L, const definition *def, const char *name);   // false: reported
// Reads, in expressions made since first_expr, of what is not defined yet; in a recurrence of own,
// z[t + c] with c < offset is, which step is about to define.
void definition_check_reads(lowering *L, uint32_t first_expr, tensor_val own,
                            const definition *step, int64_t offset);
bool value_complete(const lowering *L, tensor_val val, uint32_t rank, const tensor_space *axes);
// sema_finish.c
// every result and element defined, nothing overwritten before it is read
void equations_finish(lowering *L);

// sema_call.c
void call_lower(lowering *L, equations *q, const ast_equation *eq);

#endif
