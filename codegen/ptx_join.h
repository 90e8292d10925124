// PTX as text: nothing of LLVM's is needed.
#ifndef GNNC_CODEGEN_PTX_JOIN_H
#define GNNC_CODEGEN_PTX_JOIN_H

#include "codegen.h"

// One PTX module from those of its parts: one header, one table of files, bodies in the order given.
void cg_ptx_join(arena *a, const cg_output *parts, uint32_t n, cg_output *out);

#endif
