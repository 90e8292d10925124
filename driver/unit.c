// An input file, from text to verified IR, op by op.
#include "unit.h"
#include "autodiff/gradient.h"
#include "loop.h"

#include <stdlib.h>
#include <string.h>

static const char *const text_kinds = ".gnn, .tensor, .loop or .simt";

bool unit_kind(const char *path, input_kind *kind) {
    static const char *const suffixes[] = {".gnn", ".tensor", ".loop", ".simt"};
    for (input_kind k = INPUT_GNN; k <= INPUT_SIMT; k++)
        if (path_ends(path, suffixes[k])) return *kind = k, true;
    *kind = INPUT_GNN;
    return !strcmp(path, "-");
}

static bool kind_of(driver *d, const char *path, input_kind *kind) {
    bool known = unit_kind(path, kind);
    if (!known) usage(d, E0805, "'%s' is not a %s file by its name", path, text_kinds);
    return known;
}

// ---- Which ops ----------------------------------------------------------------------------------

// By its name here, gat.grad, or in C, gat_grad.
static bool is_called(const char *name, const char *given) {
    while (*name && (*name == *given || (*name == '.' && *given == '_'))) name++, given++;
    return !*name && !*given;
}

static bool wanted(const driver *d, const char *name) {
    for (uint32_t i = 0; i < d->values[OPT_OP].len; i++)
        if (is_called(name, d->values[OPT_OP].data[i])) return true;
    return false;
}

typedef struct {
    VEC(const char *) all, generic;   // names an op of the file has; those without a concrete form
} op_names;

static bool among(const char *name, const char *const *names, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (is_called(names[i], name)) return true;
    return false;
}

static bool check_op_names(driver *d, const char *path, const op_names *names) {
    bool good = true;
    for (uint32_t i = 0; i < d->values[OPT_OP].len; i++) {
        const char *name = d->values[OPT_OP].data[i];
        if (among(name, names->generic.data, names->generic.len)) {
            diagnostic *fault = diag(d->ds, E0806, NO_SPAN, "op '%s' of '%s' has no concrete form",
                                     name, path);
            diag_help(
                fault,
                "bind its functions, reducers and sizes with -D, or name a form: op NAME = %s<...>;",
                name);
            good = false;
        } else if (!among(name, names->all.data, names->all.len)) {
            diagnostic *fault = diag(d->ds, E0806, NO_SPAN, "'%s' has no op '%s'", path, name);
            diag_suggest(fault, NO_SPAN, name, names->all.data, names->all.len);
            good = false;
        }
    }
    return good;
}

void unit_tell_imported(driver *d, diagnostic *fault, const unit *u) {
    const char *name = NULL;
    for (uint32_t i = 0; u->frontend && i < u->frontend->ops.len; i++)
        if (u->frontend->ops.data[i].imported && !u->frontend->ops.data[i].generic_left && !name)
            name = u->frontend->ops.data[i].name;
    if (name && !option_given(d, OPT_OP))
        diag_help(fault, "ops it imports are taken by name, as --op=%s does", name);
}

// ---- The kinds ----------------------------------------------------------------------------------

static const source_file *add_source(driver *d, const char *path, const char *text, size_t length) {
    const source_file *source = source_map_add(d->sources, path, text, length);
    if (!source)
        diag(d->ds, E0803, NO_SPAN, "'%s' and the other files are larger than 4 GiB together",
             path);
    return source;
}

// Types that are bound make a part of the name, so that two names of a source may be one in C.
static bool has_c_name(driver *d, const unit *u, const unit_op *o) {
    if (!strcmp(o->name, "gnn") || !strncmp(o->name, "gnn_", 4)) {
        diagnostic *fault = diag(d->ds, E0202, o->op->at, "'%s' is a name of the runtime's in C",
                                 o->name);
        diag_help(fault, "names of ops don't begin with gnn_");
        return false;
    }
    for (uint32_t i = 0; i < u->ops.len; i++) {
        if (strcmp(u->ops.data[i].name, o->name)) continue;
        diagnostic *fault = diag(d->ds, E0202, o->op->at,
                                 "'%s' is the name in C of another op, too", o->name);
        diag_note(fault, u->ops.data[i].op->at, "of this one");
        diag_help(fault, "give one another name, or take one with --op");
        return false;
    }
    return true;
}

