// What the lanes of a warp and the warps of a block do together, and the special registers.
#include "steps.h"

// ---- Who takes part -----------------------------------------------------------------------------
void sim_need_whole_warp(sim_warp *w, const sim_code *c) {
    if (w->mask == w->full) return;
    sim_fault_at(w, c, E0724, w->mask, 0, "'%s' is reached by lanes %08x of %08x",
                 simt_op_table((simt_op)c->func->instrs.data[c->instr].op)->text, w->mask, w->full);
}

static void fill_i32(sim_warp *w, const sim_code *c, uint32_t x) {
    uint32_t *r = sim_at(w, c->r);
    for (uint32_t i = 0; i < SIM_LANES; i++) r[i] = x;
}

// ---- Shuffles -----------------------------------------------------------------------------------
// The lane that lane i reads: itself where the other lies outside its part of the warp.
static uint32_t source_of(simt_op op, uint32_t i, uint32_t operand, uint32_t width) {
    uint32_t first = i & ~(width - 1), last = first + width - 1, by = operand & (SIM_LANES - 1);
    if (op == SIMT_SHFL_IDX) return first | (by & (width - 1));
    if (op == SIMT_SHFL_UP) return by <= i - first ? i - by : i;
    uint32_t j = op == SIMT_SHFL_DOWN ? i + by : i ^ by;
    return j <= last ? j : i;
}

#define TAKE(name, T)                                                                              \
    static void name(T *restrict r, const T *restrict x, const uint32_t *restrict from,            \
                     uint32_t n) {                                                                 \
        for (uint32_t k = 0; k < n; k += SIM_LANES)                                                \
            for (uint32_t i = 0; i < SIM_LANES; i++) r[k + i] = x[k + from[i]];                    \
    }
TAKE(take_1, uint8_t)
TAKE(take_2, uint16_t)
TAKE(take_4, uint32_t)
TAKE(take_8, uint64_t)

static void take(uint32_t bytes, void *r, const void *x, const uint32_t *from, uint32_t n) {
    if (bytes == 1) take_1(r, x, from, n);
    else if (bytes == 2) take_2(r, x, from, n);
    else if (bytes == 4) take_4(r, x, from, n);
    else take_8(r, x, from, n);
}

static void shuffle(sim_warp *w, const sim_code *c) {
    simt_op op = (simt_op)c->func->instrs.data[c->instr].op;
    const uint32_t *lane = sim_at(w, c->b), *undefined = sim_undefined(w, c->a, c->from);
    uint32_t *out = sim_undefined(w, c->r, c->to), from[SIM_LANES];
    sim_mask bad = *sim_undefined(w, c->b, SIMT_T(I32)) & w->mask, idle = 0;
    sim_need_whole_warp(w, c);
    if (bad)
        sim_fault_at(w, c, E0722, bad, 0,
                     "the lane of a shuffle comes from memory that nobody wrote");
    memset(out, 0, 4u * c->to.lanes);
    for (uint32_t i = 0; i < SIM_LANES; i++) {
        from[i] = source_of(op, i, lane[i], (uint32_t)c->imm);
        idle |= (uint32_t)!sim_lane(w->mask, from[i]) << i;
    }
    take(sim_element_bytes(c->from), sim_at(w, c->r), sim_at(w, c->a), from, 32u * c->to.lanes);
    for (uint32_t k = 0; k < c->to.lanes; k++)
        for (uint32_t i = 0; undefined[k] && i < SIM_LANES; i++)
            out[k] |= (undefined[k] >> from[i] & 1) << i;
    idle &= w->mask;
    if (idle)
        sim_fault_at(w, c, E0725, idle, 0,
                     "reads a lane that does not take part (those that do: %08x)", w->mask);
}

// ---- Votes --------------------------------------------------------------------------------------
static void vote(sim_warp *w, const sim_code *c) {
    simt_op op = (simt_op)c->func->instrs.data[c->instr].op;
    sim_mask set = *(uint32_t *)sim_at(w, c->a) & w->mask;
    sim_need_whole_warp(w, c);
    if (op == SIMT_BALLOT) fill_i32(w, c, set);
    else
        *(uint32_t *)sim_at(w, c->r) = (op == SIMT_VOTE_ANY ? set != 0 : set == w->mask)
                                           ? ~UINT32_C(0)
                                           : 0;
    *sim_undefined(w, c->r, c->to) = *sim_undefined(w, c->a, c->from) & w->mask ? ~UINT32_C(0) : 0;
}

