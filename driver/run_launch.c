// A prepared op, launched twice over different poisons, and timed.
#include "run_memory.h"
#include "run_sim.h"

#include <stdlib.h>
#include <string.h>

// Inputs, poisoned results and a poisoned workspace.
static bool set_up(run_op *o, uint8_t poison) {
    for (tensor_val v = 0; v < o->op->op->nparams; v++) {
        run_buffer *x = &o->ready.buffers[v];
        if (!x->used) continue;
        run_buffer_poison(x, poison);
        if (o->op->op->vals.data[v].role == VAL_TENSOR) run_buffer_put(x, &o->b->arrays[v]);
        if (!run_buffer_upload(o, x)) return false;
    }
    return !o->ready.workspace_bytes ||
           !run_failed(o, gnn_fill(o->r->context, o->ready.workspace, poison,
                                   o->ready.workspace_bytes, NULL));
}

bool run_launch(run_op *o, gnn_stream s) {
    return !run_failed(o, gnn_launch(o->ready.plan, o->ready.args, o->op->op->nparams,
                                     o->ready.workspace, o->ready.workspace_bytes, s));
}

static bool launch(run_op *o, bool again) {
    run_sim_begin(o, again);
    if (run_fault_skips()) return true;
    run_alone_begin(o->r);
    bool good = run_launch(o, NULL) && !run_failed(o, gnn_sync(o->r->context, NULL));
    run_alone_end(o->r);
    return good && run_sim_report(o);
}

// Takes what a launch stored; finds writes where none belongs.
static bool collect(run_op *o, uint8_t poison, tensor_array *results) {
    for (tensor_val v = 0; v < o->op->op->nparams; v++) {
        const tensor_val_info *info = &o->op->op->vals.data[v];
        tensor_val under = run_overwritten(o, v);
        run_buffer *x = &o->ready.buffers[under == TENSOR_NO_VAL ? v : under];
        if (!x->used) continue;
        if (!run_buffer_download(o, x)) return false;
        if (info->role == VAL_RESULT) run_buffer_get(x, &results[v]);
        bool input = info->role == VAL_TENSOR, replaced = input && run_is_overwritten(o, v);
        if (!replaced && !run_buffer_intact(x, input ? &o->b->arrays[v] : &results[v], poison))
            run_mismatch(o, "memory %s '%s' was written", input ? "of" : "around", info->name);
    }
    return true;
}

static bool is_poison(const tensor_array *x, int64_t i, uint8_t byte) {
    size_t n = x->type == DT_INDEX ? 4 : bind_bytes(x->type);   // an index of 32 bits was widened
    const uint8_t *at = (const uint8_t *)x->data + (size_t)i * bind_bytes(x->type);
    for (size_t k = 0; k < n; k++)
        if (at[k] != byte) return false;
    return true;
}

static void compare_launches(run_op *o, tensor_val v, const tensor_array *first,
                             const tensor_array *second, uint8_t p, uint8_t q) {
    size_t n = bind_bytes(first->type);
    int64_t points;
    bind_points(o->b, &o->op->op->vals.data[v], &points);
    const uint8_t *a = first->data, *b = second->data;
    for (int64_t i = 0; i < points; i++) {
        if (!memcmp(a + (size_t)i * n, b + (size_t)i * n, n)) continue;
        const char *name = o->op->op->vals.data[v].name;
        if (is_poison(first, i, p) && is_poison(second, i, q))
            run_mismatch(o, "element %lld of '%s' is not written", (long long)i, name);
        else if (gnn_program_deterministic(o->program))
            run_mismatch(
                o,
                "element %lld of '%s' differs between two launches, or comes from memory not written",
                (long long)i, name);
        return;
    }
}

enum { FIRST = 0xAA, SECOND = 0x55 };

bool run_launch_once(run_op *o) {
    return set_up(o, FIRST) && launch(o, false) && run_fault_apply(o, false) &&
           collect(o, FIRST, o->results);
}

bool run_launch_sample(run_op *o, const cost_machine *m) {
    enum { ZEROS = 0 };   // what is read and nobody wrote is an index that all maps have
    if (!set_up(o, ZEROS)) return false;
    run_sim_sample(o, m);
    return run_launch(o, NULL);
}

static bool launch_again(run_op *o, uint8_t poison, tensor_array *again) {
    if (!set_up(o, poison) || !launch(o, poison == SECOND) || !run_fault_apply(o, true) ||
        !collect(o, poison, again))
        return false;
    for (tensor_val v = 0; v < o->op->op->nparams; v++)
        if (o->results[v].data) compare_launches(o, v, &o->results[v], &again[v], FIRST, poison);
    return true;
}

// The same launch over two poisons: what is not written, or computed from what was not, differs.
bool run_launch_twice(run_op *o) {
    uint32_t n = o->op->op->nparams;
    int64_t launches = o->r->asked.identical ? o->r->asked.identical : o->r->asked.check ? 2 : 1;
    if (!run_launch_once(o)) return false;
    if (launches == 1) return true;
    tensor_array *again = ARENA_ARRAY(o->arena, tensor_array, n + 1);
    for (tensor_val v = 0; v < n; v++) {
        int64_t points;
        again[v] = o->results[v];
        if (o->results[v].data && bind_points(o->b, &o->op->op->vals.data[v], &points))
            again[v].data = arena_alloc(o->arena, (size_t)points * bind_bytes(again[v].type) + 8);
    }
    for (int64_t i = 1; i < launches && !o->r->d->mismatch; i++)
        if (!launch_again(o, i % 2 ? SECOND : FIRST, again)) return false;
    return true;
}

static int by_time(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return a < b ? -1 : a > b;
}

static bool time_launches(run_op *o, gnn_timer *timer, double *ms) {
    for (int64_t i = 0; i < o->r->asked.repeat; i++) {
        if (o->r->asked.inplace && !set_up(o, 0)) return false;
        if (run_failed(o, gnn_timer_start(timer, NULL)) || !run_launch(o, NULL) ||
            run_failed(o, gnn_timer_stop(timer, NULL)) ||
            run_failed(o, gnn_timer_read(timer, &ms[i])))
            return false;
    }
    return true;
}

double run_median(double *ms, int64_t n) {
    qsort(ms, (size_t)n, sizeof *ms, by_time);
    return (ms[(n - 1) / 2] + ms[n / 2]) / 2;
}

bool run_launches(run_op *o, run_row *row) {
    phase(o->r->d, "run");
    gnn_timer *timer = NULL;
    double *ms = ARENA_ARRAY(o->arena, double, o->r->asked.repeat);
    if (!run_launch_twice(o) || run_failed(o, gnn_timer_new(o->r->context, &timer))) return false;
    bool good = time_launches(o, timer, ms) && run_sim_report(o);
    gnn_timer_free(timer);
    if (!good) return false;
    row->median_ms = run_median(ms, o->r->asked.repeat);
    row->fastest_ms = ms[0];
    row->ran = true;
    return true;
}
