// Target machines, the pass pipeline, and code out of LLVM: text, PTX, objects.
#include "compile.h"
#include "emitter.h"
#include "ptx_join.h"
#include "ptx_room.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Error.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <string.h>
#include <threads.h>

// ---- Target machines ----------------------------------------------------------------------------
static once_flag started = ONCE_FLAG_INIT;

// LLVM's options belong to the process: shared memory is addressed with 32 bits, and few lanes are
// no vector, which only options can say.
static void start_llvm(void) {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    static const char *const options[] = {"gnnc", "--nvptx-short-ptr", "--slp-threshold=16"};
    LLVMParseCommandLineOptions(3, options, "");
}

// All that a GPU's aggressive level adds is value numbering, twice, which our own passes have done.
static LLVMCodeGenOptLevel level_of(const cg_target *t, const cg_options *o) {
    switch (o->optimise) {
    case 0: return LLVMCodeGenLevelNone;
    case 1: return LLVMCodeGenLevelLess;
    case 2: return LLVMCodeGenLevelDefault;
    }
    return t->kind == CG_CUDA ? LLVMCodeGenLevelDefault : LLVMCodeGenLevelAggressive;
}

static LLVMTargetMachineRef machine_of(const char *triple, const char *cpu, const char *features,
                                       LLVMCodeGenOptLevel level) {
    LLVMTargetRef target;
    char *error = NULL;
    if (LLVMGetTargetFromTriple(triple, &target, &error))
        ICE("LLVM lacks the target %s: %s", triple, error);
    LLVMTargetMachineRef m = LLVMCreateTargetMachine(target, triple, cpu, features, level,
                                                     LLVMRelocPIC, LLVMCodeModelDefault);
    if (!m) ICE("LLVM has no machine for %s", triple);
    LLVMSetTargetMachineAsmVerbosity(m, false);
    return m;
}

static const char *const host_triple = "x86_64-unknown-linux-gnu";

static LLVMTargetMachineRef new_machine(const cg_target *t, cg_cpu cpu, const cg_options *o) {
    LLVMCodeGenOptLevel level = level_of(t, o);
    if (t->kind == CG_CUDA) {
        char ptx[16];
        snprintf(ptx, sizeof ptx, "+ptx%u", t->arch->ptx);
        return machine_of("nvptx64-nvidia-cuda", t->arch->name, ptx, level);
    }
    if (cpu == CG_CPU_PORTABLE) return machine_of(host_triple, "x86-64-v3", "", level);
    char *name = LLVMGetHostCPUName(), *features = LLVMGetHostCPUFeatures();
    LLVMTargetMachineRef m = machine_of(host_triple, name, features, level);
    LLVMDisposeMessage(name);
    LLVMDisposeMessage(features);
    return m;
}

// ---- Units --------------------------------------------------------------------------------------
// LLVM would print its errors and exit; they are faults of ours.
static void on_diagnostic(LLVMDiagnosticInfoRef d, void *unused) {
    (void)unused;
    if (LLVMGetDiagInfoSeverity(d) == LLVMDSError)
        ICE("LLVM cannot compile the module: %s", LLVMGetDiagInfoDescription(d));
}

// LLVM's own check of what we emitted is for those who change the emitter: builds with assertions
// make it.
static void verify(const cg_unit *u) {
#ifdef NDEBUG
    (void)u;
#else
    char *fault = NULL;
    if (LLVMVerifyModule(u->llvm, LLVMReturnStatusAction, &fault))
        ICE("LLVM refuses what was emitted for it: %s", fault);
    LLVMDisposeMessage(fault);
#endif
}

bool cg_unit_emit(cg_unit *u, arena *a, diag_set *ds, const cg_job *job, LLVMValueRef **functions) {
    cg_emitter e = {.arena = a,
                    .ds = ds,
                    .module = job->module,
                    .taken = job->taken,
                    .target = job->target,
                    .options = job->options,
                    .host = job->target->kind == CG_HOST,
                    .named = job->form == CG_LLVM,
                    .context = u->context,
                    .llvm = u->llvm};
    e.b = LLVMCreateBuilderInContext(u->context);
    bool ok = cg_emit_module(&e);
    LLVMDisposeBuilder(e.b);
    if (ok) verify(u);
    if (functions) *functions = e.functions;
    return ok;
}

void cg_unit_new(cg_unit *u, const cg_job *job) {
    call_once(&started, start_llvm);
    cg_fatal_watch(job->module);
    *u = (cg_unit){.context = LLVMContextCreate(), .host = job->target->kind == CG_HOST};
    LLVMContextSetDiagnosticHandler(u->context, on_diagnostic, NULL);
    LLVMContextSetDiscardValueNames(u->context, job->form != CG_LLVM);
    u->llvm = LLVMModuleCreateWithNameInContext("gnnc", u->context);
    u->machine = new_machine(job->target, job->cpu, job->options);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(u->machine);
    LLVMSetModuleDataLayout(u->llvm, layout);
    LLVMDisposeTargetData(layout);
    char *triple = LLVMGetTargetMachineTriple(u->machine);
    LLVMSetTarget(u->llvm, triple);
    LLVMDisposeMessage(triple);
}

bool cg_unit_open(cg_unit *u, arena *a, diag_set *ds, const cg_job *job) {
    cg_unit_new(u, job);
    return cg_unit_emit(u, a, ds, job, NULL);
}

