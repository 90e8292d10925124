// The builder of SIMT IR: what it folds, what it leaves to run time, what it shares, and that all
// it builds verifies and reads back.
#include "simt.h"

#include <math.h>
#include <string.h>

typedef struct {
    arena *arena;
    simt_module *module;
    simt_func *func;
    simt_builder b;
    int failures;
} fixture;

static void check(fixture *t, bool holds, const char *what, int line) {
    if (holds) return;
    printf("simt_build.c:%d: %s\n", line, what);
    t->failures++;
}
#define CHECK(t, x) check((t), (x), #x, __LINE__)

static simt_value f32(fixture *t, double x) { return simt_build_float(&t->b, SIMT_T(F32), x); }
static simt_value i32(fixture *t, int64_t x) { return simt_build_int(&t->b, SIMT_T(I32), x); }
static simt_value i64(fixture *t, int64_t x) { return simt_build_int(&t->b, SIMT_T(I64), x); }

static bool folded(const fixture *t, simt_value v) {
    return t->func->instrs.data[t->func->values.data[v].def].op == SIMT_CONST;
}

static void test_sharing(fixture *t) {
    CHECK(t, f32(t, 1.5) == f32(t, 1.5));
    CHECK(t, f32(t, 0.0) != f32(t, -0.0));
    CHECK(t, f32(t, 0.1) == f32(t, (double)0.1f));
    CHECK(t, i32(t, 1) != i64(t, 1));
    CHECK(t, i32(t, 0xffffffff) == i32(t, -1));
    CHECK(t, simt_build_float(&t->b, SIMT_VEC(F32, 4), 1.5) != f32(t, 1.5));
    simt_value first = i32(t, 1000), last = 0;
    for (int64_t k = 0; k < 500; k++) last = i32(t, 1000 + k);
    CHECK(t, first == i32(t, 1000) && last == i32(t, 1499));
}

static void test_integers(fixture *t) {
    simt_builder *b = &t->b;
    CHECK(t, simt_build_binary(b, SIMT_ADD, i32(t, INT32_MAX), i32(t, 1)) == i32(t, INT32_MIN));
    CHECK(t, simt_build_binary(b, SIMT_MUL, i64(t, INT64_MAX), i64(t, 2)) == i64(t, -2));
    CHECK(t, simt_build_binary(b, SIMT_MULHI, i32(t, -1), i32(t, -1)) == i32(t, -2));
    CHECK(t, simt_build_binary(b, SIMT_MULHI, i64(t, -1), i64(t, -1)) == i64(t, -2));
    CHECK(t, simt_build_binary(b, SIMT_DIV, i32(t, -7), i32(t, 2)) == i32(t, -3));
    CHECK(t, simt_build_binary(b, SIMT_REM, i32(t, -7), i32(t, 2)) == i32(t, -1));
    CHECK(t, simt_build_binary(b, SIMT_UDIV, i32(t, -2), i32(t, 2)) == i32(t, INT32_MAX));
    CHECK(t, !folded(t, simt_build_binary(b, SIMT_DIV, i32(t, 1), i32(t, 0))));
    CHECK(t, !folded(t, simt_build_binary(b, SIMT_DIV, i32(t, INT32_MIN), i32(t, -1))));
    CHECK(t, simt_build_binary(b, SIMT_SHL, i32(t, 1), i32(t, 33)) == i32(t, 2));
    CHECK(t, simt_build_binary(b, SIMT_LSHR, i32(t, -1), i32(t, 28)) == i32(t, 15));
    CHECK(t, simt_build_binary(b, SIMT_ASHR, i32(t, -8), i32(t, 1)) == i32(t, -4));
    CHECK(t, simt_build_unary(b, SIMT_CLZ, i32(t, 0)) == i32(t, 32));
    CHECK(t, simt_build_unary(b, SIMT_CLZ, i32(t, 1)) == i32(t, 31));
    CHECK(t, simt_build_unary(b, SIMT_ABS, i32(t, INT32_MIN)) == i32(t, INT32_MIN));
    CHECK(t, simt_build_cmp(b, SIMT_ULT, i32(t, 1), i32(t, -1)) == simt_build_pred(b, true));
    CHECK(t, simt_build_cmp(b, SIMT_LT, i32(t, 1), i32(t, -1)) == simt_build_pred(b, false));
    CHECK(t, simt_build_unary(b, SIMT_NOT, simt_build_pred(b, true)) == simt_build_pred(b, false));
}

