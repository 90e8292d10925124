// A planner for a schedule, and what it refuses: the diagnostic, and the stage that is to blame.
#include "base/base.h"

#include <string.h>

uint32_t plan_id_place(const stage_ids *g, tensor_id stage) {
    uint32_t i = 0;
    while (i + 1 < g->len && g->data[i] != stage) i++;
    return i;
}

static void plan_note_refused(planner *p, const char *text) {
    version_facts *f = p->facts;
    if (f->refused) return;
    f->refused = text;
    f->refused_fused = p->hand.fused;
    for (uint32_t i = 0; p->hand.stages && i < p->hand.stages->len; i++)
        VEC_PUSH(p->arena, &f->refused_group, p->op->stages.data[p->hand.stages->data[i]].id);
    f->refused_at = plan_id_place(&f->refused_group,
                                  p->hand.blamed ? p->hand.blamed->id : TENSOR_ALL);
}

diagnostic *plan_refuse(planner *p, diag_code code, span at, const char *format, ...) {
    p->failed = true;
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(p->arena, format, args);
    va_end(args);
    if (p->s->automatic) {
        plan_note_refused(p, text);
        return NULL;
    }
    return diag(p->ds, code, at, "%s", text);
}

// Whether one of the first n indices is called so. A schedule's text calls f' like f.
static bool has_name(const planner *p, const tensor_stage *st, uint32_t n, const char *name) {
    const size_t length = strcspn(name, "'");
    for (uint32_t i = 0; i < n; i++) {
        const tensor_var v = i < st->nleft ? st->left[i] : st->bound[i - st->nleft];
        const char *own = p->op->vars.data[v].name;
        if (strcspn(own, "'") == length && !strncmp(own, name, length)) return true;
    }
    return false;
}

// y[e] = … sum{e : dst[e] == src[e]} …, as a function that is called makes it: a schedule's text
// could not say which of the two it means.
static void name_apart(planner *p) {
    for (uint32_t s = 0; s < p->op->stages.len; s++) {
        const tensor_stage *st = &p->op->stages.data[s];
        for (uint32_t b = 0; b < st->nbound; b++) {
            tensor_var_info *v = &p->op->vars.data[st->bound[b]];
            const char *name = v->name;
            for (uint32_t k = 2; has_name(p, st, st->nleft + b, v->name); k++)
                v->name = arena_printf(p->arena, "%.*s_%u", (int)strcspn(name, "'"), name, k);
            p->s->canonicalized |= v->name != name;
        }
    }
}

// The step of a recurrence is no index of what a round computes: no loop of a kernel is over it.
static void drop_steps(planner *p) {
    for (uint32_t s = 0; p->op->loops.len && s < p->op->stages.len; s++) {
        tensor_stage *st = &p->op->stages.data[s];
        tensor_var *left = ARENA_ARRAY(p->arena, tensor_var, st->nleft + 1);
        uint32_t n = 0;
        for (uint32_t i = 0; i < st->nleft; i++)
            if (!plan_is_step(p, st, st->left[i])) left[n++] = st->left[i];
        st->left = left, st->nleft = n;
    }
}

planner plan_new(arena *a, diag_set *ds, const tensor_op *op, schedule *s, const machine *m,
                 version_facts *facts) {
    loop_plan *plan = loop_plan_new(a, op);
    planner p = {.arena = a,
                 .ds = ds,
                 .plan = plan,
                 .op = plan->op,
                 .s = s,
                 .machine = m,
                 .facts = facts,
                 .nspaces = op->spaces.len};
    plan->any_strides = facts->any_strides;
    drop_steps(&p);
    if (s->canonical) name_apart(&p);
    return p;
}

void plan_blame(planner *p, const tensor_stage *one, const tensor_stage *other) {
    p->hand.blamed = one > other ? one : other;
}

// Stages that `fuse` names share a kernel whatever is said.
bool plan_may_separate(const planner *p, const tensor_stage *st) {
    return !schedule_find(plan_whole_schedule(p), st->id, SCHEDULE_FUSE, st->id);
}
