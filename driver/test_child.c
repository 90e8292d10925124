// A case in a process of its own: a copy of this one that runs the case's command line and prints
// to a file without a name.
#define _DEFAULT_SOURCE
#include "graph_file.h"
#include "test.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 120 };   // a case that takes longer hangs

struct test_child {
    child process;
    const char *file;     // of the case; NULL: the user's own
    const char *packed;   // what --pack makes of it; NULL: it runs
};

// ---- The command --------------------------------------------------------------------------------
static const char *folder_of(arena *a, const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? arena_strndup(a, path, (size_t)(slash - path + (slash == path))) : ".";
}

const char *test_file_text(arena *a, const driver *d, const test_case *c) {
    textbuf out = textbuf_new(a);
    textbuf_printf(&out, "import \"%s\";\n\n", path_stem(a, d->inputs.data[0]));
    test_schedules_print(&out, &c->schedules, c->op->name, c->machine);
    if (c->choice)
        textbuf_printf(&out, "choose %s for %s%s;\n", c->op->name, c->machine, c->choice);
    return out.data;
}

static child_words command_of(arena *a, const driver *d, const test_case *c, const char *file) {
    static const char *const targets[] = {"--target=sim", "--target=host", "--target=cuda"};
    child_words w = {0};
    const char *path = d->inputs.data[0];
    const char *const first[] = {
        "gnnc", "run", file ? file : path, "--op", c->name, targets[c->target], "--check"};
    for (uint32_t i = 0; i < sizeof first / sizeof *first; i++) VEC_PUSH(a, &w, first[i]);
    VEC_PUSH(a, &w, c->choice ? "-Wno-other-schedule" : "--all-plans");   // the one it takes
    if (file) VEC_PUSH(a, &w, arena_printf(a, "-I%s", folder_of(a, path)));
    for (uint32_t i = 0; i < d->values[OPT_INCLUDE].len; i++)
        VEC_PUSH(a, &w, arena_printf(a, "-I%s", d->values[OPT_INCLUDE].data[i]));
    for (uint32_t i = 0; i < d->values[OPT_DEFINE].len; i++)
        VEC_PUSH(a, &w, arena_printf(a, "-D%s", d->values[OPT_DEFINE].data[i]));
    for (uint32_t i = 0; !file && i < d->values[OPT_RULES].len; i++)
        VEC_PUSH(a, &w, arena_printf(a, "--rules=%s", d->values[OPT_RULES].data[i]));
    if (option_given(d, OPT_NO_RULES)) VEC_PUSH(a, &w, "--no-rules");
    if (option_given(d, OPT_SEED_FAULT))
        VEC_PUSH(a, &w, arena_printf(a, "--seed-fault=%s", option_text(d, OPT_SEED_FAULT, "")));
    for (uint32_t i = 0; c->target != TEST_HOST && i < d->values[OPT_ARCH].len; i++)
        VEC_PUSH(a, &w, arena_printf(a, "--arch=%s", d->values[OPT_ARCH].data[i]));
    graph_words graph = {0};
    graph_file_options(d, &graph);
    for (uint32_t i = 0; i < graph.len; i++) VEC_PUSH(a, &w, graph.data[i]);
    if (option_given(d, OPT_PACK)) VEC_PUSH(a, &w, "--no-lineinfo");   // half of a cubin
    for (uint32_t i = 0; i < c->options.len; i++) VEC_PUSH(a, &w, c->options.data[i]);
    return w;
}

const char *test_command_text(arena *a, const driver *d, const test_case *c, const char *file) {
    child_words w = command_of(a, d, c, file);
    textbuf out = textbuf_new(a);
    for (uint32_t i = 0; i < w.len; i++) textbuf_printf(&out, "%s%s", i ? " " : "", w.data[i]);
    return out.data;
}

// ---- Starting -----------------------------------------------------------------------------------
static bool write_file(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    return f && (fputs(text, f) >= 0) & !fclose(f);
}

static void clear(test_child *x) {
    child_free(&x->process);
    if (x->packed) unlink(x->packed);
    if (x->file) unlink(x->file);
}

void test_cancel(test_child *x) {
    child_stop(&x->process);
    clear(x);
}

