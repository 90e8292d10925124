// gnnc run: every op asked for, on one graph, with a row each.
#include "estimate.h"
#include "run_memory.h"
#include "run_sim.h"

#include <string.h>

// ---- What is asked for --------------------------------------------------------------------------

static run_layout layout_of(const driver *d) {
    static const char *const words[] = {"packed", "strided", "misaligned", "broadcast",
                                        "uneven", "reach",   "far",        "aligned"};
    for (run_layout l = LAYOUT_PACKED; l <= LAYOUT_ALIGNED; l++)
        if (option_is(d, OPT_LAYOUT, words[l])) return l;
    return LAYOUT_PACKED;
}

void run_read_options(run_session *r) {
    const driver *d = r->d;
    r->asked.layout = layout_of(d);
    r->asked.inplace = option_given(d, OPT_INPLACE);
    r->asked.out = option_text(d, OPT_OUT, NULL);
    r->options = (bind_options){.seed = (uint64_t)option_number(d, OPT_SEED, 0),
                                .values = option_is(d, OPT_VALUES, "special") ? VALUES_SPECIAL
                                                                              : VALUES_RANDOM,
                                .mixed = option_is(d, OPT_EDGES, "mixed"),
                                .broadcast = r->asked.layout == LAYOUT_BROADCAST};
    if (r->asked.out && d->values[OPT_GRAPH].len > 1)
        usage(r->d, E0812, "--out takes the results of one graph, not of %u",
              d->values[OPT_GRAPH].len);
    r->asked.all_plans = option_given(d, OPT_ALL_PLANS);
    r->asked.accept_overflow = option_given(d, OPT_ACCEPT_OVERFLOW);
    r->asked.version = option_text(d, OPT_PLAN, NULL);
    r->asked.nlevels = 1;
    r->asked.levels[0] = settings_codegen(d).optimise;
    if (r->asked.all_plans && r->asked.version)
        usage(r->d, E0812, "--all-plans takes every version, --plan=%s one", r->asked.version);
}

static bool no_gpu(run_session *r, gnn_status s) {
    driver *d = r->d;
    diagnostic *fault = diag(d->ds, runtime_code((int)s, E0822), NO_SPAN, "--target=cuda: %s",
                             r->context ? gnn_context_error(r->context) : gnn_status_text(s));
    if (d->loaded_arch)
        diag_help(
            fault,
            "--resource-usage --repeat=0 tells what a PTX text takes of a GPU that is not here");
    else diag_help(fault, "--target=host runs on this machine's cores");
    return false;
}

static bool open_gpu(run_session *r, const unit *u) {
    driver *d = r->d;
    gnn_device_info info;
    const char *arch = option_text(d, OPT_ARCH, d->loaded_arch ? d->loaded_arch : "native");
    r->target = (cg_target){.kind = CG_CUDA, .arch = settings_arch(d, arch)};
    if (!r->target.arch) return false;
    return !d->loaded_arch || gnn_device_query(r->context, &info) ||
           load_ptx_runs(d, u, (uint32_t)info.sm);
}

// Without --target, the GPU where there is one.
static bool open_device(run_session *r, const unit *u) {
    driver *d = r->d;
    bool named = option_given(d, OPT_TARGET) || (d->loaded_arch && r->asked.repeat),
         host = option_is(d, OPT_TARGET, "host");
    int device = device_number(d);
    if (d->usage_fault) return false;
    if (d->values[OPT_TARGET].len > 1) {
        usage(d, E0812, "gnnc %s takes one target", verb_name(d->verb));
        return false;
    }
    if (option_is(d, OPT_TARGET, "sim") || r->pack || r->asked.cost) return run_sim_open(r);
    // which estimates for a GPU
    if (host && !option_given(d, OPT_RESOURCE_USAGE)) settings_host_alone(d);
    gnn_status s = host ? GNN_NO_DEVICE
                        : gnn_context_new(&(gnn_context_options){.device = GNN_GPU(device)},
                                          &r->context);
    if (s && named && !host) return no_gpu(r, s);
    if (!s) return open_gpu(r, u);
    gnn_context_free(r->context);
    r->context = NULL;
    r->target = (cg_target){.kind = CG_HOST};
    s = gnn_context_new(&(gnn_context_options){.device = GNN_HOST}, &r->context);
    if (s)
        diag(d->ds, runtime_code((int)s, E0822), NO_SPAN, "the host cannot be used: %s",
             gnn_status_text(s));
    return !s;
}

