// gnnc bench: what its files share. An op runs as gnnc run --check runs it, then is timed; its time
// stands beside what its equations must move and compute.
#ifndef GNNC_BENCH_H
#define GNNC_BENCH_H

#include "run.h"

// ---- bench_traffic.c ----------------------------------------------------------------------------
// Of one launch, by tensor IR and sizes: no plan is looked at.
typedef struct {
    double compulsory;   // bytes: each array in memory read once, each result written once
    // bytes: each array read anew wherever an equation reads it, each result written
    double gathered;
    // float operations: arithmetic, min, max and maths functions count one each
    double flops;
    // in: NULL, or room for one a parameter; out: bytes of each that are read or written once
    double *moved;
} bench_traffic;
bool bench_traffic_of(const run_op *o, bench_traffic *out);   // false: a diagnostic tells why

typedef struct {
    // ms a launch of several that follow each other; replayed where they can be captured
    double hot;
    // ms a replay of one launch, of several that follow each other; 0: it cannot be captured
    double replay;
} bench_shares;

typedef struct {   // of another plan, its maps on the device
    double ms;
    size_t bytes;   // that it holds beside them, for every version it keeps
} bench_prepared;

typedef struct {
    const char *name;
    int64_t launches;   // in one launch of the op
    double median;      // ms of all of them together
} bench_kernel;
typedef VEC(bench_kernel) bench_kernel_list;

struct bench_figures {
    bench_traffic traffic;
    int64_t launches;                                       // timed
    double fastest, first_quarter, median, third_quarter;   // ms
    bench_shares shares;
    const char *behind;   // the op that is launched before, and timed with it; NULL: none
    bench_prepared prepare;
    size_t workspace;            // bytes that the launches use
    bench_kernel_list kernels;   // with --kernels; as they are launched first
};

typedef struct {
    run_session run;   // first: what run.h's functions take
    double seconds;    // after so long no launch begins
    bool flush, json, with_forward, kernels, brief;
    const char *drawing;   // of --svg; NULL: none
    double bandwidth;      // bytes a second; 0: not known yet
    bool is_measured;
    bool replayed;        // hot times are of launches that were captured
    double empty_cold;    // ms of an empty kernel, launched as what is timed
    bench_shares empty;   // of an empty kernel; 0: not known yet, or no GPU
    run_op pause;         // of a GPU, before a launch that is timed; without a plan: none
    run_op forward;       // that saves for the gradient `behind`; without a plan: none
    const run_op *behind;
    bool had_forward;   // some gradient was timed so
    void *scratch;      // what is overwritten before a launch; NULL without --flush
    size_t scratch_bytes;
} bench_session;

// ---- bench_bandwidth.c --------------------------------------------------------------------------
// by the faster of a copy and a sum; false: a diagnostic tells why
bool bench_bandwidth(bench_session *s);
// ---- bench_hot.c --------------------------------------------------------------------------------
bool bench_hot(run_op *o, bench_shares *out);   // false: a diagnostic tells why
// ---- bench_cold.c -------------------------------------------------------------------------------
bool bench_cold(run_op *o, double *median);   // ms of launches one by one
// The same, each of them: ms has room for --repeat, n are timed and sorted.
bool bench_cold_each(run_op *o, double *ms, int64_t *n, double *median);
size_t bench_cache_bytes(const run_session *r);   // of the largest cache
bool bench_ready(run_op *o);   // the cache overwritten, a pause begun: what comes next is timed
// ---- bench_each.c -------------------------------------------------------------------------------
bool bench_each(run_op *o, bench_kernel_list *out);   // false: a diagnostic tells why
// ---- bench_kernels.c ----------------------------------------------------------------------------
bool bench_empty(bench_session *s, arena *a);   // once a session; nothing to be done without a GPU
bool bench_pause_open(bench_session *s, arena *a);   // likewise; false: a diagnostic tells why
void bench_pause_close(bench_session *s);
// ---- bench_forward.c ----------------------------------------------------------------------------
// nothing, like those below, unless it is asked for; false: a diagnostic tells why
bool bench_forward_open(bench_session *s, run_op *o);
void bench_forward_close(bench_session *s);
void bench_forward_tell(const bench_session *s);   // where it had no effect
bool bench_launch(run_op *o, gnn_stream stream);   // behind that, where there is one
// to the op's own; false: a diagnostic tells why
bool bench_forward_add(run_op *o, bench_figures *f);
// ---- bench_prepare.c ----------------------------------------------------------------------------
bool bench_prepare(run_op *o, bench_prepared *out);   // false: a diagnostic tells why
// ---- bench_report.c -----------------------------------------------------------------------------
// a table, but for --json
void bench_print(const run_session *r, const run_rows *rows, FILE *out);
void bench_print_row(const run_session *r, const run_row *row, FILE *out);   // of --json

#endif
