// Conversions, and on the host the rounding of 16-bit floats, which is written out here so that x86
// and GPU give the same bits: round to nearest even, and a NaN that an operation gives is 0x7fff.
//
// Rounding f64 to 16 bits through f32 would round twice. Where that could matter the first rounding
// is to odd: a result that is not exact gets its last bit set, and the second rounding sees that
// something was cut (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
#include "emitter.h"

// Moves x, rounded to nearest from something that `inexact` says it differs from, to its odd
// neighbour on that side.
static cg_value make_odd(cg_emitter *e, cg_value x, uint32_t bits, uint32_t lanes, cg_value inexact,
                         cg_value away) {
    LLVMTypeRef t = cg_int_type(e, bits, lanes);
    cg_value i = LLVMBuildBitCast(e->b, x, t, ""), one = cg_int(e, t, 1);
    cg_value even = LLVMBuildICmp(e->b, LLVMIntEQ, LLVMBuildAnd(e->b, i, one, ""), cg_int(e, t, 0),
                                  "");
    cg_value by = LLVMBuildSelect(e->b, away, one, cg_int(e, t, UINT64_MAX), "");
    cg_value moved = LLVMBuildAdd(e->b, i, by, "");
    cg_value odd = LLVMBuildSelect(e->b, LLVMBuildAnd(e->b, even, inexact, ""), moved, i, "");
    return LLVMBuildBitCast(e->b, odd, LLVMTypeOf(x), "");
}

static cg_value f64_to_f32_odd(cg_emitter *e, uint32_t lanes, cg_value x) {
    cg_value near = LLVMBuildFPTrunc(e->b, x, cg_type(e, SIMT_VEC(F32, (uint8_t)lanes)), "");
    cg_value back = LLVMBuildFPExt(e->b, near, LLVMTypeOf(x), "");
    cg_value inexact = LLVMBuildFCmp(e->b, LLVMRealONE, x, back, "");
    cg_value size = cg_intrinsic1(e, "llvm.fabs", x), got = cg_intrinsic1(e, "llvm.fabs", back);
    cg_value away = LLVMBuildFCmp(e->b, LLVMRealOGT, size, got, "");
    return make_odd(e, near, 32, lanes, inexact, away);
}

static LLVMTypeRef half_type(cg_emitter *e, simt_type t) {
    LLVMTypeRef half = LLVMHalfTypeInContext(e->context);
    return t.lanes == 1 ? half : LLVMVectorType(half, t.lanes);
}

static cg_value is_nan(cg_emitter *e, cg_value v) {
    return LLVMBuildFCmp(e->b, LLVMRealUNO, v, v, "");
}

cg_value cg_widen(cg_emitter *e, simt_type t, cg_value v) {
    LLVMTypeRef f32 = cg_type(e, cg_with(t, SIMT_F32));
    if (t.element == SIMT_F16) {
        cg_value half = LLVMBuildBitCast(e->b, v, half_type(e, t), "");
        return LLVMBuildFPExt(e->b, half, f32, "");
    }
    LLVMTypeRef i32 = cg_int_type(e, 32, t.lanes);
    cg_value upper = LLVMBuildShl(e->b, LLVMBuildZExt(e->b, v, i32, ""), cg_int(e, i32, 16), "");
    return LLVMBuildBitCast(e->b, upper, f32, "");
}

static cg_value f32_to_bf16(cg_emitter *e, uint32_t lanes, cg_value v) {
    LLVMTypeRef i32 = cg_int_type(e, 32, lanes);
    cg_value bits = LLVMBuildBitCast(e->b, v, i32, ""), sixteen = cg_int(e, i32, 16);
    cg_value odd = LLVMBuildAnd(e->b, LLVMBuildLShr(e->b, bits, sixteen, ""), cg_int(e, i32, 1),
                                "");
    cg_value up = LLVMBuildAdd(e->b, bits, LLVMBuildAdd(e->b, odd, cg_int(e, i32, 0x7fff), ""), "");
    return LLVMBuildTrunc(e->b, LLVMBuildLShr(e->b, up, sixteen, ""), cg_int_type(e, 16, lanes),
                          "");
}

