// Vectors that end early: the first n elements are loaded, with zeros behind them, and stored;
// nothing past them is touched, though memory may end there. By the host's code, optimised, and by
// the simulator.
#include "jit_test.h"

#include <sys/mman.h>

enum { PAGE = 4096, MOST = 16 };

static const struct {
    const char *element;
    uint32_t bytes;
} types[] = {{"i8", 1}, {"f16", 2}, {"bf16", 2}, {"i32", 4}, {"f32", 4}, {"f64", 8}, {"i64", 8}};

static const char *const text =
    "module t\n"
    "kernel k(%%x: ptr.global readonly, %%y: ptr.global, %%all: ptr.global, %%n: i32) block 1 {\n"
    "%%v = ld.some %sx%u %%x, %%n\nst %sx%u %%all, %%v align 1\nst.some %sx%u %%y, %%v, %%n\nreturn\n}\n";

// Memory ends behind so many bytes of a page of its own.
static char *at_the_end(uint32_t bytes) {
    char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + PAGE, PAGE, PROT_NONE)) exit(1);
    return pages + PAGE - bytes;
}

static void simulated(const char *k, const char *x, char *y, char *all, size_t bytes, size_t whole,
                      int64_t n) {
    arena *a = arena_new();
    source_map *sources = source_map_new(a);
    diag_set *ds = diag_set_new(a, sources);
    sim *s = sim_new(ds, simt_parse(a, ds, source_map_add(sources, "test.simt", k, strlen(k))));
    const sim_arg args[] = {
        {.name = "x", .data = (void *)(uintptr_t)x, .bytes = bytes, .written = true},
        {.name = "y", .data = y, .bytes = bytes, .result = true},
        {.name = "all", .data = all, .bytes = whole, .result = true},
        {.name = "n", .slot = (uint32_t)n}};
    sim_launch(s, "k", args, 1, false);
    CHECK(!sim_report(s));
    sim_free(s);
    arena_free(a);
}

static void check(const char *x, const char *y, const char *all, uint32_t bytes, uint32_t whole) {
    CHECK(!memcmp(x, y, bytes) && !memcmp(x, all, bytes));
    for (uint32_t i = bytes; i < whole; i++) CHECK(!all[i]);
}

static void try(uint32_t t, uint32_t lanes, int32_t n) {
    arena *a = arena_new();
    const char *e = types[t].element, *k = arena_printf(a, text, e, lanes, e, lanes, e, lanes);
    uint32_t whole = types[t].bytes * lanes, bytes = n < 0 ? 0
                                                     : (uint32_t)n < lanes
                                                         ? types[t].bytes * (uint32_t)n
                                                         : whole;
    char *x = at_the_end(bytes), *y = at_the_end(bytes), *all = arena_alloc(a, whole);
    for (uint32_t i = 0; i < bytes; i++) x[i] = (char)(1 + i % 100);
    jit_run(k,
            (const uint64_t[]){(uint64_t)(uintptr_t)x, (uint64_t)(uintptr_t)y,
                               (uint64_t)(uintptr_t)all, (uint32_t)n},
            1);
    check(x, y, all, bytes, whole);
    memset(y, 0, bytes);
    simulated(k, x, y, all, bytes, whole, n);
    check(x, y, all, bytes, whole);
    munmap(x + bytes - PAGE, 2 * PAGE);
    munmap(y + bytes - PAGE, 2 * PAGE);
    arena_free(a);
}

int main(void) {
    static const int32_t numbers[] = {INT32_MIN, INT32_MIN + 1, -1, 0, 1, 2, 3, 5, 7, 8, 12, 15, 16,
                                      99};
    for (uint32_t t = 0; t < COUNT(types); t++)
        for (uint32_t i = 0; i < COUNT(numbers); i++) {
            try(t, i % 3 ? MOST : 4, numbers[i]);
            try(t, 2, numbers[i]);
        }
    return failed;
}