static void test_identities(fixture *t) {
    simt_builder *b = &t->b;
    simt_value x = simt_build_sreg(b, SREG_TID), y = simt_build_cvt(b, SIMT_T(F32), x);
    CHECK(t, simt_build_binary(b, SIMT_ADD, x, i32(t, 0)) == x);
    CHECK(t, simt_build_binary(b, SIMT_ADD, i32(t, 0), x) == x);
    CHECK(t, simt_build_binary(b, SIMT_SUB, i32(t, 0), x) != x);
    CHECK(t, simt_build_binary(b, SIMT_MUL, i32(t, 1), x) == x);
    CHECK(t, simt_build_binary(b, SIMT_MUL, x, i32(t, 0)) == i32(t, 0));
    CHECK(t, simt_build_binary(b, SIMT_AND, x, i32(t, -1)) == x);
    CHECK(t, simt_build_binary(b, SIMT_ADD, y, f32(t, 0)) != y);
    CHECK(t, simt_build_binary(b, SIMT_MUL, y, f32(t, 1)) != y);
    CHECK(t, simt_build_cvt(b, SIMT_T(I32), x) == x);
    CHECK(t, simt_build_select(b, simt_build_pred(b, false), x, i32(t, 3)) == i32(t, 3));
}

static void test_floats(fixture *t) {
    simt_builder *b = &t->b;
    CHECK(t, simt_build_binary(b, SIMT_ADD, f32(t, 16777216), f32(t, 1)) == f32(t, 16777216));
    CHECK(t, simt_build_binary(b, SIMT_DIV, f32(t, 1), f32(t, 0)) == f32(t, (double)INFINITY));
    CHECK(t, !folded(t, simt_build_binary(b, SIMT_DIV, f32(t, 0), f32(t, 0))));
    CHECK(t, !folded(t, simt_build_unary(b, SIMT_SQRT, f32(t, -1))));
    CHECK(t, !folded(t, simt_build_unary(b, SIMT_EXP2A, f32(t, 1))));
    CHECK(t, !folded(t, simt_build_binary(b, SIMT_MIN, f32(t, (double)NAN), f32(t, 1))));
    CHECK(t, simt_build_binary(b, SIMT_MIN, f32(t, 0.0), f32(t, -0.0)) == f32(t, -0.0));
    CHECK(t, simt_build_binary(b, SIMT_MAX, f32(t, -0.0), f32(t, 0.0)) == f32(t, 0.0));
    CHECK(t, simt_build_binary(b, SIMT_COPYSIGN, f32(t, 2), f32(t, -0.0)) == f32(t, -2));
    CHECK(t, !folded(t, simt_build_binary(b, SIMT_COPYSIGN, f32(t, 2), f32(t, (double)NAN))));
    double e = ldexp(1, -12);   // (1 + e)^2 - 1 loses e^2 unless fused
    CHECK(t, simt_build_fma(b, f32(t, 1 + e), f32(t, 1 + e), f32(t, -1)) == f32(t, 2 * e + e * e));
    CHECK(t, simt_build_unary(b, SIMT_RINT, f32(t, 2.5)) == f32(t, 2));
    CHECK(t, simt_build_unary(b, SIMT_CVT_TF32, f32(t, 1 + ldexp(1, -11))) == f32(t, 1));   // ties
    CHECK(t, simt_build_unary(b, SIMT_CVT_TF32, f32(t, 1 + ldexp(3, -11))) ==
                 f32(t, 1 + ldexp(1, -9)));
    CHECK(t, simt_build_unary(b, SIMT_CVT_TF32, f32(t, -1 - ldexp(0x7fep-11, -11))) == f32(t, -1));
    CHECK(t,
          simt_build_unary(b, SIMT_CVT_TF32, f32(t, 0x1.fffffep127)) == f32(t, (double)INFINITY));
    CHECK(t, !folded(t, simt_build_unary(b, SIMT_CVT_TF32, f32(t, (double)NAN))));
    CHECK(t,
          simt_build_cmp(b, SIMT_NE, f32(t, (double)NAN), f32(t, 1)) == simt_build_pred(b, true));
    CHECK(t,
          simt_build_cmp(b, SIMT_GE, f32(t, (double)NAN), f32(t, 1)) == simt_build_pred(b, false));
}

