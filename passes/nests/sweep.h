// A fused walk over the edges of rows (sweep.c) and whether it is legal (sweep_legal.c).
#ifndef GNNC_PLAN_SWEEP_H
#define GNNC_PLAN_SWEEP_H

#include "nests/nests.h"
#include "base/base.h"
#include "kernels/kernels.h"

typedef struct sweep sweep;
struct sweep {
    fusion *f;
    planner *p;
    schedule_ids at;
    const char *index;         // the first of those, for messages
    tensor_space points;       // of the edges
    stage_group edges, rows;   // rows: those before the walk, those that walk, those after it
    uint32_t first, end;       // of rows: those that walk
    uint32_t shared, depth;    // levels that all of them stand in; around the walk
    uint32_t base;             // levels whose lanes come first: see deal
    // of a sum of the walk, where `windowed`: it goes from slots to slots
    plan_matrix windows;
    bool windowed;
    plan_nest *n;     // of the kernel at hand
    loop_list made;   // loops of the walk
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
// Levels that a stage of edges shares with the sums.
uint32_t plan_sweep_depth(const sweep *s, const tensor_stage *st);
// false: a diagnostic tells why the stages cannot share one walk.
bool plan_sweep_legal(sweep *s);

#endif
