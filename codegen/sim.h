// The simulator: runs the kernels of a verified simt module on this machine as a GPU would, warps
// of 32 lanes in lockstep under masks, and checks every access: bounds, alignment, memory nobody
// wrote, data races, divergent barriers. Arithmetic has the bits of the code LLVM makes.
//
// Enters: a module, memory with its true extents. Leaves: what the kernels store, and a diagnostic
// for each fault with the instruction's place in the source. Memory: what sim_new makes lives until
// sim_free.
//
//     sim *s = sim_new(ds, module);
//     sim_begin(s, SIM_RANDOM, seed);                 // forgets which memory was written
//     sim_launch(s, "spmm_f32_0", args, blocks, false);   // once a kernel, in order
//     if (sim_report(s)) …                            // faults, as diagnostics
//     n = sim_counted(s, a, &profiles);               // what sim_count counted since sim_begin
//     sim_free(s);
#ifndef GNNC_SIM_H
#define GNNC_SIM_H

#include "simt.h"

typedef struct sim sim;
typedef struct {
    uint64_t
        // as kernels of the host get it: a narrower value stands in the low bytes; unused by
        // pointers
        slot;
    const char *name;   // pointers: of the memory, for reports
    void *data;         // its start; equal starts and sizes are the same memory
    size_t bytes;
    bool written;   // it holds values when a kernel starts, but by kernels before
    bool result;    // values nobody wrote may not be stored here
    bool scratch;   // memory of that name alone, though others have it at other times
} sim_arg;

sim *sim_new(diag_set *ds, const simt_module *m);
void sim_free(sim *s);
// Blocks, warps and the lanes of an atomic: RANDOM, where the seed decides their order, and how
// long a warp's turn is; FORWARD, REVERSE: the first or the last one first, a warp to its end or
// its next barrier.
typedef enum { SIM_RANDOM, SIM_FORWARD, SIM_REVERSE } sim_order;
void sim_begin(sim *s, sim_order order, uint64_t seed);
// One argument a parameter. The module must have the kernel. early: the launches before, down to
// the last that was not, may run until it waits.
void sim_launch(sim *s, const char *kernel, const sim_arg *args, uint32_t blocks, bool early);
// Hands over what was found since the last call, each fault once however many lanes have it;
// returns how many.
uint32_t sim_report(sim *s);

// ---- Counts -------------------------------------------------------------------------------------
typedef enum {
#define COUNTER(id, title) SIM_COUNT_##id,
#include "sim/counters.def"
#undef COUNTER
    SIM_COUNTERS
} sim_counter;
const char *sim_counter_title(sim_counter c);

typedef struct {
    span at;   // an instruction of the line
    uint64_t counts[SIM_COUNTERS];
} sim_line;
typedef struct {
    const char *name;
    uint64_t lines, requests;   // of 128 bytes: different ones in all launches; each once a request
} sim_footprint;
typedef struct {
    const char *kernel;
    uint32_t block;   // threads
    uint64_t launches, blocks;
    VEC(sim_line) lines;   // those with most sectors and wavefronts to spare first
    VEC(sim_footprint) buffers;
    const struct sim_times *times;   // NULL: no sample was asked for
} sim_profile;

// ---- Times --------------------------------------------------------------------------------------
typedef enum {
#define UNIT(id, title) SIM_UNIT_##id,
#include "sim/units.def"
    SIM_UNITS
} sim_unit;
const char *sim_unit_title(sim_unit u);

// A multiprocessor, in cycles until what is asked for is there.
typedef struct {
    uint32_t blocks;        // of a launch that run; where there are more, they stand for the others
    double issued;          // instructions of a launch after which no other block begins
    uint32_t cache_bytes;   // L1
    uint32_t cached, missed, shared;   // a load that L1 has, or has not; of shared memory
} sim_sampling;
typedef struct {
    const char *name;
    double lines, fetched, stored;   // lines of 128 bytes; sectors not in L1, stored ones
    double spans;   // lines between the first and the last one that a block asks for, of all blocks
} sim_traffic;
// Of all blocks of all launches, as those tell that ran.
typedef struct sim_times {
    uint64_t ran;              // blocks
    double cycles;             // of blocks that are each alone, their sum
    double longest;            // of one
    double issued;             // instructions
    double units[SIM_UNITS];   // by what does them
    double wavefronts[2];      // of L1: of global memory, of shared memory
    double fetched, lines;     // sectors that L1 has not, and lines asked for them
    double stored;             // sectors
    VEC(sim_traffic) buffers;
} sim_times;

void sim_count(sim *s);   // from here to the next sim_begin
// Counts, too, and looks for no races, nor for memory that nobody wrote: values are not what is
// asked.
void sim_sample(sim *s, const sim_sampling *how);
// Ends it: the kernels that ran, in a's memory, and a remark for each access that takes more than
// it must; returns how many kernels.
uint32_t sim_counted(sim *s, arena *a, const sim_profile **out);

#endif
