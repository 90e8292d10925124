// The runtime's own kernels on the fake driver: the simulator plays the GPU, with what the fake
// knows of its memory.
#ifndef PLAY_CUDA_H
#define PLAY_CUDA_H

#include <stdint.h>

void play_begin(uint64_t seed);   // after fake_forget
// prints the faults of all kernels since, and says how many there are
uint32_t play_end(void);

#endif
