// gnnc bench: an op is checked as by gnnc run --check, warmed up, timed.
#include "bench.h"
#include "estimate.h"
#include "svg.h"

#include <string.h>

static bool measure(run_op *o, bench_figures *f) {
    phase(o->r->d, "time");
    bench_session *s = (bench_session *)o->r;
    double *ms = ARENA_ARRAY(o->arena, double, o->r->asked.repeat);
    s->scratch_bytes = s->flush ? 2 * bench_cache_bytes(o->r) : 0;
    bool good = !run_failed(o, gnn_alloc(o->r->context, s->scratch_bytes, &s->scratch)) &&
                bench_pause_open(s, o->arena) && bench_cold_each(o, ms, &f->launches, &f->median) &&
                (s->brief || (bench_hot(o, &f->shares) && bench_empty(s, o->arena))) &&
                (!s->kernels || bench_each(o, &f->kernels)) &&
                (s->brief || bench_prepare(o, &f->prepare));
    bench_pause_close(s);
    gnn_free(o->r->context, s->scratch);
    if (!good) return false;
    f->workspace = o->ready.workspace_bytes;
    if (!bench_forward_add(o, f)) return false;
    f->fastest = ms[0];
    f->first_quarter = ms[(f->launches - 1) / 4];
    f->third_quarter = ms[(f->launches - 1) * 3 / 4];
    return true;
}

// ---- One op -------------------------------------------------------------------------------------

static bool check_and_time(run_op *o, run_row *row) {
    bench_figures *f = ARENA_NEW(o->r->d->arena, bench_figures);
    phase(o->r->d, "run");
    if (!run_launch_twice(o) || (!o->unchecked && !run_compare(o, row))) return false;
    // wrong results have no time
    if (o->r->d->mismatch || row->check.fails_by_overflow) return true;
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
    bench_session s = {
        .run = {.d = d,
                .steps = bench_steps,
                .print = bench_print,
                .asked = {.check = true,
                          .check_budget = (double)option_number(d, OPT_CHECK_BUDGET, BUDGET)}},
        .flush = option_on(d, OPT_FLUSH, false),
        .json = option_given(d, OPT_JSON),
        .with_forward = option_given(d, OPT_WITH_FORWARD),
        .kernels = option_given(d, OPT_KERNELS),
        .brief = option_given(d, OPT_BRIEF),
        .drawing = svg_path(d),
        .seconds = option_decimal(d, OPT_SECONDS, 3),
        .bandwidth = option_decimal(d, OPT_BANDWIDTH, d->machine ? d->machine->gb_per_s : 0) * 1e9};
    s.run.notes = s.json ? stderr : stdout;
    s.run.print_row = s.json ? bench_print_row : NULL;
    run_read_options(&s.run);
    s.run.asked.repeat = option_number(d, OPT_REPEAT, 100);
    if (s.run.asked.repeat < 1 || s.run.asked.repeat > 1000000)
        usage(d, E0812, "--repeat takes a number from 1 to 1000000");
    if (option_is(d, OPT_TARGET, "sim"))
        usage(d, E0812, "the simulator's times say nothing: --target takes cuda or host here");
    if (option_given(d, OPT_BANDWIDTH) && s.bandwidth <= 0)
        usage(d, E0812, "--bandwidth takes GB/s above 0");
    int status = run_alone_open(&s.run, option_text(d, OPT_ALONE, NULL)) ? run_every_op(&s.run)
                                                                         : driver_status(d);
    run_alone_close(&s.run);
    bench_forward_tell(&s);
    diag_print(d->ds, stderr);
    return status;
}
