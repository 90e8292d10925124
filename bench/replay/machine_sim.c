// The simulator in place of a GPU, for tests of packs on machines that have none.
#include "replay.h"

#include "codegen/sim.h"

#include <stdio.h>

enum { MOST_ARGS = 512, SMS = 132, SHARED = 227 * 1024, L2 = 50 << 20, SM = 90 };
const char machine_form[] = "simt";

static struct {
    arena *arena;
    diag_set *faults;
    simt_module *module;
    sim *sim;
    uint64_t seed;
} machine;

static void launch(void *user, const char *kernel, const uint64_t *slots, const gnn_extent *extents,
                   uint32_t blocks, bool early) {
    (void)user;
    sim_arg args[MOST_ARGS];
    const simt_func *f = simt_func_find(machine.module, kernel);
    if (!f || f->params.len > MOST_ARGS) ICE("kernel '%s' cannot be played", kernel);
    for (uint32_t i = 0; i < f->params.len; i++)
        args[i] = (sim_arg){slots[i],          extents[i].name,    extents[i].data,
                            extents[i].bytes,  extents[i].written, extents[i].result,
                            extents[i].scratch};
    sim_launch(machine.sim, kernel, args, blocks, early);
}

gnn_status machine_open(gnn_context **c) {
    static const gnn_simulator hook = {.device = {.name = "simulated sm_90",
                                                  .devices = 1,
                                                  .sm = SM,
                                                  .sms = SMS,
                                                  .shared_bytes = SHARED,
                                                  .l2_bytes = L2},
                                       .launch = launch};
    return gnn_context_new(
        &(gnn_context_options){.device = GNN_HOST, .threads = 1, .simulator = &hook}, c);
}

static void forget(void) {
    sim_free(machine.sim);
    if (machine.arena) arena_free(machine.arena);
    machine.sim = NULL;
    machine.arena = NULL;
}

void machine_close(gnn_context *c) {
    forget();
    gnn_context_free(c);
}

bool machine_take(const char *code, size_t bytes) {
    forget();
    machine.arena = arena_new();
    source_map *sources = source_map_new(machine.arena);
    machine.faults = diag_set_new(machine.arena, sources);
    machine.module = simt_parse(machine.arena, machine.faults,
                                source_map_add(sources, "code", code, bytes));
    diag_print(machine.faults, stdout);
    if (machine.module) machine.sim = sim_new(machine.faults, machine.module);
    return machine.module != NULL;
}

void machine_begin(void) { sim_begin(machine.sim, SIM_RANDOM, machine.seed++); }

uint32_t machine_end(void) {
    const uint32_t n = sim_report(machine.sim);
    diag_print(machine.faults, stdout);
    return n;
}
