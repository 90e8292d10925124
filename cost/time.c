// A kernel's time from what it asks for: each part of a GPU needs a time for its share, and they
// work side by side, but not quite.
#include "cost.h"

#include <math.h>

enum { LANES = 32, SECTOR = 32, LINE = 128, ISSUED = 4, SHARPNESS = 3 };

const char *cost_bound_title(cost_bound b) {
    static const char *const titles[COST_BOUNDS] = {"issue", "units",  "L1",
                                                    "L2",    "memory", "latency"};
    return titles[b];
}

// Multiprocessors that have something to do, by the nanosecond: cycles of all of them.
static double cycles_per_ns(const cost_machine *m, const cost_launch *k) {
    double each = (double)k->blocks / (double)(k->launches ? k->launches : 1),
           busy = each < m->sms ? each : m->sms;
    return busy * m->mhz * 1e-3;
}

static double unit_ns(const cost_machine *m, const cost_launch *k, sim_unit *longest) {
    double most = 0, cycles = cycles_per_ns(m, k);
    for (sim_unit u = 0; u < SIM_UNITS; u++) {
        double lanes = u == SIM_UNIT_MATRIX ? 1 : LANES,
               ns = k->times->units[u] * lanes / (cost_rate(m, u) * cycles);
        if (ns > most) most = ns, *longest = u;
    }
    return most;
}

// What L2 is asked for again, and has not any more: the more is read again and again, the less of
// it stays. Where a block asks for what lies together, its neighbours do, so L2 need not keep all.
static double again_missed(const cost_machine *m, const cost_launch *k) {
    const sim_times *t = k->times;
    double again = 0;
    for (uint32_t i = 0; i < t->buffers.len; i++) {
        const sim_traffic *b = &t->buffers.data[i];
        double span = b->spans / (double)k->blocks, lines = span < b->lines ? span : b->lines;
        if (b->fetched * SECTOR > 1.2 * b->lines * LINE) again += lines * LINE;
    }
    const double kept = m->l2_kept_mib * (1 << 20);
    return again > kept ? 1 - kept / again : 0;
}

// Bytes that come from memory or go there: each line once, and what L2 has not kept.
static double memory_bytes(const cost_machine *m, const cost_launch *k) {
    const sim_times *t = k->times;
    double bytes = 0, missed = again_missed(m, k);
    for (uint32_t i = 0; i < t->buffers.len; i++) {
        const sim_traffic *b = &t->buffers.data[i];
        double asked = (b->fetched + b->stored) * SECTOR, once = b->lines * LINE;
        if (once > asked) once = asked;
        bytes += once + (asked - once) * missed;
    }
    return bytes;
}

static double l2_ns(const cost_machine *m, const sim_times *t) {
    double bytes = (t->fetched + t->stored) * SECTOR, lines = t->lines + t->stored / 4;
    return fmax(bytes / m->l2_gb_per_s, lines / m->l2_lines_per_ns);
}

// Blocks are alone where few of them are at a multiprocessor, and then take as long as the longest.
static double latency_ns(const cost_machine *m, const cost_launch *k) {
    double at_once = (double)(k->resident ? k->resident : 1) * m->sms * (double)k->launches,
           waves = (double)k->blocks / at_once, mean = k->times->cycles / (double)k->blocks,
           cycles = mean * fmax(waves, 1);
    return fmax(cycles, k->times->longest) * (double)k->launches / (m->mhz * 1e-3);
}

cost_kernel cost_of(const cost_machine *m, const cost_launch *k) {
    const sim_times *t = k->times;
    cost_kernel out = {.l2_bytes = (t->fetched + t->stored) * SECTOR,
                       .memory_bytes = memory_bytes(m, k)};
    double cycles = cycles_per_ns(m, k), sum = 0;
    out.by[COST_ISSUE] = t->issued / (ISSUED * cycles);
    out.by[COST_UNIT] = unit_ns(m, k, &out.unit);
    out.by[COST_L1] = (t->wavefronts[0] + t->wavefronts[1]) / cycles;
    out.by[COST_L2] = l2_ns(m, t);
    out.by[COST_MEMORY] = out.memory_bytes / m->gb_per_s;
    out.by[COST_LATENCY] = latency_ns(m, k);
    for (cost_bound b = 0; b < COST_BOUNDS; b++) {
        sum += pow(out.by[b], SHARPNESS);
        if (out.by[b] > out.by[out.bound]) out.bound = b;
    }
    out.ns = pow(sum, 1.0 / SHARPNESS) + (double)k->launches * m->launch_ns;
    return out;
}
