// See fake_cuda.h.
#include "fake_cuda.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 2, STACK = 16, KERNELS = 8, NAMES = 64, ERROR = 999 };
struct fake_context {
    int device;
};
typedef struct {
    const char *name;
    fake_kernel fn;
    int declared_shared, dynamic_shared;
} kernel;
static struct fake_context primary[DEVICES], own[DEVICES];
static int retained[DEVICES];
static fake_context stack[STACK];
static int depth;
static kernel kernels[KERNELS];
static int nkernels;
static int64_t calls, fail_at = -1, live, illegal;
static bool capturing;
static struct {
    const char *name;
    int64_t count;
} counts[NAMES];

void fake_register(const char *name, fake_kernel k, int declared_shared) {
    kernels[nkernels++] = (kernel){name, k, declared_shared, 0};
}

void fake_forget(void) {
    nkernels = depth = 0;
    calls = live = illegal = 0;
    fail_at = -1;
    capturing = false;
    memset(counts, 0, sizeof counts);
    memset(retained, 0, sizeof retained);
}

int64_t fake_calls(const char *name) {
    for (int i = 0; name && i < NAMES; i++)
        if (counts[i].name && !strcmp(counts[i].name, name))
            return counts[i].count;
    return name ? 0 : calls;
}

void fake_fail_at(int64_t call) { fail_at = call < 0 ? -1 : calls + call; }
int64_t fake_live(void) { return live; }
int fake_retained(int device) { return retained[device]; }
fake_context fake_current(void) { return depth ? stack[depth - 1] : NULL; }
int fake_depth(void) { return depth; }

fake_context fake_make_current(int device) {
    depth = device >= 0;
    if (depth) {
        own[device].device = device;
        stack[0] = &own[device];
    }
    return fake_current();
}

void fake_capture(int on) { capturing = on; }
int64_t fake_illegal(void) { return illegal; }

// CUDA's rules: what synchronises or allocates may not be called, nor may work go to the default stream.
static void note_capture(const char *name) {
    static const char *const legal[] = {"cuCtxGetCurrent", "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2", "cuLaunchKernel"};
    bool good = !capturing;
    for (unsigned i = 0; i < sizeof legal / sizeof *legal; i++)
        good |= !strcmp(name, legal[i]);
    illegal += !good;
}

static bool fails(const char *name) {
    note_capture(name);
    for (int i = 0; i < NAMES; i++)
        if (!counts[i].name || !strcmp(counts[i].name, name)) {
            counts[i].name = name;
            counts[i].count++;
            break;
        }
    return calls++ == fail_at;
}

#define CALL(name, ...)               \
    int name(__VA_ARGS__);            \
    int name(__VA_ARGS__)
#define MAY_FAIL if (fails(__func__)) return ERROR
#define NEEDS_CONTEXT MAY_FAIL; if (!depth) return 201

CALL(cuGetErrorName, int error, const char **text) { *text = error == 201 ? "CUDA_ERROR_INVALID_CONTEXT" : "FAKE_ERROR"; return 0; }
CALL(cuGetErrorString, int error, const char **text) { *text = error == 201 ? "no context" : "made to fail"; return 0; }
CALL(cuInit, unsigned flags) { MAY_FAIL; return flags ? 1 : 0; }
CALL(cuDriverGetVersion, int *version) { MAY_FAIL; *version = 13000; return 0; }
CALL(cuDeviceGetCount, int *count) { MAY_FAIL; *count = DEVICES; return 0; }
CALL(cuDeviceGet, int *device, int ordinal) { MAY_FAIL; *device = ordinal; return 0; }
CALL(cuDeviceGetName, char *name, int length, int device) { MAY_FAIL; (void)device; strncpy(name, "Fake GPU", (size_t)length); return 0; }
CALL(cuDeviceTotalMem_v2, size_t *bytes, int device) { MAY_FAIL; (void)device; *bytes = (size_t)80 << 30; return 0; }

CALL(cuDeviceGetAttribute, int *value, int attribute, int device) {
    MAY_FAIL;
    (void)device;
    *value = attribute == 16 ? 132 : attribute == 75 ? 9 : attribute == 76 ? 0 : attribute == 97 ? 232448 : 52428800;
    return 0;
}

CALL(cuDevicePrimaryCtxRetain, fake_context *c, int device) {
    MAY_FAIL;
    primary[device].device = device;
    *c = &primary[device];
    retained[device]++;
    live++;
    return 0;
}

