// A clock that only goes on: differences of what it says are times.
#ifndef DRIVER_CLOCK_H
#define DRIVER_CLOCK_H

#include <stdint.h>

int64_t clock_ns(void);
double clock_ms(void);

#endif
