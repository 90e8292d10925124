// --for-graph: of an op the one version that a graph takes is made, where arrays lie packed and
// aligned. A plan is made of the graph's maps, the sizes and what guards the versions; none has
// steps yet, and nothing is launched.
#include "bind.h"
#include "run_memory.h"
#include "run_sim.h"
#include "unit.h"

#include <string.h>

enum { APART = 40 };   // bits of addresses that nobody follows: arrays lie so far apart

typedef struct {
    driver *d;
    unit_op *op;   // whose program's versions have no steps
    const cg_target *target;
    run_graph graph;
    binding *b;
    gnn_simulator device;   // the GPU that is meant, which the context looks at
    gnn_context *context;
    gnn_program *program;
    gnn_plan *plan;
} asking;

static bool failed(asking *x, gnn_status s) {
    if (!s) return false;
    diag(x->d->ds, runtime_code((int)s, E0822), x->op->op->at,
         "%s: no version can be told for the graph: %s", x->op->name,
         x->context && *gnn_context_error(x->context) ? gnn_context_error(x->context)
                                                      : gnn_status_text(s));
    return true;
}

// A size that nobody gave would be one by chance.
static bool sizes_given(asking *x) {
    uint32_t at = 0;
    const char *name;
    int64_t size;
    bool given = true;
    while (bind_default(x->b, &at, &name, &size)) {
        given = false;
        diag_help(usage(x->d, E0812,
                        "%s: --for-graph needs the size of %s, which neither the "
                        "graph nor an option tells",
                        x->op->name, name),
                  "give it: --size=%s=N, or -D %s=N", name, name);
    }
    return given;
}

static void nothing(const uint64_t *slots, uint32_t block, uint32_t blocks) {
    (void)slots, (void)block, (void)blocks;
}

// The host's are not made yet, and none is called.
static gnn_code no_code(asking *x) {
    const simt_module *m = x->op->module;
    gnn_host_kernel *kernels = ARENA_ARRAY(x->d->arena, gnn_host_kernel, m->funcs.len + 1);
    gnn_code code = {.kernels = kernels};
    for (uint32_t k = 0; k < m->funcs.len && x->target->kind == CG_HOST; k++)
        if (m->funcs.data[k]->kernel)
            kernels[code.nkernels++] = (gnn_host_kernel){m->funcs.data[k]->name, nothing};
    return code;
}

static bool open(asking *x) {
    const bool gpu = x->target->kind == CG_CUDA;
    if (gpu) x->device.device = run_sim_device(x->d, x->target->arch);
    const gnn_context_options o = {
        .device = GNN_HOST, .threads = gpu, .simulator = gpu ? &x->device : NULL};
    const gnn_code none = no_code(x);
    textbuf manifest = textbuf_new(x->d->arena);
    cg_manifest(&manifest, x->op->program, x->target);
    return !failed(x, gnn_context_new(&o, &x->context)) &&
           !failed(x,
                   gnn_program_load(x->context, manifest.data, manifest.len, &none, &x->program));
}

static bool make_plan(asking *x) {
    run_session session = {.d = x->d};
    run_op o = {.r = &session, .arena = x->d->arena, .op = x->op, .b = x->b};
    const gnn_plan_options options = run_plan_options(&o);
    return !failed(x, gnn_plan_new(x->program, &options, &x->plan));
}

static const char *version_of(asking *x) {
    const tensor_op *op = x->op->op;
    gnn_arg *args = ARENA_ARRAY(x->d->arena, gnn_arg, op->nparams + 1);
    gnn_tensor *tensors = ARENA_ARRAY(x->d->arena, gnn_tensor, op->nparams + 1);
    const char *version = NULL;
    for (tensor_val v = 0; v < op->nparams; v++) {
        const tensor_val_info *info = &op->vals.data[v];
        if (info->role != VAL_TENSOR && info->role != VAL_RESULT) continue;
        const tensor_val at = info->inplace != TENSOR_NO_VAL ? info->inplace : v;
        tensors[v] = (gnn_tensor){.data = (void *)((uintptr_t)(at + 1) << APART),
                                  .dtype = run_dtype(info->type, x->op->program->index_bits),
                                  .rank = info->rank};
        memcpy(tensors[v].shape, x->b->arrays[v].shape, info->rank * sizeof *tensors[v].shape);
        args[v].tensor = &tensors[v];
    }
    return failed(x, gnn_plan_version(x->plan, args, op->nparams, &version)) ? NULL : version;
}

static uint32_t number_of(const program *p, const char *name) {
    uint32_t i = 0;
    while (strcmp(p->versions.data[i].name, name) != 0) i++;
    return i;
}

bool for_graph(driver *d, const unit_op *o, const cg_target *target, program *p, uint32_t *number) {
    const char *text = option_text(d, OPT_FOR_GRAPH, NULL);
    static const bind_options maps_alone = {.maps_alone = true};
    unit_op asked = *o;
    asked.program = p;
    asked.module = p->module;
    asking x = {.d = d, .op = &asked, .target = target};
    phase(d, "for graph");
    const char *name = NULL;
    if (run_graph_load(d, text, &x.graph) &&
        (x.b = bind_op(d, d->arena, o->op, &x.graph, &maps_alone)) && sizes_given(&x) && open(&x) &&
        make_plan(&x))
        name = version_of(&x);
    if (name) *number = number_of(p, name);
    gnn_plan_free(x.plan);
    gnn_program_free(x.program);
    gnn_context_free(x.context);
    if (x.b) bind_free(x.b);
    run_graph_free(&x.graph);
    phase(d, "plan");
    return name != NULL;
}