cg_value cg_narrow(cg_emitter *e, simt_type t, cg_value v) {
    LLVMTypeRef i16 = cg_int_type(e, 16, t.lanes);
    cg_value bits;
    if (t.element == SIMT_BF16) bits = f32_to_bf16(e, t.lanes, v);
    else bits = LLVMBuildBitCast(e->b, LLVMBuildFPTrunc(e->b, v, half_type(e, t), ""), i16, "");
    return LLVMBuildSelect(e->b, is_nan(e, v), cg_int(e, i16, 0x7fff), bits, "");
}

// The product of two 16-bit floats is exact in f64; the sum is rounded to odd by its exact error
// (TwoSum).
cg_value cg_soft_fma(cg_emitter *e, simt_type t, const cg_value *x) {
    LLVMTypeRef f64 = cg_type(e, cg_with(t, SIMT_F64));
    cg_value v[3];
    for (uint32_t k = 0; k < 3; k++) v[k] = LLVMBuildFPExt(e->b, cg_widen(e, t, x[k]), f64, "");
    cg_value p = LLVMBuildFMul(e->b, v[0], v[1], ""), c = v[2], s = LLVMBuildFAdd(e->b, p, c, "");
    cg_value q = LLVMBuildFSub(e->b, s, p, ""), r = LLVMBuildFSub(e->b, s, q, "");
    cg_value left = LLVMBuildFSub(e->b, p, r, ""), right = LLVMBuildFSub(e->b, c, q, "");
    cg_value error = LLVMBuildFAdd(e->b, left, right, "");
    cg_value zero = LLVMConstNull(f64);
    cg_value inexact = LLVMBuildFCmp(e->b, LLVMRealONE, error, zero, "");
    cg_value error_up = LLVMBuildFCmp(e->b, LLVMRealOGT, error, zero, "");
    cg_value sum_up = LLVMBuildFCmp(e->b, LLVMRealOGT, s, zero, "");
    cg_value away = LLVMBuildICmp(e->b, LLVMIntEQ, error_up, sum_up, "");
    cg_value odd = make_odd(e, s, 64, t.lanes, inexact, away);
    return cg_narrow(e, t, f64_to_f32_odd(e, t.lanes, odd));
}

// 16-bit floats whose sign was set: a NaN becomes 0x7fff, as PTX's neg and abs have it.
cg_value cg_soft_canonical(cg_emitter *e, simt_type t, cg_value bits) {
    LLVMTypeRef i16 = cg_type(e, t);
    cg_value size = LLVMBuildAnd(e->b, bits, cg_int(e, i16, 0x7fff), "");
    cg_value infinity = cg_int(e, i16, t.element == SIMT_F16 ? 0x7c00 : 0x7f80);
    cg_value nan = LLVMBuildICmp(e->b, LLVMIntUGT, size, infinity, "");
    return LLVMBuildSelect(e->b, nan, cg_int(e, i16, 0x7fff), bits, "");
}

// f64 to 16 bits on a GPU: its NaN is another than that of all other conversions.
static cg_value f64_to_half_ptx(cg_emitter *e, simt_type to, cg_value v) {
    cg_value nan = LLVMConstBitCast(cg_int(e, cg_int_type(e, 16, to.lanes), 0x7fff),
                                    cg_type(e, to));
    cg_value rounded = LLVMBuildFPTrunc(e->b, v, cg_type(e, to), "");
    return LLVMBuildSelect(e->b, is_nan(e, v), nan, rounded, "");
}

static cg_value float_to_float(cg_emitter *e, simt_type from, simt_type to, cg_value v) {
    if (simt_type_equal(from, to)) return v;
    simt_type f32 = cg_with(from, SIMT_F32);
    if (cg_half_width(from) && to.element != SIMT_F32) {
        v = e->host ? cg_widen(e, from, v) : LLVMBuildFPExt(e->b, v, cg_type(e, f32), "");
        return float_to_float(e, f32, to, v);
    }
    if (cg_soft(e, from)) return cg_widen(e, from, v);
    if (cg_soft(e, to)) {
        if (from.element == SIMT_F64) v = f64_to_f32_odd(e, to.lanes, v);
        return cg_narrow(e, to, v);
    }
    if (from.element == SIMT_F64 && cg_half_width(to)) return f64_to_half_ptx(e, to, v);
    bool wider = simt_element_bits(to.element) > simt_element_bits(from.element);
    LLVMTypeRef t = cg_type(e, to);
    return wider ? LLVMBuildFPExt(e->b, v, t, "") : LLVMBuildFPTrunc(e->b, v, t, "");
}

