// Conversions. The common ones have a loop of their own; the others go lane by lane through the
// widest type of their kind.
#include "steps.h"
#include "numbers.h"

static void take_undefined(sim_warp *w, const sim_code *c) {
    memcpy(sim_undefined(w, c->r, c->to), sim_undefined(w, c->a, c->from), 4u * c->to.lanes);
}

// ---- Common -------------------------------------------------------------------------------------
#define CONVERT(name, T, R, expression)                                                            \
    SIM_FAST static void name(sim_warp *w, const sim_code *c) {                                    \
        const T *restrict a = sim_at(w, c->a);                                                     \
        R *restrict r = sim_at(w, c->r);                                                           \
        for (uint32_t i = 0; i < c->n; i++) {                                                      \
            T x = a[i];                                                                            \
            r[i] = (expression);                                                                   \
        }                                                                                          \
        take_undefined(w, c);                                                                      \
    }
CONVERT(same_1, uint8_t, uint8_t, x)
CONVERT(same_2, uint16_t, uint16_t, x)
CONVERT(same_4, uint32_t, uint32_t, x)
CONVERT(same_8, uint64_t, uint64_t, x)
CONVERT(sign_32_64, int32_t, int64_t, x)
CONVERT(zero_32_64, uint32_t, uint64_t, x)
CONVERT(cut_64_32, uint64_t, uint32_t, (uint32_t)x)
CONVERT(f16_f32, sim_f16, float, sim_widen_f16(x))
CONVERT(bf16_f32, sim_bf16, float, sim_widen_bf16(x))
CONVERT(f32_f16, float, sim_f16, sim_narrow_f16(x))
CONVERT(f32_bf16, float, sim_bf16, sim_narrow_bf16(x))
CONVERT(f32_f64, float, double, (double)x)
CONVERT(f64_f32, double, float, (float)x)
CONVERT(i32_f32, int32_t, float, (float)x)
static void same_pred(sim_warp *w, const sim_code *c) {
    memcpy(sim_at(w, c->r), sim_at(w, c->a), 8u * c->to.lanes);
}

static sim_step same(simt_type t) {
    if (t.element == SIMT_PRED) return same_pred;
    uint32_t bytes = sim_element_bytes(t);
    return bytes == 1 ? same_1 : bytes == 2 ? same_2 : bytes == 4 ? same_4 : same_8;
}

// ---- Any ----------------------------------------------------------------------------------------
static bool is_float(simt_type t) { return t.element >= SIMT_F16 && t.element <= SIMT_F64; }

static uint64_t load_bits(const uint8_t *at, simt_type t, uint32_t i) {
    uint64_t bits = 0;
    if (t.element == SIMT_PRED) {
        memcpy(&bits, at + i / SIM_LANES * 4, 4);
        return bits >> i % SIM_LANES & 1;
    }
    memcpy(&bits, at + i * sim_element_bytes(t), sim_element_bytes(t));
    return bits;
}

static void store_bits(uint8_t *at, simt_type t, uint32_t i, uint64_t bits) {
    if (t.element != SIMT_PRED) {
        memcpy(at + i * sim_element_bytes(t), &bits, sim_element_bytes(t));
        return;
    }
    uint32_t *word = (uint32_t *)(void *)at + i / SIM_LANES, bit = UINT32_C(1) << i % SIM_LANES;
    *word = bits & 1 ? *word | bit : *word & ~bit;
}

static double to_double(simt_type t, uint64_t bits) {
    if (t.element == SIMT_F64) return sim_float64(bits);
    if (t.element == SIMT_F32) return (double)sim_float32((uint32_t)bits);
    if (t.element == SIMT_F16) return (double)sim_widen_f16((sim_f16){(uint16_t)bits});
    return (double)sim_widen_bf16((sim_bf16){(uint16_t)bits});
}

// To the format, rounded once.
static uint64_t from_double(simt_type t, double x) {
    if (t.element == SIMT_F64) return sim_bits64(x);
    if (t.element == SIMT_F32) return sim_bits32((float)x);
    return t.element == SIMT_F16 ? sim_narrow_f16(sim_round_odd(x)).bits
                                 : sim_narrow_bf16(sim_round_odd(x)).bits;
}

