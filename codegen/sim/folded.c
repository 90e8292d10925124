// Which instructions of SIMT IR leave none of the machine's: nobody uses the result, it is the same
// in all rounds of the loop, or another one does it on the way, as a multiplication before an
// addition. A guess at what LLVM and the assembler do, for times alone.
#include "counts.h"

typedef struct {
    const simt_func *f;
    sim_folding *of;   // by instruction
    uint32_t *uses;    // by value: of what is not folded
    uint32_t *depth;   // by value: loops around it
} folder;

static const simt_instr_info *def_of(const folder *x, simt_value v) {
    return &x->f->instrs.data[x->f->values.data[v].def];   // a parameter's: that of none
}

static bool is_loop(const simt_instr_info *i) { return i->op == SIMT_FOR || i->op == SIMT_WHILE; }

static bool is_pure(const simt_instr_info *i) {
    uint32_t flags = simt_op_table((simt_op)i->op)->flags;
    return flags & SIMT_PURE && !(flags & SIMT_CONVERGENT) && !i->nregions;
}

static bool is_constant(const folder *x, simt_value v) { return def_of(x, v)->op == SIMT_CONST; }

static bool is_power_of_two(int64_t n) { return n > 0 && !(n & (n - 1)); }

// ---- Dead ---------------------------------------------------------------------------------------
static bool is_used(const folder *x, const simt_instr_info *i) {
    for (uint32_t k = 0; k < i->nresults; k++)
        if (x->uses[i->results[k]]) return true;
    return false;
}

// From the last to the first, so that uses come before what they use.
static void find_dead(folder *x, simt_region r) {
    const simt_region_info *region = &x->f->regions.data[r];
    for (uint32_t k = region->instrs.len; k-- > 0;) {
        simt_instr at = region->instrs.data[k];
        const simt_instr_info *i = &x->f->instrs.data[at];
        if (is_pure(i) && !is_used(x, i)) {
            x->of[at] = SIM_FOLDED;
            continue;
        }
        for (uint32_t n = i->nregions; n-- > 0;)
            if (i->regions[n]) find_dead(x, i->regions[n]);
        for (uint32_t n = 0; n < i->nargs; n++) x->uses[i->args[n]]++;
    }
}

// ---- The same in all rounds, or done on the way -------------------------------------------------
static uint32_t depth_of_arguments(const folder *x, const simt_instr_info *i) {
    uint32_t most = 0;
    for (uint32_t n = 0; n < i->nargs; n++)
        if (x->depth[i->args[n]] > most) most = x->depth[i->args[n]];
    return most;
}

// A multiplication or a shift that one addition or address takes.
static bool is_factor(const folder *x, simt_value v) {
    const simt_instr_info *i = def_of(x, v);
    return (i->op == SIMT_MUL || i->op == SIMT_SHL) && x->uses[v] == 1 &&
           !simt_is_float((simt_element)x->f->values.data[v].type.element);
}

static void fold_factor(folder *x, const simt_instr_info *i) {
    bool adds = (i->op == SIMT_ADD || i->op == SIMT_SUB) &&
                !simt_is_float((simt_element)x->f->values.data[i->results[0]].type.element);
    for (uint32_t n = 0; n < i->nargs && adds; n++)
        if (is_factor(x, i->args[n])) {
            x->of[x->f->values.data[i->args[n]].def] = SIM_FOLDED;
            return;
        }
}

static bool is_integer(const folder *x, simt_value v) {
    simt_element e = (simt_element)x->f->values.data[v].type.element;
    return e == SIMT_I8 || e == SIMT_I16 || e == SIMT_I32 || e == SIMT_I64;
}

static sim_folding folding_of(const folder *x, const simt_instr_info *i) {
    const simt_instr_info *index = i->op == SIMT_ADDR ? def_of(x, i->args[1]) : NULL;
    switch ((int)i->op) {
    case SIMT_ADDR:   // a constant distance is in the access
        return is_constant(x, i->args[1]) ||
                       (index->op == SIMT_ADD && is_constant(x, index->args[1]))
                   ? SIM_FOLDED
                   : SIM_WHOLE;
    case SIMT_CVT:
    case SIMT_UCVT:
        return is_integer(x, i->args[0]) && is_integer(x, i->results[0]) ? SIM_FOLDED : SIM_WHOLE;
    case SIMT_UDIV:
    case SIMT_UREM:
        return is_constant(x, i->args[1]) && is_power_of_two(def_of(x, i->args[1])->imm.i)
                   ? SIM_SHIFTED
                   : SIM_WHOLE;
    }
    return SIM_WHOLE;
}

static bool is_short(const folder *x, simt_region r) {
    enum { MOST = 6 };
    const simt_region_info *region = &x->f->regions.data[r];
    uint32_t n = 0;
    for (uint32_t k = 0; r && k < region->instrs.len; k++) {
        const simt_instr_info *i = &x->f->instrs.data[region->instrs.data[k]];
        if (i->nregions || i->op == SIMT_CALL ||
            simt_op_table((simt_op)i->op)->flags & SIMT_BLOCKWIDE)
            return false;
        n += x->of[region->instrs.data[k]] != SIM_FOLDED && i->op != SIMT_YIELD;
    }
    return n <= MOST;
}

static void put_depth(folder *x, const simt_value *v, uint32_t n, uint32_t depth) {
    for (uint32_t k = 0; k < n; k++) x->depth[v[k]] = depth;
}

static void find_rest(folder *x, simt_region r, uint32_t depth) {
    const simt_region_info *region = &x->f->regions.data[r];
    put_depth(x, region->params.data, region->params.len, depth);
    for (uint32_t k = 0; k < region->instrs.len; k++) {
        simt_instr at = region->instrs.data[k];
        const simt_instr_info *i = &x->f->instrs.data[at];
        put_depth(x, i->results, i->nresults, depth);
        for (uint32_t n = 0; n < i->nregions; n++)
            if (i->regions[n]) find_rest(x, i->regions[n], depth + is_loop(i));
        bool is_if = i->op == SIMT_IF;
        if (is_if && is_short(x, i->regions[0]) && (i->nregions < 2 || is_short(x, i->regions[1])))
            x->of[at] = SIM_FOLDED;   // its instructions have a predicate
        if (!is_pure(i) || x->of[at] == SIM_FOLDED) continue;
        uint32_t least = depth_of_arguments(x, i);
        if (least < depth) {
            put_depth(x, i->results, i->nresults, least);
            x->of[at] = SIM_FOLDED;
            continue;
        }
        x->of[at] = folding_of(x, i);
        fold_factor(x, i);
    }
}

const sim_folding *sim_folded(arena *a, const simt_func *f) {
    folder x = {.f = f,
                .of = ARENA_ARRAY(a, sim_folding, f->instrs.len),
                .uses = ARENA_ARRAY(a, uint32_t, f->values.len),
                .depth = ARENA_ARRAY(a, uint32_t, f->values.len)};
    find_dead(&x, 1);
    find_rest(&x, 1, 0);
    return x.of;
}
