// Formats of floats, and exact numbers rounded to them, for the programs that compare results bit
// by bit.
#ifndef GNNC_ROUNDING_H
#define GNNC_ROUNDING_H

#include "simt.h"

#include <string.h>

typedef struct {
    const char *text;
    simt_element element;
    int precision, min_exponent, bits;
} float_format;
static const float_format float_formats[] = {{"f16", SIMT_F16, 11, -14, 16},
                                             {"bf16", SIMT_BF16, 8, -126, 16},
                                             {"f32", SIMT_F32, 24, -126, 32},
                                             {"f64", SIMT_F64, 53, -1022, 64}};

static inline uint64_t format_infinity(const float_format *f) {
    uint64_t exponents = (UINT64_C(1) << (f->bits - f->precision)) - 1;
    return exponents << (f->precision - 1);
}
static inline bool format_is_nan(const float_format *f, uint64_t bits) {
    return (bits & ((UINT64_C(1) << (f->bits - 1)) - 1)) > format_infinity(f);
}

// The bits of x to nearest even. rest: the sign of what x lacks to the exact value (TwoSum's
// error), 0 if nothing.
static inline uint64_t round_to(const float_format *f, __float128 x, int rest) {
    unsigned __int128 b;
    memcpy(&b, &x, sizeof b);
    bool negative = b >> 127;
    uint64_t sign = (uint64_t)negative << (f->bits - 1);
    int exponent = (int)(b >> 112 & 0x7fff) - 16383;
    unsigned __int128 m = b & (((unsigned __int128)1 << 112) - 1);
    if (exponent == 16384) return m ? format_infinity(f) | 1 : sign | format_infinity(f);
    if (exponent < -16000) return sign;
    m |= (unsigned __int128)1 << 112;
    int quantum = (exponent < f->min_exponent ? f->min_exponent : exponent) - (f->precision - 1),
        shift = quantum - (exponent - 112);
    if (shift > 120) return sign;
    unsigned __int128 half = (unsigned __int128)1 << (shift - 1), low = m & (2 * half - 1);
    uint64_t k = (uint64_t)(m >> shift);
    int more = negative ? -rest : rest;   // towards a larger magnitude
    if (low > half || (low == half && (more > 0 || (more == 0 && (k & 1))))) k++;
    uint64_t bits = k;
    if (exponent >= f->min_exponent)   // k holds the hidden bit, which counts as one exponent
        bits = ((uint64_t)(exponent - f->min_exponent) << (f->precision - 1)) + k;
    return sign | (bits > format_infinity(f) ? format_infinity(f) : bits);
}

static inline __float128 value_of(const float_format *f, uint64_t bits) {
    double d;
    float s;
    uint32_t w = (uint32_t)bits;
    if (f->element == SIMT_F64) return memcpy(&d, &bits, 8), d;
    if (f->element == SIMT_BF16) w <<= 16;
    if (f->element != SIMT_F16) return memcpy(&s, &w, 4), s;
    int exponent = w >> 10 & 31, fraction = w & 1023;
    __float128 v = exponent == 31 ? (fraction ? __builtin_nan("") : __builtin_inf())
                   : exponent     ? __builtin_ldexp(fraction + 1024, exponent - 25)
                                  : __builtin_ldexp(fraction, -24);
    return w & 0x8000 ? -v : v;
}

// Two results agree if they are the same bits; NaNs of 16 bits must be 0x7fff, others may be any.
static inline bool float_agrees(const float_format *f, uint64_t got, uint64_t want) {
    if (!format_is_nan(f, want)) return got == want;
    return f->bits == 16 ? got == 0x7fff : format_is_nan(f, got);
}

static inline uint64_t read_bits(const void *p, uint32_t bytes, uint32_t i) {
    uint64_t x = 0;
    memcpy(&x, (const char *)p + (size_t)i * bytes, bytes);
    return x;
}

#endif
