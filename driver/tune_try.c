// Candidates tried in processes of their own, several at a time: one that says whether the schedule
// can be executed, and what its kernels are; where they are others, one that checks and times them,
// or tells their time by the model.
#include "tune.h"

#include "clock.h"
#include "graph_file.h"
#include "progress.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SCHEDULE "tuned"   // the candidate's name in its file

typedef enum { SLOT_FREE, SLOT_PLANS, SLOT_RUNS } slot_state;
typedef struct {
    slot_state state;
    child process;
    const char *file;   // of the candidate; NULL: it is the input itself
    uint32_t number;
    tune_tried t;
} slot;

typedef struct {
    tune_session *s;
    const tune_case *c;
    tune_tries *out;
    tune_search *search;        // or NULL:
    const char *const *texts;   // these
    uint32_t ntexts, next;
    bool fresh;   // what the record says is measured again
    slot slots[CHILD_MOST];
    uint32_t asked, files;
} trying;

// ---- Command lines ------------------------------------------------------------------------------
static void put_values(driver *d, child_words *w, option_id o) {
    const char *name = option_name(d, o);
    for (uint32_t i = 0; i < d->values[o].len; i++)
        VEC_PUSH(d->arena, w, arena_printf(d->arena, "%s=%s", name, d->values[o].data[i]));
}

static const char *folder_of(arena *a, const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? arena_strndup(a, path, (size_t)(slash - path + (slash == path))) : ".";
}

void tune_options(driver *d, child_words *w) {
    static const option_id options[] = {OPT_DEFINE, OPT_INCLUDE, OPT_INDEX, OPT_BLOCK_SIZE};
    for (uint32_t i = 0; i < sizeof options / sizeof *options; i++) put_values(d, w, options[i]);
    if (!option_on(d, OPT_DETERMINISTIC, true)) VEC_PUSH(d->arena, w, "--no-deterministic");
}

static void put_case(driver *d, child_words *w, const tune_case *c) {
    static const option_id options[] = {OPT_PARAM, OPT_SEED};
    graph_words graph = {0};
    for (uint32_t i = 0; i < sizeof options / sizeof *options; i++) put_values(d, w, options[i]);
    graph_file_options(d, &graph);
    for (uint32_t i = 0; i < graph.len; i++) VEC_PUSH(d->arena, w, graph.data[i]);
    for (uint32_t i = 0; i < c->given.len; i++) VEC_PUSH(d->arena, w, c->given.data[i]);
    if (c->graph) VEC_PUSH(d->arena, w, arena_printf(d->arena, "--graph=%s", c->graph));
}

static child_words first_words(const trying *t, const slot *s, const char *verb) {
    driver *d = t->s->d;
    arena *a = d->arena;
    child_words w = {0};
    VEC_PUSH(a, &w, "gnnc");
    if (verb) VEC_PUSH(a, &w, verb);
    VEC_PUSH(a, &w, s->file ? s->file : d->inputs.data[0]);
    VEC_PUSH(a, &w, arena_printf(a, "--op=%s", t->s->op->name));
    if (s->file) VEC_PUSH(a, &w, arena_printf(a, "-I%s", folder_of(a, d->inputs.data[0])));
    VEC_PUSH(a, &w, "--no-rules");   // those that are there may be what is made anew
    tune_options(d, &w);
    return w;
}

static child_words planning_words(const trying *t, const slot *s) {
    arena *a = t->s->d->arena;
    child_words w = first_words(t, s, NULL);
    static const char *const more[] = {"--emit=simt", "-o", "-", "--no-lineinfo"};
    for (uint32_t i = 0; i < sizeof more / sizeof *more; i++) VEC_PUSH(a, &w, more[i]);
    if (s->file) VEC_PUSH(a, &w, "--schedule=" SCHEDULE);
    const bool host = !strcmp(t->s->machine->arch, "host");
    VEC_PUSH(a, &w, host ? "--target=host" : arena_printf(a, "--arch=%s", t->s->machine->arch));
    return w;
}

static child_words running_words(const trying *t, const slot *s) {
    driver *d = t->s->d;
    arena *a = d->arena;
    const tune_machine *m = t->s->machine;
    child_words w = first_words(t, s, m->target ? "bench" : "explain");
    put_case(d, &w, t->c);
    VEC_PUSH(a, &w, "--json");
    if (s->file) VEC_PUSH(a, &w, "--schedule=" SCHEDULE);
    if (!m->target) {
        VEC_PUSH(a, &w, "--cost");
        VEC_PUSH(a, &w,
                 d->machine ? arena_printf(a, "--machine=%s", option_text(d, OPT_MACHINE, ""))
                            : arena_printf(a, "--device=%s", m->name));
        return w;
    }
    static const char *const more[] = {"--no-lineinfo", "--bandwidth=1000", "--brief",
                                       "--check-budget=2000000"};
    for (uint32_t i = 0; i < sizeof more / sizeof *more; i++) VEC_PUSH(a, &w, more[i]);
    VEC_PUSH(a, &w, m->target);
    if (!s->file) VEC_PUSH(a, &w, "--kernels");
    VEC_PUSH(a, &w, t->fresh ? "--seconds=0.4" : "--seconds=0.1");
    if (option_on(d, OPT_FLUSH, true)) VEC_PUSH(a, &w, "--flush");
    VEC_PUSH(a, &w, arena_printf(a, "--alone=%s", t->s->lock));
    return w;
}

