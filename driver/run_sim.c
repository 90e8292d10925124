// --target=sim: the GPU's program of an op, its launches handed to the simulator.
#include "run_sim.h"

#include <string.h>

typedef struct run_simulator {
    gnn_simulator hook;
    sim *sim;   // of the op at hand
    bool counting;
    const simt_module *module;
} run_simulator;

static void launch(void *user, const char *kernel, const uint64_t *slots, const gnn_extent *extents,
                   uint32_t blocks, bool early) {
    enum { MOST = 512 };   // the runtime's manifests hold no more arguments of a launch
    const run_simulator *s = user;
    const simt_func *f = simt_func_find(s->module, kernel);
    sim_arg args[MOST];
    if (f->params.len > MOST) ICE("kernel '%s' has %u parameters", kernel, f->params.len);
    for (uint32_t i = 0; i < f->params.len; i++) {
        const gnn_extent *x = &extents[i];
        args[i] = (sim_arg){slots[i],   x->name,   x->data,   x->bytes,
                            x->written, x->result, x->scratch};
    }
    sim_launch(s->sim, kernel, args, blocks, early);
}

// As schedules see it: the numbers of the one named, or of the first known, but for what the
// architecture decides.
gnn_device_info run_sim_device(const driver *d, const gpu_arch *arch) {
    const cost_machine *as = device_named(d) ? device_named(d) : cost_machine_at(0);
    gnn_device_info info = {.devices = 1,
                            .sm = (int)arch->sm,
                            .sms = (int)as->sms,
                            .memory = (int64_t)bind_memory(),
                            .shared_bytes = arch->shared_bytes - CG_SHARED_RESERVED,
                            .l2_bytes = (int64_t)(as->l2_mib * (1 << 20))};
    snprintf(info.name, sizeof info.name, "simulated %s", arch->name);
    return info;
}

bool run_sim_open(run_session *r) {
    driver *d = r->d;
    r->target = (cg_target){.kind = CG_CUDA, .arch = settings_simulated(d)};
    if (!r->target.arch) return false;
    r->simulator = ARENA_NEW(d->arena, run_simulator);
    r->simulator->hook = (gnn_simulator){
        .device = run_sim_device(d, r->target.arch), .launch = launch, .user = r->simulator};
    gnn_context_options o = {.device = GNN_HOST, .threads = 1, .simulator = &r->simulator->hook};
    gnn_status s = gnn_context_new(&o, &r->context);
    if (s)
        diag(d->ds, runtime_code((int)s, E0822), NO_SPAN, "the simulator cannot be used: %s",
             gnn_status_text(s));
    return !s;
}

void run_sim_load(run_op *o) {
    run_simulator *s = o->r->simulator;
    if (!s) return;
    s->module = o->op->module;
    s->sim = sim_new(o->r->d->ds, s->module);
}

static sim_order opposite(sim_order o) {
    return o == SIM_FORWARD ? SIM_REVERSE : o == SIM_REVERSE ? SIM_FORWARD : SIM_RANDOM;
}

sim_order run_sim_order(const driver *d) {
    static const char *const words[] = {"random", "forward", "reverse"};
    for (sim_order o = SIM_RANDOM; o <= SIM_REVERSE; o++)
        if (option_is(d, OPT_SIM_ORDER, words[o])) return o;
    return SIM_RANDOM;
}

void run_sim_begin(run_op *o, bool again) {
    sim_order order = run_sim_order(o->r->d);
    uint64_t seed = (uint64_t)option_number(o->r->d, OPT_SIM_SEED, 0);
    if (!o->r->simulator) return;
    sim_begin(o->r->simulator->sim, again ? opposite(order) : order, again ? ~seed : seed);
    o->r->simulator->counting = !again && !o->changed && run_profiles(o->r->d);
    if (o->r->simulator->counting) sim_count(o->r->simulator->sim);
}

void run_sim_sample(run_op *o, const cost_machine *m) {
    const sim_sampling how = cost_sampling(m);
    sim_begin(o->r->simulator->sim, SIM_FORWARD, 0);
    sim_sample(o->r->simulator->sim, &how);
}

uint32_t run_sim_sampled(run_op *o, const sim_profile **out) {
    return sim_counted(o->r->simulator->sim, o->r->d->arena, out);
}

bool run_sim_report(run_op *o) {
    run_simulator *s = o->r->simulator;
    if (s && sim_report(s->sim)) o->r->d->mismatch = true;
    if (s && s->counting) run_profile(o->r->d, s->sim, o->r->notes);
    if (s) s->counting = false;
    return true;
}

void run_sim_free(run_session *r) {
    if (!r->simulator) return;
    sim_free(r->simulator->sim);
    r->simulator->sim = NULL;
}
