// What is left of the default schedule where a kernel of it was refused: stages that shared the
// kernel begin kernels of their own, rows of one that is refused by itself are dealt out as if none
// was long, or each of its points has a thread, as by the naive plan.
//     y: separate;   y: collapse v, f;  lanes v 32;  groups v 8;  block v 256;
#include "default/default.h"
#include "base/base.h"

void default_separate(arena *a, const plan_retreat *r, schedule *s) {
    for (uint32_t i = 0; r && i < r->apart.len; i++)
        schedule_fill(a, s,
                      (schedule_cell){.verb = SCHEDULE_SEPARATE,
                                      .stage = tensor_id_text(a, s->ids, r->apart.data[i]),
                                      .of = r->apart.data[i]});
}

static bool has_some(const planner *p, const stage_ids *all, const stage_group *g) {
    for (uint32_t k = 0; k < g->len; k++)
        if (plan_has_id(all, plan_stage(p, g->data[k])->id)) return true;
    return false;
}

default_retreat default_retreat_of(const planner *p, plan_rows rows, const stage_group *g) {
    const plan_retreat *r = p->facts->retreat;
    if (r && has_some(p, &r->simple, g)) return RETREAT_POINTS;
    return r && rows != ROWS_EVEN && has_some(p, &r->even, g) ? RETREAT_EVEN : RETREAT_NONE;
}
