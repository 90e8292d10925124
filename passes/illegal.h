// A plan that is not legal, though no statement was refused: which statement asked for it.
#ifndef GNNC_PLAN_ILLEGAL_H
#define GNNC_PLAN_ILLEGAL_H

#include "planning.h"

// A plan, legal or not: *fault says why it does not verify, or stays. NULL: a statement was
// refused.
loop_plan *plan_try(arena *a, diag_set *ds, const tensor_op *op, schedule *s, const machine *m,
                    version_facts *facts, const char **fault);
bool plan_written(const schedule *s);   // some of it is a user's; the default filled in the rest
// Reports it. asked: what the version supposed before it was planned.
void plan_report_illegal(planner *p, const tensor_op *given, const version_facts *asked,
                         const char *fault);

#endif
