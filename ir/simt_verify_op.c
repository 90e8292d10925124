// The attributes and effects of single instructions of SIMT IR.
#include "simt_verify.h"

#include <math.h>

static bool is_power_of_two(uint64_t x) { return x && !(x & (x - 1)); }

static const char *constant_fault(const simt_func *f, const simt_instr_info *i) {
    simt_element e = simt_typeof(f, i->results[0]).element;
    if (!simt_is_float(e))
        return i->imm.i == simt_int_wrap(e, i->imm.i) ? NULL : "its value does not fit its type";
    bool fits = isnan(i->imm.f) || simt_float_round(e, i->imm.f) == i->imm.f;
    return fits ? NULL : "its value is not one of its format";
}

static const char *cmp_fault(const simt_func *f, const simt_instr_info *i) {
    simt_element e = simt_typeof(f, i->args[0]).element;
    if (i->aux >= SIMT_PREDICATE_COUNT) return "there is no such predicate";
    if (i->aux >= SIMT_ULT && !simt_is_int(e)) return "unsigned predicates compare integers only";
    if (i->aux > SIMT_NE && !simt_is_int(e) && !simt_is_float(e))
        return "values of this type are equal or not, without order";
    return NULL;
}

static const char *atomic_fault(const simt_func *f, const simt_instr_info *i) {
    simt_element e = simt_typeof(f, i->args[1]).element;
    if (i->aux >= SIMT_ATOMIC_COUNT) return "there is no such atomic operation";
    bool narrow = simt_element_bits(e) < 32,
         bitwise = i->aux == SIMT_ATOMIC_AND || i->aux == SIMT_ATOMIC_OR;
    if (bitwise && !simt_is_int(e)) return "only integers have 'and' and 'or'";
    if (narrow && (simt_is_int(e) || i->aux != SIMT_ATOMIC_ADD))
        return "of values below 32 bits only f16 and bf16 can be added";
    return NULL;
}

static const char *lane_fault(const simt_func *f, const simt_instr_info *i) {
    int64_t lanes = simt_typeof(f, i->args[0]).lanes;
    int64_t taken = i->op == SIMT_SLICE ? simt_typeof(f, i->results[0]).lanes : 1;
    return i->imm.i >= 0 && i->imm.i <= lanes - taken ? NULL : "the vector has no such lane";
}

static const char *width_fault(const simt_instr_info *i) {
    return i->imm.i >= 2 && i->imm.i <= 32 && is_power_of_two((uint64_t)i->imm.i)
               ? NULL
               : "the width must be 2, 4, 8, 16 or 32";
}

static const char *mma_fault(const simt_func *f, const simt_instr_info *i) {
    static const char *const faults[] = {"its first argument is not what a lane holds of A",
                                         "its second argument is not what a lane holds of B",
                                         "its third argument is not what a lane holds of C"};
    if (i->aux >= SIMT_MMA_COUNT) return "there is no such matrix operation";
    if (simt_mma_table((simt_mma)i->aux)->warps > 1)
        return "that is an operation of several warps: 'mma.group'";
    if (simt_mma_splits((simt_mma)i->aux))
        return "that is three operations of tf32, on factors taken apart";
    for (uint32_t k = SIMT_MMA_A; k <= SIMT_MMA_C; k++) {
        simt_type held = simt_mma_type((simt_mma)i->aux, (simt_mma_operand)k);
        if (!simt_type_equal(simt_typeof(f, i->args[k]), held)) return faults[k];
    }
    return NULL;
}

static const char *group_fault(const simt_instr_info *i, uint32_t threads) {
    enum { WARP = 32, MOST_PIECES = 32, TURN = 8, MOST_ROWS = 2040 };   // 256 columns
    if (i->aux >= SIMT_MMA_COUNT) return "there is no such matrix operation";
    uint32_t warps = simt_mma_table((simt_mma)i->aux)->warps;
    if (warps == 1) return "that is an operation of one warp: 'mma'";
    if (i->op == SIMT_MMA_GROUP && simt_mma_splits((simt_mma)i->aux))
        return "numbers that are taken apart lie in rows";
    if (i->imm.i < 1) return "it has no steps";
    if (i->nresults % simt_group_planes(i))
        return "it gives as many sums of products with rests as of the others";
    if (i->nresults > MOST_PIECES) return "it has at most 32 pieces";
    if (i->op != SIMT_MMA_GROUP &&
        (!i->mem.scale || i->mem.scale % TURN || i->mem.scale > MOST_ROWS))
        return "a panel has a multiple of 8 rows, up to 2040";
    bool columns = i->op == SIMT_MMA_ROWS || i->op == SIMT_MMA_ROWS_BOTH;   // are rows of panels
    if (columns && i->mem.scale < 8 * simt_group_pieces(i))
        return "it has more columns than a panel has rows";
    if (i->op == SIMT_MMA_ROWS_TRANS && simt_mma_word((simt_mma)i->aux) != 2)
        return "points of the depth are rows of numbers of 16 bits";
    if (i->op == SIMT_MMA_ROWS_BOTH && simt_mma_word((simt_mma)i->aux) != 2)
        return "rows of A are of numbers of 16 bits";
    if (i->op == SIMT_MMA_ROWS_TRANS &&
        i->mem.scale < i->imm.i * simt_mma_table((simt_mma)i->aux)->k)
        return "it has more points of the depth than a panel has rows";
    return threads % (WARP * warps) ? "it needs blocks of a multiple of 128 threads" : NULL;
}

