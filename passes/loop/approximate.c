// Exponentials of a kernel by the GPU's own instruction, of which two operations make one where the
// library's take twelve to eighteen (lower/values/exponential.c). The check allows for what they
// are off. Factors by which sums are rescaled are not among them: a sum may have many of these, and
// so what all of them are off.
//     approximate;  →  kernel y threads 128 lanes 32 approximate { … }
#include "base/base.h"
#include "tensor/tensor.h"
#include "loop/loop.h"

#include <stdlib.h>
#include <string.h>

// Each expression once, as what shares others may be a tree of any size.
static void find_exponentials(const planner *p, tensor_expr e, bool narrow, plan_having *has) {
    const tensor_node *n = tensor_node_at(p->op, e);
    if (has[e] != PLAN_NOT_SEEN) return;
    const ir_dtype type = tensor_typeof(p->op, e).type;
    const bool is = narrow ? ir_dtype_is_narrow(type) : ir_dtype_holds(DT_F32, type);
    has[e] = n->op == TENSOR_EXP_OP && is ? PLAN_HAS : PLAN_HAS_NOT;
    for (uint32_t i = 0; i < n->nargs; i++) {
        find_exponentials(p, n->args[i], narrow, has);
        if (has[n->args[i]] == PLAN_HAS) has[e] = PLAN_HAS;
    }
}

const plan_having *plan_exponentials(const planner *p, tensor_expr e) {
    plan_having *has = ARENA_ARRAY(p->arena, plan_having, p->op->exprs.len + 1);
    find_exponentials(p, e, false, has);
    return has;
}

static bool stage_has(planner *p, uint32_t stage, bool narrow) {
    const tensor_stage *st = &p->op->stages.data[stage];
    bool has = false;
    for (uint32_t i = 0; i < st->nbody && !has; i++) {
        tensor_expr e = plan_inline_loads(p, p->op->stages.data[stage].body[i]);
        const size_t bytes = sizeof(plan_having) * (p->op->exprs.len + 1);
        plan_having *of = memset(xmalloc(bytes), 0, bytes);
        find_exponentials(p, e, narrow, of);
        has = of[e] == PLAN_HAS;
        free(of);
    }
    return has;
}

bool plan_stage_has_exponential(planner *p, uint32_t stage) { return stage_has(p, stage, false); }

// narrow: of 16 bits, which a stage asked for that may be computed where it is read
static bool any_exponential(planner *p, const loop_body *body, bool narrow) {
    bool any = false;
    for (uint32_t i = 0; i < body->len && !any; i++) {
        const loop_node *n = body->data[i];
        any = any_exponential(p, &n->body, narrow);
        for (uint32_t k = 0; k < n->nstages && !any; k++) any = stage_has(p, n->stages[k], narrow);
    }
    return any;
}

// A maximum that sums follow at a distance.
static const tensor_stage *followed_behind(const planner *p, const loop_body *body) {
    const tensor_stage *found = NULL;
    for (uint32_t i = 0; i < body->len && !found; i++) {
        const loop_node *n = body->data[i];
        for (uint32_t k = 0; k < n->reduce.nmaxima; k++)
            if (n->reduce.maxima[k].lazy) found = &p->op->stages.data[n->reduce.maxima[k].stage];
        if (!found) found = followed_behind(p, &n->body);
    }
    return found;
}

// Exponentials of the library are faster where they are of nothing above 0.
static void check_behind(planner *p, const loop_kernel *k) {
    const tensor_stage *st = followed_behind(p, &k->body);
    if (!st || (k->approximate && p->op->reducers.data[st->reducer].state_types[0].type == DT_F32))
        return;
    diagnostic *d = plan_refuse(
        p, E0530, schedule_find(p->s, st->id, SCHEDULE_ONLINE, st->id)->at,
        "'lazy' has no pass in this version where exponentials are exact, or not of f32, as those of what '%s' is the largest of are",
        st->name);
    if (d) diag_help(d, "leave 'lazy' out, or say `approximate` of a stage of that kernel");
}

// Without one, what is said is left, and refused as that.
static void take(planner *p, loop_kernel *k) {
    const bool any = any_exponential(p, &k->body, false);
    k->approximate = any && plan_says(p, &k->body, SCHEDULE_APPROXIMATE);
    k->approximate |= any && any_exponential(p, &k->body, true);
    p->plan->near |= k->approximate;
    if (!p->failed) check_behind(p, k);
}

void plan_approximate(planner *p) {
    for (uint32_t i = 0; i < p->plan->steps.len; i++)
        if (p->plan->steps.data[i].kind == LOOP_LAUNCH) take(p, p->plan->steps.data[i].kernel);
}
