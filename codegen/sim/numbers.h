// Scalars as generated code has them: conversions of 16-bit floats rounded once to nearest even,
// with 0x7fff for every NaN that an operation gives (codegen/llvm_convert.c says why), minimum and
// maximum by IEEE 754-2019.
#ifndef GNNC_SIM_NUMBERS_H
#define GNNC_SIM_NUMBERS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

// Loops over lanes in two forms, of which the processor at hand takes one: AVX2 has what they need
// eight lanes at a time.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__)
#define SIM_FAST __attribute__((target_clones("arch=haswell", "default")))
#else
#define SIM_FAST
#endif

typedef struct {
    uint16_t bits;
} sim_f16;
typedef struct {
    uint16_t bits;
} sim_bf16;

static inline uint32_t sim_bits32(float x) {
    uint32_t b;
    memcpy(&b, &x, 4);
    return b;
}
static inline float sim_float32(uint32_t b) {
    float x;
    memcpy(&x, &b, 4);
    return x;
}
static inline uint64_t sim_bits64(double x) {
    uint64_t b;
    memcpy(&b, &x, 8);
    return b;
}
static inline double sim_float64(uint64_t b) {
    double x;
    memcpy(&x, &b, 8);
    return x;
}

static inline float sim_widen_f16(sim_f16 x) {
    _Float16 h;
    memcpy(&h, &x, 2);
    return (float)h;
}
static inline float sim_widen_bf16(sim_bf16 x) { return sim_float32((uint32_t)x.bits << 16); }
static inline sim_f16 sim_narrow_f16(float x) {
    _Float16 h = (_Float16)x;
    sim_f16 r;
    memcpy(&r, &h, 2);
    return isnan(x) ? (sim_f16){0x7fff} : r;
}
static inline sim_bf16 sim_narrow_bf16(float x) {
    uint32_t b = sim_bits32(x);
    b += (b >> 16 & 1) + 0x7fff;
    return isnan(x) ? (sim_bf16){0x7fff} : (sim_bf16){(uint16_t)(b >> 16)};
}

// Rounded to odd, so that rounding again to 16 bits is rounding once (Boldo and Melquiond 2008).
static inline float sim_round_odd(double x) {
    float near = (float)x;
    uint32_t b = sim_bits32(near);
    if (isnan(x) || (double)near == x || b & 1) return near;
    return sim_float32(fabs(x) > fabs((double)near) ? b + 1 : b - 1);
}

// Product and sum of 16-bit floats; the product is exact, the sum is rounded to odd by its exact
// error (TwoSum).
static inline float sim_fma_odd(float a, float b, float c) {
    double p = (double)a * (double)b, z = c, s = p + z;
    double q = s - p, error = (p - (s - q)) + (z - q);
    uint64_t bits = sim_bits64(s);
    if (error != 0 && !isnan(error) && !(bits & 1))
        s = sim_float64((error > 0) == (s > 0) ? bits + 1 : bits - 1);
    return sim_round_odd(s);
}

#define SIM_EXTREMES(T, suffix)                                                                    \
    static inline T sim_min_##suffix(T x, T y) {                                                   \
        if (isnan(x) || isnan(y)) return x + y;                                                    \
        if (x == y) return signbit(x) ? x : y;                                                     \
        return x < y ? x : y;                                                                      \
    }                                                                                              \
    static inline T sim_max_##suffix(T x, T y) {                                                   \
        if (isnan(x) || isnan(y)) return x + y;                                                    \
        if (x == y) return signbit(x) ? y : x;                                                     \
        return x > y ? x : y;                                                                      \
    }
SIM_EXTREMES(float, f32)
SIM_EXTREMES(double, f64)
#undef SIM_EXTREMES

#endif
