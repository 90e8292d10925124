// Warp operations stand only where the whole warp arrives together, barriers only where the whole
// block does: under conditions and trip counts that are equal over the warp or block.
#include "simt_verify.h"

static uint8_t worse(uint8_t a, uint8_t b) { return a > b ? a : b; }

// How far the threads that enter the regions of an instruction enter them together.
static uint8_t control_of(const simt_func *f, const uint8_t *u, const simt_instr_info *i) {
    if (i->op == SIMT_IF) return u[i->args[0]];
    if (i->op == SIMT_FOR) return worse(worse(u[i->args[0]], u[i->args[1]]), u[i->args[2]]);
    const simt_region_info *test = &f->regions.data[i->regions[0]];
    return u[f->instrs.data[test->instrs.data[test->instrs.len - 1]].args[0]];
}

static const char *over(uint8_t u) {
    return u == UNIFORM_WARP ? "warps of a block" : "lanes of a warp";
}

static void walk(simt_verifier *v, const uint8_t *u, simt_region r, uint8_t control) {
    const simt_region_info *region = &v->func->regions.data[r];
    for (uint32_t k = 0; k < region->instrs.len && !v->fault; k++) {
        simt_instr instr = region->instrs.data[k];
        const simt_instr_info *i = &v->func->instrs.data[instr];
        uint8_t flags = simt_op_table(i->op)->flags;
        if (flags & SIMT_BLOCKWIDE && control > UNIFORM_BLOCK)
            simt_verify_fault_at(
                v, instr,
                "not every thread of the block arrives here: control above it may differ between %s",
                over(control));
        else if (flags & SIMT_CONVERGENT && control > UNIFORM_WARP)
            simt_verify_fault_at(
                v, instr,
                "not every lane of the warp arrives here: control above it may differ between %s",
                over(control));
        static const char *const ordinals[] = {"first", "second", "third", "fourth"};
        for (uint32_t n = 0; simt_is_group(i->op) && n < simt_group_pointers(i) && !v->fault; n++)
            if (u[i->args[n]] > UNIFORM_WARP)
                simt_verify_fault_at(
                    v, instr, "its %s argument may differ between lanes of the warp", ordinals[n]);
        uint8_t inner = i->nregions ? worse(control, control_of(v->func, u, i)) : control;
        for (uint32_t n = 0; n < i->nregions && !v->fault; n++) walk(v, u, i->regions[n], inner);
    }
}

void simt_verify_uniform(simt_verifier *v) {
    if (v->func->kernel) walk(v, simt_uniformity_of(v->arena, v->func), 1, UNIFORM_GRID);
}
