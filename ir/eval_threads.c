// A stage by all cores. Points of its left-hand variables are elements of their own, so each thread
// takes some at a time and evaluates them by a program of its own; what was sorted to find terms is
// shared. The first fault by number is the one that is told, whichever thread met it.
#include "eval_stage.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { MOST_THREADS = 64, FEWEST_TERMS = 1 << 17, CHUNKS = 32 };

typedef struct {
    const stage_run *of;
    eval_sample sample;
    uint64_t chunk;   // runs of the sample
    _Atomic uint64_t next;
} dealing;

typedef struct {
    dealing *d;
    pthread_t thread;
    evaluator ev;
    stage_run run;
    uint64_t failed_at;
    bool tells;
} worker;

// Terms, about: a key leaves each to one point.
static double terms_of(const stage_run *r, uint64_t points) {
    double n = (double)points;
    for (uint32_t j = 0; j < r->s->nbound; j += r->bound[j].joined) {
        const bound_variable *b = &r->bound[j];
        if (b->key == NO_KEY) n *= (double)b->size;
        else n = fmax(n, (double)b->npoints);
    }
    return n;
}

static void share_keys(const stage_run *from, stage_run *to) {
    memcpy(to->found_by, from->found_by, from->s->nkeys * sizeof *to->found_by);
    for (uint32_t j = 0; j < from->s->nbound; j++) to->bound[j] = from->bound[j];
}

static void tell_progress(const worker *w, uint64_t from) {
    const stage_run *r = w->d->of;
    double stages = (double)r->ev->op->stages.len, stage = (double)(r->s - r->ev->op->stages.data);
    if (w->tells && r->ev->in->progress)
        r->ev->in->progress(r->ev->in->user,
                            (stage + (double)from / (double)w->d->sample.runs) / stages);
}

static void take_points(worker *w) {
    const dealing *d = w->d;
    for (uint64_t from;
         (from = atomic_fetch_add(&w->d->next, d->chunk)) < d->sample.runs && !w->ev.why;) {
        w->failed_at = from;
        tell_progress(w, from);
        for (uint64_t run = from; run < from + d->chunk && run < d->sample.runs && !w->ev.why;
             run++)
            eval_sample_run(&w->run, &d->sample, run);
    }
}

static void *work(void *user) {
    worker *w = user;
    w->run.ev = &w->ev;
    eval_run_prepare(&w->run);
    if (!w->ev.why) {
        share_keys(w->d->of, &w->run);
        take_points(w);
    }
    return NULL;
}

static void start(worker *w, dealing *d) {
    const evaluator *ev = d->of->ev;
    *w = (worker){
        .d = d, .ev = *ev, .run = {.s = d->of->s, .kept_at = d->sample.one_in > 1 ? 0 : -1}};
    w->ev.results = w->ev.scratch = w->ev.temp = arena_new();
    w->ev.vars = ARENA_ARRAY(w->ev.temp, int64_t, ev->op->vars.len + 1);
    memcpy(w->ev.vars, ev->vars, ev->op->vars.len * sizeof *ev->vars);
}

static void finish(evaluator *ev, worker *workers, uint32_t n) {
    uint64_t steps = ev->steps, first = UINT64_MAX;
    for (uint32_t i = 0; i < n; i++) {
        worker *w = &workers[i];
        steps += w->ev.steps - ev->steps;
        ev->overflows |= w->ev.overflows;
        if (w->ev.why && w->failed_at < first) {
            first = w->failed_at;
            ev->why = arena_strdup(ev->results, w->ev.why);
        }
        arena_free(w->ev.temp);
    }
    ev->steps = steps;
}

// What is computed when it is read is one thread's.
static bool may_share(const evaluator *ev) {
    bool waits = false;
    for (uint32_t i = 0; ev->in->one_in > 1 && i < ev->op->stages.len; i++)
        waits |= tensor_may_wait(ev->op, &ev->op->stages.data[i]);
    return !waits && !ev->in->max_steps && !ev->guessing;
}

static void expect_results(const stage_run *r, const eval_sample *x) {
    for (uint32_t t = 0; t < r->s->ntargets; t++) {
        // known before there are threads
        if (r->targets[t]->info->type == DT_INDEX) eval_size(r->ev, r->targets[t]->info->into);
        if (r->targets[t]->sampled && x->one_in > 1)
            eval_slot_expect(r->ev, r->targets[t], eval_sample_size(x));
    }
}

bool eval_in_threads(stage_run *r, uint64_t one_in) {
    const eval_sample x = eval_sample_of(r, one_in);
    if (terms_of(r, x.points) / (double)x.one_in < FEWEST_TERMS || !may_share(r->ev)) return false;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);   // which opens a file
    uint32_t n = cores < 2 ? 1 : cores > MOST_THREADS ? MOST_THREADS : (uint32_t)cores, begun = 0;
    if (n < 2 || x.runs < 2 * n) return false;
    expect_results(r, &x);
    dealing d = {.of = r, .sample = x, .chunk = x.runs / (n * CHUNKS) + 1};
    worker *workers = ARENA_ARRAY(r->ev->temp, worker, n);
    for (uint32_t i = 0; i < n; i++) start(&workers[i], &d);
    while (begun + 1 < n && !pthread_create(&workers[begun].thread, NULL, work, &workers[begun]))
        begun++;
    workers[n - 1].tells = true;
    work(&workers[n - 1]);   // this thread, too; alone where there are no others to be had
    for (uint32_t i = 0; i < begun; i++) pthread_join(workers[i].thread, NULL);
    finish(r->ev, workers, n);
    return true;
}
