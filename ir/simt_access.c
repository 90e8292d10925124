// Which parameters a function reads and writes through.
#include "simt.h"

// The parameter a pointer is derived from by addition alone, or -1.
static int64_t root_of(const simt_func *f, simt_value v) {
    while (f->values.data[v].def && f->instrs.data[f->values.data[v].def].op == SIMT_ADDR)
        v = f->instrs.data[f->values.data[v].def].args[0];
    return f->values.data[v].def || f->values.data[v].region ? -1 : f->values.data[v].index;
}

static uint8_t accesses(const simt_instr_info *i) {
    switch (i->op) {
    case SIMT_LD:
    case SIMT_LD_SOME:
    case SIMT_COPY: return SIMT_PARAM_READ;
    case SIMT_ST:
    case SIMT_ST_SOME: return SIMT_PARAM_WRITTEN;
    case SIMT_ATOM:
    case SIMT_ATOM_CAS:
    case SIMT_RED: return SIMT_PARAM_READ | SIMT_PARAM_WRITTEN;
    }
    return 0;
}

simt_access simt_access_of(const simt_func *f, const simt_instr_info *i) {
    uint8_t does = accesses(i);
    simt_value pointer = does ? i->args[i->op == SIMT_COPY] : 0;
    if (!does || simt_typeof(f, pointer).element != SIMT_PTR_GLOBAL) return (simt_access){0};
    simt_access x = {.does = does, .param = root_of(f, pointer)};
    if (i->op == SIMT_LD || i->op == SIMT_LD_SOME)
        x.element = simt_typeof(f, i->results[0]).element;
    else if (i->op != SIMT_COPY) x.element = simt_typeof(f, i->args[1]).element;
    return x;
}

void simt_access_add(const simt_func *f, simt_access x, uint8_t *of) {
    for (uint32_t p = 0; p < f->params.len; p++)
        if (x.param < 0 || x.param == p) of[p] |= x.does;
}

const uint8_t *simt_accesses_of(arena *a, const simt_func *f) {
    uint8_t *out = ARENA_ARRAY(a, uint8_t, f->params.len + 1);
    for (uint32_t k = 1; k < f->instrs.len; k++)
        if (accesses(&f->instrs.data[k]))
            simt_access_add(f, simt_access_of(f, &f->instrs.data[k]), out);
    return out;
}
