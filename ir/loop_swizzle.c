// An XOR swizzle of a tile in shared memory: pieces of 16 bytes change places in their row, so that
// lanes which read one column of several rows ask different banks. Which pieces change is a linear
// map over GF(2) from the bits of the row to bits of the piece.
//     pitch 64 swizzle (8, 0, 16)  →  piece ^ ((row >> 3 & 1) | (row >> 4 & 1) << 2)
#include "loop_fetch.h"

uint32_t loop_swizzle_of(const loop_swizzle *s, uint32_t row) {
    uint32_t by = 0;
    for (uint32_t i = 0; i < s->n; i++)
        by |= (uint32_t)(__builtin_popcount(row & s->rows[i]) & 1) << i;
    return by;
}

uint32_t loop_swizzle_turn(const loop_swizzle *s) {
    uint32_t bits = 0, turn = 1;
    for (uint32_t i = 0; i < s->n; i++) bits |= s->rows[i];
    while (turn <= bits) turn *= 2;
    return turn;
}

// The XOR is less than 2^n. In a row of a multiple of 2^n pieces it changes the last n bits of a
// piece's number alone: the piece stays in the row, and two pieces stay two.
bool loop_swizzle_keeps(const loop_swizzle *s, uint32_t row_bytes) {
    return row_bytes % ((uint32_t)LOOP_SWIZZLE_PIECE << s->n) == 0;
}

uint32_t loop_fetch_at(const loop_fetch *f, uint32_t element_bytes, uint32_t row, uint32_t byte) {
    uint32_t skewed = f->every ? row / f->every * f->skew : 0;
    return (row * f->pitch + skewed) * element_bytes +
           (byte ^ loop_swizzle_of(&f->swizzle, row) * LOOP_SWIZZLE_PIECE);
}
