// The first n elements of a vector, loaded or stored: nothing past them is touched.
//     ld.some f32x16 %a, %n       →   masked.load of 16 floats, lane k where k < n
//     st.some f32x4 %a, %c, %n    →   n >= 4: all; else where n has the bit 2 the first two, and where it has the bit 1 the next one
#include "emitter.h"

#include <llvm-c/Target.h>

// first, first + step, …
static cg_value iota(cg_emitter *e, uint32_t bits, uint32_t lanes, uint32_t first, uint32_t step) {
    cg_value x[CG_MAX_LANES];
    for (uint32_t k = 0; k < lanes; k++)
        x[k] = LLVMConstInt(LLVMIntTypeInContext(e->context, bits), (uint64_t)k * step + first,
                            false);
    return LLVMConstVector(x, lanes);
}

static cg_value of_one(cg_emitter *e, cg_value x) {
    return LLVMBuildInsertElement(e->b, LLVMGetPoison(LLVMVectorType(LLVMTypeOf(x), 1)), x,
                                  cg_i32(e, 0), "");
}

// Of pieces of `step` elements each, those of which all come before the n-th, however far n is
// below 0.
static cg_value pieces_before(cg_emitter *e, cg_value n, uint32_t pieces, uint32_t step) {
    if (pieces == 1) return of_one(e, LLVMBuildICmp(e->b, LLVMIntSGE, n, cg_i32(e, step), ""));
    return LLVMBuildICmp(e->b, LLVMIntSGE, cg_splat(e, n, pieces), iota(e, 32, pieces, step, step),
                         "");
}

static cg_value masked_load(cg_emitter *e, LLVMTypeRef vector, cg_value pointer, cg_value mask) {
    LLVMTypeRef types[] = {vector, LLVMTypeOf(pointer)};
    return cg_intrinsic(e, "llvm.masked.load", types, 2,
                        (cg_value[]){pointer, mask, LLVMConstNull(vector)}, 3);
}

static cg_value element_before(cg_emitter *e, cg_value pointer, cg_value n) {
    cg_value at = LLVMBuildSub(e->b, n, cg_i32(e, 1), "");
    return LLVMBuildGEP2(e->b, LLVMInt16TypeInContext(e->context), pointer, &at, 1, "");
}

// Whether the n-th element has no other beside it in its pair, as a vector of one.
static cg_value is_lone(cg_emitter *e, cg_value n) {
    cg_value odd = LLVMBuildTrunc(e->b, n, LLVMInt1TypeInContext(e->context), ""),
             some = LLVMBuildICmp(e->b, LLVMIntSGT, n, cg_i32(e, 0), "");
    return LLVMBuildAnd(e->b, odd, some, "");
}

// The host masks words: elements of 16 bits come by pairs, and the last one alone.
static bool by_pairs(const cg_emitter *e, simt_type t) {
    return e->host && simt_element_bits(t.element) == 16;
}

static cg_value load_pairs(cg_emitter *e, simt_type t, cg_value pointer, cg_value n) {
    LLVMTypeRef words = LLVMVectorType(LLVMInt32TypeInContext(e->context), t.lanes / 2),
                half = LLVMInt16TypeInContext(e->context);
    n = cg_intrinsic2(e, "llvm.smin", n, cg_i32(e, t.lanes));
    cg_value pairs = masked_load(e, words, pointer, pieces_before(e, n, t.lanes / 2, 2)),
             all = LLVMBuildBitCast(e->b, pairs, cg_int_type(e, 16, t.lanes), ""),
             lone = is_lone(e, n),
             last = masked_load(e, LLVMVectorType(half, 1), element_before(e, pointer, n),
                                of_one(e, lone)),
             at = LLVMBuildSub(e->b, LLVMBuildTrunc(e->b, n, half, ""),
                               LLVMConstInt(half, 1, false), ""),
             here = LLVMBuildICmp(e->b, LLVMIntEQ, cg_splat(e, at, t.lanes),
                                  iota(e, 16, t.lanes, 0, 1), "");
    last = cg_splat(e, LLVMBuildExtractElement(e->b, last, cg_i32(e, 0), ""), t.lanes);
    here = LLVMBuildAnd(e->b, here, cg_splat(e, lone, t.lanes), "");
    return LLVMBuildBitCast(e->b, LLVMBuildSelect(e->b, here, last, all, ""), cg_type(e, t), "");
}

