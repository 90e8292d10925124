// Launches of gnnc bench, timed one by one.
#include "bench.h"
#include "clock.h"

#include <unistd.h>

size_t bench_cache_bytes(const run_session *r) {
    enum { USUAL = 64 << 20 };
    gnn_device_info info = {0};
    if (r->target.kind == CG_CUDA && !gnn_device_query(r->context, &info) && info.l2_bytes > 0)
        return (size_t)info.l2_bytes;
    long bytes = r->target.kind == CG_HOST ? sysconf(_SC_LEVEL3_CACHE_SIZE) : 0;
    return bytes > 0 ? (size_t)bytes : USUAL;
}

bool bench_ready(run_op *o) {
    const bench_session *s = (const bench_session *)o->r;
    return !run_failed(o, gnn_fill(o->r->context, s->scratch, 0, s->scratch_bytes, NULL)) &&
           (!s->pause.ready.plan || run_launch((run_op *)&s->pause, NULL));
}

static bool time_one(run_op *o, gnn_timer *timer, double *ms) {
    return bench_ready(o) && !run_failed(o, gnn_timer_start(timer, NULL)) &&
           bench_launch(o, NULL) && !run_failed(o, gnn_timer_stop(timer, NULL)) &&
           !run_failed(o, gnn_timer_read(timer, ms));
}

// A GPU that had nothing to do raises its clocks over some milliseconds.
static bool warm_up(run_op *o, gnn_timer *timer) {
    enum { FEWEST = 2, LEAST_MS = 20 };
    double begin = clock_ms(), least = o->r->target.kind == CG_CUDA ? LEAST_MS : 0, ms;
    for (int64_t i = 0; i < FEWEST || clock_ms() - begin < least; i++)
        if (!time_one(o, timer, &ms)) return false;
    return true;
}

// The limit of time counts launches alone, whatever lies between them.
static bool time_launches(run_op *o, gnn_timer *timer, double *ms, int64_t *n) {
    enum { FEWEST = 5 };
    double spent = 0, limit = ((const bench_session *)o->r)->seconds * 1e3;
    if (!warm_up(o, timer)) return false;
    for (*n = 0; *n < o->r->asked.repeat && (*n < FEWEST || spent < limit); spent += ms[(*n)++])
        if (!time_one(o, timer, &ms[*n])) return false;
    return true;
}

bool bench_cold_each(run_op *o, double *ms, int64_t *n, double *median) {
    gnn_timer *timer = NULL;
    bool good = !run_failed(o, gnn_timer_new(o->r->context, &timer)) &&
                time_launches(o, timer, ms, n);
    gnn_timer_free(timer);
    if (good) *median = run_median(ms, *n);
    return good;
}

bool bench_cold(run_op *o, double *median) {
    int64_t n;
    return bench_cold_each(o, ARENA_ARRAY(o->arena, double, o->r->asked.repeat), &n, median);
}
