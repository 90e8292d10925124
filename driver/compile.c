// gnnc compile: ops to the forms asked for, on every target asked for.
#include "child.h"
#include "unit.h"
#include "cache.h"
#include "estimate.h"
#include "loop.h"
#include "progress.h"
#include "passes/facts/facts.h"

#include <string.h>

typedef struct {
    const char *name, *suffix;
    enum { ANY, CUDA, HOST } target;
    enum { TEXT, BINARY, WHOLE } kind;
} form_row;

static const form_row forms[] = {
#define FORM(id, name, suffix, target, kind, help) {name, suffix, target, kind},
#include "forms.def"
#undef FORM
};

typedef struct {
    driver *d;
    VEC(form) forms;
    VEC(cg_target) targets;
    bool cuda, host;   // which kinds are among them
    bool to_files;     // no -o, yet not to the standard output
    const char *out;   // -o
    cg_options options;
    uint32_t ops;       // of the input at hand
    textbuf log;        // --resource-usage
    uint32_t threads;   // --jobs
} job;

// ---- What is asked for --------------------------------------------------------------------------

static form form_named(const char *name) {
    for (uint32_t f = 0; f < FORM_COUNT; f++)
        if (!strcmp(forms[f].name, name)) return (form)f;
    ICE("form '%s'", name);
}

static bool wants_form(const job *j, form f) {
    for (uint32_t i = 0; i < j->forms.len; i++)
        if (j->forms.data[i] == f) return true;
    return false;
}

static void add_form(job *j, form f) {
    if (!wants_form(j, f)) VEC_PUSH(j->d->arena, &j->forms, f);
}

static bool is_named(const driver *d, const char *target) {
    for (uint32_t i = 0; i < d->values[OPT_TARGET].len; i++)
        if (!strcmp(d->values[OPT_TARGET].data[i], target)) return true;
    return false;
}

// The targets are those named, else the one the first form needs.
static void choose_kinds(job *j) {
    const driver *d = j->d;
    j->cuda = is_named(d, "cuda");
    j->host = is_named(d, "host");
    for (uint32_t i = 0; i < d->values[OPT_EMIT].len && !j->cuda && !j->host; i++) {
        form f = form_named(d->values[OPT_EMIT].data[i]);
        if (forms[f].target == CUDA) j->cuda = true;
        if (forms[f].target == HOST) j->host = true;
    }
    if (!j->host) j->cuda = true;
}

static void choose_forms(job *j) {
    const driver *d = j->d;
    bool only_text = true;
    for (uint32_t i = 0; i < d->values[OPT_EMIT].len; i++)
        add_form(j, form_named(d->values[OPT_EMIT].data[i]));
    for (uint32_t i = 0; i < j->forms.len; i++) only_text &= forms[j->forms.data[i]].kind == TEXT;
    if (option_given(d, OPT_ASSEMBLY)) add_form(j, j->cuda ? FORM_PTX : FORM_ASM);
    if (option_given(d, OPT_OBJECT)) add_form(j, j->host ? FORM_OBJ : FORM_CUBIN);
    j->to_files = !option_given(d, OPT_EMIT) || !only_text;
    if (j->forms.len) return;
    add_form(j, j->host ? FORM_OBJ : FORM_CUBIN);
    add_form(j, j->host ? FORM_HEADER : FORM_MANIFEST);
}

static void choose_archs(job *j) {
    driver *d = j->d;
    for (uint32_t i = 0; i < d->values[OPT_ARCH].len; i++) {
        const gpu_arch *arch = settings_arch(d, d->values[OPT_ARCH].data[i]);
        bool known = !arch;
        for (uint32_t k = 0; k < j->targets.len; k++) known |= j->targets.data[k].arch == arch;
        if (!known) VEC_PUSH(d->arena, &j->targets, ((cg_target){.kind = CG_CUDA, .arch = arch}));
    }
    if (j->targets.len || d->usage_fault) return;
    VEC_PUSH(
        d->arena, &j->targets,
        ((cg_target){.kind = CG_CUDA,
                     .arch = settings_arch(d, d->loaded_arch ? d->loaded_arch : GPU_DEFAULT)}));
}

