// Processes that run a command line of gnnc, and what they print.
#define _GNU_SOURCE   // memfd_create
#include "child.h"
#include "driver.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

_Noreturn static void runs(const child *x, const char *const *words, uint32_t n, unsigned seconds) {
    dup2(x->output, STDOUT_FILENO);
    dup2(x->errors, STDERR_FILENO);
    alarm(seconds);
    int status = driver_main((int)n, (char **)(uintptr_t)words);
    fflush(NULL);
    _exit(status);
}

bool child_start(arena *a, child *x, const child_words *w, bool together, unsigned seconds) {
    const char **words = ARENA_ARRAY(a, const char *, w->len + 1);
    for (uint32_t i = 0; i < w->len; i++) words[i] = w->data[i];
    *x = (child){.output = memfd_create("gnnc", MFD_CLOEXEC)};
    x->errors = together ? x->output : memfd_create("gnnc", MFD_CLOEXEC);
    fflush(NULL);
    const pid_t p = x->output < 0 || x->errors < 0 ? -1 : fork();
    if (!p) runs(x, words, w->len, seconds);
    if (p > 0) {
        x->process = p;
        return true;
    }
    const int why = errno;
    child_free(x);
    errno = why;
    return false;
}

uint32_t child_any_ended(child *const *all, uint32_t n) {
    for (;;) {
        int status;
        const pid_t p = wait(&status);
        if (p < 0 && errno != EINTR) return n;
        for (uint32_t i = 0; i < n; i++)
            if (all[i] && all[i]->process == p) {
                all[i]->status = status;
                return i;
            }
    }
}

bool child_run(arena *a, child *x, const child_words *w, unsigned seconds) {
    pid_t ended;
    if (!child_start(a, x, w, false, seconds)) return false;
    while ((ended = waitpid(x->process, &x->status, 0)) < 0 && errno == EINTR) {
    }
    return ended >= 0;
}

static const char *read_all(arena *a, int fd) {
    struct stat st;
    if (fstat(fd, &st)) return NULL;
    char *text = ARENA_ARRAY(a, char, (size_t)st.st_size + 1);
    for (ssize_t n, at = 0; at < st.st_size; at += n) {
        n = pread(fd, text + at, (size_t)(st.st_size - at), at);
        if (n < 0 && errno == EINTR) n = 0;
        else if (n < 0) return NULL;
        else if (!n) break;
    }
    return text;
}

const char *child_output(arena *a, const child *x) { return read_all(a, x->output); }
const char *child_errors(arena *a, const child *x) { return read_all(a, x->errors); }

void child_stop(child *x) {
    if (!x->process) return;
    kill(x->process, SIGKILL);
    while (waitpid(x->process, NULL, 0) < 0 && errno == EINTR) {
    }
}

void child_free(child *x) {
    if (x->errors > 0 && x->errors != x->output) close(x->errors);
    if (x->output > 0) close(x->output);
    x->output = x->errors = 0;
}
