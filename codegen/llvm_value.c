// Types, constants, lanes and calls of intrinsics: the vocabulary the other parts of the emitter
// speak.
#include "emitter.h"

#include <string.h>

LLVMTypeRef cg_type(const cg_emitter *e, simt_type t) {
    LLVMTypeRef element = e->types[t.element];
    return t.lanes == 1 ? element : LLVMVectorType(element, t.lanes);
}

LLVMTypeRef cg_int_type(const cg_emitter *e, uint32_t bits, uint32_t lanes) {
    LLVMTypeRef element = LLVMIntTypeInContext(e->context, bits);
    return lanes == 1 ? element : LLVMVectorType(element, lanes);
}

static uint32_t lanes_of(LLVMTypeRef t) {
    return LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetVectorSize(t) : 1;
}

static cg_value constant_splat(cg_value x, uint32_t lanes) {
    cg_value elements[CG_MAX_LANES];
    if (lanes == 1) return x;
    for (uint32_t k = 0; k < lanes; k++) elements[k] = x;
    return LLVMConstVector(elements, lanes);
}

cg_value cg_int(const cg_emitter *e, LLVMTypeRef t, uint64_t x) {
    (void)e;
    uint32_t lanes = lanes_of(t);
    LLVMTypeRef element = lanes == 1 ? t : LLVMGetElementType(t);
    uint32_t bits = LLVMGetIntTypeWidth(element);
    if (bits < 64) x &= (UINT64_C(1) << bits) - 1;
    return constant_splat(LLVMConstInt(element, x, false), lanes);
}

cg_value cg_i32(const cg_emitter *e, uint32_t x) {
    return LLVMConstInt(LLVMInt32TypeInContext(e->context), x, false);
}

cg_value cg_false(const cg_emitter *e) {
    return LLVMConstInt(LLVMInt1TypeInContext(e->context), 0, false);
}

cg_value cg_constant(cg_emitter *e, simt_type t, const simt_instr_info *i) {
    if (!cg_is_float(t)) return cg_int(e, cg_type(e, t), (uint64_t)i->imm.i);
    cg_value bits = LLVMConstInt(LLVMIntTypeInContext(e->context, simt_element_bits(t.element)),
                                 simt_const_bits(t.element, i->imm.f), false);
    return constant_splat(LLVMConstBitCast(bits, e->types[t.element]), t.lanes);
}

cg_value cg_splat(cg_emitter *e, cg_value x, uint32_t lanes) {
    if (lanes == 1) return x;
    if (LLVMIsConstant(x)) return constant_splat(x, lanes);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(e->context),
                vector = LLVMVectorType(LLVMTypeOf(x), lanes);
    cg_value one = LLVMBuildInsertElement(e->b, LLVMGetPoison(vector), x, cg_i32(e, 0), "");
    cg_value firsts = LLVMConstNull(LLVMVectorType(i32, lanes));
    return LLVMBuildShuffleVector(e->b, one, LLVMGetPoison(vector), firsts, "");
}

cg_value cg_lane(cg_emitter *e, cg_value v, uint32_t lanes, uint32_t k) {
    if (lanes == 1) return v;
    return LLVMBuildExtractElement(e->b, v, cg_i32(e, k), "");
}

cg_value cg_pack(cg_emitter *e, const cg_value *elements, uint32_t lanes) {
    if (lanes == 1) return elements[0];
    cg_value v = LLVMGetPoison(LLVMVectorType(LLVMTypeOf(elements[0]), lanes));
    for (uint32_t k = 0; k < lanes; k++)
        v = LLVMBuildInsertElement(e->b, v, elements[k], cg_i32(e, k), "");
    return v;
}

// Lanes first … first + lanes - 1 of x followed by y.
cg_value cg_shuffle(cg_emitter *e, cg_value x, cg_value y, uint32_t first, uint32_t lanes) {
    cg_value mask[CG_MAX_LANES];
    for (uint32_t k = 0; k < lanes; k++) mask[k] = cg_i32(e, first + k);
    return LLVMBuildShuffleVector(e->b, x, y, LLVMConstVector(mask, lanes), "");
}

cg_value cg_intrinsic(cg_emitter *e, const char *name, const LLVMTypeRef *overloads,
                      uint32_t noverloads, const cg_value *args, uint32_t nargs) {
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    if (!id) ICE("LLVM has no intrinsic %s", name);
    LLVMTypeRef types[2];
    cg_value values[CG_MAX_LANES];
    for (uint32_t k = 0; k < noverloads; k++) types[k] = overloads[k];
    for (uint32_t k = 0; k < nargs; k++) values[k] = args[k];
    cg_value callee = LLVMGetIntrinsicDeclaration(e->llvm, id, types, noverloads);
    LLVMTypeRef type = LLVMIntrinsicGetType(e->context, id, types, noverloads);
    return LLVMBuildCall2(e->b, type, callee, values, nargs, "");
}

cg_value cg_intrinsic0(cg_emitter *e, const char *name) {
    return cg_intrinsic(e, name, NULL, 0, NULL, 0);
}

cg_value cg_intrinsic1(cg_emitter *e, const char *name, cg_value x) {
    LLVMTypeRef t = LLVMTypeOf(x);
    return cg_intrinsic(e, name, &t, 1, &x, 1);
}

cg_value cg_intrinsic2(cg_emitter *e, const char *name, cg_value x, cg_value y) {
    LLVMTypeRef t = LLVMTypeOf(x);
    return cg_intrinsic(e, name, &t, 1, (cg_value[]){x, y}, 2);
}

cg_value cg_asm(cg_emitter *e, LLVMTypeRef result, const char *text, const char *constraints,
                bool effects, const cg_value *args, uint32_t nargs) {
    LLVMTypeRef types[CG_MAX_LANES];
    cg_value values[CG_MAX_LANES];
    for (uint32_t k = 0; k < nargs; k++) {
        values[k] = args[k];
        types[k] = LLVMTypeOf(args[k]);
    }
    LLVMTypeRef type = LLVMFunctionType(result, types, nargs, false);
    cg_value code = LLVMGetInlineAsm(type, text, strlen(text), constraints, strlen(constraints),
                                     effects, false, LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(e->b, type, code, values, nargs, "");
}
