// Which parameters a function reads and writes through.
#include "simt.h"

// The parameter a pointer is derived from by addition alone, or -1.
static int64_t root_of(const simt_func *f, simt_value v) {
    while (f->values.data[v].def && f->instrs.data[f->values.data[v].def].op == SIMT_ADDR)
        v = f->instrs.data[f->values.data[v].def].args[0];
    return f->values.data[v].def || f->values.data[v].region ? -1 : f->values.data[v].index;
}

// What may be that of any parameter is said of all.
static void add(const simt_func *f, uint8_t *out, simt_value pointer, uint8_t access) {
    if (simt_typeof(f, pointer).element != SIMT_PTR_GLOBAL) return;
    int64_t root = root_of(f, pointer);
    for (uint32_t p = 0; p < f->params.len; p++)
        if (root < 0 || root == p) out[p] |= access;
}

const uint8_t *simt_accesses_of(arena *a, const simt_func *f) {
    uint8_t *out = ARENA_ARRAY(a, uint8_t, f->params.len + 1);
    for (uint32_t k = 1; k < f->instrs.len; k++) {
        const simt_instr_info *i = &f->instrs.data[k];
        if (i->op == SIMT_LD || i->op == SIMT_LD_SOME) add(f, out, i->args[0], SIMT_PARAM_READ);
        else if (i->op == SIMT_COPY) add(f, out, i->args[1], SIMT_PARAM_READ);
        else if (i->op == SIMT_ST || i->op == SIMT_ST_SOME) add(f, out, i->args[0], SIMT_PARAM_WRITTEN);
        else if (i->op == SIMT_ATOM || i->op == SIMT_ATOM_CAS || i->op == SIMT_RED)
            add(f, out, i->args[0], SIMT_PARAM_READ | SIMT_PARAM_WRITTEN);
    }
    return out;
}
