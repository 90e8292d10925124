// What a launch takes, told from what the simulator counted of a sample of its blocks and from a
// row of numbers of a GPU (machines.def). Nothing is measured here.
//
//     const cost_machine *m = cost_machine_named("h200");
//     cost_kernel k = cost_of(m, &(cost_launch){times, blocks, resident, threads});
//     … k.ns, cost_bound_title(k.bound) …
#ifndef GNNC_COST_H
#define GNNC_COST_H

#include "codegen/sim.h"

// ---- machines.c ---------------------------------------------------------------------------------
typedef struct {
    const char *name, *holds, *arch;   // holds: what the driver's name of one holds
    bool measured;                     // else its numbers are its data sheet's
    uint32_t sms, mhz;
    double gb_per_s;   // of its memory; 1 GB/s is a byte a nanosecond
    uint32_t l1_kib, l2_mib, l2_kept_mib;
    double l2_gb_per_s, l2_lines_per_ns;
    uint32_t l1_cycles, memory_cycles, shared_cycles, launch_ns;
} cost_machine;                                               // a row of machines.def
const cost_machine *cost_machine_at(uint32_t index);          // NULL past the last
const cost_machine *cost_machine_named(const char *name);     // by its name; NULL: none
const cost_machine *cost_machine_held(const char *text);      // by the driver's name
const cost_machine *cost_machine_of(const gpu_arch *arch);    // the first of that capability
double cost_rate(const cost_machine *m, sim_unit u);          // lanes a cycle
sim_sampling cost_sampling(const cost_machine *m);   // what a launch is told from

// ---- time.c -------------------------------------------------------------------------------------
typedef struct {
    const sim_times *times;    // of all launches
    uint64_t blocks;           // likewise
    uint64_t launches;
    uint32_t resident;         // blocks of a multiprocessor at once
} cost_launch;
typedef enum {
    COST_ISSUE,
    COST_UNIT,
    COST_L1,
    COST_L2,
    COST_MEMORY,
    COST_LATENCY,
    COST_BOUNDS
} cost_bound;
typedef struct {
    double ns;                    // in all
    double by[COST_BOUNDS];       // if nothing else took time
    cost_bound bound;             // the longest of these
    sim_unit unit;                // that works longest
    double memory_bytes, l2_bytes;
} cost_kernel;
cost_kernel cost_of(const cost_machine *m, const cost_launch *k);
const char *cost_bound_title(cost_bound b);

#endif