static bool is_suffix(const char *s) {
    while (*s == '_' || (*s >= '0' && *s <= '9') || (*s >= 'a' && *s <= 'z') ||
           (*s >= 'A' && *s <= 'Z'))
        s++;
    return !*s;
}

// As it is called by those who link it.
static unit_op named(const driver *d, unit_op o) {
    const char *suffix = option_text(d, OPT_SUFFIX, "");
    if (*suffix) o.name = o.op->name = arena_printf(d->arena, "%s%s", o.op->name, suffix);
    if (*suffix && o.op->gradient_of)
        o.op->gradient_of = arena_printf(d->arena, "%s%s", o.op->gradient_of, suffix);
    return o;
}

// An op the compiler built must verify; tensor_parse has verified those a user wrote.
static void add_op(driver *d, unit *u, unit_op o) {
    o = named(d, o);
    if (!has_c_name(d, u, &o)) return;
    bool verifies = u->kind == INPUT_GNN && option_on(d, OPT_VERIFY, true);
    const char *wrong = verifies ? tensor_verify(d->arena, o.op) : NULL;
    if (wrong) ICE("op '%s' after normalise: %s", o.name, wrong);
    print_op_after(d, "normalise", o.op);
    VEC_PUSH(d->arena, &u->ops, o);
}

static bool load_kernels(driver *d, unit *u, const source_file *source) {
    simt_module *m = simt_parse(d->arena, d->ds, source);
    if (!m) must_tell(d, "simt_parse");
    if (!m) return false;
    op_names names = {0};
    VEC_PUSH(d->arena, &names.all, m->name);
    if (!check_op_names(d, u->path, &names)) return false;
    const char *wrong = simt_verify(d->arena, m);
    if (wrong) diag(d->ds, E0815, (span){source->base, source->base}, "%s", wrong);
    else VEC_PUSH(d->arena, &u->ops, ((unit_op){.name = m->name, .module = m}));
    return !wrong;
}

static bool load_tensor(driver *d, unit *u, const source_file *source) {
    tensor_ops ops = {0};
    op_names names = {0};
    if (!tensor_parse(d->arena, d->ds, source, &ops)) return false;
    for (uint32_t i = 0; i < ops.len; i++) VEC_PUSH(d->arena, &names.all, ops.data[i]->name);
    if (!check_op_names(d, u->path, &names)) return false;
    for (uint32_t i = 0; i < ops.len; i++)
        if (!option_given(d, OPT_OP) || wanted(d, ops.data[i]->name))
            add_op(d, u, (unit_op){.name = ops.data[i]->name, .op = ops.data[i]});
    return true;
}

static bool load_loop(driver *d, unit *u, const source_file *source) {
    loop_text *text = ARENA_NEW(d->arena, loop_text);
    op_names names = {0};
    if (!loop_parse(d->arena, d->ds, source, text)) return false;
    tensor_op *op = text->definition ? text->definition : text->plans.data[0]->op;
    VEC_PUSH(d->arena, &names.all, op->name);
    if (!check_op_names(d, u->path, &names)) return false;
    unit_op o = {.name = op->name, .op = op, .text = text};
    for (uint32_t i = 0; i < text->plans.len; i++)
        VEC_PUSH(d->arena, &o.plans, text->plans.data[i]);
    add_op(d, u, o);
    return true;
}

// A twin is taken by its name, or with its op (unit_twin).
static void lower_gnn(driver *d, unit *u) {
    for (uint32_t i = 0; i < u->frontend->ops.len; i++) {
        const frontend_op *op = &u->frontend->ops.data[i];
        bool take = option_given(d, OPT_OP) ? wanted(d, op->name)
                                            : !op->imported && !op->generic_left && !op->twin;
        tensor_op *lowered = take ? frontend_lower(u->frontend, i) : NULL;
        if (lowered)
            add_op(d, u,
                   (unit_op){
                       .name = lowered->name, .op = lowered, .frontend = u->frontend, .number = i});
        else if (take && op->twin && !diag_errors(d->ds))
            diag_help(
                diag(d->ds, E0806, NO_SPAN,
                     "there is no '%s': the gradients of that op save nothing of it", op->name),
                "`save STAGE;` in a schedule of a gradient keeps a stage for it; by itself none is kept of which some schedule of the op or its gradient says where it lives: `inline`, `online`, `keep`");
        else if (take) must_tell(d, "lower");
    }
}