static cg_value cvt_tf32_lanes(cg_emitter *e, simt_type t, cg_value v) {
    cg_value parts[CG_MAX_LANES];
    for (uint32_t k = 0; k < t.lanes; k++) {
        cg_value x = cg_lane(e, v, t.lanes, k);
        parts[k] = cg_intrinsic(e, "llvm.nvvm.f2tf32.rn", NULL, 0, &x, 1);
    }
    return cg_pack(e, parts, t.lanes);
}

static cg_value cvt_tf32_bits(cg_emitter *e, simt_type t, cg_value v) {
    LLVMTypeRef i32 = cg_int_type(e, 32, t.lanes);
    cg_value bits = LLVMBuildBitCast(e->b, v, i32, ""),
             odd = LLVMBuildAnd(e->b, LLVMBuildLShr(e->b, bits, cg_int(e, i32, 13), ""),
                                cg_int(e, i32, 1), ""),
             up = LLVMBuildAdd(e->b, LLVMBuildAdd(e->b, bits, cg_int(e, i32, 0xfff), ""), odd, ""),
             cut = LLVMBuildAnd(e->b, up, cg_int(e, i32, ~UINT64_C(0x1fff)), "");
    return LLVMBuildSelect(e->b, is_nan(e, v), cg_int(e, i32, 0x7fffffff), cut, "");
}

// To the 11 significant bits of tf32, ties to even; a NaN becomes 0x7fffffff.
cg_value cg_emit_cvt_tf32(cg_emitter *e, simt_type t, cg_value v) {
    bool instruction = !e->host && gpu_has(e->target->arch, GPU_CVT_TF32);
    cg_value rounded = instruction ? cvt_tf32_lanes(e, t, v) : cvt_tf32_bits(e, t, v);
    return LLVMBuildBitCast(e->b, rounded, LLVMTypeOf(v), "");
}

// An i64 of which f64 keeps every bit that can decide a rounding to 16 bits: beyond 2^52 the low
// twelve bits become one that says whether any was set.
static cg_value sticky(cg_emitter *e, uint32_t lanes, bool is_unsigned, cg_value v) {
    LLVMTypeRef i64 = cg_int_type(e, 64, lanes);
    cg_value zero = cg_int(e, i64, 0), low = LLVMBuildAnd(e->b, v, cg_int(e, i64, 0xfff), "");
    cg_value some = LLVMBuildICmp(e->b, LLVMIntNE, low, zero, "");
    cg_value rest = LLVMBuildSelect(e->b, some, cg_int(e, i64, 0x800), zero, "");
    cg_value cut = LLVMBuildOr(e->b, LLVMBuildAnd(e->b, v, cg_int(e, i64, ~UINT64_C(0xfff)), ""),
                               rest, "");
    cg_value size = is_unsigned ? v : cg_intrinsic2(e, "llvm.abs", v, cg_false(e));
    cg_value large = LLVMBuildICmp(e->b, LLVMIntUGT, size, cg_int(e, i64, UINT64_C(1) << 52), "");
    return LLVMBuildSelect(e->b, large, cut, v, "");
}

// Where no instruction converts to bf16, LLVM's own way is through f32, which rounds twice.
static bool converts_directly(const cg_emitter *e, simt_type from, simt_type to) {
    if (!cg_half_width(to)) return true;
    if (simt_element_bits(from.element) <= 16) return false;   // f32 has them exactly
    return !e->host && (to.element == SIMT_F16 || gpu_has(e->target->arch, GPU_CVT_BF16));
}

static cg_value int_to_float(cg_emitter *e, bool is_unsigned, simt_type from, simt_type to,
                             cg_value v) {
    bool direct = converts_directly(e, from, to), narrow = simt_element_bits(from.element) <= 16;
    simt_type through = direct ? to : cg_with(to, narrow ? SIMT_F32 : SIMT_F64),
              f32 = cg_with(to, SIMT_F32);
    if (!direct && from.element == SIMT_I64) v = sticky(e, from.lanes, is_unsigned, v);
    LLVMTypeRef t = cg_type(e, through);
    v = is_unsigned ? LLVMBuildUIToFP(e->b, v, t, "") : LLVMBuildSIToFP(e->b, v, t, "");
    if (direct || narrow) return float_to_float(e, through, to, v);
    return float_to_float(e, f32, to, f64_to_f32_odd(e, to.lanes, v));
}

