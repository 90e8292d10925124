// A kernel that is lowered from loop IR to SIMT IR, and what it holds on the way: reductions, values in
// registers, copies, rounds.
#ifndef GNNC_LOWER_KERNEL_H
#define GNNC_LOWER_KERNEL_H

#include "lower/scope/instance.h"

// A carry: the key of the run at hand, whether it began before the range, whether there is one.
enum { CARRY_KEY, CARRY_BEFORE, CARRY_OPEN, CARRY_SLOTS };

typedef struct {   // of a reduction: while it is open, slots are carried through loops and branches
    const loop_node *node;
    uint32_t stage;
    const tensor_reducer *r;
    bool open, level;       // level: the factor of its body is left out
    bool product;           // a matrix operation sums it
    axis_set round;         // lanes that go on with one maximum, known in each round of matrix operations
    bool some;              // some: whether anything was combined is a last component
    // Lanes that had a step each of a walk's rounds, and states of their own; extent 0: all had all.
    loop_digit steps;
    bool chained;           // lanes of a vector contribute one after the other to one state
    axis_set left, bound;   // digits of the left variables; of the loops inside
    axis_set copies;        // those that slots are indexed by
    uint32_t masks;         // loops in scope where it began
    VEC(tensor_expr)
    cells;   // of matrix operations, and what is reduced beside them: conditions around, where they hold a
             // cell of rows and depth is not 0
    simt_type *types;       // of components
    uint32_t n;
    simt_value *slot;        // instance × component
    // Of a maximum that slots follow at a distance: by instance, what this lane has met; NULL: of none.
    simt_value *most;
    // A positive constant that its terms are products with, met without it; 0: of none.
    simt_value scale;
    tensor_expr scaled;      // what they are without it
    const loop_node *walk;   // CARRY: the loop over its positions; else NULL
    simt_value run[CARRY_SLOTS], has_before,
        *fresh;   // CARRY: has_before: there are positions before the range
} reduction;

typedef struct {   // a value the thread knows: of home REGISTERS, or of another and read again in the kernel
    tensor_val val;
    position index[8];
    simt_value value;
} register_value;

// Of a loop over the columns of matrix operations, those that lanes hold of B: see lower/matrix/matrix.c.
typedef struct {
    const loop_node *node;
    binding at;
} matrix_columns;

// Rows or a tile that lie in shared memory in a round of a loop in scope: see lower/copies/fetch.c.
typedef struct {
    const loop_node *node;
    const loop_fetch *rows;
    const loop_node *beside;   // of a tile; NULL: rows
    loop_tile tile;
    uint32_t at;        // bytes: of the first buffer
    simt_value buffer;  // i32: bytes from there to the round's
    simt_value
        factors;   // i32: likewise, to those of its rows that were taken apart, f32: see lower/copies/apart.c
    simt_value base, hi;   // of the round
    const struct filling *next;        // whose indices are read while the round goes on; NULL: none
    const simt_value *next_rows;       // those indices
} fetched_rows;

typedef struct {   // where the first buffer of what a loop fetches lies, bytes
    const loop_fetch *of;
    uint32_t at;
} fetched_room;

typedef struct {   // the round at hand of a loop in scope: of the index, which starts there
    const loop_node *node;
    simt_value index, start;
} counted_round;

typedef struct {   // map[point] is row: the loop over point walks that row
    tensor_val map;
    tensor_var point, row;
} walked_row;

struct dealt_steps;

