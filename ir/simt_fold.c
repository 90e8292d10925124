// What operations of SIMT IR give on constants, bit for bit as they would at run time. Vector
// constants are the same in every lane, so one computation serves all lanes.
#include "simt_internal.h"

#include <math.h>

bool simt_constant_of(const simt_func *f, simt_value v, simt_constant *out) {
    const simt_value_info *info = &f->values.data[v];
    if (!info->def || f->instrs.data[info->def].op != SIMT_CONST) return false;
    *out = (simt_constant){.type = info->type};
    if (simt_is_float(info->type.element)) out->f = f->instrs.data[info->def].imm.f;
    else out->i = f->instrs.data[info->def].imm.i;
    return true;
}

static bool give_int(simt_type t, uint64_t x, simt_constant *out) {
    *out = (simt_constant){.type = t, .i = simt_int_wrap(t.element, (int64_t)x)};
    return true;
}

// x must be exact, or rounded once into the format or into a wider one from which rounding again is
// harmless.
static bool give_float(simt_type t, double x, simt_constant *out) {
    *out = (simt_constant){.type = t, .f = simt_float_round(t.element, x)};
    return !isnan(x);
}

static uint64_t unsigned_of(simt_constant x) {
    uint32_t bits = simt_element_bits(x.type.element);
    return bits >= 64 ? (uint64_t)x.i : (uint64_t)x.i & ((UINT64_C(1) << bits) - 1);
}

static uint64_t leading_zeros(uint64_t x, uint32_t bits) {
    uint64_t n = 0;
    while (n < bits && !(x >> (bits - 1 - n) & 1)) n++;
    return n;
}

static bool on_pred(simt_op op) {
    return op == SIMT_AND || op == SIMT_OR || op == SIMT_XOR || op == SIMT_NOT;
}

static double tf32(double x) {   // the lower 13 bits of an f32 go
    uint64_t bits = simt_const_bits(SIMT_F32, x);
    return simt_float_from_bits(SIMT_F32, (bits + 0xfff + (bits >> 13 & 1)) & ~UINT64_C(0x1fff));
}

static bool fold_unary_float(simt_op op, simt_constant x, simt_constant *out) {
    bool narrow = x.type.element != SIMT_F32 && x.type.element != SIMT_F64;
    switch ((int)op) {
    case SIMT_NEG: return give_float(x.type, -x.f, out);
    case SIMT_ABS: return give_float(x.type, fabs(x.f), out);
    case SIMT_FLOOR: return give_float(x.type, floor(x.f), out);
    case SIMT_CEIL: return give_float(x.type, ceil(x.f), out);
    case SIMT_RINT: return give_float(x.type, rint(x.f), out);
    case SIMT_CVT_TF32: return !isnan(x.f) && give_float(x.type, tf32(x.f), out);
    case SIMT_SQRT:
        if (narrow) return false;
        return give_float(x.type,
                          x.type.element == SIMT_F32 ? (double)sqrtf((float)x.f) : sqrt(x.f), out);
    }
    return false;   // approximate operations, whose value the target decides
}

bool simt_fold_unary(simt_op op, simt_constant x, simt_constant *out) {
    if (simt_is_float(x.type.element)) return fold_unary_float(op, x, out);
    if (x.type.element == SIMT_PRED && !on_pred(op)) return false;
    uint32_t bits = simt_element_bits(x.type.element);
    switch ((int)op) {
    case SIMT_NEG: return give_int(x.type, 0 - (uint64_t)x.i, out);
    case SIMT_ABS: return give_int(x.type, x.i < 0 ? 0 - (uint64_t)x.i : (uint64_t)x.i, out);
    case SIMT_NOT: return give_int(x.type, ~(uint64_t)x.i, out);
    case SIMT_CLZ: return give_int(x.type, leading_zeros(unsigned_of(x), bits), out);
    }
    return false;
}

static double minimum(double x, double y) {
    if (isnan(x) || isnan(y)) return NAN;
    if (x == 0 && y == 0) return signbit(x) ? x : y;
    return x < y ? x : y;
}

static bool fold_binary_f32(simt_op op, simt_type t, float x, float y, simt_constant *out) {
    switch ((int)op) {
    case SIMT_ADD: return give_float(t, (double)(float)(x + y), out);
    case SIMT_SUB: return give_float(t, (double)(float)(x - y), out);
    case SIMT_MUL: return give_float(t, (double)(float)(x * y), out);
    case SIMT_DIV: return give_float(t, (double)(float)(x / y), out);
    }
    return false;
}