// A PTX text is judged before a GPU is looked for.
static bool check_loaded(run_session *r, unit *u) {
    driver *d = r->d;
    bool host = option_is(d, OPT_TARGET, "host") && r->asked.repeat,
         sim = option_is(d, OPT_TARGET, "sim") && !r->pack;
    if (!d->loaded_arch) return true;
    if (host || sim)
        diag_help(usage(d, E0812, "--load-ptx is code for GPUs, which --target=%s does not run",
                        host ? "host" : "sim"),
                  host ? "--target=cuda runs it" : "--load-simt is for --target=sim, too");
    if (r->asked.nlevels > 1)
        usage(d, E0812, "--all-levels makes code of two levels, --load-ptx brings its own");
    cg_target *t = ARENA_NEW(d->arena, cg_target);
    *t = (cg_target){.kind = CG_CUDA,
                     .arch = settings_arch(d, option_text(d, OPT_ARCH, d->loaded_arch))};
    for (uint32_t i = 0; i < u->ops.len && !d->usage_fault; i++)
        if (!unit_schedule(&u->ops.data[i], t) || !unit_program(d, &u->ops.data[i], t))
            return false;
    return !d->usage_fault && load_taken(d);
}

static bool has_parameter(const unit *u, const char *name, size_t n) {
    for (uint32_t i = 0; i < u->ops.len; i++)
        for (tensor_val v = 0; u->ops.data[i].op && v < u->ops.data[i].op->nparams; v++) {
            const char *other = u->ops.data[i].op->vals.data[v].name;
            if (!strncmp(name, other, n) && !other[n]) return true;
        }
    return false;
}

static void no_parameter(run_session *r, const unit *u, const char *name) {
    diagnostic *fault = usage(r->d, E0818, "no op that is run has a parameter '%s'", name);
    VEC(const char *) near = {0};
    for (uint32_t i = 0; i < u->ops.len; i++)
        for (tensor_val v = 0; u->ops.data[i].op && v < u->ops.data[i].op->nparams; v++)
            VEC_PUSH(r->d->arena, &near, u->ops.data[i].op->vals.data[v].name);
    diag_suggest(fault, NO_SPAN, name, near.data, near.len);
}

static bool has_size(const unit *u, const char *name, size_t n) {
    for (uint32_t i = 0; i < u->ops.len; i++)
        for (tensor_space s = 0; u->ops.data[i].op && s < u->ops.data[i].op->spaces.len; s++) {
            const tensor_space_info *info = &u->ops.data[i].op->spaces.data[s];
            if (info->kind == SPACE_FREE && !strncmp(name, info->name, n) && !info->name[n])
                return true;
        }
    return false;
}

static bool check_sizes(run_session *r, const unit *u) {
    enum { DIGITS = 18 };   // fit 64 bits
    for (uint32_t i = 0; i < r->d->values[OPT_SIZE].len; i++) {
        const char *text = r->d->values[OPT_SIZE].data[i];
        size_t n = strcspn(text, "="), digits = text[n] ? strspn(text + n + 1, "0123456789") : 0;
        if (!n || !digits || digits > DIGITS || text[n + 1 + digits])
            usage(r->d, E0812, "--size takes NAME=N, a whole number, not '%s'", text);
        else if (!has_size(u, text, n))
            diag(r->d->ds, W0801, NO_SPAN,
                 "--size=%s has no effect: no op of '%s' that is taken leaves such a size open",
                 text, u->path);
    }
    return !r->d->usage_fault;
}

static bool check_parameters(run_session *r, const unit *u) {
    for (uint32_t i = 0; i < r->d->values[OPT_PARAM].len; i++) {
        const char *text = r->d->values[OPT_PARAM].data[i];
        size_t n = strcspn(text, "=");
        if (!text[n] || !n || !text[n + 1])
            usage(r->d, E0812, "--param takes NAME=V, not '%s'", text);
        else if (!has_parameter(u, text, n))
            no_parameter(r, u, arena_strndup(r->d->arena, text, n));
    }
    return !r->d->usage_fault;
}

// ---- One op -------------------------------------------------------------------------------------

