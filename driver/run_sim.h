// --target=sim: launches in the simulator, and what it counts.
#ifndef GNNC_RUN_SIM_H
#define GNNC_RUN_SIM_H

#include "codegen/sim.h"
#include "run.h"

// ---- run_sim.c ----------------------------------------------------------------------------------
bool run_sim_open(run_session *r);                                       // the context
gnn_device_info run_sim_device(const driver *d, const gpu_arch *arch);   // what is played
void run_sim_load(run_op *o);                // nothing, like the next two, without --target=sim
sim_order run_sim_order(const driver *d);    // that is asked for
void run_sim_begin(run_op *o, bool again);   // again: the second launch, in another order
void run_sim_sample(run_op *o, const cost_machine *m);          // what is launched next
uint32_t run_sim_sampled(run_op *o, const sim_profile **out);   // how many kernels
bool run_sim_report(run_op *o);      // faults so far; true: the rest may go on
void run_sim_free(run_session *r);   // of the op at hand

// ---- run_profile.c ------------------------------------------------------------------------------
bool run_profiles(driver *d);                     // asked for; a fault where nothing is simulated
void run_profile(driver *d, sim *s, FILE *out);   // what it counted

// ---- run_simt.c ---------------------------------------------------------------------------------
int run_simt(driver *d);   // the kernels of a .simt text, in the simulator; the exit status

#endif
