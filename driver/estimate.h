// --resource-usage: what kernels take of a GPU, and what the launches of a version come to on one.
#ifndef GNNC_ESTIMATE_H
#define GNNC_ESTIMATE_H

#include "run.h"

// ---- resources.c --------------------------------------------------------------------------------
enum { RESOURCE_COLUMNS = 9 };
// --resource-usage: the kernels of a module, version by version where there is a program
// (resources.c).
void resources_put(textbuf *out, const char *name, const simt_module *m, const program *p,
                   const gpu_arch *arch, const char *log);
typedef struct {
    const simt_func *kernel;
    bool known;   // whether the assembler said it
    cg_usage usage;
    cg_occupancy fits;
} kernel_resources;
kernel_resources resources_of(const gpu_arch *arch, const simt_func *f, const char *log);
// of RESOURCE_COLUMNS, of which all but the first are numbers
void resources_title(const char **cell);
void resources_cells(arena *a, const kernel_resources *r, const char **cell);
// what the assembler says that no table does
void resources_put_rest(textbuf *out, const char *log);

// ---- run_estimate.c -----------------------------------------------------------------------------
// What the launches of a version come to on a GPU, which need not be here, by its machine code and
// the sizes at hand.
typedef struct {
    kernel_resources resources;
    int64_t launches, blocks;   // blocks: of each
    double waves,
        // of the blocks that run at once; the share of the last wave that is full, over all
        efficiency;
    double bytes;   // that a launch reads and writes, each array once
    bool is_most;   // other launches write some of these arrays, too, and less may be its part
} run_launched;
struct run_estimate {
    const char *version, *device;
    const gpu_arch *arch;
    uint32_t sms;
    double bandwidth;             // bytes a second; 0: not known
    double bytes, flops;          // of the op, by its equations
    const char *log;              // the assembler's
    VEC(run_launched) launched;   // in their order
};
bool run_estimate_open(
    // nothing, like the next ones, unless it is asked for; false: diagnostics tell why
    run_session *r);
void run_estimate_bandwidth(run_session *r, double measured);   // of the GPU that is here
bool run_estimate_op(run_op *o, run_row *row);
void run_estimate_free(run_op *o);
void run_estimate_close(run_session *r);

// ---- run_cost.c ---------------------------------------------------------------------------------
const cost_machine *run_cost_machine(const run_session *r);   // of --device
// The time that the model tells for the version that was prepared; false: diagnostics tell why.
bool run_cost_told(run_op *o, run_row *row, double *ns);
int run_cost_session(driver *d, bool (*steps)(run_op *o, run_row *row));   // of gnnc explain

#endif
