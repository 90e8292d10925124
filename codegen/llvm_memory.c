// Addresses, loads, stores and atomics.
#include "emitter.h"

cg_value cg_emit_addr(cg_emitter *e, const simt_instr_info *i, cg_value pointer, cg_value index) {
    LLVMTypeRef i8 = LLVMInt8TypeInContext(e->context);
    LLVMTypeRef step = i->mem.scale > 1 ? LLVMArrayType2(i8, i->mem.scale) : i8;
    if (!(LLVMIsAConstantInt(index) && LLVMConstIntGetSExtValue(index) == 0))
        pointer = LLVMBuildGEP2(e->b, step, pointer, &index, 1, "");
    if (!i->imm.i) return pointer;
    cg_value offset = LLVMConstInt(LLVMInt64TypeInContext(e->context), (uint64_t)i->imm.i, true);
    return LLVMBuildGEP2(e->b, i8, pointer, &offset, 1, "");
}

static uint32_t access_bytes(simt_type t) { return simt_element_bits(t.element) * t.lanes / 8; }
static uint32_t access_align(const simt_instr_info *i, simt_type t) {
    return i->mem.align ? i->mem.align : access_bytes(t);
}

// Hints only reach PTX, and only global memory has them.
static bool hinted(const cg_emitter *e, const simt_instr_info *i) {
    return !e->host && (i->mem.cache != SIMT_CACHE_DEFAULT || i->mem.pinned) &&
           simt_typeof(e->f.ir, i->args[0]).element == SIMT_PTR_GLOBAL;
}

// LLVM would load halves of shared memory one by one where they are used one by one: the operands
// of matrices that lie along another axis.
static bool loads_words(const cg_emitter *e, const simt_instr_info *i, simt_type t) {
    return !e->host && simt_typeof(e->f.ir, i->args[0]).element == SIMT_PTR_SHARED && t.lanes > 2 &&
           (t.element == SIMT_F16 || t.element == SIMT_BF16) &&
           access_align(i, t) == access_bytes(t);
}

cg_value cg_emit_load(cg_emitter *e, const simt_instr_info *i, simt_type t, cg_value pointer) {
    if (hinted(e, i) || e->f.otherwise)
        return cg_emit_load_text(e, i, t, pointer, access_align(i, t));
    bool words = loads_words(e, i, t);
    cg_value v = LLVMBuildLoad2(e->b, words ? cg_int_type(e, 32, t.lanes / 2) : cg_type(e, t),
                                pointer, "");
    LLVMSetAlignment(v, access_align(i, t));
    if (words) return LLVMBuildBitCast(e->b, v, cg_type(e, t), "");
    if (i->mem.invariant) {
        unsigned kind = LLVMGetMDKindIDInContext(e->context, "invariant.load", 14);
        LLVMSetMetadata(v, kind,
                        LLVMMetadataAsValue(e->context, LLVMMDNodeInContext2(e->context, NULL, 0)));
    }
    return v;
}

void cg_emit_store(cg_emitter *e, const simt_instr_info *i, simt_type t, cg_value pointer,
                   cg_value v) {
    if (e->f.predicate || hinted(e, i)) cg_emit_store_text(e, i, t, pointer, v, access_align(i, t));
    else LLVMSetAlignment(LLVMBuildStore(e->b, v, pointer), access_align(i, t));
}

static unsigned scope(const cg_emitter *e) {
    return e->host ? LLVMGetSyncScopeID(e->context, "", 0)
                   : LLVMGetSyncScopeID(e->context, "device", 6);
}

static cg_value compare_exchange(cg_emitter *e, cg_value pointer, cg_value expected, cg_value v) {
    return LLVMBuildAtomicCmpXchgSyncScope(e->b, pointer, expected, v, LLVMAtomicOrderingMonotonic,
                                           LLVMAtomicOrderingMonotonic, scope(e));
}

cg_value cg_emit_atomic_cas(cg_emitter *e, cg_value pointer, cg_value expected, cg_value v) {
    return LLVMBuildExtractValue(e->b, compare_exchange(e, pointer, expected, v), 0, "");
}

// The host's 16-bit floats are integers to LLVM: add by hand, and try until nobody came between.
static cg_value soft_atomic_add(cg_emitter *e, simt_type t, cg_value pointer, cg_value v) {
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b);
    LLVMBasicBlockRef again = LLVMAppendBasicBlockInContext(e->context, e->f.function, "");
    LLVMBasicBlockRef done = LLVMAppendBasicBlockInContext(e->context, e->f.function, "");
    cg_value first = LLVMBuildLoad2(e->b, cg_type(e, t), pointer, "");
    LLVMSetAlignment(first, 2);
    LLVMSetOrdering(first, LLVMAtomicOrderingMonotonic);
    LLVMBuildBr(e->b, again);
    LLVMPositionBuilderAtEnd(e->b, again);
    cg_value old = LLVMBuildPhi(e->b, cg_type(e, t), "");
    cg_value r = compare_exchange(e, pointer, old, cg_emit_float_binary(e, SIMT_ADD, t, old, v));
    cg_value seen = LLVMBuildExtractValue(e->b, r, 0, "");
    LLVMBuildCondBr(e->b, LLVMBuildExtractValue(e->b, r, 1, ""), done, again);
    LLVMAddIncoming(old, (cg_value[]){first, seen}, (LLVMBasicBlockRef[]){before, again}, 2);
    LLVMPositionBuilderAtEnd(e->b, done);
    return old;
}

