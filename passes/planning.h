// The whole plan, from an op and a schedule.
#ifndef GNNC_PLAN_PLAN_H
#define GNNC_PLAN_PLAN_H

#include "base/planner.h"

// ---- retreat.c ------------------------------------------------------------------------------------------
bool plan_refused_for_tests(planner *p);   // the kernel at hand: see pass_options.refused

// ---- plan.c ---------------------------------------------------------------------------------------------
bool plan_equations(planner *p, bool whole);   // the passes from tensor IR to tensor IR; whole: reductions are taken apart; false: one refused

#endif
