// What machines can do, by name (machine.def), the groups that their blocks have, and the extents
// that versions are for.
#include "default/ask/ask.h"

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
#include "default/ask/machine.def"
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

// ---- Blocks -------------------------------------------------------------------------------------
int64_t default_groups(const planner *p) { return p->machine->block_threads / p->machine->lanes; }

// That share a long row: twice as many, where a block may have so many threads.
int64_t default_heavy_groups(const planner *p) {
    int64_t most = p->machine->max_threads / p->machine->lanes, twice = 2 * default_groups(p);
    return twice < most ? twice : most;
}

// ---- Extents ------------------------------------------------------------------------------------
const plan_class *plan_class_at(const machine *m, uint32_t i) {
    static const plan_class gpu[] = {{"default wide", 64, 8, 32, 0},
                                     {"default narrow", 16, 8, 0, 32},
                                     {"default", 8, 1, 0, 0}},
                            host[] = {{"default wide", 64, 1, 8, 0},
                                      {"default single", 1, 1, 0, 1},
                                      {"default", 8, 1, 0, 0}};
    if (m->gpu) return i < sizeof gpu / sizeof *gpu ? &gpu[i] : NULL;
    return i < sizeof host / sizeof *host ? &host[i] : NULL;
}

// Vectors of numbers of 32 bits and more want multiples of four.
const plan_class *plan_class_for(arena *a, const tensor_op *op, const machine *m, uint32_t i) {
    const plan_class *of = plan_class_at(m, i);
    uint32_t least = m->vector_bytes;
    if (!of || !m->aligned) return of;
    for (tensor_val v = 0; v < op->vals.len; v++) {
        const uint32_t bytes = ir_dtype_bytes(op->vals.data[v].type);
        if (op->vals.data[v].rank && op->vals.data[v].type != DT_INDEX && bytes > 1 &&
            bytes < least)
            least = bytes;
    }
    plan_class *own = ARENA_NEW(a, plan_class);
    *own = *of;
    if (own->multiple > (int64_t)(m->vector_bytes / least)) own->multiple = m->vector_bytes / least;
    return own;
}
