// GPUs that code is made for, and the features by which one asks what they have: rows of
// targets.def.
//
//     if (gpu_has(target->arch, GPU_DEPENDENT_LAUNCH)) …
#ifndef GNNC_GPU_H
#define GNNC_GPU_H

#include <stdbool.h>
#include <stdint.h>

#define FAMILY(id, of, has)
#define ARCH(name, family, sm, ptx, threads, blocks, shared_kib)
typedef enum {
#define FEATURE(id, text, summary) GPU_##id,
#include "targets.def"
    GPU_FEATURE_COUNT
} gpu_feature;

typedef struct {
    const char *name;           // "sm_90a"
    uint32_t sm;                // 90
    uint32_t ptx;               // PTX version × 10
    uint32_t threads, blocks;   // that a multiprocessor has room for
    uint32_t shared_bytes;      // that it has
    uint32_t features;          // a bit each
} gpu_arch;
#define GPU_DEFAULT "sm_90"   // where nobody names one

const gpu_arch *gpu_arch_at(uint32_t index);       // NULL past the last: for --print-targets
const gpu_arch *gpu_arch_find(const char *name);   // NULL if there is none
// sm_90a: no later architecture runs its code
bool gpu_arch_alone(const gpu_arch *a);
bool gpu_has(const gpu_arch *a, gpu_feature f);              // of NULL, the host or any GPU: false
const gpu_arch *gpu_since(gpu_feature f);                    // the first that has it
bool gpu_feature_find(const char *text, gpu_feature *out);   // by its word; false: there is none

#endif