static void choose_targets(job *j) {
    driver *d = j->d;
    if (j->cuda) choose_archs(j);
    else settings_host_alone(d);
    if (j->host) VEC_PUSH(d->arena, &j->targets, (cg_target){.kind = CG_HOST});
}

static void choose_jobs(job *j) {
    const int64_t jobs = option_number(j->d, OPT_JOBS, cg_processors());
    if (option_given(j->d, OPT_JOBS) && (jobs < 1 || jobs > CHILD_MOST))
        usage(j->d, E0812, "--jobs takes a number from 1 to %d", CHILD_MOST);
    j->threads = (uint32_t)jobs;
}

static bool is_for(form f, const cg_target *t) {
    return forms[f].target == ANY || (forms[f].target == HOST) == (t->kind == CG_HOST);
}

// Of whole sources, with code.
static bool makes_object(const job *j) {
    return wants_form(j, FORM_OBJ) || wants_form(j, FORM_LIBRARY);
}

static void check_loaded(job *j) {
    driver *d = j->d;
    bool object = makes_object(j),
         any = object || wants_form(j, FORM_PTX) || wants_form(j, FORM_CUBIN);
    if (!d->loaded_arch) return;
    if (!any)
        diag(d->ds, W0801, NO_SPAN,
             "--load-ptx has no effect unless PTX, a cubin or an object is made");
    if (object && !option_is(d, OPT_INDEX, "32") && !option_is(d, OPT_INDEX, "64"))
        diag_help(usage(d, E0812,
                        "an object holds code for both index widths, and --load-ptx that of one"),
                  "--index=32 makes an object of one");
}

// Made of the op's kernels, not of its equations.
static bool is_planned(form f) { return f != FORM_TENSOR && f != FORM_SCHEDULE && f != FORM_SAVED; }

static void check_forms(job *j) {
    driver *d = j->d;
    for (uint32_t i = 0; i < j->forms.len; i++) {
        const form_row *f = &forms[j->forms.data[i]];
        if (f->target == ANY || (f->target == HOST ? j->host : j->cuda)) continue;
        diagnostic *fault = usage(d, E0807, "there is no %s for --target=%s", f->name,
                                  j->host ? "host" : "cuda");
        diag_help(fault, "it is made for --target=%s", j->host ? "cuda" : "host");
    }
    bool assembled = wants_form(j, FORM_CUBIN) || (makes_object(j) && j->cuda);
    if (option_given(d, OPT_RESOURCE_USAGE) && !assembled)
        diag(d->ds, W0801, NO_SPAN, "--resource-usage has no effect unless a cubin is made");
    if (option_given(d, OPT_JOBS) && !(makes_object(j) && j->cuda))
        diag(d->ds, W0801, NO_SPAN,
             "--jobs has no effect unless an object is made with code for a GPU");
    if (option_given(d, OPT_FOR_GRAPH) && option_given(d, OPT_NO_SCHEDULE))
        diag(d->ds, W0801, NO_SPAN,
             "--for-graph has no effect with --no-schedule: the naive plan is the one version");
    bool planned = false;
    for (form f = 0; f < FORM_COUNT; f++) planned |= wants_form(j, f) && is_planned(f);
    if (option_given(d, OPT_FOR_GRAPH) && !planned)
        diag(d->ds, W0801, NO_SPAN,
             "--for-graph has no effect on what stands before there is a plan");
    check_some_passes(d, j->forms.data, j->forms.len);
    check_loaded(j);
    if (option_given(d, OPT_DEPENDENCY_FILE) && !option_given(d, OPT_DEPENDENCIES))
        diag(d->ds, W0801, NO_SPAN, "-MF has no effect without -MD");
}

// ---- Where it goes ------------------------------------------------------------------------------

static bool is_directory(const char *path) {
    return path && *path && path[strlen(path) - 1] == '/';
}

