// A plan as a whole: its declarations, its kernels and the rounds of recurrences in their order,
// and that all is stored.
#include "loop_verify.h"

#include <string.h>

static const char *check_hints(loop_verifier *v, const loop_kernel *k) {
    for (uint32_t i = 0; i < k->hints.len; i++) {
        const loop_hint *h = &k->hints.data[i];
        if (h->val >= v->op->vals.len || h->cache == SIMT_CACHE_DEFAULT ||
            h->cache > SIMT_CACHE_BYPASS)
            return WRONG(v, "a cache hint names no value or no policy");
        const char *name = v->op->vals.data[h->val].name;
        if (v->plan->values.data[h->val].home != LOOP_MEMORY ||
            v->op->vals.data[h->val].role == VAL_SCALAR)
            return WRONG(v, "'%s' is cached, but not in memory", name);
        for (uint32_t j = 0; j < i; j++)
            if (k->hints.data[j].val == h->val)
                return WRONG(v, "how '%s' is cached is said twice", name);
    }
    return NULL;
}

static const char *check_kernel(loop_verifier *v, uint32_t step) {
    const loop_kernel *k = v->launch = v->plan->steps.data[step].kernel;
    v->at = k->at;
    v->what = arena_printf(v->arena, "kernel '%s'", k->name);
    for (uint32_t i = 0; i < step; i++)
        if (v->plan->steps.data[i].kind == LOOP_LAUNCH &&
            !strcmp(v->plan->steps.data[i].kernel->name, k->name))
            return WRONG(v, "there already is a kernel of this name");
    if (k->lanes == 0 || k->threads == 0 || k->threads % k->lanes)
        return WRONG(v, "%u threads are no groups of %u lanes", (unsigned)k->threads,
                     (unsigned)k->lanes);
    if (k->occupancy && (k->occupancy < k->threads || k->occupancy > SIMT_MOST_THREADS))
        return WRONG(
            v, "room for %u threads is not for a block of %u, or more than a multiprocessor has",
            (unsigned)k->occupancy, (unsigned)k->threads);
    TRY(check_hints(v, k));
    v->kernel = step + 1;
    v->blocks.len = 0;
    TRY(loop_check_nodes(v, &k->body));
    if (k->persistent && !v->blocks.len)
        return WRONG(v, "it is persistent, but nothing is dealt out to blocks");
    const char *start = loop_start_fault(v->scratch, v->plan, step, v->uses);
    return start ? WRONG(v, "%s", start) : NULL;
}

static const char *check_rounds(loop_verifier *v, const loop_step *s) {
    bool begin = s->kind == LOOP_ROUNDS;
    v->what = arena_printf(v->arena, "plan '%s'", v->op->name);
    if (s->loop >= v->op->loops.len)
        return WRONG(v, "there is no recurrence %u", (unsigned)s->loop);
    if (begin ? v->rounds != TENSOR_NO_LOOP : v->rounds != s->loop)
        return WRONG(v, "rounds begin and end one within another");
    v->rounds = begin ? s->loop : TENSOR_NO_LOOP;
    v->vars.bound[v->op->loops.data[s->loop].step] = begin;
    return NULL;
}

static const char *check_steps(loop_verifier *v) {
    for (uint32_t i = 0; i < v->plan->steps.len; i++)
        if (v->plan->steps.data[i].kind == LOOP_LAUNCH)
            loop_count_stores(v, &v->plan->steps.data[i].kernel->body);
    for (uint32_t i = 0; i < v->plan->steps.len; i++) {
        const loop_step *s = &v->plan->steps.data[i];
        TRY(s->kind == LOOP_LAUNCH ? check_kernel(v, i) : check_rounds(v, s));
    }
    v->at = v->op->at;
    v->what = arena_printf(v->arena, "plan '%s'", v->op->name);
    if (v->rounds != TENSOR_NO_LOOP) return WRONG(v, "rounds do not end");
    for (uint32_t i = 0; i < v->op->stages.len; i++) TRY(loop_check_stored(v, i));
    return NULL;
}

static verified_vars vars_new(arena *a, const tensor_op *op) {
    const uint32_t n = op->vars.len;
    return (verified_vars){.bound = ARENA_ARRAY(a, bool, n),
                           .depth = ARENA_ARRAY(a, uint32_t, n),
                           .value = ARENA_ARRAY(a, tensor_expr, n),
                           .loop = ARENA_ARRAY(a, const loop_node *, n),
                           .since = ARENA_ARRAY(a, uint32_t, n),
                           .given = ARENA_ARRAY(a, tensor_expr, op->exprs.len)};
}

static verified_vals vals_new(arena *a, uint32_t n) {
    return (verified_vals){.stored_in = ARENA_ARRAY(a, uint32_t, n),
                           .point = ARENA_ARRAY(a, const tensor_expr *, n),
                           .phase = ARENA_ARRAY(a, const loop_node *, n),
                           .around = ARENA_ARRAY(a, const loop_node *, n),
                           .shared = ARENA_ARRAY(a, shared_store, n),
                           .kept_relative = ARENA_ARRAY(a, bool, n)};
}

static verified_stages stages_new(arena *a, uint32_t n) {
    return (verified_stages){.stores = ARENA_ARRAY(a, uint32_t, n),
                             .all_stores = ARENA_ARRAY(a, uint32_t, n),
                             .contributions = ARENA_ARRAY(a, uint32_t, n),
                             .places = ARENA_ARRAY(a, store_places, n),
                             .state_known = ARENA_ARRAY(a, bool, n),
                             .cleared = ARENA_ARRAY(a, uint32_t, n),
                             .combines = ARENA_ARRAY(a, uint32_t, n),
                             .combined = ARENA_ARRAY(a, tensor_expr, n),
                             .relative = ARENA_ARRAY(a, bool, n)};
}

const char *loop_fault(arena *a, const loop_plan *p, span *at) {
    const tensor_op *op = p->op;
    const char *words = tensor_fault(a, op, true);
    if (words) return words;
    loop_verifier v = {.arena = a,
                       .scratch = arena_new(),
                       .plan = p,
                       .op = op,
                       .at = *at,
                       .rounds = TENSOR_NO_LOOP};
    v.what = arena_printf(a, "plan '%s'", op->name);
    v.vars = vars_new(v.scratch, op);
    v.vals = vals_new(v.scratch, op->vals.len);
    v.stages = stages_new(v.scratch, op->stages.len);
    v.walk.seen = ARENA_ARRAY(v.scratch, uint32_t, op->exprs.len);
    v.walk.seen_inlined = ARENA_ARRAY(v.scratch, uint32_t, op->exprs.len);
    v.uses = ARENA_ARRAY(v.scratch, const loop_uses *, p->steps.len + 1);
    words = loop_check_declarations(&v);
    if (!words) words = check_steps(&v);
    *at = v.at;
    arena_free(v.scratch);
    return words;
}

const char *loop_verify(arena *a, const loop_plan *p) {
    span at = p->op->at;
    return loop_fault(a, p, &at);
}
