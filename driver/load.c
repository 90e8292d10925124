// --load-simt, --load-ptx: kernels from texts, in place of those that are made. A SIMT text belongs
// to the op its module is named after, a PTX text to the op that launches a kernel of it.
#include "unit.h"

#include <string.h>

// ---- Reading ------------------------------------------------------------------------------------

static bool read_simt(driver *d, loaded_text *x) {
    x->module = simt_parse(d->arena, d->ds, x->source);
    if (!x->module) return must_tell(d, "simt_parse"), false;
    const char *wrong = simt_verify(d->arena, x->module);
    if (wrong) diag(d->ds, E0815, (span){x->source->base, x->source->base}, "%s", wrong);
    return !wrong;
}

static bool read_ptx(driver *d, loaded_text *x) {
    x->ptx = ARENA_NEW(d->arena, cg_ptx_head);
    if (!cg_ptx_read(d->arena, d->ds, x->source, x->ptx)) return must_tell(d, "cg_ptx_read"), false;
    d->loaded_arch = x->ptx->arch;
    return true;
}

static void add(driver *d, const char *path, bool (*read)(driver *, loaded_text *)) {
    size_t length;
    const char *text = file_read(d, path, &length);
    loaded_text x = {.path = path};
    if (!text) return;
    x.source = source_map_add(d->sources, path, text, length);
    if (!x.source)
        diag(d->ds, E0803, NO_SPAN, "'%s' and the other files are larger than 4 GiB together",
             path);
    else if (read(d, &x)) VEC_PUSH(d->arena, &d->loaded, x);
}

bool load_read(driver *d) {
    uint32_t before = diag_raised(d->ds);
    bool simt = option_given(d, OPT_LOAD_SIMT), ptx = option_given(d, OPT_LOAD_PTX);
    if (simt && ptx)
        diag_help(
            usage(d, E0812, "--load-ptx is code of kernels, of which --load-simt has another text"),
            "take one of them");
    if ((simt || ptx) && d->inputs.len > 1)
        usage(d, E0812, "--load-%s is for the ops of one file, not of %u", simt ? "simt" : "ptx",
              d->inputs.len);
    if (d->usage_fault) return false;
    phase(d, "read");
    for (uint32_t i = 0; i < d->values[OPT_LOAD_SIMT].len; i++)
        add(d, d->values[OPT_LOAD_SIMT].data[i], read_simt);
    for (uint32_t i = 0; i < d->values[OPT_LOAD_PTX].len; i++)
        add(d, d->values[OPT_LOAD_PTX].data[i], read_ptx);
    return diag_raised(d->ds) == before;
}

// ---- Whose they are -----------------------------------------------------------------------------

static span start_of(const loaded_text *x) { return (span){x->source->base, x->source->base}; }

static bool has_op(const unit *u, const char *name) {
    for (uint32_t i = 0; i < u->ops.len; i++)
        if (!strcmp(u->ops.data[i].name, name)) return true;
    return false;
}

static void no_such_op(driver *d, const unit *u, const loaded_text *x) {
    VEC(const char *) names = {0};
    diagnostic *fault = diag(d->ds, E0828, start_of(x),
                             "no op of '%s' that is taken is called '%s', as this module is",
                             u->path, x->module->name);
    for (uint32_t i = 0; i < u->ops.len; i++) VEC_PUSH(d->arena, &names, u->ops.data[i].name);
    if (!diag_suggest(fault, NO_SPAN, x->module->name, names.data, names.len))
        diag_help(fault, "a module has the name of its op in C: %s",
                  names.len ? names.data[0] : "gat_f32");
}

bool load_belongs(driver *d, const unit *u) {
    uint32_t before = diag_raised(d->ds);
    for (uint32_t i = 0; i < d->loaded.len; i++) {
        const loaded_text *x = &d->loaded.data[i];
        if (!x->module) continue;
        if (!has_op(u, x->module->name)) no_such_op(d, u, x);
        for (uint32_t k = 0; k < i; k++)
            if (!strcmp(d->loaded.data[k].module->name, x->module->name))
                diag(d->ds, E0828, start_of(x), "'%s' has the kernels of '%s', too",
                     d->loaded.data[k].path, x->module->name);
    }
    return diag_raised(d->ds) == before;
}

bool load_taken(driver *d) {
    for (uint32_t i = 0; i < d->loaded.len; i++) {
        const loaded_text *x = &d->loaded.data[i];
        if (x->taken || diag_errors(d->ds)) continue;
        const char *name = x->ptx ? x->ptx->entries.data[0].name : x->module->name;
        diagnostic *fault = diag(d->ds, E0828, x->ptx ? x->ptx->entries.data[0].at : start_of(x),
                                 "nothing that is made here has kernels of this text: '%s'", name);
        diag_help(
            fault,
            x->ptx
                ? "it is for --target=cuda; --op takes the op it was written of"
                : "kernels are in what --emit=simt, llvm, ptx, cubin, asm, obj or manifest gives");
    }
    return !diag_errors(d->ds);
}

// ---- What does not fit --------------------------------------------------------------------------

diagnostic *load_unfit(driver *d, const loaded_text *x, const cg_target *t, span at,
                       const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    diagnostic *fault = diag(d->ds, E0828, at, "%s", arena_vprintf(d->arena, format, ap));
    va_end(ap);
    bool host = t->kind == CG_HOST;
    return diag_help(
        fault, "--emit=%s %s%s, with the other options at hand, writes the text that fits",
        x->ptx ? "ptx" : "simt", host ? "--target=" : "--arch=", host ? "host" : t->arch->name);
}
