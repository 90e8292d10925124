// Every conversion of SIMT IR on the host, from edge values and many others, against exact rounding
// written here.
#include "jit_test.h"
#include "rounding.h"

enum { VALUES = 4096 };

typedef struct {
    const char *text;
    int bits;
    const float_format *format;   // NULL: an integer
} element;
static const element elements[] = {{"i8", 8, NULL},
                                   {"i16", 16, NULL},
                                   {"i32", 32, NULL},
                                   {"i64", 64, NULL},
                                   {"f16", 16, &float_formats[0]},
                                   {"bf16", 16, &float_formats[1]},
                                   {"f32", 32, &float_formats[2]},
                                   {"f64", 64, &float_formats[3]}};

// Values of other formats that are hard for narrower ones: halfway points and their neighbours,
// limits of integers.
// clang-format off
static const double hard[] = {
    0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 127, 127.5, 128, -128.5, -129, 255, 255.9, 256, 32767, 32767.9, 32768,
        -32769, 65504,
    65519.99, 65520, 65535.9, 65536, 2147483647.0, 2147483648.0, -2147483648.0, -2147483649.0, 4294967295.0,
        4294967296.0,
    9223372036854775807.0, -9223372036854775808.0, 18446744073709551615.0, 1e30, -1e30, 3.4e38, 1e300, 2049,
        2051,
    1 + 0x1p-8, 1 + 0x1p-8 + 0x1p-40, 1 + 0x3p-8, 1 + 0x3p-8 - 0x1p-40, 1 + 0x1p-11, 1 + 0x1p-11 + 0x1p-40,
        1 + 0x3p-11,
    0x1p-24, 0x1p-25, 0x1.0000001p-25, 0x1p-133, 0x1p-134, 0x1.0000001p-134, 0x1p-149, 0x1p-1074,
        __builtin_inf(), -__builtin_inf(),
    __builtin_nan("")};
// clang-format on

static uint64_t from_double(const element *e, double x) {
    if (e->format) return round_to(e->format, x, 0);
    return (uint64_t)(x >= 9.2e18 ? INT64_MAX : x <= -9.2e18 ? INT64_MIN : x == x ? (int64_t)x : 0);
}

// Integers halfway between two floats of 8, 11 or 24 digits, and those beside them.
static uint64_t halfway(uint64_t r, int bits) {
    int digits = r & 1 ? 8 : r & 2 ? 11 : 24, top = digits + (int)(r >> 8 & 63);
    if (top > bits - 2) top = bits - 2;
    uint64_t x = UINT64_C(1) << top | (r >> 40 & 15) << (top > 4 ? top - 4 : 0);
    if (top >= digits) x |= UINT64_C(1) << (top - digits);
    x += (r >> 3 & 3) - 1;
    return r & 128 ? -x : x;
}

static void fill(const element *e, void *out) {
    uint64_t state = 1;
    uint32_t bytes = (uint32_t)e->bits / 8, i = 0;
    for (; i < COUNT(hard); i++) {
        uint64_t b = from_double(e, hard[i]);
        memcpy((char *)out + i * bytes, &b, bytes);
    }
    for (; i < VALUES; i++) {
        uint64_t b = next_random(&state);
        // small ones, of both signs
        if (i & 1 && !e->format) b = (i & 2 ? ~UINT64_C(0) : 0) ^ (b >> (b % 64));
        if (i % 4 == 2 && !e->format) b = halfway(b, e->bits);
        if (i & 1 && e->format && e->bits > 16)
            b = round_to(e->format, (double)(int64_t)b * 0x1p-40, 0);
        memcpy((char *)out + i * bytes, &b, bytes);
    }
}

static uint64_t cut(uint64_t x, int bits) {
    return bits == 64 ? x : x & ((UINT64_C(1) << bits) - 1);
}
static int64_t extend(uint64_t x, int bits) { return (int64_t)(x << (64 - bits)) >> (64 - bits); }

