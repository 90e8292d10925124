// A line on the terminal about what takes over a second, five times a second.
#include "progress.h"

#include "clock.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

progress progress_begin(const char *doing, const char *name) {
    return (progress){
        .doing = doing, .name = name, .began = clock_ms(), .shown = isatty(STDERR_FILENO)};
}

void progress_tell(void *user, double part) {
    progress *p = user;
    double now = clock_ms();
    if (!p->shown || now - p->began < 1000 || now - p->told < 200) return;
    fprintf(stderr, "\rgnnc: %s %.100s: %.0f %% ", p->doing, p->name, part * 100);
    p->told = now;
}

void progress_end(const progress *p) {
    if (p->told)
        fprintf(stderr, "\r%*s\r", (int)(strlen(p->doing) + strnlen(p->name, 100)) + 16, "");
}
