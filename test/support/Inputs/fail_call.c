// See fail_call.h.
#define _GNU_SOURCE
#define _LARGEFILE64_SOURCE
#include "fail_call.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

static struct {
    char names[400];   // ",open,read,"
    int64_t number;
    int error;
    bool on;
    int log;
} asked = {.log = -1};
static struct {
    atomic_int_least64_t calls, failed;
} own, *counts = &own;   // own: of this process alone

static void ask(const char *names, size_t length, int64_t number, int error, bool on) {
    atomic_store(&counts->calls, 0);
    atomic_store(&counts->failed, 0);
    asked.number = number;
    asked.error = error;
    asked.on = on;
    snprintf(asked.names, sizeof asked.names, ",%.*s,", (int)length, names);
}

void fail_call(const char *names, int64_t number, int error) {
    asked.names[0] = 0;
    if (names) ask(names, strlen(names), number, error, false);
}

bool fail_call_failed(void) { return atomic_load(&counts->failed) > 0; }

__attribute__((constructor)) static void read_environment(void) {
    const char *text = getenv("FAIL_CALL"), *log = getenv("FAIL_LOG");
    if (!text) return;
    size_t n = strcspn(text, ":");
    char *end;
    int64_t number = strtoll(text + n + 1, &end, 10);
    long error = strtol(end + 1, &end, 10);
    void *shared = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                        -1, 0);
    if (shared != MAP_FAILED) counts = shared;
    asked.log = log ? open(log, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0666) : -1;
    ask(text, n, number, (int)error, !strcmp(end, ":on"));
    unsetenv("FAIL_CALL");
    unsetenv("FAIL_LOG");
}

// ---- Whether a call fails -----------------------------------------------------------------------
static void tell(const char *name, const char *about, int fd) {
    char line[400], link[40], target[300] = "";
    if (asked.log < 0) return;
    if (fd >= 0) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        long n = syscall(SYS_readlink, link, target, sizeof target - 1);
        target[n < 0 ? 0 : n] = 0;
    }
    int n = fd < 0 ? snprintf(line, sizeof line, "%s %s\n", name, about ? about : "")
                   : snprintf(line, sizeof line, "%s %d %s\n", name, fd, target);
    syscall(SYS_write, asked.log, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
}

static bool is_named(const char *name) {
    size_t n = strlen(name);
    for (const char *at = asked.names; (at = strstr(at, name)); at++)
        if (at[-1] == ',' && at[n] == ',') return true;
    return false;
}

static bool is_time(const char *name, const char *about, int fd) {
    if (!asked.names[0] || !is_named(name)) return false;
    int64_t number = atomic_fetch_add(&counts->calls, 1) + 1;
    if (number < asked.number || (number > asked.number && !asked.on)) return false;
    if (!atomic_fetch_add(&counts->failed, 1)) tell(name, about, fd);
    return true;
}

static bool fails(const char *name, const char *about, int fd) {
    if (!is_time(name, about, fd)) return false;
    errno = asked.error;
    return true;
}

static int fd_of(FILE *f) { return f ? fileno(f) : -1; }

// A call that fails has done nothing; but what is closed is closed, and a stream is told.
static void note_error(FILE *f) { f->_flags |= 0x20; }   // what ferror looks at

#define NEXT(name)                                                                                 \
    static __typeof__(name) *next;                                                                 \
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, #name)

