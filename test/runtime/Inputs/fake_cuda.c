// See fake_cuda.h.
#include "fake_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEVICES = 2, STACK = 16, KERNELS = 256, NAMES = 64, MOST_PARAMS = 32, MOST_MADE = 1 << 16 };
// of CUresult
enum {
    OUT_OF_MEMORY = 2,
    NO_CONTEXT = 201,
    ILLEGAL_STATE = 401,
    UNSUPPORTED = 900,
    INVALIDATED = 901,
    ERROR = 999
};
struct fake_context {
    int device;
};
typedef struct {
    char name[64];
    fake_kernel fn;   // NULL: the player runs it
    int nparams, declared_shared, dynamic_shared;
} kernel;
typedef struct {
    const kernel *f;
    unsigned grid, block, shared;
    uint64_t slots[MOST_PARAMS];
} node;
typedef struct {
    node *nodes;
    unsigned n;
} graph;
typedef struct {
    graph *captured;   // NULL: it is not captured
    bool spoilt;
} stream;
typedef struct block {
    struct block *before;
    void *start;
    size_t bytes;
    bool written, freed;
} block;
static struct fake_context primary[DEVICES], own[DEVICES];
static int retained[DEVICES];
static fake_context stack[STACK];
static int depth;
static kernel kernels[KERNELS];
static int nkernels;
static int64_t calls, fail_at = -1, live, illegal, bytes_out;
static stream *capturing;   // one at a time
static fake_player player;
static block *blocks;
static size_t limit = SIZE_MAX;
static struct {
    const char *name;
    int64_t count;
} counts[NAMES];
static const char *failed[NAMES];
static void (*begin_copy)(void *);   // NULL: calls fail in no copy
static void *of_copy;
static bool is_copy;
static int64_t good_copies, bad_copies;
static bool speechless;
static int driver_version = 13000;

void fake_register(const char *name, fake_kernel k, int nparams, int declared_shared) {
    kernel *to = &kernels[nkernels++];
    *to = (kernel){.fn = k, .nparams = nparams, .declared_shared = declared_shared};
    strncpy(to->name, name, sizeof to->name - 1);
}

void fake_play(fake_player p) { player = p; }
void fake_driver(int version) { driver_version = version; }
void fake_limit(size_t bytes) { limit = bytes; }

static block *find_block(const void *address) {
    for (block *b = blocks; b; b = b->before)
        if ((uintptr_t)address - (uintptr_t)b->start < b->bytes) return b;
    return NULL;
}

bool fake_memory(const void *address, void **start, size_t *bytes, bool *written) {
    const block *b = find_block(address);
    if (!b || b->freed) return false;
    *start = b->start;
    *bytes = b->bytes;
    *written = b->written;
    return true;
}

static void forget_memory(void) {
    while (blocks) {
        block *b = blocks;
        blocks = b->before;
        free(b->start);
        free(b);
    }
}

static void note_write(uint64_t address) {
    block *b = find_block((const void *)(uintptr_t)address);
    if (b) b->written = true;
}

void fake_forget_kernels(void) { nkernels = 0; }

void fake_forget(void) {
    nkernels = depth = 0;
    player = NULL;
    limit = SIZE_MAX;
    forget_memory();
    calls = live = illegal = bytes_out = 0;
    fail_at = -1;
    capturing = NULL;
    memset(counts, 0, sizeof counts);
    memset(retained, 0, sizeof retained);
}

int64_t fake_calls(const char *name) {
    for (int i = 0; name && i < NAMES; i++)
        if (counts[i].name && !strcmp(counts[i].name, name)) return counts[i].count;
    return name ? 0 : calls;
}

bool fake_failed(const char *name) {
    for (int i = 0; i < NAMES && failed[i]; i++)
        if (!strcmp(failed[i], name)) return true;
    return false;
}

void fake_speechless(int on) { speechless = on; }
void fake_fail_at(int64_t call) { fail_at = call < 0 ? -1 : calls + call; }

int64_t fake_fail_each(void (*begin)(void *), void *user) {
    const int64_t good = bad_copies ? -1 : good_copies;
    begin_copy = begin;
    of_copy = user;
    good_copies = bad_copies = 0;
    return good;
}