bool unit_twin(driver *d, const unit_op *o, unit_op *out) {
    uint32_t i = o->frontend ? frontend_twin_of(o->frontend, o->number) : UINT32_MAX;
    tensor_op *lowered = i == UINT32_MAX ? NULL : frontend_lower(o->frontend, i);
    if (!lowered) return false;
    *out = named(
        d, (unit_op){.name = lowered->name, .op = lowered, .frontend = o->frontend, .number = i});
    print_op_after(d, "normalise", lowered);
    return true;
}

static bool hands_over(const unit_op *o) {
    return o->frontend && (o->frontend->ops.data[o->number].twin ||
                           frontend_twin_of(o->frontend, o->number) != UINT32_MAX);
}

static void unused_define(driver *d, const unit *u, const char *name) {
    diagnostic *fault = diag(
        d->ds, W0801, NO_SPAN,
        "-D %s has no effect: no op of '%s' that is taken has such a size or generic", name,
        u->path);
    VEC(const char *) sizes = {0};
    for (uint32_t i = 0; i < u->ops.len; i++)
        for (tensor_space s = 0; u->ops.data[i].op && s < u->ops.data[i].op->spaces.len; s++)
            VEC_PUSH(d->arena, &sizes, u->ops.data[i].op->spaces.data[s].name);
    diag_suggest(fault, NO_SPAN, name, sizes.data, sizes.len);
}

static bool load_gnn(driver *d, unit *u, const char *text, size_t length) {
    uint32_t before = diag_raised(d->ds);
    frontend_options options = settings_frontend(d);
    u->frontend = frontend_load(d->arena, d->ds, u->path, text, length, &options);
    if (!u->frontend || diag_raised(d->ds) != before) return false;
    op_names names = {0};
    for (uint32_t i = 0; i < u->frontend->ops.len; i++) {
        const frontend_op *op = &u->frontend->ops.data[i];
        VEC_PUSH(d->arena, &names.all, op->name);
        if (op->generic_left) VEC_PUSH(d->arena, &names.generic, op->name);
    }
    if (!check_op_names(d, u->path, &names)) return false;
    if (d->verb == VERB_CHECK && !option_given(d, OPT_OP)) {   // templates too
        phase(d, "check");
        if (!frontend_check(u->frontend)) return false;
    }
    phase(d, "lower");
    lower_gnn(d, u);
    uint32_t at = 0;
    for (const char *name;
         diag_raised(d->ds) == before && (name = frontend_unused_define(u->frontend, &at));)
        unused_define(d, u, name);
    return true;
}

static bool takes_suffix(driver *d) {
    const char *suffix = option_text(d, OPT_SUFFIX, "");
    bool good = is_suffix(suffix);
    if (!good) usage(d, E0812, "--suffix takes letters, digits and '_', not '%s'", suffix);
    return good;
}

bool unit_load(driver *d, const char *path, unit *u) {
    *u = (unit){.path = path};
    uint32_t before = diag_raised(d->ds);   // other files' faults are not this one's
    phase(d, "read");
    size_t length;
    if (!kind_of(d, path, &u->kind) || !takes_suffix(d)) return false;
    const char *text = file_read(d, path, &length);
    if (!text) return false;
    phase(d, "parse");
    if (u->kind == INPUT_GNN)
        return load_gnn(d, u, text, length) && load_belongs(d, u) && diag_raised(d->ds) == before;
    const source_file *source = add_source(d, path, text, length);
    if (!source) return false;
    bool (*load)(driver *, unit *, const source_file *) = u->kind == INPUT_SIMT   ? load_kernels
                                                          : u->kind == INPUT_LOOP ? load_loop
                                                                                  : load_tensor;
    return load(d, u, source) && load_belongs(d, u) && diag_raised(d->ds) == before;
}

