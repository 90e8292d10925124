// The whole plan, from an op and a schedule.
#ifndef GNNC_PLAN_PLAN_H
#define GNNC_PLAN_PLAN_H

#include "base/making.h"

// ---- retreat.c ----------------------------------------------------------------------------------
bool plan_refused_for_tests(planner *p);   // the kernel at hand: see pass_options.refused

// ---- known.c ------------------------------------------------------------------------------------
// guards of what `when` says
void plan_take_conditions(arena *a, const schedule *s, version_facts *facts);
// the op with sizes that the schedule's conditions tell
const tensor_op *plan_known_sizes(arena *a, const tensor_op *op, const schedule *s);

// ---- plan.c -------------------------------------------------------------------------------------
void plan_kernels(planner *p);     // of all stages, in their order
void plan_drop_idle(planner *p);   // kernels that store nothing

// ---- lowered.c ----------------------------------------------------------------------------------
typedef struct {
    loop_plan *plan;
    bool narrow;   // as version_facts has it
} plan_version;
typedef struct {               // the naive one is none of them
    VEC(program_version) of;   // without steps
    VEC(plan_version) plans;   // of each
} plan_versions;
// Which of them the caller wants alone, by pass_options.take: PASS_ALL, or a number, past the last
// that of the naive one. false: the caller told why there is none.
bool plan_take(arena *a, const program *naive, const plan_versions *v, const pass_options *o,
               uint32_t *taken);
// The program with kernels of those.
program *plan_lower(arena *a, const tensor_op *op, program *naive, const machine *m,
                    plan_versions *v, uint32_t taken, const pass_options *o);

// ---- run.c --------------------------------------------------------------------------------------
typedef enum { PASS_EQUATIONS, PASS_PLAN, PASS_LOOPS, PASS_CHECK, PASS_PROGRAM } pass_kind;
bool plan_run(planner *p, pass_kind kind);   // the passes of that kind in turn; false: one refused
// those from tensor IR to tensor IR; whole: reductions are taken apart
bool plan_equations(planner *p, bool whole);
void plan_states_of_op(planner *p);   // what holds before the first pass
void plan_states_of_loops(planner *p);
bool plan_has_kernels(const planner *p);
bool plan_run_named(planner *p, const char *const *names, uint32_t n);   // false: one refused

#endif