void fake_end_copy(int status) {
    if (!is_copy) return;
    fflush(stdout);
    _exit(status);
}

// What came before a call that fails is done once for all such calls.
static bool fails_in_copy(void) {
    int status = 1;
    fflush(stdout);
    const pid_t copy = fork();
    if (!copy) {
        begin_copy(of_copy);
        begin_copy = NULL;
        return is_copy = true;
    }
    if (copy < 0 || waitpid(copy, &status, 0) != copy || status) bad_copies++;
    else good_copies++;
    return false;
}

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

int64_t fake_bytes_out(void) { return bytes_out; }
int64_t fake_illegal(void) { return illegal; }

static bool spoil(void) {
    illegal++;
    capturing->spoilt = true;
    return true;
}

static bool is_forbidden(const char *name) {
    static const char *const legal[] = {
        "cuCtxGetCurrent",  "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2",     "cuLaunchKernel",
        "cuLaunchKernelEx", "cuStreamEndCapture",  "cuStreamBeginCapture_v2"};
    for (unsigned i = 0; capturing && i < sizeof legal / sizeof *legal; i++)
        if (!strcmp(name, legal[i])) return false;
    return capturing && spoil();
}

// By the environment; NULL: nothing.
static const char *told(void) {
    static const char *text;
    static bool asked;
    if (!asked) text = getenv("FAKE_CUDA");
    asked = true;
    return text;
}

static int fault(const char *name) {
    const bool forbidden = is_forbidden(name);
    if (told() && !strcmp(told(), name)) return ERROR;
    for (int i = 0; i < NAMES; i++)
        if (!counts[i].name || !strcmp(counts[i].name, name)) {
            counts[i].name = name;
            counts[i].count++;
            break;
        }
    const bool fails = calls++ == fail_at || (begin_copy && fails_in_copy());
    if (!fails) return forbidden ? UNSUPPORTED : 0;
    int n = 0;
    while (failed[n] && strcmp(failed[n], name)) n++;
    failed[n] = name;
    return ERROR;
}

static const char *error_name(int error) {
    switch (error) {
    case OUT_OF_MEMORY: return "CUDA_ERROR_OUT_OF_MEMORY";
    case NO_CONTEXT: return "CUDA_ERROR_INVALID_CONTEXT";
    case ILLEGAL_STATE: return "CUDA_ERROR_ILLEGAL_STATE";
    case UNSUPPORTED: return "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED";
    case INVALIDATED: return "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED";
    default: return "FAKE_ERROR";
    }
}

static const char *error_text(int error) {
    switch (error) {
    case OUT_OF_MEMORY: return "out of memory";
    case NO_CONTEXT: return "no context";
    case ILLEGAL_STATE: return "not in this state";
    case UNSUPPORTED: return "not while a stream is captured";
    case INVALIDATED: return "the capture was spoilt";
    default: return "made to fail";
    }
}

#define CALL(name, ...)                                                                            \
    int name(__VA_ARGS__);                                                                         \
    int name(__VA_ARGS__)
#define MAY_FAIL                                                                                   \
    do {                                                                                           \
        const int error = fault(__func__);                                                         \
        if (error) return error;                                                                   \
    } while (0)
#define NEEDS_CONTEXT                                                                              \
    MAY_FAIL;                                                                                      \
    if (!depth) return NO_CONTEXT

// clang-format off
CALL(cuGetErrorName, int error, const char **text) { if (speechless) return 1; *text = error_name(error); return 0; }
CALL(cuGetErrorString, int error, const char **text) { if (speechless) return 1; *text = error_text(error); return 0; }
CALL(cuInit, unsigned flags) { MAY_FAIL; return flags ? 1 : 0; }
CALL(cuDriverGetVersion, int *version) { MAY_FAIL; *version = driver_version; return 0; }
CALL(cuDeviceGetCount, int *count) { MAY_FAIL; *count = DEVICES; return 0; }
CALL(cuDeviceGet, int *device, int ordinal) { MAY_FAIL; *device = ordinal; return 0; }
CALL(cuDeviceGetName, char *name, int length, int device) { MAY_FAIL; (void)device; strncpy(name, "Fake GPU", (size_t)length); return 0; }
CALL(cuDeviceTotalMem_v2, size_t *bytes, int device) { MAY_FAIL; (void)device; *bytes = (size_t)80 << 30; return 0; }
// clang-format on

