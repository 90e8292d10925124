// Work on threads.
#define _GNU_SOURCE   // sched_getaffinity
#include "compile.h"

#include <sched.h>
#include <signal.h>
#include <threads.h>

enum { SIGNAL_STACK = 64 * 1024, MOST_THREADS = 256 };

typedef struct {
    void (*work)(void *of);
    void *of;
} share;

// The process's handlers of faults run on a stack of their own, which each thread has to bring.
static int worker(void *argument) {
    const share *s = argument;
    arena *a = arena_new();
    stack_t own = {.ss_sp = arena_alloc(a, SIGNAL_STACK), .ss_size = SIGNAL_STACK}, before;
    bool set = !sigaltstack(&own, &before);
    s->work(s->of);
    if (set) sigaltstack(&before, NULL);
    arena_free(a);
    return 0;
}

uint32_t cg_processors(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) ? 1 : (uint32_t)CPU_COUNT(&set);
}

void cg_together(uint32_t most, void (*work)(void *of), void *of) {
    share s = {work, of};
    thrd_t threads[MOST_THREADS];
    uint32_t started = 0;
    const uint32_t here = cg_processors();
    if (most > here) most = here;
    while (started + 1 < most && started < MOST_THREADS &&
           thrd_create(&threads[started], worker, &s) == thrd_success)
        started++;
    work(of);
    for (uint32_t k = 0; k < started; k++) thrd_join(threads[k], NULL);
}
