// Device memory of plans is kept for the next ones: which blocks are taken again, and when.
#include "Inputs/cuda_session.h"

static gnn_stream stream_of(int n) { return (gnn_stream)(uintptr_t)n; }

static void *take(gnn_context *c, size_t bytes, int stream) {
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
    void *a = take(c, 1000, 1);
    const int64_t had = allocations();
    give(c, a, 1);
    CHECK(take(c, 900, 1) == a && waits() == 0);
    give(c, a, 1);
    CHECK(take(c, 1000, 2) == a && waits() == 1);
    give(c, a, 0);
    CHECK(take(c, 1000, 1) == a && waits() == 2);
    give(c, a, 1);
    rt_gpu_memory_quiet(c, stream_of(2), false);
    CHECK(take(c, 1000, 2) == a && waits() == 3);
    give(c, a, 1);
    rt_gpu_memory_quiet(c, stream_of(1), false);
    CHECK(take(c, 1000, 2) == a && waits() == 3);
    CHECK(allocations() == had && frees() == 0);
    give(c, a, 1);
}

// The smallest that is large enough, none that is more than twice as large, and never one in use.
static void by_size(gnn_context *c) {
    void *small = take(c, 100 << 10, 1), *large = take(c, 150 << 10, 1);
    CHECK(take(c, 0, 1) == NULL);
    give(c, large, 1);
    give(c, small, 1);
    const int64_t had = allocations();
    CHECK(take(c, 99 << 10, 1) == small);
    CHECK(take(c, 101 << 10, 1) == large);
    void *other = take(c, 100 << 10, 1);
    CHECK(other != small && other != large && allocations() == had + 1);
    give(c, small, 1);
    void *tiny = take(c, 1 << 10, 1);
    CHECK(tiny != small);
    give(c, tiny, 1);
    give(c, large, 1);
    give(c, other, 1);
    give(c, NULL, 1);
    give(c, c, 1);   // memory that is none of ours
}

// More than 64 MiB are not kept, and what is short goes back to the driver first.
static void bounds(gnn_context *c) {
    const int64_t freed = frees(), waited = waits();
    void *a = take(c, (size_t)65 << 20, 1);
    give(c, a, 0);
    CHECK(frees() == freed + 1 && waits() == waited + 1);
    a = take(c, 1 << 20, 1);
    give(c, a, 1);
    fake_limit(100);
    void *none = c;
    EXPECT(c, rt_gpu_memory_take(c, (size_t)8 << 20, NULL, &none), NO_MEMORY,
           "out of device memory: 8388608 bytes asked for");
    CHECK(!none && frees() > freed + 1);
    fake_limit(SIZE_MAX);
}

// A wait that fails is told, and the block stays.
static void failing(gnn_context *c) {
    void *a = take(c, 1000, 1), *b = c;
    give(c, a, 0);
    fake_fail_at(2);   // behind the question which context is current, and ours made so
    EXPECT(c, rt_gpu_memory_take(c, 1000, NULL, &b), CUDA,
           "CUDA driver, CtxSynchronize: FAKE_ERROR (made to fail)");
    fake_fail_at(-1);
    CHECK(!b && take(c, 1000, 1) == a);
    give(c, a, 1);
}

int main(void) {
    static void (*const tests[])(gnn_context *) = {by_stream, by_size, bounds, failing};
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
