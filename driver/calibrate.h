// gnnc calibrate: what its files share. Ops and kernels of probes/ are compiled as any other and
// timed as gnnc bench times; what they took becomes the numbers of a machine (cost/cost.h).
#ifndef GNNC_CALIBRATE_H
#define GNNC_CALIBRATE_H

#include "bench.h"

typedef struct {
    bench_session bench;   // first: what run.h's and bench.h's functions take
    double seconds;        // of one thing that is timed
    double most_bytes;     // of an array: filling it takes time, too
    bool host;
    gnn_device_info device;
    cost_machine out;
    cost_source source[COST_FIELDS];   // of its numbers
    textbuf notes;                     // for people, of the file
} calibration;

typedef struct {
    const char *name, *text;
    size_t size;
} embedded_text;
const embedded_text *calibrate_text(const char *name);   // of probes/
void calibrate_set(calibration *c, cost_field f, double x, cost_source s);

// ---- calibrate_time.c ---------------------------------------------------------------------------
// The fastest of some launches, of which one at least: what disturbs a launch only slows it.
// flush: the cache is overwritten before each. false: a diagnostic tells why.
bool calibrate_time(run_op *o, bool flush, double *ns);
bool calibrate_alloc(run_op *o, tensor_val v, size_t bytes);   // memory of a parameter

// ---- calibrate_rates.c --------------------------------------------------------------------------
bool calibrate_rates(calibration *c);   // of memory and the largest cache, and what a launch takes

// ---- calibrate_latency.c ------------------------------------------------------------------------
bool calibrate_latencies(calibration *c);   // the clock, and cycles until a load is there

#endif
