// The scalar maths library as host code against the C library in long double: special cases, and a
// fixed sample of arguments within the bounds of math.def, which are no more than twice what is
// found.
#include "codegen.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CALL1(f, x, y) ((void)(y), f(x))
#define CALL2(f, x, y) f(x, y)
#define MATH(id, name, args, nan, ulp_f32, ulp_f64, length_f32, length_f64)                        \
    static long double name##_exact(long double x, long double y) {                                \
        return CALL##args(name##l, x, y);                                                          \
    }
#include "math.def"
#undef MATH

typedef struct {
    const char *name;
    int args;
    double ulp[2];   // f32, f64
    uint32_t length[2];
    long double (*exact)(long double x, long double y);
} row;
static const row rows[] = {
#define MATH(id, name, args, nan, ulp_f32, ulp_f64, length_f32, length_f64)                        \
    {#name, args, {ulp_f32, ulp_f64}, {length_f32, length_f64}, name##_exact},
#include "math.def"
#undef MATH
};
enum { ROWS = sizeof rows / sizeof *rows, RANDOM = 60000 };

// clang-format off
static const double specials[] = {
    0.0, -0.0, 1, -1, 2, -2, 3, -3, 0.5, -0.5, 1.5, -1.5, INFINITY, -INFINITY, NAN, 0x1p-149, -0x1p-149, 0x1p-1074,
    -0x1p-1074, 0x1p-126, 0x1p-1022, FLT_MAX, -FLT_MAX, DBL_MAX, -DBL_MAX, 0x1.000002p0, 0x1.fffffep-1, 0x1p-30,
    0x1.0000000000001p0, 0x1.fffffffffffffp-1, -0x1.fffffffffffffp-1, 16777215, 16777216, -16777215, 8388607.5,
    0x1p53 - 1, 0x1p53, 1 - 0x1p53, 1e10, 1e-10, 1e22, -1e100, 88.72283, 88.72284, -87.4, -103.9, -104.1, 709.7827128,
    709.7827129, -708.5, -745.1, -745.2, 0x1.921fb6p0, 0x1.921fb54442d18p0, 0x1.f9cbe2p16, 131071.99, 131072, 4194304,
    0x1.6ac5b262ca1ffp+849, 0x1.47d0fep34, -9.02, 19.1, 5.93, 3.93, 0.6, 0x1.6a09e6p-1, 0x1.6a09e667f3bcdp0,
};
// clang-format on
enum { SPECIALS = sizeof specials / sizeof *specials, COUNT = RANDOM + SPECIALS * SPECIALS };

static uint64_t next_random(uint64_t *s) {
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s;
}
static double uniform(uint64_t *s, double lo, double hi) {
    return lo + (hi - lo) * (double)(next_random(s) >> 11) * 0x1p-53;
}
static double any_of(uint64_t *s, bool wide) {
    union {
        uint64_t u;
        double d;
    } w = {next_random(s)};
    union {
        uint32_t u;
        float f;
    } n = {(uint32_t)(w.u >> 32)};
    return wide ? w.d : (double)n.f;
}

// One pair of arguments: all pairs of specials first, then random bits, and magnitudes where
// results are neither 0 nor infinite.
static void argument(uint64_t *s, uint32_t i, bool wide, double *x, double *y) {
    if (i < SPECIALS * SPECIALS) {
        *x = specials[i / SPECIALS];
        *y = specials[i % SPECIALS];
        return;
    }
    switch (i % 4) {
    case 0:
        *x = any_of(s, wide);
        *y = any_of(s, wide);
        return;
    case 1:
        *x = uniform(s, -2, 2);
        *y = floor(uniform(s, -30, 30));
        return;
    case 2:
        *x = uniform(s, 0, 3);
        *y = uniform(s, -100, 100);
        return;
    }
    double most = wide ? 745 : 104;
    *x = uniform(s, -most, most);
    *y = uniform(s, -most, most) / log(fabs(*x));
}

static long double ulps(long double got, long double want, bool wide) {
    if (isnan(want) || isnan(got)) return isnan(want) && isnan(got) ? 0 : INFINITY;
    if (got == want) return signbit(got) == signbit(want) ? 0 : INFINITY;
    int digits = wide ? DBL_MANT_DIG : FLT_MANT_DIG, emin = wide ? DBL_MIN_EXP : FLT_MIN_EXP;
    int emax = wide ? DBL_MAX_EXP : FLT_MAX_EXP;
    if (isinf(got)) got = copysignl(ldexpl(1, emax), got);   // one step past the largest
    if (fabsl(want) > ldexpl(1, emax)) want = copysignl(ldexpl(1, emax), want);
    if (signbit(got) != signbit(want)) return INFINITY;
    int e = want == 0 ? emin : ilogbl(want) + 1;
    return fabsl(got - want) / ldexpl(1, (e < emin ? emin : e) - digits);
}

// kernel(x, y, out, n): out[i] = name(x[i]) or name(x[i], y[i]), all in the first block.
static void build(simt_module *m, const row *r, bool wide) {
    simt_type t = wide ? SIMT_T(F64) : SIMT_T(F32);
    uint32_t size = wide ? 8 : 4;
    simt_func *callee = simt_math(m, r->name, wide ? SIMT_F64 : SIMT_F32);
    if (!callee) ICE("no function %s", r->name);
    simt_func *f = simt_kernel_new(m, arena_printf(m->arena, "test_%s_%u", r->name, size * 8), 1);
    simt_value x = simt_param(f, "x", SIMT_PTR, SIMT_READONLY),
               y = simt_param(f, "y", SIMT_PTR, SIMT_READONLY);
    simt_value out = simt_param(f, "out", SIMT_PTR, SIMT_NOALIAS),
               n = simt_param(f, "n", SIMT_T(I32), 0);
    simt_builder b = simt_builder_at_end(f);
    simt_instr loop;
    simt_builder in = simt_build_for(&b, simt_build_int(&b, SIMT_T(I32), 0), n,
                                     simt_build_int(&b, SIMT_T(I32), 1), NULL, 0, &loop);
    simt_value i = simt_for_index(f, loop), args[2];
    args[0] = simt_build_load(&in, t, simt_build_addr(&in, x, i, size, 0));
    args[1] = simt_build_load(&in, t, simt_build_addr(&in, y, i, size, 0));
    simt_value result = simt_build_call(&in, callee, args, (uint32_t)r->args);
    simt_build_store(&in, simt_build_addr(&in, out, i, size, 0), result);
    simt_build_yield(&in, NULL, 0);
    simt_build_return(&b, NULL, 0);
}

// Operations of a function and of those it calls, constants apart.
static uint32_t length_of(const simt_module *m, const simt_func *f) {
    uint32_t n = 0;
    for (uint32_t i = 1; i < f->instrs.len; i++) {
        const simt_instr_info *x = &f->instrs.data[i];
        if (x->op == SIMT_CALL) n += length_of(m, m->funcs.data[x->imm.i]);
        else n += x->op != SIMT_CONST && x->op != SIMT_YIELD && x->op != SIMT_RETURN;
    }
    return n;
}

static int check_length(simt_module *m, const row *r, bool wide) {
    uint32_t n = length_of(m, simt_math(m, r->name, wide ? SIMT_F64 : SIMT_F32));
    if (n != r->length[wide])
        printf("%s_%s has %u operations, %u are stated\n", r->name, wide ? "f64" : "f32", n,
               r->length[wide]);
    return n != r->length[wide];
}

typedef struct {
    double x[COUNT], y[COUNT], out[COUNT];
    float x32[COUNT], y32[COUNT], out32[COUNT];
} sample;

static int check(const row *r, bool wide, cg_host_kernel kernel, sample *s) {
    uint64_t seed = 0x9e3779b97f4a7c15u;
    for (uint32_t i = 0; i < COUNT; i++) {
        argument(&seed, i, wide, &s->x[i], &s->y[i]);
        s->x32[i] = (float)s->x[i];
        s->y32[i] = (float)s->y[i];
    }
    uint64_t args[] = {(uintptr_t)s->x, (uintptr_t)s->y, (uintptr_t)s->out, COUNT};
    uint64_t args32[] = {(uintptr_t)s->x32, (uintptr_t)s->y32, (uintptr_t)s->out32, COUNT};
    kernel(wide ? args : args32, 0, 1);
    int failures = 0;
    double most = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        double x = wide ? s->x[i] : (double)s->x32[i], y = wide ? s->y[i] : (double)s->y32[i];
        double got = wide ? s->out[i] : (double)s->out32[i];
        long double want = r->exact(x, y);
        double error = (double)ulps(got, want, wide);
        if (error > most) most = error;
        if (error <= r->ulp[wide] || failures++ > 4) continue;
        printf("%s_%s(%a, %a) = %a, not %La: %g ulp\n", r->name, wide ? "f64" : "f32", x, y, got,
               want, error);
    }
    printf("%-5s %s %.3f ulp\n", r->name, wide ? "f64" : "f32", most);
    if (r->ulp[wide] > 2 * most) printf("%g are stated\n", r->ulp[wide]), failures++;
    return failures;
}

