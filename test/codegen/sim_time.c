// What a sample of blocks tells of times: latencies along a chain, L1, what leaves no instruction,
// blocks that stand for others.
#include "jit_test.h"

enum { WORDS = 1 << 16 };
static int32_t memory[WORDS];
static const sim_sampling how = {
    .blocks = 8, .issued = 1e6, .cache_bytes = 1 << 18, .cached = 30, .missed = 500, .shared = 20};

typedef struct {
    sim_times times;
    sim_traffic x;
    uint64_t blocks;
} told;

// A kernel `k(%x)` of that body.
static told run(const char *body, uint32_t blocks, const sim_sampling *sampling) {
    arena *m = arena_new();
    source_map *sources = source_map_new(m);
    diag_set *ds = diag_set_new(m, sources);
    const char *text = arena_printf(
        m, "module t\nkernel k(%%x: ptr.global) block 32 {\n%s\nreturn\n}\n", body);
    simt_module *module = simt_parse(m, ds,
                                     source_map_add(sources, "test.simt", text, strlen(text)));
    CHECK(module && !simt_verify(m, module));
    const sim_arg x = {.name = "x", .data = memory, .bytes = sizeof memory, .written = true};
    const sim_profile *p;
    sim *s = sim_new(ds, module);
    sim_sample(s, sampling);
    sim_launch(s, "k", &x, blocks, false);
    CHECK(sim_counted(s, m, &p) == 1 && p->times);
    told t = {.times = *p->times, .blocks = p->blocks};
    for (uint32_t i = 0; i < t.times.buffers.len; i++)
        if (t.times.buffers.data[i].name) t.x = t.times.buffers.data[i], t.x.name = "x";
    sim_free(s);
    arena_free(m);
    return t;
}

static void expect(const char *what, double is, double should) {
    if (is == should) return;
    fprintf(stderr, "%s: %g, not %g\n", what, is, should);
    failed = 1;
}

#define LANE "%t = sreg tid\n%p = addr %x, %t * 4\n"

static void chains(void) {
    told one = run(LANE "%v = ld i32 %p\nst i32 %p, %v", 1, &how);
    told two = run(LANE "%v = ld i32 %p\n%w = add i32 %v, %v\n%u = add i32 %w, %w\nst i32 %p, %u",
                   1, &how);
    told beside = run(
        LANE
        "%v = ld i32 %p\n%w = add i32 %v, %v\n%u = add i32 %v, %t\nst i32 %p, %u\nst i32 %p, %w",
        1, &how);
    expect("two additions, one after the other", two.times.cycles - one.times.cycles, 10);
    CHECK(beside.times.cycles - one.times.cycles < 10);   // side by side
    CHECK(one.times.cycles > how.missed);
    expect("sectors of a warp's words", one.times.fetched, 4);
    expect("stored", one.times.stored, 4);
}

static void caches(void) {
    told t = run(LANE "%v = ld i32 %p\n%w = ld i32 %p\n%s = add i32 %v, %w\nst i32 %p, %s", 1,
                 &how);
    expect("a line that L1 has", t.times.fetched, 4);
    expect("wavefronts", t.times.wavefronts[0], 3);
    CHECK(t.times.cycles < 2 * how.missed);
    // a warp's lanes are 128 bytes apart
    told far = run("%t = sreg tid\n%p = addr %x, %t * 128\n%v = ld i32 %p\nst i32 %p, %v", 1, &how);
    expect("a sector a lane", far.times.fetched, 32);
    expect("a line a lane", far.x.lines, 32);
    expect("from the first to the last", far.x.spans, 32);
}

static void folding(void) {
    const char *const
        with = LANE
        "%v = ld i32 %p\n%dead = mul i32 %v, %v\n%seven = const i32 7\n%eight = const i32 8\n"
        "%m = mul i32 %v, %seven\n%s = add i32 %m, %t\n%q = udiv i32 %s, %eight\nst i32 %p, %q",
        *const without = LANE
        "%v = ld i32 %p\n%seven = const i32 7\n%s = add i32 %v, %t\n%q = lshr i32 %s, %seven\n"
        "st i32 %p, %q";
    expect("a dead product, a product before a sum, a quotient by 8",
           run(with, 1, &how).times.issued, run(without, 1, &how).times.issued);
    const char *const loop =
        "%%t = sreg tid\n%%z = const i32 0\n%%n = const i32 10\n%%o = const i32 1\n"
        "%%p = addr %%x, %%t * 4\n%%r = for %%i = %%z to %%n step %%o carry (%%a: i32 = %%z) {\n"
        "%%c = mul i32 %%t, %%t\n%s%%b = add i32 %%a, %%c\nyield %%b\n}\nst i32 %%p, %%r";
    arena *a = arena_new();
    double short_loop = run(arena_printf(a, loop, ""), 1, &how).times.issued,
           long_loop = run(arena_printf(a, loop, "%d = xor i32 %c, %t\n%e = add i32 %a, %d\n"), 1,
                           &how)
                           .times.issued;
    expect("what is the same in all rounds, or dead", long_loop, short_loop);
    arena_free(a);
}

static void samples(void) {
    const char *const body =
        "%t = sreg tid\n%b = sreg ctaid\n%w = const i32 32\n%q = mul i32 %b, %w\n"
        "%i = add i32 %q, %t\n%p = addr %x, %i * 4\n%v = ld i32 %p\nst i32 %p, %v";
    told all = run(body, 8, &how), some = run(body, 1000, &how);
    expect("blocks that ran", (double)some.times.ran, 8);
    expect("sectors of 1000 blocks", some.times.fetched, 4000);
    expect("instructions of 1000 blocks", some.times.issued, 125 * all.times.issued);
    expect("lines of 1000 blocks", some.x.lines, 1000);
    sim_sampling few = how;
    few.issued = 1;   // the first block is the only one
    told cut = run(body, 1000, &few);
    expect("blocks that ran", (double)cut.times.ran, 1);
    expect("sectors of 1000 blocks, by one", cut.times.fetched, 4000);
}

int main(void) {
    chains();
    caches();
    folding();
    samples();
    return failed;
}
