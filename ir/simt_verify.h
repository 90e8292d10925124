// What the files of the verifier of SIMT IR share.
#ifndef GNNC_SIMT_VERIFY_H
#define GNNC_SIMT_VERIFY_H

#include "simt_internal.h"

typedef struct {
    arena *arena;
    const simt_func *func;
    const char *fault;   // the first one, in words
    bool *seen_region;   // walked already
    bool *seen_instr;
    bool *visible;       // values defined here or in an enclosing region
    uint32_t *numbers;   // as the printer numbers values without a name, from 1
    uint32_t next_number;
    VEC(simt_value) scope;   // the visible values, in order of definition
    uint32_t depth;
} simt_verifier;

// Keeps only the first fault, and names the instruction.
void simt_verify_fault_at(simt_verifier *v, simt_instr i, const char *format, ...) SUP_PRINTF(3, 4);

// ---- simt_verify_op.c: one instruction ----------------------------------------------------------
// What is wrong with the attributes or effects of an instruction whose types are right, or NULL.
const char *simt_attribute_fault(const simt_func *f, const simt_instr_info *i);

// ---- simt_verify_uniform.c: a function that is right in all else --------------------------------
void simt_verify_uniform(simt_verifier *v);

#endif