static bool bind(run_op *o, run_row *row) {
    run_session *r = o->r;
    phase(r->d, "bind");
    o->b = bind_op(r->d, o->arena, o->op->op, r->graph, &r->options);
    if (!o->b) return false;
    row->sizes = run_sizes(o->b);
    return !r->asked.check || run_affordable(o);
}

static bool run_steps(run_op *o, run_row *row) {
    return run_load(o) && run_prepare(o) && run_estimate_op(o, row) && run_launches(o, row) &&
           (!o->r->asked.check || run_compare(o, row)) && run_keep(o) && run_write(o);
}

// --resource-usage of what is not launched: in the simulator no code is made but that of the
// kernels it tells of.
static bool estimate_steps(run_op *o, run_row *row) {
    row->estimated = true;
    return run_load(o) && run_prepare(o) && run_estimate_op(o, row);
}

// Of what was compared, and not found wrong.
static const char *judged(run_op *o, const run_row *row) {
    if (row->check.overflowed) return row->check.fails_by_overflow ? "OVERFLOWED" : "overflows";
    // of results without elements, too
    if (row->check.compared || !row->check.uncertain) return "right";
    const char *why = row->check.one_in > 1 ? "the sample tells nothing"
                                            : "rounding alone could turn each";
    diag_help(diag(o->r->d->ds, W0804, o->op->op->at,
                   "%s%s: nothing is compared: %s of %lld elements", o->op->name, o->where, why,
                   (long long)row->check.uncertain),
              "other inputs (--seed, --param) may tell more");
    return "not compared";
}

static const char *verdict_of(run_op *o, const run_row *row, bool good) {
    if (o->r->d->mismatch) return "WRONG";
    if (o->unfit) return "unfit";
    if (!good) return "refused";
    if (row->packed) return "packed";
    if (row->estimated) return "estimated";
    if (row->checked) return judged(o, row);
    return o->unchecked ? "not compared" : o->r->asked.identical ? "same bits" : "ran";
}

static run_row run_turn(run_op *o, run_row row, bool good) {
    driver *d = o->r->d;
    bool wrong = d->mismatch;
    d->mismatch = o->unfit = false;
    o->taken = NULL;
    good = good && o->r->steps(o, &row);
    const char *plan = o->taken || !o->program ? o->taken : run_version(o);
    row.plan = plan ? arena_strdup(d->arena, plan) : "-";
    row.verdict = verdict_of(o, &row, good);
    d->mismatch |= wrong || row.check.fails_by_overflow;
    run_plan_free(o);
    return row;
}

// ---- All of them --------------------------------------------------------------------------------

typedef struct {
    const char *name;
    int64_t size;
} told_default;
typedef VEC(told_default) told_defaults;

// Each default once, however many ops take it.
static void tell_defaults(run_session *r, const binding *b, told_defaults *told) {
    const char *name;
    int64_t size;
    for (uint32_t at = 0; b && bind_default(b, &at, &name, &size);) {
        bool before = false;
        for (uint32_t i = 0; i < told->len; i++)
            before |= told->data[i].size == size && !strcmp(told->data[i].name, name);
        if (before) continue;
        VEC_PUSH(r->d->arena, told, ((told_default){arena_strdup(r->d->arena, name), size}));
        fprintf(r->notes, "%s = %lld (default; -D %s=…)\n", name, (long long)size, name);
    }
}

// The version at hand, at each level.
static void run_levels(run_op *o, run_rows *rows, run_row row, bool good) {
    const run_session *r = o->r;
    for (o->level = 0; o->level < r->asked.nlevels; o->level++) {
        if (r->asked.nlevels > 1) {
            o->where = arena_printf(r->d->arena, " at -O%u", r->asked.levels[o->level]);
            row.target = arena_printf(r->d->arena, "%s -O%u",
                                      r->target.kind == CG_HOST ? "host" : r->target.arch->name,
                                      r->asked.levels[o->level]);
        }
        VEC_PUSH(r->d->arena, rows, run_turn(o, row, good));
        if (r->print_row) r->print_row(r, &rows->data[rows->len - 1], stdout);
    }
}

