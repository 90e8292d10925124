// What an implementation stored, beside what was evaluated. Where something overflowed on the way,
// real arithmetic says what is right (tensor_evaluated.real): what is right by that counts as
// compared, and what is only as the overflow has it counts apart.
#include "eval.h"

typedef enum { UNKNOWN, RIGHT, WRONG, OVERFLOWED } verdict;

// |difference| over bound; 0 where both are 0.
static verdict judge_float(double value, double bound, double actual, tensor_comparison *c) {
    if (isnan(value)) return isnan(actual) ? RIGHT : WRONG;
    if (isinf(value) || !isfinite(actual)) return value == actual ? RIGHT : WRONG;
    double error = fabs(actual - value), ratio = error == 0 ? 0 : error / bound;
    if (error > c->max_abs_error) c->max_abs_error = error;
    if (ratio > c->worst_ratio) c->worst_ratio = ratio;
    return error <= bound ? RIGHT : WRONG;
}

static bool agrees(double value, double bound, double actual) {
    tensor_comparison none = {0};
    return judge_float(value, bound, actual, &none) == RIGHT;
}

// Real arithmetic has a number there that the type holds.
static bool has_number(const tensor_evaluated *real, int64_t i, ir_dtype type) {
    return fabs(real->value[i]) + real->bound[i] < eval_precision_of(type)->limit;
}

// Of what only overflow tells from real arithmetic; UNKNOWN: the two agree, as far as they are
// known.
static verdict judge_overflow(const tensor_evaluated *e, int64_t i, ir_dtype type, double actual,
                              tensor_comparison *c) {
    const tensor_evaluated *real = e->real;
    bool known = !isinf(e->bound[i]);
    double value = e->value[i], bound = e->bound[i], v = real->value[i];
    if (!has_number(real, i, type)) return UNKNOWN;
    double slack = real->bound[i] + eval_precision_of(type == DT_F64 ? DT_F64 : DT_F32)->normal;
    if (known && fabs(value - v) <= bound + slack) return UNKNOWN;
    if (fabs(actual - v) <= slack) return judge_float(v, slack, actual, c);
    return !known || agrees(value, bound, actual) ? OVERFLOWED : UNKNOWN;
}

// Where real arithmetic left even f64 nothing is known, but that it is no NaN.
static bool is_lost(const tensor_evaluated *real, int64_t i) {
    return isinf(real->bound[i]) && real->beyond[i];
}

static verdict judge_one_float(const tensor_evaluated *e, int64_t i, ir_dtype type, double actual,
                               tensor_comparison *c) {
    bool known = !isinf(e->bound[i]);
    verdict by_overflow = e->real ? judge_overflow(e, i, type, actual, c) : UNKNOWN;
    if (by_overflow != UNKNOWN) return by_overflow;
    if (e->real && is_lost(e->real, i))
        return known && isnan(e->value[i]) && isnan(actual) ? OVERFLOWED : UNKNOWN;
    return known ? judge_float(e->value[i], e->bound[i], actual, c) : UNKNOWN;
}

static verdict judge_integer(const tensor_evaluated *e, int64_t i, int64_t actual) {
    const tensor_evaluated *real = e->real;
    if (!e->certain[i] || (real && !real->certain[i])) return UNKNOWN;
    if (!real || real->integer[i] == e->integer[i]) return actual == e->integer[i] ? RIGHT : WRONG;
    return actual == real->integer[i] ? RIGHT : actual == e->integer[i] ? OVERFLOWED : WRONG;
}

static void count(tensor_comparison *c, verdict v, int64_t at) {
    c->uncertain += v == UNKNOWN;
    c->compared += v == RIGHT || v == WRONG;
    c->wrong += v == WRONG;
    c->overflowed += v == OVERFLOWED;
    if (v == WRONG && c->first_wrong < 0) c->first_wrong = at;
    if (v == OVERFLOWED && c->first_overflowed < 0) c->first_overflowed = at;
}

tensor_comparison tensor_compare(const tensor_evaluated *expected, const tensor_array *actual) {
    tensor_comparison c = {
        .first_wrong = -1, .first_overflowed = -1, .uncertain = expected->points - expected->kept};
    for (int64_t i = 0; i < expected->kept; i++) {
        int64_t at = expected->at ? expected->at[i] : i;
        count(&c,
              expected->is_float
                  ? judge_one_float(expected, i, actual->type,
                                    eval_read_float(actual->type, actual->data, at), &c)
                  : judge_integer(expected, i, eval_read_int(actual->type, actual->data, at)),
              at);
    }
    return c;
}

span tensor_beyond(const tensor_op *op, uint32_t beyond) {
    if (beyond & EVAL_OF_STAGE) return op->stages.data[beyond & ~EVAL_OF_STAGE].at;
    return op->exprs.data[beyond].at;
}
