// A simt module to an LLVM module: declarations of functions and kernels by the target's calling
// convention, then their bodies, region by region.
//
// CUDA: a kernel is a ptx_kernel function with the simt parameters, its block size in
// "nvvm.reqntid", its shared memory dynamic (the launcher passes the bytes). Host: `void
// kernel(const uint64_t *args, uint32_t block, uint32_t blocks)`, a block of one thread, its shared
// memory on the stack.
#include "emitter.h"

#include <string.h>

enum { PTX_KERNEL = 71, SHARED_SPACE = 3, SHARED_ALIGN = 128 };

void cg_refuse(cg_emitter *e, const simt_instr_info *i, diag_code code, const char *why) {
    e->failed = true;
    const char *where = e->host ? "host" : e->target->arch->name;
    diagnostic *d = diag(e->ds, code, i->at, "'%s' cannot be compiled for %s",
                         simt_op_table(i->op)->text, where);
    diag_note(d, NO_SPAN, "%s", why);
}

static void element_types(cg_emitter *e) {
    LLVMContextRef c = e->context;
    LLVMTypeRef *t = e->types;
    t[SIMT_PRED] = LLVMInt1TypeInContext(c);
    t[SIMT_I8] = LLVMInt8TypeInContext(c);
    t[SIMT_I16] = LLVMInt16TypeInContext(c);
    t[SIMT_I32] = LLVMInt32TypeInContext(c);
    t[SIMT_I64] = LLVMInt64TypeInContext(c);
    t[SIMT_F16] = e->host ? t[SIMT_I16] : LLVMHalfTypeInContext(c);
    t[SIMT_BF16] = e->host ? t[SIMT_I16] : LLVMBFloatTypeInContext(c);
    t[SIMT_F32] = LLVMFloatTypeInContext(c);
    t[SIMT_F64] = LLVMDoubleTypeInContext(c);
    t[SIMT_PTR_GLOBAL] = LLVMPointerTypeInContext(c, e->host ? 0 : 1);
    t[SIMT_PTR_SHARED] = LLVMPointerTypeInContext(c, e->host ? 0 : SHARED_SPACE);
    t[SIMT_PTR_LOCAL] = LLVMPointerTypeInContext(c, e->host ? 0 : 5);
}

// ---- Declarations -------------------------------------------------------------------------------
static void add_attribute(cg_emitter *e, cg_value f, LLVMAttributeIndex at, const char *name) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(f, at, LLVMCreateEnumAttribute(e->context, kind, 0));
}

static LLVMTypeRef result_type(cg_emitter *e, const simt_func *f) {
    uint32_t n = f->kernel ? 0 : f->results.len;
    if (n == 0) return LLVMVoidTypeInContext(e->context);
    if (n == 1) return cg_type(e, f->results.data[0]);
    LLVMTypeRef *types = ARENA_ARRAY(e->arena, LLVMTypeRef, n);
    for (uint32_t k = 0; k < n; k++) types[k] = cg_type(e, f->results.data[k]);
    return LLVMStructTypeInContext(e->context, types, n, false);
}

// The type a parameter is passed in: a pred as a byte to kernels.
static LLVMTypeRef param_type(cg_emitter *e, const simt_func *f, uint32_t k) {
    simt_type t = simt_typeof(f, f->params.data[k].value);
    return f->kernel && t.element == SIMT_PRED ? cg_int_type(e, 8, t.lanes) : cg_type(e, t);
}

static LLVMTypeRef function_type(cg_emitter *e, const simt_func *f) {
    if (f->kernel && e->host) {
        LLVMTypeRef host[3] = {e->types[SIMT_PTR_GLOBAL], e->types[SIMT_I32], e->types[SIMT_I32]};
        return LLVMFunctionType(result_type(e, f), host, 3, false);
    }
    LLVMTypeRef *types = ARENA_ARRAY(e->arena, LLVMTypeRef, f->params.len + 1u);
    for (uint32_t k = 0; k < f->params.len; k++) types[k] = param_type(e, f, k);
    return LLVMFunctionType(result_type(e, f), types, f->params.len, false);
}

static void number_attribute(cg_emitter *e, cg_value llvm, const char *key, uint32_t number) {
    const char *text = arena_printf(e->arena, "%u", number);
    LLVMAttributeRef a = LLVMCreateStringAttribute(e->context, key, (unsigned)strlen(key), text,
                                                   (unsigned)strlen(text));
    LLVMAddAttributeAtIndex(llvm, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, a);
}

// More than there is room for an assembler would not heed at all.
static uint32_t resident_blocks(const gpu_arch *a, const simt_func *f) {
    uint32_t threads = f->occupancy < a->threads ? f->occupancy : a->threads,
             blocks = threads / f->block;
    return blocks < a->blocks ? blocks : a->blocks;
}

