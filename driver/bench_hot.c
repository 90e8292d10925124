// A launch's share of ten that follow each other, their data in the cache where that holds them:
// the median of a few series. On a GPU they are captured once and replayed: the host takes longer
// to submit a small launch than the device to run it. There, too, what a replay of one launch takes
// among ten of them, which is what an application that captured the op sees: the larger of what the
// device does and what the driver takes to submit it.
#include "bench.h"

#include <string.h>

enum { SERIES = 5, LAUNCHES = 10 };
typedef struct {
    run_op *o;
    gnn_stream stream;
    gnn_timer *timer;
    gnn_replay *replay;      // NULL: nothing can be captured
    int launches, replays;   // of a series: so many launches, each of so many replays
} series;

static bool launch_all(const series *s) {
    for (int i = 0; i < s->launches; i++)
        if (!bench_launch(s->o, s->stream)) return false;
    return true;
}

static bool capture(series *s) {
    gnn_context *c = s->o->r->context;
    gnn_status began = gnn_capture_begin(c, s->stream);
    if (began == GNN_NO_CAPTURE) {
        gnn_context_clear_error(c);
        return true;
    }
    if (run_failed(s->o, began)) return false;
    bool good = launch_all(s);
    gnn_status ended = gnn_capture_end(c, s->stream, good ? &s->replay : NULL);
    return good && !run_failed(s->o, ended);
}

static bool submit(const series *s) {
    return s->replay ? !run_failed(s->o, gnn_replay_launch(s->replay, s->stream)) : launch_all(s);
}

static bool submit_all(const series *s) {
    for (int i = 0; i < s->replays; i++)
        if (!submit(s)) return false;
    return true;
}

// A replay that is timed is submitted while another runs, so that it waits for no host.
static bool time_series(const series *s, double *ms) {
    return (!s->replay || submit(s)) && !run_failed(s->o, gnn_timer_start(s->timer, s->stream)) &&
           submit_all(s) && !run_failed(s->o, gnn_timer_stop(s->timer, s->stream)) &&
           !run_failed(s->o, gnn_timer_read(s->timer, ms));
}

static bool time_all(const series *s, double *ms) {
    double each[SERIES], limit = ((const bench_session *)s->o->r)->seconds * 1e3, spent = 0;
    int64_t n = 0;
    for (; n < SERIES && (!n || spent < limit); spent += each[n++])
        if (!time_series(s, &each[n])) return false;
    *ms = run_median(each, n) / s->launches / s->replays;
    return true;
}

static bool time_share(run_op *o, int launches, int replays, double *ms, bool *replayed) {
    gnn_context *c = o->r->context;
    series s = {.o = o, .launches = launches, .replays = replays};
    bool good = !run_failed(o, gnn_stream_new(c, &s.stream)) &&
                !run_failed(o, gnn_timer_new(c, &s.timer)) && capture(&s) && time_all(&s, ms);
    *replayed = s.replay != NULL;
    gnn_replay_free(s.replay);
    gnn_timer_free(s.timer);
    gnn_stream_free(c, s.stream);
    return good;
}

bool bench_hot(run_op *o, bench_shares *out) {
    bool *replayed = &((bench_session *)o->r)->replayed;
    *out = (bench_shares){0};
    if (!time_share(o, LAUNCHES, 1, &out->hot, replayed)) return false;
    return !*replayed || time_share(o, 1, LAUNCHES, &out->replay, replayed);
}