// f64, and f16 and bf16, whose sums and products are exact in a double or rounded so far down that
// rounding again does no harm. Quotients of those two are left alone.
static bool fold_binary_float(simt_op op, simt_type t, double x, double y, simt_constant *out) {
    switch ((int)op) {
    case SIMT_MIN: return give_float(t, minimum(x, y), out);
    case SIMT_MAX: return give_float(t, -minimum(-x, -y), out);
    case SIMT_COPYSIGN: return !isnan(y) && give_float(t, copysign(x, y), out);
    }
    if (t.element == SIMT_F32) return fold_binary_f32(op, t, (float)x, (float)y, out);
    switch ((int)op) {
    case SIMT_ADD: return give_float(t, x + y, out);
    case SIMT_SUB: return give_float(t, x - y, out);
    case SIMT_MUL: return give_float(t, x * y, out);
    case SIMT_DIV: return t.element == SIMT_F64 && give_float(t, x / y, out);
    }
    return false;
}

static uint64_t upper_half(uint64_t x, uint64_t y, uint32_t bits) {
    return (uint64_t)((unsigned __int128)x * y >> bits);
}

static bool fold_division(simt_op op, simt_constant x, simt_constant y, simt_constant *out) {
    uint64_t ux = unsigned_of(x), uy = unsigned_of(y);
    bool overflows = y.i == -1 && ux == UINT64_C(1) << (simt_element_bits(x.type.element) - 1);
    if (uy == 0) return false;
    switch ((int)op) {
    case SIMT_UDIV: return give_int(x.type, ux / uy, out);
    case SIMT_UREM: return give_int(x.type, ux % uy, out);
    case SIMT_DIV: return !overflows && give_int(x.type, (uint64_t)(x.i / y.i), out);
    case SIMT_REM: return !overflows && give_int(x.type, (uint64_t)(x.i % y.i), out);
    }
    return false;
}

bool simt_fold_binary(simt_op op, simt_constant x, simt_constant y, simt_constant *out) {
    simt_type t = x.type;
    if (simt_is_float(t.element)) return fold_binary_float(op, t, x.f, y.f, out);
    if (t.element == SIMT_PRED && !on_pred(op)) return false;
    uint64_t ux = unsigned_of(x), uy = unsigned_of(y);
    uint32_t bits = simt_element_bits(t.element), amount = (uint32_t)(uy % bits);
    switch ((int)op) {
    case SIMT_ADD: return give_int(t, ux + uy, out);
    case SIMT_SUB: return give_int(t, ux - uy, out);
    case SIMT_MUL: return give_int(t, ux * uy, out);
    case SIMT_MULHI: return give_int(t, upper_half(ux, uy, bits), out);
    case SIMT_MIN: return give_int(t, (uint64_t)(x.i < y.i ? x.i : y.i), out);
    case SIMT_MAX: return give_int(t, (uint64_t)(x.i > y.i ? x.i : y.i), out);
    case SIMT_AND: return give_int(t, ux & uy, out);
    case SIMT_OR: return give_int(t, ux | uy, out);
    case SIMT_XOR: return give_int(t, ux ^ uy, out);
    case SIMT_SHL: return give_int(t, ux << amount, out);
    case SIMT_LSHR: return give_int(t, ux >> amount, out);
    case SIMT_ASHR: return give_int(t, x.i < 0 ? ~(~(uint64_t)x.i >> amount) : ux >> amount, out);
    case SIMT_DIV:
    case SIMT_REM:
    case SIMT_UDIV:
    case SIMT_UREM: return fold_division(op, x, y, out);
    }
    return false;
}

bool simt_fold_fma(simt_constant x, simt_constant y, simt_constant z, simt_constant *out) {
    if (x.type.element == SIMT_F64) return give_float(x.type, fma(x.f, y.f, z.f), out);
    if (x.type.element != SIMT_F32) return false;
    return give_float(x.type, (double)fmaf((float)x.f, (float)y.f, (float)z.f), out);
}

static bool compare(simt_predicate p, bool less, bool equal, bool greater) {
    switch (p) {
    case SIMT_EQ: return equal;
    case SIMT_NE: return !equal;
    case SIMT_LT:
    case SIMT_ULT: return less;
    case SIMT_LE:
    case SIMT_ULE: return less || equal;
    case SIMT_GT:
    case SIMT_UGT: return greater;
    case SIMT_GE:
    case SIMT_UGE: return greater || equal;
    case SIMT_PREDICATE_COUNT: break;
    }
    return false;
}

