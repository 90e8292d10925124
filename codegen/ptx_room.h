// PTX as text: nothing of LLVM's is needed.
#ifndef GNNC_CODEGEN_PTX_ROOM_H
#define GNNC_CODEGEN_PTX_ROOM_H

#include "codegen.h"

// Kernels of the module that want room for so many blocks, or fewer (`fit`), and need more
// registers than that leaves each thread, want it for fewer.
void cg_ptx_room(arena *a, const simt_module *m, cg_output *ptx);
// Remarks on those that insist on it.
void cg_ptx_crowded(arena *a, diag_set *ds, const simt_module *m, const cg_output *ptx);
// 32-bit registers that are live at once, of the body of a kernel up to its closing brace.
uint32_t cg_ptx_pressure(arena *a, const char *body);

#endif
