// --resource-usage of gnnc run and gnnc bench: the launches of the version that the graph selects,
// on a GPU that need not be here. A plan for it is made of the same maps, sizes and arguments, and
// its launches are taken down in place of being run; registers are the assembler's.
#include "cache.h"
#include "bench.h"
#include "estimate.h"
#include "table.h"
#include "run_sim.h"

#include <math.h>
#include <string.h>

typedef struct {
    const simt_func *kernel;
    uint32_t blocks;
    int64_t launches;
    const gnn_extent *extents;   // per parameter
} launch_note;
typedef struct run_estimator {
    cg_target target;
    bool own;    // the program is not the one that runs
    bool here;   // it is the GPU that runs
    gnn_simulator hook;
    gnn_context *context;
    const char *device;
    double bandwidth;   // 0: not known
    arena *arena;       // of the op at hand
    const simt_module *module;
    VEC(launch_note) notes;
} run_estimator;
typedef struct run_estimated {
    unit_op op;
    gnn_program *program;
    const char *log, *version;   // of which the assembler said it; NULL: of all
} run_estimated;

// ---- The device ---------------------------------------------------------------------------------

// Launches in a loop differ by nothing that counts here.
static void note_launch(void *user, const char *kernel, const uint64_t *slots,
                        const gnn_extent *extents, uint32_t blocks, bool early) {
    (void)slots, (void)early;
    run_estimator *e = user;
    for (uint32_t i = 0; i < e->notes.len; i++) {
        launch_note *n = &e->notes.data[i];
        if (n->blocks != blocks || strcmp(n->kernel->name, kernel)) continue;
        n->launches++;
        return;
    }
    const simt_func *f = simt_func_find(e->module, kernel);
    gnn_extent *copy = ARENA_ARRAY(e->arena, gnn_extent, f->params.len + 1);
    for (uint32_t i = 0; i < f->params.len; i++) copy[i] = extents[i];
    VEC_PUSH(e->arena, &e->notes, ((launch_note){f, blocks, 1, copy}));
}

static void choose_device(run_session *r, run_estimator *e) {
    driver *d = r->d;
    const cost_machine *named = device_named(d),
                       *known = named ? named : cost_machine_of(e->target.arch);
    e->hook.device = run_sim_device(d, e->target.arch);
    if (e->here && !gnn_device_query(r->context, &e->hook.device))
        known = cost_machine_held(e->hook.device.name);
    e->device = known && !e->here ? known->name : arena_strdup(d->arena, e->hook.device.name);
    e->bandwidth = known ? 1e9 * known->gb_per_s : 0;
}

static bool has_no_effect(driver *d, const char *option, const char *why) {
    diag(d->ds, W0801, NO_SPAN, "--%s has no effect %s", option, why);
    return true;
}

bool run_estimate_open(run_session *r) {
    driver *d = r->d;
    const cost_machine *named = device_named(d);
    if (!option_given(d, OPT_RESOURCE_USAGE) && !r->asked.cost)
        return !named || r->simulator || (d->machine && d->verb == VERB_BENCH) ||
               has_no_effect(d, d->machine ? "machine=FILE" : "device=NAME",
                             "without --target=sim or --resource-usage");
    if (r->pack) return has_no_effect(d, "resource-usage", "with --pack");
    bool runs = r->target.kind == CG_CUDA && !r->simulator;
    run_estimator *e = ARENA_NEW(d->arena, run_estimator);
    e->here = runs && !named;
    e->own = !r->simulator && !e->here;
    e->target = r->target;
    if (e->own) e->target = (cg_target){.kind = CG_CUDA, .arch = settings_simulated(d)};
    if (!e->target.arch) return false;
    choose_device(r, e);
    e->hook.launch = note_launch;
    e->hook.user = e;
    r->estimator = e;
    gnn_context_options o = {.device = GNN_HOST, .threads = 1, .simulator = &e->hook};
    gnn_status s = gnn_context_new(&o, &e->context);
    if (s)
        diag(d->ds, runtime_code((int)s, E0822), NO_SPAN, "nothing can be estimated: %s",
             gnn_status_text(s));
    return !s;
}

