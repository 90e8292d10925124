// Writes an array as .npy version 1.0, row-major. The file appears whole or not at all: it is
// written beside its place and then renamed.
#define _POSIX_C_SOURCE 200809L
#include "read_arrays.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ALIGNMENT = 64, HEADER = 10, CHUNK = 4096 };

static const char *type_text(gnn_dtype t) {
    switch (t) {
    case GNN_F64: return "<f8";
    case GNN_F32: return "<f4";
    case GNN_BF16: return "<f4";   // numpy knows no bf16
    case GNN_F16: return "<f2";
    case GNN_I32: return "<i4";
    case GNN_I64: return "<i8";
    case GNN_BOOL: return "|b1";
    case GNN_DTYPE_COUNT: break;
    }
    return NULL;
}

// Padded so that the data begins at a multiple of 64 bytes.
size_t rt_npy_write_header(const gnn_array *a, unsigned char out[RT_NPY_HEADER]) {
    char *text = (char *)out + HEADER;
    size_t room = RT_NPY_HEADER - HEADER;
    size_t n = (size_t)snprintf(text, room, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                                type_text(a->dtype));
    for (uint32_t i = 0; i < a->rank; i++)
        n += (size_t)snprintf(text + n, room - n, "%s%lld%s", i ? ", " : "", (long long)a->shape[i],
                              a->rank == 1 ? "," : "");
    n += (size_t)snprintf(text + n, room - n, "), }");
    size_t total = (HEADER + n + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    memset(text + n, ' ', total - HEADER - n);
    out[total - 1] = '\n';
    // NOLINTNEXTLINE(bugprone-not-null-terminated-result): bytes, no text
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (unsigned char)((total - HEADER) & 255);
    out[9] = (unsigned char)((total - HEADER) >> 8);
    return total;
}

static bool write_bf16(FILE *f, const uint16_t *from, size_t count) {
    uint32_t wide[CHUNK];
    while (count) {
        size_t n = count < CHUNK ? count : CHUNK;
        for (size_t i = 0; i < n; i++) wide[i] = (uint32_t)from[i] << 16;
        if (fwrite(wide, sizeof *wide, n, f) != n) return false;
        from += n;
        count -= n;
    }
    return true;
}

static bool write_array(FILE *f, const gnn_array *a) {
    unsigned char header[RT_NPY_HEADER];
    size_t n = rt_npy_write_header(a, header), count = (size_t)gnn_array_count(a),
           bytes = gnn_dtype_bytes(a->dtype);
    if (fwrite(header, 1, n, f) != n) return false;
    if (a->dtype == GNN_BF16) return write_bf16(f, a->data, count);
    return count == 0 || fwrite(a->data, bytes, count, f) == count;
}

static gnn_status write_file(gnn_context *c, const char *path, const char *draft,
                             const gnn_array *a) {
    struct stat st;
    bool stands = lstat(path, &st) == 0;
    if (!stands && errno != ENOENT && errno != ENOTDIR)
        return rt_fail(c, GNN_IO, "%s: %s", rt_short_name(path), strerror(errno));
    // a device, pipe or link: renaming would replace it
    bool in_place = stands && !S_ISREG(st.st_mode);
    FILE *f = fopen(in_place ? path : draft, in_place ? "wb" : "wbx");
    if (!f)
        return rt_fail(c, errno == ENOMEM ? GNN_NO_MEMORY : GNN_IO, "%s: %s", rt_short_name(path),
                       strerror(errno));
    errno = 0;
    bool good = write_array(f, a);
    int why = errno;
    if (fclose(f) && good) {
        good = false;
        why = errno;
    }
    errno = why;
    if (good && (in_place || rename(draft, path) == 0)) return GNN_OK;
    gnn_status s = rt_fail(c, GNN_IO, "%s: %s", rt_short_name(path),
                           errno ? strerror(errno) : "cannot be written");
    if (!in_place) unlink(draft);
    return s;
}

gnn_status gnn_array_write_npy(gnn_context *c, const char *path, const gnn_array *a) {
    if (!rt_begin(c, __func__, path && a)) return GNN_BAD_ARGUMENT;
    if (a->rank > GNN_MAX_RANK || !type_text(a->dtype) || (!a->data && gnn_array_count(a)))
        return rt_fail(c, GNN_BAD_ARGUMENT, "an array is written from memory to a path");
    size_t n = strlen(path) + 32;
    char *draft = rt_alloc(c, n);
    if (!draft) return GNN_NO_MEMORY;
    snprintf(draft, n, "%s.%ld.part", path, (long)getpid());
    gnn_status s = write_file(c, path, draft, a);
    rt_free(c, draft);
    return s;
}
