// The emitter, which walks one simt module into one LLVM module, and what its files share. Nothing
// of LLVM is visible outside this folder.
#ifndef GNNC_CODEGEN_EMITTER_H
#define GNNC_CODEGEN_EMITTER_H

#include "codegen.h"

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>

enum { CG_MAX_LANES = 16, CG_MAX_ARGS = 3 };

typedef struct {
    LLVMDIBuilderRef builder;     // NULL: no line info
    LLVMMetadataRef scope;        // of the kernel being emitted; NULL in functions
    VEC(LLVMMetadataRef) files;   // beside known
    VEC(const source_file *) known;
} cg_debug;

typedef struct {   // the function being emitted
    const simt_func *ir;
    LLVMValueRef function, *values;
    LLVMValueRef shared;          // base of the block's shared memory
    LLVMValueRef block, blocks;   // host
    bool steps;                   // the region at hand masks the stores of several steps
    // CUDA: under which stores are made where they stand; NULL: always
    LLVMValueRef predicate;
    // CUDA: what the load at hand gives where the predicate does not hold
    LLVMValueRef otherwise;
    bool divides;   // CUDA: so often that the assembler's own division is cheaper
} cg_function;

// 16-bit floats are LLVM's half and bfloat on a GPU; on the host they are i16, widened and rounded
// by our own code, because LLVM's calls out to a library for them.
typedef struct {
    arena *arena;
    diag_set *ds;
    const simt_module *module;
    const bool *taken;   // by place in the module: the functions to emit; NULL: all
    const cg_target *target;
    const cg_options *options;
    bool host, named, failed;   // named: keep value names, for people; failed: diagnostics tell why
    LLVMContextRef context;
    LLVMModuleRef llvm;
    LLVMBuilderRef b;
    LLVMTypeRef types[SIMT_ELEMENT_COUNT];
    LLVMValueRef *functions;       // by place in the module
    LLVMValueRef dynamic_shared;   // CUDA: the block's shared memory, or NULL
    cg_debug debug;
    cg_function f;   // being emitted
} cg_emitter;

typedef LLVMValueRef cg_value;

// ---- llvm_module.c ------------------------------------------------------------------------------
// Builds the functions taken into e->llvm; false: diagnostics tell why.
bool cg_emit_module(cg_emitter *e);
void cg_emit_region(cg_emitter *e, simt_region r);
// A diagnostic about an instruction; the walk goes on, its result is thrown away.
void cg_refuse(cg_emitter *e, const simt_instr_info *i, diag_code code, const char *why);

// ---- llvm_control.c -----------------------------------------------------------------------------
void cg_emit_for(cg_emitter *e, const simt_instr_info *i);
void cg_emit_while(cg_emitter *e, const simt_instr_info *i);
void cg_emit_if(cg_emitter *e, const simt_instr_info *i);
// Whether the region has the masks of several steps of a loop that is written out, around stores
// and what they are computed from: without a branch around each, steps are computed side by side.
bool cg_masks_steps(const cg_emitter *e, simt_region r);

// ---- llvm_ops.c ---------------------------------------------------------------------------------
void cg_emit_instr(cg_emitter *e, simt_instr i);
cg_value cg_emit_float_binary(cg_emitter *e, simt_op op, simt_type t, cg_value x, cg_value y);

// ---- llvm_value.c -------------------------------------------------------------------------------
LLVMTypeRef cg_type(const cg_emitter *e, simt_type t);
LLVMTypeRef cg_int_type(const cg_emitter *e, uint32_t bits, uint32_t lanes);
cg_value cg_int(const cg_emitter *e, LLVMTypeRef t, uint64_t x);   // splat over vectors
cg_value cg_i32(const cg_emitter *e, uint32_t x);
cg_value cg_false(const cg_emitter *e);   // an i1
cg_value cg_splat(cg_emitter *e, cg_value x, uint32_t lanes);
cg_value cg_lane(cg_emitter *e, cg_value v, uint32_t lanes, uint32_t k);
cg_value cg_pack(cg_emitter *e, const cg_value *elements, uint32_t lanes);
cg_value cg_shuffle(cg_emitter *e, cg_value x, cg_value y, uint32_t first, uint32_t lanes);
cg_value cg_constant(cg_emitter *e, simt_type t, const simt_instr_info *i);
cg_value cg_intrinsic(cg_emitter *e, const char *name, const LLVMTypeRef *overloads,
                      uint32_t noverloads, const cg_value *args, uint32_t nargs);
cg_value cg_intrinsic0(cg_emitter *e, const char *name);               // of no argument
cg_value cg_intrinsic1(cg_emitter *e, const char *name, cg_value x);   // overloaded on its argument
cg_value cg_intrinsic2(cg_emitter *e, const char *name, cg_value x, cg_value y);
cg_value cg_asm(cg_emitter *e, LLVMTypeRef result, const char *text, const char *constraints,
                bool effects, const cg_value *args, uint32_t nargs);
