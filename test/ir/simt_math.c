// The scalar maths library: functions come into a module with their callees, once, and fast enough
// to be asked for in every compilation.
#include "simt.h"

#include <string.h>
#include <time.h>

static int failures;

static void check(bool holds, const char *what, int line) {
    if (holds) return;
    printf("simt_math.c:%d: %s\n", line, what);
    failures++;
}
#define CHECK(x) check((x), #x, __LINE__)

static double milliseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

int main(void) {
    arena *a = arena_new();
    simt_module *m = simt_module_new(a, "unit");
    simt_func *k = simt_kernel_new(m, "k", 32);
    simt_value x = simt_param(k, "x", SIMT_T(F32), 0), y = simt_param(k, "y", SIMT_PTR, 0);
    simt_builder b = simt_builder_at_end(k);
    double start = milliseconds();
    simt_func *power = simt_math(m, "pow", SIMT_F32), *expo = simt_math(m, "exp", SIMT_F64);
    double took = milliseconds() - start;
    CHECK(power && expo);
    CHECK(power && !strcmp(power->name, "pow_f32"));
    CHECK(simt_math(m, "pow", SIMT_F32) == power);
    CHECK(!simt_math(m, "no_such_function", SIMT_F32));
    CHECK(!simt_math(m, "exp", SIMT_F16));
    if (took > 20) printf("%g ms\n", took);
    CHECK(took < 20);   // about 0.2; the rest is room for slow machines and sanitizers
    simt_value args[2] = {x, x};
    simt_build_store(&b, y, simt_build_call(&b, power, args, 2));
    simt_build_return(&b, NULL, 0);
    const char *fault = simt_verify(a, m);
    if (fault) printf("%s\n", fault);
    CHECK(!fault);
    arena_free(a);
    return failures != 0;
}
