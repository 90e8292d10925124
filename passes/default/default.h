// What passes/ asks of the default schedule beside all of it (plan_default): one kernel of it, for
// what a schedule leaves open, and what it supposes then.
#ifndef GNNC_DEFAULT_H
#define GNNC_DEFAULT_H

#include "default/cells/cells.h"

// ---- kernel.c -----------------------------------------------------------------------------------
// all cells of a kernel of these stages, as `rows` says
void default_kernel(making *m, const stage_group *g);

// ---- expand.c -----------------------------------------------------------------------------------
void default_expand(making *m);   // reductions of a few terms, where they are read

// ---- hoisted.c ----------------------------------------------------------------------------------
// The op in which what points have in common is found once a row; statements of `s` say so.
tensor_op *default_hoist(planner *p, schedule *s);

// ---- scalars.c ----------------------------------------------------------------------------------
// The op in which chains of stages of a few numbers a point have a stage for each number; likewise.
tensor_op *default_scalarize(planner *p, schedule *s);

// ---- guards.c -----------------------------------------------------------------------------------
void default_guards(making *m);         // what was supposed of extents, points and rows
void default_suppose_long(making *m);   // some row of what is walked is long
// All that a version supposes. spares: scores are stored so that another walk need not find them.
void default_guard_version(making *m, plan_rows rows, bool spares);

// ---- retreat.c ----------------------------------------------------------------------------------
void default_separate(arena *a, const plan_retreat *r, schedule *s);   // stages that begin kernels
typedef enum { RETREAT_NONE, RETREAT_EVEN, RETREAT_POINTS } default_retreat;
// how a kernel is made otherwise, as it was refused
default_retreat default_retreat_of(const planner *p, plan_rows rows, const stage_group *g);

#endif
