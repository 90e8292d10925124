// Our own faults: signals become a message, a reproducer and exit status 70. Handlers get no
// argument of ours, so what they need stands in this file's static variables, filled before
// anything can fail; they use only calls that are safe there.
#define _GNU_SOURCE
#include "driver.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_SOURCES = 64, STACK = 64 * 1024 };

static struct {
    int argc;
    char **argv;
    char path[512];
    struct {
        const char *path, *text;
        size_t length;
    } sources[MOST_SOURCES];
    size_t nsources;
    volatile sig_atomic_t running;
} fault;
static _Alignas(16) char handler_stack[STACK];

static void put(int fd, const char *s, size_t n) {
    while (n) {
        ssize_t done = write(fd, s, n);
        if (done <= 0) return;
        s += done;
        n -= (size_t)done;
    }
}

static void puts_to(int fd, const char *s) { put(fd, s, strlen(s)); }

static const char *signal_text(int signal_number) {
    switch (signal_number) {
    case SIGSEGV: return "invalid memory access or stack overflow";
    case SIGBUS: return "bus error";
    case SIGFPE: return "arithmetic fault";
    case SIGILL: return "illegal instruction";
    default: return "aborted";
    }
}

static bool write_reproducer(const char *what) {
    int fd = open(fault.path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0) return false;
    puts_to(fd, "gnnc " GNNC_VERSION ": internal fault: ");
    puts_to(fd, what);
    puts_to(fd, "\ncommand:");
    for (int i = 0; i < fault.argc; i++) {
        puts_to(fd, " ");
        puts_to(fd, fault.argv[i]);
    }
    puts_to(fd, "\n");
    for (size_t i = 0; i < fault.nsources; i++) {
        puts_to(fd, "==> ");
        puts_to(fd, fault.sources[i].path);
        puts_to(fd, " <==\n");
        put(fd, fault.sources[i].text, fault.sources[i].length);
    }
    return !close(fd);
}

static void handle(int signal_number) {
    if (fault.running) _exit(STATUS_INTERNAL);
    fault.running = 1;
    const char *what = signal_text(signal_number);
    puts_to(STDERR_FILENO, "gnnc: internal fault: ");
    puts_to(STDERR_FILENO, what);
    if (write_reproducer(what)) {
        puts_to(STDERR_FILENO, "\ngnnc: please report it with ");
        puts_to(STDERR_FILENO, fault.path);
    }
    puts_to(STDERR_FILENO, "\n");
    _exit(STATUS_INTERNAL);
}

void crash_handlers(int argc, char **argv) {
    const char *folder = getenv("TMPDIR");
    fault.argc = argc;
    fault.argv = argv;
    snprintf(fault.path, sizeof fault.path, "%s/gnnc-fault-%ld.txt",
             folder && *folder ? folder : "/tmp", (long)getpid());
    stack_t stack = {.ss_sp = handler_stack, .ss_size = sizeof handler_stack};
    sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK | SA_NODEFER};
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &action, NULL);
    signal(SIGPIPE, SIG_IGN);   // a closed pipe and a limit on a file's size are writes that fail
    signal(SIGXFSZ, SIG_IGN);
}

void crash_source(const char *path, const char *text, size_t length) {
    if (fault.nsources == MOST_SOURCES) return;
    fault.sources[fault.nsources].path = path;
    fault.sources[fault.nsources].text = text;
    fault.sources[fault.nsources++].length = length;
}
