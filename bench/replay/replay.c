// See replay.h. Records run in a process of their own, one after another in one context: what a
// fault of a kernel spoils, a hang or a crash, costs that record alone; the next process goes on
// behind it.
#define _GNU_SOURCE   // MAP_ANONYMOUS
#include "replay.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DONE = 0, GO_ON = 3, UNUSABLE = 4 };   // how the process ends
static unsigned seconds = 60;                 // longest a record may take

static int run_from(pack *p, tally *t) {
    gnn_context *c = NULL;
    record r;
    if (machine_open(&c)) {
        fprintf(stderr, "gnnc-replay: no GPU can be used: %s\n",
                c ? gnn_context_error(c) : "no memory");
        return UNUSABLE;
    }
    for (pack_skip(p, t->next); pack_next(p, &r); t->next++) {
        replay x = {.record = &r, .context = c, .tally = t};
        alarm(seconds);
        replay_record(&x);
        record_free(&r);
        if (!x.lost) continue;
        t->next++;
        return GO_ON;   // the context goes with the process
    }
    machine_close(c);
    return DONE;
}

static const char *end_text(int status) {
    if (!WIFSIGNALED(status)) return "an exit of its own";
    return WTERMSIG(status) == SIGALRM ? "the clock: it hangs" : strsignal(WTERMSIG(status));
}

static void tell_end(pack *p, const tally *t, int status) {
    record r;
    pack_skip(p, t->next);
    if (!pack_next(p, &r)) {
        printf("WRONG: behind the last record the process was ended by %s\n", end_text(status));
        return;
    }
    char *command = record_text(&r, "command"), *source = record_text(&r, "source");
    printf("WRONG %s: ended by %s\n    record %u: %s\n%s\n",
           json_string_value(json_object_get(r.about, "op")), end_text(status), t->next,
           command ? command : "", source ? source : "");
    free(command);
    free(source);
    record_free(&r);
}

// false: the GPU cannot be used.
static bool replay_pack(pack *p, tally *t) {
    for (t->next = 0; t->next < p->records;) {
        int status = 0;
        fflush(stdout);
        const pid_t child = fork();
        if (!child) {
            status = run_from(p, t);
            fflush(stdout);
            exit(status);
        }
        if (child < 0 || waitpid(child, &status, 0) != child) return false;
        if (WIFEXITED(status) && WEXITSTATUS(status) == UNUSABLE) return false;
        if (WIFEXITED(status) && (WEXITSTATUS(status) == DONE || WEXITSTATUS(status) == GO_ON))
            continue;
        tell_end(p, t, status);
        t->wrong++;
        t->next++;
    }
    return true;
}

static bool replay_file(const char *path, tally *t) {
    pack p;
    const bool good = pack_open(path, &p) && replay_pack(&p, t);
    pack_close(&p);
    return good;
}

int main(int argc, char **argv) {
    tally *t = mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const int first = argc > 1 && sscanf(argv[1], "--seconds=%u", &seconds) == 1 ? 2 : 1;
    if (argc <= first || argv[first][0] == '-' || t == MAP_FAILED) {
        fprintf(
            stderr,
            "Usage: gnnc-replay [--seconds=N] PACK...\n"
            "Packs are made by gnnc test FILE --pack=PACK. N is the longest a record may take (60).\n");
        return 2;
    }
    bool usable = true;
    for (int i = first; i < argc && usable; i++) usable = replay_file(argv[i], t);
    printf(
        "%u runs of %u programs, %u wrong; %u versions unfit here; %lld numbers compared, %lld may be anything\n",
        t->runs, t->programs, t->wrong, t->unfit, (long long)t->compared, (long long)t->open);
    return !usable ? 2 : t->wrong ? 1 : 0;
}
