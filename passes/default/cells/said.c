// What the schedule at hand says of a stage by now: how an index of it is dealt out, and which
// stages have cells of another one.
#include "default/ask/ask.h"
#include "default/cells/cells.h"
#include "base/base.h"
#include "kernels/kernels.h"
#include "axes/axes.h"

index_cut default_cut_of(making *m, const tensor_stage *st, tensor_var v, bool bound) {
    schedule *whole = m->p->s;
    m->p->s = m->s;
    index_cut c = plan_cut(m->p, st, v, bound);
    m->p->s = whole;
    return c;
}

int64_t default_held(making *m, const tensor_stage *st) {
    tensor_var *left = ARENA_ARRAY(m->p->arena, tensor_var, st->nleft + 1);
    uint32_t n = plan_left(m->p, st, left);
    int64_t held = 1;
    for (uint32_t i = 1; i < n; i++) {
        index_cut x = default_cut_of(m, st, left[i], false);
        held *= plan_or_one(x.vector) * plan_or_one(x.registers);
    }
    return held;
}

bool default_lanes_along(const making *m, const tensor_stage *st, const tensor_var *left,
                         uint32_t n, bool deepest) {
    bool along = m->hand.along && n > 1 && deepest && default_few(m->p, left[n - 1], left[0]);
    if (m->hand.dots && deepest && default_reduces_dense(m->p, st)) return false;
    return along || default_has_features(m->p, st, left, n, deepest);
}

// ---- As another stage ---------------------------------------------------------------------------
void default_along(making *m, const tensor_stage *dot, const tensor_stage *st) {
    static const schedule_verb verbs[] = {SCHEDULE_GROUPS, SCHEDULE_REGISTERS, SCHEDULE_LANES,
                                          SCHEDULE_VECTOR, SCHEDULE_UNROLL,    SCHEDULE_PAD};
    const planner *p = m->p;
    tensor_var *from = ARENA_ARRAY(p->arena, tensor_var, dot->nleft + 1),
               *to = ARENA_ARRAY(p->arena, tensor_var, st->nleft + 1);
    uint32_t n = plan_left(p, dot, from);
    plan_left(p, st, to);
    for (uint32_t i = 0; i < n * (sizeof verbs / sizeof *verbs); i++) {
        const schedule_cell *c = schedule_find(m->s, dot->id, verbs[i / n],
                                               p->op->vars.data[from[i % n]].id);
        if (!c || c->empty) continue;
        schedule_fill(p->arena, m->s, default_move_cell(p, *c, st, to[i % n]));
    }
}