static bool writes_readonly(const simt_func *f, simt_value pointer) {
    const simt_value_info *v = &f->values.data[pointer];
    while (v->def && f->instrs.data[v->def].op == SIMT_ADDR)
        v = &f->values.data[f->instrs.data[v->def].args[0]];
    return !v->def && !v->region && f->params.data[v->index].flags & SIMT_READONLY;
}

static const char *access_fault(const simt_func *f, const simt_instr_info *i) {
    if (i->mem.align && !is_power_of_two(i->mem.align)) return "the alignment is no power of two";
    if (i->mem.cache > SIMT_CACHE_BYPASS) return "there is no such cache policy";
    bool global = simt_typeof(f, i->args[0]).element == SIMT_PTR_GLOBAL;
    if (i->mem.invariant && (i->op != SIMT_LD || !global))
        return "only loads from global memory can be invariant";
    if (i->mem.pinned && (i->op != SIMT_LD || !global))
        return "only loads from global memory can be pinned";
    return NULL;
}

static const char *step_fault(const simt_func *f, const simt_instr_info *i) {
    simt_constant step;
    bool stands = simt_constant_of(f, i->args[2], &step) && step.i <= 0;
    return stands ? "its step must be positive" : NULL;
}

static const char *attribute_fault(const simt_func *f, const simt_instr_info *i) {
    switch ((int)i->op) {
    case SIMT_CONST: return constant_fault(f, i);
    case SIMT_SREG: return i->aux < SREG_COUNT ? NULL : "there is no such special register";
    case SIMT_SHARED:
        return i->imm.i >= 0 && i->imm.i < f->shared_bytes
                   ? NULL
                   : "the kernel has not that much shared memory";
    case SIMT_CMP: return cmp_fault(f, i);
    case SIMT_EXTRACT:
    case SIMT_INSERT:
    case SIMT_SLICE: return lane_fault(f, i);
    case SIMT_ADDR: return i->mem.scale ? NULL : "its scale is 0";
    case SIMT_LD:
    case SIMT_ST: return access_fault(f, i);
    case SIMT_ATOM:
    case SIMT_RED: return atomic_fault(f, i);
    case SIMT_SHFL_IDX:
    case SIMT_SHFL_UP:
    case SIMT_SHFL_DOWN:
    case SIMT_SHFL_BFLY: return width_fault(i);
    case SIMT_MMA: return mma_fault(f, i);
    case SIMT_MMA_GROUP:
    case SIMT_MMA_ROWS:
    case SIMT_MMA_ROWS_TRANS:
    case SIMT_MMA_ROWS_BOTH: return group_fault(i, f->block);
    case SIMT_COPY:
        return i->imm.i == 2 || i->imm.i == 4 || i->imm.i == 8 || i->imm.i == 16
                   ? NULL
                   : "2, 4, 8 or 16 bytes are copied";
    case SIMT_COPY_WAIT: {
        enum { MOST = 64 };
        return i->imm.i >= 0 && i->imm.i < MOST ? NULL : "at most 63 groups are under way";
    }
    case SIMT_FENCE: return i->aux <= SIMT_SCOPE_DEVICE ? NULL : "there is no such scope";
    case SIMT_FOR: return step_fault(f, i);
    }
    return NULL;
}

// Functions are scalar maths, so that a call may be moved, shared or dropped like any pure
// operation.
static bool may_stand_in_function(simt_op op) {
    if (op == SIMT_FOR || op == SIMT_WHILE || op == SIMT_IF || op == SIMT_YIELD ||
        op == SIMT_RETURN)
        return true;
    return simt_op_table(op)->flags == SIMT_PURE && op != SIMT_SREG && op != SIMT_SHARED &&
           op != SIMT_ADDR;
}

const char *simt_attribute_fault(const simt_func *f, const simt_instr_info *i) {
    const char *fault = attribute_fault(f, i);
    if (fault) return fault;
    if (!f->kernel && !may_stand_in_function(i->op))
        return "a function holds pure scalar maths only";
    uint8_t flags = simt_op_table(i->op)->flags;
    if (flags & SIMT_WRITES && i->nargs && i->op != SIMT_FOR && i->op != SIMT_WHILE &&
        i->op != SIMT_IF && writes_readonly(f, i->args[0]))
        return "it writes through a parameter that is readonly";
    if (flags & SIMT_CONVERGENT && !(flags & SIMT_BLOCKWIDE) && f->block % 32)
        return "warp operations need blocks of full warps, a multiple of 32 threads";
    return NULL;
}
