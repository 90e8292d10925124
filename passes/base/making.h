// A kernel in the making: matrix operations, how an index is dealt out, windows, tiles, classes of
// rows, its loops, fused stages.
#ifndef GNNC_PLAN_MAKING_H
#define GNNC_PLAN_MAKING_H

#include "base/planner.h"

typedef VEC(loop_node *) loop_list;

typedef enum { MATRIX_NONE, MATRIX_ROWS, MATRIX_COLUMNS, MATRIX_DEPTH } matrix_role;

typedef struct {                          // a sum that `mma` is about
    const schedule_cell *cell, *window;   // window: its rows have windows; NULL: they have not
    simt_mma kind;
    tensor_var rows, columns, depth;   // of the stage
    const tensor_stage *stage;         // the sum
    bool cells;   // rows and columns are those of the windows it is summed in: see
                  // axes/window_walk.c
} plan_matrix;

#define PLAN_OF_CELLS ((tensor_var)(UINT32_MAX - 1))   // which are no variables of the stage

typedef struct {
    const tensor_stage *stage;
    tensor_var var;
    bool bound;
    int64_t block, groups, tile, registers, lanes, vector, unroll;   // 0: no cell
    bool strided, masked, distributed;   // registers; steps written out, twice
    bool uniform;                        // lanes, of positions of several rows
    int64_t pad;                         // what its extent is rounded up to; 0: it is not
    const schedule_cell *cell[SCHEDULE_VERB_COUNT];   // where each comes from
    matrix_role matrix;                               // how lanes and registers are numbered
    simt_mma matrix_kind;
    bool fetches;   // rows of its rounds come into shared memory
    // of its depth or rows, points that a lane has side by side; 0: they are not
    int64_t matrix_run;
} index_cut;

typedef enum {
    ROWS_OF_GRID,
    ROWS_OF_BLOCK,
    ROWS_OF_TILE,
    ROWS_OF_WINDOW,
    EDGES_OF_BLOCK
} row_place;

typedef struct plan_window {   // of rows of a matrix operation: see kernels/window.c
    const schedule_cell *cell;
    int64_t rows, warps;   // that share them
    int64_t slots;         // of a block, where more rows come at a time than by default; else 0
    tensor_var number;     // of the window at hand
    // of entries, in windows that may end early; TENSOR_NO_VAL: each has all its rows
    tensor_val places;
    tensor_expr first;   // row of the window
} plan_window;

typedef struct {   // points whose value of a map is one: see axes/tiles.c
    schedule_cell *cell;
    tensor_val named;   // the map, as the schedule says it
    plan_map map;
    int64_t points, group, round;
    int64_t tiles;       // that a block owns at once, a group of lanes each; 0: it owns one
    tensor_val begins;   // the first tile of each value
    tensor_val values,
        by_size;   // of each tile; of values from the largest on: TENSOR_NO_VAL: as they are
    tensor_var number, rank, value;   // of the tile at hand
} plan_tile;

// An index besides rows whose points the blocks of a fused kernel share out (nests/owned.c).
typedef struct {
    tensor_space space;
    int64_t points;   // that a block owns
    span at;
    VEC(tensor_var) vars;   // of each fused stage
    tensor_expr lo, hi;     // those of the block at hand
} plan_owned;

typedef VEC(plan_owned) owned_list;

typedef struct {
    uint32_t level;   // of the index among left ones
    // positions lo … hi of it are the points; TENSOR_NO_VAL: positions are points
    tensor_val order;
    tensor_expr lo, hi;
    tensor_val counted;   // with `most`: the map that takes at most so many points to each; most 0:
                          // it is not known
    int64_t most;
    const tensor_var *at;   // the position; NULL: a new one
    // positions are what it says of others: the rows that are cut; NULL: they are not
    const tensor_val *by;
    schedule *schedule;   // that deals them out
    row_place place;
    int64_t points;              // ROWS_OF_BLOCK, ROWS_OF_TILE: that the digits cover
    const plan_tile *tile;       // ROWS_OF_TILE
    const plan_window *window;   // ROWS_OF_WINDOW
    loop_node *around;   // EDGES_OF_BLOCK: the loop over the rows they belong to; NULL: they are
                         // walked as one range
    bool everyone;       // dealt out to all threads of the kernel
    const owned_list *owned;   // indices that blocks share out besides rows; NULL: there are none
} row_class;

typedef struct {
    uint32_t stage;
    loop_list outer, inner;   // outermost first; innermost first
    loop_list contracted;     // by a matrix operation, whose lanes are no concern of the others:
                              // their groups are
    bool shuffles;
    // lanes along what is reduced are neighbours, not those along the left-hand index
    bool before;
    bool takes_up;   // states of parts, which are numbers like others, also those of a matrix
                     // operation
} plan_dealing;

typedef struct {   // a kernel in the making: loops of one group, or of several one after the other
    planner *p;
    loop_kernel *kernel;
    const stage_group *group;
    const row_class *rows;   // which points of the outermost index, and in which order
    tensor_var *vars;        // of the deepest stage
    uint32_t depth;
    loop_list levels;   // a loop a variable, outermost first
    loop_node *tiles;   // the loop around the one over the points of a tile; NULL: there are none
    uint32_t tiled;     // of levels: that one
    VEC(plan_dealing) dealings;   // of each walk and stage
    uint32_t dealt;               // of them: before the group's
    loop_list everyone;           // loops that all threads share
} plan_nest;

// The walk of reductions that share one, as the body of `reduce`; the loops made are appended to
// *made.
typedef struct plan_inside {   // what else is done at each point of the first bound variable,
                               // before anything is contributed
    void (*emit)(void *user, loop_body *at);
    void *user;
    const stage_group *points;   // stages that are computed there
} plan_inside;

// What lanes hold of inputs for a tile of the walk (axes/held.c).
typedef struct {
    const tensor_stage *stage;
    tensor_var var;       // of it, that is walked
    uint32_t within;      // bound variables from there on are bound by the loop, or inside
    bool points;          // so are left ones
    const bool *walked;   // keys that no point is tested by; NULL: none
} held_reader;

typedef VEC(held_reader) held_readers;

// A kernel of several phases: blocks own rows, and the points that a map takes to them.
typedef struct {
    stage_group group;
    bool edges;   // over the domain of the map, else over rows, and then stages that follow in a
                  // row's loops
    bool tile;    // copies of inputs
} plan_phase;

typedef struct {
    planner *p;
    const schedule_cell *cell;   // NULL: what is kept asks for it
    span at;
    stage_group stages;   // all of them
    tensor_space rows;
    uint32_t level;   // of the index at which they are fused, among their left ones
    bool mapped;      // there is a map
    plan_map map;
    VEC(plan_phase) phases;
    schedule *whole;   // that fuses; classes of rows are dealt out by others
    bool apart;   // rows of a block lie anywhere: there are classes, or an order and several rows
    const row_class *of;   // of the kernel at hand
    int64_t points;        // rows a block owns
    tensor_expr lo, hi;    // those of the block at hand
    owned_list owned;
} fusion;

typedef enum { KEPT_ANYWHERE, KEPT_REGISTERS, KEPT_SHARED, KEPT_GLOBAL } kept_place;

#endif
