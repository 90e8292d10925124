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
    const default_left left = default_left_of(m->p, st);
    int64_t held = 1;
    for (uint32_t i = 1; i < left.n; i++) {
        index_cut x = default_cut_of(m, st, left.at[i], false);
        held *= plan_or_one(x.vector) * plan_or_one(x.registers);
    }
    return held;
}

bool default_lanes_along(const making *m, const tensor_stage *st, bool deepest) {
    const default_left left = default_left_of(m->p, st);
    if (!deepest) return default_sums_points(m->p, st);
    if (m->hand.dots && default_reduces_dense(m->p, st)) return false;
    return default_has_features(m->p, st) ||
           (m->hand.along && left.n > 1 && default_few(m->p, left.at[left.n - 1], left.at[0]));
}

// ---- As another stage ---------------------------------------------------------------------------
void default_along(making *m, const tensor_stage *dot, const tensor_stage *st) {
    static const schedule_verb verbs[] = {SCHEDULE_GROUPS, SCHEDULE_REGISTERS, SCHEDULE_LANES,
                                          SCHEDULE_VECTOR, SCHEDULE_UNROLL,    SCHEDULE_PAD};
    const planner *p = m->p;
    const default_left from = default_left_of(p, dot), to = default_left_of(p, st);
    for (uint32_t i = 0; i < from.n * COUNT_OF(verbs); i++) {
        const schedule_cell *c = schedule_find(m->s, dot->id, verbs[i / from.n],
                                               p->op->vars.data[from.at[i % from.n]].id);
        if (c && !c->empty)
            schedule_fill(p->arena, m->s, default_move_cell(p, *c, st, to.at[i % from.n]));
    }
}
