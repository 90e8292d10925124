// Which stages a statement fuses, and their order: those of one statement stand next to each other, what they
// need before them and what needs them after.
//     fuse a, d at v   →  a b c d becomes b a d c where d reads b and c reads a
#include "planner.h"

#include <string.h>

const schedule_cell *plan_fuse_cell(const planner *p, uint32_t stage) {
    const char *name = p->op->stages.data[stage].name;
    return schedule_find(p->s, name, SCHEDULE_FUSE, name);
}

// Whether one statement fuses it: each stage that a list names has a cell, which holds the whole list.
bool plan_fuses(const planner *p, const schedule_cell *c, uint32_t stage) {
    const schedule_value *list = schedule_value_of(c, "stages");
    const char *name = p->op->stages.data[stage].name;
    for (uint32_t i = 0; list && i < list->nnames; i++)
        if (schedule_covers(list->names[i], name)) return plan_fuse_cell(p, stage) != NULL;
    return !list && schedule_covers(c->subject, name);
}

bool plan_reads_stage(const planner *p, uint32_t reader, uint32_t writer) {
    const tensor_stage *w = &p->op->stages.data[writer];
    for (uint32_t t = 0; t < w->ntargets; t++)
        if (plan_read_by(p, reader, w->targets[t].val)) return true;
    return false;
}

static bool reads_any(const planner *p, uint32_t reader, const stage_group *writers) {
    for (uint32_t i = 0; i < writers->len; i++)
        if (plan_reads_stage(p, reader, writers->data[i])) return true;
    return false;
}

static void stands_between(planner *p, const schedule_cell *c, uint32_t stage, const stage_group *after) {
    const char *between = "a recurrence";
    for (uint32_t i = 0; i < after->len; i++)
        if (plan_reads_stage(p, stage, after->data[i])) between = p->op->stages.data[after->data[i]].name;
    const tensor_stage *st = &p->op->stages.data[stage];
    diagnostic *d = plan_refuse(
        p, E0551, c->at, "'%s' cannot be fused: '%s', which it reads, is computed between the fused stages",
        st->name, between);
    if (!d) return;
    diag_note(d, st->at, "'%s'", st->name);
    diag_help(d, "fuse '%s' with them, or fuse without '%s'", between, st->name);
}

// Stages from `first` on that c fuses, those between that do not read them before, the others after.
static void gather(planner *p, const schedule_cell *c, uint32_t first, uint32_t last, stage_group *out,
                   bool *taken) {
    stage_group fused = {0}, after = {0};
    for (uint32_t i = first; i <= last; i++) {
        if (taken[i]) continue;
        taken[i] = true;
        bool in = !plan_inlined(p, i) && plan_fuses(p, c, i);
        bool late = reads_any(p, i, &after), recurrent = p->op->stages.data[i].loop != TENSOR_NO_LOOP;
        if ((in && late) || (recurrent && last > first)) stands_between(p, c, i, &after);
        if (in) VEC_PUSH(p->arena, &fused, i);
        else if (late || reads_any(p, i, &fused)) VEC_PUSH(p->arena, &after, i);
        else VEC_PUSH(p->arena, out, i);
    }
    for (uint32_t i = 0; i < fused.len; i++) VEC_PUSH(p->arena, out, fused.data[i]);
    for (uint32_t i = 0; i < after.len; i++) VEC_PUSH(p->arena, out, after.data[i]);
}

static void permute(planner *p, const stage_group *order) {
    tensor_stage *old = ARENA_ARRAY(p->arena, tensor_stage, order->len + 1);
    uint32_t *to = ARENA_ARRAY(p->arena, uint32_t, order->len + 1);
    for (uint32_t i = 0; i < order->len; i++) old[i] = p->op->stages.data[i];
    for (uint32_t i = 0; i < order->len; i++) {
        p->op->stages.data[i] = old[order->data[i]];
        to[order->data[i]] = i;
    }
    for (uint32_t v = 0; v < p->plan->values.len; v++)
        if (p->plan->values.data[v].home == LOOP_INLINE)
            p->plan->values.data[v].stage = to[p->plan->values.data[v].stage];
}

void plan_fuse_order(planner *p) {
    stage_group order = {0};
    uint32_t n = p->op->stages.len;
    bool *taken = ARENA_ARRAY(p->arena, bool, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        const schedule_cell *c = taken[i] || plan_inlined(p, i) ? NULL : plan_fuse_cell(p, i);
        uint32_t last = i;
        for (uint32_t k = i; c && k < n; k++)
            if (!plan_inlined(p, k) && plan_fuses(p, c, k)) last = k;
        if (c) gather(p, c, i, last, &order, taken);
        else if (!taken[i]) VEC_PUSH(p->arena, &order, i);
        taken[i] = true;
    }
    permute(p, &order);
}
