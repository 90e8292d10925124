// Modules, functions, regions and instructions of SIMT IR as data, and the table of operations.
#include "simt_internal.h"

#include <string.h>

const simt_op_info simt_ops[SIMT_OP_COUNT] = {
#define SIMT_OP(op, text, args, results, rule, takes, flags)                                       \
    [SIMT_##op] = {text, args, results, rule, SIMT_TAKES_##takes, flags},
#include "simt.def"
#undef SIMT_OP
};

const char *simt_element_text(simt_element e) {
    static const char *const table[SIMT_ELEMENT_COUNT] = {
#define X(name, text, bits, kind) text,
        SIMT_ELEMENTS(X)
#undef X
    };
    return table[e];
}

uint32_t simt_element_bits(simt_element e) {
    static const uint8_t table[SIMT_ELEMENT_COUNT] = {
#define X(name, text, bits, kind) bits,
        SIMT_ELEMENTS(X)
#undef X
    };
    return table[e];
}

simt_module *simt_module_new(arena *a, const char *name) {
    simt_module *m = ARENA_NEW(a, simt_module);
    m->arena = a;
    m->name = arena_strdup(a, name);
    return m;
}

simt_func *simt_func_add(simt_module *m, const char *name, bool kernel) {
    simt_func *f = ARENA_NEW(m->arena, simt_func);
    f->module = m;
    f->name = arena_strdup(m->arena, name);
    f->kernel = kernel;
    f->values.data = m->spare.values.data, f->values.cap = m->spare.values.cap;
    f->instrs.data = m->spare.instrs.data, f->instrs.cap = m->spare.instrs.cap;
    m->spare.values.cap = m->spare.instrs.cap = 0;
    VEC_PUSH(m->arena, &f->values, (simt_value_info){0});
    VEC_PUSH(m->arena, &f->instrs, (simt_instr_info){0});
    VEC_PUSH(m->arena, &f->regions, (simt_region_info){0});
    simt_region_new(f);
    VEC_PUSH(m->arena, &m->funcs, f);
    return f;
}

simt_func *simt_kernel_new(simt_module *m, const char *name, uint32_t block) {
    simt_func *f = simt_func_add(m, name, true);
    f->block = block;
    return f;
}

static void *settled(arena *a, const void *data, size_t bytes, bool kept) {
    return kept ? memcpy(arena_alloc(a, bytes), data, bytes) : NULL;
}

void simt_func_settle(simt_func *f, bool kept) {
    simt_module *m = f->module;
    void *values = settled(m->arena, f->values.data, sizeof *f->values.data * f->values.len, kept),
         *instrs = settled(m->arena, f->instrs.data, sizeof *f->instrs.data * f->instrs.len, kept);
    m->spare.values.data = f->values.data, m->spare.values.cap = f->values.cap;
    m->spare.instrs.data = f->instrs.data, m->spare.instrs.cap = f->instrs.cap;
    f->values.data = values, f->values.cap = f->values.len;
    f->instrs.data = instrs, f->instrs.cap = f->instrs.len;
}

simt_func *simt_func_find(const simt_module *m, const char *name) {
    for (uint32_t k = 0; k < m->funcs.len; k++)
        if (!strcmp(m->funcs.data[k]->name, name)) return m->funcs.data[k];
    return NULL;
}

static simt_value value_new(simt_func *f, simt_value_info v) {
    VEC_PUSH(f->module->arena, &f->values, v);
    return f->values.len - 1;
}

simt_value simt_param(simt_func *f, const char *name, simt_type type, uint32_t flags) {
    if (f->params.len >= UINT16_MAX) ICE("too many parameters of '%s'", f->name);
    arena *a = f->module->arena;
    const char *own = name ? arena_strdup(a, name) : NULL;
    simt_value v = value_new(
        f, (simt_value_info){.type = type, .index = (uint16_t)f->params.len, .name = own});
    VEC_PUSH(a, &f->params, ((simt_param_info){own, v, flags}));
    return v;
}

simt_region simt_region_new(simt_func *f) {
    VEC_PUSH(f->module->arena, &f->regions, (simt_region_info){0});
    return f->regions.len - 1;
}

simt_value simt_region_param(simt_func *f, simt_region r, simt_type t) {
    uint32_t index = f->regions.data[r].params.len;
    if (index >= UINT16_MAX) ICE("too many parameters of a region in '%s'", f->name);
    simt_value v = value_new(f,
                             (simt_value_info){.type = t, .region = r, .index = (uint16_t)index});
    VEC_PUSH(f->module->arena, &f->regions.data[r].params, v);
    return v;
}

simt_instr simt_instr_new(simt_func *f, simt_op op, const simt_value *args, uint32_t nargs,
                          const simt_type *results, uint32_t nresults, span at) {
    if (nargs > UINT16_MAX || nresults > UINT16_MAX)
        ICE("too many arguments or results of '%s'", simt_op_table(op)->text);
    arena *a = f->module->arena;
    simt_instr handle = f->instrs.len;
    simt_instr_info i = {
        .op = (uint16_t)op, .nargs = (uint16_t)nargs, .nresults = (uint16_t)nresults, .at = at};
    i.args = ARENA_ARRAY(a, simt_value, nargs + nresults);
    i.results = i.args + nargs;
    if (nargs) memcpy(i.args, args, nargs * sizeof *args);
    for (uint32_t k = 0; k < nresults; k++)
        i.results[k] = value_new(
            f, (simt_value_info){.type = results[k], .def = handle, .index = (uint16_t)k});
    VEC_PUSH(a, &f->instrs, i);
    return handle;
}

void simt_region_add(simt_func *f, simt_region r, simt_instr i) {
    VEC_PUSH(f->module->arena, &f->regions.data[r].instrs, i);
}

simt_region *simt_instr_regions(simt_func *f, simt_instr i, uint32_t n) {
    simt_region *regions = ARENA_ARRAY(f->module->arena, simt_region, n);
    for (uint32_t k = 0; k < n; k++) regions[k] = simt_region_new(f);
    f->instrs.data[i].regions = regions;
    f->instrs.data[i].nregions = (uint16_t)n;
    return regions;
}

simt_value simt_result(const simt_func *f, simt_instr i, uint32_t k) {
    const simt_instr_info *info = &f->instrs.data[i];
    if (k >= info->nresults) ICE("'%s' has no result %u", simt_op_table(info->op)->text, k);
    return info->results[k];
}
