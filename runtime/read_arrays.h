// .npy arrays and members of archives.
#ifndef GNNRT_READ_ARRAYS_H
#define GNNRT_READ_ARRAYS_H

#include "read_source.h"

// ---- read_npy.c: arrays -------------------------------------------------------------------------
typedef enum {
    RT_AS_STORED,
    RT_AS_INDEX
} rt_npy_form;   // AS_INDEX: any integers, to i64; others are refused
// array: its name within the file, or NULL.
gnn_status rt_array_fail(const rt_source *s, const char *array, gnn_status status,
                         const char *format, ...) RT_PRINTF(4, 5);
gnn_status rt_npy_read(rt_source *s, const char *array, rt_npy_form form, gnn_array *out);

// ---- read_npy_header.c --------------------------------------------------------------------------
// clang-format off
#define RT_NPY_TYPES(X) /* X(name, kind, bytes, read as) */                                                 \
    X(F8, 'f', 8, GNN_F64) X(F4, 'f', 4, GNN_F32) X(F2, 'f', 2, GNN_F16) X(I8, 'i', 8, GNN_I64)             \
    X(I4, 'i', 4, GNN_I32) X(I2, 'i', 2, GNN_I32) X(I1, 'i', 1, GNN_I32) X(U8, 'u', 8, GNN_I64)             \
    X(U4, 'u', 4, GNN_I64) X(U2, 'u', 2, GNN_I32) X(U1, 'u', 1, GNN_I32) X(B1, 'b', 1, GNN_BOOL)
// clang-format on
typedef enum {
#define X(name, kind, bytes, as) RT_NPY_##name,
    RT_NPY_TYPES(X)
#undef X
        RT_NPY_TYPE_COUNT
} rt_npy_type;
typedef struct {
    rt_npy_type type;
    char kind;      // as numpy's
    size_t bytes;   // of an element in the file
    gnn_dtype read_as;
    bool fortran;
    uint32_t rank;
    int64_t shape[GNN_MAX_RANK];
    int64_t count;   // elements; count * 8 fits int64
} rt_npy_header;
// Leaves the source at the first element; the bytes left are what the shape says.
gnn_status rt_npy_read_header(rt_source *s, const char *array, rt_npy_header *out);

// ---- npy_write.c --------------------------------------------------------------------------------
enum { RT_NPY_HEADER = 512 };
// What stands before the elements, padded to a multiple of 64 bytes; returns its length.
size_t rt_npy_write_header(const gnn_array *a, unsigned char out[RT_NPY_HEADER]);

// ---- read_npz.c: archives -----------------------------------------------------------------------
struct rt_archive {
    gnn_context *c;
    const char *name;
    struct zip *zip;
    rt_source file;
    gnn_status status;   // of a read of the file that failed
    uint64_t *budget;    // see rt_source
};
gnn_status rt_archive_open(gnn_context *c, const char *path, rt_archive *out);
gnn_status rt_archive_memory(gnn_context *c, const char *name, const void *bytes, size_t size,
                             rt_archive *out);
void rt_archive_close(rt_archive *a);
struct zip_error;
// what libzip's failure is
gnn_status rt_archive_status(const rt_archive *a, const struct zip_error *e);
// Absent: out->data is NULL and rank 0, unless required.
gnn_status rt_archive_read(rt_archive *a, const char *member, bool required, rt_npy_form form,
                           gnn_array *out);

#endif
