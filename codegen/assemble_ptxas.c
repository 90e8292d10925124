// ptxas, as a process. Its input, output and messages are files without names, so nothing is left behind and
// no temporary name reaches the cubin.
#define _GNU_SOURCE   // memfd_create
#include "assemble.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char *executable(const char *path) { return path && *path && !access(path, X_OK) ? path : NULL; }

const char *cg_ptxas_find(arena *a) {
    if (executable(getenv("GNNC_PTXAS"))) return getenv("GNNC_PTXAS");
    const char *found = cg_path_search(a, "ptxas");
    if (found) return found;
    cg_paths paths = {0};
    cg_paths_cuda(a, &paths, "bin/ptxas");
    cg_paths_python(a, &paths, "nvidia/*/bin/ptxas");
    cg_paths_python(a, &paths, "triton/backends/nvidia/bin/ptxas");
    const char *built[] = {"build/ptxas", "build/bin/ptxas"};
    for (uint32_t k = 0; k < sizeof built / sizeof *built; k++) VEC_PUSH(a, &paths, built[k]);
    for (uint32_t k = 0; k < paths.len; k++)
        if (executable(paths.data[k])) return paths.data[k];
    return NULL;
}

// Anonymous files: 0 the PTX, 1 the cubin, 2 what ptxas says. They become the child's standard streams.
typedef struct {
    int fd[3];
} streams;

static bool write_all(int fd, const char *data, size_t size) {
    while (size) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        data += n;
        size -= (size_t)n;
    }
    return lseek(fd, 0, SEEK_SET) == 0;
}

static char *read_all(arena *a, int fd, size_t *size) {
    struct stat st;
    if (fstat(fd, &st) || lseek(fd, 0, SEEK_SET)) return NULL;
    char *data = ARENA_ARRAY(a, char, (size_t)st.st_size + 1);
    size_t have = 0;
    while (have < (size_t)st.st_size) {
        ssize_t n = read(fd, data + have, (size_t)st.st_size - have);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return NULL;
        have += (size_t)n;
    }
    *size = have;
    return data;
}

static bool streams_open(streams *s, const cg_assembly *job) {
    for (uint32_t k = 0; k < 3; k++) s->fd[k] = memfd_create("gnnc", MFD_CLOEXEC);
    return s->fd[0] >= 0 && s->fd[1] >= 0 && s->fd[2] >= 0 && write_all(s->fd[0], job->ptx, job->ptx_size);
}

static void streams_close(streams *s) {
    for (uint32_t k = 0; k < 3; k++)
        if (s->fd[k] >= 0) close(s->fd[k]);
}

// The exit status; -1 where it could not be run.
static int run(const streams *s, const char *path, char *const *argv) {
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions)) return -1;
    pid_t child;
    int status = -1, bad = 0;
    for (int k = 0; k < 3; k++) bad |= posix_spawn_file_actions_adddup2(&actions, s->fd[k], k);
    if (!bad && !posix_spawn(&child, path, &actions, NULL, argv, environ))
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    posix_spawn_file_actions_destroy(&actions);
    return status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool cg_ptxas_assemble(cg_assembly *job, cg_output *out) {
    arena *a = job->arena;
    char *argv[9] = {(char *)(uintptr_t)job->path, arena_printf(a, "-arch=%s", job->arch->name),
                     arena_printf(a, "-O%u", cg_assembler_level(job->options)), arena_strdup(a, "/dev/stdin"),
                     arena_strdup(a, "-o"), arena_strdup(a, "/dev/stdout")};
    uint32_t n = 6;
    if (job->options->line_info) argv[n++] = arena_strdup(a, "-lineinfo");
    if (job->options->verbose_assembler) argv[n++] = arena_strdup(a, "-v");
    streams s;
    size_t log_size = 0;
    bool opened = streams_open(&s, job);
    int status = opened ? run(&s, job->path, argv) : -1;
    const char *log = opened ? read_all(a, s.fd[2], &log_size) : NULL;
    out->data = status == 0 ? read_all(a, s.fd[1], &out->size) : NULL;
    streams_close(&s);
    job->fault = log && log_size ? log : "it could not be run";
    if (log && job->options->verbose_assembler) out->log = log;
    return out->data && out->size;
}