test_child *test_start(arena *a, const driver *d, const test_case *c, const char *folder) {
    static unsigned count;
    test_child *x = ARENA_NEW(a, test_child);
    count++;
    if (c->schedules.len) x->file = arena_printf(a, "%s/case-%u.gnn", folder, count);
    child_words w = command_of(a, d, c, x->file);
    if (option_given(d, OPT_PACK)) {
        x->packed = arena_printf(a, "%s/case-%u.pack", folder, count);
        VEC_PUSH(a, &w, arena_printf(a, "--pack=%s", x->packed));
    }
    VEC_PUSH(a, &w, "--accept-overflow");   // the equations' fault, not the code's
    VEC_PUSH(a, &w, "-Wno-unused-option");
    VEC_PUSH(a, &w, "-Wno-unused-let");
    if ((!x->file || write_file(x->file, test_file_text(a, d, c))) &&
        child_start(a, &x->process, &w, true, SECONDS))
        return x;
    int why = errno;
    clear(x);
    errno = why;
    return NULL;
}

test_child *test_any_ended(test_child **children, uint32_t n) {
    child *all[CHILD_MOST] = {0};
    for (uint32_t i = 0; i < n; i++) all[i] = children[i] ? &children[i]->process : NULL;
    const uint32_t ended = child_any_ended(all, n);
    return ended < n ? children[ended] : NULL;
}

// ---- What it says -------------------------------------------------------------------------------
// Of a run that ended for lack of something: the line that says so.
static const char *reason_in(arena *a, const char *text) {
    const char *error = strstr(text, "error[E08"), *at = error ? strstr(error, ": ") + 2 : text;
    return arena_strndup(a, at, strcspn(at, "\n"));
}

// ---- The default's schedules --------------------------------------------------------------------
static bool compiles_alike(const char *option) {
    return !strncmp(option, "-D", 2) || !strncmp(option, "--index=", 8) ||
           !strncmp(option, "--block-size=", 13) || !strncmp(option, "--no-det", 8);
}

static child_words printing_of(arena *a, const driver *d, const char *op, const test_case *c,
                               bool same) {
    child_words w = {0};
    const bool host = c->target == TEST_HOST;
    const char *const first[] = {"gnnc",
                                 d->inputs.data[0],
                                 "--op",
                                 op,
                                 "--emit=schedule",
                                 "-o",
                                 "-",
                                 host ? "--target=host" : "--target=cuda",
                                 "-Wno-unused-option"};
    for (uint32_t i = 0; i < sizeof first / sizeof *first; i++) VEC_PUSH(a, &w, first[i]);
    for (uint32_t i = 0; i < d->values[OPT_INCLUDE].len; i++)
        VEC_PUSH(a, &w, arena_printf(a, "-I%s", d->values[OPT_INCLUDE].data[i]));
    for (uint32_t i = 0; i < d->values[OPT_DEFINE].len; i++)
        VEC_PUSH(a, &w, arena_printf(a, "-D%s", d->values[OPT_DEFINE].data[i]));
    if (!host) VEC_PUSH(a, &w, arena_printf(a, "--arch=%s", c->machine));
    for (uint32_t i = 0; same && i < c->options.len; i++)
        if (compiles_alike(c->options.data[i])) VEC_PUSH(a, &w, c->options.data[i]);
    return w;
}

const char *test_default_text(arena *a, driver *d, const char *op, const test_case *c, bool same) {
    child_words w = printing_of(a, d, op, c, same);
    child x;
    const bool ran = child_run(a, &x, &w, SECONDS), ended = ran && WIFEXITED(x.status),
               printed = ended && WEXITSTATUS(x.status) == STATUS_GOOD,
               lacks = ended && WEXITSTATUS(x.status) == STATUS_IO;
    const char *text = printed ? child_output(a, &x) : NULL,
               *said = lacks ? child_errors(a, &x) : NULL;
    if (!ran || lacks || (printed && !text)) {
        d->io_fault = true;
        diag(d->ds, E0822, NO_SPAN, "the default's schedules cannot be printed: %s",
             said ? reason_in(a, said) : strerror(errno));
    }
    child_free(&x);
    return text;
}