// -o FILE is for the first form, and the others take its name with their suffix; -o DIR/, which is
// made, and no -o at all name files after the source, the op where there are several, and the
// target where there are several. A form of the whole source has its name.
static const char *whole_path(const job *j, const unit *u, form f) {
    arena *a = j->d->arena;
    if (j->out && !strcmp(j->out, "-")) return "-";
    if (j->out && !is_directory(j->out))
        return f == j->forms.data[0] ? j->out : path_with_suffix(a, j->out, forms[f].suffix);
    return arena_printf(a, "%s%s%s", j->out ? j->out : "", path_stem(a, u->path), forms[f].suffix);
}

static const char *output_path(const job *j, const unit *u, const unit_op *o, const cg_target *t,
                               form f) {
    arena *a = j->d->arena;
    bool directory = is_directory(j->out);
    if (!j->out && !j->to_files && forms[f].kind == TEXT) return "-";
    if (j->out && !directory) return whole_path(j, u, f);
    const char *stem = directory ? o->name : path_stem(a, u->path);
    const char *name = directory || j->ops == 1 ? "" : arena_printf(a, ".%s", o->name);
    const char *target = t->kind == CG_HOST ? "host" : t->arch->name;
    return arena_printf(a, "%s%s%s%s%s%s", directory ? j->out : "", stem, name,
                        j->targets.len == 1 ? "" : ".", j->targets.len == 1 ? "" : target,
                        forms[f].suffix);
}

// ---- Making it ----------------------------------------------------------------------------------

static bool generate(job *j, const unit_op *o, const cg_target *t, cg_form form, textbuf *out) {
    driver *d = j->d;
    cg_output result = {0};
    phase(d, form == CG_CUBIN ? "assemble" : "generate code");
    if (!unit_code(d->arena, d, o, t, form, &j->options, &result)) {
        must_tell(d, "code generation");
        return false;
    }
    if (form == CG_PTX && o->program && !o->ptx)
        textbuf_printf(out, "// %s\n", load_ptx_note(d, o));
    textbuf_putn(out, result.data, result.size);
    if (form == CG_CUBIN && j->options.verbose_assembler)
        resources_put(&j->log, o->name, o->module, o->program, t->arch, result.log);
    return true;
}

static bool no_form(driver *d, const unit *u, form f) {
    diag(d->ds, E0807, NO_SPAN, "'%s' has no %s form", u->path, forms[f].name);
    return false;
}

static bool no_loop_form(driver *d, const unit_op *o) {
    diagnostic *fault = diag(d->ds, E0807, NO_SPAN,
                             "op '%s' has no loop form: it is compiled by the naive plan alone",
                             o->name);
    diag_help(fault, "--emit=plan and --emit=simt show its kernels");
    return false;
}

// Versions that are not naive, which needs no loop IR.
static bool print_loops(driver *d, const unit_op *o, textbuf *out) {
    const tensor_op *op = pass_definition(d->arena, d->ds, o->op, o->schedules.data,
                                          o->schedules.len);
    loop_text made = {.definition = (tensor_op *)(uintptr_t)op};
    for (uint32_t i = 0; i < o->plans.len && !o->text; i++) {
        const program_version *v = &o->program->versions.data[i];
        loop_version version = {.name = v->name};
        for (uint32_t k = 0; k < v->guards.len; k++)
            VEC_PUSH(d->arena, &version.guards, v->guards.data[k]);
        VEC_PUSH(d->arena, &made.plans, o->plans.data[i]);
        VEC_PUSH(d->arena, &made.versions, version);
    }
    if (o->plans.len) loop_print_text(out, o->text ? o->text : &made);
    return o->plans.len || no_loop_form(d, o);
}

static bool print_facts(driver *d, const unit_op *o, textbuf *out) {
    for (uint32_t i = 0; i < o->plans.len; i++)
        facts_print(out, facts_new(d->arena, o->plans.data[i]));
    return o->plans.len || no_loop_form(d, o);
}

// Texts have the forms below them; the op of a loop text is that of its plan.
static bool has_form(input_kind kind, form f) {
    bool above_loop = f == FORM_TENSOR || f == FORM_SCHEDULE || f == FORM_SAVED;
    bool above_simt = above_loop || f == FORM_LOOP || f == FORM_FACTS || f == FORM_PLAN ||
                      f == FORM_MANIFEST;
    return kind == INPUT_SIMT ? !above_simt : kind != INPUT_LOOP || !above_loop;
}

