// Reductions whose states a thread holds.
#ifndef GNNC_LOWER_REDUCTION_H
#define GNNC_LOWER_REDUCTION_H

#include "lower/scope/instance.h"

// Of a maximum that slots follow at a distance (lower/sums/online.c).
typedef struct {
    // by instance, what this lane has met; NULL: the slots are the maximum itself
    simt_value *most;
    simt_value scale;     // a positive constant that all terms are products with; 0: there is none
    tensor_expr scaled;   // the terms without it
} followed_maximum;

// Of a carry: the key of the run at hand, whether it began before the range, whether there is one,
// and the terms of its level.
enum { CARRY_KEY, CARRY_BEFORE, CARRY_OPEN, CARRY_TERMS, CARRY_SLOTS };

typedef struct {
    const loop_node *walk;   // the loop over its positions; NULL: the reduction is no carry
    bool *key_says;          // per variable: the key says what it is
    // lanes that have positions side by side: their state is scanned, and of the run at hand only
    // the key is carried (lower/loops/scan.c); 0: a thread has all positions
    axis_set lanes;
    bool uniform;   // they look whether all have one key
    simt_value run[CARRY_SLOTS];
    simt_value has_before;   // there are positions before the range
    simt_value key_before;   // their last one's key
    simt_value *fresh;       // the state of a run that begins
    // by instance, what levels that are full have summed, times the factor, where the slots are
    // those of the level at hand; NULL: there are no levels
    simt_value *total;
} carried_runs;

// How many of them its loop carries on.
static inline uint32_t carry_slots(const carried_runs *c) {
    return !c->walk ? 0 : c->lanes ? CARRY_KEY + 1 : c->total ? CARRY_SLOTS : CARRY_TERMS;
}

// While a reduction is open, its slots are carried through loops and branches.
typedef struct {
    const loop_node *node;
    uint32_t stage;
    const tensor_reducer *r;
    bool open;
    bool level;     // the factor of its body is left out
    bool product;   // a matrix operation sums it
    bool some;      // the last component is whether anything was combined
    // so many lanes of a vector contribute at a time to a state of as many; 0: all lanes
    uint8_t chained;
    // lanes that go on with one maximum, known in each round of matrix operations
    axis_set round;
    axis_set left, bound;   // digits of the left variables; of the loops inside
    axis_set copies;        // those that slots are indexed by
    // Lanes that had a step each of a walk's rounds, and their own states; extent 0: none.
    loop_digit steps;
    uint32_t masks;   // loops in scope where it began
    // conditions around, where they hold a cell of rows and depth that is not 0
    VEC(tensor_expr) cells;
    simt_type *types;   // of components
    uint32_t n;
    simt_value *slot;   // instance × component
    followed_maximum lazy;
    carried_runs carry;
} reduction;

typedef VEC(simt_value *) slot_list;

typedef struct {
    VEC(reduction *) all;   // in scope, open or closed
    bool again;             // what is not finite is found once more (lower/loops/again.c)
} lower_sums;

// The element of a matrix operation at hand.
typedef struct {
    simt_value cell;      // an entry stands in the window's cell; 0: no cell is at hand
    axis_set cell_axes;   // that depends on them
    simt_region whole;    // where whole warps read the first factor; 0: nowhere
} product_element;

#endif
