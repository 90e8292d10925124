// gnnc compile: ops to the forms asked for, on every target asked for.
#include "driver.h"

#include <string.h>

typedef struct {
    const char *name, *suffix;
    enum { ANY, CUDA, HOST } target;
    enum { TEXT, BINARY } kind;
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
    bool to_files;     // no -o, yet not to the standard output
    const char *out;   // -o
    cg_options options;
    uint32_t ops;   // of the input at hand
    textbuf log;    // --resource-usage
} job;

// ---- What is asked for -----------------------------------------------------------------------------------

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

// The target is the one named, else the one the first form needs.
static bool for_host(const driver *d) {
    if (option_given(d, OPT_TARGET)) return option_is(d, OPT_TARGET, "host");
    for (uint32_t i = 0; i < d->values[OPT_EMIT].len; i++) {
        form f = form_named(d->values[OPT_EMIT].data[i]);
        if (forms[f].target != ANY) return forms[f].target == HOST;
    }
    return false;
}

static void choose_forms(job *j, bool host) {
    const driver *d = j->d;
    for (uint32_t i = 0; i < d->values[OPT_EMIT].len; i++)
        add_form(j, form_named(d->values[OPT_EMIT].data[i]));
    if (option_given(d, OPT_ASSEMBLY)) add_form(j, host ? FORM_ASM : FORM_PTX);
    if (option_given(d, OPT_OBJECT)) add_form(j, host ? FORM_OBJ : FORM_CUBIN);
    j->to_files = !option_given(d, OPT_EMIT);
    if (j->forms.len) return;
    add_form(j, host ? FORM_OBJ : FORM_CUBIN);
    add_form(j, FORM_MANIFEST);
}

static void choose_targets(job *j, bool host) {
    driver *d = j->d;
    if (host) {
        VEC_PUSH(d->arena, &j->targets, (cg_target){.kind = CG_HOST});
        if (option_given(d, OPT_ARCH)) diag(d->ds, W0801, NO_SPAN, "--arch has no effect on --target=host");
        return;
    }
    for (uint32_t i = 0; i < d->values[OPT_ARCH].len; i++) {
        const cg_arch *arch = settings_arch(d, d->values[OPT_ARCH].data[i]);
        if (arch) VEC_PUSH(d->arena, &j->targets, ((cg_target){.kind = CG_CUDA, .arch = arch}));
    }
    if (j->targets.len || d->usage_fault) return;
    VEC_PUSH(d->arena, &j->targets, ((cg_target){.kind = CG_CUDA, .arch = settings_arch(d, "sm_90")}));
}

static void check_forms(job *j, bool host) {
    driver *d = j->d;
    for (uint32_t i = 0; i < j->forms.len; i++) {
        const form_row *f = &forms[j->forms.data[i]];
        if (f->target == ANY || (f->target == HOST) == host) continue;
        diagnostic *fault = usage(d, E0807, "there is no %s for --target=%s", f->name,
                                  host ? "host" : "cuda");
        diag_help(fault, "it is made for --target=%s", host ? "cuda" : "host");
    }
    if (option_given(d, OPT_RESOURCE_USAGE) && !wants_form(j, FORM_CUBIN))
        diag(d->ds, W0801, NO_SPAN, "--resource-usage has no effect unless a cubin is made");
    if (option_given(d, OPT_DEPENDENCY_FILE) && !option_given(d, OPT_DEPENDENCIES))
        diag(d->ds, W0801, NO_SPAN, "-MF has no effect without -MD");
}

// ---- Where it goes ---------------------------------------------------------------------------------------

// -o FILE is for the first form, and the others take its name with their suffix; -o DIR/ and no -o at all
// name files after the source, the op where there are several, and the architecture where there are several.
static const char *output_path(const job *j, const unit *u, const unit_op *o, const cg_target *t, form f) {
    arena *a = j->d->arena;
    bool directory = j->out && *j->out && j->out[strlen(j->out) - 1] == '/';
    if (j->out && !strcmp(j->out, "-")) return "-";
    if (!j->out && !j->to_files && forms[f].kind == TEXT) return "-";
    if (j->out && !directory)
        return f == j->forms.data[0] ? j->out : path_with_suffix(a, j->out, forms[f].suffix);
    const char *stem = directory ? o->name : path_stem(a, u->path);
    const char *name = directory || j->ops == 1 ? "" : arena_printf(a, ".%s", o->name);
    const char *arch = j->targets.len == 1 ? "" : arena_printf(a, ".%s", t->arch->name);
    return arena_printf(a, "%s%s%s%s%s", directory ? j->out : "", stem, name, arch, forms[f].suffix);
}

