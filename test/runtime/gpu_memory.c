// Device memory of plans is kept for the next ones: which blocks are taken again, and when. A slab
// has 8 MiB.
#include "Inputs/cuda_session.h"

static gnn_stream stream_of(int n) { return (gnn_stream)(uintptr_t)n; }

static char *take(gnn_context *c, size_t bytes, int stream) {
    void *memory = NULL;
    GOOD(c, rt_gpu_memory_take(c, bytes, stream_of(stream), &memory));
    return memory;
}

// Behind work of that stream; 0: of any.
static void give(gnn_context *c, const void *memory, int stream) {
    const gnn_stream s = stream_of(stream);
    rt_gpu_memory_give(c, memory, stream ? &s : NULL);
}

static int64_t allocations(void) { return fake_calls("cuMemAlloc_v2"); }
static int64_t frees(void) { return fake_calls("cuMemFree_v2"); }
static int64_t waits(void) { return fake_calls("cuCtxSynchronize"); }

// The same stream takes it at once, another one after a wait; no driver is asked for memory.
static void by_stream(gnn_context *c) {
    char *slab = take(c, 4 << 20, 1), *a = take(c, 4 << 20, 1);
    CHECK(a == slab + (4 << 20) && allocations() == 1);
    give(c, a, 1);
    CHECK(take(c, (4 << 20) - 100, 1) == a && waits() == 0);
    give(c, a, 1);
    CHECK(take(c, 4 << 20, 2) == a && waits() == 1);
    give(c, a, 0);
    CHECK(take(c, 4 << 20, 1) == a && waits() == 2);
    give(c, a, 1);
    rt_gpu_memory_quiet(c, stream_of(2), false);
    CHECK(take(c, 4 << 20, 2) == a && waits() == 3);
    give(c, a, 1);
    rt_gpu_memory_quiet(c, stream_of(1), false);
    CHECK(take(c, 4 << 20, 2) == a && waits() == 3);
    CHECK(allocations() == 1 && frees() == 0);
    give(c, slab, 1);
    give(c, a, 1);
}

// The smallest that is large enough is cut; what is free side by side becomes one again.
static void by_size(gnn_context *c) {
    char *a = take(c, 1000, 1), *b = take(c, 3 << 20, 1), *d = take(c, 1 << 20, 1);
    CHECK(b == a + 1024 && d == b + (3 << 20) && take(c, 0, 1) == NULL);
    char *e = take(c, 2 << 20, 1), *rest = take(c, (2 << 20) - 1024, 1);
    CHECK(rest + (2 << 20) - 1024 == a + (8 << 20) && allocations() == 1);
    give(c, b, 1);
    give(c, e, 1);
    CHECK(take(c, 2 << 20, 1) == e && take(c, 3 << 20, 1) == b);
    give(c, b, 1);
    give(c, e, 1);
    give(c, d, 1);
    CHECK(take(c, 6 << 20, 1) == b && allocations() == 1 && waits() == 0);
    give(c, b, 1);
    give(c, a, 2);   // of another stream: one with the others after a wait
    give(c, rest, 0);
    CHECK(take(c, 8 << 20, 1) == a && allocations() == 1 && waits() == 1);
    char *large = take(c, 9 << 20, 1);
    CHECK(allocations() == 2);
    give(c, NULL, 1);
    give(c, c, 1);       // memory that is none of ours
    give(c, a + 8, 1);   // likewise
    give(c, a, 1);
    give(c, large, 1);
}

// No more than was said is kept, and where memory is short the driver has back what is.
static void bounds(gnn_context *c) {
    GOOD(c, rt_gpu_memory_keep(c, (size_t)64 << 20));
    char *a = take(c, (size_t)65 << 20, 1);
    give(c, a, 0);
    CHECK(frees() == 1 && waits() == 1);
    a = take(c, (size_t)60 << 20, 1);
    char *b = take(c, 1 << 20, 1), *d = take(c, 1 << 20, 1);
    give(c, a, 1);   // 6 MiB are left of the slab of the others
    CHECK(frees() == 2 && waits() == 2);
    give(c, b, 1);
    CHECK(frees() == 2 && waits() == 2);
    give(c, d, 1);
    a = take(c, (size_t)60 << 20, 1);
    fake_limit(100);
    void *none = c;
    EXPECT(c, rt_gpu_memory_take(c, (size_t)9 << 20, NULL, &none), NO_MEMORY,
           "out of device memory: 9437184 bytes asked for");
    CHECK(!none && frees() == 3);
    fake_limit((size_t)1 << 20);   // a slab is too much, not what was asked for
    give(c, take(c, 1000, 1), 1);
    EXPECT(c, rt_gpu_memory_take(c, SIZE_MAX, NULL, &none), NO_MEMORY,
           "no memory holds 18446744073709551615 bytes");
    fake_limit(SIZE_MAX);
    give(c, a, 1);
}

// A wait that fails is told, and the block stays.
static void failing(gnn_context *c) {
    char *a = take(c, 8 << 20, 1);
    void *b = c;
    give(c, a, 0);
    fake_fail_at(2);   // behind the question which context is current, and ours made so
    EXPECT(c, rt_gpu_memory_take(c, 1000, NULL, &b), CUDA,
           "CUDA driver, CtxSynchronize: FAKE_ERROR (made to fail)");
    fake_fail_at(-1);
    CHECK(!b && take(c, 1000, 1) == a);
    give(c, a, 1);
}

// Where each has memory of its own nothing is kept.
static void apart(gnn_context *c) {
    void *start;
    size_t bytes;
    bool written;
    GOOD(c, rt_gpu_memory_keep(c, 0));
    char *a = take(c, 1000, 1), *b = take(c, 1000, 1);
    CHECK(allocations() == 2 && fake_memory(b, &start, &bytes, &written));
    CHECK(start == b && bytes == 1024);
    give(c, a, 1);
    CHECK(frees() == 1);
    give(c, b, 0);
    CHECK(frees() == 2);
}

int main(void) {
    static void (*const tests[])(gnn_context *) = {by_stream, by_size, bounds, failing, apart};
    for (size_t i = 0; i < RT_COUNT(tests); i++) {
        ledger l;
        start();
        gnn_context *c = new_cuda(&l);
        GOOD(c, gnn_context_status(c));
        gnn_context_clear_error(c);
        tests[i](c);
        end_context(c, &l);
        CHECK(fake_live() == 0);
    }
    return failed;
}
