// How far something is that takes long, where somebody looks: on a terminal alone.
#ifndef DRIVER_PROGRESS_H
#define DRIVER_PROGRESS_H

#include <stdbool.h>

typedef struct {
    const char *doing, *name;   // "checking", "spmm"
    double began, told;         // ms; told: 0 before the first time
    bool shown;
} progress;

progress progress_begin(const char *doing, const char *name);
void progress_tell(void *p, double part);   // of a progress, by one thread
void progress_end(const progress *p);       // takes the line away

#endif
