// Host kernels compiled into memory: an object made for this machine's own processor, linked by
// ORC.
#include "compile.h"

#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>

struct cg_jit {
    arena *arena;
    LLVMOrcLLJITRef lljit;
    const char *why;   // what went wrong first; NULL: nothing
};

static void note(void *user, LLVMErrorRef error) {
    cg_jit *j = user;
    char *text = error ? LLVMGetErrorMessage(error) : NULL;
    if (text && !j->why) j->why = arena_strdup(j->arena, text);
    if (text) LLVMDisposeErrorMessage(text);
}

static LLVMMemoryBufferRef compile(arena *a, diag_set *ds, const simt_module *m,
                                   const cg_options *o) {
    cg_target host = {.kind = CG_HOST};
    cg_job job = {
        .module = m, .target = &host, .cpu = CG_CPU_NATIVE, .form = CG_OBJECT, .options = o};
    cg_unit u;
    LLVMMemoryBufferRef code = NULL;
    if (cg_unit_open(&u, a, ds, &job)) {
        cg_unit_optimise(&u, o);
        code = cg_unit_code(&u, LLVMObjectFile);
    }
    cg_unit_close(&u);
    return code;
}

static void load(cg_jit *j, const simt_module *m, LLVMMemoryBufferRef code) {
    note(j, LLVMOrcCreateLLJIT(&j->lljit, NULL));
    if (j->why) {
        LLVMDisposeMemoryBuffer(code);
        return;
    }
    LLVMOrcExecutionSessionSetErrorReporter(LLVMOrcLLJITGetExecutionSession(j->lljit), note, j);
    note(j, LLVMOrcLLJITAddObjectFile(j->lljit, LLVMOrcLLJITGetMainJITDylib(j->lljit), code));
    for (uint32_t i = 0; !j->why && i < m->funcs.len; i++)
        if (m->funcs.data[i]->kernel) cg_jit_kernel(j, m->funcs.data[i]->name);
}

// Nothing a user writes makes loading fail, so the system has refused the memory.
cg_jit *cg_jit_new(arena *a, diag_set *ds, const simt_module *m, const cg_options *o) {
    LLVMMemoryBufferRef code = compile(a, ds, m, o);
    if (!code) return NULL;
    cg_jit *j = ARENA_NEW(a, cg_jit);
    j->arena = a;
    load(j, m, code);
    if (!j->why) return j;
    diag(ds, E0824, NO_SPAN, "compiled code cannot be loaded into memory: %s", j->why);
    cg_jit_free(j);
    return NULL;
}

cg_host_kernel cg_jit_kernel(cg_jit *j, const char *name) {
    LLVMOrcExecutorAddress address = 0;
    LLVMErrorRef error = LLVMOrcLLJITLookup(j->lljit, &address, name);
    note(j, error);
    return error ? NULL : (cg_host_kernel)(uintptr_t)address;
}

void cg_jit_free(cg_jit *j) {
    if (!j || !j->lljit) return;
    LLVMErrorRef error = LLVMOrcDisposeLLJIT(j->lljit);
    if (error) LLVMConsumeError(error);
    j->lljit = NULL;
}
