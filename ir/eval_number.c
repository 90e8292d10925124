// Arithmetic on floats with error bounds, and on integers that are certain or not. Forward error
// analysis as in Higham, Accuracy and Stability of Numerical Algorithms (2002): each operation
// passes on the errors of its operands and adds its own rounding. A bound that crosses a
// singularity is infinite.
#include "eval.h"

// 0.1 % above the unit roundoff covers this evaluator's own f64 rounding under f32; for f64 both
// round, hence twice.
#define LARGEST 0x1.fffffffffffffp1023
#define PRECISIONS(f32, bf16, f16)                                                                 \
    {                                                                                              \
        [DT_F64] = {DT_F64, 53, 0x1.004p-52, 0x1p-1073, 0x1p-1022, LARGEST, 0},                    \
        [DT_F32] = {DT_F32, 24, 0x1.004p-24, 0x1p-149, 0x1p-126, f32, 0},                          \
        [DT_BF16] = {DT_BF16, 8, 0x1.004p-8, 0x1p-133, 0x1p-126, bf16, 0},                         \
        [DT_F16] = {DT_F16, 11, 0x1.004p-11, 0x1p-24, 0x1p-14, f16, 0},                            \
    }
static const eval_precision precisions[] = PRECISIONS(0x1.ffffffp127, 0x1.ffp127, 65520);
static const eval_precision real_precisions[] = PRECISIONS(LARGEST, LARGEST, LARGEST);
// Products by parts, a = A + a' + r with A = tf32(a), a' = a - A, cut, as A B + (A b' + a' B). What
// it leaves out, a' b', is at most 2^-11 |a| * 2^-11 |b| = 4 u |a b|. Where tensor cores add the
// three to 0, each in a turn of its own, the last errs by 3 u |A B| (SIMT.md), |A B| < (1 + 2^-10 +
// 2^-22) |a b|, and those before it, of terms 2^-11 as large, by less than 6 * 2^-11 * 3 u |a b|.
// That is less than 8 u |a b|, and near zero three times what one product errs by.
const eval_precision eval_by_parts = {DT_F32,         24, 8 * 0x1.004p-24, 3 * 0x1p-149, 0x1p-126,
                                      0x1.ffffffp127, 0};
const eval_precision *eval_precision_of(ir_dtype t) {
    return &precisions[ir_dtype_is_float(t) ? t : DT_F32];   // what holds no float rounds none
}
const eval_precision *eval_precision_real(ir_dtype t) {
    return &real_precisions[ir_dtype_is_float(t) ? t : DT_F32];
}

static bool is_unknown(eval_value x) { return isinf(x.bound); }
static bool is_nan(eval_value x) { return isnan(x.v) && !is_unknown(x); }
static bool is_exact(eval_value x) { return x.bound == 0; }

eval_value eval_settle(const eval_precision *p, double r, double prop, double ulps) {
    double bound = prop + 2 * p->u * ulps * (fabs(r) + prop);
    if (ulps > 0 && (r != 0 || prop != 0)) bound += p->tiny;
    if (!isfinite(r) || !isfinite(bound)) return eval_float(r, (double)INFINITY);
    if (fabs(r) + bound < p->limit) return eval_float(r, bound);
    bool over = p->type != DT_F64 && fabs(r) - bound > p->limit;
    return over ? eval_float(copysign((double)INFINITY, r), 0) : eval_float(r, (double)INFINITY);
}

static double sum_error(double x, double y, double r) {
    double z = r - x;
    return (x - (r - z)) + (y - z);
}

static eval_value add(const eval_precision *p, eval_value x, eval_value y) {
    double r = x.v + y.v;
    if (!isfinite(r)) {
        bool exact = !isfinite(x.v) || !isfinite(y.v) || (is_exact(x) && is_exact(y));
        return eval_float(r, exact ? 0 : (double)INFINITY);
    }
    if (is_exact(x) && is_exact(y) && eval_fits(p, r, sum_error(x.v, y.v, r)))
        return eval_float(r, 0);
    return eval_settle(p, r, x.bound + y.bound, 0.5);
}

static bool may_be_zero(eval_value x) { return fabs(x.v) <= x.bound; }
static bool is_zero(eval_value x) { return x.v == 0 && is_exact(x); }

