// A fused walk over the edges of rows (sweep.c) and whether it is legal (sweep_legal.c).
#ifndef GNNC_PLAN_SWEEP_H
#define GNNC_PLAN_SWEEP_H

#include "nests/nests.h"
#include "base/base.h"
#include "kernels/kernels.h"

// A loop around the walk: of stages that begin with the same spaces up to there.
#define SWEEP_NO_LOOP UINT32_MAX
typedef struct {
    tensor_space space;
    uint32_t around;      // the loop it stands in; SWEEP_NO_LOOP: it is that of the rows
    uint32_t level;       // of its index among left ones
    bool walked;          // sums of the walk stand in it
    stage_group stages;   // that do
    loop_node *node;      // of the kernel at hand
} sweep_loop;

typedef struct {
    uint32_t stage, at;   // its innermost loop around
    loop_list own;        // loops of its own
} sweep_dealing;

typedef struct sweep sweep;
struct sweep {
    fusion *f;
    planner *p;
    schedule_ids at;
    const char *index;         // the first of those, for messages
    tensor_space points;       // of the edges
    stage_group edges, rows;   // rows: those before the walk, those that walk, those after it
    uint32_t first, end;       // of rows: those that walk
    VEC(sweep_loop) loops;     // those of the deepest sum first
    bool apart;                // sums have indices that others have not, nor begin with
    uint32_t shared, depth;    // levels that all of them stand in; of the deepest sum
    uint32_t base;             // levels whose lanes come first: see deal
    // of a sum of the walk, where `windowed`: it goes from slots to slots
    plan_matrix windows;
    bool windowed;
    plan_nest *n;                // of the kernel at hand
    loop_list made;              // loops of the walk
    VEC(sweep_dealing) before;   // what comes before it, until it is made
};

static inline const tensor_stage *sweep_edge(const sweep *s, uint32_t i) {
    return plan_stage(s->p, s->edges.data[i]);
}
static inline const tensor_stage *sweep_row(const sweep *s, uint32_t i) {
    return plan_stage(s->p, s->rows.data[i]);
}
static inline tensor_space sweep_space(const sweep *s, tensor_var v) {
    return s->p->op->vars.data[v].space;
}

// Whether a stage sums up edges of a row on the walk; whether it is of edges.
bool plan_sweep_walks(const sweep *s, const tensor_stage *st);
bool plan_sweep_of_edges(const sweep *s, const tensor_stage *st);
const char *plan_sweep_row_name(const sweep *s);   // of the index of its rows
// Says that a stage is not fused; NULL: nothing is said any more.
diagnostic *plan_sweep_cannot(sweep *s, const tensor_stage *st);
void plan_sweep_add(sweep *s, stage_group *to, uint32_t stage);   // behind those no deeper
// false: a diagnostic tells why the stages cannot share one walk.
bool plan_sweep_legal(sweep *s);
// sums may have indices of their own as the schedule of the rows at hand has it
bool plan_sweep_may_be_apart(sweep *s);

// ---- sweep_loops.c ------------------------------------------------------------------------------
// Gives a stage that finds no loops; NULL: all do.
const tensor_stage *plan_sweep_loops(sweep *s);
// The loop that a stage of edges shares with the sums, and its levels so far.
uint32_t plan_sweep_at(const sweep *s, const tensor_stage *st, uint32_t *matched);
const tensor_stage *plan_sweep_sum(const sweep *s, uint32_t loop);   // the last that stands in it
uint32_t plan_sweep_own(const sweep *s, const tensor_stage *st);   // the innermost of a row's stage
bool plan_sweep_around(const sweep *s, uint32_t outer, uint32_t inner);   // or the same one
// Stages of rows that the kernel of the sums which end there has, where each has its own.
stage_group plan_sweep_ending(const sweep *s, uint32_t loop);
void plan_sweep_deal(sweep *s, uint32_t stage, uint32_t at, bool walked, const loop_list *own);
// Without the loops that a stage does not stand in; without those beside its own.
loop_body *plan_sweep_leave_out(sweep *s, const tensor_stage *st, uint32_t own, loop_body *at);
loop_body *plan_sweep_leave_beside(sweep *s, const tensor_stage *st, loop_body *at);

#endif
