// Compressed bytes to plain ones, by zlib, in memory of the caller's allocator. The header is not
// trusted: it is held against the bytes that are there before any memory is asked for.
#include "inflate.h"

#include <string.h>
#include <zlib.h>

static const unsigned char magic[8] = {0x89, 'g', 'n', 'n', 'c', 'z', '1', '\n'};
typedef struct {
    unsigned char magic[sizeof magic];
    unsigned char stream[8], plain[8];   // bytes of each; little-endian
} header;

// What deflate makes of a byte at most, and of the few in front of the first.
enum { MOST_RATIO = 1032 };

static uint64_t number(const unsigned char *bytes) {
    uint64_t n = 0;
    for (int i = 7; i >= 0; i--) n = n << 8 | bytes[i];
    return n;
}

static void *take(void *c, unsigned items, unsigned bytes) {
    return rt_alloc(c, (size_t)items * bytes);
}

static void give(void *c, void *memory) { rt_free(c, memory); }

static gnn_status check_sizes(gnn_context *c, gnn_status fault, const char *whose, uint64_t stream,
                              uint64_t plain, size_t given) {
    if (stream != given)
        return rt_fail(c, fault,
                       "%s: its compressed bytes are damaged: %llu by their header, but %zu", whose,
                       (unsigned long long)stream, given);
    if (plain > stream * MOST_RATIO || plain > UINT32_MAX || stream > UINT32_MAX)
        return rt_fail(c, fault,
                       "%s: its compressed bytes are damaged: %zu cannot hold the %llu that their "
                       "header says",
                       whose, given, (unsigned long long)plain);
    return GNN_OK;
}

// The stream ends in a checksum of what it holds, which zlib compares.
static gnn_status expand(gnn_context *c, gnn_status fault, const char *whose,
                         const unsigned char *stream, size_t size, rt_plain *out) {
    z_stream z = {.zalloc = take,
                  .zfree = give,
                  .opaque = c,
                  .next_in = (unsigned char *)(uintptr_t)stream,
                  .avail_in = (unsigned)size,
                  .next_out = out->owned,
                  .avail_out = (unsigned)out->size};
    if (inflateInit(&z) != Z_OK) return rt_fail(c, GNN_NO_MEMORY, "%s: zlib does not start", whose);
    const int ended = inflate(&z, Z_FINISH);
    gnn_status s = GNN_OK;
    if (ended == Z_MEM_ERROR) s = GNN_NO_MEMORY;
    else if (ended != Z_STREAM_END || z.avail_out || z.avail_in)
        s = rt_fail(c, fault, "%s: its compressed bytes are damaged: %s", whose,
                    z.msg ? z.msg : "they hold another number of bytes than their header says");
    inflateEnd(&z);
    return s;
}

gnn_status rt_inflate(gnn_context *c, gnn_status fault, const char *whose, const void *data,
                      size_t size, rt_plain *out) {
    *out = (rt_plain){data, size, NULL};
    header h;
    if (size < sizeof magic || memcmp(data, magic, sizeof magic)) return GNN_OK;
    if (size < sizeof h)
        return rt_fail(c, fault, "%s: its compressed bytes are damaged: they end in their header",
                       whose);
    memcpy(&h, data, sizeof h);
    const uint64_t plain = number(h.plain);
    gnn_status s = check_sizes(c, fault, whose, number(h.stream), plain, size - sizeof h);
    if (s) return s;
    char *memory = rt_alloc(c, plain + 1);
    if (!memory) return GNN_NO_MEMORY;
    memory[plain] = 0;
    *out = (rt_plain){memory, plain, memory};
    s = expand(c, fault, whose, (const unsigned char *)data + sizeof h, size - sizeof h, out);
    if (!s) return GNN_OK;
    rt_free(c, memory);
    *out = (rt_plain){0};
    return s;
}
