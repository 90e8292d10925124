// gnnc bench --kernels: a timer around each kernel of a launch, by events of the device.
#include "bench.h"
#include "clock.h"

#include <string.h>

// Of a launch of the op: a timer for each kernel, in their order; kept from launch to launch.
typedef struct {
    run_op *o;
    gnn_timer **timers;
    const char **names;
    uint32_t len, timed;   // timers there are; kernels of this launch
    bool failed;
} watch;

enum { MOST = 4096 };   // kernels of a launch: recurrences have many

static void on_kernel(void *user, const char *kernel, bool submitted) {
    watch *w = user;
    if (w->failed || w->timed == MOST) return;
    if (!submitted && w->timed == w->len) {
        w->failed = run_failed(w->o, gnn_timer_new(w->o->r->context, &w->timers[w->len]));
        if (w->failed) return;
        w->len++;
    }
    gnn_timer *t = w->timers[w->timed];
    w->names[w->timed] = kernel;
    w->failed = run_failed(w->o, submitted ? gnn_timer_stop(t, NULL) : gnn_timer_start(t, NULL));
    if (submitted) w->timed++;
}

static bool launch(watch *w) {
    run_op *o = w->o;
    w->timed = 0;
    const gnn_watch told = {on_kernel, w};
    return !run_failed(o, gnn_launch_watched(o->ready.plan, o->ready.args, o->op->op->nparams,
                                             o->ready.workspace, o->ready.workspace_bytes, NULL,
                                             &told)) &&
           !w->failed;
}

static bench_kernel *kernel_of(arena *a, bench_kernel_list *l, const char *name) {
    for (uint32_t i = 0; i < l->len; i++)
        if (!strcmp(l->data[i].name, name)) return &l->data[i];
    VEC_PUSH(a, l, ((bench_kernel){.name = arena_strdup(a, name)}));
    return &l->data[l->len - 1];
}

// The times of a launch, added up by kernel.
static bool read_times(watch *w, bench_kernel_list *out) {
    for (uint32_t i = 0; i < out->len; i++) out->data[i].launches = 0, out->data[i].median = 0;
    for (uint32_t i = 0; i < w->timed; i++) {
        double ms;
        if (run_failed(w->o, gnn_timer_read(w->timers[i], &ms))) return false;
        bench_kernel *k = kernel_of(w->o->r->d->arena, out, w->names[i]);
        k->launches++;
        k->median += ms;
    }
    return true;
}

static bool time_rounds(watch *w, bench_kernel_list *out) {
    enum { ROUNDS = 15 };
    const bench_session *s = (const bench_session *)w->o->r;
    double begin = clock_ms(), *ms = NULL;
    int64_t n = 0;
    for (; n < ROUNDS && (n < 3 || clock_ms() - begin < s->seconds * 1e3); n++) {
        if (!bench_ready(w->o) || !launch(w) || !read_times(w, out)) return false;
        if (!ms) ms = ARENA_ARRAY(w->o->arena, double, (size_t)out->len *ROUNDS + 1);
        for (uint32_t i = 0; i < out->len; i++) ms[i * ROUNDS + n] = out->data[i].median;
    }
    for (uint32_t i = 0; i < out->len; i++) out->data[i].median = run_median(ms + i * ROUNDS, n);
    return true;
}

bool bench_each(run_op *o, bench_kernel_list *out) {
    watch w = {.o = o,
               .timers = ARENA_ARRAY(o->arena, gnn_timer *, MOST),
               .names = ARENA_ARRAY(o->arena, const char *, MOST)};
    bool good = time_rounds(&w, out);
    for (uint32_t i = 0; i < w.len; i++) gnn_timer_free(w.timers[i]);
    return good;
}
