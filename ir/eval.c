// The evaluator of tensor IR: inputs and preconditions are checked, stages run, results are handed
// over. See tensor_eval.h for what its bounds mean.
#include "eval.h"

#include <string.h>

// ---- Preconditions ------------------------------------------------------------------------------

static void check_requires(evaluator *ev) {
    for (uint32_t i = 0; i < ev->op->required.len && !ev->why; i++) {
        const tensor_require *r = &ev->op->required.data[i];
        bool holds = eval_closed(ev, arena_printf(ev->scratch, "precondition '%s'", r->text),
                                 r->holds) != 0;
        if (!holds) eval_fault(ev, "the precondition '%s' does not hold", r->text);
    }
}

// ---- Inputs -------------------------------------------------------------------------------------

static void check_indices(evaluator *ev, const eval_slot *s) {
    int64_t into = eval_size(ev, s->info->into);
    bool partial = s->info->facts & FACT_PARTIAL;
    for (int64_t i = 0; i < s->points && !ev->why; i++) {
        int64_t x = eval_slot_get(s, i).i;
        if (x >= into || x < -1 || (x == -1 && !partial))
            eval_fault(ev, "'%s' holds %lld at %lld, which is no index of '%s'", s->info->name,
                       (long long)x, (long long)i, ev->op->spaces.data[s->info->into].name);
    }
}

static void check_input(evaluator *ev, tensor_val v) {
    const tensor_val_info *info = &ev->op->vals.data[v];
    if (info->role == VAL_RESULT) return;
    const tensor_array *in = &ev->in->inputs[v];
    if (info->facts & FACT_PREFIX) {
        if (eval_size(ev, info->axes[0]) > eval_size(ev, info->into))
            eval_fault(ev, "'%s' is a prefix, but its space is the larger one", info->name);
        return;
    }
    if (in->type != info->type) eval_fault(ev, "'%s' is of the wrong type", info->name);
    if (in->rank != info->rank)
        eval_fault(ev, "'%s' has %u axes, not %u", info->name, (unsigned)in->rank,
                   (unsigned)info->rank);
    for (uint32_t k = 0; k < info->rank && !ev->why; k++) {
        int64_t size = eval_size(ev, info->axes[k]);
        if (!ev->why && in->shape[k] != size)
            eval_fault(ev, "axis %u of '%s' has %lld points, '%s' has %lld", (unsigned)k,
                       info->name, (long long)in->shape[k], ev->op->spaces.data[info->axes[k]].name,
                       (long long)size);
    }
    const eval_slot *s = eval_slot_of(ev, v);
    if (!s) return;
    if (s->points && !in->data) eval_fault(ev, "'%s' has no data", info->name);
    if (info->type == DT_INDEX && !ev->why) check_indices(ev, s);
}

// ---- Entry --------------------------------------------------------------------------------------

static evaluator start(arena *a, arena *scratch, const tensor_op *op, const tensor_eval_input *in) {
    evaluator ev = {.op = op, .in = in, .results = a, .scratch = scratch, .temp = scratch};
    ev.slots = ARENA_ARRAY(scratch, eval_slot, op->vals.len);
    ev.sizes = ARENA_ARRAY(scratch, int64_t, op->spaces.len);
    ev.sizing = ARENA_ARRAY(scratch, bool, op->spaces.len);
    ev.vars = ARENA_ARRAY(scratch, int64_t, op->vars.len);
    for (uint32_t i = 0; i < op->spaces.len; i++) ev.sizes[i] = -1;
    return ev;
}

static void end(evaluator *ev) {
    for (uint32_t i = 0; i < ev->temps.len; i++) arena_free(ev->temps.data[i]);
    arena_free(ev->scratch);
}

static void publish(evaluator *ev, tensor_evaluated *results) {
    uint32_t n = 0;
    for (uint32_t v = 0; v < ev->op->nparams; v++) {
        if (ev->op->vals.data[v].role != VAL_RESULT) continue;
        const eval_slot *s = eval_slot_of(ev, v);
        if (!s) return;
        for (int64_t i = 0; i < s->points && !s->sampled; i++) {
            if (s->written[i]) continue;
            if (ev->in->one_in < 2)
                eval_fault(ev, "nothing defines element %lld of '%s'", (long long)i, s->info->name);
            // integers are not certain as they are
            else if (s->is_float) s->bound[i] = (double)INFINITY;
        }
        tensor_evaluated *out = &results[n++];
        *out = (tensor_evaluated){.rank = s->rank,
                                  .points = s->points,
                                  .kept = s->sampled ? s->kept : s->points,
                                  .at = s->at,
                                  .is_float = s->is_float,
                                  .value = s->value,
                                  .bound = s->bound,
                                  .integer = s->integer,
                                  .certain = s->certain,
                                  .overflows = ev->overflows,
                                  .beyond = s->beyond};
        memcpy(out->shape, s->shape, sizeof out->shape);
    }
}

bool tensor_eval(arena *a, const tensor_op *op, const tensor_eval_input *in,
                 tensor_evaluated *results, const char **why) {
    arena *scratch = arena_new();
    evaluator ev = start(a, scratch, op, in);
    for (uint32_t v = 0; v < op->nparams && !ev.why; v++) check_input(&ev, v);
    check_requires(&ev);
    eval_run_stages(&ev, op->stages.len);
    if (!ev.why) publish(&ev, results);
    *why = ev.why;
    end(&ev);
    return !ev.why;
}

bool tensor_eval_sizes(arena *a, const tensor_op *op, const tensor_eval_input *in, int64_t *sizes,
                       const char **why) {
    arena *scratch = arena_new();
    evaluator ev = start(a, scratch, op, in);
    for (uint32_t s = 0; s < op->spaces.len && !ev.why; s++) sizes[s] = eval_size(&ev, s);
    *why = ev.why;
    end(&ev);
    return !ev.why;
}

tensor_evaluated tensor_evaluated_whole(arena *a, const tensor_evaluated *x) {
    tensor_evaluated y = *x;
    if (!x->at) return y;
    y.kept = x->points;
    y.at = NULL;
    y.beyond = NULL;
    y.real = NULL;
    y.value = x->is_float ? ARENA_ARRAY(a, double, x->points) : NULL;
    y.bound = x->is_float ? ARENA_ARRAY(a, double, x->points) : NULL;
    y.integer = x->is_float ? NULL : ARENA_ARRAY(a, int64_t, x->points);
    y.certain = x->is_float ? NULL : ARENA_ARRAY(a, uint8_t, x->points);
    for (int64_t i = 0; i < x->points && x->is_float; i++) y.bound[i] = (double)INFINITY;
    for (int64_t i = 0; i < x->kept; i++) {
        int64_t at = x->at[i];
        if (x->is_float) y.value[at] = x->value[i], y.bound[at] = x->bound[i];
        else y.integer[at] = x->integer[i], y.certain[at] = x->certain[i];
    }
    return y;
}
