// How the default schedule deals out the stages of a kernel: alike, as they share its loops. Blocks
// own the rows that their groups and lanes hold. What reduces nothing, and has no axis for lanes,
// has a thread a point.
#include "default/ask/ask.h"
#include "default/ask/limits.h"
#include "default/cells/cells.h"
#include "default/matrix/contraction.h"
#include "default/stages/stages.h"
#include "base/base.h"
#include "kernels/kernels.h"
#include "axes/axes.h"

// ---- What they share ----------------------------------------------------------------------------
// A walk of rows in the kernel has lanes along its features, and so has what shares its loops.
static bool walks_features(const planner *p, const stage_group *g, uint32_t depth) {
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_stage *st = plan_stage(p, g->data[i]);
        if (default_left_of(p, st).n == depth && st->reducer != TENSOR_NO_REDUCER &&
            !default_reduces_dense(p, st) && default_has_features(p, st))
            return true;
    }
    return false;
}

// What only computes, beside a dot product, goes through the points as that does.
static bool goes_along(const planner *p, uint32_t dot, const tensor_stage *st, uint32_t depth) {
    return dot != UINT32_MAX && st->reducer == TENSOR_NO_REDUCER &&
           default_left_of(p, st).n == depth;
}

// Bytes of an element along the last index of those stages that have all indices of the kernel.
static uint32_t widest_of(const planner *p, const stage_group *g, uint32_t depth) {
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < g->len; i++) {
        const default_left left = default_left_of(p, plan_stage(p, g->data[i]));
        if (!left.n || left.n != depth) continue;
        const default_access w = default_widest_access(p, plan_stage(p, g->data[i]),
                                                       left.at[depth - 1]);
        if (w.last && w.bytes > bytes) bytes = w.bytes;
    }
    return bytes;
}

// ---- On a GPU -----------------------------------------------------------------------------------
// Rows of all stages of a kernel are dealt out alike: they get the lanes that every one of them can
// spare.
static void fill_gpu_stages(making *m, const stage_group *g, uint32_t depth) {
    const planner *p = m->p;
    const uint32_t dot = default_dot_of(m, g, depth);
    int64_t rows = DEFAULT_WARP;
    for (uint32_t pass = 0; pass < 2; pass++) {
        bool spare = m->owner == ROW_OF_LANES && rows > 1;
        for (uint32_t i = 0; i < g->len; i++) {
            const tensor_stage *st = &p->op->stages.data[g->data[i]];
            if (goes_along(p, dot, st, depth)) continue;
            int64_t left_over = default_stage(m, st, default_left_of(p, st).n == depth, spare);
            if (!pass && left_over < rows) rows = left_over;
        }
    }
    default_agree_on_heads(m, g, depth);
    default_level_rounds(m, g);
    for (uint32_t i = 0; i < g->len && m->owner == ROW_OF_LANES; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        const default_left left = default_left_of(p, st);
        if (!left.n || default_sums_points(p, st) || goes_along(p, dot, st, depth)) continue;
        default_fill(m, st, SCHEDULE_LANES, left.at[0], rows, NULL);
        default_steps(m, g, st);
    }
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        if (goes_along(p, dot, st, depth)) default_along(m, &p->op->stages.data[dot], st);
    }
}

// ---- On a host ----------------------------------------------------------------------------------
// Blocks go on with each other's points, so none of them is padded.
static bool in_parts(const making *m, const tensor_stage *st) {
    return schedule_find(m->s, st->id, SCHEDULE_BLOCK, m->p->op->vars.data[st->bound[0]].id);
}

static void fill_host_stage(making *m, const tensor_stage *st, bool deepest) {
    const planner *p = m->p;
    const default_left left = default_left_of(p, st);
    const tensor_var last = left.n ? left.at[left.n - 1] : UINT32_MAX;
    default_parts(m, st);
    if (default_lanes_along(m, st, deepest))
        default_fill_share(m, st, last, default_share_axis(m, st, last, 1));
    else if (default_reduces_dense(p, st) && !in_parts(m, st)) {
        axis_share s = default_share_axis(m, st, st->bound[0], 1);
        s.registers = 1;
        default_fill_share(m, st, st->bound[0], s);
    }
}

static void fill_host_stages(making *m, const stage_group *g, uint32_t depth) {
    const planner *p = m->p;
    uint32_t dot = default_dot_of(m, g, depth);
    if (dot == UINT32_MAX) dot = default_columns_of(p, g);
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        if (goes_along(p, dot, st, depth)) default_along(m, &p->op->stages.data[dot], st);
        else fill_host_stage(m, st, default_left_of(p, st).n == depth);
    }
}

