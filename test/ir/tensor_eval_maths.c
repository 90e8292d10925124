// The evaluator's functions beside numbers of mpmath (Inputs/maths.h): what each comes to, and that
// its bound is what math.def states and what the slope makes of the argument's own, neither less
// nor much more.
#include "tensor_harness.h"

#include <float.h>

typedef struct {
    const char *name;
    double x, y, value, left, dx, dy;
} point;
static const point points[] = {
#define POINT(name, ...) {#name, __VA_ARGS__},
#include "test/ir/Inputs/maths.h"
#undef POINT
};
enum { POINTS = sizeof points / sizeof *points };

static const struct {
    const char *name;
    int args;
    double ulps[2];   // f32, f64
} functions[] = {
#define MATH(id, name, args, nan, ulp_f32, ulp_f64, length_f32, length_f64)                        \
    {#name, args, {ulp_f32, ulp_f64}},
#include "math.def"
#undef MATH
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

// wide: f64, whose bounds have room for the evaluator's own rounding: twice that of the type.
static double last_place(double x, bool wide) {
    return ldexp(1, ilogb(x) - (wide ? DBL_MANT_DIG : FLT_MANT_DIG) + 1);
}
static double unit(bool wide) { return wide ? 0x1p-52 : 0x1p-24; }

static void expect(const point *p, double got, double bound, double ulps, double argument,
                   bool wide) {
    double needed = ulps * last_place(p->value, wide) +
                    argument * fabs(p->dx) * 0.49 * last_place(p->x, wide);
    double most = 2 * unit(wide) * ulps * fabs(p->value) +
                  argument * fabs(p->dx * p->x) * unit(wide);
    double error = argument > 0 ? 0 : fabs((got - p->value) - p->left),
           mine = error / last_place(p->value, true);
    // what is stored lies within so many places of another number
    if (wide) most += 2 * last_place(p->value, true);
    if (mine <= 2 && bound >= needed && bound <= 1.25 * most) return;
    failures++;
    printf("%s(%a, %a) of f%d%s: off by %g, bound %g, %g needed, %g usual\n", p->name, p->x, p->y,
           wide ? 64 : 32, argument > 0 ? ", rounded argument" : "", mine, bound, needed, most);
}

// factor: of the argument, 1 or one that makes the product inexact but all but the same.
static void test(uint32_t f, bool wide, double factor) {
    static double x[POINTS], w[POINTS], y[POINTS];
    static float x32[POINTS], w32[POINTS], y32[POINTS];
    char text[400], argument[40];
    const char *type = wide ? "f64" : "f32";
    snprintf(argument, sizeof argument, "%s", factor != 1 ? "mul(x[n], w[n])" : "x[n]");
    snprintf(
        text, sizeof text,
        "op f { space N tensor x : %s[N] tensor w : %s[N] tensor y : %s[N] result z : f64[N] z[n:N] = %s%s(%s%s)%s }",
        type, type, type, wide ? "" : "cvt(f64, ", functions[f].name, argument,
        functions[f].args == 2 ? ", y[n]" : "", wide ? "" : ")");
    trial *t = trial_new(text);
    for (int i = 0; i < POINTS; i++) {
        bool mine = !strcmp(points[i].name, functions[f].name);
        x[i] = mine ? points[i].x : 0.5, w[i] = factor, y[i] = points[i].y;
        x32[i] = (float)x[i], w32[i] = (float)factor, y32[i] = (float)points[i].y;
    }
    set_size(t, "N", POINTS);
    set_input(t, "x", wide ? (void *)x : x32), set_input(t, "w", wide ? (void *)w : w32);
    set_input(t, "y", wide ? (void *)y : y32);
    EXPECT_EVALUATED(t);
    const tensor_evaluated *z = result(t, "z");
    for (int i = 0; i < POINTS; i++)
        if (!strcmp(points[i].name, functions[f].name))
            expect(&points[i], z->value[i], z->bound[i], functions[f].ulps[wide], factor != 1,
                   wide);
    arena_free(t->a);
}

int main(void) {
    for (uint32_t f = 0; f < FUNCTIONS; f++)
        for (int wide = 0; wide < 2; wide++) {
            test(f, wide, 1);
            test(f, wide, 1 + (wide ? 0x1p-40 : 0x1p-20));
        }
    return failures != 0;
}
