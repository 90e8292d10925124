// Faults a compiler could have, put into its output on purpose: whoever tests the tests asks for
// one and sees whether it is noticed. Each kind has sites in a module, counted over its kernels in
// order.
//
//     uint32_t n = simt_fault_sites(m, SIMT_FAULT_barrier);
//     simt_fault_apply(m, SIMT_FAULT_barrier, 0);      // the first barrier is gone; simt_verify tells whether it still stands
#ifndef GNNC_SIMT_FAULT_H
#define GNNC_SIMT_FAULT_H

#include "simt.h"

// X(id, what is done to a site)
#define SIMT_FAULTS(X)                                                                             \
    X(barrier, "a barrier is left out")                                                            \
    X(early, "a barrier stands before what it should follow")                                      \
    X(late, "a kernel waits for the launch before it at its end")                                  \
    X(atomic, "an atomic addition is a load, an addition and a store")                             \
    X(overlap, "a buffer in shared memory lies where another does")                                \
    X(room, "a block gets half of its shared memory")                                              \
    X(row_long, "a loop goes one step too far")                                                    \
    X(row_short, "a loop ends one step early")                                                     \
    X(row_start, "a loop begins one step late")                                                    \
    X(stride, "a loop takes every other step")                                                     \
    X(mask, "a guarded region always runs")                                                        \
    X(mask_not, "a guarded region runs where it should not, and only there")                       \
    X(choice, "a choice always takes its first")                                                   \
    X(edge, "a comparison includes the bound, or excludes it")                                     \
    X(swap, "operands of a difference, quotient, choice or comparison change places")              \
    X(operation, "a sum is a difference, a product a sum, a maximum a minimum")                    \
    X(identity, "a loop's state begins with 1")                                                    \
    X(lost, "a loop drops what it computed in a step")                                             \
    X(narrow, "an index has 8 bits")                                                               \
    X(narrow16, "an index has 16 bits")                                                            \
    X(address, "an access goes to the next element")                                               \
    X(scale, "an access steps twice as far")                                                       \
    X(store, "a store is left out")                                                                \
    X(fence, "a fence between stores and matrix operations is left out")                           \
    X(copy, "a copy to shared memory is left out")                                                 \
    X(wait, "a wait for copies lets one more group of them go on")                                 \
    X(lane, "a shuffle reads the next lane, a butterfly half as far")                              \
    X(width, "a shuffle stays within half as many lanes")                                          \
    X(fragment, "a lane brings what the next one holds of a matrix")                               \
    X(registers, "two registers of a matrix change places")                                        \
    X(product, "a matrix operation is left out")                                                   \
    X(rest, "a product of numbers taken apart has them in place of what they leave")               \
    X(element, "another element of a vector is taken")                                             \
    X(round, "a sum in f32 is rounded to f16")                                                     \
    X(truncate, "an f32 is cut to 16 bits, not rounded")                                           \
    X(nan, "a maximum or minimum drops NaN")                                                       \
    X(thread, "a thread takes itself for one of the first warp")                                   \
    X(pair, "a thread takes itself for its even neighbour")                                        \
    X(block, "a block takes itself for the first")
typedef enum {
#define X(id, what) SIMT_FAULT_##id,
    SIMT_FAULTS(X)
#undef X
        SIMT_FAULT_COUNT
} simt_fault;
const char *simt_fault_text(simt_fault k);   // "row_long"
uint32_t simt_fault_sites(const simt_module *m, simt_fault k);
// false: there are fewer sites
bool simt_fault_apply(simt_module *m, simt_fault k, uint32_t site);

#endif