static uint64_t to_integer(__float128 v, int bits, bool is_unsigned) {
    if (v != v) return 0;
    __int128 one = 1, lo = is_unsigned ? 0 : -(one << (bits - 1)),
             hi = is_unsigned ? (one << bits) - 1 : (one << (bits - 1)) - 1;
    if (v <= (__float128)lo) return cut((uint64_t)lo, bits);
    if (v >= (__float128)hi) return cut((uint64_t)hi, bits);
    return cut((uint64_t)(__int128)v, bits);
}

static uint64_t expected(const element *from, const element *to, bool is_unsigned, uint64_t x) {
    if (from->format) {
        __float128 v = value_of(from->format, x);
        return to->format ? round_to(to->format, v, 0) : to_integer(v, to->bits, is_unsigned);
    }
    if (to->format)
        return round_to(to->format, is_unsigned ? (__float128)x : (__float128)extend(x, from->bits),
                        0);
    return cut(is_unsigned ? x : (uint64_t)extend(x, from->bits), to->bits);
}

static void convert(arena *a, const element *from, const element *to, bool is_unsigned,
                    uint32_t lanes) {
    static uint64_t in[VALUES], out[VALUES];
    uint32_t in_bytes = (uint32_t)from->bits / 8, out_bytes = (uint32_t)to->bits / 8;
    fill(from, in);
    const char *op = typed(a, is_unsigned ? "%v = ucvt TYPE %a" : "%v = cvt TYPE %a", to->text,
                           lanes);
    elementwise e = {from->text, to->text, op, in_bytes, out_bytes};
    jit_elementwise(e, lanes, (const void *[]){in, in, in}, out, VALUES);
    int shown = 0;
    for (uint32_t i = 0; i < VALUES && shown < 3; i++) {
        uint64_t x = read_bits(in, in_bytes, i), got = read_bits(out, out_bytes, i),
                 want = expected(from, to, is_unsigned, x);
        bool same = from == to   ? got == x
                    : to->format ? float_agrees(to->format, got, want)
                                 : got == want;
        if (same) continue;
        printf("%s of %s %#llx, %u lanes: %#llx, not %#llx\n", op, from->text,
               (unsigned long long)x, lanes, (unsigned long long)got, (unsigned long long)want);
        failed = shown = shown + 1;
    }
}

// "is not zero", and back.
static void preds(arena *a, const element *e) {
    static uint64_t in[VALUES], out[VALUES];
    uint32_t bytes = (uint32_t)e->bits / 8;
    fill(e, in);
    jit_elementwise((elementwise){e->text, "pred", "%v = cvt pred %a", bytes, 1}, 1,
                    (const void *[]){in, in, in}, out, VALUES);
    for (uint32_t i = 0; i < VALUES; i++) {
        uint64_t x = read_bits(in, bytes, i);
        CHECK(read_bits(out, 1, i) == (e->format ? value_of(e->format, x) != 0 : x != 0));
    }
    const char *op = typed(a,
                           "%n = cmp ne TYPE %a, %a\n%f = cvt TYPE %n\n%zero = sub TYPE %f, %f\n"
                           "%v = cmp ne TYPE %f, %zero",
                           e->text, 1);
    jit_elementwise((elementwise){e->text, "pred", op, bytes, 1}, 1, (const void *[]){in, in, in},
                    out, VALUES);
    for (uint32_t i = 0; i < VALUES; i++) {
        uint64_t x = read_bits(in, bytes, i);
        CHECK(read_bits(out, 1, i) == (e->format && format_is_nan(e->format, x)));
    }
}

int main(void) {
    arena *a = arena_new();
    for (uint32_t f = 0; f < COUNT(elements); f++) {
        preds(a, &elements[f]);
        for (uint32_t t = 0; t < COUNT(elements); t++)
            for (int is_unsigned = 0; is_unsigned < 2; is_unsigned++) {
                if (is_unsigned && elements[f].format && elements[t].format) continue;
                convert(a, &elements[f], &elements[t], is_unsigned, 1);
                convert(a, &elements[f], &elements[t], is_unsigned, f % 2 ? 4 : 8);
            }
    }
    arena_free(a);
    return failed;
}
