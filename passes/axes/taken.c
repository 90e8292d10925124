// The kernel that takes up what parts of a reduction left: how its results, and the parts, are
// dealt out.
//     for f … { reduce y { for b in 0 .. size(N.by4096) … { contribute y (y.N.by4096.0[b, f]) } }  store y }
#include "axes/axes.h"
#include "base/base.h"
#include "kernels/kernels.h"
#include "tensor/tensor.h"

bool plan_takes_up(const planner *p, const tensor_stage *st) {
    return !p->cut.leaving && plan_part_of(p, (uint32_t)(st - p->op->stages.data));
}

// Parts of all points leave as many states as a block has results: by the default few of those are
// a block's, so that all of the machine reads them.
bool plan_spreads(const planner *p) {
    if (p->cut.leaving || !p->cut.parts.len || !p->s->automatic || !p->machine->gpu) return false;
    const plan_part *part = &p->cut.parts.data[0];
    plan_matrix m;
    return part->kind == PART_RANGE && !part->atomic &&
           !plan_matrix_of(p, &p->op->stages.data[part->stage], &m);
}

// Of an index, lanes that read a sector.
static int64_t spread_lanes(index_cut c) {
    enum { SECTOR = 8 };
    return c.lanes > SECTOR ? SECTOR : plan_or_one(c.lanes);
}

index_cut plan_spread(index_cut c) {
    c.registers = c.vector = c.tile = c.unroll = 0;
    c.lanes = spread_lanes(c);
    c.block = c.lanes * plan_or_one(c.groups);
    return c;
}

// The lanes that its results leave.
static void spread_parts(planner *p, const tensor_stage *st, index_cut *c) {
    int64_t lanes = p->machine->lanes;
    tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, st->nleft + 1);
    uint32_t n = plan_left(p, st, left);
    if (!plan_spreads(p) || !p->op->reducers.data[st->reducer].commutative) return;
    for (uint32_t i = 0; i < n; i++) lanes /= spread_lanes(plan_cut(p, st, left[i], false));
    c->lanes = lanes;
}

// Sums of a matrix operation are numbers in memory then: lanes have neighbouring columns, and a
// block one row of them, so that many blocks read what there may be few rows of (the weights of 90
// types, each of many parts).
index_cut plan_taken_sums(const planner *p, index_cut c) {
    const tensor_space_info *s = &p->op->spaces.data[p->op->vars.data[c.var].space];
    int64_t lanes = p->machine->lanes, vector = plan_or_one(c.vector);
    while (s->kind == SPACE_CONST && lanes > 1 && lanes / 2 * vector >= s->size) lanes /= 2;
    bool columns = c.matrix == MATRIX_COLUMNS, blocks = c.block > 0 || !columns;
    c.matrix = MATRIX_NONE;
    c.groups = c.registers = c.tile = c.unroll = c.matrix_run = 0;
    c.lanes = columns ? lanes : 0;
    c.block = !blocks ? 0 : columns ? lanes * vector : 1;
    return c;
}

// What is said of the indices is about the loops that add to the rows: here lanes have the last
// one's points, and groups rows.
index_cut plan_cleared_cut(const planner *p, index_cut c, uint32_t level, uint32_t depth) {
    enum { GROUPS = 8 };
    const tensor_space_info *s = &p->op->spaces.data[p->op->vars.data[c.var].space];
    int64_t lanes = p->machine->lanes, groups = GROUPS;
    if (!p->machine->gpu || (c.lanes && level + 1 == depth)) return c;
    while (s->kind == SPACE_CONST && lanes > 1 && lanes / 2 >= s->size) lanes /= 2;
    c.registers = c.vector = c.tile = c.unroll = 0;
    c.lanes = level + 1 == depth ? lanes : 0;
    c.groups = level ? 0 : groups;
    c.block = level ? 0 : groups * plan_or_one(c.lanes);
    return c;
}

// And groups have its parts, several of which they load at once.
static void deal_states(const planner *p, const tensor_stage *st, index_cut *c) {
    enum { GROUPS = 8, AT_ONCE = 4 };
    if (c->matrix == MATRIX_NONE) return;
    c->matrix = MATRIX_NONE;
    c->lanes = c->matrix_run = 0;
    c->groups = p->op->reducers.data[st->reducer].commutative ? GROUPS : 0;
    c->unroll = AT_ONCE;
    c->masked = true;
}

// Parts are dealt out to the groups and lanes that had points.
void plan_take_parts(planner *p, const uint32_t *stages, uint32_t n, loop_node *reduce,
                     loop_list *made) {
    const plan_part *first = plan_part_of(p, stages[0]);
    const tensor_stage *st = &p->op->stages.data[stages[0]];
    if (first->kind == PART_RUNS) {
        plan_take_runs(p, first, reduce);
        return;
    }
    index_cut c = plan_cut(p, st, first->var, true);
    c.block = c.tile = c.registers = c.vector = 0;
    c.distributed = false;
    if (first->kind == PART_ROW) plan_taken_parts(p, st, &c);
    deal_states(p, st, &c);
    spread_parts(p, st, &c);
    loop_node *walk = loop_node_new(p->plan, LOOP_FOR, st->at);
    walk->var = first->part;
    walk->lo = first->first;
    walk->hi = first->end;
    plan_digits(p, &c, walk);
    VEC_PUSH(p->arena, made, walk);
    loop_append(p->plan, &reduce->body, walk);
    for (uint32_t i = 0; i < n; i++) {
        const plan_part *part = plan_part_of(p, stages[i]);
        loop_node *add = plan_states(p, LOOP_CONTRIBUTE, part);
        add->state.valid = part->valid;
        plan_part_maxima(p, stages[i], add);
        loop_append(p->plan, &walk->body, add);
    }
}