// ---- Making it -------------------------------------------------------------------------------------------

static bool generate(job *j, const unit_op *o, const cg_target *t, cg_form form, textbuf *out) {
    driver *d = j->d;
    cg_output result = {0};
    phase(d, form == CG_CUBIN ? "assemble" : "generate code");
    if (!cg_emit(d->arena, d->ds, o->module, t, form, &j->options, &result)) {
        must_tell(d, "code generation");
        return false;
    }
    textbuf_putn(out, result.data, result.size);
    if (result.log && j->options.verbose_assembler) textbuf_puts(&j->log, result.log);
    return true;
}

static bool no_form(driver *d, const unit *u, form f) {
    diag(d->ds, E0807, NO_SPAN, "'%s' has no %s form", u->path, forms[f].name);
    return false;
}

static bool make_form(job *j, const unit *u, unit_op *o, const cg_target *t, form f, textbuf *out) {
    driver *d = j->d;
    if (u->kind == INPUT_SIMT && (f == FORM_TENSOR || f == FORM_PLAN || f == FORM_MANIFEST))
        return no_form(d, u, f);
    bool planned = f != FORM_TENSOR && u->kind != INPUT_SIMT;
    if (planned && (!unit_schedule(o, t) || !unit_program(d, o))) return false;
    switch (f) {
    case FORM_TENSOR: tensor_print(out, o->op); return true;
    case FORM_PLAN: program_print(out, o->program); return true;
    case FORM_SIMT: simt_print(out, o->module); return true;
    case FORM_LLVM: return generate(j, o, t, CG_LLVM, out);
    case FORM_PTX: return generate(j, o, t, CG_PTX, out);
    case FORM_CUBIN: return generate(j, o, t, CG_CUBIN, out);
    case FORM_ASM: return generate(j, o, t, CG_ASSEMBLY, out);
    case FORM_OBJ: return generate(j, o, t, CG_OBJECT, out);
    case FORM_MANIFEST: cg_manifest(out, o->program, t); return true;
    case FORM_COUNT: break;
    }
    ICE("form %d", f);
}

static void compile_op(job *j, const unit *u, unit_op *o, const cg_target *t) {
    for (uint32_t i = 0; i < j->forms.len; i++) {
        textbuf text = textbuf_new(j->d->arena);
        form f = j->forms.data[i];
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
        diag(d->ds, E0806, NO_SPAN, "'%s' defines no op in a concrete form, so there is nothing to compile",
             path);
        return;
    }
    uint32_t all = j->forms.len;
    if (u.kind == INPUT_SIMT && j->to_files && all == 2)
        j->forms.len = 1;   // by default no manifest: there is no program
    for (uint32_t i = 0; i < u.ops.len; i++)
        for (uint32_t t = 0; t < j->targets.len; t++) compile_op(j, &u, &u.ops.data[i], &j->targets.data[t]);
    j->forms.len = all;
}

// ---- Dependencies ----------------------------------------------------------------------------------------

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
    for (uint32_t i = 0; i < d->dependencies.len; i++) {
        textbuf_puts(&rule, " ");
        put_make_name(&rule, d->dependencies.data[i]);
    }
    textbuf_puts(&rule, "\n");
    const char *path = option_text(d, OPT_DEPENDENCY_FILE, path_with_suffix(d->arena, target, ".d"));
    output_add(d, path, rule.data, rule.len);
}

int drive_compile(driver *d) {
    bool host = for_host(d);
    job j = {.d = d,
             .out = option_text(d, OPT_OUTPUT, NULL),
             .options = settings_codegen(d),
             .log = textbuf_new(d->arena)};
    choose_forms(&j, host);
    choose_targets(&j, host);
    check_forms(&j, host);
    if (d->usage_fault) return driver_status(d);
    for (uint32_t i = 0; i < d->inputs.len; i++) compile_file(&j, d->inputs.data[i]);
    phase(d, "write");
    add_dependencies(&j);
    if (!diag_errors(d->ds)) output_flush(d);
    if (!diag_errors(d->ds)) fwrite(j.log.data, 1, j.log.len, stderr);
    return driver_status(d);
}
