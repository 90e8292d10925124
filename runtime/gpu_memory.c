// Device memory of plans. What one gives back is kept for the next, as plans of sampled batches
// follow one another: the driver takes long to find memory, and waits for the device to take it
// back. It gives slabs, which are cut into blocks.
#include "context.h"

#include <string.h>

typedef enum {
    IN_USE,
    QUIET,       // nothing that was launched touches it
    OF_STREAM,   // what was launched on its stream may
    OF_ANY       // what was launched on any stream may
} block_state;
typedef struct {
    char *memory;
    size_t bytes, slab;   // slab: bytes of that which begins here; 0: none does
    block_state state;
    gnn_stream stream;
} block;
struct rt_gpu_memory {
    block *blocks;   // by address
    uint32_t nblocks, room;
    size_t held, kept,
        most;   // bytes of all blocks, of those that nobody uses; what is kept at most
};

static const size_t SLAB = (size_t)8 << 20;   // at least; a quarter of what there is, to have few
// Beyond a part of the device's memory slabs are given back to the driver.
enum { PART_KEPT = 64 };

static gnn_status begin(gnn_context *c) {   // where nothing was taken so far
    gnn_device_info info;
    if (c->gpu_memory) return GNN_OK;
    gnn_status s = gnn_device_query(c, &info);
    if (!s) c->gpu_memory = rt_alloc_zeroed(c, sizeof *c->gpu_memory);
    if (c->gpu_memory) c->gpu_memory->most = (size_t)info.memory / PART_KEPT;
    return s || c->gpu_memory ? s : GNN_NO_MEMORY;
}

// ---- Blocks -------------------------------------------------------------------------------------
// The first that begins at an address or behind it.
static uint32_t place_of(const struct rt_gpu_memory *m, const void *memory) {
    uint32_t low = 0, high = m->nblocks;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if ((uintptr_t)m->blocks[middle].memory < (uintptr_t)memory) low = middle + 1;
        else high = middle;
    }
    return low;
}

static gnn_status make_room(gnn_context *c) {
    struct rt_gpu_memory *m = c->gpu_memory;
    const uint32_t room = m->room ? 2 * m->room : 64;
    if (m->nblocks < m->room) return GNN_OK;
    block *more = rt_resize(c, m->blocks, m->room * sizeof *more, room * sizeof *more);
    if (!more) return GNN_NO_MEMORY;
    m->blocks = more;
    m->room = room;
    return GNN_OK;
}

// There is room.
static block *insert(struct rt_gpu_memory *m, uint32_t at, block b) {
    memmove(&m->blocks[at + 1], &m->blocks[at], (m->nblocks++ - at) * sizeof b);
    m->blocks[at] = b;
    return &m->blocks[at];
}

static void erase(struct rt_gpu_memory *m, uint32_t at) {
    memmove(&m->blocks[at], &m->blocks[at + 1], (--m->nblocks - at) * sizeof *m->blocks);
}

static bool are_one(const block *a, const block *b) {   // b follows a
    return !b->slab && a->state != IN_USE && a->state == b->state && a->stream == b->stream;
}

// With those before and behind it that are as free; gives where it is then.
static uint32_t merge(struct rt_gpu_memory *m, uint32_t at) {
    while (at + 1 < m->nblocks && are_one(&m->blocks[at], &m->blocks[at + 1])) {
        m->blocks[at].bytes += m->blocks[at + 1].bytes;
        erase(m, at + 1);
    }
    return at && are_one(&m->blocks[at - 1], &m->blocks[at]) ? merge(m, at - 1) : at;
}

void rt_gpu_memory_quiet(gnn_context *c, gnn_stream stream, bool all) {
    struct rt_gpu_memory *m = c->gpu_memory;
    for (uint32_t i = 0; m && i < m->nblocks; i++) {
        block *b = &m->blocks[i];
        if (b->state == IN_USE || !(all || (b->state == OF_STREAM && b->stream == stream)))
            continue;
        b->state = QUIET;
        b->stream = NULL;
    }
    for (uint32_t i = 0; m && i < m->nblocks; i++) i = merge(m, i);
}

// ---- Slabs --------------------------------------------------------------------------------------
static gnn_status quieten(gnn_context *c) {   // waits for all that was launched
    bool pushed;
    gnn_status s = rt_enter(c, &pushed);
    if (!s) s = CU_CALL(c, CtxSynchronize, ());
    rt_leave(c, pushed);
    if (!s) rt_gpu_memory_quiet(c, NULL, true);
    return s;
}

static bool is_slab(const block *b) { return b->state != IN_USE && b->slab == b->bytes; }

// Nobody uses any of its blocks, though launches may.
static bool has_free_slab(const struct rt_gpu_memory *m) {
    bool free = false;
    for (uint32_t i = 0; i < m->nblocks; i++) {
        if (free && m->blocks[i].slab) return true;
        free = (free || m->blocks[i].slab) && m->blocks[i].state != IN_USE;
    }
    return free;
}

static void release(gnn_context *c, uint32_t at) {
    struct rt_gpu_memory *m = c->gpu_memory;
    void *memory = m->blocks[at].memory;
    m->kept -= m->blocks[at].bytes;
    m->held -= m->blocks[at].bytes;
    erase(m, at);
    gnn_free(c, memory);
}