// An integer of which a double keeps every bit that can decide a rounding to 16 bits: beyond 2^52
// the low twelve become one that says whether any was set.
static uint64_t sticky(uint64_t size) {
    if (size <= UINT64_C(1) << 52) return size;
    return (size & ~UINT64_C(0xfff)) | (size & 0xfff ? 0x800 : 0);
}

static uint64_t int_to_float(simt_type to, uint64_t size, bool negative) {
    if (to.element == SIMT_F32) return sim_bits32(negative ? -(float)size : (float)size);
    double x = (double)(to.element == SIMT_F64 ? size : sticky(size));
    return from_double(to, negative ? -x : x);
}

// Towards zero; what does not fit becomes the nearest that does, NaN becomes 0.
static uint64_t float_to_int(uint32_t bits, bool is_unsigned, double x) {
    double limit = ldexp(1, (int)bits - !is_unsigned), least = is_unsigned ? 0 : -limit;
    if (isnan(x)) return 0;
    if (x <= least) return is_unsigned ? 0 : UINT64_C(1) << (bits - 1);
    if (x >= limit)
        return is_unsigned ? ~UINT64_C(0) >> (64 - bits) : (UINT64_C(1) << (bits - 1)) - 1;
    return is_unsigned ? (uint64_t)x : (uint64_t)(int64_t)x;
}

static uint64_t sign_extend(uint64_t x, uint32_t bits) {
    uint64_t sign = UINT64_C(1) << (bits - 1);
    return (x ^ sign) - sign;
}

static uint64_t convert_one(const sim_code *c, bool is_unsigned, uint64_t x) {
    simt_type from = c->from, to = c->to;
    uint32_t bits = simt_element_bits((simt_element)from.element);
    if (to.element == SIMT_PRED) return is_float(from) ? to_double(from, x) != 0 : x != 0;
    if (from.element == SIMT_PRED) return is_float(to) ? from_double(to, x ? 1 : 0) : x;
    if (is_float(from) && is_float(to)) return from_double(to, to_double(from, x));
    if (is_float(from))
        return float_to_int(simt_element_bits((simt_element)to.element), is_unsigned,
                            to_double(from, x));
    if (!is_unsigned) x = sign_extend(x, bits);
    bool negative = !is_unsigned && (int64_t)x < 0;
    return is_float(to) ? int_to_float(to, negative ? 0 - x : x, negative) : x;
}

static void convert_any(sim_warp *w, const sim_code *c, bool is_unsigned) {
    const uint8_t *x = sim_at(w, c->a);
    uint8_t *r = sim_at(w, c->r);
    for (uint32_t i = 0; i < c->n; i++)
        store_bits(r, c->to, i, convert_one(c, is_unsigned, load_bits(x, c->from, i)));
    take_undefined(w, c);
}
static void convert_signed(sim_warp *w, const sim_code *c) { convert_any(w, c, false); }
static void convert_unsigned(sim_warp *w, const sim_code *c) { convert_any(w, c, true); }

sim_step sim_convert_step(const simt_func *f, const simt_instr_info *i) {
    static const sim_step common[SIMT_ELEMENT_COUNT][SIMT_ELEMENT_COUNT] = {
        [SIMT_I64][SIMT_I32] = cut_64_32, [SIMT_I32][SIMT_I64] = sign_32_64,
        [SIMT_F16][SIMT_F32] = f16_f32,   [SIMT_BF16][SIMT_F32] = bf16_f32,
        [SIMT_F32][SIMT_F16] = f32_f16,   [SIMT_F32][SIMT_BF16] = f32_bf16,
        [SIMT_F32][SIMT_F64] = f32_f64,   [SIMT_F64][SIMT_F32] = f64_f32,
        [SIMT_I32][SIMT_F32] = i32_f32};
    if (i->op != SIMT_CVT && i->op != SIMT_UCVT) return NULL;
    simt_type from = simt_typeof(f, i->args[0]), to = simt_typeof(f, i->results[0]);
    if (from.element == to.element) return same(to);
    if (i->op == SIMT_UCVT && from.element == SIMT_I32)
        return to.element == SIMT_I64 ? zero_32_64 : convert_unsigned;
    sim_step s = common[from.element][to.element];
    return s ? s : i->op == SIMT_CVT ? convert_signed : convert_unsigned;
}
