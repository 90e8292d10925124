// Host kernels compiled into memory: an object made for this machine's own processor, linked by ORC.
#include "internal.h"

#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>

struct cg_jit {
    LLVMOrcLLJITRef lljit;
};

// Nothing a user writes makes linking into memory fail.
static void must(LLVMErrorRef error) {
    if (error) ICE("compiled code cannot be loaded into memory: %s", LLVMGetErrorMessage(error));
}

static LLVMMemoryBufferRef compile(arena *a, diag_set *ds, const simt_module *m, const cg_options *o) {
    cg_target host = {.kind = CG_HOST};
    cg_job job = {.module = m, .target = &host, .cpu = CG_CPU_NATIVE, .form = CG_OBJECT, .options = o};
    cg_unit u;
    LLVMMemoryBufferRef code = NULL;
    if (cg_unit_open(&u, a, ds, &job)) {
        cg_unit_optimise(&u, o);
        code = cg_unit_code(&u, LLVMObjectFile);
    }
    cg_unit_close(&u);
    return code;
}

cg_jit *cg_jit_new(arena *a, diag_set *ds, const simt_module *m, const cg_options *o) {
    LLVMMemoryBufferRef code = compile(a, ds, m, o);
    if (!code) return NULL;
    cg_jit *j = ARENA_NEW(a, cg_jit);
    must(LLVMOrcCreateLLJIT(&j->lljit, NULL));
    must(LLVMOrcLLJITAddObjectFile(j->lljit, LLVMOrcLLJITGetMainJITDylib(j->lljit), code));
    return j;
}

cg_host_kernel cg_jit_kernel(const cg_jit *j, const char *name) {
    LLVMOrcExecutorAddress address = 0;
    LLVMErrorRef error = LLVMOrcLLJITLookup(j->lljit, &address, name);
    if (error) LLVMConsumeError(error);
    return error ? NULL : (cg_host_kernel)(uintptr_t)address;
}

void cg_jit_free(cg_jit *j) {
    if (!j || !j->lljit) return;
    LLVMErrorRef error = LLVMOrcDisposeLLJIT(j->lljit);
    if (error) LLVMConsumeError(error);
    j->lljit = NULL;
}