cg_value cg_emit_load_some(cg_emitter *e, simt_type t, cg_value pointer, cg_value n) {
    if (by_pairs(e, t)) return load_pairs(e, t, pointer, n);
    return masked_load(e, cg_type(e, t), pointer, pieces_before(e, n, t.lanes, 1));
}

// ---- Stores -------------------------------------------------------------------------------------
static cg_value half_of(cg_emitter *e, cg_value v, uint32_t lanes, bool high) {
    if (lanes == 1) return LLVMBuildExtractElement(e->b, v, cg_i32(e, high), "");
    return LLVMBuildShuffleVector(e->b, v, LLVMGetPoison(LLVMTypeOf(v)),
                                  iota(e, 32, lanes, high ? lanes : 0, 1), "");
}

static void store_here(cg_emitter *e, cg_value v, cg_value pointer, LLVMTypeRef element) {
    LLVMSetAlignment(LLVMBuildStore(e->b, v, pointer),
                     LLVMABIAlignmentOfType(LLVMGetModuleDataLayout(e->llvm), element));
}

typedef struct {
    cg_value v, pointer;
    LLVMBasicBlockRef from;
} some_left;

// Where n has the bit `lanes`, the low half of 2 * lanes elements is stored, and what is left is
// the high one, so far behind.
static some_left store_half(cg_emitter *e, some_left x, LLVMTypeRef element, uint32_t lanes,
                            cg_value n) {
    LLVMBasicBlockRef then = LLVMAppendBasicBlockInContext(e->context, e->f.function, ""),
                      next = LLVMAppendBasicBlockInContext(e->context, e->f.function, "");
    cg_value low = half_of(e, x.v, lanes, false), step = cg_i32(e, lanes),
             bit = LLVMBuildAnd(e->b, n, step, "");
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntNE, bit, cg_i32(e, 0), ""), then, next);
    LLVMPositionBuilderAtEnd(e->b, then);
    store_here(e, low, x.pointer, element);
    cg_value behind = LLVMBuildGEP2(e->b, element, x.pointer, &step, 1, ""),
             high = half_of(e, x.v, lanes, true);
    LLVMBuildBr(e->b, next);
    LLVMPositionBuilderAtEnd(e->b, next);
    some_left out = {LLVMBuildPhi(e->b, LLVMTypeOf(low), ""),
                     LLVMBuildPhi(e->b, LLVMTypeOf(x.pointer), ""), next};
    LLVMBasicBlockRef blocks[] = {x.from, then};
    LLVMAddIncoming(out.v, (cg_value[]){low, high}, blocks, 2);
    LLVMAddIncoming(out.pointer, (cg_value[]){x.pointer, behind}, blocks, 2);
    return out;
}

// A masked store takes dozens of steps on some processors, and what was stored whole is not read
// back at once in other pieces: pieces come out of registers, by the digits of n.
void cg_emit_store_some(cg_emitter *e, simt_type t, cg_value pointer, cg_value v, cg_value n) {
    LLVMTypeRef element = cg_type(e, (simt_type){t.element, 1});
    LLVMBasicBlockRef all = LLVMAppendBasicBlockInContext(e->context, e->f.function, ""),
                      some = LLVMAppendBasicBlockInContext(e->context, e->f.function, ""),
                      done = LLVMAppendBasicBlockInContext(e->context, e->f.function, "");
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntSGE, n, cg_i32(e, t.lanes), ""), all, some);
    LLVMPositionBuilderAtEnd(e->b, all);
    store_here(e, v, pointer, element);
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, some);
    n = cg_intrinsic2(e, "llvm.smax", n, cg_i32(e, 0));
    some_left x = {v, pointer, some};
    for (uint32_t lanes = t.lanes / 2; lanes >= 1; lanes /= 2)
        x = store_half(e, x, element, lanes, n);
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, done);
}
