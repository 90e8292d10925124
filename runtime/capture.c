// Launches captured into a CUDA graph, which is made ready once and launched as a whole.
#include "size_expr.h"

struct gnn_replay {
    gnn_context *c;
    rt_cuda_replay graph;
};

static gnn_status can_capture(gnn_context *c, gnn_stream stream) {
    const rt_cuda_api *d = &c->cuda;
    if (!rt_on_cuda(c))
        return rt_fail(c, GNN_NO_CAPTURE, "only launches on a CUDA device can be captured");
    if (!d->CaptureBegin || !d->CaptureEnd || !d->GraphDestroy || !d->ReplayCreate ||
        !d->ReplayLaunch || !d->ReplayDestroy)
        return rt_fail(c, GNN_NO_CAPTURE,
                       "the driver captures no launches: those from CUDA 11.4 on do");
    return stream
               ? GNN_OK
               : rt_fail(c, GNN_BAD_ARGUMENT,
                         "the default stream cannot be captured: launch on one of gnn_stream_new");
}

gnn_status gnn_capture_begin(gnn_context *c, gnn_stream stream) {
    // of CUstreamCaptureMode: what other threads allocate does not disturb it
    enum { THREAD_LOCAL = 1 };
    if (!rt_begin(c, __func__, true)) return GNN_BAD_ARGUMENT;
    gnn_status s = can_capture(c, stream);
    if (s) return s;
    bool pushed;
    s = rt_enter(c, &pushed);
    if (!s) s = CU_CALL(c, CaptureBegin, (stream, THREAD_LOCAL));
    rt_leave(c, pushed);
    return s;
}

static gnn_status keep(gnn_context *c, rt_cuda_replay graph, gnn_replay **out) {
    gnn_replay *r = rt_alloc(c, sizeof *r);
    if (!r) return GNN_NO_MEMORY;
    *r = (gnn_replay){c, graph};
    *out = r;
    return GNN_OK;
}

// The driver gives no graph where the capture has failed.
static gnn_status end(gnn_context *c, gnn_stream stream, gnn_replay **out) {
    rt_cuda_graph graph = NULL;
    rt_cuda_replay ready = NULL;
    gnn_status s = CU_CALL(c, CaptureEnd, (stream, &graph));
    if (!s && out) s = CU_CALL(c, ReplayCreate, (&ready, graph, 0));
    gnn_status freed = graph ? CU_CALL(c, GraphDestroy, (graph)) : GNN_OK;
    if (!s) s = freed;
    if (!s && ready) s = keep(c, ready, out);
    if (s && ready) c->cuda.ReplayDestroy(ready);
    return s;
}

gnn_status gnn_capture_end(gnn_context *c, gnn_stream stream, gnn_replay **out) {
    if (out) *out = NULL;
    if (!rt_begin(c, __func__, true)) return GNN_BAD_ARGUMENT;
    gnn_status s = can_capture(c, stream);
    if (s) return s;
    bool pushed;
    s = rt_enter(c, &pushed);
    if (!s) s = end(c, stream, out);
    rt_leave(c, pushed);
    return s;
}

gnn_status gnn_replay_launch(gnn_replay *r, gnn_stream stream) {
    if (!rt_begin(RT_OF(r), __func__, true)) return GNN_BAD_ARGUMENT;
    bool pushed;
    gnn_status s = rt_enter_to_launch(r->c, &pushed);
    if (!s) s = CU_CALL(r->c, ReplayLaunch, (r->graph, stream));
    rt_leave(r->c, pushed);
    return s;
}

void gnn_replay_free(gnn_replay *r) {
    if (!r) return;
    gnn_context *c = r->c;
    bool pushed;
    if (rt_enter_to_free(c, &pushed))
        (void)CU_CALL(c, ReplayDestroy, (r->graph));   // the context keeps what went wrong
    rt_leave(c, pushed);
    rt_free(c, r);
}
