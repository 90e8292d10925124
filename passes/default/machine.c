// What machines can do, by name: machine.def.
#include "plan.h"

#include <string.h>

static const machine machines[] = {
#define MACHINE(name, gpu, lanes, max_threads, max_registers, shared_bytes, group_shared_bytes,    \
                vector_bytes, register_bytes, aligned, points, block_points, block_threads)        \
    {name,                                                                                         \
     gpu,                                                                                          \
     lanes,                                                                                        \
     max_threads,                                                                                  \
     max_registers,                                                                                \
     shared_bytes,                                                                                 \
     group_shared_bytes,                                                                           \
     vector_bytes,                                                                                 \
     register_bytes,                                                                               \
     aligned,                                                                                      \
     points,                                                                                       \
     block_points,                                                                                 \
     block_threads,                                                                                \
     NULL,                                                                                         \
     NULL},
#include "default/machine.def"
};

static const machine *machine_find(const char *name) {
    for (uint32_t i = 0; i < sizeof machines / sizeof *machines; i++)
        if (!strcmp(machines[i].name, name)) return &machines[i];
    return NULL;
}

const machine *machine_with(arena *a, const char *name, const pass_options *o) {
    machine *m = ARENA_NEW(a, machine);
    *m = *machine_find(name);
    if (m->gpu && o->block_threads) m->block_threads = o->block_threads;
    if (m->gpu) m->arch = o->arch;
    m->refused = o->refused;
    return m;
}
