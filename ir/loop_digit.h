// Digits of a loop: how its positions are dealt out.
#ifndef GNNC_LOOP_DIGIT_H
#define GNNC_LOOP_DIGIT_H

#include "support/support.h"

// A loop visits lo … hi. Its position is written in mixed radix, innermost digit first; a digit
// names who takes its values. What the digits do not cover is the rest: the outermost digit, of
// unknown extent, taken by steps of their product (`serial`) or by blocks (`block`); `whole` says
// the digits cover hi - lo. A position at or past hi is masked: nothing is contributed or stored
// there.
// clang-format off
#define LOOP_PLACES(X)                                                                                      \
    X(VECTOR, "vector")     /* elements of one vector access; innermost digit alone */                      \
    X(REGISTER, "register") /* copies a thread holds, written out */                                        \
    X(LANE, "lane")         /* lanes of a group: threads that may shuffle */                                \
    X(GROUP, "group")       /* groups of a block */                                                         \
    X(SERIAL, "serial")     /* one after the other */                                                       \
    X(UNROLL, "unroll")     /* serial, written out */                                                       \
    X(BLOCK, "block")       /* blocks of the grid; a rest alone */                                          \
    X(WHOLE, "whole")       /* a rest alone: there is none */
// clang-format on
typedef enum {
#define X(name, text) LOOP_##name##_PLACE,
    LOOP_PLACES(X)
#undef X
        LOOP_PLACE_COUNT
} loop_place;
const char *loop_place_text(loop_place p);

typedef struct {
    loop_place place;
    uint32_t extent;
    // LANE, GROUP: the digit is (number / unit) % extent of the thread's lane or group number
    uint32_t unit;
} loop_digit;
enum { LOOP_MAX_DIGITS = 8 };

#endif
