// The GPUs code is made for. Without LLVM, so that what reads options needs none.
#include "codegen.h"

#include <string.h>

static const cg_arch archs[] = {
#define CG_ARCH(name, sm, ptx, threads, blocks, shared_kib)                                                  \
    {name, sm, "+ptx" #ptx, ptx, threads, blocks, 1024 * shared_kib},
#include "targets.def"
#undef CG_ARCH
};
enum { ARCH_COUNT = sizeof archs / sizeof *archs };

const cg_arch *cg_arch_at(uint32_t index) { return index < ARCH_COUNT ? &archs[index] : NULL; }

const cg_arch *cg_arch_find(const char *name) {
    for (uint32_t k = 0; k < ARCH_COUNT; k++)
        if (!strcmp(archs[k].name, name)) return &archs[k];
    return NULL;
}