static bool make_form(job *j, const unit *u, unit_op *o, const cg_target *t, form f, textbuf *out) {
    driver *d = j->d;
    if (!has_form(u->kind, f)) return no_form(d, u, f);
    if (option_given(d, OPT_PASSES)) return some_passes(d, o, t, f, out);
    bool above = !is_planned(f),
         read = u->kind == INPUT_SIMT ||
                (u->kind == INPUT_LOOP && (f == FORM_LOOP || f == FORM_FACTS));
    bool planned = !above && !read;
    if (planned && (!unit_schedule(o, t) || !unit_program(d, o, t))) return false;
    switch (f) {
    case FORM_TENSOR: tensor_print(out, o->op); return true;
    case FORM_SCHEDULE: return print_schedules(d, o, t, out);
    case FORM_SAVED: return print_saved(d, o, out);
    case FORM_LOOP: return print_loops(d, o, out);
    case FORM_FACTS: return print_facts(d, o, out);
    case FORM_PLAN: program_print(out, o->program); return true;
    case FORM_SIMT: simt_print(out, o->module); return true;
    case FORM_LLVM: return generate(j, o, t, CG_LLVM, out);
    case FORM_PTX: return generate(j, o, t, CG_PTX, out);
    case FORM_CUBIN: return generate(j, o, t, CG_CUBIN, out);
    case FORM_ASM: return generate(j, o, t, CG_ASSEMBLY, out);
    case FORM_OBJ: return generate(j, o, t, CG_OBJECT, out);   // of a .simt text: its kernels
    case FORM_LIBRARY:
    case FORM_HEADER: return no_form(d, u, f);
    case FORM_MANIFEST: cg_manifest(out, o->program, t); return true;
    case FORM_COUNT: break;
    }
    ICE("form %d", f);
}

// A .simt text has no program, so its object is but machine code, one a target.
static bool is_whole(const unit *u, form f) {
    return forms[f].kind == WHOLE && u->kind != INPUT_SIMT;
}

static void put_whole(job *j, const unit *u, form f, const object_ops *ops) {
    driver *d = j->d;
    const char *path = whole_path(j, u, f);
    textbuf text = textbuf_new(d->arena);
    cg_output code = {0};
    phase(d, "generate code");
    if (f == FORM_HEADER)
        cg_header(&text, path_stem(d->arena, strcmp(path, "-") ? path : u->path),
                  source_map_name(d->sources, u->path), ops->data, ops->len);
    else if (!(f == FORM_OBJ ? cg_object : cg_library)(d->arena, d->ds, ops->data, ops->len,
                                                       &j->options, &code))
        must_tell(d, "code generation");
    else textbuf_putn(&text, code.data, code.size);
    output_add(d, path, text.data, text.len);
}

static void compile_whole(job *j, unit *u) {
    object_ops ops = {0};
    bool object = makes_object(j);
    if (!(object || wants_form(j, FORM_HEADER)) || u->kind == INPUT_SIMT) return;
    progress told = progress_begin("compiling", u->path);
    object_options options = {.targets = j->targets.data,
                              .ntargets = j->targets.len,
                              .options = &j->options,
                              .with_images = object,
                              .log = &j->log,
                              .threads = j->threads,
                              .progress = &told};
    bool built = object_builds(j->d, u, &options, &ops);
    for (uint32_t i = 0; built && i < j->forms.len; i++)
        if (is_whole(u, j->forms.data[i])) put_whole(j, u, j->forms.data[i], &ops);
    progress_end(&told);
}

static void compile_op(job *j, const unit *u, unit_op *o, const cg_target *t) {
    for (uint32_t i = 0; i < j->forms.len; i++) {
        textbuf text = textbuf_new(j->d->arena);
        form f = j->forms.data[i];
        if (is_whole(u, f) || !is_for(f, t)) continue;
        if (make_form(j, u, o, t, f, &text))
            output_add(j->d, output_path(j, u, o, t, f), text.data, text.len);
    }
}

