// Maths functions with error bounds: the library's stated error (math.def) and the operand's error
// by the slope of the function over all an implementation may have there.
#include "eval.h"

static eval_value unknown(double r) { return eval_float(r, (double)INFINITY); }
static eval_value exact(double r) { return eval_float(r, 0); }
static bool may_be_zero(eval_value x) { return fabs(x.v) <= x.bound; }

// How far log moves when x does by its bound; inf where it may reach 0.
static double log_shift(double x, double bound) {
    return bound < x ? -log1p(-bound / x) : (double)INFINITY;
}

static eval_value square_root(const eval_precision *p, eval_value x) {
    double r = sqrt(x.v);
    if (x.v < 0) return x.v + x.bound < 0 ? exact((double)NAN) : unknown(0);
    if (x.bound == 0) {
        bool fits = isinf(r) || eval_fits(p, r, fma(r, r, -x.v));
        return fits ? exact(r) : eval_settle(p, r, 0, 0.5);
    }
    if (x.v - x.bound < 0) return unknown(r);
    return eval_settle(p, r, x.bound / (r + sqrt(x.v - x.bound)), 0.5);
}

static eval_value whole(double (*f)(double), eval_value x) {
    double r = f(x.v);
    if (x.bound == 0) return exact(r);
    double lo = f(nextafter(x.v - x.bound, (double)-INFINITY)),
           hi = f(nextafter(x.v + x.bound, (double)INFINITY));
    return eval_float(r, fmax(hi - r, r - lo));
}

static eval_value exponential(const eval_precision *p, eval_value x, double ulps, bool minus_1) {
    double least = minus_1 ? -1 : 0, e = exp(x.v), r = minus_1 ? expm1(x.v) : e;
    if (isinf(x.v)) return exact(x.v < 0 ? least : x.v);
    if (x.v - x.bound > 710) return exact((double)INFINITY);
    if (r == 0 && x.bound == 0 && minus_1) return exact(x.v);
    return eval_settle(p, r, e * expm1(x.bound), ulps);
}

// log(x) with shift 0, log(1 + x) with shift 1.
static eval_value logarithm(const eval_precision *p, eval_value x, double ulps, double shift) {
    double at = x.v + shift, r = shift != 0 ? log1p(x.v) : log(x.v);
    if (isinf(x.v)) return exact(r);
    if (x.bound == 0 && at <= 0) return exact(r);
    if (at + x.bound < 0) return exact((double)NAN);
    if (x.bound >= at) return unknown(r);
    if (r == 0 && x.bound == 0) return exact(r);
    return eval_settle(p, r, log_shift(at, x.bound), ulps);
}

static eval_value exact_power(const eval_precision *p, double x, double y, double r, double ulps) {
    bool finite = isfinite(x) && isfinite(y) && x != 0;
    if (!finite || isnan(r) || x == 1 || y == 0) return exact(r);
    if (y * log(fabs(x)) > 710) return exact(r);
    return r == 0 ? eval_float(0, p->tiny) : eval_settle(p, r, 0, ulps);
}

static eval_value power(const eval_precision *p, eval_value x, eval_value y, double ulps) {
    double r = pow(x.v, y.v), size = fabs(x.v);
    bool whole_power = y.bound == 0 && rint(y.v) == y.v;
    if (x.bound == 0 && y.bound == 0) return exact_power(p, x.v, y.v, r, ulps);
    if (!isfinite(x.v) || !isfinite(y.v)) return unknown(r);
    if (whole_power && y.v == 0) return exact(1);
    if (size <= x.bound) {   // the base may be 0
        if (!whole_power || y.v < 0) return unknown(r);
        return eval_settle(p, r, pow(size + x.bound, y.v) + fabs(r), ulps);
    }
    if (x.v < 0 && !whole_power) return y.bound == 0 ? exact((double)NAN) : unknown(r);
    double shift = log_shift(size, x.bound);
    double d = fabs(y.v) * shift + fabs(log(size)) * y.bound + shift * y.bound;
    return eval_settle(p, r, fabs(r) * expm1(d), ulps);
}

// A function whose slope is `steepest` at most near x and which moves by at most 2 in all.
static eval_value bounded(const eval_precision *p, double r, eval_value x, double steepest,
                          double ulps) {
    if (r == 0 && x.bound == 0) return exact(r);
    return eval_settle(p, r, fmin(x.bound * steepest, 2), ulps);
}

// What is off by d at a distance r from the origin is seen at most asin(d / r) aside. Angles jump
// where x is negative and y changes its sign, which that of a zero tells.
static eval_value angle(const eval_precision *p, eval_value y, eval_value x, double ulps) {
    double r = atan2(y.v, x.v), off = (double)(hypotl(x.bound, y.bound) / hypotl(x.v, y.v));
    bool may_jump = may_be_zero(y) && x.v - x.bound <= 0;
    if (may_jump || off >= 1) return unknown(r);
    if (r == 0 && y.bound == 0) return exact(r);
    return eval_settle(p, r, off > 0 ? asin(off) : 0, ulps);
}

// A slope that changes by no more than x does.
static double steepest_wave(double slope, eval_value x) { return fmin(1, fabs(slope) + x.bound); }

eval_value eval_maths(tensor_opcode op, const eval_precision *p, eval_value x, eval_value y) {
    if (isinf(x.bound) || isinf(y.bound)) return eval_any(true);
    bool nan_in = isnan(x.v) || isnan(y.v);
    const tensor_maths *f = tensor_maths_of(op);   // none: it is exact, or rounded once
    if (nan_in && (!f || f->nan)) return exact((double)NAN);
    double nearest = fmax(0, fabs(x.v) - x.bound);   // to zero
    double ulps = f ? f->ulps[p->type == DT_F64] : 0;
    switch (op) {
    case TENSOR_SQRT_OP: return square_root(p, x);
    case TENSOR_FLOOR_OP: return whole(floor, x);
    case TENSOR_CEIL_OP: return whole(ceil, x);
    case TENSOR_EXP_OP: return exponential(p, x, ulps, false);
    case TENSOR_EXPM1_OP: return exponential(p, x, ulps, true);
    case TENSOR_LOG_OP: return logarithm(p, x, ulps, 0);
    case TENSOR_LOG1P_OP: return logarithm(p, x, ulps, 1);
    case TENSOR_POW_OP: return power(p, x, y, ulps);
    case TENSOR_ATAN2_OP: return angle(p, x, y, ulps);
    case TENSOR_TANH_OP: return bounded(p, tanh(x.v), x, 1 / (cosh(nearest) * cosh(nearest)), ulps);
    case TENSOR_ERF_OP:
        return bounded(p, erf(x.v), x, 1.1283791671 * exp(-nearest * nearest), ulps);
    case TENSOR_SIN_OP:
        return isinf(x.v) ? exact((double)NAN)
                          : bounded(p, sin(x.v), x, steepest_wave(cos(x.v), x), ulps);
    case TENSOR_COS_OP:
        return isinf(x.v) ? exact((double)NAN)
                          : bounded(p, cos(x.v), x, steepest_wave(sin(x.v), x), ulps);
    default: ICE("'%s' is no maths function", tensor_op_table(op)->text);
    }
}
