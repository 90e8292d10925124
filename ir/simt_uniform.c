// How far each value of a SIMT function is equal: over the grid, a block, a warp, or not at all. A
// least fixpoint over the structured program: what a value depends on makes it differ, and so do
// the conditions and trip counts that decide which of several values a result is.
#include "simt_internal.h"

typedef struct {
    const simt_func *func;
    uint8_t *of;    // simt_uniformity of each value, growing
    bool changed;   // what a round of a loop hands to the next one
} analysis;

static uint8_t worse(uint8_t a, uint8_t b) { return a > b ? a : b; }

static void raise(analysis *s, simt_value v, uint8_t u) { s->of[v] = worse(s->of[v], u); }

// A parameter of a region that was walked: values before it, in the order of the walk, do not
// depend on later ones in any other way.
static void raise_again(analysis *s, simt_value v, uint8_t u) {
    s->changed |= u > s->of[v];
    raise(s, v, u);
}

static const simt_instr_info *def_of(const analysis *s, simt_value v) {
    // parameters: row 0, whose op means nothing
    return &s->func->instrs.data[s->func->values.data[v].def];
}

static bool is_op(const analysis *s, simt_value v, simt_op op) {
    return s->func->values.data[v].def && def_of(s, v)->op == op;
}

// ---- Bits below the warp ------------------------------------------------------------------------
// A warp is 32 consecutive threads of its block, so whatever depends only on bits 5 and up of the
// thread's number is equal over the warp: tid / 32, tid >> 5, (ctaid * ntid + tid) / 32.
enum { LOOK_BACK = 16 };   // operations looked through

static bool known_constant(const analysis *s, simt_value v, int64_t *out) {
    simt_constant c;
    if (!simt_constant_of(s->func, v, &c) || !simt_is_int(c.type.element)) return false;
    *out = c.i;
    return true;
}

static bool keeps_low_bits(const analysis *s, simt_value v) {
    if (!is_op(s, v, SIMT_CVT) && !is_op(s, v, SIMT_UCVT)) return false;
    return simt_is_int(simt_typeof(s->func, v).element) &&
           simt_is_int(simt_typeof(s->func, def_of(s, v)->args[0]).element);
}

static bool multiple_of_32(const analysis *s, simt_value v, uint32_t depth) {
    int64_t c;
    if (known_constant(s, v, &c)) return c % 32 == 0;
    if (depth > LOOK_BACK || !s->func->values.data[v].def) return false;
    const simt_instr_info *i = def_of(s, v);
    if (i->op == SIMT_SREG) return i->aux == SREG_NTID && s->func->block % 32 == 0;
    if (i->op == SIMT_SHL)
        return known_constant(s, i->args[1], &c) && c >= 5 &&
               c < simt_element_bits(simt_typeof(s->func, v).element);
    if (i->op == SIMT_MUL)
        return multiple_of_32(s, i->args[0], depth + 1) || multiple_of_32(s, i->args[1], depth + 1);
    if (i->op == SIMT_ADD)
        return multiple_of_32(s, i->args[0], depth + 1) && multiple_of_32(s, i->args[1], depth + 1);
    return keeps_low_bits(s, v) && multiple_of_32(s, i->args[0], depth + 1);
}

// v = 32 * k + lane with k equal over the warp.
static bool counts_lanes(const analysis *s, simt_value v, uint32_t depth) {
    if (depth > LOOK_BACK || !s->func->values.data[v].def) return false;
    const simt_instr_info *i = def_of(s, v);
    if (i->op == SIMT_SREG) return i->aux == SREG_TID || i->aux == SREG_LANEID;
    if (keeps_low_bits(s, v)) return counts_lanes(s, i->args[0], depth + 1);
    if (i->op != SIMT_ADD) return false;
    for (uint32_t k = 0; k < 2; k++) {
        simt_value base = i->args[1 - k];
        if (s->of[base] <= UNIFORM_WARP && multiple_of_32(s, base, depth + 1) &&
            counts_lanes(s, i->args[k], depth + 1))
            return true;
    }
    return false;
}

static bool is_thread_number(const analysis *s, simt_value v) {
    if (keeps_low_bits(s, v) && simt_typeof(s->func, v).element != SIMT_I8)
        v = def_of(s, v)->args[0];
    return is_op(s, v, SIMT_SREG);
}