bool unit_load_text(driver *d, const char *path, const char *text, size_t length, unit *u) {
    *u = (unit){.path = path, .kind = INPUT_GNN};
    return load_gnn(d, u, text, length);
}

static const char *target_text(const cg_target *t) {
    return t->kind == CG_HOST ? "host" : t->arch->name;
}

bool unit_schedules(unit_op *o, const cg_target *target) {
    return !o->frontend || frontend_schedules(o->frontend, o->number, target_text(target), o->op,
                                              &o->schedules, &o->choice);
}

bool unit_schedule(unit_op *o, const cg_target *target) {
    bool good = unit_schedules(o, target);
    for (uint32_t i = 0; good && i < o->schedules.len; i++)
        good = frontend_executable(o->frontend, o->number, target_text(target),
                                   o->schedules.data[i]);
    return good;
}

typedef struct {
    driver *d;
    unit_op *op;
    const cg_target *target;
} graph_taker;

static bool take_by_graph(void *user, program *p, uint32_t *number) {
    const graph_taker *t = user;
    return for_graph(t->d, t->op, t->target, p, number);
}

static program *plan(driver *d, unit_op *o, const cg_target *target, uint32_t index_bits,
                     bool far) {
    pass_options options = settings_pass(d, target);
    options.index_bits = index_bits;
    options.far = far;
    options.after = print_after(d);
    graph_taker taker = {d, o, target};
    if (option_given(d, OPT_FOR_GRAPH)) options.taker = (pass_taker){take_by_graph, &taker};
    // text by hand: sema has seen to others
    if (!o->frontend && !o->text) o->op = tensor_without_unread(d->arena, o->op);
    const char *machine = target->kind == CG_HOST ? "host" : "cuda";
    if (o->text) return pass_loop(d->arena, d->ds, o->text, machine, &options);
    if (option_given(d, OPT_NO_SCHEDULE)) return pass_naive(d->arena, d->ds, o->op, &options);
    options.choice = &o->choice;
    o->plans = (loop_plans){0};
    o->made = (schedule_list){0};
    return pass_scheduled(d->arena, d->ds, o->op, o->schedules.data, o->schedules.len, machine,
                          &options, &o->plans, &o->made);
}

program *unit_plan(driver *d, unit_op *o, const cg_target *target, uint32_t index_bits, bool far) {
    phase(d, "plan");
    o->program = plan(d, o, target, index_bits, far);
    o->planned = target;
    if (!o->program) {
        must_tell(d, "plan");
        return NULL;
    }
    o->module = o->program->module;
    VEC_PUSH(d->arena, &d->times.made, o->program);
    VEC_PUSH(d->arena, &d->times.made_for, o->name);
    uint32_t at = 0;
    for (const char *path; o->frontend && (path = frontend_rules(o->frontend, o->number, &at));)
        VEC_PUSH(d->arena, &o->program->rules, source_map_name(d->sources, path));
    o->program->saved |= hands_over(o);
    if (!load_simt(d, o, target) || !load_ptx(d, o, target)) return NULL;
    bool good = !option_given(d, OPT_SEED_FAULT) || seed_fault(d, o->program);
    return good ? o->program : NULL;
}

program *unit_program(driver *d, unit_op *o, const cg_target *target) {
    uint32_t bits = settings_pass(d, target).index_bits;
    bool made = o->program && o->program->index_bits == bits && o->planned->kind == target->kind &&
                o->planned->arch == target->arch;
    return made ? o->program : unit_plan(d, o, target, bits, false);
}

bool unit_code(arena *a, driver *d, const unit_op *o, const cg_target *t, cg_form form,
               const cg_options *options, cg_output *out) {
    if (!o->ptx || t->kind == CG_HOST) return cg_emit(a, d->ds, o->module, t, form, options, out);
    const cg_output text = {
        .data = o->ptx->source->text, .size = o->ptx->source->length, .log = ""};
    if (form == CG_CUBIN) return cg_ptx_assemble(a, d->ds, &text, t->arch, options, out);
    *out = text;
    return true;
}

void unit_check(driver *d, const unit_op *o) {
    phase(d, "plan");
    pass_options options = settings_pass(d, NULL);
    if (!pass_naive(d->arena, d->ds, o->op, &options)) must_tell(d, "naive");
}
