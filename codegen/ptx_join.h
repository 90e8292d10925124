// PTX as text: nothing of LLVM's is needed.
#ifndef GNNC_CODEGEN_PTX_JOIN_H
#define GNNC_CODEGEN_PTX_JOIN_H

#include "codegen.h"

// One PTX module from those of its parts: one header, one table of files, bodies in the order
// given.
void cg_ptx_join(arena *a, const cg_output *parts, uint32_t n, cg_output *out);

// Its `.file` lines with a time and a size, the same for all: an assembler takes those of the file
// on the disk for a line that has none, so that equal PTX would give other cubins after `touch`.
void cg_ptx_stamp(arena *a, cg_output *ptx);

#endif