// What a value is the quotient of, rounded down, and by what: tid / 16 / 2 is tid / 32; 0: by too
// much to say.
static int64_t divisor(const analysis *s, const simt_instr_info *i, simt_value *of) {
    int64_t by = 1, c;
    for (uint32_t depth = 0; depth < LOOK_BACK; depth++) {
        bool shift = i->op == SIMT_LSHR;
        if (!(shift || i->op == SIMT_UDIV) || !known_constant(s, i->args[1], &c)) break;
        if (c < (shift ? 0 : 1) || c > (shift ? 31 : 1024) || (by <<= shift ? c : 0) > INT32_MAX)
            return 0;
        if (!shift) by *= c;
        *of = i->args[0];
        if (!s->func->values.data[*of].def) break;
        i = def_of(s, *of);
    }
    return by;
}

static bool drops_the_lane(const analysis *s, const simt_instr_info *i) {
    int64_t c;
    if (i->op != SIMT_LSHR && i->op != SIMT_ASHR && i->op != SIMT_UDIV && i->op != SIMT_DIV &&
        i->op != SIMT_AND)
        return false;
    simt_value of = 0;
    int64_t by = divisor(s, i, &of);
    if (of && by && by % 32 == 0 && counts_lanes(s, of, 0)) return true;
    if (i->nargs != 2 || !known_constant(s, i->args[1], &c) || !counts_lanes(s, i->args[0], 0))
        return false;
    bool by_32s = c > 0 && c % 32 == 0;
    switch ((int)i->op) {
    case SIMT_LSHR:
    case SIMT_ASHR:
        return c >= 5 && c < simt_element_bits(simt_typeof(s->func, i->args[0]).element);
    case SIMT_UDIV: return by_32s;
    case SIMT_DIV:
        // towards zero: only where it cannot be negative
        return by_32s && is_thread_number(s, i->args[0]);
    case SIMT_AND: return (c & 31) == 0;
    }
    return false;
}

// ---- Operations ---------------------------------------------------------------------------------
static uint8_t of_sreg(simt_sreg r) {
    switch (r) {
    case SREG_TID:
    case SREG_LANEID: return UNIFORM_LANE;
    case SREG_CTAID: return UNIFORM_BLOCK;
    case SREG_NTID:
    case SREG_NCTAID:
    case SREG_COUNT: return UNIFORM_GRID;
    }
    return UNIFORM_LANE;
}

// Nothing writes through a readonly parameter, nor by another way where it does not alias.
static bool points_to_invariant(const analysis *s, simt_value pointer) {
    while (is_op(s, pointer, SIMT_ADDR)) pointer = def_of(s, pointer)->args[0];
    const simt_value_info *v = &s->func->values.data[pointer];
    if (v->def || v->region) return false;
    uint32_t both = SIMT_READONLY | SIMT_NOALIAS;
    return (s->func->params.data[v->index].flags & both) == both;
}

static uint8_t of_load(const analysis *s, const simt_instr_info *i) {
    bool global = simt_typeof(s->func, i->args[0]).element == SIMT_PTR_GLOBAL;
    if (global && (i->mem.invariant || points_to_invariant(s, i->args[0])))
        return s->of[i->args[0]];
    return UNIFORM_LANE;
}

// What lanes exchange is equal where they put in the same, else where all read one lane.
static uint8_t of_exchange(const analysis *s, const simt_instr_info *i) {
    if (i->op == SIMT_MMA) return UNIFORM_LANE;
    uint8_t value = s->of[i->args[0]];
    if (value <= UNIFORM_WARP) return value;
    bool one_lane = i->op == SIMT_SHFL_IDX && i->imm.i == 32 && s->of[i->args[1]] <= UNIFORM_WARP;
    bool of_warp = i->op == SIMT_BALLOT || i->op == SIMT_VOTE_ANY || i->op == SIMT_VOTE_ALL;
    return one_lane || of_warp ? UNIFORM_WARP : UNIFORM_LANE;
}

