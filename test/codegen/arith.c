// Arithmetic of SIMT IR on the host against plain C on wider types: rounding, NaN, signed zeros,
// wrapping, and that a vector does what its lanes would.
#include "jit_test.h"
#include "rounding.h"

enum { VALUES = 4096 };
static uint64_t x[3][VALUES], out[VALUES];

// ---- Floats -------------------------------------------------------------------------------------
static const double hard[] = {0,      -0.0,    1,        -1,       0.5,       3,        65504,
                              -65504, 0x1p-24, 0x1p-133, 0x1p-126, 0x1p-1074, 1e38,     -3.3e38,
                              1e308,  0x1p-14, 0x1.8p-8, 1.5,      -2.5,      0x1.04p0, 257,
                              2047,   0x1p-60, 0x1p-100, 0x1p100,  -0x1p100};

static uint64_t hard_bits(const float_format *f, uint32_t i) {
    if (i < COUNT(hard)) return round_to(f, hard[i], 0);
    return i == COUNT(hard)       ? format_infinity(f)
           : i == COUNT(hard) + 1 ? format_infinity(f) | UINT64_C(1) << (f->bits - 1)
                                  : format_infinity(f) | 1;
}

// Edge values against each other, then random bits, then values near each other, where fma cancels.
static void fill_floats(const float_format *f) {
    uint64_t state = 7;
    uint32_t n = COUNT(hard) + 3, bytes = (uint32_t)f->bits / 8;
    for (uint32_t i = 0; i < VALUES; i++)
        for (uint32_t k = 0; k < 3; k++) {
            uint64_t r = next_random(&state), b = r;
            if (i < n * n) b = hard_bits(f, k == 0 ? i % n : k == 1 ? i / n : (uint32_t)(r % n));
            else if (i & 1) b = round_to(f, (double)(int64_t)r * (r & 1 ? 0x1p-62 : 0x1p-75), 0);
            memcpy((char *)x[k] + i * bytes, &b, bytes);
        }
}

typedef struct {
    const char *op;
    char kind;   // a letter of reference() below
} float_op;
static const float_op float_ops[] = {
    {"%v = add TYPE %a, %b", '+'},     {"%v = sub TYPE %a, %b", '-'},
    {"%v = mul TYPE %a, %b", '*'},     {"%v = div TYPE %a, %b", '/'},
    {"%v = min TYPE %a, %b", 'm'},     {"%v = max TYPE %a, %b", 'M'},
    {"%v = fma TYPE %a, %b, %c", 'f'}, {"%v = sqrt TYPE %a", 's'},
    {"%v = floor TYPE %a", '_'},       {"%v = ceil TYPE %a", '^'},
    {"%v = rint TYPE %a", 'r'},        {"%v = neg TYPE %a", 'n'},
    {"%v = abs TYPE %a", 'a'},         {"%v = copysign TYPE %a, %b", 'c'}};
static const float_op of_f32 = {"%v = cvt.tf32 TYPE %a", 't'};

// To 11 significant bits, ties to even.
static double to_tf32(double a) {
    if (a == 0 || !isfinite(a)) return a;
    int quantum = (ilogb(a) < -126 ? -126 : ilogb(a)) - 10;
    return ldexp(nearbyint(ldexp(a, -quantum)), quantum);
}

static __float128 least(__float128 a, __float128 b) {
    if (a != a || b != b) return a + b;
    if (a == 0 && b == 0) return __builtin_signbit((double)a) ? a : b;
    return a < b ? a : b;
}

// a * b + c with the sign of what the quad lacks. The product is exact for all formats but f64.
static uint64_t reference_fma(const float_format *f, __float128 a, __float128 b, __float128 c) {
    if (f->element == SIMT_F64)
        return round_to(f, __builtin_fma((double)a, (double)b, (double)c), 0);
    __float128 p = a * b, s = p + c, q = s - p, rest = (p - (s - q)) + (c - q);
    return round_to(f, s, rest > 0 ? 1 : rest < 0 ? -1 : 0);
}

static uint64_t reference(const float_format *f, char kind, const uint64_t *bits) {
    __float128 a = value_of(f, bits[0]), b = value_of(f, bits[1]), c = value_of(f, bits[2]);
    uint64_t sign = UINT64_C(1) << (f->bits - 1);
    switch (kind) {
    case '+': return round_to(f, a + b, 0);
    case '-': return round_to(f, a - b, 0);
    case '*': return round_to(f, a * b, 0);
    case '/':
        return round_to(f, f->element == SIMT_F64 ? (__float128)((double)a / (double)b) : a / b, 0);
    case 'm': return round_to(f, least(a, b), 0);
    case 'M': return round_to(f, -least(-a, -b), 0);
    case 'f': return reference_fma(f, a, b, c);
    case 's': return round_to(f, __builtin_sqrt((double)a), 0);
    case '_': return round_to(f, __builtin_floor((double)a), 0);
    case '^': return round_to(f, __builtin_ceil((double)a), 0);
    case 'r': return round_to(f, __builtin_rint((double)a), 0);
    case 't': return round_to(f, to_tf32((double)a), 0);
    case 'n': return bits[0] ^ sign;
    case 'a': return bits[0] & ~sign;
    case 'c': return (bits[0] & ~sign) | (bits[1] & sign);
    }
    abort();
}