// PTX saturates by itself, and gives 0 for NaN except for f64 and 64-bit integers.
static cg_value float_to_int_ptx(cg_emitter *e, bool is_unsigned, simt_type from, simt_type to,
                                 cg_value v) {
    static const char *const names[2][2][2] = {
        // from f64, to 64 bits, unsigned
        {{"llvm.nvvm.f2i.rz", "llvm.nvvm.f2ui.rz"}, {"llvm.nvvm.f2ll.rz", "llvm.nvvm.f2ull.rz"}},
        {{"llvm.nvvm.d2i.rz", "llvm.nvvm.d2ui.rz"}, {"llvm.nvvm.d2ll.rz", "llvm.nvvm.d2ull.rz"}}};
    bool f64 = from.element == SIMT_F64, i64 = to.element == SIMT_I64;
    cg_value parts[CG_MAX_LANES];
    for (uint32_t k = 0; k < from.lanes; k++) {
        cg_value x = cg_lane(e, v, from.lanes, k);
        parts[k] = cg_intrinsic(e, names[f64][i64][is_unsigned], NULL, 0, &x, 1);
    }
    cg_value r = cg_pack(e, parts, from.lanes);
    if (!f64 && !i64) return r;
    return LLVMBuildSelect(e->b, is_nan(e, v), cg_int(e, cg_type(e, to), 0), r, "");
}

static cg_value float_to_int(cg_emitter *e, bool is_unsigned, simt_type from, simt_type to,
                             cg_value v) {
    if (cg_half_width(from)) {
        v = float_to_float(e, from, cg_with(from, SIMT_F32), v);
        from = cg_with(from, SIMT_F32);
    }
    if (!e->host && simt_element_bits(to.element) >= 32)
        return float_to_int_ptx(e, is_unsigned, from, to, v);
    LLVMTypeRef types[2] = {cg_type(e, to), LLVMTypeOf(v)};
    return cg_intrinsic(e, is_unsigned ? "llvm.fptoui.sat" : "llvm.fptosi.sat", types, 2, &v, 1);
}

static cg_value pred_to(cg_emitter *e, simt_type to, cg_value v) {
    if (!cg_is_float(to)) return LLVMBuildZExt(e->b, v, cg_type(e, to), "");
    simt_instr_info one = {.imm.f = 1}, zero = {.imm.f = 0};
    return LLVMBuildSelect(e->b, v, cg_constant(e, to, &one), cg_constant(e, to, &zero), "");
}

static cg_value to_pred(cg_emitter *e, simt_type from, cg_value v) {
    if (!cg_is_float(from))
        return LLVMBuildICmp(e->b, LLVMIntNE, v, LLVMConstNull(LLVMTypeOf(v)), "");
    if (cg_soft(e, from)) v = cg_widen(e, from, v);
    return LLVMBuildFCmp(e->b, LLVMRealUNE, v, LLVMConstNull(LLVMTypeOf(v)), "");
}

cg_value cg_emit_cvt(cg_emitter *e, bool is_unsigned, simt_type from, simt_type to, cg_value v) {
    if (simt_type_equal(from, to)) return v;
    if (from.element == SIMT_PRED) return pred_to(e, to, v);
    if (to.element == SIMT_PRED) return to_pred(e, from, v);
    if (cg_is_float(from) && cg_is_float(to)) return float_to_float(e, from, to, v);
    if (cg_is_float(from)) return float_to_int(e, is_unsigned, from, to, v);
    if (cg_is_float(to)) return int_to_float(e, is_unsigned, from, to, v);
    LLVMTypeRef t = cg_type(e, to);
    bool narrower = simt_element_bits(to.element) < simt_element_bits(from.element);
    if (narrower) return LLVMBuildTrunc(e->b, v, t, "");
    return is_unsigned ? LLVMBuildZExt(e->b, v, t, "") : LLVMBuildSExt(e->b, v, t, "");
}
