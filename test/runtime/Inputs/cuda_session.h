// A program on the fake driver, one call after the other as applications do it: opened, launched,
// captured and replayed, closed.
#ifndef CUDA_SESSION_H
#define CUDA_SESSION_H

#include "fake_cuda.h"
#include "harness.h"
#include "play_cuda.h"

enum { E = 6, U = 3, V = 4, F = 2 };
static UNUSED int32_t src[E] = {0, 1, 2, 0, 2, 1};
static UNUSED int64_t rows[V + 1] = {0, 2, 2, 3, 6};
static UNUSED float x[U * F] = {1, 2, 3, 4, 5, 6};
// 3 times the sums: 0.5 (1 + 2 + 3)
static UNUSED const float wanted[V * F] = {12, 18, 0, 0, 15, 18, 27, 36};

static UNUSED void slots_of(void **params, int n, uint64_t *slots) {
    for (int i = 0; i < n; i++) memcpy(&slots[i], params[i], sizeof *slots);
}

typedef void host_kernel(const uint64_t *slots, uint32_t block, uint32_t blocks);

static UNUSED void run_blocks(host_kernel *kernel, void **params, int n, unsigned grid,
                              unsigned block, unsigned shared) {
    uint64_t slots[7];
    CHECK(block == 32 && shared == 0);
    slots_of(params, n, slots);
    for (unsigned b = 0; b < grid; b++) kernel(slots, b, grid);
}

static UNUSED void fake_gather(void **params, unsigned grid, unsigned block, unsigned shared) {
    run_blocks(gather32, params, 7, grid, block, shared);
}

static UNUSED void fake_add(void **params, unsigned grid, unsigned block, unsigned shared) {
    run_blocks(add, params, 6, grid, block, shared);
}

static UNUSED gnn_context *new_cuda(ledger *l) {
    gnn_context *c = NULL;
    *l = (ledger){.fail_at = -1};
    gnn_context_new(&(gnn_context_options){.device = GNN_GPU(1),
                                           .allocator = {ledger_alloc, ledger_release, l}},
                    &c);
    return c;
}

static UNUSED void start(void) {
    fake_forget();
    fake_register("gather", fake_gather, 7, 0);
    fake_register("add", fake_add, 6, 0);
    play_begin(1);
}

// Everything once, in the order a program would.
typedef struct {
    gnn_program *p;
    gnn_plan *plan;
    gnn_stream stream;
    gnn_timer *timer;
    gnn_replay *replay;
    void *x, *y, *src, *workspace;
    float result[V * F];
} session;

static UNUSED gnn_status open_text(gnn_context *c, session *s, uint32_t flags, const char *text) {
    static const char image[] = "fake";
    *s = (session){0};
    gnn_status e = gnn_program_load(c, text, strlen(text),
                                    &(gnn_code){.image = image, .size = sizeof image}, &s->p);
    if (!e) e = gnn_stream_new(c, &s->stream);
    if (!e) e = gnn_alloc(c, sizeof x, &s->x);
    if (!e) e = gnn_alloc(c, sizeof s->result, &s->y);
    if (!e) e = gnn_alloc(c, sizeof src, &s->src);
    if (!e) e = gnn_copy_in(c, s->x, x, sizeof x, s->stream);
    if (!e) e = gnn_copy_in(c, s->src, src, sizeof src, s->stream);
    const gnn_named_map maps[] = {
        {"src", {.index = s->src, .width = 32, .on_device = true, .domain = E, .codomain = U}},
        {"dst", {.offsets = rows, .width = 64, .domain = E, .codomain = V}}};
    if (!e)
        e = gnn_plan_new(s->p,
                         &(gnn_plan_options){.sizes = &(gnn_size){"F", F},
                                             .nsizes = 1,
                                             .maps = maps,
                                             .nmaps = 2,
                                             .flags = flags,
                                             .stream = s->stream},
                         &s->plan);
    if (!e) e = gnn_alloc(c, gnn_plan_workspace(s->plan), &s->workspace);
    return e ? e : gnn_timer_new(c, &s->timer);
}

static UNUSED gnn_status open_session(gnn_context *c, session *s, uint32_t flags) {
    return open_text(c, s, flags, SPMM("sm_90", "32"));
}

static UNUSED gnn_status launch_told(session *s, float alpha, gnn_stream stream,
                                     const gnn_watch *watch) {
    const gnn_tensor tx = {.data = s->x, .dtype = GNN_F32, .rank = 2, .shape = {U, F}};
    const gnn_tensor ty = {.data = s->y, .dtype = GNN_F32, .rank = 2, .shape = {V, F}};
    const gnn_arg args[5] = {
        [2] = {.tensor = &tx}, [3] = {.scalar = {.f32 = alpha}}, [4] = {.tensor = &ty}};
    const size_t bytes = gnn_plan_workspace(s->plan);
    return watch ? gnn_launch_watched(s->plan, args, 5, s->workspace, bytes, stream, watch)
                 : gnn_launch(s->plan, args, 5, s->workspace, bytes, stream);
}

static UNUSED gnn_status launch(session *s, float alpha, gnn_stream stream) {
    return launch_told(s, alpha, stream, NULL);
}

static UNUSED gnn_status use_session(gnn_context *c, session *s) {
    double ms;
    gnn_status e = gnn_fill(c, s->y, 0xff, sizeof s->result, s->stream);
    if (!e) e = gnn_timer_start(s->timer, s->stream);
    if (!e) e = launch(s, 0.5f, s->stream);
    if (!e) e = gnn_timer_stop(s->timer, s->stream);
    if (!e) e = gnn_timer_read(s->timer, &ms);
    if (!e) e = gnn_copy_out(c, s->result, s->y, sizeof s->result, s->stream);
    return e ? e : gnn_sync(c, s->stream);
}

// A launch that is captured, replayed, and read back.
static UNUSED gnn_status capture_session(gnn_context *c, session *s) {
    gnn_status e = gnn_capture_begin(c, s->stream);
    if (e) return e;
    e = launch(s, 0.5f, s->stream);
    const gnn_status ended = gnn_capture_end(c, s->stream, e ? NULL : &s->replay);
    return e ? e : ended;
}

static UNUSED gnn_status replay_session(gnn_context *c, session *s) {
    gnn_status e = gnn_fill(c, s->y, 0xff, sizeof s->result, s->stream);
    if (!e) e = gnn_replay_launch(s->replay, s->stream);
    if (!e) e = gnn_copy_out(c, s->result, s->y, sizeof s->result, s->stream);
    return e ? e : gnn_sync(c, s->stream);
}

static UNUSED void close_session(gnn_context *c, session *s) {
    gnn_replay_free(s->replay);
    gnn_timer_free(s->timer);
    gnn_free(c, s->workspace);
    gnn_plan_free(s->plan);
    gnn_free(c, s->src);
    gnn_free(c, s->y);
    gnn_free(c, s->x);
    gnn_stream_free(c, s->stream);
    gnn_program_free(s->p);
}

#endif
