// A gradient behind the op that saves for it, as training has them: both are launched in one time,
// on the same arrays.
//     gnnc bench FILE --op=gt.grad.saved --with-forward  →  gt.saving, which leaves a.max and a.sum, then gt.grad.saved
#include "bench.h"
#include "run_memory.h"

#include <string.h>

// ---- The op -------------------------------------------------------------------------------------
static bool find_forward(const run_op *o, unit_op *out) {
    frontend_unit *u = o->op->frontend;
    const frontend_op *of = u ? &u->ops.data[o->op->number] : NULL;
    if (!of || !of->grad || of->twin != TWIN_SAVED) return false;
    for (uint32_t i = 0; i < u->ops.len; i++) {
        const frontend_op *f = &u->ops.data[i];
        unit_op op = {.name = f->name, .frontend = u, .number = i};
        if (!f->grad && !f->twin && f->name == of->grad->path->name.text)
            return unit_twin(o->r->d, &op, out);
    }
    return false;
}

// ---- Its arrays ---------------------------------------------------------------------------------
// What has the name and shape of a parameter of the other; TENSOR_NO_VAL: nothing.
static tensor_val same_array(const run_op *a, tensor_val v, const run_op *b) {
    const run_buffer *x = &a->ready.buffers[v];
    for (tensor_val w = 0; x->used && w < b->op->op->nparams; w++) {
        const run_buffer *y = &b->ready.buffers[w];
        bool same = y->used && x->dtype == y->dtype && x->rank == y->rank &&
                    !strcmp(a->op->op->vals.data[v].name, b->op->op->vals.data[w].name);
        for (uint32_t i = 0; same && i < x->rank; i++) same = x->shape[i] == y->shape[i];
        if (same) return w;
    }
    return TENSOR_NO_VAL;
}

// The same inputs, and what the first one makes of them is what the gradient is given.
static bool hand_over(run_op *first, run_op *o) {
    for (tensor_val v = 0; v < first->op->op->nparams; v++) {
        tensor_val w = same_array(first, v, o);
        if (w != TENSOR_NO_VAL && first->op->op->vals.data[v].role == VAL_TENSOR)
            first->b->arrays[v] = o->b->arrays[w];
    }
    if (!run_launch_once(first)) return false;
    for (tensor_val v = 0; v < first->op->op->nparams; v++) {
        tensor_val w = same_array(first, v, o);
        if (w != TENSOR_NO_VAL && first->results[v].data) o->b->arrays[w] = first->results[v];
    }
    return true;
}

// Arrays of one name and shape are one.
static void share_memory(run_op *first, const run_op *o) {
    for (tensor_val v = 0; v < first->op->op->nparams; v++) {
        tensor_val w = same_array(first, v, o);
        if (w == TENSOR_NO_VAL) continue;
        first->ready.tensors[v] = o->ready.tensors[w];
        gnn_free(first->r->context, first->ready.buffers[v].memory);
        first->ready.buffers[v].memory = NULL;
    }
}

// ---- All ----------------------------------------------------------------------------------------
// By the version that the runtime chooses.
static bool prepare(run_op *first, run_op *o) {
    run_session *r = first->r;
    const char *version = r->asked.version;
    const bool all = r->asked.all_plans;
    r->asked.version = NULL, r->asked.all_plans = false;
    first->b = bind_op(r->d, first->arena, first->op->op, r->graph, &r->options);
    bool good = first->b && run_load(first) && run_prepare(first) && hand_over(first, o);
    r->asked.version = version, r->asked.all_plans = all;
    return good;
}

bool bench_forward_open(bench_session *s, run_op *o) {
    unit_op *op = ARENA_NEW(o->arena, unit_op);
    s->forward = (run_op){0};
    if (!s->with_forward || !find_forward(o, op)) return !diag_errors(s->run.d->ds);
    s->forward = (run_op){.r = &s->run, .arena = o->arena, .op = op, .where = "", .one_in = 1};
    s->behind = o;
    if (!prepare(&s->forward, o)) return false;
    share_memory(&s->forward, o);
    s->had_forward = true;
    return true;
}

void bench_forward_tell(const bench_session *s) {
    if (s->with_forward && !s->had_forward && !diag_errors(s->run.d->ds))
        diag_help(
            diag(s->run.d->ds, W0801, NO_SPAN,
                 "--with-forward has no effect: no op that is timed reads what another saves"),
            "name the gradient: --op=f.grad.saved");
}

void bench_forward_close(bench_session *s) {
    if (!s->forward.op) return;
    run_op_free(&s->forward);
    if (s->forward.b) bind_free(s->forward.b);
    s->forward = (run_op){0};
    s->behind = NULL;
}

// NULL: none.
static run_op *forward_of(const run_op *o) {
    bench_session *s = (bench_session *)o->r;
    return s->behind == o && s->forward.ready.plan ? &s->forward : NULL;
}

bool bench_launch(run_op *o, gnn_stream stream) {
    run_op *first = forward_of(o);
    return (!first || run_launch(first, stream)) && run_launch(o, stream);
}

// What both take; both launches may use one workspace.
bool bench_forward_add(run_op *o, bench_figures *f) {
    run_op *first = forward_of(o);
    bench_traffic t = {0};
    bench_prepared prepared = {0};
    if (!first) return true;
    if (!bench_traffic_of(first, &t) || !bench_prepare(first, &prepared)) return false;
    f->behind = arena_strdup(o->r->d->arena, first->op->name);
    f->traffic.compulsory += t.compulsory;
    f->traffic.gathered += t.gathered;
    f->traffic.flops += t.flops;
    f->prepare.ms += prepared.ms;
    f->prepare.bytes += prepared.bytes;
    if (first->ready.workspace_bytes > f->workspace) f->workspace = first->ready.workspace_bytes;
    return true;
}
