// The GPUs that code is made for, and what each has: targets.def. LLVM is not needed here.
#include "gpu.h"

#include <string.h>

#define HAS(id) (1u << GPU_##id)
enum {   // the features of each family
    NO_FAMILY = 0,
#define FEATURE(id, text, summary)
#define FAMILY(id, of, has) id = (of) | has,
#define ARCH(name, family, sm, ptx, threads, blocks, shared_kib)
#include "targets.def"
};

static const gpu_arch archs[] = {
#define FEATURE(id, text, summary)
#define FAMILY(id, of, has)
#define ARCH(name, family, sm, ptx, threads, blocks, shared_kib)                                   \
    {name, sm, ptx, threads, blocks, 1024 * shared_kib, family},
#include "targets.def"
};
enum { ARCH_COUNT = sizeof archs / sizeof *archs };

static const char *const features[GPU_FEATURE_COUNT] = {
#define FEATURE(id, text, summary) text,
#define FAMILY(id, of, has)
#define ARCH(name, family, sm, ptx, threads, blocks, shared_kib)
#include "targets.def"
};

const gpu_arch *gpu_arch_at(uint32_t index) { return index < ARCH_COUNT ? &archs[index] : NULL; }

const gpu_arch *gpu_arch_find(const char *name) {
    for (uint32_t k = 0; k < ARCH_COUNT; k++)
        if (!strcmp(archs[k].name, name)) return &archs[k];
    return NULL;
}

bool gpu_arch_alone(const gpu_arch *a) { return a->name[strlen(a->name) - 1] == 'a'; }

bool gpu_has(const gpu_arch *a, gpu_feature f) { return a && a->features & 1u << f; }

const gpu_arch *gpu_since(gpu_feature f) {
    const gpu_arch *a = archs;
    while (a < archs + ARCH_COUNT - 1 && !gpu_has(a, f)) a++;
    return a;
}

bool gpu_feature_find(const char *text, gpu_feature *out) {
    for (*out = 0; *out < GPU_FEATURE_COUNT; ++*out)
        if (!strcmp(features[*out], text)) return true;
    return false;
}
