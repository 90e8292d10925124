// How the sanitizers of the fuzzers run. Arenas come and go with each input: freed memory is handed
// out again soon, or most of the time goes into fresh pages. Where a call stack was allocated is
// told by a replay with malloc_context_size=30.
const char *__asan_default_options(void);

const char *__asan_default_options(void) {
    return "quarantine_size_mb=1:malloc_context_size=0:allocator_may_return_null=1";
}