// Without a word on occupancy the assembler saves registers until a multiprocessor is full, and
// lets loads wait for one another where they would need more.
static void kernel_attributes(cg_emitter *e, const simt_func *f, cg_value llvm) {
    if (e->host) return;
    LLVMSetFunctionCallConv(llvm, PTX_KERNEL);
    number_attribute(e, llvm, "nvvm.reqntid", f->block);
    if (f->occupancy)
        number_attribute(e, llvm, "nvvm.minctasm", resident_blocks(e->target->arch, f));
    for (uint32_t k = 0; k < f->params.len; k++) {
        if (f->params.data[k].flags & SIMT_READONLY) add_attribute(e, llvm, k + 1, "readonly");
        if (f->params.data[k].flags & SIMT_NOALIAS) add_attribute(e, llvm, k + 1, "noalias");
    }
}

static cg_value declare(cg_emitter *e, const simt_func *f) {
    cg_value llvm = LLVMAddFunction(e->llvm, f->name, function_type(e, f));
    add_attribute(e, llvm, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, "nounwind");
    if (f->kernel) kernel_attributes(e, f, llvm);
    else {
        LLVMSetLinkage(llvm, LLVMInternalLinkage);
        add_attribute(e, llvm, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, "alwaysinline");
    }
    return llvm;
}

// ---- Bodies -------------------------------------------------------------------------------------
// args[k], read as parameter k: its value stands in the low bytes.
static cg_value host_argument(cg_emitter *e, uint32_t k) {
    cg_value place = LLVMGetParam(e->f.function, 0),
             index = LLVMConstInt(e->types[SIMT_I64], k, false);
    if (k) place = LLVMBuildGEP2(e->b, e->types[SIMT_I64], place, &index, 1, "");
    cg_value v = LLVMBuildLoad2(e->b, param_type(e, e->f.ir, k), place, "");
    LLVMSetAlignment(v, 8);
    return v;
}

static void bind_params(cg_emitter *e) {
    bool host_kernel = e->host && e->f.ir->kernel;
    for (uint32_t k = 0; k < e->f.ir->params.len; k++) {
        const simt_param_info *p = &e->f.ir->params.data[k];
        cg_value v = host_kernel ? host_argument(e, k) : LLVMGetParam(e->f.function, k);
        if (e->named && p->name) LLVMSetValueName2(v, p->name, strlen(p->name));
        bool byte = e->f.ir->kernel && simt_typeof(e->f.ir, p->value).element == SIMT_PRED;
        if (byte) v = LLVMBuildICmp(e->b, LLVMIntNE, v, LLVMConstNull(LLVMTypeOf(v)), "");
        e->f.values[p->value] = v;
    }
    if (!host_kernel) return;
    e->f.block = LLVMGetParam(e->f.function, 1);
    e->f.blocks = LLVMGetParam(e->f.function, 2);
}

static void bind_shared(cg_emitter *e) {
    e->f.shared = NULL;
    if (!e->f.ir->kernel || !e->f.ir->shared_bytes) return;
    if (e->host) {
        e->f.shared = LLVMBuildAlloca(e->b,
                                      LLVMArrayType2(e->types[SIMT_I8], e->f.ir->shared_bytes), "");
        LLVMSetAlignment(e->f.shared, SHARED_ALIGN);
        return;
    }
    if (!e->dynamic_shared) {
        LLVMTypeRef bytes = LLVMArrayType2(e->types[SIMT_I8], 0);
        e->dynamic_shared = LLVMAddGlobalInAddressSpace(e->llvm, bytes, "gnn_shared", SHARED_SPACE);
        LLVMSetAlignment(e->dynamic_shared, SHARED_ALIGN);
    }
    e->f.shared = e->dynamic_shared;
}

void cg_emit_region(cg_emitter *e, simt_region r) {
    const simt_region_info *region = &e->f.ir->regions.data[r];
    bool outer = e->f.steps, steps = cg_masks_steps(e, r);
    for (uint32_t k = 0; k < region->instrs.len; k++) {
        e->f.steps = steps;
        cg_emit_instr(e, region->instrs.data[k]);
    }
    e->f.steps = outer;
}

static void define(cg_emitter *e, const simt_func *f, cg_value llvm) {
    e->f.ir = f;
    e->f.function = llvm;
    e->f.values = ARENA_ARRAY(e->arena, cg_value, f->values.len);
    LLVMPositionBuilderAtEnd(e->b, LLVMAppendBasicBlockInContext(e->context, llvm, ""));
    cg_debug_function(e);
    cg_divide_function(e);
    bind_params(e);
    bind_shared(e);
    cg_emit_region(e, 1);
}

bool cg_emit_module(cg_emitter *e) {
    uint32_t n = e->module->funcs.len;
    element_types(e);
    e->functions = ARENA_ARRAY(e->arena, cg_value, n);
    for (uint32_t k = 0; k < n; k++)
        if (!e->taken || e->taken[k]) e->functions[k] = declare(e, e->module->funcs.data[k]);
    cg_debug_start(e);
    for (uint32_t k = 0; k < n; k++)
        if (e->functions[k]) define(e, e->module->funcs.data[k], e->functions[k]);
    cg_debug_finish(e);
    return !e->failed;
}