static void match(sim_warp *w, const sim_code *c) {
    uint32_t bytes = sim_element_bytes(c->from), *r = sim_at(w, c->r);
    const uint8_t *x = sim_at(w, c->a);
    sim_need_whole_warp(w, c);
    for (uint32_t i = 0; i < SIM_LANES; i++) {
        r[i] = 0;
        for (uint32_t j = 0; j < SIM_LANES; j++)
            if (sim_lane(w->mask, j) && !memcmp(x + i * bytes, x + j * bytes, bytes))
                r[i] |= UINT32_C(1) << j;
    }
    *sim_undefined(w, c->r, c->to) = *sim_undefined(w, c->a, c->from) & w->mask ? ~UINT32_C(0) : 0;
}

// ---- Order --------------------------------------------------------------------------------------
static void sync_warp(sim_warp *w, const sim_code *c) {
    sim_need_whole_warp(w, c);
    w->syncs++;
}

static void wait(sim_warp *w, const sim_code *c) {
    sim_need_whole_warp(w, c);
    w->state = SIM_WAITS;
}

// What the block's warps say is put together when all wait (codegen/sim/grid.c).
static void wait_any(sim_warp *w, const sim_code *c) {
    w->any = (*(uint32_t *)sim_at(w, c->a) & w->mask) != 0;
    w->unknown = (*sim_undefined(w, c->a, c->from) & w->mask) != 0;
    wait(w, c);
}

// Everything is seen at once here; what a fence orders on a GPU takes atomics, which races are not
// looked for among.
static void fence(sim_warp *w, const sim_code *c) {
    (void)w;
    (void)c;
}

static void settle(sim_warp *w, const sim_code *c) {
    (void)c;
    w->settled |= w->mask;
}

static void trap(sim_warp *w, const sim_code *c) {
    sim_fault_at(w, c, E0726, w->mask, 0, "reaches a trap");
    w->block->stopped = true;
    w->state = SIM_ENDED;
}

static void special(sim_warp *w, const sim_code *c) {
    uint32_t *r = sim_at(w, c->r);
    switch ((simt_sreg)c->func->instrs.data[c->instr].aux) {
    case SREG_TID:
        for (uint32_t i = 0; i < SIM_LANES; i++) r[i] = w->number * SIM_LANES + i;
        break;
    case SREG_LANEID:
        for (uint32_t i = 0; i < SIM_LANES; i++) r[i] = i;
        break;
    case SREG_NTID: fill_i32(w, c, w->block->kernel->func->block); break;
    case SREG_CTAID: fill_i32(w, c, w->block->number); break;
    case SREG_NCTAID: fill_i32(w, c, w->block->blocks); break;
    case SREG_COUNT: ICE("a special register that does not exist");
    }
    *sim_undefined(w, c->r, c->to) = 0;
}

sim_step sim_warp_step(simt_op op) {
    switch ((int)op) {
    case SIMT_SREG: return special;
    case SIMT_SHFL_IDX:
    case SIMT_SHFL_UP:
    case SIMT_SHFL_DOWN:
    case SIMT_SHFL_BFLY: return shuffle;
    case SIMT_BALLOT:
    case SIMT_VOTE_ANY:
    case SIMT_VOTE_ALL: return vote;
    case SIMT_MATCH_ANY: return match;
    case SIMT_LDMATRIX:
    case SIMT_LDMATRIX_TRANS: return sim_ldmatrix;
    case SIMT_MMA: return sim_mma;
    case SIMT_MMA_GROUP:
    case SIMT_MMA_ROWS:
    case SIMT_MMA_ROWS_TRANS:
    case SIMT_MMA_ROWS_BOTH: return sim_mma_group;
    case SIMT_FENCE_MMA: return sim_fence_mma;
    case SIMT_WARP_SYNC: return sync_warp;
    case SIMT_BARRIER: return wait;
    case SIMT_BARRIER_ANY: return wait_any;
    case SIMT_FENCE:
    case SIMT_LAUNCH_NEXT: return fence;
    case SIMT_GRID_WAIT: return settle;
    case SIMT_TRAP: return trap;
    }
    return NULL;
}
