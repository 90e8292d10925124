// Control flow, calls, parameters, shared memory and atomics of SIMT IR, run on the host.
#include "jit_test.h"

#include <math.h>

static void loop_sum(int64_t lo, int64_t hi, int64_t step, const char *type, int64_t rounds,
                     int64_t last) {
    arena *a = arena_new();
    const char *text = typed(
        a,
        "module t\nkernel k(%lo: TYPE, %hi: TYPE, %step: TYPE, %r: ptr.global) block 1 {\n"
        "%zero = const i64 0\n%one = const i64 1\n%none = const i64 -7\n"
        "%n, %l = for %i = %lo to %hi step %step carry (%c: i64 = %zero, %last: i64 = %none) {\n"
        "%d = add i64 %c, %one\n%w = add TYPE %i, %i\n%x = sub TYPE %w, %i\n%y = NARROW\nyield %d, %y\n}\n"
        "st i64 %r, %n\n%q = addr %r, %zero * 1 + 8\nst i64 %q, %l\nreturn\n}\n",
        type, 1);
    const char *at = strstr(text, "NARROW");
    text = arena_printf(a, "%.*s%s%s", (int)(at - text), text,
                        !strcmp(type, "i64") ? "add i64 %x, %zero" : "cvt i64 %x", at + 6);
    int64_t r[2] = {0, 0};
    uint64_t args[4] = {(uint64_t)lo, (uint64_t)hi, (uint64_t)step, (uintptr_t)r};
    jit_run(text, args, 1);
    if (r[0] != rounds || r[1] != last) {
        printf("for %s %lld to %lld step %lld: %lld rounds, last %lld\n", type, (long long)lo,
               (long long)hi, (long long)step, (long long)r[0], (long long)r[1]);
        failed = 1;
    }
    arena_free(a);
}

// Bounds near the limits must end the loop, not wrap.
static void loops(void) {
    for (int wide = 0; wide < 2; wide++) {
        const char *type = wide ? "i64" : "i32";
        int64_t max = wide ? INT64_MAX : INT32_MAX, min = wide ? INT64_MIN : INT32_MIN;
        loop_sum(0, 10, 1, type, 10, 9);
        loop_sum(0, 10, 3, type, 4, 9);
        loop_sum(5, 5, 1, type, 0, -7);
        loop_sum(6, 5, 1, type, 0, -7);
        loop_sum(max - 2, max, 1, type, 2, max - 1);
        loop_sum(max - 2, max, 4, type, 1, max - 2);
        loop_sum(min, min + 3, 1, type, 3, min + 2);
        loop_sum(min, min + 3, max, type, 1, min);
        loop_sum(min, max, max, type, 3, max - 1);
        loop_sum(max, min, 1, type, 0, -7);
    }
}

// Collatz: a while, an if with values in it, and a function of two results.
static void whiles(void) {
    static const char text[] =
        "module t\n"
        "func halves(%x: i64) -> (i64, pred) {\n%one = const i64 1\n%zero = const i64 0\n"
        "%h = lshr i64 %x, %one\n"
        "%b = and i64 %x, %one\n%p = cmp ne i64 %b, %zero\nreturn %h, %p\n}\n"
        "kernel k(%r: ptr.global) block 1 {\n%b = sreg ctaid\n%nb = sreg nctaid\n%one = const i64 1\n"
        "%three = const i64 3\n"
        "%zero = const i64 0\n%b64 = cvt i64 %b\n%start = add i64 %b64, %one\n"
        "%n, %steps = while (%x: i64 = %start, %c: i64 = %zero) {\n%go = cmp ne i64 %x, %one\n"
        "yield %go, %x, %c\n"
        "} do (%y: i64, %d: i64) {\n%half, %odd = call halves(%y)\n"
        "%z = if %odd -> (i64) {\n%t = mul i64 %y, %three\n%u = add i64 %t, %one\nyield %u\n} else {\n"
        "yield %half\n}\n"
        "%e = add i64 %d, %one\nyield %z, %e\n}\n"
        "%p = addr %r, %b * 8\n%last = cmp lt i32 %b, %nb\nif %last {\nst i64 %p, %steps\n}\nreturn\n}\n";
    int64_t r[100];
    uint64_t args[1] = {(uintptr_t)r};
    jit_run(text, args, 100);
    for (int64_t b = 0; b < 100; b++) {
        int64_t steps = 0;
        for (int64_t x = b + 1; x != 1; x = x & 1 ? 3 * x + 1 : x / 2) steps++;
        CHECK(r[b] == steps);
    }
}