static eval_value mul(const eval_precision *p, eval_value x, eval_value y) {
    double r = x.v * y.v;
    if (isinf(x.v) || isinf(y.v)) {
        bool unsure = (may_be_zero(x) && !is_zero(x)) || (may_be_zero(y) && !is_zero(y));
        return eval_float(r, unsure ? (double)INFINITY : 0);
    }
    if ((is_zero(x) && may_be_zero(y) && !is_exact(y)) ||
        (is_zero(y) && may_be_zero(x) && !is_exact(x)))
        return eval_float(r, p->tiny);   // 0 of a sign that is not certain, which matters to 1 / 0
    bool normal = x.v == 0 || y.v == 0 || fabs(r) > 0x1p-900;
    if (is_exact(x) && is_exact(y)) {
        if (isinf(r)) return eval_float(r, 0);
        if (normal && eval_fits(p, r, fma(x.v, y.v, -r))) return eval_float(r, 0);
    }
    return eval_settle(p, r, fabs(x.v) * y.bound + fabs(y.v) * x.bound + x.bound * y.bound, 0.5);
}

static eval_value divide(const eval_precision *p, eval_value x, eval_value y) {
    double r = x.v / y.v;
    if (may_be_zero(y) && !isinf(y.v)) {
        bool sure = is_exact(y) && (is_zero(x) || !may_be_zero(x));
        return eval_float(r, sure ? 0 : (double)INFINITY);
    }
    if (isinf(y.v)) return eval_float(r, 0);
    if (isinf(x.v)) return eval_float(r, 0);
    if (is_exact(x) && is_exact(y)) {
        if (isinf(r)) return eval_float(r, 0);
        if ((x.v == 0 || fabs(x.v) > 0x1p-900) && eval_fits(p, r, fma(r, y.v, -x.v)))
            return eval_float(r, 0);
    }
    return eval_settle(p, r, (x.bound + fabs(r) * y.bound) / (fabs(y.v) - y.bound), 0.5);
}

static bool less(double x, double y) { return x < y || (x == y && signbit(x) && !signbit(y)); }

static eval_value extreme(eval_value x, eval_value y, bool least) {
    bool first = less(x.v, y.v) == least;
    double margin = x.bound + y.bound;
    if (fabs(x.v - y.v) > margin) return first ? x : y;
    return eval_float(first ? x.v : y.v, x.bound > y.bound ? x.bound : y.bound);
}

eval_value eval_arith(tensor_opcode op, const eval_precision *p, eval_value x, eval_value y) {
    if (op == TENSOR_NEG_OP) return eval_float(-x.v, x.bound);
    if (is_nan(x) || is_nan(y)) return eval_float((double)NAN, 0);
    if (is_unknown(x) || is_unknown(y)) return eval_any(true);
    switch (op) {
    case TENSOR_ADD_OP: return add(p, x, y);
    case TENSOR_SUB_OP: return add(p, x, eval_float(-y.v, y.bound));
    case TENSOR_MUL_OP: return mul(p, x, y);
    case TENSOR_DIV_OP: return divide(p, x, y);
    case TENSOR_MIN_OP: return extreme(x, y, true);
    case TENSOR_MAX_OP: return extreme(x, y, false);
    default: ICE("'%s' is not arithmetic on floats", tensor_op_table(op)->text);
    }
}

static int64_t floor_mod(int64_t x, int64_t y) {
    if (y == 0 || y == -1) return 0;
    int64_t r = x % y;
    return r != 0 && (r ^ y) < 0 ? r + y : r;
}

static int64_t floor_quot(int64_t x, int64_t y) {
    if (y == 0) return 0;
    if (y == -1) return (int64_t)(0 - (uint64_t)x);
    return x / y - (x % y != 0 && (x ^ y) < 0);
}

static eval_value int_extreme(eval_value x, eval_value y, bool least) {
    const int64_t r = (x.i < y.i) == least ? x.i : y.i;
    eval_value z = eval_int(r, x.certain && y.certain);
    z.natural = least ? x.natural && y.natural : x.natural || y.natural;
    return z;
}

