// A launch of gnnc calibrate, timed; memory of its parameters.
#include "calibrate.h"
#include "clock.h"
#include "run_memory.h"

bool calibrate_alloc(run_op *o, tensor_val v, size_t bytes) {
    if (run_failed(o, gnn_alloc(o->r->context, bytes, &o->ready.buffers[v].memory))) return false;
    o->ready.tensors[v].data = o->ready.buffers[v].memory;
    o->ready.args[v].tensor = &o->ready.tensors[v];
    return true;
}

static bool time_one(run_op *o, bool flush, gnn_timer *timer, double *ms) {
    return (!flush || bench_ready(o)) && !run_failed(o, gnn_timer_start(timer, NULL)) &&
           run_launch(o, NULL) && !run_failed(o, gnn_timer_stop(timer, NULL)) &&
           !run_failed(o, gnn_timer_read(timer, ms));
}

bool calibrate_time(run_op *o, bool flush, double *ns) {
    enum { FEWEST = 3, MOST = 60 };
    const calibration *c = (const calibration *)o->r;
    gnn_timer *timer = NULL;
    bool good = !run_failed(o, gnn_timer_new(o->r->context, &timer));
    const double end = clock_ms() + c->seconds * 1e3;
    for (int i = 0; i < MOST && good && (i < FEWEST || clock_ms() < end); i++) {
        double ms;
        good = time_one(o, flush, timer, &ms);
        if (good && (i == 0 || ms * 1e6 < *ns)) *ns = ms * 1e6;
    }
    gnn_timer_free(timer);
    return good;
}
