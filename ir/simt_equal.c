// Whether two functions are the same code: they may differ in their names, those of their values
// and their places alone.
#include "simt.h"

#include <string.h>

static bool same_type(const simt_func *f, simt_value x, const simt_func *g, simt_value y) {
    return simt_type_equal(simt_typeof(f, x), simt_typeof(g, y));
}

static bool same_words(const uint32_t *x, const uint32_t *y, uint32_t n) {
    return !n || !memcmp(x, y, n * sizeof *x);
}

static bool same_memory(simt_mem x, simt_mem y) {
    return x.align == y.align && x.scale == y.scale && x.cache == y.cache &&
           x.invariant == y.invariant && x.pinned == y.pinned;
}

// Values are numbered in the order they are built in, so equal code has equal numbers.
static bool same_instr(const simt_func *f, const simt_instr_info *x, const simt_func *g,
                       const simt_instr_info *y) {
    bool same = x->op == y->op && x->aux == y->aux && x->imm.i == y->imm.i &&
                same_memory(x->mem, y->mem) && x->nargs == y->nargs && x->nresults == y->nresults &&
                x->nregions == y->nregions && same_words(x->args, y->args, x->nargs) &&
                same_words(x->results, y->results, x->nresults) &&
                same_words(x->regions, y->regions, x->nregions);
    for (uint32_t k = 0; same && k < x->nresults; k++)
        same = same_type(f, x->results[k], g, y->results[k]);
    return same;
}

static bool same_region(const simt_func *f, const simt_region_info *x, const simt_func *g,
                        const simt_region_info *y) {
    bool same = x->params.len == y->params.len && x->instrs.len == y->instrs.len &&
                same_words(x->params.data, y->params.data, x->params.len) &&
                same_words(x->instrs.data, y->instrs.data, x->instrs.len);
    for (uint32_t k = 0; same && k < x->params.len; k++)
        same = same_type(f, x->params.data[k], g, y->params.data[k]);
    return same;
}

static bool same_signature(const simt_func *f, const simt_func *g) {
    bool same = f->module == g->module && f->kernel == g->kernel && f->block == g->block &&
                f->shared_bytes == g->shared_bytes && f->occupancy == g->occupancy &&
                f->fits == g->fits && f->params.len == g->params.len &&
                f->results.len == g->results.len;
    for (uint32_t k = 0; same && k < f->params.len; k++) {
        const simt_param_info *x = &f->params.data[k], *y = &g->params.data[k];
        same = x->value == y->value && x->flags == y->flags && same_type(f, x->value, g, y->value);
    }
    for (uint32_t k = 0; same && k < f->results.len; k++)
        same = simt_type_equal(f->results.data[k], g->results.data[k]);
    return same;
}

bool simt_func_alike(const simt_func *f, const simt_func *g) {
    bool same = f->instrs.len == g->instrs.len && f->values.len == g->values.len &&
                f->regions.len == g->regions.len && same_signature(f, g);
    for (uint32_t k = 1; same && k < f->regions.len; k++)
        same = same_region(f, &f->regions.data[k], g, &g->regions.data[k]);
    for (uint32_t k = 1; same && k < f->instrs.len; k++)
        same = same_instr(f, &f->instrs.data[k], g, &g->instrs.data[k]);
    return same;
}
