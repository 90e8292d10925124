// What is asked of functions in SIMT IR, and two rewritings of their loads.
#ifndef GNNC_SIMT_FACTS_H
#define GNNC_SIMT_FACTS_H

#include "simt_func.h"

// equal over …; LANE: may differ
typedef enum { UNIFORM_GRID, UNIFORM_BLOCK, UNIFORM_WARP, UNIFORM_LANE } simt_uniformity;
// The same code, of one module, whatever it and its values are called and wherever its text stands.
bool simt_func_alike(const simt_func *f, const simt_func *g);
// What f does through each of its parameters; an array of f->params.len.
enum { SIMT_PARAM_READ = 1, SIMT_PARAM_WRITTEN = 2 };
const uint8_t *simt_accesses_of(arena *a, const simt_func *f);
// Likewise an instruction alone, in global memory.
typedef struct {
    uint8_t does;      // SIMT_PARAM_READ …; 0: nothing
    uint8_t element;   // simt_element that it reads or writes; SIMT_NONE: bytes
    int64_t param;     // that the pointer is derived from; -1: it may be any
} simt_access;
simt_access simt_access_of(const simt_func *f, const simt_instr_info *i);
void simt_access_add(const simt_func *f, simt_access x, uint8_t *of);   // of: for each parameter
// What is loaded as invariant, and alike in every round of a loop, moves before the loop.
void simt_hoist(simt_func *f);
// What lies in memory that the launch before has written is asked for where the kernel has waited
// for it.
void simt_ask_early(simt_func *f);
// For each value of f how far it is equal; an array of f->values.len entries.
const uint8_t *simt_uniformity_of(arena *a, const simt_func *f);

#endif