// Short lists: the emitter gives SSA, so nothing has to be promoted, and loops are left to ptxas,
// which unrolls them knowing the registers. On a segment softmax LLVM's own O2 takes three times as
// long for the same instructions.
static const char *const pipelines[] = {
    "always-inline",
    "always-inline,function(early-cse<memssa>,simplifycfg)",
    "always-inline,function(early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm),"
    "gvn,instcombine<no-verify-fixpoint>,simplifycfg)",
};

// What is written lane by lane, as calls of scalar functions are: lanes of one vector again.
static const char *const host_vectors = "function(slp-vectorizer,instcombine<no-verify-fixpoint>)";

void cg_unit_merge(cg_unit *u) {
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(u->llvm, "mergefunc", u->machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (error) ICE("LLVM does not know a pass: %s", LLVMGetErrorMessage(error));
}

void cg_unit_optimise(cg_unit *u, const cg_options *o) {
    const char *passes = pipelines[o->optimise < 2 ? o->optimise : 2];
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(u->llvm, passes, u->machine, options);
    if (!error && u->host && o->optimise > 2)
        error = LLVMRunPasses(u->llvm, host_vectors, u->machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (error) ICE("LLVM does not know the passes %s: %s", passes, LLVMGetErrorMessage(error));
}

LLVMMemoryBufferRef cg_unit_code(cg_unit *u, LLVMCodeGenFileType type) {
    LLVMMemoryBufferRef code = NULL;
    char *error = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(u->machine, u->llvm, type, &error, &code))
        ICE("LLVM gives no code: %s", error);
    return code;
}

void cg_unit_close(cg_unit *u) {
    if (u->llvm) LLVMDisposeModule(u->llvm);
    if (u->machine) LLVMDisposeTargetMachine(u->machine);
    if (u->context) LLVMContextDispose(u->context);
    *u = (cg_unit){0};
    cg_fatal_watch(NULL);
}

// ---- Output -------------------------------------------------------------------------------------
static void take(arena *a, LLVMMemoryBufferRef code, cg_output *out) {
    out->size = LLVMGetBufferSize(code);
    out->data = arena_strndup(a, LLVMGetBufferStart(code), out->size);
    LLVMDisposeMemoryBuffer(code);
}

static void take_text(arena *a, cg_unit *u, cg_output *out) {
    char *text = LLVMPrintModuleToString(u->llvm);
    out->data = arena_strdup(a, text);
    out->size = strlen(text);
    LLVMDisposeMessage(text);
}

static bool form_exists(diag_set *ds, cg_form form, const cg_target *t) {
    bool cuda = t->kind == CG_CUDA;
    bool ok = form == CG_LLVM || (form == CG_PTX || form == CG_CUBIN ? cuda : !cuda);
    const char *name = cuda ? t->arch->name : "host";
    if (!ok) diag(ds, E0807, NO_SPAN, "the target %s has no such form of code", name);
    return ok;
}

bool cg_compile(arena *a, diag_set *ds, const cg_job *job, cg_output *out) {
    cg_unit u;
    bool ok = cg_unit_open(&u, a, ds, job);
    if (ok) cg_unit_optimise(&u, job->options);
    if (ok && job->form == CG_LLVM) take_text(a, &u, out);
    else if (ok)
        take(a, cg_unit_code(&u, job->form == CG_OBJECT ? LLVMObjectFile : LLVMAssemblyFile), out);
    const bool ptx = ok && (job->form == CG_PTX || job->form == CG_CUBIN);
    if (ptx) cg_ptx_room(a, job->module, out);
    if (ptx) cg_ptx_stamp(a, out);
    cg_unit_close(&u);
    return ok;
}

static bool several_kernels(const simt_module *m) {
    uint32_t kernels = 0;
    for (uint32_t k = 0; k < m->funcs.len; k++) kernels += m->funcs.data[k]->kernel;
    return kernels > 1;
}

static bool compile_ptx(arena *a, diag_set *ds, const cg_job *job, cg_output *out) {
    if (!cg_compile_parts(a, ds, job, out)) return false;
    cg_ptx_crowded(a, ds, job->module, out);
    return true;
}

static bool to_cubin(arena *a, diag_set *ds, const cg_job *job, cg_output *out) {
    bool several = !job->options->beside && several_kernels(job->module);
    cg_assembling s = {.arch = job->target->arch, .options = job->options, .several = several};
    cg_output ptx = {0};
    cg_assemble_begin(a, &s);
    if (!compile_ptx(a, ds, job, &ptx)) {
        cg_assemble_cancel(&s);
        return false;
    }
    return cg_assemble_end(a, ds, &s, &ptx, out);
}

bool cg_emit(arena *a, diag_set *ds, const simt_module *m, const cg_target *t, cg_form form,
             const cg_options *o, cg_output *out) {
    *out = (cg_output){.log = ""};
    if (!form_exists(ds, form, t)) return false;
    cg_job job = {.module = m, .target = t, .cpu = CG_CPU_PORTABLE, .form = form, .options = o};
    if (form == CG_CUBIN) return to_cubin(a, ds, &job, out);
    return form == CG_PTX ? compile_ptx(a, ds, &job, out) : cg_compile(a, ds, &job, out);
}