static void floats(arena *a, const float_format *f, const float_op *o, uint32_t lanes) {
    uint32_t bytes = (uint32_t)f->bits / 8;
    int shown = 0;
    elementwise e = {f->text, f->text, typed(a, o->op, f->text, lanes), bytes, bytes};
    jit_elementwise(e, lanes, (const void *[]){x[0], x[1], x[2]}, out, VALUES);
    for (uint32_t i = 0; i < VALUES && shown < 3; i++) {
        uint64_t in[3] = {read_bits(x[0], bytes, i), read_bits(x[1], bytes, i),
                          read_bits(x[2], bytes, i)};
        uint64_t got = read_bits(out, bytes, i), want = reference(f, o->kind, in);
        if (float_agrees(f, got, want)) continue;
        printf("%s of %#llx, %#llx, %#llx, %u lanes: %#llx, not %#llx\n", e.op,
               (unsigned long long)in[0], (unsigned long long)in[1], (unsigned long long)in[2],
               lanes, (unsigned long long)got, (unsigned long long)want);
        failed = shown = shown + 1;
    }
}

static void comparisons(arena *a, const float_format *f) {
    static const char *const names[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    uint32_t bytes = (uint32_t)f->bits / 8;
    for (uint32_t p = 0; p < COUNT(names); p++) {
        const char *op = arena_printf(a, "%%v = cmp %s %s %%a, %%b", names[p], f->text);
        jit_elementwise((elementwise){f->text, "pred", op, bytes, 1}, 1,
                        (const void *[]){x[0], x[1], x[2]}, out, VALUES);
        for (uint32_t i = 0; i < VALUES; i++) {
            __float128 u = value_of(f, read_bits(x[0], bytes, i)),
                       v = value_of(f, read_bits(x[1], bytes, i));
            bool want[] = {u == v, u != v, u<v, u <= v, u> v, u >= v};
            CHECK(read_bits(out, 1, i) == want[p]);
        }
    }
}

// ---- Integers -----------------------------------------------------------------------------------
static const struct {
    const char *text;
    int bits;
} ints[] = {{"i8", 8}, {"i16", 16}, {"i32", 32}, {"i64", 64}};

static void fill_ints(int bits) {
    uint64_t state = 3,
             edges[] = {
                 0, 1,  2, UINT64_MAX, UINT64_C(1) << (bits - 1), (UINT64_C(1) << (bits - 1)) - 1,
                 7, 100};
    for (uint32_t i = 0; i < VALUES; i++)
        for (uint32_t k = 0; k < 3; k++) {
            uint64_t b = next_random(&state);
            if (i < 64) b = edges[k ? i / 8 : i % 8];
            else if (i & 1) b >>= b % 64;
            memcpy((char *)x[k] + i * (uint32_t)bits / 8, &b, (size_t)bits / 8);
        }
}

static const char *const int_ops[] = {"add",  "sub",  "mul", "mulhi", "div", "rem", "udiv",
                                      "urem", "min",  "max", "and",   "or",  "xor", "shl",
                                      "lshr", "ashr", "neg", "abs",   "not", "clz"};

static uint64_t int_reference(uint32_t op, int bits, uint64_t a, uint64_t b) {
    __int128 sa = (int64_t)(a << (64 - bits)) >> (64 - bits),
             sb = (int64_t)(b << (64 - bits)) >> (64 - bits);
    unsigned __int128 ua = a, ub = b;
    uint64_t amount = b % (uint64_t)bits;
    switch (op) {
    case 0: return a + b;
    case 1: return a - b;
    case 2: return a * b;
    case 3: return (uint64_t)(ua * ub >> bits);
    case 4: return (uint64_t)(sa / sb);
    case 5: return (uint64_t)(sa % sb);
    case 6: return a / b;
    case 7: return a % b;
    case 8: return (uint64_t)(sa < sb ? sa : sb);
    case 9: return (uint64_t)(sa > sb ? sa : sb);
    case 10: return a & b;
    case 11: return a | b;
    case 12: return a ^ b;
    case 13: return a << amount;
    case 14: return a >> amount;
    case 15: return (uint64_t)(sa >> amount);
    case 16: return -a;
    case 17: return (uint64_t)(sa < 0 ? -sa : sa);
    case 18: return ~a;
    case 19: return a ? (uint64_t)__builtin_clzll(a) - (64 - (uint64_t)bits) : (uint64_t)bits;
    }
    abort();
}

static void integers(arena *a, uint32_t t, uint32_t op, uint32_t lanes) {
    uint32_t bytes = (uint32_t)ints[t].bits / 8;
    bool divides = op >= 4 && op <= 7;   // by odd numbers, so never by 0
    const char *before = divides ? "%one = const TYPE 1\n%d = or TYPE %b, %one\n" : "";
    const char *line = arena_printf(a, "%s%%v = %s TYPE %%a%s", before, int_ops[op],
                                    divides   ? ", %d"
                                    : op < 16 ? ", %b"
                                              : "");
    elementwise e = {ints[t].text, ints[t].text, typed(a, line, ints[t].text, lanes), bytes, bytes};
    jit_elementwise(e, lanes, (const void *[]){x[0], x[1], x[2]}, out, VALUES);
    uint64_t mask = ints[t].bits == 64 ? UINT64_MAX : (UINT64_C(1) << ints[t].bits) - 1;
    for (uint32_t i = 0; i < VALUES; i++) {
        uint64_t u = read_bits(x[0], bytes, i), v = read_bits(x[1], bytes, i) | divides;
        uint64_t got = read_bits(out, bytes, i),
                 want = int_reference(op, ints[t].bits, u, v) & mask;
        if (got == want) continue;
        printf("%s %s of %#llx, %#llx, %u lanes: %#llx, not %#llx\n", int_ops[op], ints[t].text,
               (unsigned long long)u, (unsigned long long)v, lanes, (unsigned long long)got,
               (unsigned long long)want);
        failed = 1;
        return;
    }
}

static void int_comparisons(arena *a, uint32_t t) {
    static const char *const names[] = {"eq", "ne",  "lt",  "le",  "gt",
                                        "ge", "ult", "ule", "ugt", "uge"};
    uint32_t bytes = (uint32_t)ints[t].bits / 8;
    for (uint32_t p = 0; p < COUNT(names); p++) {
        const char *op = arena_printf(a, "%%v = cmp %s %s %%a, %%b", names[p], ints[t].text);
        jit_elementwise((elementwise){ints[t].text, "pred", op, bytes, 1}, 1,
                        (const void *[]){x[0], x[1], x[2]}, out, VALUES);
        for (uint32_t i = 0; i < VALUES; i++) {
            uint64_t u = read_bits(x[0], bytes, i), v = read_bits(x[1], bytes, i);
            int64_t s = (int64_t)(u << (64 - ints[t].bits)),
                    w = (int64_t)(v << (64 - ints[t].bits));
            bool want[] = {u == v, u != v, s<w, s <= w, s> w, s >= w, u<v, u <= v, u> v, u >= v};
            CHECK(read_bits(out, 1, i) == want[p]);
        }
    }
}

// The one case in which a division overflows: wraps, where x86 by itself would trap.
static void least_over_minus_one(arena *a) {
    int32_t least[1] = {INT32_MIN}, minus[1] = {-1}, result[1];
    const void *in[] = {least, minus, minus};
    jit_elementwise((elementwise){"i32", "i32", "%v = div i32 %a, %b", 4, 4}, 1, in, result, 1);
    CHECK(result[0] == INT32_MIN);
    jit_elementwise((elementwise){"i32", "i32", arena_strdup(a, "%v = rem i32 %a, %b"), 4, 4}, 1,
                    in, result, 1);
    CHECK(result[0] == 0);
}

int main(void) {
    arena *a = arena_new();
    for (uint32_t f = 0; f < COUNT(float_formats); f++) {
        fill_floats(&float_formats[f]);
        comparisons(a, &float_formats[f]);
        for (uint32_t o = 0; o < COUNT(float_ops); o++)
            for (uint32_t lanes = 1; lanes <= 8; lanes *= 8)
                floats(a, &float_formats[f], &float_ops[o], lanes);
        if (float_formats[f].element == SIMT_F32) floats(a, &float_formats[f], &of_f32, 4);
    }
    for (uint32_t t = 0; t < COUNT(ints); t++) {
        fill_ints(ints[t].bits);
        int_comparisons(a, t);
        for (uint32_t op = 0; op < COUNT(int_ops); op++)
            for (uint32_t lanes = 1; lanes <= 4; lanes *= 4) integers(a, t, op, lanes);
    }
    least_over_minus_one(a);
    arena_free(a);
    return failed;
}