bool simt_fold_cmp(simt_predicate p, simt_constant x, simt_constant y, simt_constant *out) {
    simt_type t = {SIMT_PRED, x.type.lanes};
    if (simt_is_float(x.type.element))
        return give_int(t, compare(p, x.f<y.f, x.f == y.f, x.f> y.f), out);
    uint64_t ux = unsigned_of(x), uy = unsigned_of(y);
    if (p >= SIMT_ULT) return give_int(t, compare(p, ux<uy, ux == uy, ux> uy), out);
    return give_int(t, compare(p, x.i<y.i, x.i == y.i, x.i> y.i), out);
}

static int64_t saturate_signed(double x, uint32_t bits) {
    double limit = ldexp(1, (int)bits - 1);
    int64_t top = (int64_t)((UINT64_C(1) << (bits - 1)) - 1);
    if (isnan(x)) return 0;
    return x >= limit ? top : x <= -limit ? -top - 1 : (int64_t)x;
}

static uint64_t saturate_unsigned(double x, uint32_t bits) {
    if (isnan(x) || x <= 0) return 0;
    if (x >= ldexp(1, (int)bits)) return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    return (uint64_t)x;
}

// Integers up to 2^53 are exact as doubles, the way to every format; larger ones go to f32 and f64
// in one rounding.
static bool int_to_float(simt_type t, bool as_unsigned, simt_constant x, simt_constant *out) {
    uint64_t u = unsigned_of(x), magnitude = as_unsigned || x.i >= 0 ? u : 0 - (uint64_t)x.i;
    if (x.type.element == SIMT_PRED) magnitude = (uint64_t)x.i;
    if (magnitude > UINT64_C(1) << 53) {
        if (t.element == SIMT_F32)
            return give_float(t, (double)(as_unsigned ? (float)u : (float)x.i), out);
        if (t.element != SIMT_F64) return false;
    }
    return give_float(t, as_unsigned ? (double)u : (double)x.i, out);
}

static bool fold_bitcast(simt_type t, simt_constant x, simt_constant *out) {
    if (simt_element_bits(t.element) != simt_element_bits(x.type.element)) return false;
    bool from = simt_is_float(x.type.element), to = simt_is_float(t.element);
    uint64_t bits = from ? simt_const_bits(x.type.element, x.f) : unsigned_of(x);
    return to ? give_float(t, simt_float_from_bits(t.element, bits), out) : give_int(t, bits, out);
}

bool simt_fold_cvt(simt_op op, simt_type t, simt_constant x, simt_constant *out) {
    if (t.lanes != x.type.lanes) return false;
    if (op == SIMT_BITCAST) return fold_bitcast(t, x, out);
    bool as_unsigned = op == SIMT_UCVT || x.type.element == SIMT_PRED;
    bool from = simt_is_float(x.type.element), to = simt_is_float(t.element);
    if (t.element == SIMT_PRED) return give_int(t, from ? x.f != 0 : x.i != 0, out);
    if (from && to) return op == SIMT_CVT && give_float(t, x.f, out);
    if (to) return int_to_float(t, as_unsigned, x, out);
    uint32_t bits = simt_element_bits(t.element);
    if (!from) return give_int(t, as_unsigned ? unsigned_of(x) : (uint64_t)x.i, out);
    return give_int(
        t, as_unsigned ? saturate_unsigned(x.f, bits) : (uint64_t)saturate_signed(x.f, bits), out);
}

static bool commutes(simt_op op) {
    return op == SIMT_ADD || op == SIMT_MUL || op == SIMT_AND || op == SIMT_OR || op == SIMT_XOR;
}

simt_value simt_fold_identity(const simt_func *f, simt_op op, simt_value x, simt_value y) {
    simt_constant c;
    if (commutes(op) && simt_constant_of(f, x, &c)) {
        simt_value other = y;
        y = x;
        x = other;
    }
    simt_element e = simt_typeof(f, x).element;
    if (simt_is_float(e) || (e == SIMT_PRED && !on_pred(op)) || !simt_constant_of(f, y, &c))
        return 0;
    bool zero = c.i == 0, one = c.i == 1, ones = c.i == simt_int_wrap(e, -1);
    switch ((int)op) {
    case SIMT_ADD:
    case SIMT_SUB:
    case SIMT_XOR:
    case SIMT_SHL:
    case SIMT_LSHR:
    case SIMT_ASHR: return zero ? x : 0;
    case SIMT_MUL: return one ? x : zero ? y : 0;
    case SIMT_DIV:
    case SIMT_UDIV: return one ? x : 0;
    case SIMT_AND: return ones ? x : zero ? y : 0;
    case SIMT_OR: return zero ? x : ones ? y : 0;
    }
    return 0;
}
