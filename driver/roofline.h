// A drawing of what ops reach of a machine: float operations a second over float operations a byte,
// a dot an op, a line for each thing that bounds them.
#ifndef DRIVER_ROOFLINE_H
#define DRIVER_ROOFLINE_H

#include "driver.h"

typedef struct {
    const char *name, *what;   // "spmm_f32"; what it ran on
    double bytes, flops;       // that it must move and compute
    double seconds;
} roofline_dot;
typedef VEC(roofline_dot) roofline_dots;
typedef struct {
    const char *title;
    const cost_machine *machine;   // NULL: none is known
    double bandwidth;              // bytes a second of its memory; 0: of that machine
} roofline_of;
void roofline_add(driver *d, const char *path, const roofline_of *of, const roofline_dots *dots);

#endif
