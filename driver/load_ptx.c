// --load-ptx: the code of a PTX text in place of that of an op's kernels. What can be told without
// a GPU or an assembler is: the architecture, the kernels with their parameters, the threads of a
// block.
#include "unit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// ---- Architectures ------------------------------------------------------------------------------

// sm_90 runs on all later ones, sm_90a on its own alone, sm_100f on those of its family.
static bool runs_on(const char *text, uint32_t sm, bool own) {
    char *end;
    uint32_t of = strncmp(text, "sm_", 3) ? UINT32_MAX : (uint32_t)strtoul(text + 3, &end, 10);
    if (of > sm || end == text + 3) return false;
    return !*end || (!strcmp(end, "a") && own && of == sm) ||
           (!strcmp(end, "f") && of / 10 == sm / 10);
}

static bool arch_fits(driver *d, const loaded_text *x, const cg_target *t) {
    const gpu_arch *of = gpu_arch_find(x->ptx->arch);
    if (!runs_on(x->ptx->arch, t->arch->sm, gpu_arch_alone(t->arch)))
        return load_unfit(d, x, t, x->ptx->arch_at, "code for '%s' does not run on %s",
                          x->ptx->arch, t->arch->name),
               false;
    if (!of || x->ptx->version >= of->ptx) return true;
    return load_unfit(d, x, t, x->ptx->version_at,
                      "PTX %u.%u has not all that '%s' takes: that is %u.%u", x->ptx->version / 10,
                      x->ptx->version % 10, of->name, of->ptx / 10, of->ptx % 10),
           false;
}

bool load_ptx_runs(driver *d, const unit *u, uint32_t sm) {
    for (uint32_t i = 0; i < u->ops.len; i++) {
        const loaded_text *x = u->ops.data[i].ptx;
        if (!x || runs_on(x->ptx->arch, sm, true)) continue;
        diagnostic *fault = diag(
            d->ds, E0828, x->ptx->arch_at,
            "code for '%s' does not run on the GPU here, of compute capability %u.%u", x->ptx->arch,
            sm / 10, sm % 10);
        diag_help(fault, "--emit=ptx --arch=native writes a text that does");
        return false;
    }
    return true;
}

// ---- Kernels ------------------------------------------------------------------------------------

// A truth value is a byte.
static uint32_t param_bytes(const simt_func *f, uint32_t k) {
    return (simt_element_bits(simt_typeof(f, f->params.data[k].value).element) + 7) / 8;
}

static bool params_fit(driver *d, const loaded_text *x, const cg_target *t, const simt_func *f,
                       const cg_ptx_entry *e) {
    for (uint32_t k = 0; k < e->params.len && k < f->params.len; k++)
        if (e->params.data[k] != param_bytes(f, k))
            return load_unfit(d, x, t, e->at,
                              "parameter %u of '%s' has %u bytes, and its launches pass '%s' of %u",
                              k + 1, e->name, e->params.data[k], f->params.data[k].name,
                              param_bytes(f, k)),
                   false;
    if (e->params.len == f->params.len) return true;
    return load_unfit(d, x, t, e->at, "'%s' has %u parameters, and its launches pass %u", e->name,
                      e->params.len, f->params.len),
           false;
}

static bool kernel_fits(driver *d, const loaded_text *x, const cg_target *t, const simt_func *f) {
    const cg_ptx_entry *e = cg_ptx_find(x->ptx, f->name);
    if (!e)
        return load_unfit(d, x, t, (span){x->source->base, x->source->base},
                          "there is no kernel '%s', which '%s' launches", f->name, f->module->name),
               false;
    if (e->threads ? e->threads != f->block : e->most && e->most < f->block)
        return load_unfit(d, x, t, e->at,
                          "blocks of '%s' have %u threads, and its launches are of %u", e->name,
                          e->threads ? e->threads : e->most, f->block),
               false;
    return params_fit(d, x, t, f, e);
}