static void compile_file(job *j, const char *path) {
    driver *d = j->d;
    unit u;
    if (!unit_load(d, path, &u)) return;
    j->ops = u.ops.len;
    if (!u.ops.len) {
        unit_tell_imported(
            d,
            diag(d->ds, E0806, NO_SPAN,
                 "'%s' defines no op in a concrete form, so there is nothing to compile", path),
            &u);
        return;
    }
    uint32_t all = j->forms.len;
    if (u.kind == INPUT_SIMT && j->to_files && all == 2)
        j->forms.len = 1;   // by default no manifest or header: there is no program
    compile_whole(j, &u);
    for (uint32_t i = 0; i < u.ops.len; i++)
        for (uint32_t t = 0; t < j->targets.len; t++)
            compile_op(j, &u, &u.ops.data[i], &j->targets.data[t]);
    load_taken(d);
    j->forms.len = all;
}

// ---- Dependencies -------------------------------------------------------------------------------

static void put_make_name(textbuf *out, const char *name) {
    for (; *name; name++) {
        if (strchr(" #\\", *name)) textbuf_puts(out, "\\");
        if (*name == '$') textbuf_puts(out, "$");
        textbuf_putn(out, name, 1);
    }
}

static void add_dependencies(job *j) {
    driver *d = j->d;
    if (!option_given(d, OPT_DEPENDENCIES) || !d->outputs.len) return;
    const char *target = d->outputs.data[0].path;
    if (!strcmp(target, "-"))
        target = arena_printf(d->arena, "%s%s", path_stem(d->arena, d->inputs.data[0]),
                              forms[j->forms.data[0]].suffix);
    textbuf rule = textbuf_new(d->arena);
    put_make_name(&rule, target);
    textbuf_puts(&rule, ":");
    for (uint32_t i = 0; i < d->reads.len; i++) {
        const file_read_from *f = &d->reads.data[i];
        if (!f->text || !strcmp(f->path, "-")) continue;
        textbuf_puts(&rule, " ");
        put_make_name(&rule, f->path);
    }
    textbuf_puts(&rule, "\n");
    const char *path = option_text(d, OPT_DEPENDENCY_FILE,
                                   path_with_suffix(d->arena, target, ".d"));
    output_add(d, path, rule.data, rule.len);
}

// ---- The cache ----------------------------------------------------------------------------------

static cache_asked ask_cache(const job *j) {
    arena *a = j->d->arena;
    const char **suffixes = ARENA_ARRAY(a, const char *, j->forms.len + 1);
    for (uint32_t i = 0; i < j->forms.len; i++) suffixes[i] = forms[j->forms.data[i]].suffix;
    return (cache_asked){.out = j->out,
                         .named_inside = wants_form(j, FORM_HEADER),
                         .assembles = j->cuda && (wants_form(j, FORM_CUBIN) || makes_object(j)),
                         .targets = j->targets.data,
                         .ntargets = j->targets.len,
                         .suffixes = suffixes,
                         .nsuffixes = j->forms.len};
}

static void compile_all(job *j) {
    driver *d = j->d;
    const cache_asked asked = ask_cache(j);
    cache_command command;
    const bool taken = cache_take_compile(d, &asked, &command);
    for (uint32_t i = 0; i < d->inputs.len && !taken; i++) compile_file(j, d->inputs.data[i]);
    phase(d, "write");
    const output *outputs = d->outputs.data;
    const uint32_t n = d->outputs.len;
    add_dependencies(j);
    if (diag_errors(d->ds) || (is_directory(j->out) && !make_folder(d, j->out))) return;
    if (output_flush(d) && !taken) cache_keep_compile(d, &asked, &command, outputs, n, &j->log);
}

int drive_compile(driver *d) {
    job j = {.d = d,
             .out = option_text(d, OPT_OUTPUT, NULL),
             .options = settings_codegen(d),
             .log = textbuf_new(d->arena)};
    j.options.cubins = cache_cubins(d);
    if (!load_read(d)) return driver_status(d);
    if (is_named(d, "sim"))
        usage(d, E0812, "--target=sim is for gnnc run: nothing is compiled for it");
    choose_jobs(&j);
    choose_kinds(&j);
    choose_forms(&j);
    choose_targets(&j);
    check_forms(&j);
    if (!d->usage_fault) compile_all(&j);
    return driver_status(d);
}
