// Sums in walks of windows: which is one, and the role that an index plays in it.
#include "kernels/kernels.h"
#include "base/base.h"

// ---- The walk -----------------------------------------------------------------------------------
bool plan_walks_at(const planner *p, const schedule_cell *fuse, uint32_t stage) {
    const tensor_stage *st = plan_stage(p, stage);
    const schedule_ids index = plan_fused_at(fuse);
    return index.n && st->reducer != TENSOR_NO_REDUCER && st->nbound == 1 &&
           plan_fuses(p, fuse, stage) && plan_is_among(p, index, st->bound[0]);
}

static const schedule_cell *walk_of(const planner *p, uint32_t stage) {
    const schedule_cell *fuse = plan_fuse_cell(p, stage);
    return fuse && schedule_value_of(fuse, "at") ? fuse : NULL;
}

// What its entries sum is a product, though nothing of the walk is.
static bool sums_beside(const planner *p, const schedule_cell *walk, uint32_t stage,
                        plan_matrix *m) {
    const tensor_stage *st = plan_stage(p, stage);
    tensor_var row = 0;
    schedule_cell *window = plan_window_cell(p, st, &row);
    if (window && !plan_walks_at(p, walk, stage)) return false;
    for (uint32_t i = 0; window && i < p->op->stages.len; i++) {
        const schedule_cell *other = walk_of(p, i);
        if (!other || !plan_same_statement(other, walk) ||
            !plan_matrix_of(p, plan_stage(p, i), m) || !m->cells)
            continue;
        *m = (plan_matrix){.cell = m->cell,
                           .window = window,
                           .kind = m->kind,
                           .rows = row,
                           .columns = PLAN_OF_CELLS,
                           .depth = st->bound[0],
                           .stage = st};
        return true;
    }
    return false;
}

bool plan_windowed(const planner *p, uint32_t stage, plan_matrix *m) {
    if (!schedule_says(p->s, SCHEDULE_WINDOW)) return false;
    const schedule_cell *walk = stage < p->op->stages.len ? walk_of(p, stage) : NULL;
    for (uint32_t i = 0; walk && i < p->op->stages.len; i++)
        if (plan_matrix_of(p, plan_stage(p, i), m) && m->window && plan_walks_at(p, walk, i))
            return true;
    for (uint32_t i = 0; walk && i < p->op->stages.len; i++)
        if (sums_beside(p, walk, i, m)) return true;
    return false;
}

// Whoever walks the entries, stands at one, or at a row of theirs.
matrix_role plan_window_role(const planner *p, uint32_t stage, tensor_var v, plan_matrix *m) {
    if (!plan_windowed(p, stage, m)) return MATRIX_NONE;
    const tensor_stage *st = plan_stage(p, stage);
    const schedule_cell *walk = walk_of(p, stage);
    bool first = st->nleft && st->left[0] == v, walks = plan_walks_at(p, walk, stage);
    if (walks && v == st->bound[0]) return MATRIX_DEPTH;
    if (!first) return MATRIX_NONE;
    return walks || !plan_is_among(p, plan_fused_at(walk), v) ? MATRIX_ROWS : MATRIX_DEPTH;
}

tensor_var plan_window_slot(const loop_node *reduce) {
    const loop_node *n = reduce->body.data[0], *inside = n->body.data[0];
    return inside->kind == LOOP_FOR ? inside->var : n->var;
}
