// --load-simt: the kernels of a SIMT text in place of those an op was planned with. Launches stay
// as they are, so that a kernel has the same parameters and threads of a block, promises no more of
// its memory, and waits for the launch before where that may still run.
#include "unit.h"

#include <string.h>

typedef struct {
    driver *d;
    const program *program;
    const cg_target *target;
    const loaded_text *text;
    const simt_func *made, *given;
} fitting;

#define UNFIT(x, at, ...) (load_unfit((x)->d, (x)->text, (x)->target, at, __VA_ARGS__), false)

// ---- The head -----------------------------------------------------------------------------------

static const char *param_text(const fitting *x, const simt_func *f, uint32_t k) {
    const simt_param_info *p = &f->params.data[k];
    return arena_printf(x->d->arena, "%s%s: %s", p->name ? "%" : "",
                        p->name ? p->name : "without a name",
                        simt_element_text(simt_typeof(f, p->value).element));
}

static bool same_param(const fitting *x, uint32_t k) {
    const simt_param_info *p = &x->made->params.data[k], *q = &x->given->params.data[k];
    return simt_type_equal(simt_typeof(x->made, p->value), simt_typeof(x->given, q->value)) &&
           p->name && q->name && !strcmp(p->name, q->name);
}

static bool params_fit(const fitting *x) {
    uint32_t n = x->given->params.len, m = x->made->params.len;
    for (uint32_t k = 0; k < n && k < m; k++) {
        if (!same_param(x, k))
            return UNFIT(x, x->given->at,
                         "parameter %u of '%s' is '%s', and its launches pass '%s'", k + 1,
                         x->given->name, param_text(x, x->given, k), param_text(x, x->made, k));
        uint32_t more = x->given->params.data[k].flags & ~x->made->params.data[k].flags;
        if (more)
            return UNFIT(x, x->given->at,
                         "'%%%s' of '%s' is promised to be %s, which its launches don't keep",
                         x->made->params.data[k].name, x->given->name,
                         more & SIMT_READONLY ? "readonly" : "noalias");
    }
    return n == m || UNFIT(x, x->given->at, "'%s' has %u parameters, and its launches pass %u",
                           x->given->name, n, m);
}

static bool block_fits(const fitting *x) {
    uint32_t most = x->target->kind == CG_CUDA ? x->target->arch->shared_bytes - CG_SHARED_RESERVED
                                               : UINT32_MAX;
    if (x->given->block != x->made->block)
        return UNFIT(x, x->given->at,
                     "blocks of '%s' have %u threads, and its launches are counted for %u",
                     x->given->name, x->given->block, x->made->block);
    if (x->given->shared_bytes <= x->made->shared_bytes || x->given->shared_bytes <= most)
        return true;
    return UNFIT(x, x->given->at,
                 "blocks of '%s' take %u bytes of shared memory, of which %s has %u for one",
                 x->given->name, x->given->shared_bytes, x->target->arch->name, most);
}

// ---- Indices ------------------------------------------------------------------------------------

static bool holds_indices(const program *p, const program_arg *a) {
    return a->kind == ARG_PREPARED ||
           (a->kind == ARG_DATA && p->params.data[a->index].type == DT_INDEX);
}

// A text of another index width has the same parameters.
static bool indices_fit(const fitting *x, const program_step *s) {
    const simt_func *f = x->given;
    for (uint32_t i = 1; i < f->instrs.len; i++) {
        simt_access access = simt_access_of(f, &f->instrs.data[i]);
        uint32_t bits = simt_element_bits((simt_element)access.element);
        if (!access.element || access.param < 0 ||
            !holds_indices(x->program, &s->args[access.param]))
            continue;
        if (bits != x->program->index_bits)
            return UNFIT(x, f->instrs.data[i].at,
                         "an access of %u bits to '%%%s', which holds indices of %u bits", bits,
                         f->params.data[access.param].name, x->program->index_bits);
    }
    return true;
}

// ---- Launches that start early ------------------------------------------------------------------

typedef struct {
    const simt_func *f;
    uint8_t *touches;   // per parameter, before it waits
    bool waits;
} start;

