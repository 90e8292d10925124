// The matrix operations of a warp and who holds which element of their operands: mma.def says it in
// formulas.
#include "simt.h"

const simt_mma_info *simt_mma_table(simt_mma k) {
    static const simt_mma_info table[SIMT_MMA_COUNT] = {
#define MMA(id, shape, operand, m, n, k, element, a, b, needs, warps, by, roundings)               \
    {shape "." operand, shape, operand,   m,           n,         k,                               \
     SIMT_##element,    warps, roundings, GPU_##needs, {a, b, 4}, SIMT_MMA_##by},
#include "mma.def"
#undef MMA
    };
    return &table[k];
}

bool simt_mma_runs(simt_mma k, const gpu_arch *on) {
    return gpu_has(on, (gpu_feature)simt_mma_table(k)->needs);
}

simt_type simt_mma_type(simt_mma k, simt_mma_operand o) {
    const simt_mma_info *m = simt_mma_table(k);
    return (simt_type){o == SIMT_MMA_C ? SIMT_F32 : m->element, m->held[o]};
}

uint32_t simt_mma_word(simt_mma k) {
    return 32 / simt_element_bits(
                    (simt_element)simt_mma_table((simt_mma)simt_mma_table(k)->by)->element);
}

uint32_t simt_mma_piece_bytes(simt_mma k) {
    const simt_mma_info *m = simt_mma_table(k);
    return m->k * m->n * simt_element_bits(m->element) / 8;
}

uint32_t simt_mma_row_at(uint32_t rows, uint32_t row, uint32_t byte) {
    enum { PIECE = 16, TURN = SIMT_PANEL_ROW / PIECE };
    uint32_t panel = byte / SIMT_PANEL_ROW, piece = byte % SIMT_PANEL_ROW / PIECE;
    return (panel * rows + row) * SIMT_PANEL_ROW + (piece ^ row % TURN) * PIECE + byte % PIECE;
}

simt_mma_place simt_mma_at(simt_mma k, simt_mma_operand o, uint32_t lane, uint32_t element) {
    uint32_t w = simt_mma_word(k), g = lane / 4, t = lane % 4;
    uint32_t word = element / w, along = w * t + element % w;   // of the 32-bit registers; along k
    switch (o) {
    case SIMT_MMA_A: return (simt_mma_place){g + 8 * (word % 2), along + 4 * w * (word / 2)};
    case SIMT_MMA_B: return (simt_mma_place){along + 4 * w * word, g};
    case SIMT_MMA_C: return (simt_mma_place){g + 8 * (element / 2), 2 * t + element % 2};
    }
    ICE("matrix operand %d", (int)o);
}