static bool has_no_others(driver *d, const loaded_text *x, const cg_target *t,
                          const simt_module *m) {
    for (uint32_t i = 0; i < x->ptx->entries.len; i++) {
        const cg_ptx_entry *e = &x->ptx->entries.data[i];
        const simt_func *f = simt_func_find(m, e->name);
        if (!f || !f->kernel)
            return load_unfit(d, x, t, e->at, "no version of '%s' launches a kernel '%s'", m->name,
                              e->name),
                   false;
    }
    return true;
}

static bool is_of(const loaded_text *x, const simt_module *m) {
    for (uint32_t i = 0; x->ptx && i < x->ptx->entries.len; i++) {
        const simt_func *f = simt_func_find(m, x->ptx->entries.data[i].name);
        if (f && f->kernel) return true;
    }
    return false;
}

// ---- The text -----------------------------------------------------------------------------------

static const char *name_of(driver *d, const unit_op *o) {
    return arena_printf(d->arena, "gnnc: %s, indices of %u bits", o->name, o->program->index_bits);
}

// The plan's number is one of its text: of launches, their arguments and blocks.
const char *load_ptx_note(driver *d, const unit_op *o) {
    textbuf plan = textbuf_new(d->arena);
    uint64_t hash = 0xcbf29ce484222325u;   // FNV-1a
    program_print(&plan, o->program);
    for (size_t i = 0; i < plan.len; i++) hash = (hash ^ (uint8_t)plan.data[i]) * 0x100000001b3u;
    return arena_printf(d->arena, "%s, plan %016" PRIx64, name_of(d, o), hash);
}

// The note says what no kernel's head does.
static bool note_fits(driver *d, const loaded_text *x, const cg_target *t, const unit_op *o) {
    const char *note = x->ptx->note, *name = name_of(d, o);
    span at = {x->source->base, x->source->base};
    if (strncmp(note, "gnnc: ", 6) || !strcmp(note, load_ptx_note(d, o))) return true;
    if (strncmp(note, name, strlen(name)))
        return load_unfit(d, x, t, at, "this is a text of '%s', not of '%s'", note, name), false;
    diagnostic *fault = load_unfit(
        d, x, t, at,
        "this text was written for other launches of '%s' than those of the plan at hand", o->name);
    diag_help(fault, "without its first line it is taken for these");
    return false;
}

// A launch asks for as much memory as the text does not declare.
static bool shared_fits(driver *d, const loaded_text *x) {
    if (!x->ptx->shared_mixed) return true;
    diagnostic *fault = diag(d->ds, E0828, x->ptx->shared_at,
                             "shared memory of a size, beside shared memory that a launch gives");
    diag_help(fault, "declare all of it, or none: the launch gives what '.extern .shared' names");
    return false;
}

static bool text_fits(driver *d, const loaded_text *x, const cg_target *t, const unit_op *o) {
    const simt_module *m = o->module;
    if (!arch_fits(d, x, t) || !shared_fits(d, x)) return false;
    for (uint32_t k = 0; k < m->funcs.len; k++)
        if (m->funcs.data[k]->kernel && !kernel_fits(d, x, t, m->funcs.data[k])) return false;
    return has_no_others(d, x, t, m) && note_fits(d, x, t, o);
}

bool load_ptx(driver *d, unit_op *o, const cg_target *t) {
    o->ptx = NULL;
    for (uint32_t i = 0; i < d->loaded.len && t->kind == CG_CUDA; i++) {
        loaded_text *x = &d->loaded.data[i];
        if (!is_of(x, o->module)) continue;
        x->taken = true;
        if (o->ptx)
            return diag(d->ds, E0828, x->ptx->entries.data[0].at, "'%s' has kernels of '%s', too",
                        o->ptx->path, o->name),
                   false;
        if (!text_fits(d, x, t, o)) return false;
        o->ptx = x;
    }
    return true;
}
