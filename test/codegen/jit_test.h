// For the programs that compile small kernels for this machine, run them on edge values and compare
// bit by bit; what they compute elementwise the simulator computes too, to the same bits.
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

// result[i] = v for a[i], b[i], c[i], with values of `lanes` elements: op is a text that makes %v
// of %a, %b, %c. in, out: element texts ("f32"); a result of pred is given as i8.
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
static inline void sim_elementwise(const elementwise *e, const char *text, uint32_t lanes,
                                   const void *const x[3], const void *wanted, uint32_t n) {
    arena *a = arena_new();
    source_map *sources = source_map_new(a);
    diag_set *ds = diag_set_new(a, sources);
    const char *block = strstr(text, "block 1 {");
    uint32_t threads = n / lanes % 32 ? 1 : 32;
    const char *wide = arena_printf(a, "%.*sblock %u%s", (int)(block - text), text, threads,
                                    block + 7);
    sim *s = sim_new(ds,
                     simt_parse(a, ds, source_map_add(sources, "test.simt", wide, strlen(wide))));
    char *got = arena_alloc(a, (size_t)n * e->out_bytes + 8);
    sim_arg args[4] = {
        {.name = "r", .data = got, .bytes = (size_t)n * e->out_bytes, .result = true}};
    args[3] = args[0];
    for (int k = 0; k < 3; k++)
        args[k] = (sim_arg){.name = "x",
                            .data = (void *)(uintptr_t)x[k],
                            .bytes = (size_t)n * e->in_bytes,
                            .written = true};
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

static inline void jit_elementwise(elementwise e, uint32_t lanes, const void *const x[3],
                                   void *result, uint32_t n) {
    arena *a = arena_new();
    textbuf t = textbuf_new(a);
    const char *suffix = lanes > 1 ? arena_printf(a, "x%u", lanes) : "";
    bool pred = !strcmp(e.out, "pred");
    textbuf_puts(
        &t, "module t\n"
            "kernel k(%x: ptr.global, %y: ptr.global, %z: ptr.global, %r: ptr.global) block 1 {\n"
            "%t = sreg tid\n%b0 = sreg ctaid\n%w = sreg ntid\n%o = mul i32 %b0, %w\n"
            "%i = add i32 %o, %t\n");
    for (int k = 0; k < 3; k++)
        textbuf_printf(&t, "%%p%d = addr %%%c, %%i * %u\n%%%c = ld %s%s %%p%d align %u\n", k,
                       "xyz"[k], e.in_bytes * lanes, "abc"[k], e.in, suffix, k, e.in_bytes);
    textbuf_printf(&t, "%s\n", e.op);
    if (pred) textbuf_printf(&t, "%%u = cvt i8%s %%v\n", suffix);
    textbuf_printf(&t, "%%q = addr %%r, %%i * %u\nst %s%s %%q, %s align %u\nreturn\n}\n",
                   e.out_bytes * lanes, pred ? "i8" : e.out, suffix, pred ? "%u" : "%v",
                   e.out_bytes);
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

#endif
