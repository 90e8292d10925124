// Reductions with bounds that hold for every order of combination. A sum of n terms, in any order,
// is within (n - 1) u sum|x| of the exact one (Jeannerod and Rump, Improved error bounds for inner
// products, 2013), and it is exact where every partial sum is a multiple of one power of two and
// small enough for the significand. Long sums are added up in parts, by threads or in blocks
// (passes/lower/loops/blocks.c), and a term passes through no more than LONGEST additions; else
// nothing would be wrong of 2^24 terms.
#include "eval_tally.h"

#include <limits.h>
#include <string.h>

void eval_tally_start(eval_tally *t) {
    *t = (eval_tally){.product = {1, 0},
                      .best = (double)-INFINITY,
                      .hi = (double)-INFINITY,
                      .lo = (double)-INFINITY,
                      .exact = true,
                      .grain = INT_MAX};
}

static void add_special(eval_tally *t, double x, bool unsure) {
    if (unsure) t->unknown = true;
    else if (isnan(x)) t->seen.nan = true;
    else if (x > 0) t->seen.plus = true;
    else t->seen.minus = true;
}

// The largest power of two that x, not 0, is a multiple of.
static int lowest_bit(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int e = (int)(bits >> 52 & 0x7ff);
    uint64_t significand = (bits & ((UINT64_C(1) << 52) - 1)) | (e ? UINT64_C(1) << 52 : 0);
    return (e ? e : 1) - 1075 + __builtin_ctzll(significand);
}

static void add_sum(eval_tally *t, eval_value x, bool included, bool unsure) {
    if (!isfinite(x.v)) {
        add_special(t, x.v, unsure);
        return;
    }
    if (included) t->sum += x.v;
    t->abs += fabs(x.v);
    t->bound += unsure ? fabs(x.v) + x.bound : x.bound;
    if (unsure || x.bound != 0) t->exact = false;
    int grain = t->exact && x.v != 0 ? lowest_bit(x.v) : INT_MAX;
    if (grain < t->grain) t->grain = grain;
}

static void multiply(eval_scaled *x, double y) {
    int e;
    x->m = frexpl(x->m * y, &e);
    if (isfinite(x->m)) x->e += e;
}

static double value_of(const eval_scaled *x) {
    int64_t e = x->e > 4096 ? 4096 : x->e < -4096 ? -4096 : x->e;
    return (double)ldexpl(x->m, (int)e);
}

// A factor that may be 0, of either sign, makes the product anything down to 0.
static void add_product(eval_tally *t, eval_value x, bool unsure) {
    double size = fabs(x.v), hi = size + x.bound, lo = size - x.bound;
    if (unsure) t->unknown = true;
    if (x.bound != 0 && size <= x.bound) t->unsigned_term = true;
    if (!isfinite(x.v)) add_special(t, x.v, unsure);
    else if (x.v == 0 && x.bound == 0) t->seen.zero = true;
    multiply(&t->product, x.v);
    if (!isfinite(x.v)) return;
    if (size > 0) t->product_spread += log1p(x.bound / size);
    else if (x.bound != 0) t->product_spread = (double)INFINITY;
    if (hi > 1) t->most += log2(hi);
    if (x.v != 0 || x.bound != 0) t->least += lo < 1 ? log2(fmax(lo, 0)) : 0;
}

static bool is_less(double x, double y) { return x < y || (x == y && signbit(x) && !signbit(y)); }

static void add_greatest(eval_tally *t, eval_value x, bool included, bool unsure) {
    if (isnan(x.v)) {
        add_special(t, x.v, unsure);
        return;
    }
    if (included && is_less(t->best, x.v)) t->best = x.v;
    t->hi = fmax(t->hi, x.v + x.bound);
    if (!unsure) t->lo = fmax(t->lo, x.v - x.bound);
}

void eval_tally_add(eval_tally *t, tensor_reduce_kind kind, eval_value x, bool included,
                    bool unsure) {
    t->terms++;
    if (!t->beyond) t->beyond = x.beyond;
    t->huge |= x.beyond && isinf(x.v);
    if (isinf(x.bound)) {
        t->unknown = true;
        if (included && kind == REDUCE_SUM && isfinite(x.v)) t->sum += x.v;
        return;
    }
    switch (kind) {
    case REDUCE_SUM: add_sum(t, x, included, unsure); break;
    case REDUCE_PROD: add_product(t, x, unsure); break;
    case REDUCE_MAX: add_greatest(t, x, included, unsure); break;
    case REDUCE_MIN: add_greatest(t, eval_float(-x.v, x.bound), included, unsure); break;
    case REDUCE_ANY:
    case REDUCE_ALL:
    case REDUCE_USER: ICE("no tally of this reducer");
    }
}

enum { LONGEST = 1 << 16 };

