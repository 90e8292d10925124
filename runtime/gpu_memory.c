// Device memory of plans. What one gives back is kept for the next, as plans of sampled batches
// follow one another: the driver takes long to find memory, and waits for the device to take it
// back.
#include "context.h"

#include <string.h>

typedef enum {
    IN_USE,
    QUIET,       // nothing that was launched touches it
    OF_STREAM,   // what was launched on its stream may
    OF_ANY       // what was launched on any stream may
} block_state;
typedef struct {
    void *memory;
    size_t bytes;
    block_state state;
    gnn_stream stream;
} block;
struct rt_gpu_memory {
    block *blocks;
    uint32_t nblocks, room;
    size_t kept;   // bytes of blocks that nobody uses
};

// Of a batch of a million edges; more is given back to the driver.
static const size_t MOST_KEPT = (size_t)64 << 20;

// An eighth more at most, so that what differs little fits again.
static size_t round_up(size_t bytes) {
    size_t step = 256;
    while (step < bytes / 8) step *= 2;
    return (bytes + step - 1) / step * step;
}

static struct rt_gpu_memory *memory_of(gnn_context *c) {
    if (!c->gpu_memory) c->gpu_memory = rt_alloc_zeroed(c, sizeof *c->gpu_memory);
    return c->gpu_memory;
}

// ---- The driver's -------------------------------------------------------------------------------
static void forget(struct rt_gpu_memory *m, block *b) {
    if (b->state != IN_USE) m->kept -= b->bytes;
    *b = m->blocks[--m->nblocks];
}

static void release(gnn_context *c, block *b) {
    void *memory = b->memory;
    forget(c->gpu_memory, b);
    gnn_free(c, memory);
}

static void release_kept(gnn_context *c) {
    struct rt_gpu_memory *m = c->gpu_memory;
    for (uint32_t i = m->nblocks; i--;)
        if (m->blocks[i].state != IN_USE) release(c, &m->blocks[i]);
}

static gnn_status add(gnn_context *c, size_t bytes, void **out) {
    struct rt_gpu_memory *m = c->gpu_memory;
    if (m->nblocks == m->room) {
        const uint32_t room = m->room ? 2 * m->room : 64;
        block *more = rt_resize(c, m->blocks, m->room * sizeof *more, room * sizeof *more);
        if (!more) return GNN_NO_MEMORY;
        m->blocks = more;
        m->room = room;
    }
    gnn_status s = gnn_alloc(c, bytes, out);
    if (s == GNN_NO_MEMORY && m->kept) {
        gnn_context_clear_error(c);
        release_kept(c);
        s = gnn_alloc(c, bytes, out);
    }
    if (!s) m->blocks[m->nblocks++] = (block){.memory = *out, .bytes = bytes, .state = IN_USE};
    return s;
}

// ---- What is kept -------------------------------------------------------------------------------
void rt_gpu_memory_quiet(gnn_context *c, gnn_stream stream, bool all) {
    struct rt_gpu_memory *m = c->gpu_memory;
    for (uint32_t i = 0; m && i < m->nblocks; i++) {
        block *b = &m->blocks[i];
        if (b->state != IN_USE && (all || (b->state == OF_STREAM && b->stream == stream)))
            b->state = QUIET;
    }
}

static bool may_take(const block *b, gnn_stream stream, bool busy) {
    return busy ? b->state != IN_USE
                : b->state == QUIET || (b->state == OF_STREAM && b->stream == stream);
}

// The smallest that is large enough, and at most twice as large; NULL: there is none. busy: also of
// those that launches may touch.
static block *find(struct rt_gpu_memory *m, size_t bytes, gnn_stream stream, bool busy) {
    block *best = NULL;
    for (uint32_t i = 0; i < m->nblocks; i++) {
        block *b = &m->blocks[i];
        if (b->bytes >= bytes && b->bytes / 2 <= bytes && may_take(b, stream, busy) &&
            (!best || b->bytes < best->bytes))
            best = b;
    }
    return best;
}

// Waits for all that was launched.
static gnn_status quieten(gnn_context *c) {
    bool pushed;
    gnn_status s = rt_enter(c, &pushed);
    if (!s) s = CU_CALL(c, CtxSynchronize, ());
    rt_leave(c, pushed);
    if (!s) rt_gpu_memory_quiet(c, NULL, true);
    return s;
}

gnn_status rt_gpu_memory_take(gnn_context *c, size_t bytes, gnn_stream stream, void **out) {
    struct rt_gpu_memory *m = memory_of(c);
    *out = NULL;
    if (!m) return GNN_NO_MEMORY;
    if (!bytes) return GNN_OK;
    if (bytes <= MOST_KEPT) bytes = round_up(bytes);
    block *b = find(m, bytes, stream, false);
    if (!b && find(m, bytes, stream, true)) {
        gnn_status s = quieten(c);
        if (s) return s;
        b = find(m, bytes, stream, false);
    }
    if (!b) return add(c, bytes, out);
    b->state = IN_USE;
    m->kept -= b->bytes;
    *out = b->memory;
    return GNN_OK;
}

void rt_gpu_memory_give(gnn_context *c, const void *memory, const gnn_stream *stream) {
    struct rt_gpu_memory *m = c->gpu_memory;
    uint32_t i = 0;
    while (m && i < m->nblocks && m->blocks[i].memory != memory) i++;
    if (!m || !memory || i == m->nblocks) return;
    block *b = &m->blocks[i];
    b->state = stream ? OF_STREAM : OF_ANY;
    b->stream = stream ? *stream : NULL;
    m->kept += b->bytes;
    if (m->kept > MOST_KEPT && !rt_forked(c)) (void)quieten(c);
    if (m->kept > MOST_KEPT) release(c, b);
}

void rt_gpu_memory_close(gnn_context *c) {
    struct rt_gpu_memory *m = c->gpu_memory;
    if (!m) return;
    release_kept(c);
    rt_free(c, m->blocks);
    rt_free(c, m);
    c->gpu_memory = NULL;
}