typedef struct {
    lowering *l;
    const loop_kernel *plan;
    simt_func *f;
    simt_type ix;   // of positions
    VEC(program_arg) args;
    VEC(simt_value) values;               // of the args
    bool *written;                        // per value: the kernel stores it, or what shares its memory
    bool *read;                           // per value: the kernel loads it
    // Per value: a kernel before may still use it when this one starts; NULL: none does.
    bool *unsettled;
    // It waits at its end, and before it leaves what parts of rows have found.
    bool waits_to_write;
    bool *held;                           // per value: lanes hold entries of it, or did
    // Per value: what masked steps past the end take for it; NULL: nobody asked.
    double **elsewhere;
    simt_value owner;   // 0, or: only where it holds is memory loaded that the kernel overwrites in place
    uint32_t *shared_at;                  // per value: byte offset + 1
    VEC(fetched_room) fetched_at;         // of what loops fetch, each met
    uint32_t scratch_at, scratch_bytes;   // of the states that groups exchange
    lw_join join;                         // where they did last
    simt_value lane, group, thread;       // i32; of blocks of more than one thread
    VEC(loop_axes) loops;
    lower_axis axis[LOWER_MAX_AXES];
    int32_t at[LOWER_MAX_AXES];   // coordinate at hand of what is written out, or vector lane; -1: not fixed
    uint32_t vector;              // the axis that is the lanes of vectors
    VEC(const loop_node *) block_loops;
    simt_value *block_at;   // per block loop
    binding *var;
    memo_cell *memo, *spare;   // spare: an empty one, or NULL
    VEC(memo_entry) log;
    const simt_value *arg, *left, *right;   // of the reducer expression at hand
    VEC(loop_mask) masks;
    VEC(reduction *) reductions;
    bool *carried;   // per variable: a carry's key says what it is
    VEC(register_value) registers;
    VEC(tensor_val) tiles;   // filled, in scope
    VEC(walked_row) rows;    // of loops in scope
    const bool *even;            // per space: what pads it has no padding; NULL: it may have
    uint32_t within;             // the size of the case at hand; 0: loops go round
    struct dealt_steps *dealt;   // of the loop in scope that deals its steps; NULL: there is none
    VEC(matrix_columns) columns;   // of loops in scope
    VEC(const loop_node *) given;  // GIVEN nodes in scope
    simt_value cell;               // that an entry stands in the cell of a window at hand; 0: no cell is
    simt_region whole;             // where whole warps read a product's first factor; 0: nowhere
    bool again;                    // what is not finite is found once more (lower/loops/again.c)
    axis_set cell_axes;            // that depends on them
    // Of the loop whose round is at hand; NULL: nothing was read a round before.
    const struct read_ahead *ahead;
    VEC(fetched_rows) fetched;     // of loops in scope
    VEC(counted_round) rounds;     // of loops in scope, that go round
} kernel;

typedef struct {
    uint32_t log, registers;
} region_mark;

typedef struct {
    simt_value base, hi;
    bool masked;       // may pass hi
    bool maybe_none;   // there may be no position at all: some other thread of the warp has one
    bool full;         // of a padded loop: it has no padding
    uint32_t whole;    // or its first copies have none
} round_of;

typedef struct {
    axis_set own;
    round_of round;
    // Of a loop that lanes hold entries for:
    simt_value *held;   // entry × register
    simt_value entry;   // of the steps so far, in its register; 0: the first
    simt_value left;    // entries from there on, to some lane of the warp
} loop_round;

typedef VEC(simt_value *) slot_list;

enum { LOWER_MAX_SIZES = LOOP_MAX_SIZES };

typedef struct dealt_steps {
    const loop_node *node;
    const loop_round *round;
    uint32_t axis, unit;   // of the steps; of the lanes that reduce
    // Of a walk (deal_to), which goes back and forth:
    bool there;            // the steps are the lanes' now
    bool been;             // and have been: what follows is what they know
    axis_set apart;        // of loops that steps stand without
    memo_cell *known;
    binding own;
    loop_mask own_mask;
    VEC(register_value) kept;
    // What holds again behind what the lanes do one step each:
    lower_axis written_out;
    memo_cell *memo;
    binding bound;
    loop_mask mask;
    region_mark mark;
} dealt_steps;

typedef struct {
    const kernel *k;
    bool *reads, *writes;   // per value
    uint8_t *seen;
} shared_use;

#endif
