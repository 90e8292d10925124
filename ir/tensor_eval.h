// The evaluator of tensor IR.
// Computes an op point by point in f64 (integers in i64) straight from the equations, and beside
// each float a bound on how far a correct implementation at the op's own precision may be from it,
// whatever its order of summation: forward error analysis with the unit roundoff of each
// expression's type, the maths library's stated errors, rounding on stores and the sum of absolute
// terms of each sum. A user's commutative reducer has the same bounds for components that are
// combined by add, mul, max or min alone; others are evaluated in several orders (eval_states.c),
// and the bound covers all of them: it is inf where they do not agree on an infinity or NaN. Others
// keep index order. An integer, index or bool is either certain or not (where a comparison lies
// within its bound); uncertain ones are not compared. What overflows a type is an infinity, as an
// implementation has it; `real` asks for the numbers of real arithmetic instead, and then `beyond`
// says what overflows.
#ifndef GNNC_TENSOR_EVAL_H
#define GNNC_TENSOR_EVAL_H

#include "tensor.h"

typedef struct {
    ir_dtype type;   // storage; DT_INDEX: int64_t
    uint32_t rank;
    int64_t shape[8];
    void *data;   // packed, row-major; bool: uint8_t
} tensor_array;
typedef struct tensor_evaluated {
    uint32_t rank;
    int64_t shape[8];
    int64_t points, kept;   // elements of the result; those that follow: all, or a sample
    const int64_t *at;      // the place of each that is kept; NULL: all are, in order
    bool is_float;
    double *value, *bound;   // floats: bound inf: anything goes there
    int64_t *integer;        // others
    uint8_t *certain;        // others
    // of the evaluation: some number on the way left its type, or perhaps did
    bool overflows;
    // in real arithmetic: what was the first to, for tensor_beyond; 0: nothing. NULL: not asked for
    const uint32_t *beyond;
    // in real arithmetic, where that was evaluated too; NULL: nothing overflows
    const struct tensor_evaluated *real;
} tensor_evaluated;
// anything goes at what is not kept
tensor_evaluated tensor_evaluated_whole(arena *a, const tensor_evaluated *x);
typedef struct {
    const int64_t *sizes;         // per space; used for FREE ones
    const tensor_array *inputs;   // per val below nparams; results and prefix maps ignored
    uint64_t max_steps;           // give up after so many point evaluations; 0: never
    // of results that no stage reads, a sample of one in so many elements, in runs of neighbours; 0
    // or 1: all
    uint64_t one_in;
    // per stage, where not NULL: of a sum of products, so many second factors are added before the
    // first is applied; what that may overflow is uncertain. 0: each by itself
    const uint32_t *every;
    // per stage, where not NULL: of a sum of products, factors are taken out; an infinity of such a
    // sum is uncertain, as it may come of differences of what is infinite
    const bool *apart;
    // likewise: what products are rounded from is a multiple of what is said, and larger
    const bool *relative;
    bool near;   // exponentials are the machine's approximations
    // and those of differences of numbers that are rounded apart
    bool narrow;
    bool real;   // types round, but none has a largest number
    // told now and then how much of it all is done, in the calling thread; or NULL
    void (*progress)(void *user, double part);
    void *user;
} tensor_eval_input;
// results: one per val below nparams that is a result, in order. false: *why says what is wrong
// with the input.
bool tensor_eval(arena *a, const tensor_op *op, const tensor_eval_input *in,
                 tensor_evaluated *results, const char **why);

typedef struct {
    int64_t compared, uncertain, wrong;
    int64_t first_wrong;   // flat position; -1: none
    // likewise: not what real arithmetic has, as something overflowed on the way
    int64_t overflowed, first_overflowed;
    double worst_ratio;   // largest |difference| / bound
    double max_abs_error;
} tensor_comparison;
// Whether a stage's targets are results that no stage reads: those of which one_in takes a sample.
bool tensor_is_final(const tensor_op *op, const tensor_stage *s);
// and that stage alone writes v: of v a sample alone is kept
bool tensor_is_sampled(const tensor_op *op, tensor_val v);
// of a sample: s computes what is read of it, and no more
bool tensor_may_wait(const tensor_op *op, const tensor_stage *s);
span tensor_beyond(const tensor_op *op, uint32_t beyond);   // where it stands
// Compares what an implementation stored (packed, of the result's storage type) with what was
// evaluated.
tensor_comparison tensor_compare(const tensor_evaluated *expected, const tensor_array *actual);
// The size of each space (FREE given in in->sizes; COUNT_OF computed from the inputs) into sizes.
bool tensor_eval_sizes(arena *a, const tensor_op *op, const tensor_eval_input *in, int64_t *sizes,
                       const char **why);

#endif
