// How far something is that takes long, where somebody looks: on a terminal alone.
#ifndef DRIVER_PROGRESS_H
#define DRIVER_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct progress {
    const char *doing, *name;   // "checking", "spmm"
    double began, told;         // ms; told: 0 before the first time
    int length;                 // of the longest line so far
    bool shown;
} progress;

progress progress_begin(const char *doing, const char *name);
void progress_tell(void *p, double part);   // of a progress, by one thread
// The same where what there is to do has parts with names: "[7/19] gat_f32 sm_90a" as the seventh
// is begun, which is number 6.
void progress_step(progress *p, uint32_t number, uint32_t of, const char *part);
void progress_end(const progress *p);   // takes the line away

#endif
