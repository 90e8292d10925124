// What lowering knows of a place in a kernel: digits of the loops in scope, positions, what
// variables are bound to, values by instance.
//
// A value is known once for each of the *instances* it differs in: the digits of loops in scope
// that are written out (register, unroll). Digits of threads (lane, group) make it differ between
// threads. One vector digit at a time is the lanes of SIMT vectors; while a lane is fixed, the same
// expressions are scalars of that lane.
//
// Lowering takes for granted what the version's guards say. Loops with a vector digit begin at
// multiples of its extent and run to multiples of it. Rows that they access are aligned to the
// accesses. In narrow mode, sizes and element offsets fit 31 bits.
#ifndef GNNC_LOWER_INSTANCE_H
#define GNNC_LOWER_INSTANCE_H

#include "plan.h"

// ---- Digits -------------------------------------------------------------------------------------
enum { LOWER_WARP = 32, LOWER_MAX_AXES = 64, LOWER_NO_AXIS = LOWER_MAX_AXES };

typedef uint64_t axis_set;

#define AXIS(i) ((axis_set)1 << (i))
// for (axis_set left = s; left; left = lw_other_axes(left)) … lw_first_axis(left)
static inline uint32_t lw_first_axis(axis_set s) { return (uint32_t)__builtin_ctzll(s); }
static inline uint32_t lw_last_axis(axis_set s) { return 63 - (uint32_t)__builtin_clzll(s); }
static inline axis_set lw_other_axes(axis_set s) { return s & (s - 1); }

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

// All loops of the kernel, the digits of those in scope, and the instance at hand.
typedef struct {
    VEC(loop_axes) loops;
    lower_axis axis[LOWER_MAX_AXES];
    // coordinate of what is written out, or vector lane; -1: it is not fixed
    int32_t at[LOWER_MAX_AXES];
    uint32_t vector;   // the axis that is the lanes of vectors
} lower_digits;

// ---- Positions ----------------------------------------------------------------------------------
// A position is a scalar; or for each lane l of the vector, at + l (ALONG: the loop's own, aligned;
// SHIFTED: another); or any vector.
typedef enum { POSITION_ONE, POSITION_ALONG, POSITION_SHIFTED, POSITION_ANY } position_shape;

// In a padded loop, `at` may lie past the last position of its space: an array without padding is
// read at `last` then.
typedef struct {
    simt_value at;
    position_shape shape;
    uint32_t pad;      // 0: the loop is not padded, so that it is a position of its space
    simt_value last;   // of the space
    // In a masked step: where the step is, which may be past the end, and whether it is inside;
    // else 0.
    simt_value step, inside;
} position;

typedef enum { BOUND_NOT, BOUND_LOOP, BOUND_LET, BOUND_GIVEN } binding_kind;

typedef struct {
    binding_kind kind;
    axis_set axes;               // what it depends on
    axis_set own;                // LOOP: those that `of` is indexed by
    simt_value *of;              // LOOP: position at vector lane 0
    simt_value *step, *inside;   // LOOP: of masked steps, see position; NULL: it has none
    bool along;                  // LOOP: one of its digits is the vector
    // LOOP: it runs over columns of a factor, which other lanes hold of the product
    bool columns;
    uint32_t pad;      // LOOP: positions go on to a multiple; 0: to the end of the space
    simt_value last;   // where pad is: the last position of the space
    uint32_t whole;    // likewise: so many copies, which come first, have no padding
    // LOOP: the first position that the block has at once, and the end of all
    simt_value base, end;
    tensor_expr value;   // LET
    position given;      // GIVEN
} binding;

// ---- Scope --------------------------------------------------------------------------------------
typedef struct {
    const loop_node *node;
    axis_set axes;
    simt_value *of;   // NULL: no step is past the end
} loop_mask;

typedef struct {   // map[point] is row: the loop over point walks that row
    tensor_val map;
    tensor_var point, row;
} walked_row;

// The columns of B that lanes hold, in a loop over the columns of matrix operations
// (lower/matrix/matrix.c).
typedef struct {
    const loop_node *node;
    binding at;
} matrix_columns;

// What the nodes around say. Lists grow where a node is entered, and whoever entered it cuts them
// back.
typedef struct {
    binding *var;                   // per variable
    VEC(loop_mask) masks;           // one a loop
    VEC(walked_row) rows;           // of loops
    VEC(matrix_columns) columns;    // of loops
    VEC(const loop_node *) given;   // GIVEN nodes
    VEC(tensor_val) tiles;          // that are filled
} lower_scope;

// ---- What is known ------------------------------------------------------------------------------
typedef struct {   // an expression's values, by instance (lower/scope/known.c)
    bool known;    // its axes are
    axis_set axes;
    simt_value *of;
} memo_cell;

typedef struct {
    tensor_expr expr;
    uint32_t slot;   // UINT32_MAX: the axes became known
} memo_entry;

// A value that the thread has in a register: its home is REGISTERS, or the kernel reads it again.
typedef struct {
    tensor_val val;
    position index[8];
    simt_value value;
} register_value;

// What was computed in the region at hand and those around it. The log says what to forget at its
// end.
typedef struct {
    memo_cell *memo;    // per expression
    memo_cell *spare;   // an empty one, or NULL
    VEC(memo_entry) log;
    VEC(register_value) registers;
} lower_known;

typedef struct {
    uint32_t log, registers;
} region_mark;

// A variable that stands at another position for a while: what it was bound to, and what was known
// then.
typedef struct {
    tensor_var v;
    binding was;
    memo_cell *memo;
    uint32_t log;
} lw_rebinding;

#endif
