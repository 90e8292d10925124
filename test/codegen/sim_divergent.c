// Faults that the verifier refuses before anything runs, and that the simulator finds all the same:
// shuffles, votes and barriers that not all arrive at, and lanes that are read though they do not
// take part.
#include "jit_test.h"

// Runs kernel k of a text that was not verified; wanted: the codes it reports, in the order of
// their places.
static void expect(const char *text, const char *const *wanted, uint32_t n) {
    arena *a = arena_new();
    source_map *sources = source_map_new(a);
    diag_set *ds = diag_set_new(a, sources);
    simt_module *m = simt_parse(a, ds, source_map_add(sources, "test.simt", text, strlen(text)));
    CHECK(m && simt_verify(a, m));   // the verifier sees it too
    sim *s = sim_new(ds, m);
    sim_launch(s, "k", NULL, 1, false);
    CHECK(sim_report(s) == n);
    FILE *out = tmpfile();
    char *told = arena_alloc(a, 4096);
    diag_print(ds, out);
    rewind(out);
    if (!fread(told, 1, 4095, out)) CHECK(!"something is told");
    fclose(out);
    const char *at = told;
    for (uint32_t i = 0; i < n && at; i++) CHECK((at = strstr(at, wanted[i])) != NULL);
    if (failed) printf("%s%s\n", text, told);
    sim_free(s);
    arena_free(a);
}
#define EXPECT(text, ...)                                                                          \
    expect(text, (const char *const[]){__VA_ARGS__}, COUNT(((const char *const[]){__VA_ARGS__})))

#define SOME                                                                                       \
    "module t\nkernel k() block 64 {\n%n = const i32 40\n%one = const i32 1\n%t = sreg tid\n%p = cmp lt i32 %t, %n\nif %p {\n"
#define END "}\nreturn\n}\n"

int main(void) {
    EXPECT(
        SOME "%v = shfl.down i32 %t, %one\n" END,
        "test.simt:8:6: error[E0724]: kernel 'k', block 0, warp 1, lane 0: 'shfl.down' is reached by lanes 000000ff of ffffffff",
        "test.simt:8:6: error[E0725]: kernel 'k', block 0, warp 1, lane 7: reads a lane that does not take part");
    EXPECT(SOME "%v = ballot %p\n" END,
           "test.simt:8:6: error[E0724]: kernel 'k', block 0, warp 1, lane 0: 'ballot' is reached");
    EXPECT(
        SOME "%z = const f32x4 0\n%x = const f32x2 1\n%d = mma m16n8k8.tf32 %z, %x, %z\n" END,
        "test.simt:10:6: error[E0724]: kernel 'k', block 0, warp 1, lane 0: 'mma' is reached by lanes 000000ff of ffffffff");
    EXPECT(
        SOME "warp.sync\n" END,
        "test.simt:8:1: error[E0724]: kernel 'k', block 0, warp 1, lane 0: 'warp.sync' is reached");
    EXPECT(
        SOME "barrier\n" END,
        "test.simt:8:1: error[E0724]: kernel 'k', block 0, warp 1, lane 0: 'barrier' is reached");
    EXPECT(
        "module t\nkernel k() block 64 {\n%f = const i32 5\n%o = const i32 1\n%t = sreg tid\n%w = lshr i32 %t, %f\n"
        "%p = cmp eq i32 %w, %o\nif %p {\nbarrier\n} else {\nbarrier\n}\nreturn\n}\n",
        "waits at a barrier, but warp 1 at another");
    EXPECT(
        "module t\nkernel k() block 64 {\n%f = const i32 5\n%o = const i32 1\n%t = sreg tid\n%w = lshr i32 %t, %f\n"
        "%p = cmp eq i32 %w, %o\nif %p {\nbarrier\n}\nreturn\n}\n",
        "test.simt:9:1: error[E0724]: kernel 'k', block 0, warp 1, lane 0: waits at a barrier, but warp 0 has ended");
    return failed;
}
