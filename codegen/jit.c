// Host kernels compiled into memory: an object made for this machine's own processor, linked by ORC.
#include "internal.h"

#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>

struct cg_jit {
    LLVMOrcLLJITRef lljit;
};

static bool failed(diag_set *ds, LLVMErrorRef error) {
    if (!error) return false;
    char *text = LLVMGetErrorMessage(error);
    diag_note(diag(ds, E0705, NO_SPAN, "compiled code could not be loaded into memory"), NO_SPAN, "%s", text);
    LLVMDisposeErrorMessage(text);
    return true;
}

static LLVMMemoryBufferRef compile(arena *a, diag_set *ds, const simt_module *m, const cg_options *o) {
    cg_target host = {.kind = CG_HOST};
    cg_unit u;
    LLVMMemoryBufferRef code = NULL;
    if (cg_unit_open(&u, a, ds, m, &host, CG_CPU_NATIVE, CG_OBJECT, o) && cg_unit_optimise(&u, ds, o))
        code = cg_unit_code(&u, ds, LLVMObjectFile);
    cg_unit_close(&u);
    return code;
}

cg_jit *cg_jit_new(arena *a, diag_set *ds, const simt_module *m, const cg_options *o) {
    LLVMMemoryBufferRef code = compile(a, ds, m, o);
    if (!code) return NULL;
    cg_jit *j = ARENA_NEW(a, cg_jit);
    if (failed(ds, LLVMOrcCreateLLJIT(&j->lljit, NULL))) {
        LLVMDisposeMemoryBuffer(code);
        return NULL;
    }
    if (!failed(ds, LLVMOrcLLJITAddObjectFile(j->lljit, LLVMOrcLLJITGetMainJITDylib(j->lljit), code))) return j;
    cg_jit_free(j);
    return NULL;
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