void tune_cannot_run(driver *d, const char *why) {
    d->io_fault = true;
    diag(d->ds, E0822, NO_SPAN, "a schedule cannot be tried: %s", why ? why : strerror(errno));
}

// ---- A candidate's file -------------------------------------------------------------------------
const char *tune_named(arena *a, const char *text, const char *name) {
    textbuf out = textbuf_new(a);
    for (const char *at; (at = strstr(text, TUNE_NAME)); text = at + strlen(TUNE_NAME)) {
        textbuf_putn(&out, text, (size_t)(at - text));
        textbuf_puts(&out, name);
    }
    textbuf_puts(&out, text);
    return out.data;
}

static bool write_candidate(trying *t, slot *s) {
    arena *a = t->s->d->arena;
    s->file = arena_printf(a, "%s/tune-%u.gnn", t->s->folder, t->files++);
    FILE *f = fopen(s->file, "w");
    if (!f) return false;
    fprintf(f, "import \"%s\";\n\n%s", path_stem(a, t->s->d->inputs.data[0]),
            tune_named(a, s->t.text, SCHEDULE));
    return !fclose(f);
}

// ---- What a process says ------------------------------------------------------------------------
static uint64_t hash_of(const char *text) {   // FNV-1a; never 0
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text; text++) hash = (hash ^ (uint8_t)*text) * 0x100000001b3u;
    return hash | 1;
}

// The first fault, without what only a person needs.
static const char *fault_in(arena *a, const char *text, int status) {
    const char *at = text ? strstr(text, "error[") : NULL;
    if (at) return arena_strndup(a, at + 6, strcspn(at + 6, "\n"));
    if (WIFSIGNALED(status))
        return WTERMSIG(status) == SIGALRM ? "takes too long" : "is ended by a signal";
    return arena_printf(a, "exit status %d", WEXITSTATUS(status));
}

static const char *last_object(const char *text) {
    const char *last = NULL;
    for (const char *at = text; at && *at; at += *at == '\n') {
        if (*at == '{') last = at;
        at += strcspn(at, "\n");
    }
    return last;
}

static void read_kernels(arena *a, const json_t *x, tune_tried *t) {
    const json_t *all = json_object_get(x, "kernels");
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *k = json_array_get(all, i);
        const char *name = json_string_value(json_object_get(k, "kernel"));
        const double ms = json_number_value(json_object_get(k, "median_ms")),
                     ns = json_number_value(json_object_get(k, "ns"));
        if (name) VEC_PUSH(a, &t->kernels, ((tune_kernel){arena_strdup(a, name), ns + ms * 1e6}));
    }
}

static void read_result(trying *t, slot *s, const char *text) {
    arena *a = t->s->d->arena;
    const char *object = text ? last_object(text) : NULL;
    json_t *x = object ? json_loads(object, JSON_DISABLE_EOF_CHECK, NULL) : NULL;
    const char *plan = json_string_value(json_object_get(x, "plan")),
               *verdict = json_string_value(json_object_get(x, "verdict"));
    const double ms = json_number_value(json_object_get(x, "median_ms")),
                 ns = json_number_value(json_object_get(x, "ns"));
    s->t.plan = plan ? arena_strdup(a, plan) : "-";
    s->t.ns = t->s->machine->target ? ms * 1e6 : ns;
    if (!(s->t.ns > 0)) s->t.why = arena_printf(a, "is not timed: %s", verdict ? verdict : "?");
    else if (verdict && strcmp(verdict, "right") && s->file) s->t.why = arena_strdup(a, verdict);
    else if (s->file && strncmp(s->t.plan, SCHEDULE, strlen(SCHEDULE)))
        s->t.why = "its guards do not hold", s->t.unfit = true;
    if (s->t.why) s->t.ns = INFINITY;
    if (!s->file) read_kernels(a, x, &s->t);
    json_decref(x);
}

// ---- One after the other ------------------------------------------------------------------------
static bool next_text(trying *t, const char **text, uint32_t *number) {
    tune_point p;
    if (!t->search) {
        if (t->next == t->ntexts) return false;
        *number = t->next;
        *text = t->texts[t->next++];
        return true;
    }
    if (t->asked >= t->s->most || clock_ms() > t->s->until * 1e3) return false;
    if (!tune_ask(t->search, &p)) return false;
    *number = p.number;
    *text = tune_text(t->s->d->arena, &t->s->space, &p);
    t->asked++;
    return true;
}

