// ptxas, as a process. Its output and messages are files without names, so nothing is left behind
// and no temporary name reaches the cubin. Its input is a pipe: the process is started before there
// is PTX, and takes a sixth of its time to come so far that it wants some. (It cannot read a pipe
// twice, so the cubin lacks the PTX's own text, which it would add to line info.)
#define _GNU_SOURCE   // memfd_create
#include "assemble.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *executable(const char *path) {
    return path && *path && !access(path, X_OK) ? path : NULL;
}

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

struct cg_ptxas {
    pid_t child;
    int input, output, log;   // we write the first and read the others when it has ended
};

// ---- Starting it --------------------------------------------------------------------------------
// False where it could not be run. Streams: of the child, by number.
static bool spawn(cg_ptxas *p, const char *path, char *const *argv, const int *streams) {
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions)) return false;
    int bad = 0;
    for (int k = 0; k < 3; k++) bad |= posix_spawn_file_actions_adddup2(&actions, streams[k], k);
    bad = bad || posix_spawn(&p->child, path, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return !bad;
}

static void close_all(const cg_ptxas *p) {
    if (p->input >= 0) close(p->input);
    if (p->output >= 0) close(p->output);
    if (p->log >= 0) close(p->log);
}

static bool write_all(int fd, const char *data, size_t size) {
    while (size) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        data += n;
        size -= (size_t)n;
    }
    return true;
}

// The two ends of the child's input: a pipe; or a file that holds all of it, which has no end to
// write to.
static bool open_input(const cg_assembly *job, bool piped, int *ends) {
    if (piped) return !pipe2(ends, O_CLOEXEC);
    ends[0] = memfd_create("gnnc", MFD_CLOEXEC);
    if (ends[0] < 0) return false;
    if (write_all(ends[0], job->ptx, job->ptx_size) && !lseek(ends[0], 0, SEEK_SET)) return true;
    close(ends[0]);
    return false;
}

static cg_ptxas *start(const cg_assembly *job, bool piped) {
    arena *a = job->arena;
    char *argv[10] = {(char *)(uintptr_t)job->path,
                      arena_printf(a, "-arch=%s", job->arch->name),
                      arena_printf(a, "-O%u", cg_assembler_level(job->options)),
                      arena_strdup(a, "/dev/stdin"),
                      arena_strdup(a, "-o"),
                      arena_strdup(a, "/dev/stdout")};
    uint32_t n = 6;
    if (job->options->line_info) argv[n++] = arena_strdup(a, "-lineinfo");
    if (job->options->verbose_assembler) argv[n++] = arena_strdup(a, "-v");
    if (piped && job->several) argv[n++] = arena_strdup(a, "--split-compile=0");
    cg_ptxas *p = ARENA_NEW(a, cg_ptxas);
    int ends[2] = {-1, -1};
    if (!open_input(job, piped, ends)) return NULL;
    *p = (cg_ptxas){.input = ends[1],
                    .output = memfd_create("gnnc", MFD_CLOEXEC),
                    .log = memfd_create("gnnc", MFD_CLOEXEC)};
    bool ok = p->output >= 0 && p->log >= 0 &&
              spawn(p, job->path, argv, (int[]){ends[0], p->output, p->log});
    close(ends[0]);
    if (ok) return p;
    close_all(p);
    return NULL;
}

cg_ptxas *cg_ptxas_start(const cg_assembly *job) { return start(job, true); }

// ---- Feeding it ---------------------------------------------------------------------------------
// A ptxas that ends before it has read all must not end us by a signal.
static void feed(cg_ptxas *p, const char *data, size_t size) {
    sigset_t pipe, before;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    bool broken = !write_all(p->input, data, size) && errno == EPIPE;
    if (broken) sigtimedwait(&pipe, NULL, &(struct timespec){0});
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(p->input);
    p->input = -1;
}

// The exit status; -1 where it did not come to one.
static int wait_for(const cg_ptxas *p) {
    int status = -1;
    while (waitpid(p->child, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void cg_ptxas_kill(cg_ptxas *p) {
    kill(p->child, SIGKILL);
    wait_for(p);
    close_all(p);
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

static bool finish(cg_assembly *job, cg_ptxas *p, cg_output *out) {
    job->fault = "it could not be run";
    if (!p) return false;
    if (p->input >= 0) feed(p, job->ptx, job->ptx_size);
    bool ok = !wait_for(p);
    size_t log_size = 0;
    const char *log = read_all(job->arena, p->log, &log_size);
    out->data = ok ? read_all(job->arena, p->output, &out->size) : NULL;
    close_all(p);
    if (log && log_size) job->fault = log;
    if (log && job->options->verbose_assembler) out->log = log;
    return out->data && out->size;
}

// An older ptxas may not know how to split its work, or not take a pipe, so one that fails is asked
// again without.
bool cg_ptxas_assemble(cg_assembly *job, cg_output *out) {
    if (finish(job, job->early ? job->early : cg_ptxas_start(job), out)) return true;
    return finish(job, start(job, false), out);
}