CALL(cuDevicePrimaryCtxRelease_v2, int device) { MAY_FAIL; retained[device]--; live--; return 0; }
CALL(cuCtxGetCurrent, fake_context *c) { MAY_FAIL; *c = fake_current(); return 0; }
CALL(cuCtxGetDevice, int *device) { NEEDS_CONTEXT; *device = fake_current()->device; return 0; }
CALL(cuCtxPushCurrent_v2, fake_context c) { MAY_FAIL; stack[depth++] = c; return 0; }
CALL(cuCtxPopCurrent_v2, fake_context *c) { *c = stack[--depth]; return 0; }

CALL(cuModuleLoadDataEx, void **module, const char *image, unsigned n, int *options, void **values) {
    NEEDS_CONTEXT;
    if (n != 2 || options[0] != 5)
        return 1;
    if (strcmp(image, "fake")) {
        strcpy(values[0], "not the image of the fake");
        return 218;
    }
    *module = malloc(1);
    live++;
    return 0;
}

CALL(cuModuleUnload, void *module) { free(module); live--; NEEDS_CONTEXT; return 0; }

CALL(cuModuleGetFunction, kernel **f, void *module, const char *name) {
    NEEDS_CONTEXT;
    (void)module;
    for (int i = 0; i < nkernels; i++)
        if (!strcmp(kernels[i].name, name)) {
            *f = &kernels[i];
            return 0;
        }
    return 500;
}

CALL(cuFuncGetAttribute, int *value, int attribute, const kernel *f) {
    NEEDS_CONTEXT;
    *value = attribute == 1 ? f->declared_shared : 0;
    return 0;
}

CALL(cuFuncSetAttribute, kernel *f, int attribute, int value) {
    NEEDS_CONTEXT;
    if (attribute != 8 || value > 232448)
        return 1;
    f->dynamic_shared = value;
    return 0;
}

CALL(cuLaunchKernel, const kernel *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
     unsigned shared, void *stream, void **params, void **extra) {
    NEEDS_CONTEXT;
    illegal += capturing && !stream;
    if (!gx || gy != 1 || gz != 1 || !bx || by != 1 || bz != 1 || extra || (shared > 49152 && (int)shared > f->dynamic_shared))
        return 1;
    f->fn(params, gx, bx, shared);
    return 0;
}

CALL(cuMemAlloc_v2, uint64_t *address, size_t bytes) {
    NEEDS_CONTEXT;
    void *memory = bytes ? aligned_alloc(256, (bytes + 255) / 256 * 256) : NULL;
    *address = (uint64_t)(uintptr_t)memory;
    live += memory != NULL;
    return memory ? 0 : 2;
}

CALL(cuMemFree_v2, uint64_t address) { free((void *)(uintptr_t)address); live--; NEEDS_CONTEXT; return 0; }

CALL(cuMemcpyHtoDAsync_v2, uint64_t device, const void *host, size_t bytes, void *stream) {
    NEEDS_CONTEXT;
    (void)stream;
    memcpy((void *)(uintptr_t)device, host, bytes);
    return 0;
}

CALL(cuMemcpyDtoHAsync_v2, void *host, uint64_t device, size_t bytes, void *stream) {
    NEEDS_CONTEXT;
    (void)stream;
    memcpy(host, (const void *)(uintptr_t)device, bytes);
    return 0;
}

CALL(cuMemsetD8Async, uint64_t device, unsigned char byte, size_t bytes, void *stream) {
    NEEDS_CONTEXT;
    (void)stream;
    memset((void *)(uintptr_t)device, byte, bytes);
    return 0;
}

static int make(void **out) {
    *out = malloc(1);
    live++;
    return 0;
}

CALL(cuStreamCreate, void **s, unsigned flags) { NEEDS_CONTEXT; return flags == 1 ? make(s) : 1; }
CALL(cuStreamDestroy_v2, void *s) { free(s); live--; NEEDS_CONTEXT; return 0; }
CALL(cuStreamSynchronize, void *s) { NEEDS_CONTEXT; (void)s; return 0; }
CALL(cuEventCreate, void **e, unsigned flags) { NEEDS_CONTEXT; return flags ? 1 : make(e); }
CALL(cuEventDestroy_v2, void *e) { free(e); live--; NEEDS_CONTEXT; return 0; }
CALL(cuEventRecord, void *e, void *s) { NEEDS_CONTEXT; (void)s; return e ? 0 : 1; }
CALL(cuEventSynchronize, void *e) { NEEDS_CONTEXT; return e ? 0 : 1; }
CALL(cuEventElapsedTime, float *milliseconds, void *from, void *to) { NEEDS_CONTEXT; *milliseconds = from && to ? 1.5f : 0; return 0; }