// Each parameter's value stands in the low bytes of its eight.
static void parameters(void) {
    static const char text[] =
        "module t\n"
        "kernel k(%r: ptr.global, %a: i8, %b: i16, %c: i32, %d: i64, %e: f16, %f: bf16, %g: f32, %h: f64) block 1 {\n"
        "%o = const i32 0\n%p0 = addr %r, %o\nst i8 %p0, %a\n%p1 = addr %r, %o + 8\nst i16 %p1, %b\n"
        "%p2 = addr %r, %o + 16\nst i32 %p2, %c\n"
        "%p3 = addr %r, %o + 24\nst i64 %p3, %d\n%p4 = addr %r, %o + 32\nst f16 %p4, %e\n"
        "%p5 = addr %r, %o + 40\nst bf16 %p5, %f\n"
        "%p6 = addr %r, %o + 48\nst f32 %p6, %g\n%p7 = addr %r, %o + 56\nst f64 %p7, %h\nreturn\n}\n";
    uint64_t r[8] = {0}, junk = 0xfedcba9876543210u, args[9] = {(uintptr_t)r};
    for (int k = 1; k < 9; k++) args[k] = junk + (uint64_t)k;
    jit_run(text, args, 1);
    const uint32_t bytes[] = {1, 2, 4, 8, 2, 2, 4, 8};
    for (int k = 0; k < 8; k++)
        CHECK(r[k] ==
              (bytes[k] == 8 ? args[k + 1] : args[k + 1] & ((UINT64_C(1) << 8 * bytes[k]) - 1)));
}

static void shared_memory(void) {
    static const char text[] =
        "module t\nkernel k(%r: ptr.global) block 32 shared 4096 {\n%b = sreg ctaid\n%s = shared 64\n"
        "%z = const i32 0\n%n = const i32 100\n"
        "%one = const i32 1\nfor %i = %z to %n step %one {\n%p = addr %s, %i * 4\n%v = mul i32 %i, %b\n"
        "st i32 %p, %v\n}\nbarrier\n"
        "%sum = for %j = %z to %n step %one carry (%a: i32 = %z) {\n%d = addr %s, %j * 4\n%w = ld i32 %d\n"
        "%t = add i32 %a, %w\nyield %t\n}\n"
        "%q = addr %r, %b * 4\nst i32 %q, %sum\nfence device\nwarp.sync\nreturn\n}\n";
    int32_t r[10];
    uint64_t args[1] = {(uintptr_t)r};
    jit_run(text, args, 10);
    for (int b = 0; b < 10; b++) CHECK(r[b] == 4950 * b);
}

// old = *p; *p = old OP v, one after the other.
static void atomic(const char *type, const char *op, uint32_t bytes, uint64_t start, uint64_t v,
                   uint64_t want) {
    arena *a = arena_new();
    const char *text = typed(
        a,
        arena_printf(a,
                     "module t\nkernel k(%%p: ptr.global, %%r: ptr.global, %%v: TYPE) block 1 {\n"
                     "%%o = atom %s TYPE %%p, %%v\nst TYPE %%r, %%o\n"
                     "red %s TYPE %%p, %%v\nreturn\n}\n",
                     op, op),
        type, 1);
    uint64_t memory = start, old = 0, args[3] = {(uintptr_t)&memory, (uintptr_t)&old, v};
    jit_run(text, args, 1);
    if (memory != want || old != start) {
        printf("atom %s %s of %#llx, %#llx twice: %#llx, old %#llx (%u bytes)\n", op, type,
               (unsigned long long)start, (unsigned long long)v, (unsigned long long)memory,
               (unsigned long long)old, bytes);
        failed = 1;
    }
    arena_free(a);
}

static uint64_t f32(float x) {
    uint32_t b;
    return memcpy(&b, &x, 4), b;
}

