// Facts about index expressions in loop IR: where they lie, what divides them, how they move along
// a loop. Everything a pass may rely on is asked here: whether a tail needs a mask, whether lanes
// read neighbours, whether a key is sorted.
//
// Enters: a verified plan, and the preconditions of its op. Leaves: answers; a fact that cannot be
// shown is not claimed. Memory: the arena given. A change of the plan's nodes ends the validity of
// a `facts`; new expressions do not.
//
//     facts *f = facts_new(a, plan);
//     facts_range r = facts_interval(f, contribute, index);             // src[e] in [0, size(U) - 1]
//     if (facts_along(f, contribute, index, p, FACTS_POSITION).sorted)  // dst[e] along the positions of p
//
// Rests on: values of index type lie in their space or are none (-1), as the runtime validates;
// maps hold their declared facts; sizes are of things in memory, so sums and products of two of
// them do not wrap. Facts hold between points that reach the node `at`: positions within bounds,
// conditions around it true; padding is no point.
#ifndef GNNC_FACTS_H
#define GNNC_FACTS_H

#include "loop.h"

typedef struct facts facts;
facts *facts_new(arena *a, loop_plan *plan);

enum { FACTS_TERMS = 8 };
typedef struct {
    bool known;
    int64_t constant;   // + the sum of factor × size(space)
    uint32_t n;
    struct {
        tensor_space space;
        int64_t factor;
    } terms[FACTS_TERMS];
} facts_bound;
typedef struct {
    facts_bound lo, hi;   // both included
    // the same without sizes: INT64_MIN, INT64_MAX where there is no such bound
    int64_t min, max;
} facts_range;
// `at` is where the expression stands: its loop variables are those of the nodes around it. A FOR
// is outside its own loop.
facts_range facts_interval(facts *f, const loop_node *at, tensor_expr e);
bool facts_less(facts *f, const loop_node *at, tensor_expr x, tensor_expr y);   // x < y always

// The largest known constant that divides the value; 0: the value is 0.
int64_t facts_multiple(facts *f, const loop_node *at, tensor_expr e);
// The same where the digits of var's loop up to `digit` are 0: the first element of a vector, of a
// group of lanes.
int64_t facts_base_multiple(facts *f, const loop_node *at, tensor_expr e, tensor_var var,
                            uint32_t digit);

// How a value moves while one digit of a loop around `at` grows, and every other digit of every
// loop stays: the number of a digit, ndigits for the rest, or FACTS_POSITION for the position as a
// whole.
#define FACTS_POSITION UINT32_MAX
typedef struct {
    bool uniform;    // stays
    bool affine;     // is base + step × digit
    bool sorted;     // never falls
    bool distinct;   // never twice the same
    int64_t step;    // affine
} facts_motion;
facts_motion facts_along(facts *f, const loop_node *at, tensor_expr e, tensor_var var,
                         uint32_t digit);

bool facts_exact(facts *f,
                 // no position of the loop is past its end: nothing to mask
                 const loop_node *loop);
// hi - lo is never above; INT64_MAX: not known
int64_t facts_cover(facts *f, const loop_node *loop);
// one line a loop and an access; --emit=facts
void facts_print(textbuf *out, facts *f);

#endif