static void tell(trying *t, const tune_tried *x, uint32_t number) {
    VEC_PUSH(t->s->d->arena, t->out, *x);
    if (t->search) tune_tell(t->search, number, x->ns);
    t->s->tried++;
    t->s->refused += x->code == 0 && x->text;
}

static const tune_tried *same_code(const trying *t, uint64_t code) {
    for (uint32_t i = 0; i < t->out->len; i++)
        if (code && t->out->data[i].code == code && t->out->data[i].text) return &t->out->data[i];
    return NULL;
}

static void finish(trying *t, slot *s) {
    if (s->file) unlink(s->file);
    child_free(&s->process);
    tune_record_add(t->s->record, t->s->op, t->s->machine, t->c, &s->t);
    tell(t, &s->t, s->number);
    s->state = SLOT_FREE;
}

static bool start(trying *t, slot *s, slot_state state) {
    child_words w = state == SLOT_PLANS ? planning_words(t, s) : running_words(t, s);
    child_free(&s->process);
    s->state = state;
    return child_start(t->s->d->arena, &s->process, &w, false, TUNE_SECONDS);
}

// false: errno tells why it cannot go on.
static bool ended(trying *t, slot *s) {
    arena *a = t->s->d->arena;
    const int status = s->process.status;
    const char *text = child_output(a, &s->process);
    s->t.ns = INFINITY;
    if (!text) return false;
    if (status) {
        s->t.why = fault_in(a, child_errors(a, &s->process), status);
    } else if (s->state == SLOT_PLANS) {
        s->t.code = hash_of(text);
        const tune_tried *same = same_code(t, s->t.code);
        if (!same) return start(t, s, SLOT_RUNS);
        const char *own = s->t.text;
        s->t = *same;
        s->t.text = own;
        t->s->alike++;
    } else {
        read_result(t, s, text);
    }
    finish(t, s);
    return true;
}

static bool begin(trying *t, slot *s, const char *text, uint32_t number) {
    *s = (slot){.number = number, .t = {.text = text}};
    const tune_tried *known =
        t->fresh ? NULL : tune_record_find(t->s->record, t->s->op, t->s->machine, t->c, text);
    if (known) {
        tell(t, known, number);
        return true;
    }
    if (text && !write_candidate(t, s)) return false;
    return start(t, s, text ? SLOT_PLANS : SLOT_RUNS);
}

static bool fill(trying *t, bool *running) {
    *running = false;
    for (uint32_t i = 0; i < t->s->jobs; i++) {
        slot *s = &t->slots[i];
        const char *text;
        uint32_t number;
        while (s->state == SLOT_FREE && next_text(t, &text, &number))
            if (!begin(t, s, text, number)) return false;
        *running |= s->state != SLOT_FREE;
    }
    return true;
}

static double part_done(const trying *t, double began) {
    const double now = clock_ms(), end = t->s->until * 1e3;
    const double of_time = end > began ? (now - began) / (end - began) : 1,
                 of_points = t->search ? (double)t->asked / t->s->most
                                       : (double)t->next / (t->ntexts ? t->ntexts : 1);
    return fmin(1, fmax(t->search ? of_time : 0, of_points));
}

static bool run_all(trying *t) {
    const double began = clock_ms();
    progress p = progress_begin("tuning", t->s->op->name);
    bool running, good;
    while ((good = fill(t, &running)) && running) {
        child *all[CHILD_MOST] = {0};
        for (uint32_t i = 0; i < t->s->jobs; i++)
            if (t->slots[i].state != SLOT_FREE) all[i] = &t->slots[i].process;
        const uint32_t i = child_any_ended(all, t->s->jobs);
        good = i < t->s->jobs && ended(t, &t->slots[i]);
        if (!good) break;
        progress_tell(&p, part_done(t, began));
    }
    progress_end(&p);
    if (!good) tune_cannot_run(t->s->d, NULL);
    for (uint32_t i = 0; i < t->s->jobs; i++) {
        if (t->slots[i].state == SLOT_FREE) continue;
        child_stop(&t->slots[i].process);
        child_free(&t->slots[i].process);
    }
    return good;
}

bool tune_try_space(tune_session *s, const tune_case *c, tune_way way, uint64_t seed,
                    tune_tries *out) {
    trying t = {
        .s = s, .c = c, .out = out, .search = tune_search_new(s->d->arena, way, &s->space, seed)};
    tune_weigh(t.search, s->weights, s->op->stages.len + 1);
    return run_all(&t);
}

bool tune_try_texts(tune_session *s, const tune_case *c, const char *const *texts, uint32_t n,
                    bool fresh, tune_tries *out) {
    trying t = {.s = s, .c = c, .out = out, .texts = texts, .ntexts = n, .fresh = fresh};
    return run_all(&t);
}