// The op on the graph at hand.
static void run_graph_turns(run_op *o, run_rows *rows, told_defaults *told) {
    run_session *r = o->r;
    run_row row = {.name = o->op->name,
                   .target = r->simulator                ? "sim"
                             : r->target.kind == CG_HOST ? "host"
                                                         : r->target.arch->name,
                   .type = run_type(o->op->op),
                   .graph = r->graph->text,
                   .sizes = "-"};
    o->one_in = 1;
    o->turn = 0;
    o->expected = NULL;
    bool good = bind(o, &row);
    memset(&o->stored, 0, sizeof o->stored);
    do run_levels(o, rows, row, good);
    while (r->asked.all_plans && ++o->turn < gnn_program_versions(o->program));
    if (good && r->asked.metamorphic) run_metamorphic(o);
    tell_defaults(r, o->b, told);
    if (o->b) bind_free(o->b);
    diag_print(r->d->ds, stderr);
}

static void run_ops(run_session *r, unit *u, run_rows *rows) {
    told_defaults told = {0};
    for (uint32_t i = 0; i < u->ops.len; i++) {
        if (!u->ops.data[i].op) continue;
        run_op o = {.r = r, .arena = arena_new(), .op = &u->ops.data[i], .where = ""};
        run_pack_begin(&o);
        for (uint32_t g = 0; g < r->graphs.len; g++) {
            r->graph = &r->graphs.data[g];
            run_graph_turns(&o, rows, &told);
        }
        run_pack_end(&o);
        run_op_free(&o);
        arena_free(o.arena);
    }
}

static bool load_graphs(run_session *r) {
    driver *d = r->d;
    uint32_t given = d->values[OPT_GRAPH].len;
    for (uint32_t i = 0; i < (given ? given : 1); i++) {
        VEC_PUSH(d->arena, &r->graphs, (run_graph){0});
        if (!run_graph_load(d, given ? d->values[OPT_GRAPH].data[i] : NULL, &r->graphs.data[i]))
            return false;
    }
    return true;
}

static void tell_templates(const run_session *r, const unit *u) {
    const driver *d = r->d;
    if (!u->frontend || option_given(d, OPT_OP)) return;
    for (uint32_t i = 0; i < u->frontend->ops.len; i++) {
        const frontend_op *op = &u->frontend->ops.data[i];
        if (op->imported || !op->generic_left) continue;
        fprintf(r->notes, "%s: skipped, it has no concrete form; bind its generics:", op->name);
        for (const ast_generic *g = op->item->generics; g; g = g->next)
            if (g->kind.text && strcmp(g->kind.text, "float") && strcmp(g->kind.text, "int"))
                fprintf(r->notes, " -D %s=%s", g->name.text,
                        strcmp(g->kind.text, "size") ? "NAME" : "3");
        fputs("\n", r->notes);
    }
}

static void tell_rules(const run_session *r, const unit *u) {
    VEC(const char *) told = {0};
    for (uint32_t i = 0; u->frontend && i < u->ops.len; i++) {
        uint32_t at = 0;
        for (const char *path;
             (path = frontend_rules(u->frontend, u->ops.data[i].number, &at)) != NULL;) {
            bool before = false;
            for (uint32_t k = 0; k < told.len; k++) before |= !strcmp(told.data[k], path);
            if (before) continue;
            VEC_PUSH(r->d->arena, &told, path);
            fprintf(r->notes, "by the rules of %s (--no-rules: without them)\n", path);
        }
    }
}

static void run_unit(run_session *r, unit *u) {
    run_rows rows = {0};
    if (!check_parameters(r, u) || !check_sizes(r, u)) return;
    tell_templates(r, u);
    tell_rules(r, u);
    run_ops(r, u, &rows);
    run_pack_write(r);
    if (rows.len) r->print(r, &rows, stdout);
    else if (!diag_errors(r->d->ds))
        unit_tell_imported(r->d,
                           diag(r->d->ds, E0806, NO_SPAN,
                                "nothing ran: '%s' has no op with a concrete form", u->path),
                           u);
    run_metamorphic_print(r, stdout);
    stdout_flush(r->d);
}

