// Launches that are captured on a driver that is a fake, which does as CUDA's rules have it, and
// their replays.
#include "Inputs/cuda_session.h"

// Nothing a launch does is forbidden while its stream is captured, and nothing of it is run; what
// is replayed was told by that call, but for what the memory holds.
static void captured(gnn_context *c, session *s, ledger *l) {
    static const float twice[U * F] = {2, 4, 6, 8, 10, 12}, zeros[V * F];
    const int64_t launches = fake_calls("cuLaunchKernel"), host = l->calls;
    GOOD(c, gnn_fill(c, s->y, 0, sizeof wanted, s->stream));
    GOOD(c, capture_session(c, s));
    CHECK(fake_illegal() == 0 && fake_calls("cuLaunchKernel") == launches + 4 &&
          l->calls == host + 1);
    GOOD(c, gnn_copy_out(c, s->result, s->y, sizeof wanted, s->stream));
    CHECK(!memcmp(s->result, zeros, sizeof zeros));
    GOOD(c, launch(s, 2, s->stream));
    const int64_t calls = fake_calls(NULL);
    GOOD(c, gnn_replay_launch(s->replay, s->stream));
    CHECK(fake_calls(NULL) == calls + 3);   // as a launch of one kernel
    GOOD(c, replay_session(c, s));
    CHECK(!memcmp(s->result, wanted, sizeof wanted));
    GOOD(c, gnn_copy_in(c, s->x, twice, sizeof twice, s->stream));
    GOOD(c, gnn_replay_launch(s->replay, NULL));
    GOOD(c, gnn_copy_out(c, s->result, s->y, sizeof wanted, s->stream));
    for (int i = 0; i < V * F; i++) CHECK(s->result[i] == 2 * wanted[i]);
    gnn_replay_free(s->replay);
    s->replay = NULL;
}

// What is forbidden spoils a capture, which ends all the same.
static void spoilt(gnn_context *c, session *s) {
    static const char invalid[] =
        "CUDA driver, CaptureEnd: CUDA_ERROR_STREAM_CAPTURE_INVALIDATED (the capture was spoilt)";
    void *memory;
    GOOD(c, gnn_capture_begin(c, s->stream));
    EXPECT(
        c, gnn_sync(c, s->stream), CUDA,
        "CUDA driver, StreamSynchronize: CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED (not while a stream is captured)");
    EXPECT(c, gnn_capture_end(c, s->stream, &s->replay), CUDA, invalid);
    CHECK(fake_illegal() == 1 && !s->replay);
    GOOD(c, gnn_capture_begin(c, s->stream));
    CHECK(gnn_alloc(c, 8, &memory) == GNN_CUDA && !memory);
    gnn_context_clear_error(c);
    EXPECT(c, gnn_capture_end(c, s->stream, NULL), CUDA, invalid);
    GOOD(c, gnn_capture_begin(c, s->stream));
    // by the driver: a stream of its own kind may wait for the default one
    GOOD(c, launch(s, 1, NULL));
    EXPECT(c, gnn_capture_end(c, s->stream, &s->replay), CUDA, invalid);
    CHECK(fake_illegal() == 6);
}

static void refuses_captures(gnn_context *c, session *s) {
    static const char default_stream[] =
        "the default stream cannot be captured: launch on one of gnn_stream_new";
    EXPECT(c, gnn_capture_begin(c, NULL), BAD_ARGUMENT, default_stream);
    EXPECT(c, gnn_capture_end(c, NULL, &s->replay), BAD_ARGUMENT, default_stream);
    EXPECT(c, gnn_capture_end(c, s->stream, &s->replay), CUDA,
           "CUDA driver, CaptureEnd: CUDA_ERROR_ILLEGAL_STATE (not in this state)");
    GOOD(c, gnn_capture_begin(c, s->stream));
    EXPECT(c, gnn_capture_begin(c, s->stream), CUDA,
           "CUDA driver, CaptureBegin: CUDA_ERROR_ILLEGAL_STATE (not in this state)");
    // nothing is recorded
    CHECK(gnn_launch(s->plan, NULL, 0, NULL, 0, s->stream) == GNN_BAD_ARGUMENT);
    gnn_context_clear_error(c);
    GOOD(c, gnn_capture_end(c, s->stream, NULL));
    CHECK(gnn_replay_launch(NULL, s->stream) == GNN_BAD_ARGUMENT &&
          gnn_capture_begin(NULL, s->stream) == GNN_BAD_ARGUMENT &&
          gnn_capture_end(NULL, s->stream, NULL) == GNN_BAD_ARGUMENT);
    gnn_replay_free(NULL);
}

static void old_drivers(gnn_context *c, session *s) {
    const rt_cuda_api all = c->cuda;
    void *const calls[] = {&c->cuda.CaptureBegin, &c->cuda.CaptureEnd,   &c->cuda.GraphDestroy,
                           &c->cuda.ReplayCreate, &c->cuda.ReplayLaunch, &c->cuda.ReplayDestroy};
    for (uint32_t i = 0; i < RT_COUNT(calls); i++) {
        memset(calls[i], 0, sizeof(void *));
        EXPECT(c, gnn_capture_begin(c, s->stream), NO_CAPTURE,
               "the driver captures no launches: those from CUDA 11.4 on do");
        CHECK(gnn_capture_end(c, s->stream, &s->replay) == GNN_NO_CAPTURE);
        gnn_context_clear_error(c);
        c->cuda = all;
    }
}

static void no_memory_for_a_replay(gnn_context *c, session *s, ledger *l) {
    const int64_t live = fake_live();
    GOOD(c, gnn_capture_begin(c, s->stream));
    l->fail_at = l->calls;
    CHECK(gnn_capture_end(c, s->stream, &s->replay) == GNN_NO_MEMORY && !s->replay);
    CHECK(fake_live() == live);
    gnn_context_clear_error(c);
}

int main(void) {
    ledger l;
    session s;
    start();
    gnn_context *c = new_cuda(&l);
    GOOD(c, open_session(c, &s, 0));
    captured(c, &s, &l);
    spoilt(c, &s);
    refuses_captures(c, &s);
    old_drivers(c, &s);
    no_memory_for_a_replay(c, &s, &l);
    GOOD(c, gnn_copy_in(c, s.x, x, sizeof x, s.stream));
    GOOD(c, capture_session(c, &s));
    GOOD(c, replay_session(c, &s));
    CHECK(!memcmp(s.result, wanted, sizeof wanted));
    close_session(c, &s);
    end_context(c, &l);
    CHECK(fake_live() == 0);
    return failed;
}