// ---- Blocks -------------------------------------------------------------------------------------
// Of a block whose points reduce a dense axis, `points` a turn: as many as take longer than
// starting it.
static int64_t turns(const making *m, int64_t points) {
    if (m->rows == ROWS_MANY_POINTS) return DEFAULT_TURNS;
    return m->rows == ROWS_FEW_POINTS || points >= DEFAULT_DOT_POINTS ? 1
                                                                      : DEFAULT_DOT_POINTS / points;
}

// A block owns the rows its groups and lanes hold, or several rounds of them: all stages of the
// kernel say so.
static void fill_blocks(making *m, const stage_group *g) {
    planner *p = m->p;
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        const default_left left = default_left_of(p, st);
        if (!left.n) continue;
        index_cut c = plan_cut(p, st, left.at[0], false);
        int64_t part = plan_or_one(c.vector) * plan_or_one(c.lanes) * plan_or_one(c.registers) *
                       plan_or_one(c.groups);
        int64_t rounds = p->machine->gpu ? plan_or_one(c.unroll) : p->machine->block_points;
        if (p->machine->gpu && default_is_dot(p, g)) rounds *= turns(m, part * rounds);
        default_fill(m, st, SCHEDULE_BLOCK, left.at[0],
                     m->owner == ROW_OF_BLOCK ? 1 : part * rounds, NULL);
    }
}

// ---- Without reductions -------------------------------------------------------------------------
// Lanes along a short last axis, or one whose extent may be anything, would idle: a thread a point,
// over all axes as one.
static bool collapses(making *m, const stage_group *g) {
    planner *p = m->p;
    const tensor_stage *deepest = plan_stage(p, g->data[g->len - 1]);
    const default_left left = default_left_of(p, deepest);
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_stage *st = plan_stage(p, g->data[i]);
        if (st->reducer != TENSOR_NO_REDUCER || default_left_of(p, st).n != left.n) return false;
    }
    if (!p->machine->gpu || left.n < 2) return false;
    const tensor_var last = left.at[left.n - 1];
    const int64_t extent = default_extent(p, last);
    if (!default_few(p, last, left.at[0])) return true;
    if (!extent) return m->class->multiple == 1 || m->class->to || default_is_side(p, last);
    const axis_share s = default_share_axis(m, deepest, last, DEFAULT_WARP);
    return extent < DEFAULT_WARP && s.lanes * s.vector != extent;
}

void default_points(making *m, const stage_group *g) {
    const planner *p = m->p;
    for (uint32_t i = 0; i < g->len; i++) {
        const tensor_stage *st = &p->op->stages.data[g->data[i]];
        const default_left left = default_left_of(p, st);
        if (!left.n) continue;
        const tensor_var points = left.at[0];
        if (left.n > 1)
            default_say(m, default_cell(SCHEDULE_COLLAPSE, st),
                        default_index_list(p, left.at, left.n));
        default_fill(m, st, SCHEDULE_LANES, points, p->machine->gpu ? DEFAULT_WARP : 1, NULL);
        default_fill(m, st, SCHEDULE_GROUPS, points, p->machine->gpu ? default_groups(p) : 1, NULL);
        default_fill(m, st, SCHEDULE_BLOCK, points,
                     p->machine->gpu ? DEFAULT_WARP * default_groups(p) : p->machine->block_points,
                     NULL);
    }
}

// ---- All of them --------------------------------------------------------------------------------
void default_stages(making *m, const stage_group *g) {
    planner *p = m->p;
    if (default_matrix(m, g) || default_outer_all(m, g)) return;
    if (collapses(m, g)) {
        default_points(m, g);
        return;
    }
    const uint32_t depth = default_left_of(p, plan_stage(p, g->data[g->len - 1])).n;
    m->hand.along = walks_features(p, g, depth);
    // of which one has no features: all of them are dealt out like that
    m->hand.dots = default_dot_of(m, g, depth) != UINT32_MAX;
    m->hand.widest = widest_of(p, g, depth);
    m->hand.length = default_length(p, g, depth);
    if (!p->machine->gpu) fill_host_stages(m, g, depth);
    else if (!default_across(m, g)) fill_gpu_stages(m, g, depth);
    m->hand.along = m->hand.dots = false;
    m->hand.widest = 0;
    m->hand.length = 0;
    schedule *whole = p->s;
    default_nones(m);
    p->s = m->s;
    fill_blocks(m, g);
    p->s = whole;
}
