// A swizzle that the verifier admits is a bijection: no two bytes of a tile have one place, and
// each row keeps its own.
#include "loop_fetch.h"

#include <stdio.h>
#include <string.h>

static int failures;
#define CHECK(x)                                                                                   \
    do {                                                                                           \
        if (!(x)) printf("%s:%d: %s\n", __FILE__, __LINE__, #x), failures++;                       \
    } while (0)

enum { ROWS = 64, MOST_PITCH = 256, MASKS = 4 };

static bool is_bijection(const loop_fetch *f) {
    static bool taken[ROWS * MOST_PITCH];
    bool good = true;
    memset(taken, 0, sizeof taken);
    for (uint32_t row = 0; row < ROWS; row++)
        for (uint32_t byte = 0; byte < f->pitch; byte++) {
            uint32_t at = loop_fetch_at(f, 1, row, byte);
            bool inside = at / f->pitch == row;
            good = good && inside && !taken[at];
            if (inside) taken[at] = true;
            good = good && at % LOOP_SWIZZLE_PIECE == byte % LOOP_SWIZZLE_PIECE;
        }
    return good;
}

static void check(const loop_swizzle *s) {
    for (uint32_t pitch = LOOP_SWIZZLE_PIECE; pitch <= MOST_PITCH; pitch += LOOP_SWIZZLE_PIECE) {
        loop_fetch f = {.pitch = pitch, .swizzle = *s};
        if (loop_swizzle_keeps(s, pitch)) CHECK(is_bijection(&f));
    }
    uint32_t turn = loop_swizzle_turn(s);
    for (uint32_t row = 0; row < ROWS; row++) {
        CHECK(loop_swizzle_of(s, row) == loop_swizzle_of(s, row + turn));
        CHECK(loop_swizzle_of(s, row) < UINT32_C(1) << s->n);
        for (uint32_t other = 0; other < ROWS; other++)   // linear
            CHECK((loop_swizzle_of(s, row) ^ loop_swizzle_of(s, other)) ==
                  loop_swizzle_of(s, row ^ other));
    }
}

int main(void) {
    static const uint32_t masks[MASKS] = {0, 1, 16, 27};
    for (uint32_t n = 1; n <= LOOP_SWIZZLE_BITS; n++)
        for (uint32_t i = 0; i < MASKS * MASKS * MASKS; i++) {
            loop_swizzle s = {
                .n = n,
                .rows = {masks[i % MASKS], masks[i / MASKS % MASKS], masks[i / (MASKS * MASKS)]}};
            check(&s);
        }
    // By three bits of the row and rows of 8 pieces: the classic one.
    loop_fetch f = {.pitch = 128, .swizzle = {3, {1, 2, 4}}};
    CHECK(loop_fetch_at(&f, 1, 5, 0) == 5 * 128 + 5 * 16);
    CHECK(loop_fetch_at(&f, 2, 9, 34) == 9 * 256 + (2 ^ 1) * 16 + 2);
    CHECK(!loop_swizzle_keeps(&f.swizzle, 64) && loop_swizzle_keeps(&f.swizzle, 256));
    // An admitted one is needed: other rows' bytes would be taken.
    f.pitch = 48;
    CHECK(!is_bijection(&f));
    return failures != 0;
}