static void walk(start *s, simt_region r) {
    const simt_region_info *region = &s->f->regions.data[r];
    for (uint32_t k = 0; k < region->instrs.len && !s->waits; k++) {
        const simt_instr_info *i = &s->f->instrs.data[region->instrs.data[k]];
        s->waits = i->op == SIMT_GRID_WAIT;
        simt_access_add(s->f, simt_access_of(s->f, i), s->touches);
        for (uint32_t j = 0; j < i->nregions; j++) walk(s, i->regions[j]);
    }
}

static start start_of(arena *a, const simt_func *f) {
    start s = {.f = f, .touches = ARENA_ARRAY(a, uint8_t, f->params.len + 1)};
    walk(&s, 1);
    return s;
}

// What launches write, inputs apart: those may be read at any time.
static bool is_written(const program *p, const program_arg *a) {
    return a->kind == ARG_TEMP ||
           (a->kind == ARG_DATA && p->params.data[a->index].role == PARAM_RESULT);
}

static bool waits_as_made(const fitting *x, const program_step *s) {
    start made = start_of(x->d->arena, x->made), given = start_of(x->d->arena, x->given);
    if (!s->early || !made.waits) return true;
    if (!given.waits)
        return UNFIT(x, x->given->at,
                     "'%s' is launched early and never waits: 'grid.wait' is missing",
                     x->given->name);
    for (uint32_t k = 0; k < x->given->params.len; k++)
        if (is_written(x->program, &s->args[k]) && given.touches[k] & ~made.touches[k])
            return UNFIT(x, x->given->at, "'%s' is launched early and %s '%%%s' before it waits",
                         x->given->name,
                         given.touches[k] & ~made.touches[k] & SIMT_PARAM_WRITTEN ? "writes"
                                                                                  : "reads",
                         x->given->params.data[k].name);
    return true;
}

// ---- All of them --------------------------------------------------------------------------------

static bool launches_fit(const fitting *x) {
    for (uint32_t v = 0; v < x->program->versions.len; v++)
        for (uint32_t i = 0; i < x->program->versions.data[v].steps.len; i++) {
            const program_step *s = &x->program->versions.data[v].steps.data[i];
            if (s->kind != STEP_LAUNCH || strcmp(s->kernel, x->made->name)) continue;
            if (!indices_fit(x, s) || !waits_as_made(x, s)) return false;
        }
    return true;
}

static bool kernel_fits(fitting *x) {
    x->given = simt_func_find(x->text->module, x->made->name);
    if (!x->given || !x->given->kernel)
        return UNFIT(x, ((span){x->text->source->base, x->text->source->base}),
                     "there is no kernel '%s', which '%s' launches", x->made->name,
                     x->program->name);
    return params_fit(x) && block_fits(x) && launches_fit(x);
}

static bool has_no_others(const fitting *x) {
    for (uint32_t k = 0; k < x->text->module->funcs.len; k++) {
        const simt_func *f = x->text->module->funcs.data[k],
                        *made = f->kernel ? simt_func_find(x->program->module, f->name) : NULL;
        if (f->kernel && (!made || !made->kernel))
            return UNFIT(x, f->at, "no version of '%s' launches a kernel '%s'", x->program->name,
                         f->name);
    }
    return true;
}

static bool text_fits(driver *d, const program *p, const cg_target *t, const loaded_text *text) {
    fitting x = {.d = d, .program = p, .target = t, .text = text};
    for (uint32_t k = 0; k < p->module->funcs.len; k++) {
        x.made = p->module->funcs.data[k];
        if (x.made->kernel && !kernel_fits(&x)) return false;
    }
    return has_no_others(&x);
}

bool load_simt(driver *d, unit_op *o, const cg_target *t) {
    for (uint32_t i = 0; i < d->loaded.len; i++) {
        loaded_text *text = &d->loaded.data[i];
        if (!text->module || strcmp(text->module->name, o->name)) continue;
        text->taken = true;
        if (!text_fits(d, o->program, t, text)) return false;
        o->module = o->program->module = text->module;
    }
    return true;
}