static eval_value finish_sum(const eval_tally *t, const eval_precision *p) {
    double r = (double)t->sum, reach = t->abs + t->bound;
    if (t->seen.nan || (t->seen.plus && t->seen.minus && !t->unknown))
        return eval_float((double)NAN, 0);
    if (t->unknown) return eval_float(r, (double)INFINITY);
    double infinity = t->seen.plus ? (double)INFINITY : (double)-INFINITY;
    if (t->seen.plus || t->seen.minus)
        return eval_float(infinity, reach < p->limit / 2 ? 0 : (double)INFINITY);
    bool exact = t->exact && (t->grain == INT_MAX ||
                              (t->abs <= ldexp(1, t->grain + p->bits) && reach < p->limit));
    if (t->terms == 0 || exact) return eval_float(r, 0);
    double rounding = fmin((double)(t->terms - 1), LONGEST) * p->u * reach;
    if (reach * (1 + p->room) + rounding < p->limit) return eval_float(r, t->bound + rounding);
    bool one_sign = fabs(r) >= t->abs * (1 - 0x1p-40),
         over = fabs(r) - t->bound - rounding > p->limit;
    if (p->type != DT_F64 && one_sign && over) return eval_float(copysign((double)INFINITY, r), 0);
    return eval_float(r, (double)INFINITY);
}

// Where parts of the product leave the type, some order has anything; in real arithmetic none does.
static eval_value finish_product(const eval_tally *t, const eval_precision *p, bool real) {
    double r = value_of(&t->product), most = real ? 1 : exp2(t->most);
    if (t->seen.nan) return eval_float((double)NAN, 0);
    if (t->unknown || !(most < p->limit / 2)) return eval_float(r, (double)INFINITY);
    bool infinite = t->seen.plus || t->seen.minus,
         shrinks = !real && !(t->least > log2(2 * p->normal));
    if (t->seen.zero && infinite) return eval_float((double)NAN, 0);
    if (t->seen.zero)
        return eval_float(copysign(0, r),
                          t->unsigned_term ? p->tiny : 0);   // not exact: its sign matters to 1 / 0
    if (infinite) return eval_float(r, shrinks ? (double)INFINITY : 0);
    if (t->terms == 0) return eval_float(r, 0);
    double spread = r != 0                  ? fabs(r) * expm1(t->product_spread)
                    : t->product_spread > 0 ? (double)INFINITY
                                            : 0;
    double rounding = (double)(t->terms - 1) * p->u * (fabs(r) + spread) * 1.001;
    double underflow = shrinks ? (double)t->terms * p->tiny * most : 0,
           bound = spread + rounding + underflow;
    bool known = isfinite(bound) && isfinite(r) && (double)t->terms * p->u < 0.001;
    bool lost = underflow > p->normal && bound > fabs(r) / 2;
    return eval_float(r, known && !lost ? bound : (double)INFINITY);
}

static eval_value finish_greatest(const eval_tally *t) {
    if (t->seen.nan) return eval_float((double)NAN, 0);
    if (t->unknown) return eval_float(t->best, (double)INFINITY);
    double bound = t->hi == t->lo ? 0 : fmax(t->hi - t->best, t->best - t->lo);
    return eval_float(t->best, isfinite(bound) ? bound : (double)INFINITY);
}

static eval_value finish(const eval_tally *t, tensor_reduce_kind kind, const eval_precision *p,
                         bool real) {
    switch (kind) {
    case REDUCE_SUM: return finish_sum(t, p);
    case REDUCE_PROD: return finish_product(t, p, real);
    case REDUCE_MAX: return finish_greatest(t);
    case REDUCE_MIN: {
        eval_value x = finish_greatest(t);
        return eval_float(-x.v, x.bound);
    }
    case REDUCE_ANY:
    case REDUCE_ALL:
    case REDUCE_USER: break;
    }
    ICE("no tally of this reducer");
}

// ---- Beyond the type ----------------------------------------------------------------------------

static bool is_finite(const eval_tally *t) {
    return !t->seen.nan && !t->seen.plus && !t->seen.minus && !t->unknown;
}

static eval_value in_reals(const eval_tally *t, tensor_reduce_kind kind, eval_value x, double reach,
                           uint32_t name) {
    bool lost = t->huge && (isnan(x.v) || kind == REDUCE_PROD);   // times what may be small
    bool finite = is_finite(t);
    if (lost) x = eval_any(true);
    x.beyond = t->beyond ? t->beyond : finite && t->terms && !(fabs(x.v) <= reach) ? name : 0;
    return x;
}

eval_value eval_tally_finish(evaluator *ev, const eval_tally *t, tensor_reduce_kind kind,
                             const eval_precision *p, uint32_t name) {
    double reach = eval_precision_of(p->type)->limit;
    eval_value x = finish(t, kind, p, ev->in->real);
    bool adds = (kind == REDUCE_SUM || kind == REDUCE_PROD) && t->terms;
    if (!adds) reach = (double)INFINITY;
    if (ev->in->real) return in_reals(t, kind, x, reach, name);
    bool finite = is_finite(t);
    ev->overflows |= adds && finite && (isinf(x.bound) || !(fabs(x.v) < reach / 4));
    return x;
}