CALL(cuDeviceGetAttribute, int *value, int attribute, int device) {
    MAY_FAIL;
    (void)device;
    *value = attribute == 16   ? 132
             : attribute == 75 ? 9
             : attribute == 76 ? 0
             : attribute == 97 ? 232448
                               : 52428800;
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

// clang-format off
CALL(cuDevicePrimaryCtxRelease_v2, int device) { MAY_FAIL; retained[device]--; live--; return 0; }
CALL(cuCtxGetCurrent, fake_context *c) { MAY_FAIL; *c = fake_current(); return 0; }
CALL(cuCtxGetDevice, int *device) { NEEDS_CONTEXT; *device = fake_current()->device; return 0; }
CALL(cuCtxSynchronize, void) { NEEDS_CONTEXT; return 0; }
CALL(cuCtxPushCurrent_v2, fake_context c) { MAY_FAIL; stack[depth++] = c; return 0; }
CALL(cuCtxPopCurrent_v2, fake_context *c) { *c = stack[--depth]; return 0; }
// clang-format on

// Where a call that fails keeps the runtime from giving something back it is lost, as it is with a
// driver. `live` counts what is; that it can be reached from here keeps a search for leaks from
// counting it again.
static void *made[MOST_MADE];
static unsigned nmade;

static void *object(size_t bytes) { return made[nmade++ % MOST_MADE] = malloc(bytes); }

CALL(cuModuleLoadDataEx, void **module, const char *image, unsigned n, int *options,
     void **values) {
    NEEDS_CONTEXT;
    if (n != 2 || options[0] != 5) return 1;
    if (strcmp(image, "fake") && !(player && strstr(image, ".entry ")) && !told()) {
        strcpy(values[0], "not the image of the fake");
        return 218;
    }
    *module = object(strlen(image) + 1);   // a copy of the text, as a driver makes one
    strcpy(*module, image);
    live++;
    return 0;
}

CALL(cuModuleUnload, void *module) {
    free(module);
    live--;
    NEEDS_CONTEXT;
    return 0;
}

static void do_nothing(void **params, unsigned grid, unsigned block, unsigned shared) {
    (void)params, (void)grid, (void)block, (void)shared;
}

enum { MOST_IDLE = 64 };
static kernel idle[MOST_IDLE];   // with their names, the last so many
static int nidle;
static kernel *idle_kernel(const char *name) {
    kernel *f = &idle[nidle++ % MOST_IDLE];
    *f = (kernel){.fn = do_nothing};
    snprintf(f->name, sizeof f->name, "%s", name);
    return f;
}

static int params_of(const char *entry) {
    const char *end = strchr(entry, ')');
    int n = 0;
    for (const char *at = entry; (at = strstr(at, ".param")) && at < end; at++) n++;
    return n;
}

CALL(cuModuleGetFunction, kernel **f, void *module, const char *name) {
    NEEDS_CONTEXT;
    const char *image = module;
    char entry[80];
    if (told()) {
        *f = idle_kernel(name);
        return 0;
    }
    snprintf(entry, sizeof entry, ".entry %s(", name);
    const char *ptx = strstr(image, entry);
    const bool of_ptx = ptx != NULL;
    for (int i = 0; i < nkernels; i++)
        if (!strcmp(kernels[i].name, name) && of_ptx == !kernels[i].fn) {
            *f = &kernels[i];
            return 0;
        }
    if (!of_ptx) return 500;
    fake_register(name, NULL, params_of(ptx), 0);
    *f = &kernels[nkernels - 1];
    return 0;
}

CALL(cuFuncGetAttribute, int *value, int attribute, const kernel *f) {
    NEEDS_CONTEXT;
    *value = attribute == 1 ? f->declared_shared : 0;
    return 0;
}

CALL(cuFuncSetAttribute, kernel *f, int attribute, int value) {
    NEEDS_CONTEXT;
    if (attribute != 8 || value > 232448) return 1;
    f->dynamic_shared = value;
    return 0;
}

static void run(const kernel *f, void **params, unsigned grid, unsigned block, unsigned shared) {
    if (f->fn) f->fn(params, grid, block, shared);
    else player(f->name, params, grid, block, shared);
}

static void record(graph *g, const kernel *f, void **params, unsigned grid, unsigned block,
                   unsigned shared) {
    g->nodes = realloc(g->nodes, (g->n + 1) * sizeof *g->nodes);
    node *to = &g->nodes[g->n++];
    *to = (node){f, grid, block, shared, {0}};
    for (int i = 0; i < f->nparams; i++) memcpy(&to->slots[i], params[i], sizeof *to->slots);
}

static int launch(const kernel *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                  unsigned bz, unsigned shared, stream *on, void **params, void **extra) {
    if (capturing && !on) spoil();
    if (!gx || gy != 1 || gz != 1 || !bx || by != 1 || bz != 1 || extra ||
        (shared > 49152 && (int)shared > f->dynamic_shared))
        return 1;
    if (told() && !strcmp(told(), "launches"))
        fprintf(stderr, "%s %s\n", on && on->captured ? "capture" : "launch", f->name);
    if (on && on->captured) record(on->captured, f, params, gx, bx, shared);
    else run(f, params, gx, bx, shared);
    return 0;
}

CALL(cuLaunchKernel, const kernel *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
     unsigned by, unsigned bz, unsigned shared, stream *on, void **params, void **extra) {
    NEEDS_CONTEXT;
    return launch(f, gx, gy, gz, bx, by, bz, shared, on, params, extra);
}

typedef struct {   // CUlaunchConfig and CUlaunchAttribute, of cuda.h
    unsigned gx, gy, gz, bx, by, bz, shared;
    stream *on;
    struct {
        int id;
        char pad[8 - sizeof(int)];
        union {
            char pad[64];
            int allowed;
            uint64_t align;
        } value;
    } *attributes;
    unsigned nattributes;
} launch_config;

CALL(cuLaunchKernelEx, const launch_config *l, const kernel *f, void **params, void **extra) {
    enum { PROGRAMMATIC_STREAM_SERIALIZATION = 6 };
    NEEDS_CONTEXT;
    if (l->nattributes != 1 || l->attributes->id != PROGRAMMATIC_STREAM_SERIALIZATION ||
        l->attributes->value.allowed != 1)
        return 1;
    return launch(f, l->gx, l->gy, l->gz, l->bx, l->by, l->bz, l->shared, l->on, params, extra);
}

CALL(cuMemAlloc_v2, uint64_t *address, size_t bytes) {
    NEEDS_CONTEXT;
    if (!bytes || bytes > limit) return OUT_OF_MEMORY;
    block *b = malloc(sizeof *b);
    *b = (block){
        .before = blocks, .start = aligned_alloc(256, (bytes + 255) / 256 * 256), .bytes = bytes};
    memset(b->start, 0xA5, bytes);
    blocks = b;
    *address = (uint64_t)(uintptr_t)b->start;
    live++;
    return 0;
}

CALL(cuMemFree_v2, uint64_t address) {
    block *b = find_block((const void *)(uintptr_t)address);
    if (!b || b->start != (const void *)(uintptr_t)address || b->freed) return 1;
    memset(b->start, 0x5A, b->bytes);   // freed with the others: nobody gets its address again
    b->freed = true;
    live--;
    NEEDS_CONTEXT;
    return 0;
}

CALL(cuMemcpyHtoDAsync_v2, uint64_t device, const void *host, size_t bytes, void *stream) {
    NEEDS_CONTEXT;
    (void)stream;
    note_write(device);
    memcpy((void *)(uintptr_t)device, host, bytes);
    return 0;
}

CALL(cuMemcpyDtoHAsync_v2, void *host, uint64_t device, size_t bytes, void *stream) {
    NEEDS_CONTEXT;
    (void)stream;
    bytes_out += (int64_t)bytes;
    memcpy(host, (const void *)(uintptr_t)device, bytes);
    return 0;
}

CALL(cuMemsetD8Async, uint64_t device, unsigned char byte, size_t bytes, void *stream) {
    NEEDS_CONTEXT;
    (void)stream;
    note_write(device);
    memset((void *)(uintptr_t)device, byte, bytes);
    return 0;
}

static int make(void **out, size_t bytes) {
    *out = memset(object(bytes), 0, bytes);
    live++;
    return 0;
}

static void forget_graph(graph *g) {
    if (!g) return;
    free(g->nodes);
    free(g);
}

static graph *stop_capture(stream *s) {
    graph *g = s->captured;
    *s = (stream){0};
    capturing = NULL;
    return g;
}

// clang-format off
CALL(cuStreamCreate, void **s, unsigned flags) { NEEDS_CONTEXT; return flags == 1 ? make(s, sizeof(stream)) : 1; }
CALL(cuStreamDestroy_v2, stream *s) { if (s->captured) forget_graph(stop_capture(s)); free(s); live--; NEEDS_CONTEXT; return 0; }
CALL(cuStreamSynchronize, stream *s) { NEEDS_CONTEXT; (void)s; return 0; }
CALL(cuEventCreate, void **e, unsigned flags) { NEEDS_CONTEXT; return flags ? 1 : make(e, 1); }
CALL(cuEventDestroy_v2, void *e) { free(e); live--; NEEDS_CONTEXT; return 0; }
CALL(cuEventRecord, void *e, void *s) { NEEDS_CONTEXT; (void)s; return e ? 0 : 1; }
CALL(cuEventSynchronize, void *e) { NEEDS_CONTEXT; return e ? 0 : 1; }
CALL(cuEventElapsedTime, float *milliseconds, void *from, void *to) { NEEDS_CONTEXT; *milliseconds = from && to ? 1.5f : 0; return 0; }
// clang-format on

// ---- Captures -----------------------------------------------------------------------------------
static graph *copied(const graph *g) {
    graph *copy = object(sizeof *copy);
    *copy = (graph){malloc((g->n + 1) * sizeof *g->nodes), g->n};
    if (g->n) memcpy(copy->nodes, g->nodes, g->n * sizeof *g->nodes);
    live++;
    return copy;
}

CALL(cuStreamBeginCapture_v2, stream *s, int mode) {
    NEEDS_CONTEXT;
    if (!s) return UNSUPPORTED;
    if (capturing) return ILLEGAL_STATE;
    if (mode != 1) return 1;   // of the thread alone
    s->captured = object(sizeof *s->captured);
    *s->captured = (graph){0};
    capturing = s;
    return 0;
}

CALL(cuStreamEndCapture, stream *s, graph **g) {
    *g = NULL;
    const bool captured = s->captured != NULL, spoilt = s->spoilt;
    graph *recorded = captured ? stop_capture(s) : NULL;
    const int error = fault(__func__);   // ended all the same
    if (error || !depth || !captured || spoilt) {
        forget_graph(recorded);
        return error ? error : !depth ? NO_CONTEXT : !captured ? ILLEGAL_STATE : INVALIDATED;
    }
    *g = recorded;
    live++;
    return 0;
}

CALL(cuGraphDestroy, graph *g) {
    forget_graph(g);
    live--;
    NEEDS_CONTEXT;
    return 0;
}
// clang-format off
CALL(cuGraphInstantiateWithFlags, graph **replay, const graph *g, uint64_t flags) { NEEDS_CONTEXT; if (flags) return 1; *replay = copied(g); return 0; }
CALL(cuGraphExecDestroy, graph *replay) { forget_graph(replay); live--; NEEDS_CONTEXT; return 0; }

CALL(cuGraphLaunch, const graph *replay, stream *s) {
    NEEDS_CONTEXT;
    (void)s;
    for (unsigned i = 0; i < replay->n; i++) {
        node *n = &replay->nodes[i];
        void *params[MOST_PARAMS];
        for (int k = 0; k < n->f->nparams; k++) params[k] = &n->slots[k];
        run(n->f, params, n->grid, n->block, n->shared);
    }
    // clang-format on
    return 0;
}
