// For the programs that compile small kernels for this machine, run them on edge values and compare bit by
// bit; what they compute elementwise the simulator computes too, to the same bits.
#ifndef GNNC_JIT_TEST_H
#define GNNC_JIT_TEST_H

#include "codegen.h"
#include "sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int failed;
#define CHECK(x) ((x) ? (void)0 : (void)(failed = 1, printf("%s:%d: %s\n", __FILE__, __LINE__, #x)))
#define COUNT(x) ((uint32_t)(sizeof(x) / sizeof *(x)))

static inline cg_jit *jit_text(arena *a, const char *text) {
    source_map *sources = source_map_new(a);
    diag_set *ds = diag_set_new(a, sources);
    cg_options o = {.optimise = 2, .line_info = true, .sources = sources};
    simt_module *m = simt_parse(a, ds, source_map_add(sources, "test.simt", text, strlen(text)));
    const char *fault = m ? simt_verify(a, m) : "it does not parse";
    cg_jit *j = fault ? NULL : cg_jit_new(a, ds, m, &o);
    if (j) return j;
    diag_print(ds, stdout);
    printf("%s\n%s\n", fault ? fault : "it does not compile", text);
    exit(1);
}

// Runs kernel k of the text once for each of n blocks.
static inline void jit_run(const char *text, const uint64_t *args, uint32_t n) {
    arena *a = arena_new();
    cg_jit *j = jit_text(a, text);
    cg_host_kernel k = cg_jit_kernel(j, "k");
    if (!k) {
        printf("there is no kernel k\n%s\n", text);
        exit(1);
    }
    for (uint32_t b = 0; b < n; b++) k(args, b, n);
    cg_jit_free(j);
    arena_free(a);
}

// result[i] = v for a[i], b[i], c[i], with values of `lanes` elements: op is a text that makes %v of %a, %b,
// %c. in, out: element texts ("f32"); a result of pred is given as i8.
typedef struct {
    const char *in, *out, *op;
    uint32_t in_bytes, out_bytes;
} elementwise;

static inline bool is_nan(const char *type, const void *x) {
    float f;
    double d;
    if (!strcmp(type, "f32")) return memcpy(&f, x, 4), isnan(f);
    return !strcmp(type, "f64") && (memcpy(&d, x, 8), isnan(d));
}

// NaNs of 32 and 64 bits may differ in their payload.
static inline bool same_result(const elementwise *e, const void *x, const void *y, uint32_t i) {
    const char *a = (const char *)x + i * e->out_bytes, *b = (const char *)y + i * e->out_bytes;
    return !memcmp(a, b, e->out_bytes) || (is_nan(e->out, a) && is_nan(e->out, b));
}

// The same text, in blocks of 32 threads where they go in evenly.
static inline void sim_elementwise(const elementwise *e, const char *text, uint32_t lanes, const void *const x[3],
                                   const void *wanted, uint32_t n) {
    arena *a = arena_new();
    source_map *sources = source_map_new(a);
    diag_set *ds = diag_set_new(a, sources);
    const char *block = strstr(text, "block 1 {");
    uint32_t threads = n / lanes % 32 ? 1 : 32;
    const char *wide = arena_printf(a, "%.*sblock %u%s", (int)(block - text), text, threads, block + 7);
    sim *s = sim_new(ds, simt_parse(a, ds, source_map_add(sources, "test.simt", wide, strlen(wide))));
    char *got = arena_alloc(a, (size_t)n * e->out_bytes + 8);
    sim_arg args[4] = {{.name = "r", .data = got, .bytes = (size_t)n * e->out_bytes, .result = true}};
    args[3] = args[0];
    for (int k = 0; k < 3; k++)
        args[k] = (sim_arg){.name = "x", .data = (void *)(uintptr_t)x[k], .bytes = (size_t)n * e->in_bytes, .written = true};
    sim_launch(s, "k", args, n / lanes / threads, false);
    CHECK(!sim_report(s));
    diag_print(ds, stdout);
    for (uint32_t i = 0; i < n / lanes * lanes && !failed; i++) {
        CHECK(same_result(e, got, wanted, i));
        if (failed) printf("element %u in the simulator of\n%s\n", i, wide);
    }
    sim_free(s);
    arena_free(a);
}

static inline void jit_elementwise(elementwise e, uint32_t lanes, const void *const x[3], void *result,
                                   uint32_t n) {
    arena *a = arena_new();
    textbuf t = textbuf_new(a);
    const char *suffix = lanes > 1 ? arena_printf(a, "x%u", lanes) : "";
    bool pred = !strcmp(e.out, "pred");
    textbuf_puts(&t, "module t\n"
                     "kernel k(%x: ptr.global, %y: ptr.global, %z: ptr.global, %r: ptr.global) block 1 {\n"
                     "%t = sreg tid\n%b0 = sreg ctaid\n%w = sreg ntid\n%o = mul i32 %b0, %w\n"
                     "%i = add i32 %o, %t\n");
    for (int k = 0; k < 3; k++)
        textbuf_printf(&t, "%%p%d = addr %%%c, %%i * %u\n%%%c = ld %s%s %%p%d align %u\n", k, "xyz"[k],
                       e.in_bytes * lanes, "abc"[k],
                       e.in, suffix, k, e.in_bytes);
    textbuf_printf(&t, "%s\n", e.op);
    if (pred) textbuf_printf(&t, "%%u = cvt i8%s %%v\n", suffix);
    textbuf_printf(&t, "%%q = addr %%r, %%i * %u\nst %s%s %%q, %s align %u\nreturn\n}\n", e.out_bytes * lanes,
                   pred ? "i8" : e.out, suffix, pred ? "%u" : "%v", e.out_bytes);
    uint64_t args[4] = {(uintptr_t)x[0], (uintptr_t)x[1], (uintptr_t)x[2], (uintptr_t)result};
    jit_run(t.data, args, n / lanes);
    sim_elementwise(&e, t.data, lanes, x, result, n);
    arena_free(a);
}

// A text with each TYPE replaced by the type of `lanes` elements.
static inline const char *typed(arena *a, const char *op, const char *element, uint32_t lanes) {
    textbuf b = textbuf_new(a);
    for (const char *at; (at = strstr(op, "TYPE")); op = at + 4) {
        textbuf_putn(&b, op, (size_t)(at - op));
        textbuf_puts(&b, element);
        if (lanes > 1) textbuf_printf(&b, "x%u", lanes);
    }
    textbuf_puts(&b, op);
    return b.data;
}

static inline uint64_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    uint64_t x = *state ^ *state >> 33;
    return x * 0xff51afd7ed558ccdu ^ x >> 29;
}

// ---- Exact rounding --------------------------------------------------------------------------------------
typedef struct {
    const char *text;
    simt_element element;
    int precision, min_exponent, bits;
} float_format;
static const float_format float_formats[] = {
    {"f16", SIMT_F16, 11, -14, 16}, {"bf16", SIMT_BF16, 8, -126, 16}, {"f32", SIMT_F32, 24, -126, 32},
        {"f64", SIMT_F64, 53, -1022, 64}};

static inline uint64_t format_infinity(const float_format *f) {
    uint64_t exponents = (UINT64_C(1) << (f->bits - f->precision)) - 1;
    return exponents << (f->precision - 1);
}
static inline bool format_is_nan(const float_format *f, uint64_t bits) {
    return (bits & ((UINT64_C(1) << (f->bits - 1)) - 1)) > format_infinity(f);
}

// The bits of x to nearest even. rest: the sign of what x lacks to the exact value (TwoSum's error), 0 if
// nothing.
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