static void atomics(void) {
    atomic("i32", "add", 4, 5, 7, 19);
    atomic("i64", "add", 8, UINT64_MAX, 1, 1);
    atomic("i32", "min", 4, 5, (uint32_t)-7, (uint32_t)-7);
    atomic("i32", "max", 4, 5, (uint32_t)-7, 5);
    atomic("i32", "and", 4, 0xff, 0x3c, 0x3c);
    atomic("i32", "or", 4, 0xf0, 0x3c, 0xfc);
    atomic("i64", "exch", 8, 1, 2, 2);
    atomic("f32", "add", 4, f32(1.5f), f32(0.25f), f32(2));
    atomic("f32", "max", 4, f32(-1), f32(-2), f32(-1));
    atomic("f32", "min", 4, f32(0.0f), f32(-0.0f), f32(-0.0f));
    atomic("f16", "add", 2, 0x3c00, 0x3800, 0x4000);    // 1 + 0.5 + 0.5
    atomic("f16", "add", 2, 0x7e01, 0x3c00, 0x7fff);    // NaN stays
    atomic("bf16", "add", 2, 0x4380, 0x3f80, 0x4380);   // 256 + 1 + 1: a tie to even each time
}

static void compare_and_swap(void) {
    static const char text[] =
        "module t\nkernel k(%p: ptr.global, %r: ptr.global) block 1 {\n%e = const i32 5\n%v = const i32 9\n"
        "%z = const i32 0\n"
        "%a = atom.cas i32 %p, %e, %v\nst i32 %r, %a\n%b = atom.cas i32 %p, %e, %z\n%q = addr %r, %z + 4\n"
        "st i32 %q, %b\nreturn\n}\n";
    int32_t memory = 5, r[2];
    uint64_t args[2] = {(uintptr_t)&memory, (uintptr_t)r};
    jit_run(text, args, 1);
    CHECK(memory == 9 && r[0] == 5 && r[1] == 9);
}

// Lanes in their places.
static void shapes(void) {
    static const char text[] =
        "module t\nkernel k(%r: ptr.global) block 1 {\n%o = const i32 0\n%a = const i32 10\n"
        "%b = const i32 20\n%c = sreg nctaid\n"
        "%v = splat i32x4 %a\n%w = insert i32x4 %v, %b, 2\n%x = insert i32x4 %w, %c, 0\n"
        "%h = slice i32x2 %x, 1\n%y = concat i32x4 %h, %h\n"
        "%z = concat i32x8 %x, %y\n%e = extract i32 %z, 2\n%f = slice i32 %z, 0\n%g = concat i32x2 %e, %f\n"
        "%l = bitcast i64 %g\n"
        "st i32x8 %r, %z align 4\n%p = addr %r, %o + 32\nst i64 %p, %l\nreturn\n}\n";
    int32_t r[10] = {0};
    uint64_t args[1] = {(uintptr_t)r};
    jit_run(text, args, 1);
    const int32_t want[10] = {1, 10, 20, 10, 10, 20, 10, 20, 20, 1};
    for (int k = 0; k < 10; k++) CHECK(r[k] == want[k]);
}

static void approximations(void) {
    static const struct {
        const char *op;
        float want;
    } rows[] = {{"exp2a", 5.656854f},
                {"log2a", 1.321928f},
                {"rcpa", 0.4f},
                {"rsqrta", 0.632456f},
                {"tanha", 0.986614f}};
    for (uint32_t k = 0; k < COUNT(rows); k++) {
        arena *a = arena_new();
        float in = 2.5f, r = 0;
        const char *op = arena_printf(a, "%%v = %s f32 %%a", rows[k].op);
        jit_elementwise((elementwise){"f32", "f32", op, 4, 4}, 1, (const void *[]){&in, &in, &in},
                        &r, 1);
        CHECK(fabsf(r - rows[k].want) < 1e-3f * rows[k].want);
        arena_free(a);
    }
}

// A warp operation is refused with a diagnostic, and a kernel that is not there is NULL.
static void refusals(void) {
    arena *a = arena_new();
    source_map *sources = source_map_new(a);
    diag_set *ds = diag_set_new(a, sources);
    cg_options o = {.sources = sources};
    const char *text = "module t\nkernel k(%r: ptr.global) block 32 {\n%a = sreg tid\n"
                       "%b = shfl.idx i32 %a, %a\nst i32 %r, %b\nreturn\n}\n";
    simt_module *m = simt_parse(a, ds, source_map_add(sources, "t.simt", text, strlen(text)));
    CHECK(m && !cg_jit_new(a, ds, m, &o) && diag_errors(ds) == 1);
    cg_jit *j = jit_text(a, "module t\nkernel k() block 1 {\nreturn\n}\n");
    CHECK(cg_jit_kernel(j, "k") && !cg_jit_kernel(j, "nobody"));
    cg_jit_free(j);
    arena_free(a);
}

int main(void) {
    loops();
    whiles();
    parameters();
    shared_memory();
    atomics();
    compare_and_swap();
    shapes();
    approximations();
    refusals();
    return failed;
}
