// Target machines, the pass pipeline, and code out of LLVM: text, PTX, objects.
#include "internal.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Error.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <string.h>
#include <threads.h>

// ---- Architectures ---------------------------------------------------------------------------------------
static const cg_arch archs[] = {
#define CG_ARCH(name, sm, ptx) {name, sm, "+ptx" #ptx, ptx},
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

// ---- Target machines -------------------------------------------------------------------------------------
static once_flag started = ONCE_FLAG_INIT;

// LLVM's options belong to the process: shared memory is addressed with 32 bits, which only an option can
// say.
static void start_llvm(void) {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    static const char *const options[] = {"gnnc", "--nvptx-short-ptr"};
    LLVMParseCommandLineOptions(2, options, "");
}

static LLVMCodeGenOptLevel level_of(const cg_options *o) {
    switch (o->optimise) {
    case 0: return LLVMCodeGenLevelNone;
    case 1: return LLVMCodeGenLevelLess;
    case 2: return LLVMCodeGenLevelDefault;
    }
    return LLVMCodeGenLevelAggressive;
}

static LLVMTargetMachineRef machine_of(const char *triple, const char *cpu, const char *features,
                                       const cg_options *o) {
    LLVMTargetRef target;
    char *error = NULL;
    if (LLVMGetTargetFromTriple(triple, &target, &error)) ICE("LLVM lacks the target %s: %s", triple, error);
    LLVMTargetMachineRef m =
        LLVMCreateTargetMachine(target, triple, cpu, features, level_of(o), LLVMRelocPIC, LLVMCodeModelDefault);
    if (!m) ICE("LLVM has no machine for %s", triple);
    LLVMSetTargetMachineAsmVerbosity(m, false);
    return m;
}

static const char *const host_triple = "x86_64-unknown-linux-gnu";

static LLVMTargetMachineRef new_machine(const cg_target *t, cg_cpu cpu, const cg_options *o) {
    if (t->kind == CG_CUDA) {
        const char *name = t->arch->name;
        return machine_of("nvptx64-nvidia-cuda", name, t->arch->features, o);
    }
    if (cpu == CG_CPU_PORTABLE) return machine_of(host_triple, "x86-64-v3", "", o);
    char *name = LLVMGetHostCPUName(), *features = LLVMGetHostCPUFeatures();
    LLVMTargetMachineRef m = machine_of(host_triple, name, features, o);
    LLVMDisposeMessage(name);
    LLVMDisposeMessage(features);
    return m;
}

// ---- Units -----------------------------------------------------------------------------------------------
// LLVM would print its errors and exit; they are faults of ours.
static void on_diagnostic(LLVMDiagnosticInfoRef d, void *unused) {
    (void)unused;
    if (LLVMGetDiagInfoSeverity(d) == LLVMDSError)
        ICE("LLVM cannot compile the module: %s", LLVMGetDiagInfoDescription(d));
}

static bool emit(cg_unit *u, arena *a, diag_set *ds, const simt_module *m, const cg_target *t,
                 const cg_options *o, bool named) {
    cg_emitter e = {.arena = a, .ds = ds, .module = m, .target = t, .options = o, .host = t->kind == CG_HOST,
                    .named = named, .context = u->context, .llvm = u->llvm};
    e.b = LLVMCreateBuilderInContext(u->context);
    bool ok = cg_emit_module(&e);
    LLVMDisposeBuilder(e.b);
    if (!ok) return false;
    char *fault = NULL;
    if (LLVMVerifyModule(u->llvm, LLVMReturnStatusAction, &fault))
        ICE("LLVM refuses what was emitted for it: %s", fault);
    LLVMDisposeMessage(fault);
    return true;
}

bool cg_unit_open(cg_unit *u, arena *a, diag_set *ds, const simt_module *m, const cg_target *t, cg_cpu cpu,
                  cg_form form, const cg_options *o) {
    call_once(&started, start_llvm);
    cg_fatal_watch(m);
    *u = (cg_unit){.context = LLVMContextCreate()};
    LLVMContextSetDiagnosticHandler(u->context, on_diagnostic, NULL);
    LLVMContextSetDiscardValueNames(u->context, form != CG_LLVM);
    u->llvm = LLVMModuleCreateWithNameInContext("gnnc", u->context);
    u->machine = new_machine(t, cpu, o);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(u->machine);
    LLVMSetModuleDataLayout(u->llvm, layout);
    LLVMDisposeTargetData(layout);
    char *triple = LLVMGetTargetMachineTriple(u->machine);
    LLVMSetTarget(u->llvm, triple);
    LLVMDisposeMessage(triple);
    return emit(u, a, ds, m, t, o, form == CG_LLVM);
}

// Short lists: the emitter gives SSA, so nothing has to be promoted, and loops are left to ptxas, which
// unrolls them knowing the registers. On a segment softmax LLVM's own O2 takes three times as long for the
// same instructions.
static const char *const pipelines[] = {
    "always-inline",
    "always-inline,function(early-cse<memssa>,simplifycfg)",
    "always-inline,function(early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm),"
    "gvn,instcombine<no-verify-fixpoint>,simplifycfg)",
};

void cg_unit_optimise(cg_unit *u, const cg_options *o) {
    const char *passes = pipelines[o->optimise < 2 ? o->optimise : 2];
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(u->llvm, passes, u->machine, options);
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

// ---- Output ----------------------------------------------------------------------------------------------
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

static void compile(arena *a, cg_unit *u, cg_form form, const cg_options *o, cg_output *out) {
    cg_unit_optimise(u, o);
    if (form == CG_LLVM) take_text(a, u, out);
    else take(a, cg_unit_code(u, form == CG_OBJECT ? LLVMObjectFile : LLVMAssemblyFile), out);
}

bool cg_emit(arena *a, diag_set *ds, const simt_module *m, const cg_target *t, cg_form form,
             const cg_options *o, cg_output *out) {
    *out = (cg_output){.log = ""};
    if (!form_exists(ds, form, t)) return false;
    cg_unit u;
    bool ok = cg_unit_open(&u, a, ds, m, t, CG_CPU_PORTABLE, form, o);
    if (ok) compile(a, &u, form, o, out);
    cg_unit_close(&u);
    if (!ok || form != CG_CUBIN) return ok;
    cg_output ptx = *out;
    return cg_assemble(a, ds, t->arch, o, ptx.data, ptx.size, out);
}
