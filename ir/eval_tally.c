// Reductions with bounds that hold for every order of combination. A sum of n terms, in any order, is within
// (n - 1) u sum|x| of the exact one (Jeannerod and Rump, Improved error bounds for inner products, 2013), and
// it is exact where every partial sum is a multiple of one power of two and small enough for the significand.
#include "eval_tally.h"

#include <limits.h>
#include <string.h>

void eval_tally_start(eval_tally *t) {
    *t = (eval_tally){.product = 1,
                      .product_hi = 1,
                      .most = 1,
                      .least = 1,
                      .best = (double)-INFINITY,
                      .hi = (double)-INFINITY,
                      .lo = (double)-INFINITY,
                      .exact = true,
                      .grain = INT_MAX};
}

static void add_special(eval_tally *t, double x, bool unsure) {
    if (unsure) t->unknown = true;
    else if (isnan(x)) t->nan = true;
    else if (x > 0) t->plus = true;
    else t->minus = true;
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

static void add_product(eval_tally *t, eval_value x, bool unsure) {
    double hi = fabs(x.v) + x.bound, lo = fabs(x.v) - x.bound;
    if (unsure) t->unknown = true;
    if (x.bound != 0 && fabs(x.v) <= x.bound) t->unsigned_term = true;
    if (!isfinite(x.v)) add_special(t, x.v, unsure);
    else if (x.v == 0 && x.bound == 0) t->zero = true;
    if (x.v == 0 || !isfinite(x.v)) {
        t->product *= x.v;
        t->product_hi *= hi;
        t->least *= x.v == 0 && x.bound != 0 ? 0 : 1;
        t->most *= isfinite(x.v) && hi > 1 ? hi : 1;
        return;
    }
    t->product *= x.v;
    t->product_hi *= hi;
    t->most *= hi > 1 ? hi : 1;
    t->least *= lo < 1 ? fmax(lo, 0) : 1;
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

void eval_tally_add(eval_tally *t, tensor_reduce_kind kind, eval_value x, bool included, bool unsure) {
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
    case REDUCE_ANY: case REDUCE_ALL: case REDUCE_USER: ICE("no tally of this reducer");
    }
}

static eval_value finish_sum(const eval_tally *t, const eval_precision *p) {
    double r = (double)t->sum, reach = t->abs + t->bound;
    if (t->nan || (t->plus && t->minus && !t->unknown)) return eval_float((double)NAN, 0);
    if (t->unknown) return eval_float(r, (double)INFINITY);
    double infinity = t->plus ? (double)INFINITY : (double)-INFINITY;
    if (t->plus || t->minus) return eval_float(infinity, reach < p->limit / 2 ? 0 : (double)INFINITY);
    bool exact =
        t->exact && (t->grain == INT_MAX || (t->abs <= ldexp(1, t->grain + p->bits) && reach < p->limit));
    if (t->terms == 0 || exact) return eval_float(r, 0);
    double rounding = (double)(t->terms - 1) * p->u * reach;
    if (reach * (1 + p->room) + rounding < p->limit) return eval_float(r, t->bound + rounding);
    bool one_sign = fabs(r) >= t->abs * (1 - 0x1p-40), over = fabs(r) - t->bound - rounding > p->limit;
    if (p->type != DT_F64 && one_sign && over) return eval_float(copysign((double)INFINITY, r), 0);
    return eval_float(r, (double)INFINITY);
}

static eval_value finish_product(const eval_tally *t, const eval_precision *p) {
    double r = (double)t->product;
    if (t->nan) return eval_float((double)NAN, 0);
    if (t->unknown || !(t->most < p->limit / 2)) return eval_float(r, (double)INFINITY);
    bool infinite = t->plus || t->minus;
    if (t->zero && infinite) return eval_float((double)NAN, 0);
    if (t->zero) return eval_float(copysign(0, r), t->unsigned_term ? p->tiny : 0);   // not exact: its sign matters to 1 / 0
    if (infinite) return eval_float(r, t->least > 2 * p->normal ? 0 : (double)INFINITY);
    if (t->terms == 0) return eval_float(r, 0);
    double rounding = (double)(t->terms - 1) * p->u * t->product_hi * 1.001;
    double underflow = t->least > 2 * p->normal ? 0 : (double)t->terms * p->tiny * t->most;
    double bound = t->product_hi - fabs(r) + rounding + underflow;
    return eval_float(r, isfinite(bound) && (double)t->terms * p->u < 0.001 ? bound : (double)INFINITY);
}

static eval_value finish_greatest(const eval_tally *t) {
    if (t->nan) return eval_float((double)NAN, 0);
    if (t->unknown) return eval_float(t->best, (double)INFINITY);
    double bound = t->hi == t->lo ? 0 : fmax(t->hi - t->best, t->best - t->lo);
    return eval_float(t->best, isfinite(bound) ? bound : (double)INFINITY);
}

eval_value eval_tally_finish(const eval_tally *t, tensor_reduce_kind kind, const eval_precision *p) {
    switch (kind) {
    case REDUCE_SUM: return finish_sum(t, p);
    case REDUCE_PROD: return finish_product(t, p);
    case REDUCE_MAX: return finish_greatest(t);
    case REDUCE_MIN: {
        eval_value x = finish_greatest(t);
        return eval_float(-x.v, x.bound);
    }
    case REDUCE_ANY: case REDUCE_ALL: case REDUCE_USER: break;
    }
    ICE("no tally of this reducer");
}

// ---- Beyond the type -------------------------------------------------------------------------------------

static eval_value in_reals(const eval_tally *t, tensor_reduce_kind kind, eval_value x, double reach, uint32_t name) {
    bool lost = t->huge && (isnan(x.v) || kind == REDUCE_PROD);
    bool finite = !t->nan && !t->plus && !t->minus && !t->unknown;
    if (lost) x = eval_any(true);
    x.beyond = t->beyond ? t->beyond : finite && t->terms && !(fabs(x.v) <= reach) ? name : 0;
    return x;
}

eval_value eval_tally_ranged(evaluator *ev, const eval_tally *t, tensor_reduce_kind kind, const eval_precision *p,
                             uint32_t name) {
    double reach = eval_precision_of(p->type)->limit;
    eval_value x = eval_tally_finish(t, kind, p);
    bool adds = (kind == REDUCE_SUM || kind == REDUCE_PROD) && t->terms;
    if (!adds) reach = (double)INFINITY;
    if (ev->in->real) return in_reals(t, kind, x, reach, name);
    bool finite = !t->nan && !t->plus && !t->minus && !t->unknown;
    ev->overflows |= adds && finite && (isinf(x.bound) || !(fabs(x.v) < reach / 4));
    return x;
}
