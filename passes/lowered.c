// Versions that are planned become kernels: all of them, or the one that the caller takes.
#include "planning.h"

#include <string.h>

static void push_all(arena *a, program *p, const plan_versions *v, program_version naive) {
    p->versions.len = 0;
    for (uint32_t i = 0; i < v->of.len; i++) VEC_PUSH(a, &p->versions, v->of.data[i]);
    VEC_PUSH(a, &p->versions, naive);
}

bool plan_take(arena *a, const program *naive, const plan_versions *v, const pass_options *o,
               uint32_t *taken) {
    *taken = PASS_ALL;
    if (!o->taker.take) return true;
    program asked = *naive;
    memset(&asked.versions, 0, sizeof asked.versions);
    push_all(a, &asked, v, naive->versions.data[0]);
    return o->taker.take(o->taker.user, &asked, taken);
}

static void lower(arena *a, program *p, const machine *m, plan_versions *v, uint32_t i,
                  const pass_options *o) {
    const plan_version *of = &v->plans.data[i];
    lower_plan(a, of->plan, p, &v->of.data[i],
               &(lower_options){m, o->index_bits, of->narrow, o->after.verify});
    pass_spent(&o->after, "lower");
}

program *plan_lower(arena *a, const tensor_op *op, program *naive, const machine *m,
                    plan_versions *v, uint32_t taken, const pass_options *o) {
    program *p = naive;
    if (taken < v->of.len) {
        p = program_start(a, op, o);
        lower(a, p, m, v, taken, o);
        VEC_PUSH(a, &p->versions, v->of.data[taken]);
    } else if (taken == PASS_ALL) {
        for (uint32_t i = 0; i < v->of.len; i++) lower(a, p, m, v, i, o);
        push_all(a, p, v, naive->versions.data[0]);
    }
    pass_done(&o->after, "lower", &(pass_state){.program = p});
    return p;
}
