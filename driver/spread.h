// A loop over many elements, each by itself, on all cores.
#ifndef DRIVER_SPREAD_H
#define DRIVER_SPREAD_H

#include <stdint.h>

// Calls body for pieces that make up 0 to n, on any threads, and returns when all have returned.
void spread(int64_t n, void (*body)(void *user, int64_t first, int64_t last), void *user);

#endif