static void test_conversions(fixture *t) {
    simt_builder *b = &t->b;
    CHECK(t, simt_build_cvt(b, SIMT_T(I32), f32(t, 3e9)) == i32(t, INT32_MAX));
    CHECK(t, simt_build_cvt(b, SIMT_T(I32), f32(t, -1.9)) == i32(t, -1));
    CHECK(t, simt_build_cvt(b, SIMT_T(I32), f32(t, (double)NAN)) == i32(t, 0));
    CHECK(t, simt_build_ucvt(b, SIMT_T(I32), f32(t, 3e9)) == i32(t, 3000000000));
    CHECK(t, simt_build_ucvt(b, SIMT_T(I32), f32(t, -5)) == i32(t, 0));
    CHECK(t, simt_build_cvt(b, SIMT_T(I64), i32(t, -1)) == i64(t, -1));
    CHECK(t, simt_build_ucvt(b, SIMT_T(I64), i32(t, -1)) == i64(t, 0xffffffff));
    CHECK(t, simt_build_cvt(b, SIMT_T(F32), i64(t, 16777217)) == f32(t, 16777216));
    // one rounding, not two
    CHECK(t, simt_build_cvt(b, SIMT_T(F32), i64(t, 0x4000004000000001)) == f32(t, 0x1.000002p62));
    CHECK(t, simt_build_cvt(b, SIMT_T(I32), simt_build_pred(b, true)) == i32(t, 1));
    CHECK(t, simt_build_cvt(b, SIMT_T(PRED), f32(t, 0.5)) == simt_build_pred(b, true));
    CHECK(t, simt_build_bitcast(b, SIMT_T(I32), f32(t, -0.0)) == i32(t, INT32_MIN));
    CHECK(t, simt_build_bitcast(b, SIMT_T(F32), i32(t, 0x3f800000)) == f32(t, 1));
    CHECK(t, !folded(t, simt_build_bitcast(b, SIMT_T(F32), i32(t, 0x7fc00001))));
}

static void test_formats(fixture *t) {
    static const simt_element narrow[] = {SIMT_F16, SIMT_BF16};
    simt_type f16 = SIMT_T(F16);
    for (int k = 0; k < 2; k++)
        for (uint32_t bits = 0; bits < 65536; bits++) {
            simt_type type = {(uint8_t)narrow[k], 1};
            simt_value c = simt_build_bitcast(&t->b, type,
                                              simt_build_int(&t->b, SIMT_T(I16), (int64_t)bits));
            if (!folded(t, c)) continue;   // NaN
            double x = t->func->instrs.data[t->func->values.data[c].def].imm.f;
            if (simt_const_bits(narrow[k], x) != bits)
                CHECK(t, !"the bits of a constant are not kept");
        }
    CHECK(t, simt_const_bits(SIMT_F16, 65520) == 0x7c00);
    CHECK(t, simt_const_bits(SIMT_F16, 65519) == 0x7bff);
    CHECK(t, simt_const_bits(SIMT_F16, ldexp(1, -25)) == 0);
    CHECK(t, simt_const_bits(SIMT_F16, ldexp(1.5, -25)) == 1);
    CHECK(t, simt_const_bits(SIMT_BF16, 1 + ldexp(1, -8)) == 0x3f80);
    CHECK(t, simt_const_bits(SIMT_BF16, 1 + ldexp(3, -8)) == 0x3f82);
    CHECK(t, simt_const_bits(SIMT_F32, ldexp(1, -150)) == 0);
    CHECK(t, simt_const_bits(SIMT_F32, -ldexp(1.1, -150)) == 0x80000001);
    CHECK(t, simt_build_float(&t->b, f16, 1e9) == simt_build_float(&t->b, f16, (double)INFINITY));
}

