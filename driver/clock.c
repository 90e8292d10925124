// A clock that only goes on.
#define _POSIX_C_SOURCE 200809L
#include "clock.h"

#include <time.h>

int64_t clock_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

double clock_ms(void) { return (double)clock_ns() / 1e6; }
