// A kernel's time by its bounds: each alone is the time, two alike take longer than one, and what
// few multiprocessors do is slow.
#include "cost/cost.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int failed;
#define CHECK(x) ((x) ? (void)0 : (void)(failed = 1, printf("%s:%d: %s\n", __FILE__, __LINE__, #x)))

enum { BLOCKS = 1320, LINES = 1 << 20 };   // ten blocks a multiprocessor of h200; 128 MiB
static sim_traffic buffer;

static sim_times nothing(void) {
    sim_times t = {.ran = 64, .cycles = BLOCKS};
    t.buffers.data = &buffer;
    t.buffers.len = 1;
    return t;
}

static cost_kernel cost(const sim_times *t, uint64_t blocks, uint64_t launches) {
    const cost_launch k = {.times = t, .blocks = blocks, .launches = launches, .resident = 8};
    return cost_of(cost_machine_named("h200"), &k);
}

static bool near(double x, double y) { return fabs(x - y) <= 0.01 * y; }

static void bounds(const cost_machine *m) {
    const double each = 1e6, cycles = m->sms * m->mhz * 1e-3;
    sim_times t = nothing();
    t.issued = each;
    cost_kernel k = cost(&t, BLOCKS, 1);
    CHECK(k.bound == COST_ISSUE && near(k.by[COST_ISSUE], each / (4 * cycles)));
    t = nothing();
    t.units[SIM_UNIT_SPECIAL] = each;
    k = cost(&t, BLOCKS, 1);
    CHECK(k.bound == COST_UNIT && k.unit == SIM_UNIT_SPECIAL);
    CHECK(near(k.by[COST_UNIT], each * 2 / cycles));   // 16 lanes a cycle
    t = nothing();
    t.wavefronts[0] = t.wavefronts[1] = each;
    CHECK(cost(&t, BLOCKS, 1).bound == COST_L1);
    CHECK(near(k.ns, k.by[COST_UNIT] + m->launch_ns));
    t = nothing();
    t.cycles = each * BLOCKS;
    k = cost(&t, BLOCKS, 1);
    CHECK(k.bound == COST_LATENCY && near(k.by[COST_LATENCY], each * 1.25 / (m->mhz * 1e-3)));
    t.longest = 3000000;
    CHECK(near(cost(&t, BLOCKS, 1).by[COST_LATENCY], 3e6 / (m->mhz * 1e-3)));
}

static void memory(const cost_machine *m) {
    sim_times t = nothing();
    // a stream: each line once
    buffer = (sim_traffic){.name = "x", .lines = LINES, .fetched = 4.0 * LINES, .spans = BLOCKS};
    t.fetched = buffer.fetched;
    cost_kernel k = cost(&t, BLOCKS, 1);
    CHECK(k.bound == COST_MEMORY && k.memory_bytes == 128.0 * LINES);
    CHECK(near(k.by[COST_MEMORY], 128.0 * LINES / m->gb_per_s));
    // again and again, all over it: L2 has not got it any more
    buffer.fetched = t.fetched = 40.0 * LINES;
    buffer.spans = (double)LINES * BLOCKS;
    k = cost(&t, BLOCKS, 1);
    double kept = m->l2_kept_mib * (1 << 20) / (128.0 * LINES);
    CHECK(near(k.memory_bytes, 128.0 * LINES * (1 + 9 * (1 - kept))));
    // again and again, but each block in its place
    buffer.spans = 100.0 * BLOCKS;
    k = cost(&t, BLOCKS, 1);
    CHECK(k.memory_bytes == 128.0 * LINES && k.bound == COST_L2);
    // sectors of lines of their own
    buffer = (sim_traffic){.name = "x", .lines = LINES, .fetched = LINES, .spans = BLOCKS};
    t.fetched = t.lines = LINES;
    CHECK(near(cost(&t, BLOCKS, 1).by[COST_L2], LINES / m->l2_lines_per_ns));
    memset(&buffer, 0, sizeof buffer);
}

static void launches(const cost_machine *m) {
    sim_times t = nothing();
    t.issued = 1e6;
    double all = cost(&t, BLOCKS, 1).by[COST_ISSUE],
           few = cost(&t, (uint64_t)(m->sms / 4), 1).by[COST_ISSUE];
    CHECK(near(few, 4 * all));
    CHECK(near(cost(&t, BLOCKS, 10).ns, all + 10 * m->launch_ns));
    t.wavefronts[0] = t.issued / 4;   // as long as it takes to issue
    cost_kernel both = cost(&t, BLOCKS, 1);
    CHECK(both.ns - m->launch_ns > 1.1 * all && both.ns - m->launch_ns < 2 * all);
}

// What a row says must be there for each machine.
static void machines(void) {
    CHECK(!cost_machine_named("h") && !cost_machine_named(""));
    CHECK(cost_machine_held("NVIDIA H200") == cost_machine_named("h200"));
    for (uint32_t i = 0; cost_machine_at(i); i++) {
        const cost_machine *m = cost_machine_at(i);
        const gpu_arch *a = gpu_arch_find(m->arch);
        CHECK(a && cost_machine_of(a) && m->gb_per_s < m->l2_gb_per_s);
        CHECK(m->l2_kept_mib <= m->l2_mib && m->l1_cycles < m->memory_cycles);
        for (sim_unit u = 0; u < SIM_UNITS; u++) CHECK(cost_rate(m, u) > 0);
    }
}

int main(void) {
    const cost_machine *m = cost_machine_named("h200");
    bounds(m);
    memory(m);
    launches(m);
    machines();
    return failed;
}
