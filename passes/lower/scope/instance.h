// What lowering knows of a place in a kernel: digits of the loops in scope, positions, what variables are
// bound to, values by instance.
//
// A value is known once for each of the *instances* it differs in: the digits of loops in scope that are
// written out (register, unroll). Digits of threads (lane, group) make it differ between threads. One vector
// digit at a time is the lanes of simt vectors; while a lane is fixed, the same expressions are scalars of
// that lane.
//
// What is taken for granted, and guarded by the version: loops with a vector digit begin at and run to
// multiples of its extent, and rows it accesses are aligned to its accesses; in narrow mode, sizes and
// element offsets fit 31 bits.
#ifndef GNNC_LOWER_INSTANCE_H
#define GNNC_LOWER_INSTANCE_H

#include "plan.h"

typedef struct {   // instructions of a region that take a product's parts, which a barrier comes first of;
                   // region 0: nowhere
    simt_region region;
    uint32_t begin, end;
} lw_join;

typedef struct {   // what the kernels of a plan share
    arena *arena;
    const loop_plan *plan;
    const tensor_op *op;   // the plan's
    program *p;
    program_version *v;
    const lower_options *o;
    uint32_t *temp_of;       // per value: its temporary; UINT32_MAX: not met yet
    uint32_t *prepared_of;   // per value: UINT32_MAX: not prepared
    uint8_t *none_facts;     // per expression: see base/scalar.h
    bool *nonpositive;       // per exponential: see lower/values/exponential.c
    // likewise: something reads it where no choice of 0 is around for a difference from -inf.
    bool *bare;
    uint32_t *visited, visits;
} lowering;

enum { LOWER_WARP = 32, LOWER_MAX_AXES = 64, LOWER_NO_AXIS = LOWER_MAX_AXES };

typedef uint64_t axis_set;

#define AXIS(i) ((axis_set)1 << (i))

typedef struct {
    loop_place place;   // REGISTER, UNROLL: written out; VECTOR; LANE, GROUP
    uint32_t extent, unit;
    uint32_t weight;   // of the digit in the position
} lower_axis;

typedef struct {
    const loop_node *node;
    uint32_t first;   // axis of the outermost digit; a rest that is written out comes before
    bool entered;
} loop_axes;

// A position: a scalar; or for each lane l of the vector, at + l (ALONG: the loop's own, aligned; SHIFTED:
// another); or any vector.
typedef enum { POSITION_ONE, POSITION_ALONG, POSITION_SHIFTED, POSITION_ANY } position_shape;

//
// Of a padded loop, `at` may lie past the last position of its space: who holds no padding takes `last` for
// it.
typedef struct {
    simt_value at;
    position_shape shape;
    uint32_t pad;      // 0: not of one, and it is a position of its space
    simt_value last;   // of the space
    // Of a masked step: where it is, which may be past the end, and whether it is not; 0: of none.
    simt_value step, inside;
} position;

typedef enum { BOUND_NOT, BOUND_LOOP, BOUND_LET, BOUND_GIVEN } binding_kind;

typedef struct {
    binding_kind kind;
    axis_set axes;       // what it depends on
    axis_set own;        // LOOP: those that `of` is indexed by
    simt_value *of;      // LOOP: position at vector lane 0
    simt_value *step, *inside;   // LOOP: of masked steps, see position; NULL: it has none
    bool along;          // LOOP: one of its digits is the vector
    bool columns;        // LOOP: of the columns of a factor, which other lanes hold of the product
    uint32_t pad;        // LOOP: positions go on to a multiple; 0: to the end of the space
    simt_value last;     // where pad is: the last position of the space
    uint32_t whole;      // likewise: copies that have no padding come first
    simt_value base, end;   // LOOP: the first position that the block has at once, and the end of all
    tensor_expr value;   // LET
    position given;      // GIVEN
} binding;

typedef struct {   // an expression's values, by instance; see lower/scope/known.c
    bool known;    // its axes are
    axis_set axes;
    simt_value *of;
} memo_cell;

typedef struct {
    tensor_expr expr;
    uint32_t slot;   // UINT32_MAX: that the axes are known
} memo_entry;

typedef struct {
    const loop_node *node;
    axis_set axes;
    simt_value *of;   // NULL: never past the end
} loop_mask;

#endif
