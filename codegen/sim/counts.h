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
typedef struct sim_timing sim_timing;
struct sim_counts {
    const sim_kernel *kernel;
    uint64_t launches, blocks;
    sim_tally *tallies;   // by step
    // by warp: the kernel's step that calls what it is in
    uint32_t calls[SIM_MAX_BLOCK / SIM_LANES];
    VEC(sim_touched) touched;   // by buffer
    sim_timing *timing;         // NULL: no sample was asked for
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
// Addresses without those of lanes that take no part, in order.
typedef struct {
    uint32_t n;
    uint64_t at[SIM_LANES];
} sim_ordered;
sim_ordered sim_request_ordered(const sim_request *q);
uint32_t sim_request_wavefronts(const sim_request *q);   // of shared memory

// ---- timing.c -----------------------------------------------------------------------------------
// A warp issues its instructions in order, each once what it reads is there.
typedef enum {
    TIMED_PLAIN,    // its result is there so many cycles after its arguments
    TIMED_MOVE,     // the value of another
    TIMED_JOIN,     // likewise, or its own of before
    TIMED_BRANCH,   // waits for what it tests
    TIMED_LOOP,
    TIMED_BARRIER,
    TIMED_COPY,
    TIMED_COPY_END,
    TIMED_COPY_WAIT,
    TIMED_NOTHING
} sim_timed_as;
typedef struct {
    sim_timed_as as;
    sim_unit unit;
    uint32_t instructions, cycles;
    bool request;   // to memory: cycles are of where it finds what it asks for
} sim_cost;
// ---- folded.c -----------------------------------------------------------------------------------
typedef enum { SIM_WHOLE, SIM_FOLDED, SIM_SHIFTED } sim_folding;   // none; of a power of two
const sim_folding *sim_folded(arena *a, const simt_func *f);       // by instruction

// ---- timing.c, again ----------------------------------------------------------------------------
sim_cost sim_cost_of(const sim_code *c, sim_folding folded);
sim_timing *sim_timing_new(sim *s, const sim_kernel *k);
void sim_time_begin(sim_block *b);   // of a block; nothing, like the next ones, without a sample
void sim_time_step(sim_warp *w, const sim_code *c, const sim_cost *x);
void sim_time_barrier(sim_block *b);
void sim_time_end(sim_block *b);
// Before a launch; the instructions issued since by blocks that ran; and what they told times `by`.
sim_timing *sim_time_noted(sim_block *b);
double sim_time_issued(const sim_block *b, const sim_timing *since);
void sim_time_stretch(sim_block *b, const sim_timing *before, double by);
// What a request asks of L1 and of what is behind it.
void sim_time_global(sim_block *b, const sim_request *q, bool stores, bool atomic);
void sim_time_shared(sim_block *b, const sim_request *q);
const sim_times *sim_timing_told(sim *s, arena *a, const sim_timing *t);

#endif
