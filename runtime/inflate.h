// What objects hold compressed: manifests and code for GPUs.
#ifndef GNNRT_INFLATE_H
#define GNNRT_INFLATE_H

#include "context.h"

typedef struct {
    const char *data;   // a zero byte follows where it was compressed
    size_t size;
    void *owned;   // to be freed; NULL: the bytes are those that were given
} rt_plain;

// The form (MANIFEST.md): eight bytes that tell it, two numbers of 64 bits, a stream of zlib's.
// Bytes that do not begin so are plain. `whose` begins messages: "manifest", "gat_f32: code for
// sm_90a"; `fault` is the status of bytes that are damaged.
gnn_status rt_inflate(gnn_context *c, gnn_status fault, const char *whose, const void *data,
                      size_t size, rt_plain *out);

#endif