int run_every_op(run_session *r) {
    driver *d = r->d;
    unit u;
    bool simt = path_ends(d->inputs.data[0], ".simt");
    if (!load_read(d)) return driver_status(d);
    if (simt && option_is(d, OPT_TARGET, "sim") && d->verb == VERB_RUN) return run_simt(d);
    if (simt)
        diag_help(usage(d, E0805, "'%s' has no ops to run: name a .gnn or .tensor file",
                        d->inputs.data[0]),
                  "gnnc run --target=sim runs its kernels");
    if (!d->usage_fault && unit_load(d, d->inputs.data[0], &u) && check_loaded(r, &u) &&
        load_graphs(r) && open_device(r, &u) && run_estimate_open(r) && run_check_far(r))
        run_unit(r, &u);
    phase(d, NULL);
    run_estimate_close(r);
    gnn_context_free(r->context);
    for (uint32_t i = 0; i < r->graphs.len; i++) run_graph_free(&r->graphs.data[i]);
    return driver_status_compared(d);
}

static void read_pack(run_session *r) {
    driver *d = r->d;
    if (!option_given(d, OPT_PACK)) return;
    if (r->asked.out || r->asked.repeat > 1)
        usage(d, E0812, "--pack launches nothing: it has no use for --%s",
              r->asked.out ? "out" : "repeat");
    if (r->asked.metamorphic || r->asked.nlevels > 1)
        usage(d, E0812, "--pack launches nothing: it has no use for --%s",
              r->asked.metamorphic ? "metamorphic" : "all-levels");
    if (option_is(d, OPT_TARGET, "host"))
        diag_help(usage(d, E0812, "--pack takes code for GPUs, not --target=host"),
                  "gnnc run --target=host --check runs it here");
    run_pack_open(r, option_text(d, OPT_PACK, ""));
    r->asked.check = true;
    r->steps = run_pack_version;
}

static void read_levels(run_session *r) {
    driver *d = r->d;
    if (!option_given(d, OPT_ALL_LEVELS)) return;
    if (option_given(d, OPT_LEVEL))
        usage(d, E0812, "--all-levels takes -O0 and -O3, -O%s one", option_text(d, OPT_LEVEL, ""));
    if (option_is(d, OPT_TARGET, "sim"))
        usage(d, E0812, "--all-levels: the simulator takes SIMT code, which has no level");
    r->asked.nlevels = 2;
    r->asked.levels[0] = 0;
    r->asked.levels[1] = 3;
}

static void read_identical(run_session *r) {
    driver *d = r->d;
    if (!option_given(d, OPT_IDENTICAL)) return;
    r->asked.identical = option_number(d, OPT_IDENTICAL, 0);
    if (r->asked.identical < 2 || r->asked.identical > 1000000)
        usage(d, E0812, "--identical takes a number from 2 to 1000000");
    if (!option_on(d, OPT_DETERMINISTIC, true))
        usage(d, E0812, "--identical demands the bits that --no-deterministic does not give");
    if (option_given(d, OPT_PACK))
        usage(d, E0812, "--pack launches nothing: it has no use for --identical");
}

static void read_none(run_session *r) {
    driver *d = r->d;
    if (r->asked.repeat) return;
    if (r->asked.check || r->asked.out || r->asked.identical || option_given(d, OPT_PACK) ||
        !option_given(d, OPT_RESOURCE_USAGE))
        usage(d, E0812, "--repeat=0 launches nothing: it is for --resource-usage alone");
    r->steps = estimate_steps;
}

int drive_run(driver *d) {
    run_session r = {.d = d, .steps = run_steps, .print = run_print, .notes = stdout};
    run_read_options(&r);
    r.asked.metamorphic = option_given(d, OPT_METAMORPHIC);
    r.asked.check = option_given(d, OPT_CHECK) || r.asked.metamorphic;
    read_levels(&r);
    r.asked.check_budget = (double)option_number(d, OPT_CHECK_BUDGET, 0);
    r.asked.repeat = option_number(d, OPT_REPEAT, 1);
    run_profiles(d);
    if (r.asked.repeat < 0 || r.asked.repeat > 1000000)
        usage(d, E0812, "--repeat takes a number from 1 to 1000000");
    read_identical(&r);
    read_pack(&r);
    read_none(&r);
    return run_every_op(&r);
}

void run_op_free(run_op *o) {
    run_plan_free(o);
    run_estimate_free(o);
    for (uint32_t i = 0; i < 2; i++) gnn_program_free(o->codes[i].program);
    run_sim_free(o->r);
    for (uint32_t i = 0; i < 2; i++) cg_jit_free(o->codes[i].jit);
}
