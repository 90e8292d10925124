// Turns of processes at one device, by a lock on a file they all name: while one launches what it
// checks or times, the others compile, read their graphs, copy and evaluate definitions.
#define _DEFAULT_SOURCE
#include "run.h"

#include <errno.h>
#include <string.h>
#include <sys/file.h>

bool run_alone_open(run_session *r, const char *path) {
    if (!path) return true;
    r->alone = fopen(path, "a");
    bool locks = r->alone && (!flock(fileno(r->alone), LOCK_SH | LOCK_NB) || errno == EWOULDBLOCK);
    if (locks) {
        run_alone_end(r);
        return true;
    }
    r->d->io_fault = true;
    diag(r->d->ds, E0804, NO_SPAN, "cannot %s '%s': %s", r->alone ? "lock" : "make", path,
         strerror(errno));
    return false;
}

void run_alone_close(run_session *r) {
    if (r->alone) fclose(r->alone);
    r->alone = NULL;
}

void run_alone_begin(const run_session *r) {
    while (r->alone && flock(fileno(r->alone), LOCK_EX) && errno == EINTR) {
    }
}

void run_alone_end(const run_session *r) {
    if (r->alone) flock(fileno(r->alone), LOCK_UN);
}
