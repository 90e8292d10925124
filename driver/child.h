// A command of gnnc in a process of its own: a copy of this one that prints to files without names.
// What crashes or hangs there ends alone.
//
//     child x;
//     if (child_run(a, &x, &words, 120)) puts(child_output(a, &x));   // false: errno tells why
//     child_free(&x);
#ifndef DRIVER_CHILD_H
#define DRIVER_CHILD_H

#include "support/support.h"

#include <sys/types.h>

typedef VEC(const char *) child_words;   // the command line, "gnnc" first
typedef struct {
    pid_t process;   // 0: none was started
    // as waitpid tells it
    int status;
    int output, errors;   // 0: none; the same where both go to one
} child;
enum { CHILD_MOST = 64 };   // that somebody has at once
// It ends by SIGALRM after so many seconds. together: what it tells of faults is output, too.
// false: errno tells why.
bool child_start(arena *a, child *x, const child_words *w, bool together, unsigned seconds);
bool child_run(arena *a, child *x, const child_words *w, unsigned seconds);   // and waits
// Likewise, of a function that prints: what it opens of the system this process does not have open,
// as a GPU, which a process that is copied cannot use.
bool child_call(child *x, void (*does)(void *user), void *user, unsigned seconds);
// Waits for any of those that are not NULL; n: none is left, or errno tells why.
uint32_t child_any_ended(child *const *all, uint32_t n);
const char *child_output(arena *a, const child *x);   // NULL: errno tells why
const char *child_errors(arena *a, const child *x);
void child_stop(child *x);   // where it may still run
void child_free(child *x);

#endif
