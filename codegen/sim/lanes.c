// Arithmetic, comparisons and shape: one loop over the lanes for each operation and type. All lanes
// are computed, also those that do not run: nobody sees what they hold.
#include "steps.h"
#include "numbers.h"

// ---- Undefined elements -------------------------------------------------------------------------
// An element of a result comes from memory that nobody wrote where one of an argument's does.
static uint32_t *words(sim_warp *w, sim_place p, uint32_t bytes) {
    return (uint32_t *)(void *)(w->frame + p + bytes);
}

static void join(sim_warp *w, const sim_code *c, uint32_t nargs) {
    uint32_t in = sim_value_bytes(c->from), lanes = c->n / SIM_LANES;
    uint32_t *r = words(w, c->r, sim_value_bytes(c->to)), *x = words(w, c->a, in),
             *y = words(w, c->b, in), *z = words(w, c->c, in);
    for (uint32_t k = 0; k < lanes; k++)
        r[k] = x[k] | (nargs > 1 ? y[k] : 0) | (nargs > 2 ? z[k] : 0);
}

// ---- Loops --------------------------------------------------------------------------------------
#define UNARY(name, T, expression)                                                                 \
    SIM_FAST static void name(sim_warp *w, const sim_code *c) {                                    \
        const T *restrict a = sim_at(w, c->a);                                                     \
        T *restrict r = sim_at(w, c->r);                                                           \
        for (uint32_t i = 0; i < c->n; i++) {                                                      \
            T x = a[i];                                                                            \
            r[i] = (expression);                                                                   \
        }                                                                                          \
        join(w, c, 1);                                                                             \
    }
#define BINARY(name, T, expression)                                                                \
    SIM_FAST static void name(sim_warp *w, const sim_code *c) {                                    \
        const T *restrict a = sim_at(w, c->a), *restrict b = sim_at(w, c->b);                      \
        T *restrict r = sim_at(w, c->r);                                                           \
        for (uint32_t i = 0; i < c->n; i++) {                                                      \
            T x = a[i], y = b[i];                                                                  \
            r[i] = (expression);                                                                   \
        }                                                                                          \
        join(w, c, 2);                                                                             \
    }
#define TERNARY(name, T, expression)                                                               \
    SIM_FAST static void name(sim_warp *w, const sim_code *c) {                                    \
        const T *restrict a = sim_at(w, c->a), *restrict b = sim_at(w, c->b),                      \
                          *restrict d = sim_at(w, c->c);                                           \
        T *restrict r = sim_at(w, c->r);                                                           \
        for (uint32_t i = 0; i < c->n; i++) {                                                      \
            T x = a[i], y = b[i], z = d[i];                                                        \
            r[i] = (expression);                                                                   \
        }                                                                                          \
        join(w, c, 3);                                                                             \
    }
#define COMPARE(name, T, V, widen, operator)                                                       \
    SIM_FAST static void name(sim_warp *w, const sim_code *c) {                                    \
        const T *restrict a = sim_at(w, c->a), *restrict b = sim_at(w, c->b);                      \
        uint32_t *restrict r = sim_at(w, c->r);                                                    \
        for (uint32_t k = 0; k < c->n / SIM_LANES; k++, a += SIM_LANES, b += SIM_LANES) {          \
            uint32_t m = 0;                                                                        \
            for (uint32_t i = 0; i < SIM_LANES; i++) {                                             \
                V x = widen(a[i]), y = widen(b[i]);                                                \
                m |= (uint32_t)(x operator y) << i;                                                \
            }                                                                                      \
            r[k] = m;                                                                              \
        }                                                                                          \
        join(w, c, 2);                                                                             \
    }

