// What a launch takes, told from what the simulator counted of a sample of its blocks and from a
// row of numbers of a GPU (machines.def). Nothing is measured here.
//
//     const cost_machine *m = cost_machine_named("h200");
//     cost_kernel k = cost_of(m, &(cost_launch){times, blocks, resident, threads});
//     … k.ns, cost_bound_title(k.bound) …
#ifndef GNNC_COST_H
#define GNNC_COST_H

#include "codegen/sim.h"

// ---- machines.c ---------------------------------------------------------------------------------
typedef enum {
#define FIELD(name, ...) COST_FIELD_##name,
#include "machine_fields.def"
    COST_FIELDS
} cost_field;
typedef enum {
    COST_MEASURED,   // on such a machine
    COST_DRIVER,     // said by its driver, or by the system
    COST_SHEET,      // of its data sheet
    COST_SCALED,     // of another machine's, by what both sheets say
    COST_ROUND,
    COST_SOURCES
} cost_source;   // where a number comes from
typedef struct {
    const char *name, *holds, *arch;   // holds: what the driver's name of one holds; arch: or host
#define FIELD(name, ...) double name;
#include "machine_fields.def"
    const cost_source *source;   // of a machine file: of each number; NULL: a row of machines.def
} cost_machine;
const cost_machine *cost_machine_at(uint32_t index);         // NULL past the last
const cost_machine *cost_machine_named(const char *name);    // by its name; NULL: none
const cost_machine *cost_machine_held(const char *text);     // by the driver's name
const cost_machine *cost_machine_of(const gpu_arch *arch);   // the first of that capability
double cost_machine_number(const cost_machine *m, cost_field f);
cost_source cost_machine_source(const cost_machine *m, cost_field f);
bool cost_machine_is_host(const cost_machine *m);
const char *cost_field_name(cost_field f);
const char *cost_field_text(cost_field f);     // what it is, in a sentence
bool cost_field_on(cost_field f, bool host);   // whether such a machine has it
const char *cost_source_name(cost_source s);
double cost_rate(const cost_machine *m, sim_unit u);   // lanes a cycle
sim_sampling cost_sampling(const cost_machine *m);     // what a launch is told from

// ---- machine_file.c -----------------------------------------------------------------------------
// A machine in text, as `gnnc calibrate` writes it (README.md). NULL: diagnostics tell why.
const cost_machine *cost_machine_parse(arena *a, diag_set *ds, const source_file *text);
typedef struct {
    const char *key, *text;
} cost_machine_fact;   // what a file says beside the numbers, for people: date, driver, command
void cost_machine_put(textbuf *out, const cost_machine *m, const cost_machine_fact *facts,
                      uint32_t nfacts);

// ---- time.c -------------------------------------------------------------------------------------
typedef struct {
    const sim_times *times;   // of all launches
    uint64_t blocks;          // likewise
    uint64_t launches;
    uint32_t resident;   // blocks of a multiprocessor at once
} cost_launch;
typedef enum {
    COST_ISSUE,
    COST_UNIT,
    COST_L1,
    COST_L2,
    COST_MEMORY,
    COST_LATENCY,
    COST_BOUNDS
} cost_bound;
typedef struct {
    double ns;                // in all
    double by[COST_BOUNDS];   // if nothing else took time
    cost_bound bound;         // the longest of these
    sim_unit unit;            // that works longest
    double memory_bytes, l2_bytes;
} cost_kernel;
cost_kernel cost_of(const cost_machine *m, const cost_launch *k);
const char *cost_bound_title(cost_bound b);

#endif