static uint8_t of_plain(const analysis *s, const simt_instr_info *i) {
    if (i->op == SIMT_SREG) return of_sreg(i->aux);
    if (i->op == SIMT_LD) return of_load(s, i);
    if (i->op == SIMT_BARRIER_ANY) return UNIFORM_BLOCK;
    uint8_t flags = simt_op_table(i->op)->flags;
    if (flags & SIMT_READS) return UNIFORM_LANE;
    if (flags & SIMT_CONVERGENT) return of_exchange(s, i);
    uint8_t u = UNIFORM_GRID;
    for (uint32_t k = 0; k < i->nargs; k++) u = worse(u, s->of[i->args[k]]);
    return u > UNIFORM_WARP && drops_the_lane(s, i) ? UNIFORM_WARP : u;
}

// ---- Control ------------------------------------------------------------------------------------
static void walk(analysis *s, simt_region r);

static const simt_value *yields_of(const analysis *s, simt_region r) {
    const simt_region_info *region = &s->func->regions.data[r];
    return s->func->instrs.data[region->instrs.data[region->instrs.len - 1]].args;
}

static void walk_if(analysis *s, const simt_instr_info *i) {
    for (uint32_t r = 0; r < i->nregions; r++) {
        walk(s, i->regions[r]);
        for (uint32_t k = 0; k < i->nresults; k++)
            raise(s, i->results[k],
                  worse(s->of[i->args[0]], s->of[yields_of(s, i->regions[r])[k]]));
    }
}

static void walk_for(analysis *s, const simt_instr_info *i) {
    const simt_value *params = s->func->regions.data[i->regions[0]].params.data;
    raise(s, params[0], worse(s->of[i->args[0]], s->of[i->args[2]]));
    for (uint32_t k = 0; k < i->nresults; k++) raise(s, params[k + 1], s->of[i->args[k + 3]]);
    walk(s, i->regions[0]);
    uint8_t trips = worse(worse(s->of[i->args[0]], s->of[i->args[1]]), s->of[i->args[2]]);
    for (uint32_t k = 0; k < i->nresults; k++) {
        raise_again(s, params[k + 1], s->of[yields_of(s, i->regions[0])[k]]);
        raise(s, i->results[k], worse(trips, s->of[params[k + 1]]));
    }
}

static void walk_while(analysis *s, const simt_instr_info *i) {
    const simt_value *test = s->func->regions.data[i->regions[0]].params.data;
    const simt_value *body = s->func->regions.data[i->regions[1]].params.data;
    for (uint32_t k = 0; k < i->nresults; k++) raise(s, test[k], s->of[i->args[k]]);
    walk(s, i->regions[0]);
    const simt_value *yields = yields_of(s, i->regions[0]);
    for (uint32_t k = 0; k < i->nresults; k++) {
        raise(s, body[k], s->of[yields[k + 1]]);
        raise(s, i->results[k], worse(s->of[yields[0]], s->of[yields[k + 1]]));
    }
    walk(s, i->regions[1]);
    for (uint32_t k = 0; k < i->nresults; k++)
        raise_again(s, test[k], s->of[yields_of(s, i->regions[1])[k]]);
}

static void walk(analysis *s, simt_region r) {
    const simt_region_info *region = &s->func->regions.data[r];
    for (uint32_t k = 0; k < region->instrs.len; k++) {
        const simt_instr_info *i = &s->func->instrs.data[region->instrs.data[k]];
        if (i->op == SIMT_IF) walk_if(s, i);
        else if (i->op == SIMT_FOR) walk_for(s, i);
        else if (i->op == SIMT_WHILE) walk_while(s, i);
        else if (i->nresults) {
            uint8_t u = of_plain(s, i);
            for (uint32_t n = 0; n < i->nresults; n++) raise(s, i->results[n], u);
        }
    }
}

const uint8_t *simt_uniformity_of(arena *a, const simt_func *f) {
    analysis s = {.func = f, .of = ARENA_ARRAY(a, uint8_t, f->values.len), .changed = true};
    if (!f->kernel)   // its callers may pass anything
        for (uint32_t k = 0; k < f->params.len; k++) s.of[f->params.data[k].value] = UNIFORM_LANE;
    while (s.changed) {
        s.changed = false;
        walk(&s, 1);
    }
    return s.of;
}
