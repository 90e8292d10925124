// Faults a compiler could have in what stands around its kernels, put into a program on purpose, as
// those of simt_fault.h are into kernels. Sites are counted over the program's temporaries, then
// over its versions in order.
//
//     uint32_t n = program_fault_sites(p, PROGRAM_FAULT_grid);
//     program_fault_apply(p, PROGRAM_FAULT_grid, 0);      // the first launch of the first version is one block short
#ifndef GNNC_PROGRAM_FAULT_H
#define GNNC_PROGRAM_FAULT_H

#include "program.h"

// X(id, what is done to a site)
#define PROGRAM_FAULTS(X)                                                                          \
    X(grid, "a launch is one block short")                                                         \
    X(launch, "a launch is left out")                                                              \
    X(sequence, "a launch comes before the one ahead of it")                                       \
    X(rounds, "a loop of launches is one round short")                                             \
    X(guard, "a version does without a guard of a base address or a stride")                       \
    X(map, "a launch is given another map of the same domain")                                     \
    X(size, "a launch is given the size of another space")                                         \
    X(temp, "a launch is given another temporary of its version")                                  \
    X(temp_room, "a temporary has half its room")
typedef enum {
#define X(id, what) PROGRAM_FAULT_##id,
    PROGRAM_FAULTS(X)
#undef X
        PROGRAM_FAULT_COUNT
} program_fault;
const char *program_fault_text(program_fault k);   // "temp_room"
uint32_t program_fault_sites(program *p, program_fault k);
// false: there are fewer sites
bool program_fault_apply(program *p, program_fault k, uint32_t site);

#endif
