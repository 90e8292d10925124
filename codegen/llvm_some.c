// The first n elements of a vector, loaded or stored: nothing past them is touched.
//     ld.some f32x16 %a, %n       →   masked.load of 16 floats, lane k where k < n
//     st.some f32x4 %a, %c, %n    →   n >= 4: all; n >= 2: the first two, and the two up to n; n >= 1: the first
#include "internal.h"

// first, first + step, …
static cg_value iota(cg_emitter *e, uint32_t bits, uint32_t lanes, uint32_t first, uint32_t step) {
    cg_value x[CG_MAX_LANES];
    for (uint32_t k = 0; k < lanes; k++) x[k] = LLVMConstInt(LLVMIntTypeInContext(e->context, bits), (uint64_t)k * step + first, false);
    return LLVMConstVector(x, lanes);
}

static cg_value of_one(cg_emitter *e, cg_value x) {
    return LLVMBuildInsertElement(e->b, LLVMGetPoison(LLVMVectorType(LLVMTypeOf(x), 1)), x, cg_i32(e, 0), "");
}

// Of pieces of `step` elements each, those of which all come before the n-th, however far n is below 0.
static cg_value pieces_before(cg_emitter *e, cg_value n, uint32_t pieces, uint32_t step) {
    if (pieces == 1) return of_one(e, LLVMBuildICmp(e->b, LLVMIntSGE, n, cg_i32(e, step), ""));
    return LLVMBuildICmp(e->b, LLVMIntSGE, cg_splat(e, n, pieces), iota(e, 32, pieces, step, step), "");
}

static cg_value masked_load(cg_emitter *e, LLVMTypeRef vector, cg_value pointer, cg_value mask) {
    LLVMTypeRef types[] = {vector, LLVMTypeOf(pointer)};
    return cg_intrinsic(e, "llvm.masked.load", types, 2, (cg_value[]){pointer, mask, LLVMConstNull(vector)}, 3);
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
static bool by_pairs(const cg_emitter *e, simt_type t) { return e->host && simt_element_bits(t.element) == 16; }

static cg_value load_pairs(cg_emitter *e, simt_type t, cg_value pointer, cg_value n) {
    LLVMTypeRef words = LLVMVectorType(LLVMInt32TypeInContext(e->context), t.lanes / 2), half = LLVMInt16TypeInContext(e->context);
    n = cg_intrinsic2(e, "llvm.smin", n, cg_i32(e, t.lanes));
    cg_value pairs = masked_load(e, words, pointer, pieces_before(e, n, t.lanes / 2, 2)),
             all = LLVMBuildBitCast(e->b, pairs, cg_int_type(e, 16, t.lanes), ""), lone = is_lone(e, n),
             last = masked_load(e, LLVMVectorType(half, 1), element_before(e, pointer, n), of_one(e, lone)),
             at = LLVMBuildSub(e->b, LLVMBuildTrunc(e->b, n, half, ""), LLVMConstInt(half, 1, false), ""),
             here = LLVMBuildICmp(e->b, LLVMIntEQ, cg_splat(e, at, t.lanes), iota(e, 16, t.lanes, 0, 1), "");
    last = cg_splat(e, LLVMBuildExtractElement(e->b, last, cg_i32(e, 0), ""), t.lanes);
    here = LLVMBuildAnd(e->b, here, cg_splat(e, lone, t.lanes), "");
    return LLVMBuildBitCast(e->b, LLVMBuildSelect(e->b, here, last, all, ""), cg_type(e, t), "");
}

cg_value cg_emit_load_some(cg_emitter *e, simt_type t, cg_value pointer, cg_value n) {
    if (by_pairs(e, t)) return load_pairs(e, t, pointer, n);
    return masked_load(e, cg_type(e, t), pointer, pieces_before(e, n, t.lanes, 1));
}

// ---- Stores ----------------------------------------------------------------------------------------------
// A masked store takes dozens of steps on some processors: from a copy on the stack `h` elements are stored at the begin, and as
// many up to the end, which overlap: h <= n < 2 h.
static void store_ends(cg_emitter *e, LLVMTypeRef element, uint32_t h, cg_value from, cg_value to, cg_value n) {
    LLVMTypeRef piece = h > 1 ? LLVMVectorType(element, h) : element;
    const unsigned align = LLVMABIAlignmentOfType(LLVMGetModuleDataLayout(e->llvm), element);
    cg_value first[] = {cg_i32(e, 0), LLVMBuildSub(e->b, n, cg_i32(e, h), "")};
    for (uint32_t k = 0; k < (h > 1 ? 2 : 1); k++) {
        cg_value at = LLVMBuildGEP2(e->b, element, from, &first[k], 1, ""), part = LLVMBuildLoad2(e->b, piece, at, "");
        LLVMSetAlignment(part, align);
        LLVMSetAlignment(LLVMBuildStore(e->b, part, LLVMBuildGEP2(e->b, element, to, &first[k], 1, "")), align);
    }
}

// Room for it in the function's frame, whatever loop it is in.
static cg_value room_for(cg_emitter *e, cg_value v) {
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b), entry = LLVMGetEntryBasicBlock(e->function);
    cg_value first = LLVMGetFirstInstruction(entry);
    if (first) LLVMPositionBuilderBefore(e->b, first);
    else LLVMPositionBuilderAtEnd(e->b, entry);
    cg_value room = LLVMBuildAlloca(e->b, LLVMTypeOf(v), "");
    LLVMPositionBuilderAtEnd(e->b, here);
    return room;
}

void cg_emit_store_some(cg_emitter *e, simt_type t, cg_value pointer, cg_value v, cg_value n) {
    LLVMTypeRef element = cg_type(e, (simt_type){t.element, 1});
    LLVMBasicBlockRef done = LLVMAppendBasicBlockInContext(e->context, e->function, "");
    cg_value copy = room_for(e, v);
    LLVMSetVolatile(LLVMBuildStore(e->b, v, copy), true);   // it stays one vector
    n = cg_intrinsic2(e, "llvm.smin", n, cg_i32(e, t.lanes));
    for (uint32_t h = t.lanes; h >= 1; h /= 2) {
        LLVMBasicBlockRef then = LLVMAppendBasicBlockInContext(e->context, e->function, ""),
                          fewer = h > 1 ? LLVMAppendBasicBlockInContext(e->context, e->function, "") : done;
        LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntSGE, n, cg_i32(e, h), ""), then, fewer);
        LLVMPositionBuilderAtEnd(e->b, then);
        store_ends(e, element, h, copy, pointer, n);
        LLVMBuildBr(e->b, done);
        LLVMPositionBuilderAtEnd(e->b, fewer);
    }
}