// name: a call with these parameters gives `bad`. about: a path of the parameters or NULL; fd: a
// descriptor or -1.
#define CALL(type, name, params, args, bad, about, fd)                                             \
    type name params {                                                                             \
        NEXT(name);                                                                                \
        if (fails(#name, about, fd)) return bad;                                                   \
        return next args;                                                                          \
    }

// ---- Files --------------------------------------------------------------------------------------
int open(const char *path, int flags, ...) {
    NEXT(open);
    va_list ap;
    va_start(ap, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    return fails("open", path, -1) ? -1 : next(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...) {
    NEXT(openat);
    va_list ap;
    va_start(ap, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    return fails("openat", path, -1) ? -1 : next(folder, path, flags, mode);
}

CALL(int, mkdirat, (int folder, const char *path, mode_t mode), (folder, path, mode), -1, path, -1)
CALL(int, renameat, (int f, const char *from, int t, const char *to), (f, from, t, to), -1, to, -1)
CALL(int, unlinkat, (int folder, const char *path, int flags), (folder, path, flags), -1, path, -1)
CALL(int, fstatat, (int folder, const char *path, struct stat *s, int flags),
     (folder, path, s, flags), -1, path, -1)
CALL(int, futimens, (int fd, const struct timespec times[2]), (fd, times), -1, NULL, fd)
CALL(DIR *, fdopendir, (int fd), (fd), NULL, NULL, fd)
CALL(int, dup, (int fd), (fd), -1, NULL, fd)
CALL(int, dup2, (int fd, int to), (fd, to), -1, NULL, fd)
CALL(int, stat, (const char *path, struct stat *s), (path, s), -1, path, -1)
CALL(int, lstat, (const char *path, struct stat *s), (path, s), -1, path, -1)
CALL(int, fstat, (int fd, struct stat *s), (fd, s), -1, NULL, fd)
CALL(int, fchmod, (int fd, mode_t mode), (fd, mode), -1, NULL, fd)
CALL(int, access, (const char *path, int mode), (path, mode), -1, path, -1)
CALL(int, mkdir, (const char *path, mode_t mode), (path, mode), -1, path, -1)
CALL(char *, mkdtemp, (char *path), (path), NULL, path, -1)
CALL(int, mkostemp, (char *path, int flags), (path, flags), -1, path, -1)
CALL(int, mkstemps, (char *path, int suffix), (path, suffix), -1, path, -1)
CALL(int, rename, (const char *from, const char *to), (from, to), -1, to, -1)
CALL(int, unlink, (const char *path), (path), -1, path, -1)
CALL(int, rmdir, (const char *path), (path), -1, path, -1)
CALL(char *, realpath, (const char *path, char *to), (path, to), NULL, path, -1)
CALL(DIR *, opendir, (const char *path), (path), NULL, path, -1)
CALL(off_t, lseek, (int fd, off_t to, int from), (fd, to, from), -1, NULL, fd)
CALL(int, memfd_create, (const char *name, unsigned flags), (name, flags), -1, name, -1)
CALL(int, pipe2, (int ends[2], int flags), (ends, flags), -1, NULL, -1)

static size_t half(size_t n) { return asked.error || n < 2 ? n : n / 2; }

#define TRANSFER(name, params, n, ...)                                                             \
    ssize_t name params {                                                                          \
        NEXT(name);                                                                                \
        if (!fails(#name, NULL, fd)) return next(__VA_ARGS__);                                     \
        if (asked.error) return -1;                                                                \
        n = half(n);                                                                               \
        return next(__VA_ARGS__);                                                                  \
    }
TRANSFER(read, (int fd, void *to, size_t n), n, fd, to, n)
TRANSFER(pread, (int fd, void *to, size_t n, off_t at), n, fd, to, n, at)
TRANSFER(write, (int fd, const void *from, size_t n), n, fd, from, n)

int close(int fd) {
    NEXT(close);
    bool bad = fails("close", NULL, fd);
    int status = next(fd);
    if (bad) errno = asked.error;
    return bad ? -1 : status;
}

// ---- Streams ------------------------------------------------------------------------------------
CALL(FILE *, fopen, (const char *path, const char *mode), (path, mode), NULL, path, -1)
CALL(FILE *, fdopen, (int fd, const char *mode), (fd, mode), NULL, NULL, fd)

size_t fread(void *to, size_t size, size_t n, FILE *f) {
    NEXT(fread);
    if (!fails("fread", NULL, fd_of(f))) return next(to, size, n, f);
    note_error(f);
    return 0;
}

size_t fwrite(const void *from, size_t size, size_t n, FILE *f) {
    NEXT(fwrite);
    if (!fails("fwrite", NULL, fd_of(f))) return next(from, size, n, f);
    note_error(f);
    return 0;
}

int fputs(const char *text, FILE *f) {
    NEXT(fputs);
    if (!fails("fputs", NULL, fd_of(f))) return next(text, f);
    note_error(f);
    return EOF;
}

int fflush(FILE *f) {
    NEXT(fflush);
    if (!fails("fflush", NULL, fd_of(f))) return next(f);
    if (f) note_error(f);
    return EOF;
}

int fclose(FILE *f) {
    NEXT(fclose);
    bool bad = fails("fclose", NULL, fd_of(f));
    int status = next(f);
    if (bad) errno = asked.error;
    return bad ? EOF : status;
}

// ---- Processes, threads, libraries --------------------------------------------------------------
CALL(pid_t, fork, (void), (), -1, NULL, -1)
CALL(pid_t, wait, (int *status), (status), -1, NULL, -1)
CALL(pid_t, waitpid, (pid_t p, int *status, int flags), (p, status, flags), -1, NULL, -1)
CALL(int, posix_spawn,
     (pid_t * p, const char *path, const posix_spawn_file_actions_t *actions,
      const posix_spawnattr_t *attributes, char *const *argv, char *const *environment),
     (p, path, actions, attributes, argv, environment), asked.error, path, -1)
CALL(int, posix_spawn_file_actions_init, (posix_spawn_file_actions_t * a), (a), asked.error, NULL,
     -1)
CALL(int, posix_spawn_file_actions_adddup2, (posix_spawn_file_actions_t * a, int fd, int to),
     (a, fd, to), asked.error, NULL, -1)
CALL(int, pthread_create,
     (pthread_t * t, const pthread_attr_t *a, void *(*body)(void *), void *user),
     (t, a, body, user), asked.error, NULL, -1)
CALL(int, thrd_create, (thrd_t * t, thrd_start_t body, void *user), (t, body, user), thrd_error,
     NULL, -1)
CALL(int, sigaction, (int s, const struct sigaction *new, struct sigaction *old), (s, new, old), -1,
     NULL, -1)
CALL(int, sigaltstack, (const stack_t *new, stack_t *old), (new, old), -1, NULL, -1)

void *dlopen(const char *path, int flags) {
    NEXT(dlopen);
    // so that dlerror has a text
    return next(fails("dlopen", path, -1) ? "/nonexistent/library" : path, flags);
}

// ---- Memory -------------------------------------------------------------------------------------
// dlsym may allocate, so these have other names for the C library's own.
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t n);
void *__libc_memalign(size_t align, size_t n);
void *malloc(size_t n) { return fails("malloc", NULL, -1) ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t size) {
    return fails("calloc", NULL, -1) ? NULL : __libc_calloc(n, size);
}
void *realloc(void *old, size_t n) {
    return fails("realloc", NULL, -1) ? NULL : __libc_realloc(old, n);
}
void *aligned_alloc(size_t align, size_t n) {
    return fails("aligned_alloc", NULL, -1) ? NULL : __libc_memalign(align, n);
}

CALL(void *, mmap, (void *at, size_t n, int protection, int flags, int fd, off_t from),
     (at, n, protection, flags, fd, from), MAP_FAILED, NULL, fd)
CALL(int, mprotect, (void *at, size_t n, int protection), (at, n, protection), -1, NULL, -1)
