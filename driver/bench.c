// gnnc bench: an op is checked as by gnnc run --check, warmed up, timed.
#define _POSIX_C_SOURCE 200809L
#include "bench.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

// ---- Timing ----------------------------------------------------------------------------------------------

static size_t cache_bytes(const run_session *r) {
    enum { USUAL = 64 << 20 };
    gnn_device_info info = {0};
    if (r->target.kind == CG_CUDA && !gnn_device_query(r->context, &info) && info.l2_bytes > 0)
        return (size_t)info.l2_bytes;
    long bytes = r->target.kind == CG_HOST ? sysconf(_SC_LEVEL3_CACHE_SIZE) : 0;
    return bytes > 0 ? (size_t)bytes : USUAL;
}

static bool time_one(run_op *o, gnn_timer *timer, double *ms) {
    const bench_session *s = (const bench_session *)o->r;
    return !run_failed(o, gnn_fill(o->r->context, s->scratch, 0, s->scratch_bytes, NULL)) &&
           (!s->pause.plan || run_launch((run_op *)&s->pause, NULL)) &&
           !run_failed(o, gnn_timer_start(timer, NULL)) && bench_launch(o, NULL) &&
           !run_failed(o, gnn_timer_stop(timer, NULL)) && !run_failed(o, gnn_timer_read(timer, ms));
}

double bench_now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

// A GPU that had nothing to do raises its clocks over some milliseconds.
static bool warm_up(run_op *o, gnn_timer *timer) {
    enum { FEWEST = 2, LEAST_MS = 20 };
    double begin = bench_now_ms(), least = o->r->target.kind == CG_CUDA ? LEAST_MS : 0, ms;
    for (int64_t i = 0; i < FEWEST || bench_now_ms() - begin < least; i++)
        if (!time_one(o, timer, &ms)) return false;
    return true;
}

// The limit of time counts launches alone, whatever lies between them.
static bool time_launches(run_op *o, gnn_timer *timer, double *ms, int64_t *n) {
    enum { FEWEST = 5 };
    double spent = 0, limit = ((const bench_session *)o->r)->seconds * 1e3;
    if (!warm_up(o, timer)) return false;
    for (*n = 0; *n < o->r->repeat && (*n < FEWEST || spent < limit); spent += ms[(*n)++])
        if (!time_one(o, timer, &ms[*n])) return false;
    return true;
}

// ms: sorted, room for --repeat of them.
static bool time_cold(run_op *o, double *ms, int64_t *n, double *median) {
    gnn_timer *timer = NULL;
    bool good = !run_failed(o, gnn_timer_new(o->r->context, &timer)) && time_launches(o, timer, ms, n);
    gnn_timer_free(timer);
    if (good) *median = run_median(ms, *n);
    return good;
}

bool bench_cold(run_op *o, double *median) {
    int64_t n;
    return time_cold(o, ARENA_ARRAY(o->arena, double, o->r->repeat), &n, median);
}

static bool measure(run_op *o, bench_figures *f) {
    phase(o->r->d, "time");
    bench_session *s = (bench_session *)o->r;
    double *ms = ARENA_ARRAY(o->arena, double, o->r->repeat);
    s->scratch_bytes = s->flush ? 2 * cache_bytes(o->r) : 0;
    bool good = !run_failed(o, gnn_alloc(o->r->context, s->scratch_bytes, &s->scratch)) &&
                bench_pause_open(s, o->arena) && time_cold(o, ms, &f->launches, &f->median) &&
                bench_hot(o, &f->shares) && bench_empty(s, o->arena) && bench_prepare(o, &f->prepare);
    bench_pause_close(s);
    gnn_free(o->r->context, s->scratch);
    if (!good) return false;
    f->workspace = o->workspace_bytes;
    if (!bench_forward_add(o, f)) return false;
    f->fastest = ms[0];
    f->first_quarter = ms[(f->launches - 1) / 4];
    f->third_quarter = ms[(f->launches - 1) * 3 / 4];
    return true;
}

// ---- One op ----------------------------------------------------------------------------------------------

static bool check_and_time(run_op *o, run_row *row) {
    bench_figures *f = ARENA_NEW(o->r->d->arena, bench_figures);
    phase(o->r->d, "run");
    if (!run_launch_twice(o) || (!o->unchecked && !run_compare(o, row))) return false;
    if (o->r->d->mismatch || row->fails_by_overflow) return true;   // wrong results have no time
    if (!bench_traffic_of(o, &f->traffic)) return false;
    bench_session *s = (bench_session *)o->r;
    run_alone_begin(o->r);
    bool good = bench_bandwidth(s) && measure(o, f);
    run_alone_end(o->r);
    run_estimate_bandwidth(o->r, s->bandwidth);
    good = good && run_estimate_op(o, row);
    if (good) row->figures = f;
    return good;
}

static bool bench_steps(run_op *o, run_row *row) {
    bench_session *s = (bench_session *)o->r;
    bool good = run_load(o) && run_prepare(o) && bench_forward_open(s, o) && check_and_time(o, row);
    bench_forward_close(s);
    return good;
}

int drive_bench(driver *d) {
    enum { BUDGET = 200000000 };   // expressions: some seconds
    bench_session s = {.run = {.d = d,
                               .steps = bench_steps,
                               .print = bench_print,
                               .check = true,
                               .check_budget = (double)option_number(d, OPT_CHECK_BUDGET, BUDGET)},
                       .flush = option_on(d, OPT_FLUSH, false),
                       .json = option_given(d, OPT_JSON),
                       .with_forward = option_given(d, OPT_WITH_FORWARD),
                       .seconds = option_decimal(d, OPT_SECONDS, 3),
                       .bandwidth = option_decimal(d, OPT_BANDWIDTH, 0) * 1e9};
    s.run.notes = s.json ? stderr : stdout;
    s.run.print_row = s.json ? bench_print_row : NULL;
    run_read_options(&s.run);
    s.run.repeat = option_number(d, OPT_REPEAT, 100);
    if (s.run.repeat < 1 || s.run.repeat > 1000000)
        usage(d, E0812, "--repeat takes a number from 1 to 1000000");
    if (option_is(d, OPT_TARGET, "sim"))
        usage(d, E0812, "the simulator's times say nothing: --target takes cuda or host here");
    if (option_given(d, OPT_BANDWIDTH) && s.bandwidth <= 0) usage(d, E0812, "--bandwidth takes GB/s above 0");
    int status = run_alone_open(&s.run, option_text(d, OPT_ALONE, NULL)) ? run_every_op(&s.run) : driver_status(d);
    run_alone_close(&s.run);
    bench_forward_tell(&s);
    diag_print(d->ds, stderr);
    return status;
}