static uint32_t count(const char *text, const char *what) {
    uint32_t n = 0;
    for (const char *at = text; (at = strstr(at, what)); at += strlen(what)) n++;
    return n;
}

// Errors by code: those of sizes and graphs that an op does not take, of schedules, others.
typedef struct {
    uint32_t input, schedule, other;
    // a schedule that says nothing wrong cannot be executed: a way out has to be told
    bool planned;
    const char *first;   // of the others, or of all
} codes;

// E0806: of a gradient nothing is saved.
static bool is_input(const char *code) {
    return !strcmp(code, "E0806") || !strcmp(code, "E0819") || !strcmp(code, "E0820") ||
           !strcmp(code, "E0821") || !strncmp(code, "E03", 3);
}

static codes codes_in(arena *a, const char *text) {
    codes c = {.first = ""};
    for (const char *at = text; (at = strstr(at, "error[E"));) {
        at += strlen("error[");
        const char *code = arena_strndup(a, at, 5);
        bool input = is_input(code),
             schedule = !strncmp(code, "E05", 3) || !strncmp(code, "E09", 3);
        if (!*c.first || (!input && !schedule && !c.other)) c.first = code;
        if (input) c.input++;
        else if (schedule) c.schedule++;
        else c.other++;
        c.planned |= !strcmp(code, "E0530") || !strncmp(code, "E09", 3);
    }
    return c;
}

static test_outcome fault(arena *a, const char *text, const char *format, const char *what) {
    return (test_outcome){
        .verdict = TEST_FAULT, .kind = arena_printf(a, format, what), .text = text};
}

static test_outcome lacking(const char *why) {
    return (test_outcome){.verdict = TEST_LACKING, .kind = "", .text = why};
}

static test_outcome outcome_of(arena *a, int status, const char *text) {
    if (!text) return lacking(arena_strdup(a, strerror(errno)));
    if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_IO) return lacking(reason_in(a, text));
    codes c = codes_in(a, text);
    test_outcome o = {.text = text,
                      .kind = "",
                      .right = count(text, "  right\n") + count(text, "  packed\n") +
                               count(text, "  overflows\n")};
    o.overflows = count(text, "  overflows\n");
    o.follows = count(text, "  follows\n");
    o.skipped = count(text, "  skipped: ");
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        return fault(a, text, "takes longer than two minutes%s", "");
    if (WIFSIGNALED(status))
        return fault(a, text, "is ended by signal: %s", strsignal(WTERMSIG(status)));
    int code = WEXITSTATUS(status);
    if (code == STATUS_INTERNAL) return fault(a, text, "internal fault%s", "");
    if (code == STATUS_MISMATCH) return fault(a, text, "wrong: %s", c.first);
    if (code != STATUS_GOOD && (code != STATUS_DIAGNOSTICS || c.other || !(c.input + c.schedule)))
        return fault(a, text, "is refused: %s", c.first);
    if (c.planned && !strstr(text, "help:"))
        return fault(a, text, "is refused without a way out: %s", c.first);
    o.verdict = c.schedule ? TEST_REFUSED : o.right ? TEST_RIGHT : TEST_UNFIT;
    return o;
}

// A few cases with large arrays would be most of a pack: they are left out. false: errno tells why.
static bool append(FILE *to, const char *path, bool *large) {
    static char bytes[(1 << 17) + 1];
    FILE *from = fopen(path, "rb");
    if (!from) return errno == ENOENT;   // a case that is refused packs nothing
    const size_t n = fread(bytes, 1, sizeof bytes, from);
    const bool read = !ferror(from);
    const int why = errno;
    fclose(from);
    errno = why;
    *large = n == sizeof bytes;
    return read && (*large || !to || fwrite(bytes, 1, n, to) == n);
}

test_outcome test_end(arena *a, test_child *x, FILE *pack) {
    test_outcome o = outcome_of(a, x->process.status, child_output(a, &x->process));
    if (x->packed && o.verdict != TEST_LACKING && !append(pack, x->packed, &o.large))
        o = lacking(arena_strdup(a, strerror(errno)));
    if (o.large) o.right = 0;
    clear(x);
    return o;
}