void run_estimate_bandwidth(run_session *r, double measured) {
    if (r->estimator && r->estimator->here) r->estimator->bandwidth = measured;
}

void run_estimate_close(run_session *r) {
    if (r->estimator) gnn_context_free(r->estimator->context);
}

// ---- Its program --------------------------------------------------------------------------------

static bool failed(run_op *o, gnn_status s) {
    gnn_context *c = o->r->estimator->context;
    if (!s) return false;
    diag(o->r->d->ds, runtime_code((int)s, E0822), o->op->op->at,
         "%s: its launches on %s cannot be estimated: %s", o->op->name, o->r->estimator->device,
         *gnn_context_error(c) ? gnn_context_error(c) : gnn_status_text(s));
    gnn_context_clear_error(c);
    return true;
}

// The kernels that the version launches.
static const bool *launched_kernels(run_op *o, const simt_module *m) {
    const run_estimator *e = o->r->estimator;
    bool *kernels = ARENA_ARRAY(o->arena, bool, m->funcs.len + 1);
    for (uint32_t k = 0; k < m->funcs.len; k++)
        for (uint32_t i = 0; i < e->notes.len; i++)
            kernels[k] |= m->funcs.data[k] == e->notes.data[i].kernel;
    return kernels;
}

static bool assemble(run_op *o, run_estimated *x, const char *version) {
    driver *d = o->r->d;
    cg_options options = settings_codegen(d);
    options.cubins = cache_cubins(d);
    cg_output cubin = {0};
    const run_estimator *e = o->r->estimator;
    if (e->here) x->log = o->codes[o->level].log;
    if (e->here || (x->version && !strcmp(x->version, version))) return true;
    options.kernels = launched_kernels(o, x->op.module);
    phase(d, "assemble");
    if (!unit_code(o->arena, d, &x->op, &e->target, CG_CUBIN, &options, &cubin)) return false;
    x->log = cubin.log;
    x->version = arena_strdup(o->arena, version);
    return true;
}

static bool load(run_op *o) {
    const run_estimator *e = o->r->estimator;
    if (o->estimated) return o->estimated->program != NULL;
    run_estimated *x = o->estimated = ARENA_NEW(o->arena, run_estimated);
    x->op = *o->op;
    if (e->own &&
        (!unit_schedule(&x->op, &e->target) || !unit_program(o->r->d, &x->op, &e->target)))
        return false;
    textbuf manifest = textbuf_new(o->arena);
    cg_manifest(&manifest, x->op.program, &e->target);
    return !failed(
        o, gnn_program_load(e->context, manifest.data, manifest.len, &(gnn_code){0}, &x->program));
}

void run_estimate_free(run_op *o) {
    if (o->estimated) gnn_program_free(o->estimated->program);
}

// ---- Its launches -------------------------------------------------------------------------------

// Of two programs, versions are not the same ones: that which is asked for, if both have it.
static const char *version_asked(const run_op *o) {
    if (!o->r->estimator->own) return o->taken;
    const gnn_program *p = o->estimated->program;
    for (uint32_t i = 0; o->r->asked.version && i < gnn_program_versions(p); i++)
        if (!strcmp(gnn_program_version(p, i), o->r->asked.version)) return o->r->asked.version;
    return NULL;
}

// Nothing looks at the workspace, nor at what the arguments point to.
static bool note_launches(run_op *o, gnn_plan *plan, const char **version) {
    enum { NOWHERE = 4096 };
    run_estimator *e = o->r->estimator;
    uint32_t n = o->op->op->nparams;
    e->arena = o->arena;
    e->module = o->estimated->op.module;
    memset(&e->notes, 0, sizeof e->notes);   // those before may be of an arena that is gone
    return !failed(o, gnn_plan_version(plan, o->ready.args, n, version)) &&
           !failed(o, gnn_launch(plan, o->ready.args, n, (void *)(uintptr_t)NOWHERE,
                                 gnn_plan_workspace(plan), NULL));
}

