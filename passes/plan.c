// A loop plan from an op and a schedule: which stages make a kernel, and the kernels in their
// order.
#include "illegal.h"
#include "base/base.h"
#include "kernels/kernels.h"
#include "tensor/tensor.h"
#include "axes/axes.h"
#include "nests/nests.h"
#include "loop/loop.h"
#include "planning.h"

#include <stdarg.h>
#include <string.h>

static void flush(planner *p, stage_group *g) {
    p->hand.stages = g;
    if (g->len && !p->failed && !plan_refused_for_tests(p)) plan_kernel(p, g);
    p->hand.stages = NULL;
    *g = (stage_group){0};
}

static void add_step(planner *p, loop_step_kind kind, uint32_t loop) {
    VEC_PUSH(p->arena, &p->plan->steps, ((loop_step){.kind = kind, .loop = loop}));
}

// One kernel of the stages from `first` on that a statement fuses; gives the last.
static uint32_t fused(planner *p, const schedule_cell *c, uint32_t first) {
    stage_group g = {0};
    uint32_t last = first, before = p->inserted;
    for (uint32_t i = first; i < p->op->stages.len; i++) {
        if (plan_inlined(p, i) || !plan_fuses(p, c, i)) continue;
        VEC_PUSH(p->arena, &g, i);
        last = i;
    }
    p->hand.stages = &g;
    p->hand.fused = true;
    if (!plan_refused_for_tests(p)) plan_fusion(p, &g, c);
    p->hand.stages = NULL;
    p->hand.fused = false;
    return last + (p->inserted - before);
}

void plan_kernels(planner *p) {
    plan_fuse_order(p);
    uint32_t loop = TENSOR_NO_LOOP;
    stage_group group = {0};
    for (uint32_t next = 0; next + p->inserted < p->op->stages.len; next++) {
        uint32_t i = next + p->inserted, inside = p->op->stages.data[i].loop;
        if (plan_inlined(p, i)) continue;
        const schedule_cell *fuse = plan_fuse_cell(p, i);
        if (fuse || !plan_joins(p, &group, i) || inside != loop) flush(p, &group);
        i = next + p->inserted;
        if (inside != loop) {
            if (loop != TENSOR_NO_LOOP) add_step(p, LOOP_ROUNDS_END, loop);
            if (inside != TENSOR_NO_LOOP) add_step(p, LOOP_ROUNDS, inside);
        }
        loop = inside;
        if (!fuse) VEC_PUSH(p->arena, &group, i);
        uint32_t last = fuse ? fused(p, fuse, i) : i;
        next = last - p->inserted;
    }
    flush(p, &group);
    if (loop != TENSOR_NO_LOOP) add_step(p, LOOP_ROUNDS_END, loop);
}

static bool stores_some(const planner *p, const loop_kernel *k) {
    const loop_uses uses = loop_uses_of(p->arena, p->plan, k);
    bool some = false;
    for (tensor_val v = 0; v < p->op->vals.len; v++) some |= uses.writes[v];
    return some;
}

static void note_stored(const loop_body *body, bool *stored) {
    for (uint32_t i = 0; i < body->len; i++) {
        const loop_node *n = body->data[i];
        note_stored(&n->body, stored);
        for (uint32_t s = 0; n->kind == LOOP_STORE && s < n->nstages; s++)
            stored[n->stages[s]] = true;
    }
}

// What no kernel holds is computed nowhere.
static void forget(planner *p, uint32_t stage) {
    const tensor_stage *st = &p->op->stages.data[stage];
    for (uint32_t t = 0; t < st->ntargets; t++)
        p->plan->values.data[st->targets[t].val] = (loop_value){.home = LOOP_INLINE,
                                                                .stage = stage};
}

// A reduction that only a stage reads which nobody reads, and is computed nowhere, stays in
// registers: its kernel would store nothing.
void plan_drop_idle(planner *p) {
    uint32_t kept = 0;
    bool *before = ARENA_ARRAY(p->arena, bool, p->op->stages.len + 1),
         *after = ARENA_ARRAY(p->arena, bool, p->op->stages.len + 1);
    for (uint32_t i = 0; i < p->plan->steps.len; i++) {
        const loop_step step = p->plan->steps.data[i];
        bool launch = step.kind == LOOP_LAUNCH, idle = launch && !stores_some(p, step.kernel);
        if (launch) note_stored(&step.kernel->body, idle ? before : after);
        if (!idle) p->plan->steps.data[kept++] = step;
    }
    p->plan->steps.len = kept;
    for (uint32_t s = 0; s < p->op->stages.len; s++)
        if (before[s] && !after[s]) forget(p, s);
}

static bool plan_make(planner *p) {
    return plan_equations(p, true) && plan_run(p, PASS_PLAN) && plan_run(p, PASS_LOOPS) &&
           plan_run(p, PASS_CHECK);
}

loop_plan *plan_try(arena *a, diag_set *ds, const tensor_op *op, schedule *s, const machine *m,
                    version_facts *facts, const char **fault) {
    planner p = plan_new(a, ds, op, s, m, facts);
    if (!plan_make(&p)) return NULL;
    *fault = loop_verify(a, p.plan);
    return p.plan;
}

loop_plan *plan_build(arena *a, diag_set *ds, const tensor_op *op, schedule *s, const machine *m,
                      version_facts *facts) {
    const version_facts asked = *facts;
    planner p = plan_new(a, ds, op, s, m, facts);
    if (!plan_make(&p)) return NULL;
    const char *fault = loop_verify(a, p.plan);
    if (fault && s->automatic && !plan_written(s))
        ICE("%s: schedule '%s' made loop IR that does not verify: %s", op->name, s->name, fault);
    if (fault && s->automatic) return facts->refused = fault, NULL;
    if (fault) return plan_report_illegal(&p, op, &asked, fault), NULL;
    return p.plan;
}