static inline bool cg_half_width(simt_type t) {
    return t.element == SIMT_F16 || t.element == SIMT_BF16;
}
static inline bool cg_soft(const cg_emitter *e, simt_type t) { return e->host && cg_half_width(t); }
static inline bool cg_is_float(simt_type t) {
    return t.element >= SIMT_F16 && t.element <= SIMT_F64;
}
static inline bool cg_is_int(simt_type t) { return t.element >= SIMT_I8 && t.element <= SIMT_I64; }
static inline bool cg_is_pointer(simt_type t) { return t.element >= SIMT_PTR_GLOBAL; }
static inline simt_type cg_with(simt_type t, simt_element e) {
    return (simt_type){(uint8_t)e, t.lanes};
}

// ---- llvm_convert.c -----------------------------------------------------------------------------
cg_value cg_emit_cvt(cg_emitter *e, bool is_unsigned, simt_type from, simt_type to, cg_value v);
cg_value cg_widen(cg_emitter *e, simt_type t, cg_value v);    // host: f16, bf16 to f32
cg_value cg_narrow(cg_emitter *e, simt_type t, cg_value v);   // host: f32 to f16, bf16
cg_value cg_emit_cvt_tf32(cg_emitter *e, simt_type t, cg_value v);
cg_value cg_soft_canonical(cg_emitter *e, simt_type t, cg_value bits);
cg_value cg_soft_fma(cg_emitter *e, simt_type t, const cg_value *x);   // host: of f16, bf16

// ---- llvm_divide.c ------------------------------------------------------------------------------
void cg_divide_function(cg_emitter *e);   // for e->func
// of floats, correctly rounded
cg_value cg_divide_gpu(cg_emitter *e, simt_type t, cg_value x, cg_value y);

// ---- llvm_memory.c ------------------------------------------------------------------------------
cg_value cg_emit_addr(cg_emitter *e, const simt_instr_info *i, cg_value pointer, cg_value index);
cg_value cg_emit_load(cg_emitter *e, const simt_instr_info *i, simt_type t, cg_value pointer);
void cg_emit_store(cg_emitter *e, const simt_instr_info *i, simt_type t, cg_value pointer,
                   cg_value v);
// llvm_some.c
cg_value cg_emit_load_some(cg_emitter *e, simt_type t, cg_value pointer, cg_value n);
void cg_emit_store_some(cg_emitter *e, simt_type t, cg_value pointer, cg_value v, cg_value n);
// A load or store with a cache hint, or under e->predicate, in PTX text, in pieces of at most
// `align` bytes.
cg_value cg_emit_load_text(cg_emitter *e, const simt_instr_info *i, simt_type t, cg_value pointer,
                           uint32_t align);
void cg_emit_store_text(cg_emitter *e, const simt_instr_info *i, simt_type t, cg_value pointer,
                        cg_value v, uint32_t align);
cg_value cg_emit_atomic(cg_emitter *e, const simt_instr_info *i, simt_type t, cg_value pointer,
                        cg_value v);
cg_value cg_emit_atomic_cas(cg_emitter *e, cg_value pointer, cg_value expected, cg_value v);

// ---- llvm_warp.c --------------------------------------------------------------------------------
cg_value cg_emit_shuffle(cg_emitter *e, const simt_instr_info *i, simt_type t, cg_value v,
                         cg_value lane);
cg_value cg_emit_vote(cg_emitter *e, const simt_instr_info *i, simt_type t, cg_value v);
cg_value cg_emit_ldmatrix(cg_emitter *e, const simt_instr_info *i, simt_type t, cg_value pointer);
cg_value cg_emit_mma(cg_emitter *e, const simt_instr_info *i, const cg_value *x);   // x: A, B, C
// binds its results
void cg_emit_mma_group(cg_emitter *e, const simt_instr_info *i);
void cg_emit_sync(cg_emitter *e, const simt_instr_info *i);
void cg_emit_dependence(cg_emitter *e, const simt_instr_info *i);
void cg_emit_copy(cg_emitter *e, const simt_instr_info *i, const cg_value *x);
void cg_emit_copy_order(cg_emitter *e, const simt_instr_info *i);
cg_value cg_emit_sreg(cg_emitter *e, simt_sreg r);

// ---- llvm_debug.c -------------------------------------------------------------------------------
void cg_debug_start(cg_emitter *e);
void cg_debug_function(cg_emitter *e);   // for e->func; sets the builder's location
void cg_debug_location(cg_emitter *e, span at);
void cg_debug_finish(cg_emitter *e);

#endif