eval_value eval_int_arith(tensor_opcode op, eval_value x, eval_value y) {
    uint64_t a = (uint64_t)x.i, b = (uint64_t)y.i;
    bool certain = x.certain && y.certain;
    switch (op) {
    case TENSOR_ADD_OP: return eval_int((int64_t)(a + b), certain);
    case TENSOR_SUB_OP: return eval_int((int64_t)(a - b), certain);
    case TENSOR_MUL_OP: return eval_int((int64_t)(a * b), certain);
    case TENSOR_MOD_OP: return eval_int(floor_mod(x.i, y.i), certain);
    case TENSOR_QUOT_OP: return eval_int(floor_quot(x.i, y.i), certain);
    case TENSOR_MIN_OP: return int_extreme(x, y, true);
    case TENSOR_MAX_OP: return int_extreme(x, y, false);
    case TENSOR_NEG_OP: return eval_int((int64_t)(0 - a), x.certain);
    default: ICE("'%s' is not arithmetic on integers", tensor_op_table(op)->text);
    }
}

static bool relation(tensor_opcode op, bool is_less, bool is_equal, bool is_greater) {
    switch (op) {
    case TENSOR_EQ_OP: return is_equal;
    case TENSOR_NE_OP: return !is_equal;
    case TENSOR_LT_OP: return is_less;
    case TENSOR_LE_OP: return is_less || is_equal;
    case TENSOR_GT_OP: return is_greater;
    case TENSOR_GE_OP: return is_greater || is_equal;
    default: ICE("'%s' is not a comparison", tensor_op_table(op)->text);
    }
}

// Whichever it is, it is more than the other, such as none.
static bool is_apart(eval_value x, eval_value y) { return x.natural && y.certain && y.i < 0; }

eval_value eval_compare(tensor_opcode op, bool floats, eval_value x, eval_value y) {
    if (!floats)
        return eval_int(relation(op, x.i<y.i, x.i == y.i, x.i> y.i),
                        (x.certain && y.certain) || is_apart(x, y) || is_apart(y, x));
    bool holds = relation(op, x.v<y.v, x.v == y.v, x.v> y.v);
    bool certain = is_nan(x) || is_nan(y) || (is_exact(x) && is_exact(y)) ||
                   fabs(x.v - y.v) > x.bound + y.bound;
    return eval_int(holds, certain);
}

eval_value eval_compare_same(tensor_opcode op, eval_value x) {
    const bool holds = relation(op, false, !isnan(x.v), false),
               never = op == TENSOR_LT_OP || op == TENSOR_GT_OP;
    return eval_int(holds, never || !is_unknown(x));   // else NaN decides, and it may be one
}

eval_value eval_choose(bool floats, eval_value x, eval_value y, bool first) {
    eval_value chosen = first ? x : y;
    if (!floats) {
        eval_value either = eval_int(chosen.i, x.certain && y.certain && x.i == y.i);
        either.natural = x.natural && y.natural;
        return either;
    }
    if (is_nan(x) && is_nan(y)) return x;
    double wider = x.bound > y.bound ? x.bound : y.bound;
    double bound = x.v == y.v ? wider : fabs(x.v - y.v) + wider;
    return eval_float(chosen.v, isfinite(bound) ? bound : (double)INFINITY);
}

// ---- Conversions --------------------------------------------------------------------------------

// The bounds of f over all an implementation may have, for f that never falls; around f of the
// value itself.
static eval_value monotone(double (*f)(double), eval_value x) {
    double r = f(x.v);
    if (is_unknown(x)) return eval_any(true);
    if (is_exact(x)) return eval_float(r, 0);
    double lo = f(nextafter(x.v - x.bound, (double)-INFINITY)),
           hi = f(nextafter(x.v + x.bound, (double)INFINITY));
    bool same = lo == hi && signbit(lo) == signbit(hi);
    double bound = same ? 0 : lo == hi ? 0x1p-1074 : fmax(hi - r, r - lo);
    return eval_float(r, isfinite(bound) ? bound : (double)INFINITY);
}

static double truncate_saturating(double x) {
    if (isnan(x)) return 0;
    return x >= 0x1p63 ? 0x1p63 : x < -0x1p63 ? -0x1p63 : trunc(x);
}

static eval_value float_to_int(eval_value x) {
    eval_value t = monotone(truncate_saturating, x);
    int64_t i = t.v >= 0x1p63 ? INT64_MAX : (int64_t)t.v;
    return eval_int(i, t.bound < 1);
}

static eval_value int_to_float(const eval_precision *p, eval_value x) {
    double r = (double)x.i;
    if (!x.certain) return eval_any(true);
    bool whole = r < 0x1p63 && (int64_t)r == x.i;
    if (whole && ir_dtype_round(p->type, r) == r) return eval_float(r, 0);
    return eval_settle(p, r, 0, 0.5);
}

