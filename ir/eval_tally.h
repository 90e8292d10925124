// The reductions of the evaluator: what is known of the terms of a builtin reducer over floats, and
// states of any other.
#ifndef GNNC_EVAL_TALLY_H
#define GNNC_EVAL_TALLY_H

#include "eval.h"

// A number of any size: m * 2^e, m in [0.5, 1) or not normal.
typedef struct {
    long double m;
    int64_t e;
} eval_scaled;

// Certain terms: 0, NaN, infinities.
typedef struct {
    bool zero, nan, plus, minus;
} eval_seen;

// Over floats, sum, prod, max and min are judged over all orders of combination at once.
typedef struct {
    int64_t terms;   // that an implementation may combine
    long double sum;
    eval_scaled product;
    double abs, bound;       // of the sum: absolute terms, their bounds
    double product_spread;   // log of: the largest |product| over the one
    // log2 of the largest and smallest |product| of any part of the terms
    double most, least;
    double best, hi, lo;   // max: value, and where an implementation's may be
    bool exact;            // the terms are, and multiples of 2^grain
    int grain;
    eval_seen seen;
    bool unsigned_term;   // the sign of some term is not certain
    bool unknown;
    bool huge;         // a term that no f64 holds (eval_range.c)
    uint32_t beyond;   // of the first term that has one
} eval_tally;
void eval_tally_start(eval_tally *t);
// A term; unsure: perhaps it is not one, and then `included` says whether it is in exact
// arithmetic.
void eval_tally_add(eval_tally *t, tensor_reduce_kind kind, eval_value x, bool included,
                    bool unsure);
// name: of the reduction, for eval_value.beyond.
eval_value eval_tally_finish(evaluator *ev, const eval_tally *t, tensor_reduce_kind kind,
                             const eval_precision *p, uint32_t name);

// A component of a state: its combine is add, mul, max or min of its own two sides (tallied), or of
// integers of its own two sides, which no order changes (alone), or anything else.
typedef enum { COMPONENT_TALLIED, COMPONENT_ALONE, COMPONENT_MIXED } eval_component_kind;
typedef struct {
    eval_component_kind kind;
    bool is_float;
    tensor_reduce_kind by;   // tallied
    eval_precision precision;
    eval_tally tally;
} eval_component;

typedef struct {
    uint32_t *identity, *lift, *combine, *finish;
} eval_sections;

// Any reducer: lift, combine and finish evaluated in index order; where a component is mixed, in
// some other orders too, a chunk of terms at a time.
enum { EVAL_CHUNK = 1024, EVAL_ORDERS = 4, EVAL_SINGLE = 64 };
typedef struct {
    const tensor_reducer *reducer;
    eval_program *program;
    eval_sections nodes;
    eval_component *components;
    bool mixed;   // some component is
    // the identity; what combine gives; results of another order
    eval_value *nothing, *next, *other;
    eval_value *terms, *work;   // lifted ones of this chunk; permuted
    eval_value *total[EVAL_ORDERS], *finite, *special;
    eval_value *single;   // the first EVAL_SINGLE special terms
    uint32_t waiting;     // terms of this chunk
    uint32_t name;        // of what is reduced, for eval_value.beyond
    int64_t nterms, nspecial;
} eval_states;
eval_states *eval_states_new(evaluator *ev, const tensor_reducer *r, uint32_t name);
void eval_states_start(eval_states *s);
void eval_states_add(eval_states *s, const eval_value *args, bool included, bool unsure);
void eval_states_finish(eval_states *s, eval_value *results);

#endif
