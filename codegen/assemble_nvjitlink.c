// nvJitLink: the toolkit's assembler as a library. Its functions carry the version in their names
// (__nvJitLinkCreate_12_4); newer libraries also export the plain ones.
#include "assemble.h"

#include <dlfcn.h>

typedef struct nvjitlink *nvjitlink_handle;
enum { NVJITLINK_INPUT_PTX = 2 };

#define NVJITLINK_FUNCTIONS(X)                                                                     \
    X(create, "Create", (nvjitlink_handle *, uint32_t, const char **))                             \
    X(destroy, "Destroy", (nvjitlink_handle *))                                                    \
    X(add_data, "AddData", (nvjitlink_handle, int, const void *, size_t, const char *))            \
    X(complete, "Complete", (nvjitlink_handle))                                                    \
    X(cubin_size, "GetLinkedCubinSize", (nvjitlink_handle, size_t *))                              \
    X(cubin, "GetLinkedCubin", (nvjitlink_handle, void *))                                         \
    X(error_size, "GetErrorLogSize", (nvjitlink_handle, size_t *))                                 \
    X(error, "GetErrorLog", (nvjitlink_handle, char *))                                            \
    X(info_size, "GetInfoLogSize", (nvjitlink_handle, size_t *))                                   \
    X(info, "GetInfoLog", (nvjitlink_handle, char *))
typedef struct {
    void *library;
#define X(field, name, args) int(*field) args;
    NVJITLINK_FUNCTIONS(X)
#undef X
} nvjitlink;

static void *versioned(arena *a, void *library, const char *name) {
    static const struct {
        int major, newest;
    } versions[] = {{13, 9}, {12, 9}};
    void *f = dlsym(library, arena_printf(a, "nvJitLink%s", name));
    for (uint32_t v = 0; v < sizeof versions / sizeof *versions; v++)
        for (int minor = versions[v].newest; !f && minor >= 0; minor--)
            f = dlsym(library,
                      arena_printf(a, "__nvJitLink%s_%d_%d", name, versions[v].major, minor));
    return f;
}

// It keeps memory it took at its first use, so it stays loaded.
static bool bind(arena *a, nvjitlink *n, const char *path) {
    n->library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!n->library) return false;
    void *f;
    bool all = true;
#define X(field, name, args)                                                                       \
    f = versioned(a, n->library, name);                                                            \
    all = all && f;                                                                                \
    *(void **)&n->field = f;
    NVJITLINK_FUNCTIONS(X)
#undef X
    if (!all) dlclose(n->library);
    return all;
}

static const char *loadable(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library) dlclose(library);
    return library ? path : NULL;
}

const char *cg_nvjitlink_find(arena *a) {
    cg_paths paths = {0};
    const char *names[] = {"libnvJitLink.so.13", "libnvJitLink.so.12", "libnvJitLink.so"};
    for (uint32_t k = 0; k < sizeof names / sizeof *names; k++) VEC_PUSH(a, &paths, names[k]);
    cg_paths_cuda(a, &paths, "lib64/libnvJitLink.so*");
    cg_paths_python(a, &paths, "nvidia/*/lib/libnvJitLink.so*");
    for (uint32_t k = 0; k < paths.len; k++)
        if (loadable(paths.data[k])) return paths.data[k];
    return NULL;
}

static const char *log_text(arena *a, nvjitlink_handle h,
                            int (*size_of)(nvjitlink_handle, size_t *),
                            int (*text_of)(nvjitlink_handle, char *)) {
    size_t size = 0;
    if (size_of(h, &size) || !size) return "";
    char *text = ARENA_ARRAY(a, char, size + 1);
    return text_of(h, text) ? "" : text;
}

static bool link(cg_assembly *job, const nvjitlink *n, nvjitlink_handle h, cg_output *out) {
    arena *a = job->arena;
    // The size of PTX counts its terminating zero.
    bool ok = !n->add_data(h, NVJITLINK_INPUT_PTX, job->ptx, job->ptx_size + 1, "gnnc") &&
              !n->complete(h);
    ok = ok && !n->cubin_size(h, &out->size);
    char *cubin = ok ? ARENA_ARRAY(a, char, out->size + 1) : NULL;
    ok = ok && !n->cubin(h, cubin);
    out->data = cubin;
    if (!ok) job->fault = log_text(a, h, n->error_size, n->error);
    else if (job->options->verbose_assembler) out->log = log_text(a, h, n->info_size, n->info);
    return ok;
}

bool cg_nvjitlink_assemble(cg_assembly *job, cg_output *out) {
    nvjitlink n;
    job->fault = "it lacks functions that are needed, or cannot be loaded";
    if (!bind(job->arena, &n, job->path)) return false;
    const char *options[5] = {arena_printf(job->arena, "-arch=%s", job->arch->name),
                              arena_printf(job->arena, "-O%u", cg_assembler_level(job->options))};
    uint32_t count = 2;
    if (job->options->line_info) options[count++] = "-lineinfo";
    if (job->options->verbose_assembler) {
        options[count++] = "-verbose";
        options[count++] = "-Xptxas=-v";
    }
    nvjitlink_handle h = NULL;
    job->fault = "it does not know the architecture or an option";
    bool ok = !n.create(&h, count, options) && link(job, &n, h, out);
    if (h) n.destroy(&h);
    dlclose(n.library);
    return ok;
}