// ---- What they come to --------------------------------------------------------------------------

static double bytes_of(const run_op *o, const double *moved, const gnn_extent *x) {
    const tensor_op *op = o->op->op;
    // or prepared, whose names are no parameter's; else workspace
    bool of_op = x->result || x->written;
    for (tensor_val v = 0; of_op && v < op->nparams; v++)
        if (!strcmp(op->vals.data[v].name, x->name)) return moved[v];
    return (double)x->bytes;
}

static bool writes(const run_op *o, const launch_note *n, const gnn_extent *to) {
    const uint8_t *access = simt_accesses_of(o->arena, n->kernel);
    for (uint32_t i = 0; i < n->kernel->params.len; i++)
        if (access[i] & SIMT_PARAM_WRITTEN && n->extents[i].name &&
            n->extents[i].data == to->data && !strcmp(n->extents[i].name, to->name))
            return true;
    return false;
}

static bool others_write(const run_op *o, const launch_note *self, const gnn_extent *to) {
    const run_estimator *e = o->r->estimator;
    for (uint32_t i = 0; i < e->notes.len; i++)
        if (&e->notes.data[i] != self && writes(o, &e->notes.data[i], to)) return true;
    return false;
}

static void add_bytes(const run_op *o, const double *moved, const launch_note *n,
                      run_launched *out) {
    const uint8_t *access = simt_accesses_of(o->arena, n->kernel);
    for (uint32_t i = 0; i < n->kernel->params.len; i++) {
        const gnn_extent *x = &n->extents[i];
        if (!x->name) continue;
        double bytes = bytes_of(o, moved, x);
        if (access[i] & SIMT_PARAM_READ) out->bytes += bytes;
        if (!(access[i] & SIMT_PARAM_WRITTEN)) continue;
        out->bytes += bytes;
        out->is_most |= others_write(o, n, x);
    }
}

static run_launched launched(const run_op *o, const double *moved, const launch_note *n) {
    const run_estimator *e = o->r->estimator;
    run_launched l = {.resources = resources_of(e->target.arch, n->kernel, o->estimated->log),
                      .launches = n->launches,
                      .blocks = n->blocks,
                      .is_most = n->launches > 1};
    double at_once = (double)l.resources.fits.blocks * e->hook.device.sms;
    if (l.resources.known && at_once > 0) {
        l.waves = n->blocks / at_once;
        l.efficiency = l.waves / ceil(l.waves);
    }
    add_bytes(o, moved, n, &l);
    return l;
}

static bool estimate(run_op *o, gnn_plan *plan, run_estimate *out) {
    const run_estimator *e = o->r->estimator;
    bench_traffic traffic = {.moved = ARENA_ARRAY(o->arena, double, o->op->op->nparams + 1)};
    const char *version = NULL;
    if (!note_launches(o, plan, &version) || !assemble(o, o->estimated, version) ||
        !bench_traffic_of(o, &traffic))
        return false;
    arena *a = o->r->d->arena;
    *out = (run_estimate){.version = arena_strdup(a, version),
                          .device = e->device,
                          .arch = e->target.arch,
                          .sms = (uint32_t)e->hook.device.sms,
                          .bandwidth = e->bandwidth,
                          .bytes = traffic.compulsory,
                          .flops = traffic.flops,
                          .log = arena_strdup(a, o->estimated->log)};
    for (uint32_t i = 0; i < e->notes.len; i++)
        VEC_PUSH(a, &out->launched, launched(o, traffic.moved, &e->notes.data[i]));
    return true;
}

