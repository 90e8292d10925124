// What the files of loop IR share and nobody else sees.
#ifndef GNNC_LOOP_INTERNAL_H
#define GNNC_LOOP_INTERNAL_H

#include "loop.h"
#include "loop_field.h"

// Names in the text of a plan. A variable of a stage or the step of a recurrence has its own name
// where no other variable and no value bears it, else STAGE.NAME; a position, which is a variable
// of neither, has a name unlike all of them.
typedef struct {
    const char **stages;
    const char **vars;   // NULL: of no stage, and not bound in the plan
} loop_names;
// vals: as the text has them; own: variables where their stage is written; positions: those that
// are, by variable.
loop_names loop_names_of(arena *a, const tensor_op *op, const char *const *vals,
                         const char *const *own, const bool *positions);

// Names of stages in a text, and what its sizes call the spaces and parameters of an op.
const char **loop_stage_names(arena *a, const tensor_op *op);
program loop_names_in_sizes(arena *a, const tensor_op *op, const char *const *spaces,
                            const char *const *vals);

// no two stages have a variable in common, but the step of their recurrence
void loop_own_variables(tensor_op *op);

typedef struct {
    const char *text;
    bool body;         // nodes stand in it
    uint32_t around;   // bits of the kinds that may stand around it
    const char *why;   // not others
} loop_node_form;
const loop_node_form *loop_node_table(loop_node_kind k);

// The expressions of a node that stand where it does, in the order of the text, into a vector that
// is emptied first.
typedef VEC(tensor_expr) loop_exprs;
void loop_exprs_of(arena *a, const loop_node *n, loop_exprs *out);

// As loop_verify; *at: the node at fault, else the kernel or the op.
const char *loop_fault(arena *a, const loop_plan *p, span *at);

enum {
    LOOP_MAX_DEPTH = 64,
    LOOP_MAX_POINTS = 1 << 20
};   // nodes within one another; the product of a loop's digits

#endif
