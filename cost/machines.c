// The rows of machines.def, and who finds them.
#include "cost.h"

#include <string.h>

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))
#define MEASURED(x) x
#define SHEET(x) x
#define SCALED(x) x
#define ROUND(x) x
static const cost_machine machines[] = {
#define MACHINE(name, holds, arch, ...) {name, holds, arch, __VA_ARGS__, NULL},
#include "machines.def"
};
#undef MEASURED
#undef SHEET
#undef SCALED
#undef ROUND
#define MEASURED(x) COST_MEASURED
#define SHEET(x) COST_SHEET
#define SCALED(x) COST_SCALED
#define ROUND(x) COST_ROUND
static const cost_source sources[][COST_FIELDS] = {
#define MACHINE(name, holds, arch, ...) {__VA_ARGS__},
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

static const struct {
    const char *name, *on, *text;
    size_t at;
} fields[COST_FIELDS] = {
#define FIELD(name, least, most, on, text) {#name, #on, text, offsetof(cost_machine, name)},
#include "machine_fields.def"
};

double cost_machine_number(const cost_machine *m, cost_field f) {
    return *(const double *)(const void *)((const char *)m + fields[f].at);
}

cost_source cost_machine_source(const cost_machine *m, cost_field f) {
    return m->source ? m->source[f] : sources[m - machines][f];
}

bool cost_machine_is_host(const cost_machine *m) { return !strcmp(m->arch, "host"); }
const char *cost_field_name(cost_field f) { return fields[f].name; }
const char *cost_field_text(cost_field f) { return fields[f].text; }
bool cost_field_on(cost_field f, bool host) { return !host || !strcmp(fields[f].on, "BOTH"); }

const char *cost_source_name(cost_source s) {
    static const char *const names[COST_SOURCES] = {"MEASURED", "DRIVER", "SHEET", "SCALED",
                                                    "ROUND"};
    return names[s];
}

double cost_rate(const cost_machine *m, sim_unit u) {
    for (uint32_t i = 0; i < COUNT(rates); i++)
        if (gpu_arch_find(rates[i].arch)->sm == gpu_arch_find(m->arch)->sm) return rates[i].of[u];
    ICE("machine '%s' has no rates", m->name);
}

sim_sampling cost_sampling(const cost_machine *m) {
    enum { BLOCKS = 64, ISSUED = 300000 };   // about 0.2 s a launch
    return (sim_sampling){.blocks = BLOCKS,
                          .issued = ISSUED,
                          .cache_bytes = (uint32_t)m->l1_kib << 10,
                          .cached = (uint32_t)m->l1_cycles,
                          .missed = (uint32_t)m->memory_cycles,
                          .shared = (uint32_t)m->shared_cycles};
}