// Of code of several levels that of the last is told, and of another program one version.
static bool is_due(const run_op *o) {
    const run_session *r = o->r;
    return r->estimator && !o->changed && o->level + 1 == r->asked.nlevels &&
           !(r->estimator->own && o->turn);
}

static void run_estimate_print(run_session *r, const run_row *row);

bool run_estimate_op(run_op *o, run_row *row) {
    if (!is_due(o)) return true;
    if (!load(o)) return false;
    gnn_plan *plan = NULL;
    gnn_plan_options options = run_plan_options(o);
    options.flags = GNN_TRUSTED;   // the plan that runs has checked the maps
    options.version = version_asked(o);
    run_estimate *out = ARENA_NEW(o->r->d->arena, run_estimate);
    bool good = !failed(o, gnn_plan_new(o->estimated->program, &options, &plan)) &&
                estimate(o, plan, out);
    gnn_plan_free(plan);
    if (!good) return false;
    row->estimate = out;
    if (!option_given(o->r->d, OPT_JSON) && !o->r->asked.cost) run_estimate_print(o->r, row);
    return true;
}

// ---- The table ----------------------------------------------------------------------------------

enum { OWN = 6, COLUMNS = RESOURCE_COLUMNS + OWN };

static const char *time_text(arena *a, const run_estimate *e, double bytes) {
    return table_time_text(a, bytes / e->bandwidth * 1e3);
}

static void launched_cells(arena *a, const run_estimate *e, const run_launched *l,
                           const char **cell) {
    const kernel_resources *k = &l->resources;
    resources_cells(a, k, cell);
    const char *own[OWN] = {arena_printf(a, "%lld", (long long)l->launches),
                            arena_printf(a, "%lld", (long long)l->blocks),
                            l->waves > 0 ? arena_printf(a, "%.2f", l->waves) : "-",
                            l->waves > 0 ? arena_printf(a, "%.1f%%", 100 * l->efficiency) : "-",
                            arena_printf(a, "%s%.3f", l->is_most ? "<" : "", l->bytes / 1e6),
                            l->is_most || e->bandwidth <= 0 ? "-" : time_text(a, e, l->bytes)};
    memcpy(cell + RESOURCE_COLUMNS, own, sizeof own);
}

static void print_launched(arena *a, const run_estimate *e, FILE *out) {
    static const char *const own[OWN] = {"launches",   "blocks", "waves",
                                         "efficiency", "MB",     "floor"};
    const char **cells = ARENA_ARRAY(a, const char *, (e->launched.len + 1) * COLUMNS);
    resources_title(cells);
    memcpy(cells + RESOURCE_COLUMNS, own, sizeof own);
    for (uint32_t i = 0; i < e->launched.len; i++)
        launched_cells(a, e, &e->launched.data[i], cells + (i + 1) * COLUMNS);
    table_print(a,
                &(text_table){.rows = e->launched.len + 1,
                              .columns = COLUMNS,
                              .first_number = 1,
                              .last_number = COLUMNS - 1,
                              .cells = cells},
                out);
}

static void run_estimate_print(run_session *r, const run_row *row) {
    const run_estimate *e = row->estimate;
    arena *a = r->d->arena;
    fprintf(r->notes, "%s on %s (%s, %u multiprocessors", row->name, e->device, e->arch->name,
            e->sms);
    if (e->bandwidth > 0) fprintf(r->notes, ", %.0f GB/s", e->bandwidth / 1e9);
    fprintf(r->notes, "), version '%s', %s\n", e->version, row->sizes);
    print_launched(a, e, r->notes);
    textbuf rest = textbuf_new(a);
    resources_put_rest(&rest, e->log);
    if (rest.len) fputs(rest.data, r->notes);
    fprintf(r->notes, "the op must move %.3f MB and take %.3f MFLOP", e->bytes / 1e6,
            e->flops / 1e6);
    if (e->bandwidth > 0) fprintf(r->notes, "; the memory needs %s", time_text(a, e, e->bytes));
    fputs("\n\n", r->notes);
}
