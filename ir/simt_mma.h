// Matrix operations of a warp (mma.def): shapes, types, which lane holds which element.
#ifndef GNNC_SIMT_MMA_H
#define GNNC_SIMT_MMA_H

#include "gpu.h"
#include "simt_type.h"

// the arguments of MMA; D is held as C is
typedef enum { SIMT_MMA_A, SIMT_MMA_B, SIMT_MMA_C } simt_mma_operand;
typedef struct {
    const char *text, *shape, *operand;   // "m16n8k16.f16" and its parts
    uint8_t m, n, k;
    uint8_t element;     // of A and B
    uint8_t warps;       // that do it together
    uint8_t roundings;   // of a term of a sum by it
    uint8_t needs;       // gpu_feature that has it
    uint8_t held[3];     // elements of each operand that a lane holds
    // simt_mma that does it, in three where it is another: of factors that are taken apart
    uint8_t by;
} simt_mma_info;
typedef struct {
    uint32_t row, column;
} simt_mma_place;
const simt_mma_info *simt_mma_table(simt_mma k);
static inline bool simt_mma_splits(simt_mma k) { return simt_mma_table(k)->by != k; }
// numbers that a register has as A and B are multiplied: of their element, or of that of which two
// are one
uint32_t simt_mma_word(simt_mma k);
bool simt_mma_runs(simt_mma k, const gpu_arch *on);
simt_type simt_mma_type(simt_mma k, simt_mma_operand o);   // a vector of what a lane holds
simt_mma_place simt_mma_at(simt_mma k, simt_mma_operand o, uint32_t lane, uint32_t element);
// Of operations of several warps, bytes of shared memory that a piece of B takes: word w of what
// lane l holds of it lies at 128 w + 4 l.
uint32_t simt_mma_piece_bytes(simt_mma k);
// Of MMA_ROWS, where a byte of a row lies from the first one, which is at a multiple of
// SIMT_PANEL_ALIGN: a panel has SIMT_PANEL_ROW bytes of each row, row after row, whose pieces of 16
// bytes change places with the row's number, so that those of eight rows are in banks of their own.
enum { SIMT_PANEL_ROW = 128, SIMT_PANEL_ALIGN = 1024, SIMT_GROUP_ROWS = 64 };
uint32_t simt_mma_row_at(uint32_t rows, uint32_t row, uint32_t byte);

#endif
