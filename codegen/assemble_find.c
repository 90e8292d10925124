// Where CUDA's tools lie: $CUDA_HOME and $CUDA_PATH, /usr/local/cuda*, and the packages of whatever
// Python is about.
#include "assemble.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add_matches(arena *a, cg_paths *out, const char *pattern) {
    glob_t g;
    int status = glob(pattern, 0, NULL, &g);
    if (status == GLOB_NOSPACE) out_of_memory(0);
    if (!status)   // sorted, so the order does not depend on the file system
        for (size_t k = 0; k < g.gl_pathc; k++) VEC_PUSH(a, out, arena_strdup(a, g.gl_pathv[k]));
    globfree(&g);
}

static void add_under_variable(arena *a, cg_paths *out, const char *variable, const char *tail) {
    const char *root = getenv(variable);
    if (root && *root) add_matches(a, out, arena_printf(a, "%s/%s", root, tail));
}

void cg_paths_cuda(arena *a, cg_paths *out, const char *tail) {
    add_under_variable(a, out, "CUDA_HOME", tail);
    add_under_variable(a, out, "CUDA_PATH", tail);
    add_matches(a, out, arena_printf(a, "/usr/local/cuda/%s", tail));
    add_matches(a, out, arena_printf(a, "/usr/local/cuda-[0-9]*/%s", tail));
    add_matches(a, out, arena_printf(a, "/opt/cuda/%s", tail));
}

void cg_paths_python(arena *a, cg_paths *out, const char *tail) {
    const char *site = arena_printf(a, "lib/python3*/site-packages/%s", tail);
    add_under_variable(a, out, "VIRTUAL_ENV", site);
    add_under_variable(a, out, "CONDA_PREFIX", site);
    const char *python = cg_path_search(a, "python3");
    char *real = python ? realpath(python, NULL) : NULL;
    char *bin = real ? strstr(real, "/bin/") : NULL;
    if (bin) add_matches(a, out, arena_printf(a, "%.*s/%s", (int)(bin - real), real, site));
    free(real);
    add_under_variable(a, out, "HOME", arena_printf(a, ".local/%s", site));
    add_under_variable(a, out, "HOME", arena_printf(a, ".pyenv/versions/*/%s", site));
    add_matches(a, out, arena_printf(a, "/usr/local/lib/python3*/*-packages/%s", tail));
    add_matches(a, out, arena_printf(a, "/usr/lib/python3*/*-packages/%s", tail));
}

const char *cg_path_search(arena *a, const char *name) {
    const char *path = getenv("PATH");
    for (const char *p = path ? path : ""; *p;) {
        size_t n = strcspn(p, ":");
        const char *full = arena_printf(a, "%.*s/%s", (int)n, p, name);
        if (n && !access(full, X_OK)) return full;
        p += n + (p[n] == ':');
    }
    return NULL;
}
