// What the planner keeps while it makes a loop plan from tensor IR and a schedule. What a kernel in
// the making consists of stands in base/making.h.
#ifndef GNNC_PLANNER_H
#define GNNC_PLANNER_H

#include "plan.h"

typedef VEC(uint32_t)
    // stages of one kernel, in order; the loops of one are a prefix of the next one's
    stage_group;

typedef struct {
    tensor_val map;   // a parameter, classes or a prepared composition
    bool sorted;
    tensor_space domain, into;
} plan_map;

typedef enum {
    PART_RANGE,   // of all points
    PART_TILE,    // of a row, by a prepared table
    // of a row that is cut, or all of one that is not, by a prepared table: see axes/cut_rows.c
    PART_ROW,
    PART_RUNS   // a range of positions sorted by their rows: runs of rows
} part_kind;

typedef struct {         // rows that are cut: see axes/cut_rows.c
    tensor_val row_of;   // of each part
    tensor_val heads;    // the first part of each row that is cut
    tensor_expr parts;   // how many parts belong to those
    tensor_var head;     // which of those rows
} part_rows;

typedef struct {                  // runs of positions of one row: see axes/runs.c
    uint32_t key;                 // of the stage: that says which row, by the part's map
    tensor_var row, begin, end;   // its positions
    int64_t points, groups;       // of a participant; participants of a block
    int64_t rows, lanes;          // groups of the second kernel's rows; lanes of each
    const tensor_expr *last;      // loads: the run cut at its end; states: at its begin
} part_runs;

typedef struct {   // of a reduction across blocks: see nests/parts.c
    uint32_t stage;
    tensor_var var;   // the bound variable that is cut
    tensor_var part;
    part_kind kind;
    bool atomic;              // it is combined with the result in memory, and leaves no state
    tensor_expr lo, hi;       // its points in a part
    tensor_expr first, end;   // parts of a row
    uint32_t nstates;
    const tensor_expr *states;   // loads, at the part
    tensor_expr valid;           // whether anything was contributed to it; 0: it does not matter
    plan_map map;                // of rows that are cut, and of runs
    part_rows cutting;           // ROW
    part_runs run;               // RUNS
} plan_part;

typedef struct {   // made of one the op has; two of those may bear one name
    uint32_t of, made;
    // its last component says whether anything was contributed: see nests/parts.c
    bool some;
    ir_dtype args, state;   // or it takes and holds floats of these types: see tensor/types.c
} made_reducer;

// a left index whose points are all held while a reduced one is walked: see axes/loops.c
typedef struct {
    tensor_var var, around;
    const schedule_cell *cell;
} loop_inside;

typedef struct {       // rows of the group at hand that are specialized: see kernels/specialize.c
    loop_node *loop;   // NULL: there are none
    const schedule_cell *cell;   // that says so
    tensor_stage stage;          // the first that walks it
    bool apart;                  // threads of a block have rows of their own
    tensor_val counted;   // takes at most so many points to each of the rows; 0: that is not known
    int64_t most;
} plan_specialized;

typedef struct {   // parts of reductions of the kernel at hand: see nests/parts.c
    VEC(plan_part) parts;
    bool leaving;          // it is the one that walks points and leaves states
    bool clearing;         // or the one that clears what blocks add to, of a kernel of other loops
    int64_t more_groups;   // it takes up rows of many parts, by so many times the groups; 0: it
                           // does not
    uint32_t taken_up;   // the step from which on rows that are cut are taken up; UINT32_MAX: there
                         // is none
    // a left variable that the key says, while its runs are walked; NULL: none
    const tensor_var *carried;
} plan_cutting;

typedef struct {
    arena *arena;
    diag_set *ds;
    loop_plan *plan;
    tensor_op *op;   // the plan's
    schedule *s;
    const machine *machine;
    version_facts *facts;
    struct {
        uint64_t verified;   // tensor_op_mark of the op that was verified last; 0: none was
        struct inlined_stages *inlined;   // see tensor/inlined.c; NULL: none was asked for
    } of_op;
    uint32_t nspaces;    // of the op as it came; later ones are the plan's own
    uint32_t inserted;   // stages added before those still to come
    bool failed;         // a refusal was reported
    // equations are for the default alone, to see which stages share a kernel: reductions are not
    // taken apart
    bool alone;
    struct {
        const stage_group *stages;   // of the kernel that is made; NULL: none is
        bool fused;                  // a statement fuses them
        // of those, whose numbers do not go with another one's; NULL: the last
        const tensor_stage *blamed;
    } hand;
    plan_specialized specialized;
    plan_cutting cut;
    schedule *whole;   // of classes that are dealt out at hand: the one with the bucket; NULL:
                       // there are none
    VEC(made_reducer) reducers;   // of those of the op, each once
    struct {
        const struct plan_window *of;     // of the kernel at hand; NULL: there are none
        tensor_var row;                   // of the loop over the rows of one
        const struct plan_cells *cells;   // of the walk at hand; NULL: it is of no windows
    } windows;
    struct {   // of the kernel at hand
        VEC(loop_inside) inside;
        VEC(struct held_loop *) held;                 // see axes/held.c
        VEC(struct distributed_loop *) distributed;   // see axes/distributed.c
    } loops;
    // of a fused kernel: a stage that is added moves later ones up in all of them
    VEC(stage_group *) live;
} planner;

#endif