// ---- Integers -----------------------------------------------------------------------------------
// U, S: unsigned and signed; W: twice as wide. Sums wrap in unsigned numbers.
#define INTEGERS(e, U, S, W, bits)                                                                 \
    BINARY(add_##e, U, (U)(x + y))                                                                 \
    BINARY(sub_##e, U, (U)(x - y))                                                                 \
    BINARY(mul_##e, U, (U)((W)x * y))                                                              \
    BINARY(mulhi_##e, U, (U)((W)x * y >> bits))                                                    \
    BINARY(min_##e, S, x < y ? x : y)                                                              \
    BINARY(max_##e, S, x > y ? x : y)                                                              \
    BINARY(and_##e, U, (U)(x & y))                                                                 \
    BINARY(or_##e, U, (U)(x | y))                                                                  \
    BINARY(xor_##e, U, (U)(x ^ y))                                                                 \
    BINARY(shl_##e, U, (U)((W)x << (y & (bits - 1))))                                              \
    BINARY(lshr_##e, U, (U)(x >> (y & (bits - 1))))                                                \
    BINARY(ashr_##e, S, (S)(x >> (y & (bits - 1))))                                                \
    UNARY(not_##e, U, (U)~x)                                                                       \
    UNARY(neg_##e, U, (U)(0 - x))                                                                  \
    UNARY(abs_##e, U, (U)(x >> (bits - 1) ? 0 - x : x))                                            \
    UNARY(clz_##e, U, (U)(x ? __builtin_clzll(x) - (64 - bits) : bits))
typedef unsigned __int128 uint128;
INTEGERS(i8, uint8_t, int8_t, uint32_t, 8)
INTEGERS(i16, uint16_t, int16_t, uint32_t, 16)
INTEGERS(i32, uint32_t, int32_t, uint64_t, 32)
INTEGERS(i64, uint64_t, int64_t, uint128, 64)

// A divisor of 0 has no meaning; lanes that do not run may hold one. The least integer by -1 wraps.
#define DIVISION(name, T, expression)                                                              \
    static void name(sim_warp *w, const sim_code *c) {                                             \
        const T *a = sim_at(w, c->a), *b = sim_at(w, c->b);                                        \
        T *r = sim_at(w, c->r);                                                                    \
        sim_mask zero = 0;                                                                         \
        for (uint32_t i = 0; i < c->n; i++) {                                                      \
            T x = a[i], y = b[i] ? b[i] : 1;                                                       \
            zero |= (uint32_t)!b[i] << i % SIM_LANES;                                              \
            r[i] = (T)(expression);                                                                \
        }                                                                                          \
        join(w, c, 2);                                                                             \
        if (zero & w->mask) sim_fault_at(w, c, E0727, zero & w->mask, 0, "divides by 0");          \
    }
#define DIVISIONS(e, U, S)                                                                         \
    DIVISION(div_##e, U, (U)(y + 1) ? (U)((S)x / (S)y) : 0 - x)                                    \
    DIVISION(rem_##e, U, (U)(y + 1) ? (U)((S)x % (S)y) : 0)                                        \
    DIVISION(udiv_##e, U, x / y)                                                                   \
    DIVISION(urem_##e, U, x % y)
DIVISIONS(i8, uint8_t, int8_t)
DIVISIONS(i16, uint16_t, int16_t)
DIVISIONS(i32, uint32_t, int32_t)
DIVISIONS(i64, uint64_t, int64_t)

// ---- Floats -------------------------------------------------------------------------------------
#define FLOATS(e, T, f)                                                                            \
    BINARY(add_##e, T, x + y)                                                                      \
    BINARY(sub_##e, T, x - y)                                                                      \
    BINARY(mul_##e, T, x *y)                                                                       \
    BINARY(div_##e, T, x / y)                                                                      \
    BINARY(min_##e, T, sim_min_##e(x, y))                                                          \
    BINARY(max_##e, T, sim_max_##e(x, y))                                                          \
    BINARY(copysign_##e, T, copysign##f(x, y))                                                     \
    UNARY(neg_##e, T, -x)                                                                          \
    UNARY(abs_##e, T, fabs##f(x))                                                                  \
    UNARY(sqrt_##e, T, sqrt##f(x))                                                                 \
    UNARY(floor_##e, T, floor##f(x))                                                               \
    UNARY(ceil_##e, T, ceil##f(x))                                                                 \
    UNARY(rint_##e, T, rint##f(x))                                                                 \
    TERNARY(fma_##e, T, fma##f(x, y, z))                                                           \
    UNARY(exp2a_##e, T, exp2##f(x))                                                                \
    UNARY(log2a_##e, T, log2##f(x))                                                                \
    UNARY(rcpa_##e, T, 1 / x)                                                                      \
    UNARY(rsqrta_##e, T, 1 / sqrt##f(x))                                                           \
    UNARY(tanha_##e, T, tanh##f(x))
FLOATS(f32, float, f)
FLOATS(f64, double, )
static uint32_t to_tf32(uint32_t bits) {
    return (bits + 0xfff + (bits >> 13 & 1)) & ~UINT32_C(0x1fff);
}
UNARY(tf32_f32, float, sim_float32(isnan(x) ? 0x7fffffff : to_tf32(sim_bits32(x))))

// f32 has twice the digits and two, so rounding again is rounding once. A NaN whose sign is set is
// 0x7fff as well.
#define HALVES(e, T)                                                                               \
    static inline T sign_##e(uint16_t bits, uint16_t infinity) {                                   \
        return (T){(bits & 0x7fff) > infinity ? 0x7fff : bits};                                    \
    }                                                                                              \
    BINARY(add_##e, T, sim_narrow_##e(sim_widen_##e(x) + sim_widen_##e(y)))                        \
    BINARY(sub_##e, T, sim_narrow_##e(sim_widen_##e(x) - sim_widen_##e(y)))                        \
    BINARY(mul_##e, T, sim_narrow_##e(sim_widen_##e(x) * sim_widen_##e(y)))                        \
    BINARY(div_##e, T, sim_narrow_##e(sim_widen_##e(x) / sim_widen_##e(y)))                        \
    BINARY(min_##e, T, sim_narrow_##e(sim_min_f32(sim_widen_##e(x), sim_widen_##e(y))))            \
    BINARY(max_##e, T, sim_narrow_##e(sim_max_f32(sim_widen_##e(x), sim_widen_##e(y))))            \
    BINARY(copysign_##e, T, sign_##e((x.bits & 0x7fff) | (y.bits & 0x8000), infinity_##e))         \
    UNARY(neg_##e, T, sign_##e(x.bits ^ 0x8000, infinity_##e))                                     \
    UNARY(abs_##e, T, sign_##e(x.bits & 0x7fff, infinity_##e))                                     \
    UNARY(sqrt_##e, T, sim_narrow_##e(sqrtf(sim_widen_##e(x))))                                    \
    UNARY(floor_##e, T, sim_narrow_##e(floorf(sim_widen_##e(x))))                                  \
    UNARY(ceil_##e, T, sim_narrow_##e(ceilf(sim_widen_##e(x))))                                    \
    UNARY(rint_##e, T, sim_narrow_##e(rintf(sim_widen_##e(x))))                                    \
    TERNARY(fma_##e, T,                                                                            \
            sim_narrow_##e(sim_fma_odd(sim_widen_##e(x), sim_widen_##e(y), sim_widen_##e(z))))     \
    UNARY(exp2a_##e, T, sim_narrow_##e(exp2f(sim_widen_##e(x))))                                   \
    UNARY(log2a_##e, T, sim_narrow_##e(log2f(sim_widen_##e(x))))                                   \
    UNARY(rcpa_##e, T, sim_narrow_##e(1 / sim_widen_##e(x)))                                       \
    UNARY(rsqrta_##e, T, sim_narrow_##e(1 / sqrtf(sim_widen_##e(x))))                              \
    UNARY(tanha_##e, T, sim_narrow_##e(tanhf(sim_widen_##e(x))))
enum { infinity_f16 = 0x7c00, infinity_bf16 = 0x7f80 };
HALVES(f16, sim_f16)
HALVES(bf16, sim_bf16)

// ---- Preds --------------------------------------------------------------------------------------
// One word an element. A false argument of `and` decides it whatever the other one is, a true one
// of `or`.
static void and_pred(sim_warp *w, const sim_code *c) {
    uint32_t *r = sim_at(w, c->r), *x = sim_at(w, c->a), *y = sim_at(w, c->b), n = c->n / SIM_LANES;
    for (uint32_t k = 0; k < n; k++) {
        r[n + k] = (x[n + k] | y[n + k]) & (x[k] | x[n + k]) & (y[k] | y[n + k]);
        r[k] = x[k] & y[k];
    }
}
static void or_pred(sim_warp *w, const sim_code *c) {
    uint32_t *r = sim_at(w, c->r), *x = sim_at(w, c->a), *y = sim_at(w, c->b), n = c->n / SIM_LANES;
    for (uint32_t k = 0; k < n; k++) {
        r[n + k] = (x[n + k] | y[n + k]) & (~x[k] | x[n + k]) & (~y[k] | y[n + k]);
        r[k] = x[k] | y[k];
    }
}
static void xor_pred(sim_warp *w, const sim_code *c) {
    uint32_t *r = sim_at(w, c->r), *x = sim_at(w, c->a), *y = sim_at(w, c->b);
    for (uint32_t k = 0; k < c->n / SIM_LANES; k++) r[k] = x[k] ^ y[k];
    join(w, c, 2);
}
static void not_pred(sim_warp *w, const sim_code *c) {
    uint32_t *r = sim_at(w, c->r), *x = sim_at(w, c->a);
    for (uint32_t k = 0; k < c->n / SIM_LANES; k++) r[k] = ~x[k];
    join(w, c, 1);
}
static void eq_pred(sim_warp *w, const sim_code *c) {
    xor_pred(w, c);
    uint32_t *r = sim_at(w, c->r);
    for (uint32_t k = 0; k < c->n / SIM_LANES; k++) r[k] = ~r[k];
}

// ---- Comparisons --------------------------------------------------------------------------------
#define SELF(x) (x)
#define SIX(e, T, V, widen)                                                                        \
    COMPARE(eq_##e, T, V, widen, ==)                                                               \
    COMPARE(ne_##e, T, V, widen, !=)                                                               \
    COMPARE(lt_##e, T, V, widen, <)                                                                \
    COMPARE(le_##e, T, V, widen, <=)                                                               \
    COMPARE(gt_##e, T, V, widen, >)                                                                \
    COMPARE(ge_##e, T, V, widen, >=)
#define FOUR(e, T)                                                                                 \
    COMPARE(ult_##e, T, T, SELF, <)                                                                \
    COMPARE(ule_##e, T, T, SELF, <=)                                                               \
    COMPARE(ugt_##e, T, T, SELF, >)                                                                \
    COMPARE(uge_##e, T, T, SELF, >=)
SIX(i8, int8_t, int8_t, SELF)
SIX(i16, int16_t, int16_t, SELF)
SIX(i32, int32_t, int32_t, SELF)
SIX(i64, int64_t, int64_t, SELF)
SIX(f32, float, float, SELF)
SIX(f64, double, double, SELF)
SIX(f16, sim_f16, float, sim_widen_f16)
SIX(bf16, sim_bf16, float, sim_widen_bf16)
FOUR(i8, uint8_t)
FOUR(i16, uint16_t)
FOUR(i32, uint32_t)
FOUR(i64, uint64_t)

// ---- Selection ----------------------------------------------------------------------------------
// The condition is one pred, or one an element.
static sim_mask condition(sim_warp *w, const sim_code *c, uint32_t k, sim_mask *undefined) {
    const uint32_t *p = sim_at(w, c->a);
    uint32_t n = c->from.lanes, at = n == 1 ? 0 : k;
    *undefined = p[n + at];
    return p[at];
}
static void select_undefined(sim_warp *w, const sim_code *c) {
    uint32_t bytes = sim_value_bytes(c->to), *r = words(w, c->r, bytes), *x = words(w, c->b, bytes),
             *y = words(w, c->c, bytes);
    for (uint32_t k = 0; k < c->n / SIM_LANES; k++) {
        sim_mask undefined, m = condition(w, c, k, &undefined);
        r[k] = (m & x[k]) | (~m & y[k]) | undefined;
    }
}
#define SELECT(name, T)                                                                            \
    SIM_FAST static void name(sim_warp *w, const sim_code *c) {                                    \
        const T *restrict x = sim_at(w, c->b), *restrict y = sim_at(w, c->c);                      \
        T *restrict r = sim_at(w, c->r);                                                           \
        for (uint32_t k = 0; k < c->n; k += SIM_LANES) {                                           \
            sim_mask undefined, m = condition(w, c, k / SIM_LANES, &undefined);                    \
            for (uint32_t i = 0; i < SIM_LANES; i++) r[k + i] = m >> i & 1 ? x[k + i] : y[k + i];  \
        }                                                                                          \
        select_undefined(w, c);                                                                    \
    }
SELECT(select_1, uint8_t)
SELECT(select_2, uint16_t)
SELECT(select_4, uint32_t)
SELECT(select_8, uint64_t)
static void select_pred(sim_warp *w, const sim_code *c) {
    uint32_t *r = sim_at(w, c->r), *x = sim_at(w, c->b), *y = sim_at(w, c->c);
    for (uint32_t k = 0; k < c->n / SIM_LANES; k++) {
        sim_mask undefined, m = condition(w, c, k, &undefined);
        r[k] = (m & x[k]) | (~m & y[k]);
    }
    select_undefined(w, c);
}

// ---- Shape --------------------------------------------------------------------------------------
// Moves n elements from element `first` of a value to element `at` of another of the same kind,
// which has `lanes`.
static void move_elements(sim_warp *w, sim_place to, simt_type into, uint32_t at, sim_place from,
                          simt_type of, uint32_t first, uint32_t n) {
    uint32_t one = sim_value_bytes((simt_type){of.element, 1});
    memcpy((uint8_t *)sim_at(w, to) + at * one, (uint8_t *)sim_at(w, from) + first * one, n * one);
    memcpy(sim_undefined(w, to, into) + at, sim_undefined(w, from, of) + first, n * 4);
}
static void splat(sim_warp *w, const sim_code *c) {
    for (uint32_t k = 0; k < c->to.lanes; k++)
        move_elements(w, c->r, c->to, k, c->a, c->from, 0, 1);
}
static void slice(sim_warp *w, const sim_code *c) {   // EXTRACT too: a slice of one
    move_elements(w, c->r, c->to, 0, c->a, c->from, (uint32_t)c->imm, c->to.lanes);
}
static void insert(sim_warp *w, const sim_code *c) {
    move_elements(w, c->r, c->to, 0, c->a, c->from, 0, c->to.lanes);
    move_elements(w, c->r, c->to, (uint32_t)c->imm, c->b, (simt_type){c->to.element, 1}, 0, 1);
}
static void concat(sim_warp *w, const sim_code *c) {
    move_elements(w, c->r, c->to, 0, c->a, c->from, 0, c->from.lanes);
    move_elements(w, c->r, c->to, c->from.lanes, c->b, c->from, 0, c->from.lanes);
}
// Bytes of each lane, element by element, read anew in elements of another size.
static void bitcast(sim_warp *w, const sim_code *c) {
    uint32_t in = sim_element_bytes(c->from), out = sim_element_bytes(c->to),
             bytes = in * c->from.lanes;
    const uint8_t *x = sim_at(w, c->a);
    uint8_t *r = sim_at(w, c->r);
    uint32_t *undefined = sim_undefined(w, c->r, c->to), *u = sim_undefined(w, c->a, c->from);
    if (in == out) {
        memcpy(r, x, sim_value_bytes(c->to));
        memcpy(undefined, u, 4u * c->to.lanes);
        return;
    }
    memset(undefined, 0, 4u * c->to.lanes);
    for (uint32_t b = 0; b < bytes; b++) {
        for (uint32_t i = 0; i < SIM_LANES; i++)
            r[(b / out * SIM_LANES + i) * out + b % out] =
                x[(b / in * SIM_LANES + i) * in + b % in];
        undefined[b / out] |= u[b / in];
    }
}

// ---- Addresses ----------------------------------------------------------------------------------
// Far outside, an offset stays far outside instead of becoming another buffer's.
static uint64_t moved(uint64_t p, uint64_t by) {
    const int64_t most = SIM_OFFSET_BIAS / 2;
    int64_t offset = (int64_t)((uint64_t)sim_pointer_offset(p) + by);
    bool far = ((int64_t)by > most) | ((int64_t)by < -most) | (offset > most) | (offset < -most);
    return sim_pointer(sim_pointer_buffer(p), far ? most : offset);
}
SIM_FAST static void addr_i64(sim_warp *w, const sim_code *c) {
    const uint64_t *restrict p = sim_at(w, c->a), *restrict x = sim_at(w, c->b);
    uint64_t *restrict r = sim_at(w, c->r), scale = c->func->instrs.data[c->instr].mem.scale;
    for (uint32_t i = 0; i < SIM_LANES; i++) r[i] = moved(p[i], x[i] * scale + (uint64_t)c->imm);
    *sim_undefined(w, c->r, c->to) = *sim_undefined(w, c->a, c->from) |
                                     *sim_undefined(w, c->b, SIMT_T(I64));
}
SIM_FAST static void addr_i32(sim_warp *w, const sim_code *c) {
    const uint64_t *restrict p = sim_at(w, c->a);
    const int32_t *restrict x = sim_at(w, c->b);
    uint64_t *restrict r = sim_at(w, c->r), scale = c->func->instrs.data[c->instr].mem.scale;
    for (uint32_t i = 0; i < SIM_LANES; i++)
        r[i] = moved(p[i], (uint64_t)(int64_t)x[i] * scale + (uint64_t)c->imm);
    *sim_undefined(w, c->r, c->to) = *sim_undefined(w, c->a, c->from) |
                                     *sim_undefined(w, c->b, SIMT_T(I32));
}

// ---- Which it is --------------------------------------------------------------------------------
#define ON_INTEGERS(op)                                                                            \
    [SIMT_I8] = op##_i8, [SIMT_I16] = op##_i16, [SIMT_I32] = op##_i32, [SIMT_I64] = op##_i64
#define ON_FLOATS(op)                                                                              \
    [SIMT_F16] = op##_f16, [SIMT_BF16] = op##_bf16, [SIMT_F32] = op##_f32, [SIMT_F64] = op##_f64
#define ON_BOTH(op) ON_INTEGERS(op), ON_FLOATS(op)
#define ON_BITS(op) ON_INTEGERS(op), [SIMT_PRED] = op##_pred
static const sim_step steps[SIMT_OP_COUNT][SIMT_ELEMENT_COUNT] = {
    [SIMT_ADD] = {ON_BOTH(add)},
    [SIMT_SUB] = {ON_BOTH(sub)},
    [SIMT_MUL] = {ON_BOTH(mul)},
    [SIMT_MULHI] = {ON_INTEGERS(mulhi)},
    [SIMT_DIV] = {ON_BOTH(div)},
    [SIMT_REM] = {ON_INTEGERS(rem)},
    [SIMT_UDIV] = {ON_INTEGERS(udiv)},
    [SIMT_UREM] = {ON_INTEGERS(urem)},
    [SIMT_NEG] = {ON_BOTH(neg)},
    [SIMT_ABS] = {ON_BOTH(abs)},
    [SIMT_MIN] = {ON_BOTH(min)},
    [SIMT_MAX] = {ON_BOTH(max)},
    [SIMT_COPYSIGN] = {ON_FLOATS(copysign)},
    [SIMT_FMA] = {ON_FLOATS(fma)},
    [SIMT_SQRT] = {ON_FLOATS(sqrt)},
    [SIMT_FLOOR] = {ON_FLOATS(floor)},
    [SIMT_CEIL] = {ON_FLOATS(ceil)},
    [SIMT_RINT] = {ON_FLOATS(rint)},
    [SIMT_AND] = {ON_BITS(and)},
    [SIMT_OR] = {ON_BITS(or)},
    [SIMT_XOR] = {ON_BITS(xor)},
    [SIMT_NOT] = {ON_BITS(not)},
    [SIMT_SHL] = {ON_INTEGERS(shl)},
    [SIMT_LSHR] = {ON_INTEGERS(lshr)},
    [SIMT_ASHR] = {ON_INTEGERS(ashr)},
    [SIMT_CLZ] = {ON_INTEGERS(clz)},
    [SIMT_EXP2A] = {ON_FLOATS(exp2a)},
    [SIMT_LOG2A] = {ON_FLOATS(log2a)},
    [SIMT_RCPA] = {ON_FLOATS(rcpa)},
    [SIMT_RSQRTA] = {ON_FLOATS(rsqrta)},
    [SIMT_TANHA] = {ON_FLOATS(tanha)},
    [SIMT_CVT_TF32] = {[SIMT_F32] = tf32_f32}};
// Pointers are equal where buffer and offset are.
static const sim_step comparisons[SIMT_PREDICATE_COUNT][SIMT_ELEMENT_COUNT] = {
    [SIMT_EQ] = {ON_BOTH(eq), [SIMT_PRED] = eq_pred, [SIMT_PTR_GLOBAL] = eq_i64,
                 [SIMT_PTR_SHARED] = eq_i64},
    [SIMT_NE] = {ON_BOTH(ne), [SIMT_PRED] = xor_pred, [SIMT_PTR_GLOBAL] = ne_i64,
                 [SIMT_PTR_SHARED] = ne_i64},
    [SIMT_LT] = {ON_BOTH(lt)},
    [SIMT_LE] = {ON_BOTH(le)},
    [SIMT_GT] = {ON_BOTH(gt)},
    [SIMT_GE] = {ON_BOTH(ge)},
    [SIMT_ULT] = {ON_INTEGERS(ult)},
    [SIMT_ULE] = {ON_INTEGERS(ule)},
    [SIMT_UGT] = {ON_INTEGERS(ugt)},
    [SIMT_UGE] = {ON_INTEGERS(uge)}};

static sim_step select_step(simt_type t) {
    if (t.element == SIMT_PRED) return select_pred;
    uint32_t bytes = sim_element_bytes(t);
    return bytes == 1 ? select_1 : bytes == 2 ? select_2 : bytes == 4 ? select_4 : select_8;
}

sim_step sim_lanes_step(const simt_func *f, const simt_instr_info *i) {
    simt_type t = i->nargs ? simt_typeof(f, i->args[0]) : (simt_type){0, 0};
    switch ((int)i->op) {
    case SIMT_CMP: return comparisons[i->aux][t.element];
    case SIMT_SELECT: return select_step(simt_typeof(f, i->args[1]));
    case SIMT_SPLAT: return splat;
    case SIMT_EXTRACT:
    case SIMT_SLICE: return slice;
    case SIMT_INSERT: return insert;
    case SIMT_CONCAT: return concat;
    case SIMT_BITCAST: return bitcast;
    case SIMT_ADDR: return simt_typeof(f, i->args[1]).element == SIMT_I64 ? addr_i64 : addr_i32;
    }
    return steps[i->op][t.element];
}

void sim_put_all(uint8_t *at, simt_type t, uint64_t bits) {
    if (t.element == SIMT_PRED) {
        memset(at, bits & 1 ? 0xff : 0, 4u * t.lanes);
        return;
    }
    uint32_t bytes = sim_element_bytes(t);
    for (uint32_t k = 0; k < (uint32_t)SIM_LANES * t.lanes; k++)
        memcpy(at + k * bytes, &bits, bytes);
}
