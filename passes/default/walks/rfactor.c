// Which sums over all points a walk takes along by default: those that read what is reduced for
// each edge, as other sums of rows do, become sums of what rows give.
//     datt[h] = sum {e} ds[e, h]   →  rfactor datt by src, where a sum of rows by src reads ds, too
#include "default/ask/ask.h"
#include "default/cells/cells.h"
#include "default/walks/walks.h"
#include "base/base.h"
#include "tensor/tensor.h"

typedef struct {
    planner *p;
    tensor_space points;   // what is reduced for each of these is looked for; TENSOR_NO_SPACE: or
    tensor_val map;        // sums of the map's rows
    bool found;
    uint8_t *seen;   // per stage
} looking;

// ---- What it reads ------------------------------------------------------------------------------
static bool follow(void *user, const tensor_node *load) {
    looking *l = user;
    const planner *p = l->p;
    const tensor_val_info *v = &p->op->vals.data[load->imm.i];
    const bool points = l->points != TENSOR_NO_SPACE;
    if (points && (v->role != VAL_STAGE || !v->rank || v->axes[0] != l->points)) return true;
    for (uint32_t i = 0; i < p->op->stages.len && !l->found; i++) {
        const tensor_stage *st = plan_stage(p, i);
        if (st->targets[0].val != (tensor_val)load->imm.i || l->seen[i]) continue;
        l->seen[i] = 1;
        l->found |= points ? st->reducer != TENSOR_NO_REDUCER : default_walked_by(p, i) == l->map;
        if (!l->found) plan_loads(p, st, follow, l);
    }
    return !l->found;
}

static bool finds(planner *p, uint32_t stage, tensor_space points, tensor_val map) {
    looking l = {p, points, map, false, ARENA_ARRAY(p->arena, uint8_t, p->op->stages.len + 1)};
    plan_loads(p, plan_stage(p, stage), follow, &l);
    return l.found;
}

// What is reduced for each point, such as a dot product, at once or through what points make of it.
static bool reads_points(planner *p, uint32_t stage, tensor_space points) {
    return finds(p, stage, points, TENSOR_NO_VAL);
}

// Sums of the map's rows, by whatever stands between.
static bool needs_rows(planner *p, uint32_t stage, tensor_val map) {
    return finds(p, stage, TENSOR_NO_SPACE, map);
}

// ---- Which map ----------------------------------------------------------------------------------
// All sums of rows that read what is reduced for points have loops that begin with its own, or the
// other way round: lanes that share what is reduced are those that the others leave.
static bool has_loops(planner *p, uint32_t stage, tensor_space points) {
    const tensor_stage *st = plan_stage(p, stage);
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        const tensor_stage *sum = plan_stage(p, i);
        tensor_val map = default_walked_by(p, i);
        if (map == TENSOR_NO_VAL || p->op->vals.data[map].axes[0] != points ||
            !reads_points(p, i, points))
            continue;
        for (uint32_t k = 0; k < st->nleft && k + 1 < sum->nleft; k++)
            if (p->op->vars.data[st->left[k]].space != p->op->vars.data[sum->left[k + 1]].space)
                return false;
    }
    return st->nbound == 1;
}

// One whose rows have other sums of what it reads; first one of whose rows it needs no sum, which
// would be final only after their walk.
static tensor_val map_for(planner *p, uint32_t stage) {
    tensor_val last = TENSOR_NO_VAL;
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        tensor_val map = default_walked_by(p, i);
        if (map == TENSOR_NO_VAL || plan_why_no_rows(p, plan_stage(p, stage), map)) continue;
        tensor_space points = p->op->vals.data[map].axes[0];
        if (!reads_points(p, stage, points) || !reads_points(p, i, points) ||
            !has_loops(p, stage, points))
            continue;
        if (!needs_rows(p, stage, map)) return map;
        last = map;
    }
    return last;
}

static void fill(planner *p, schedule *s, uint32_t stage, tensor_val map) {
    making m = {.p = p, .s = s};
    const stage_group alone = default_alone(&stage);
    default_say(&m, default_stage_cell(p, SCHEDULE_RFACTOR, plan_stage(p, stage)),
                default_stage_list(p, &alone), default_by(p, map));
}

tensor_op *default_rfactor(planner *p, schedule *s) {
    for (uint32_t i = 0; i < p->op->stages.len; i++) {
        const tensor_stage *st = plan_stage(p, i);
        bool sum = st->reducer != TENSOR_NO_REDUCER &&
                   p->op->reducers.data[st->reducer].kind == REDUCE_SUM;
        tensor_val map = sum ? map_for(p, i) : TENSOR_NO_VAL;
        if (map != TENSOR_NO_VAL) fill(p, s, i, map);
    }
    p->s = s;
    plan_rfactor(p);
    return p->op;
}