static eval_value float_to_float(ir_dtype to, ir_dtype from, const eval_precision *p,
                                 eval_value x) {
    if (to == from || ir_dtype_holds(to, from)) return x;
    if (is_unknown(x)) return eval_any(true);
    if (!isfinite(x.v) || (is_exact(x) && ir_dtype_round(to, x.v) == x.v)) return x;
    return eval_settle(p, x.v, x.bound, 0.5);
}

eval_value eval_convert(tensor_type to, tensor_type from, const eval_precision *p, eval_value x) {
    bool floats = tensor_type_is_float(from);
    if (to.type == DT_BOOL) {
        if (floats) return eval_int(x.v != 0, is_nan(x) || is_exact(x) || !may_be_zero(x));
        return eval_int(x.i != 0, x.certain);
    }
    if (tensor_type_is_float(to)) {
        if (floats) return float_to_float(to.type, from.type, p, x);
        return int_to_float(p, x);
    }
    return floats ? float_to_int(x) : x;
}

// ---- Storage ------------------------------------------------------------------------------------

static double to_f16(double x) { return ir_dtype_round(DT_F16, x); }
static double to_bf16(double x) { return ir_dtype_round(DT_BF16, x); }
static double to_f32(double x) { return ir_dtype_round(DT_F32, x); }
static double to_f64(double x) { return x; }

eval_value eval_tf32(eval_value x) { return monotone(ir_tf32_round, x); }

// What two numbers of tf32 leave of x, which is nothing where x is one: a - A is at most 2^12 units
// in the last place of f32, so cut to 11 bits it leaves one unit, 2 u |x|; A of the largest, the
// largest number of tf32, is 2^13 of them away, which leaves three, 3 u |x| there. Either is cut to
// a multiple of 2^-136 near zero.
eval_value eval_parts(eval_value x) {
    bool whole = is_exact(x) && (!isfinite(x.v) || ir_tf32_round(x.v) == x.v);
    if (whole || is_unknown(x)) return x;
    double most = fabs(x.v) + x.bound, units = most > 0x1.ffcp127 ? 3 : 2;
    return eval_float(x.v, x.bound + units * eval_precision_of(DT_F32)->u * most + 0x1p-136);
}

eval_value eval_store(ir_dtype to, eval_value x) {
    switch (to) {
    case DT_F16: return monotone(to_f16, x);
    case DT_BF16: return monotone(to_bf16, x);
    case DT_F32: return monotone(to_f32, x);
    case DT_F64: return monotone(to_f64, x);
    case DT_I32: return eval_int((int64_t)(int32_t)(uint32_t)(uint64_t)x.i, x.certain);
    case DT_I64:
    case DT_BOOL:
    case DT_INDEX: return x;
    case DT_COUNT: break;
    }
    ICE("no storage type %d", (int)to);
}

static double f16_value(uint16_t bits) {
    int e = (bits >> 10) & 31, m = bits & 1023;
    double x = e == 31 ? (m ? (double)NAN : (double)INFINITY)
               : e     ? ldexp(1024 + m, e - 25)
                       : ldexp(m, -24);
    return bits & 0x8000 ? -x : x;
}

static double bf16_value(uint16_t bits) {
    union {
        uint32_t bits;
        float value;
    } u = {.bits = (uint32_t)bits << 16};
    return (double)u.value;
}

double eval_read_float(ir_dtype t, const void *data, int64_t at) {
    switch (t) {
    case DT_F64: return ((const double *)data)[at];
    case DT_F32: return (double)((const float *)data)[at];
    case DT_F16: return f16_value(((const uint16_t *)data)[at]);
    case DT_BF16: return bf16_value(((const uint16_t *)data)[at]);
    case DT_I32:
    case DT_I64:
    case DT_BOOL:
    case DT_INDEX:
    case DT_COUNT: break;
    }
    ICE("type %d is no float", (int)t);
}

int64_t eval_read_int(ir_dtype t, const void *data, int64_t at) {
    switch (t) {
    case DT_I64:
    case DT_INDEX: return ((const int64_t *)data)[at];
    case DT_I32: return ((const int32_t *)data)[at];
    case DT_BOOL: return ((const uint8_t *)data)[at] != 0;
    case DT_F64:
    case DT_F32:
    case DT_F16:
    case DT_BF16:
    case DT_COUNT: break;
    }
    ICE("type %d is no integer", (int)t);
}