static LLVMAtomicRMWBinOp native_op(simt_atomic a, bool is_float) {
    switch (a) {
    case SIMT_ATOMIC_ADD: return is_float ? LLVMAtomicRMWBinOpFAdd : LLVMAtomicRMWBinOpAdd;
    case SIMT_ATOMIC_MIN: return is_float ? LLVMAtomicRMWBinOpFMinimum : LLVMAtomicRMWBinOpMin;
    case SIMT_ATOMIC_MAX: return is_float ? LLVMAtomicRMWBinOpFMaximum : LLVMAtomicRMWBinOpMax;
    case SIMT_ATOMIC_AND: return LLVMAtomicRMWBinOpAnd;
    case SIMT_ATOMIC_OR: return LLVMAtomicRMWBinOpOr;
    case SIMT_ATOMIC_EXCH: return LLVMAtomicRMWBinOpXchg;
    case SIMT_ATOMIC_COUNT: break;
    }
    ICE("an atomic that does not exist");
}

// Float minimum and maximum become compare-and-swap loops: the tricks with integer atomics lose
// NaNs of one sign.
cg_value cg_emit_atomic(cg_emitter *e, const simt_instr_info *i, simt_type t, cg_value pointer,
                        cg_value v) {
    simt_atomic a = (simt_atomic)i->aux;
    if (cg_soft(e, t)) {
        if (a != SIMT_ATOMIC_ADD) ICE("16-bit floats can only be added atomically");
        return soft_atomic_add(e, t, pointer, v);
    }
    return LLVMBuildAtomicRMWSyncScope(e->b, native_op(a, cg_is_float(t)), pointer, v,
                                       LLVMAtomicOrderingMonotonic, scope(e));
}

// ---- Copies that go on while the thread does ----------------------------------------------------
// The host has what they bring at once. 16 bytes go past the L1.
static void copy_at_once(cg_emitter *e, const cg_value *x, cg_value bytes) {
    LLVMTypeRef i8 = LLVMInt8TypeInContext(e->context);
    cg_value some = LLVMBuildSelect(e->b, x[2], bytes, LLVMConstInt(LLVMTypeOf(bytes), 0, false),
                                    "");
    LLVMBuildMemSet(e->b, x[0], LLVMConstInt(i8, 0, false), bytes, 1);
    LLVMBuildMemCpy(e->b, x[0], 1, x[1], 1, some);
}

// No operation copies two bytes while the thread goes on. Loads of several copies may all come
// before the first store, as what is copied from does not change in the kernel.
static void copy_through_register(cg_emitter *e, const cg_value *x) {
    cg_value args[] = {x[1], LLVMBuildZExt(e->b, x[2], LLVMInt32TypeInContext(e->context), "")};
    cg_value two = cg_asm(
        e, LLVMInt16TypeInContext(e->context),
        "{ .reg .pred p; setp.ne.b32 p, $2, 0; mov.b16 $0, 0; @p ld.global.b16 $0, [$1]; }",
        "=h,l,r", false, args, 2);
    LLVMSetAlignment(LLVMBuildStore(e->b, two, x[0]), 2);
}

void cg_emit_copy(cg_emitter *e, const simt_instr_info *i, const cg_value *x) {
    cg_value bytes = cg_i32(e, (uint32_t)i->imm.i);
    if (e->host) {
        copy_at_once(e, x,
                     LLVMConstInt(LLVMInt64TypeInContext(e->context), (uint64_t)i->imm.i, false));
        return;
    }
    if (i->imm.i == 2) {
        copy_through_register(e, x);
        return;
    }
    cg_value some = LLVMBuildSelect(e->b, x[2], bytes, cg_i32(e, 0), "");
    const char *name = i->imm.i == 16  ? "llvm.nvvm.cp.async.cg.shared.global.16.s"
                       : i->imm.i == 8 ? "llvm.nvvm.cp.async.ca.shared.global.8.s"
                                       : "llvm.nvvm.cp.async.ca.shared.global.4.s";
    cg_intrinsic(e, name, NULL, 0, (cg_value[]){x[0], x[1], some}, 3);
}

void cg_emit_copy_order(cg_emitter *e, const simt_instr_info *i) {
    cg_value groups = cg_i32(e, (uint32_t)i->imm.i);
    if (e->host) return;
    if (i->op == SIMT_COPY_END) cg_intrinsic0(e, "llvm.nvvm.cp.async.commit.group");
    else cg_intrinsic(e, "llvm.nvvm.cp.async.wait.group", NULL, 0, &groups, 1);
}
