// A line on the terminal about what takes over a second, five times a second.
#include "progress.h"

#include "clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

progress progress_begin(const char *doing, const char *name) {
    return (progress){
        .doing = doing, .name = name, .began = clock_ms(), .shown = isatty(STDERR_FILENO)};
}

// at_once: however long ago the last line was.
__attribute__((format(printf, 3, 4))) static void put(progress *p, bool at_once, const char *format,
                                                      ...) {
    char line[200];
    double now = clock_ms();
    if (!p->shown || now - p->began < 1000 || (now - p->told < 200 && !at_once)) return;
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    fprintf(stderr, "\rgnnc: %-*s ", p->length, line);
    if (length > p->length) p->length = length;
    p->told = now;
}

void progress_tell(void *user, double part) {
    progress *p = user;
    put(p, false, "%s %.100s: %.0f %%", p->doing, p->name, part * 100);
}

void progress_step(progress *p, uint32_t number, uint32_t of, const char *part) {
    put(p, number + 1 == of, "[%u/%u] %.100s", number + 1, of, part);
}

void progress_end(const progress *p) {
    if (p->told > 0) fprintf(stderr, "\r%*s\r", p->length + 7, "");
}
