// The numbers of the evaluator: a float with a bound on the error of any correct implementation, an
// integer that is certain or not, and their arithmetic.
#ifndef GNNC_EVAL_NUMBER_H
#define GNNC_EVAL_NUMBER_H

#include "tensor.h"

#include <math.h>

// A float: an implementation has a value within bound of v. bound inf: it may have anything;
// otherwise an infinity or a NaN stands for exactly that (its bound is 0). Others: i, which an
// implementation has too where certain.
typedef struct {
    double v, bound;
    int64_t i;
    bool certain;
    bool natural;   // certain or not, it is 0 or more, and so no `none`
    // in real arithmetic: the first thing it comes from that left its type; 0: none
    uint32_t beyond;
} eval_value;

typedef struct {
    ir_dtype type;
    int bits;   // of the significand
    // error of one operation, relative: the unit roundoff and what this evaluator adds to it
    double u;
    double tiny;     // … absolute, near zero
    double normal;   // the smallest number that has all its bits
    double limit;    // what is beyond rounds to infinity
    // of a sum: by so much of its absolute terms may what is added up on the way exceed them
    double room;
} eval_precision;
const eval_precision *eval_precision_of(ir_dtype t);
const eval_precision *eval_precision_real(ir_dtype t);   // rounds alike, but reaches as far as f64
extern const eval_precision eval_by_parts;               // of a product of f32 by parts

static inline eval_value eval_float(double v, double bound) {
    return (eval_value){.v = v, .bound = bound};
}
static inline bool eval_is_finite(eval_value x) { return isfinite(x.v) && !isinf(x.bound); }
static inline eval_value eval_int(int64_t i, bool certain) {
    return (eval_value){.i = i, .certain = certain, .natural = certain && i >= 0};
}
// what may be another number
static inline eval_value eval_unsure(eval_value x) {
    x.bound = (double)INFINITY;
    x.certain = x.natural = false;
    return x;
}
// Anything: what an expression has that may not be evaluated, or whose operands are unknown.
static inline eval_value eval_any(bool is_float) {
    return is_float ? eval_float(0, (double)INFINITY) : eval_int(0, false);
}

// floats
eval_value eval_arith(tensor_opcode op, const eval_precision *p, eval_value x, eval_value y);
eval_value eval_int_arith(tensor_opcode op, eval_value x, eval_value y);
// bool
eval_value eval_compare(tensor_opcode op, bool floats, eval_value x, eval_value y);
// of a float and itself, whose error is one
eval_value eval_compare_same(tensor_opcode op, eval_value x);
eval_value eval_maths(tensor_opcode op, const eval_precision *p, eval_value x, eval_value y);
// p: of `to`
eval_value eval_convert(tensor_type to, tensor_type from, const eval_precision *p, eval_value x);
// by an uncertain condition
eval_value eval_choose(bool floats, eval_value x, eval_value y, bool first);
// r, up to prop off before the operation itself rounds, which it does by at most ulps units in the
// last place.
eval_value eval_settle(const eval_precision *p, double r, double prop, double ulps);
// Whether an operation on exact operands with result r is free of rounding, of which `error` is a
// measure in f64. (What comes to a narrower float when rounded to f64 also rounds to that float
// directly.)
static inline bool eval_fits(const eval_precision *p, double r, double error) {
    return p->type != DT_F64 ? ir_dtype_round(p->type, r) == r : error == 0;
}

// what memory holds after storing x
eval_value eval_store(ir_dtype to, eval_value x);
eval_value eval_tf32(eval_value x);
eval_value eval_parts(eval_value x);
double eval_read_float(ir_dtype t, const void *data, int64_t at);
int64_t eval_read_int(ir_dtype t, const void *data, int64_t at);

#endif
