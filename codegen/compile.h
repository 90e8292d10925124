// From modules to code: LLVM modules for jobs, parts on threads, assemblers.
#ifndef GNNC_CODEGEN_COMPILE_H
#define GNNC_CODEGEN_COMPILE_H

#include "codegen.h"

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

// ---- llvm_target.c ------------------------------------------------------------------------------
// host: x86-64-v3, or all this machine has
typedef enum { CG_CPU_PORTABLE, CG_CPU_NATIVE } cg_cpu;
typedef struct {
    const simt_module *module;
    const bool *taken;   // as in cg_emitter
    const cg_target *target;
    cg_cpu cpu;
    cg_form form;
    const cg_options *options;
} cg_job;
typedef struct {
    LLVMContextRef context;
    LLVMModuleRef llvm;
    LLVMTargetMachineRef machine;
    bool host;
} cg_unit;
// An empty LLVM module for jobs, and one job's functions in it: *functions, where asked for, are
// they by their places. false: diagnostics tell why.
void cg_unit_new(cg_unit *u, const cg_job *job);
bool cg_unit_emit(cg_unit *u, arena *a, diag_set *ds, const cg_job *job, LLVMValueRef **functions);
// An LLVM module for the job; false: diagnostics tell why. cg_unit_close follows in either case.
bool cg_unit_open(cg_unit *u, arena *a, diag_set *ds, const cg_job *job);
// Functions of the same instructions are one from here on, where nobody compares their addresses.
void cg_unit_merge(cg_unit *u);
void cg_unit_optimise(cg_unit *u, const cg_options *o);
LLVMMemoryBufferRef cg_unit_code(cg_unit *u, LLVMCodeGenFileType type);
void cg_unit_close(cg_unit *u);
// The job on this thread, from its functions to text or bytes in the arena.
bool cg_compile(arena *a, diag_set *ds, const cg_job *job, cg_output *out);

// ---- threads.c ----------------------------------------------------------------------------------
// Calls it on this thread and on others, as many as there are processors for, `most` in all; each
// call takes up what there is to do until there is no more.
void cg_together(uint32_t most, void (*work)(void *of), void *of);

// ---- parts.c ------------------------------------------------------------------------------------
// The job, to PTX: kernels are compiled in parts, on as many threads as the machine has processors
// for. The parts depend on the module alone, and so does the PTX.
bool cg_compile_parts(arena *a, diag_set *ds, const cg_job *job, cg_output *out);

// ---- fatal.c ------------------------------------------------------------------------------------
// While a module is being compiled, a fatal error of LLVM writes it to a file and ends the process
// with status 70.
void cg_fatal_watch(const simt_module *m);   // NULL: no longer

// ---- assemble.c ---------------------------------------------------------------------------------
// PTX of a module to a cubin, in two steps: an assembler that is a process starts while the PTX is
// made.
typedef struct cg_ptxas cg_ptxas;
typedef struct {
    const gpu_arch *arch;
    const cg_options *options;
    bool several;      // kernels: they can be assembled side by side
    cg_ptxas *early;   // started and waiting; NULL: none
    const char *how;   // of options->cubins; NULL: there are none, or it cannot be told
} cg_assembling;
void cg_assemble_begin(arena *a, cg_assembling *s);
bool cg_assemble_end(arena *a, diag_set *ds, cg_assembling *s, const cg_output *ptx,
                     cg_output *out);
void cg_assemble_cancel(cg_assembling *s);

// Host code as one piece that runs wherever it lies, from an object that asks for nothing outside
// itself (flat.c); *at: where a symbol of it lies.
cg_output cg_flatten(arena *a, const cg_output *object, const char *symbol, uint64_t *at);

#endif
