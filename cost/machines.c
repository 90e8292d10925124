// The rows of machines.def, and who finds them.
#include "cost.h"

#include <string.h>

#define MEASURED true
#define SHEET false
#define COUNT(rows) (sizeof(rows) / sizeof *(rows))
static const cost_machine machines[] = {
#define MACHINE(name, holds, arch, ...) {name, holds, arch, __VA_ARGS__},
#include "machines.def"
};
static const struct {
    const char *arch;
    double of[SIM_UNITS];
} rates[] = {
#define RATES(arch, ...) {arch, {__VA_ARGS__}},
#include "machines.def"
};

const cost_machine *cost_machine_at(uint32_t index) {
    return index < COUNT(machines) ? &machines[index] : NULL;
}

const cost_machine *cost_machine_named(const char *name) {
    for (uint32_t i = 0; i < COUNT(machines); i++)
        if (!strcmp(machines[i].name, name)) return &machines[i];
    return NULL;
}

const cost_machine *cost_machine_held(const char *text) {
    for (uint32_t i = 0; i < COUNT(machines); i++)
        if (strstr(text, machines[i].holds)) return &machines[i];
    return NULL;
}

const cost_machine *cost_machine_of(const gpu_arch *arch) {
    for (uint32_t i = 0; i < COUNT(machines); i++)
        if (gpu_arch_find(machines[i].arch)->sm == arch->sm) return &machines[i];
    return NULL;
}

double cost_rate(const cost_machine *m, sim_unit u) {
    for (uint32_t i = 0; i < COUNT(rates); i++)
        if (!strcmp(rates[i].arch, m->arch)) return rates[i].of[u];
    ICE("machine '%s' has no rates", m->name);
}

sim_sampling cost_sampling(const cost_machine *m) {
    enum { BLOCKS = 64, ISSUED = 300000 };   // about 0.2 s a launch
    return (sim_sampling){.blocks = BLOCKS,
                          .issued = ISSUED,
                          .cache_bytes = m->l1_kib << 10,
                          .cached = m->l1_cycles,
                          .missed = m->memory_cycles,
                          .shared = m->shared_cycles};
}
