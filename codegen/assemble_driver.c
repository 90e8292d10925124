// The assembler inside the CUDA driver, for machines that have a GPU and no toolkit.
#include "assemble.h"

#include <dlfcn.h>
#include <string.h>

typedef struct cuda_context *cuda_context;
typedef struct cuda_link *cuda_link;

enum {   // of CUjit_option and CUjitInputType
    JIT_INFO_LOG = 3,
    JIT_INFO_LOG_SIZE = 4,
    JIT_ERROR_LOG = 5,
    JIT_ERROR_LOG_SIZE = 6,
    JIT_LEVEL = 7,
    JIT_TARGET = 9,
    JIT_VERBOSE = 12,
    JIT_LINE_INFO = 13,
    JIT_OPTION_COUNT = 8,
    JIT_INPUT_PTX = 1,
    JIT_ACCELERATED = 0x10000,
    LOG_BYTES = 16384
};

#define DRIVER_FUNCTIONS(X)                                                                        \
    X(init, "cuInit", (unsigned))                                                                  \
    X(device_count, "cuDeviceGetCount", (int *))                                                   \
    X(device_get, "cuDeviceGet", (int *, int))                                                     \
    X(retain, "cuDevicePrimaryCtxRetain", (cuda_context *, int))                                   \
    X(release, "cuDevicePrimaryCtxRelease_v2", (int))                                              \
    X(push, "cuCtxPushCurrent_v2", (cuda_context))                                                 \
    X(pop, "cuCtxPopCurrent_v2", (cuda_context *))                                                 \
    X(link_create, "cuLinkCreate_v2", (unsigned, int *, void **, cuda_link *))                     \
    X(link_add, "cuLinkAddData_v2",                                                                \
      (cuda_link, int, void *, size_t, const char *, unsigned, int *, void **))                    \
    X(link_complete, "cuLinkComplete", (cuda_link, void **, size_t *))                             \
    X(link_destroy, "cuLinkDestroy", (cuda_link))
typedef struct {
    void *library;
#define X(field, name, args) int(*field) args;
    DRIVER_FUNCTIONS(X)
#undef X
} driver;

static bool bind(driver *d, const char *path) {
    d->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!d->library) return false;
    void *f;
    bool all = true;
#define X(field, name, args)                                                                       \
    f = dlsym(d->library, name);                                                                   \
    all = all && f;                                                                                \
    *(void **)&d->field = f;
    DRIVER_FUNCTIONS(X)
#undef X
    int devices = 0;
    all = all && !d->init(0) && !d->device_count(&devices) && devices > 0;
    if (!all) dlclose(d->library);
    return all;
}

const char *cg_driver_find(arena *a) {
    (void)a;
    driver d;
    const char *name = "libcuda.so.1";
    if (!bind(&d, name)) return NULL;
    dlclose(d.library);
    return name;
}

typedef struct {
    int keys[JIT_OPTION_COUNT];
    void *values[JIT_OPTION_COUNT];
    unsigned count;
    char *info, *error;
} jit_options;

static void set(jit_options *o, int key, uintptr_t value) {
    o->keys[o->count] = key;
    o->values[o->count++] = (void *)value;
}

static jit_options options_of(const cg_assembly *job) {
    jit_options o = {.info = ARENA_ARRAY(job->arena, char, LOG_BYTES),
                     .error = ARENA_ARRAY(job->arena, char, LOG_BYTES)};
    uint32_t level = cg_assembler_level(job->options);
    set(&o, JIT_TARGET, job->arch->sm + (gpu_arch_alone(job->arch) ? JIT_ACCELERATED : 0));
    set(&o, JIT_LEVEL, level < 3 ? level : 4);
    set(&o, JIT_INFO_LOG, (uintptr_t)o.info);
    set(&o, JIT_INFO_LOG_SIZE, LOG_BYTES - 1);
    set(&o, JIT_ERROR_LOG, (uintptr_t)o.error);
    set(&o, JIT_ERROR_LOG_SIZE, LOG_BYTES - 1);
    if (job->options->line_info) set(&o, JIT_LINE_INFO, 1);
    if (job->options->verbose_assembler) set(&o, JIT_VERBOSE, 1);
    return o;
}

static bool link(cg_assembly *job, const driver *d, cg_output *out) {
    jit_options o = options_of(job);
    cuda_link link;
    void *cubin = NULL, *ptx = (void *)(uintptr_t)job->ptx;
    if (d->link_create(o.count, o.keys, o.values, &link)) return false;
    bool ok = !d->link_add(link, JIT_INPUT_PTX, ptx, job->ptx_size + 1, "gnnc", 0, NULL, NULL) &&
              !d->link_complete(link, &cubin, &out->size);
    if (ok) out->data = arena_strndup(job->arena, cubin, out->size);   // before link_destroy
    else if (*o.error) job->fault = o.error;
    if (ok && job->options->verbose_assembler) out->log = o.info;
    d->link_destroy(link);
    return ok;
}

bool cg_driver_assemble(cg_assembly *job, cg_output *out) {
    driver d;
    cuda_context context;
    int device;
    job->fault = "the driver cannot be used";
    if (!bind(&d, job->path)) return false;
    bool retained = !d.device_get(&device, 0) && !d.retain(&context, device);
    bool pushed = retained && !d.push(context);
    bool ok = pushed && link(job, &d, out);
    if (pushed) d.pop(&context);
    if (retained) d.release(device);
    dlclose(d.library);
    return ok;
}