// exp_nonpositive has the bits of exp up to 70.
static int check_nonpositive(cg_host_kernel exp, cg_host_kernel kernel, sample *s) {
    uint64_t args[] = {(uintptr_t)s->x32, (uintptr_t)s->y32, (uintptr_t)s->out32, COUNT};
    uint64_t others[] = {(uintptr_t)s->x32, (uintptr_t)s->y32, (uintptr_t)s->out, COUNT};
    const float *other = (const float *)s->out;
    uint64_t seed = 1;
    int failures = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        argument(&seed, i, false, &s->x[i], &s->y[i]);
        s->x32[i] = (float)s->x[i];
    }
    exp(args, 0, 1);
    kernel(others, 0, 1);
    for (uint32_t i = 0; i < COUNT; i++)
        if (!(s->x32[i] > 70) && memcmp(&s->out32[i], &other[i], 4) && !isnan(s->x32[i]) &&
            failures++ < 5)
            printf("exp_nonpositive(%a) = %a, not %a\n", (double)s->x32[i], (double)other[i],
                   (double)s->out32[i]);
    return failures;
}

int main(void) {
    arena *a = arena_new();
    source_map *sources = source_map_new(a);
    diag_set *ds = diag_set_new(a, sources);
    simt_module *m = simt_module_new(a, "math");
    for (uint32_t i = 0; i < ROWS * 2; i++) build(m, &rows[i / 2], i % 2);
    build(m, &(row){.name = "exp_nonpositive", .args = 1}, false);
    const char *wrong = simt_verify(a, m);
    if (wrong) printf("math.simt: %s\n", wrong);
    cg_options options = {.optimise = 1, .sources = sources};
    cg_jit *jit = wrong ? NULL : cg_jit_new(a, ds, m, &options);
    diag_print(ds, stdout);
    int failures = jit ? 0 : 1;
    for (uint32_t i = 0; i < ROWS * 2; i++) failures += check_length(m, &rows[i / 2], i % 2);
    sample *s = malloc(sizeof *s);
    for (uint32_t i = 0; jit && s && i < ROWS * 2; i++) {
        const row *r = &rows[i / 2];
        cg_host_kernel kernel = cg_jit_kernel(
            jit, arena_printf(a, "test_%s_%d", r->name, i % 2 ? 64 : 32));
        failures += kernel ? check(r, i % 2, kernel, s) : 1;
    }
    cg_host_kernel nonpositive = jit ? cg_jit_kernel(jit, "test_exp_nonpositive_32") : NULL;
    failures += nonpositive && s
                    ? check_nonpositive(cg_jit_kernel(jit, "test_exp_32"), nonpositive, s)
                    : 1;
    free(s);
    if (jit) cg_jit_free(jit);
    arena_free(a);
    return failures != 0;
}
