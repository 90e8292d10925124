// What --profile counts, step by step, and what a request costs.
#ifndef GNNC_SIM_COUNTS_H
#define GNNC_SIM_COUNTS_H

#include "machine.h"

// ---- count.c ------------------------------------------------------------------------------------
// A kernel's steps are replaced by one that counts when counts are first asked for, so that others
// are not slowed. Stride: what most neighbouring lanes are apart, by majority vote (Boyer and Moore
// 1991).
typedef struct {
    int64_t bytes;
    uint64_t agreed, lead, pairs;   // pairs like it since it leads, its lead, all pairs
} sim_stride;
typedef struct {
    uint64_t n[SIM_COUNTERS];
    uint32_t buffer, bytes;   // of the last request; a lane's
    sim_stride stride;
} sim_tally;
typedef struct {
    uint8_t *touched;   // a bit a line of 128 bytes
    uint64_t lines, requests;
} sim_touched;
struct sim_counts {
    const sim_kernel *kernel;
    uint64_t launches, blocks;
    sim_tally *tallies;   // by step
    // by warp: the kernel's step that calls what it is in
    uint32_t calls[SIM_MAX_BLOCK / SIM_LANES];
    VEC(sim_touched) touched;   // by buffer
};
sim_counts *sim_counts_of(sim *s, sim_kernel *k, uint32_t blocks);   // of a launch

// ---- requests.c ---------------------------------------------------------------------------------
// The addresses of a request. Of global memory they are the buffer's number and the place in it,
// from an address that sectors begin at.
typedef struct {
    sim_mask lanes;
    uint32_t bytes;   // a lane's
    uint64_t at[SIM_LANES];
} sim_request;
static inline uint32_t sim_request_buffer(uint64_t at) { return (uint32_t)(at >> SIM_OFFSET_BITS); }
void sim_request_global(sim *s, sim_counts *k, sim_tally *t, const sim_request *q);
void sim_request_shared(sim_tally *t, const sim_request *q);
void sim_request_atomic(sim_tally *t, const sim_request *q);
void sim_request_stride(sim_stride *s, const sim_request *q);

#endif