static void release_all(gnn_context *c) {
    for (uint32_t i = c->gpu_memory->nblocks; i--;)
        if (is_slab(&c->gpu_memory->blocks[i])) release(c, i);
}

static gnn_status alloc_slab(gnn_context *c, size_t bytes, void **out) {
    gnn_status s = gnn_alloc(c, bytes, out);
    if (s != GNN_NO_MEMORY || !c->gpu_memory->kept) return s;
    gnn_context_clear_error(c);
    s = quieten(c);
    if (!s) release_all(c);
    return s ? s : gnn_alloc(c, bytes, out);
}

static gnn_status add_slab(gnn_context *c, size_t bytes) {
    struct rt_gpu_memory *m = c->gpu_memory;
    size_t slab = m->held / 4 > SLAB ? m->held / 4 / SLAB * SLAB : SLAB;
    if (bytes > slab || !m->most) slab = bytes;
    void *memory;
    gnn_status s = make_room(c);
    if (!s) s = alloc_slab(c, slab, &memory);
    if (s == GNN_NO_MEMORY && bytes < slab) {
        gnn_context_clear_error(c);
        slab = bytes;
        s = gnn_alloc(c, slab, &memory);
    }
    if (s) return s;
    m->kept += slab;
    m->held += slab;
    insert(m, place_of(m, memory),
           (block){.memory = memory, .bytes = slab, .slab = slab, .state = QUIET});
    return GNN_OK;
}

// ---- Taking and giving --------------------------------------------------------------------------
// The smallest that is large enough, and that work on the stream may use; NULL: there is none.
static block *find(struct rt_gpu_memory *m, size_t bytes, gnn_stream stream) {
    block *best = NULL;
    for (uint32_t i = 0; i < m->nblocks; i++) {
        block *b = &m->blocks[i];
        const bool may = b->state == QUIET || (b->state == OF_STREAM && b->stream == stream);
        if (may && b->bytes >= bytes && (!best || b->bytes < best->bytes)) best = b;
    }
    return best;
}

// A wait may make one of what is free.
static bool may_wait_for(const struct rt_gpu_memory *m, size_t bytes) {
    size_t run = 0;
    for (uint32_t i = 0; i < m->nblocks && run < bytes; i++)
        run = m->blocks[i].state == IN_USE ? 0
              : m->blocks[i].slab          ? m->blocks[i].bytes
                                           : run + m->blocks[i].bytes;
    return run >= bytes;
}

static void *use(struct rt_gpu_memory *m, block *b, size_t bytes) {
    if (b->bytes > bytes) {
        block rest = *b;
        rest.memory += bytes;
        rest.bytes -= bytes;
        rest.slab = 0;
        b = insert(m, (uint32_t)(b - m->blocks) + 1, rest) - 1;
        b->bytes = bytes;
    }
    b->state = IN_USE;
    m->kept -= bytes;
    return b->memory;
}

gnn_status rt_gpu_memory_take(gnn_context *c, size_t bytes, gnn_stream stream, void **out) {
    enum { ALIGNMENT = 256 };
    *out = NULL;
    gnn_status s = begin(c);
    struct rt_gpu_memory *m = c->gpu_memory;
    if (s || !bytes) return s;
    if (bytes > SIZE_MAX - ALIGNMENT)
        return rt_fail(c, GNN_NO_MEMORY, "no memory holds %zu bytes", bytes);
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    s = make_room(c);
    block *b = s ? NULL : find(m, bytes, stream);
    if (!s && !b && may_wait_for(m, bytes)) {
        s = quieten(c);
        b = find(m, bytes, stream);
    }
    if (!s && !b) {
        s = add_slab(c, bytes);
        if (!s) s = make_room(c);
        b = find(m, bytes, stream);
    }
    if (!s) *out = use(m, b, bytes);
    return s;
}

void rt_gpu_memory_give(gnn_context *c, const void *memory, const gnn_stream *stream) {
    struct rt_gpu_memory *m = c->gpu_memory;
    const uint32_t at = m ? place_of(m, memory) : 0;
    if (!m || at == m->nblocks || m->blocks[at].memory != memory) return;
    block *b = &m->blocks[at];
    b->state = stream ? OF_STREAM : OF_ANY;
    b->stream = stream ? *stream : NULL;
    m->kept += b->bytes;
    merge(m, at);
    if (m->kept <= m->most || rt_forked(c) || !has_free_slab(m) || quieten(c)) return;
    for (uint32_t i = m->nblocks; i-- && m->kept > m->most;)
        if (is_slab(&m->blocks[i])) release(c, i);
}

gnn_status rt_gpu_memory_keep(gnn_context *c, size_t most) {
    gnn_status s = begin(c);
    if (!s) c->gpu_memory->most = most;
    return s;
}

void rt_gpu_memory_close(gnn_context *c) {
    struct rt_gpu_memory *m = c->gpu_memory;
    if (!m) return;
    for (uint32_t i = 0; i < m->nblocks; i++)
        if (m->blocks[i].slab) gnn_free(c, m->blocks[i].memory);
    rt_free(c, m->blocks);
    rt_free(c, m);
    c->gpu_memory = NULL;
}
