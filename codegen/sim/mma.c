// Matrix operations of a warp: what the lanes hold is put together, multiplied, and dealt out again
// (ir/mma.def). The products of an element are added to it one by one, in order along k, each exact and each
// sum rounded once to f32.
#include "internal.h"
#include "numbers.h"

enum { MOST_M = 16, MOST_N = 8, MOST_K = 16 };
typedef struct {
    float a[MOST_M][MOST_K], b[MOST_K][MOST_N], d[MOST_M][MOST_N];
    bool undefined[MOST_M][MOST_N];
} matrices;

// Of tf32 the operation reads the upper 19 bits.
static float element_of(simt_element e, const void *at, uint32_t i) {
    if (e == SIMT_F16) return sim_widen_f16(((const sim_f16 *)at)[i]);
    if (e == SIMT_BF16) return sim_widen_bf16(((const sim_bf16 *)at)[i]);
    return sim_float32(((const uint32_t *)at)[i] & ~UINT32_C(0x1fff));
}

static void gather(sim_warp *w, const sim_code *c, const simt_mma_info *m, matrices *x) {
    simt_mma kind = (simt_mma)c->func->instrs.data[c->instr].aux;
    const float *addend = sim_at(w, c->c);
    for (uint32_t i = 0; i < m->held[SIMT_MMA_A] * SIM_LANES; i++) {
        simt_mma_place p = simt_mma_at(kind, SIMT_MMA_A, i % SIM_LANES, i / SIM_LANES);
        x->a[p.row][p.column] = element_of((simt_element)m->element, sim_at(w, c->a), i);
    }
    for (uint32_t i = 0; i < m->held[SIMT_MMA_B] * SIM_LANES; i++) {
        simt_mma_place p = simt_mma_at(kind, SIMT_MMA_B, i % SIM_LANES, i / SIM_LANES);
        x->b[p.row][p.column] = element_of((simt_element)m->element, sim_at(w, c->b), i);
    }
    for (uint32_t i = 0; i < m->held[SIMT_MMA_C] * SIM_LANES; i++) {
        simt_mma_place p = simt_mma_at(kind, SIMT_MMA_C, i % SIM_LANES, i / SIM_LANES);
        x->d[p.row][p.column] = addend[i];
    }
}

SIM_FAST static void multiply(const simt_mma_info *m, matrices *x) {
    for (uint32_t k = 0; k < m->k; k++)
        for (uint32_t i = 0; i < m->m; i++)
            for (uint32_t j = 0; j < MOST_N; j++) x->d[i][j] = fmaf(x->a[i][k], x->b[k][j], x->d[i][j]);
}

// An element that nobody wrote reaches all elements of its row of A, all of its column of B.
static void spread_undefined(sim_warp *w, const sim_code *c, const simt_mma_info *m, matrices *x) {
    simt_mma kind = (simt_mma)c->func->instrs.data[c->instr].aux;
    const sim_place places[] = {c->a, c->b, c->c};
    for (uint32_t o = SIMT_MMA_A; o <= SIMT_MMA_C; o++) {
        const uint32_t *undefined = sim_undefined(w, places[o], simt_mma_type(kind, (simt_mma_operand)o));
        for (uint32_t i = 0; i < m->held[o] * SIM_LANES; i++) {
            if (!sim_lane(undefined[i / SIM_LANES], i % SIM_LANES)) continue;
            simt_mma_place p = simt_mma_at(kind, (simt_mma_operand)o, i % SIM_LANES, i / SIM_LANES);
            for (uint32_t row = 0; row < m->m; row++)
                for (uint32_t column = 0; column < m->n; column++)
                    x->undefined[row][column] |= (o == SIMT_MMA_B || row == p.row) &&
                                                 (o == SIMT_MMA_A || column == p.column);
        }
    }
}

void sim_mma(sim_warp *w, const sim_code *c) {
    simt_mma kind = (simt_mma)c->func->instrs.data[c->instr].aux;
    const simt_mma_info *m = simt_mma_table(kind);
    matrices x = {0};
    sim_need_whole_warp(w, c);
    gather(w, c, m, &x);
    multiply(m, &x);
    spread_undefined(w, c, m, &x);
    float *r = sim_at(w, c->r);
    uint32_t *undefined = sim_undefined(w, c->r, c->to);
    memset(undefined, 0, 4u * c->to.lanes);
    for (uint32_t i = 0; i < c->n; i++) {
        simt_mma_place p = simt_mma_at(kind, SIMT_MMA_C, i % SIM_LANES, i / SIM_LANES);
        r[i] = x.d[p.row][p.column];
        undefined[i / SIM_LANES] |= (uint32_t)x.undefined[p.row][p.column] << i % SIM_LANES;
    }
}
