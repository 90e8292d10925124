// What is left of the default schedule where a kernel of it was refused: stages that shared the
// kernel begin kernels of their own, rows of one that is refused by itself are dealt out as if none
// was long, or each of its points has a thread, as by the naive plan.
//     y: apart;   y: flat v, f;  lanes v 32;  groups v 8;  block v 256;
#include "default/default.h"
#include "base/base.h"

void default_apart(arena *a, const plan_retreat *r, schedule *s) {
    for (uint32_t i = 0; r && i < r->apart.len; i++)
        schedule_fill(a, s,
                      (schedule_cell){.verb = SCHEDULE_APART,
                                      .stage = tensor_id_text(a, s->ids, r->apart.data[i]),
                                      .of = r->apart.data[i]});
}

static bool has_some(const planner *p, const stage_ids *all, const stage_group *g) {
    for (uint32_t k = 0; k < g->len; k++)
        if (plan_has_id(all, plan_stage(p, g->data[k])->id)) return true;
    return false;
}

bool default_retreats(making *m, const stage_group *g) {
    const plan_retreat *r = m->p->facts->retreat;
    const plan_rows rows = m->rows;
    bool simple = r && has_some(m->p, &r->simple, g),
         even = !simple && rows != ROWS_EVEN && r && has_some(m->p, &r->even, g);
    if (simple) default_points(m, g);
    if (!even) return simple;
    m->rows = ROWS_EVEN;
    default_kernel(m, g);
    m->rows = rows;
    return true;
}