// sum over i of x[i], doubled while below a bound, stored where a condition holds.
static void build_control(fixture *t, simt_value x, simt_value y) {
    simt_builder *b = &t->b;
    simt_func *f = t->func;
    simt_instr loop;
    simt_value zero = f32(t, 0);
    simt_builder in = simt_build_for(b, i32(t, 0), i32(t, 10), i32(t, 1), &zero, 1, &loop);
    simt_value element = simt_build_load(&in, SIMT_T(F32),
                                         simt_build_addr(&in, x, simt_for_index(f, loop), 4, 0));
    simt_value sum = simt_build_binary(&in, SIMT_ADD, simt_for_carried(f, loop, 0), element);
    simt_build_yield(&in, &sum, 1);

    simt_builder test, body;
    sum = simt_result(f, loop, 0);
    simt_instr doubling = simt_build_while(b, &sum, 1, &test, &body);
    simt_value carried = simt_while_carried(f, doubling, false, 0);
    simt_value yields[2] = {simt_build_cmp(&test, SIMT_LT, carried, f32(t, 100)), carried};
    simt_build_yield(&test, yields, 2);
    carried = simt_while_carried(f, doubling, true, 0);
    carried = simt_build_binary(&body, SIMT_ADD, carried, carried);
    simt_build_yield(&body, &carried, 1);

    simt_builder then_arm;
    simt_value big = simt_result(f, doubling, 0);
    simt_build_if(b, simt_build_cmp(b, SIMT_GT, big, zero), NULL, 0, &then_arm, NULL);
    simt_build_store(&then_arm, simt_build_addr(&then_arm, y, i32(t, 0), 70000, 8), big);
    simt_build_yield(&then_arm, NULL, 0);
}

static const char *text_of(const fixture *t, const simt_module *m) {
    textbuf text = textbuf_new(t->arena);
    simt_print(&text, m);
    return text.data;
}

static void test_whole(fixture *t) {
    const char *fault = simt_verify(t->arena, t->module);
    if (fault) printf("%s\n", fault);
    CHECK(t, !fault);
    const char *text = text_of(t, t->module);
    source_map *map = source_map_new(t->arena);
    diag_set *ds = diag_set_new(t->arena, map);
    simt_module *again = simt_parse(t->arena, ds,
                                    source_map_add(map, "printed.simt", text, strlen(text)));
    diag_print(ds, stdout);
    CHECK(t, again && !strcmp(text, text_of(t, again)));
    if (!again) return;
    // constants that were read are shared with those built
    simt_builder b = {.func = again->funcs.data[0], .region = 1};
    uint32_t before = b.func->values.len;
    CHECK(t, simt_build_float(&b, SIMT_T(F32), 1.5) < before && b.func->values.len == before);
}

int main(void) {
    fixture t = {.arena = arena_new()};
    t.module = simt_module_new(t.arena, "unit");
    t.func = simt_kernel_new(t.module, "unit", 64);
    simt_value x = simt_param(t.func, "x", SIMT_PTR, SIMT_READONLY),
               y = simt_param(t.func, "y", SIMT_PTR, 0);
    t.b = simt_builder_at_end(t.func);
    test_sharing(&t);
    test_integers(&t);
    test_identities(&t);
    test_floats(&t);
    test_conversions(&t);
    build_control(&t, x, y);
    simt_build_return(&t.b, NULL, 0);
    test_whole(&t);
    t.func = simt_kernel_new(t.module, "formats", 64);   // by itself: it makes many constants
    t.b = simt_builder_at_end(t.func);
    test_formats(&t);
    arena_free(t.arena);
    return t.failures != 0;
}
