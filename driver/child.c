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

// In the copy it gives 0, and its output is that of x.
static pid_t copy(child *x, bool together, unsigned seconds) {
    *x = (child){.output = memfd_create("gnnc", MFD_CLOEXEC)};
    x->errors = together ? x->output : memfd_create("gnnc", MFD_CLOEXEC);
    fflush(NULL);
    const pid_t p = x->output < 0 || x->errors < 0 ? -1 : fork();
    if (p) return p;
    dup2(x->output, STDOUT_FILENO);
    dup2(x->errors, STDERR_FILENO);
    alarm(seconds);
    return 0;
}

_Noreturn static void end(int status) {
    fflush(NULL);
    _exit(status);
}

static bool started(child *x, pid_t p) {
    if (p > 0) {
        x->process = p;
        return true;
    }
    const int why = errno;
    child_free(x);
    errno = why;
    return false;
}

bool child_start(arena *a, child *x, const child_words *w, bool together, unsigned seconds) {
    const char **words = ARENA_ARRAY(a, const char *, w->len + 1);
    for (uint32_t i = 0; i < w->len; i++) words[i] = w->data[i];
    const pid_t p = copy(x, together, seconds);
    if (!p) end(driver_main((int)w->len, (char **)(uintptr_t)words));
    return started(x, p);
}

static bool waited(child *x) {
    pid_t ended;
    while ((ended = waitpid(x->process, &x->status, 0)) < 0 && errno == EINTR) {
    }
    return ended >= 0;
}

bool child_call(child *x, void (*does)(void *user), void *user, unsigned seconds) {
    const pid_t p = copy(x, false, seconds);
    if (!p) {
        does(user);
        end(0);
    }
    return started(x, p) && waited(x);
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
    return child_start(a, x, w, false, seconds) && waited(x);
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
