// A kernel that is lowered from loop IR to SIMT IR. Its parts have a life of their own each:
// arguments and shared memory grow to the end of the kernel, scope and sums follow the nodes
// around, what is known follows regions of code.
#ifndef GNNC_LOWER_KERNEL_H
#define GNNC_LOWER_KERNEL_H

#include "lower/scope/instance.h"
#include "lower/scope/reduction.h"
#include "lower/scope/rounds.h"

typedef struct {   // what the kernels of a plan share
    arena *arena;
    const loop_plan *plan;
    const tensor_op *op;   // the plan's
    program *p;
    program_version *v;
    const lower_options *o;
    uint32_t *temp_of;       // per value: its temporary; UINT32_MAX: it was not met yet
    uint32_t *prepared_of;   // per value: UINT32_MAX: it is not prepared
    uint8_t *none_facts;     // per expression: see base/scalar.h
    bool *nonpositive;       // per exponential: see lower/values/below.c
    // likewise: it is read where no choice of 0 is around for a difference from -inf
    bool *bare;
    uint32_t *visited, visits;
    const loop_uses **uses;   // per step: what its kernel touches; NULL: nobody asked
    // of the kernel before, empty again; NULL: there was none
    memo_cell *memo, *spare;
    binding *var;
} lowering;

typedef struct {
    VEC(program_arg) list;
    VEC(simt_value) values;   // of the list
} lower_arguments;

// How the kernel uses values in memory. Arrays have an entry a value.
typedef struct {
    bool *written;     // the kernel stores it, or what shares its memory
    bool *read;        // the kernel loads it
    bool *unsettled;   // a kernel before may still use it when this one starts; NULL: none does
    // the kernel waits at its end, and before it leaves what parts of rows have found
    bool waits_to_write;
    bool *held;           // lanes hold entries of it, or did
    double **elsewhere;   // what masked steps past the end take for it; NULL: nobody asked
    // what is overwritten in place is loaded where this holds alone; 0: everywhere
    simt_value owner;
} lower_access;

typedef struct {   // i32; of blocks of more than one thread
    simt_value lane, group, number;
} lower_thread;

typedef struct {   // loops that are dealt out to blocks
    VEC(const loop_node *) loops;
    simt_value *at;   // per loop
} lower_grid;

typedef struct {   // of the reducer expression at hand
    const simt_value *arg, *left, *right;
} lower_reducer;

typedef struct {        // what is supposed of sizes in the case at hand
    const bool *even;   // per space: what pads it has no padding; NULL: it may have
    uint32_t within;    // how long rows are at most, whose loops are unrolled; 0: loops go round
} lower_sizes;

typedef struct {
    lowering *l;
    const loop_kernel *plan;
    simt_func *f;
    simt_type ix;   // of positions
    lower_arguments args;
    lower_access access;
    lower_shared shared;
    lower_thread thread;
    lower_grid grid;
    lower_digits digits;
    lower_scope scope;
    lower_known known;
    lower_reducer reducer;
    lower_sums sums;
    product_element product;
    lower_rounds rounds;
    lower_sizes sizes;
    distributed_steps
        *distributed;   // of the loop in scope whose steps are distributed; NULL: there is none
} kernel;

#endif
