// What is left of the default schedule where a kernel of it was refused: stages that shared the kernel begin kernels of their own,
// rows of one that is refused by itself are dealt out as if none was long, or each of its points has a thread, as by the naive plan.
//     y: apart;   y: flat v, f;  lanes v 32;  groups v 8;  block v 256;
#include "default/default.h"

#include <string.h>

void default_apart(arena *a, const plan_retreat *r, schedule *s) {
    for (uint32_t i = 0; r && i < r->apart.len; i++)
        schedule_fill(a, s, (schedule_cell){.verb = SCHEDULE_APART, .stage = r->apart.data[i]});
}

static bool names(const planner *p, const stage_names *all, const stage_group *g) {
    for (uint32_t i = 0; i < all->len; i++)
        for (uint32_t k = 0; k < g->len; k++)
            if (!strcmp(all->data[i], p->op->stages.data[g->data[k]].name)) return true;
    return false;
}

bool default_retreats(making *m, const stage_group *g) {
    const plan_retreat *r = m->p->facts->retreat;
    const plan_rows rows = m->rows;
    bool simple = r && names(m->p, &r->simple, g), even = !simple && rows != ROWS_EVEN && r && names(m->p, &r->even, g);
    if (simple) default_points(m, g);
    if (!even) return simple;
    m->rows = ROWS_EVEN;
    default_kernel(m, g);
    m->rows = rows;
    return true;
}
