// The data of a .npy array, brought into row-major order and into a type the runtime knows.
#include "files.h"

#include <string.h>

enum { CHUNK = 8192 };   // elements

typedef struct {
    rt_source *source;
    const char *array;
    rt_npy_header h;
    gnn_array *out;
    size_t out_bytes;   // of an element
    int64_t done;
    // Fortran order: of the next element; of out
    int64_t position[GNN_MAX_RANK], strides[GNN_MAX_RANK];
    uint64_t raw[CHUNK], made[CHUNK];
} reader;

// ---- Elements -----------------------------------------------------------------------------------
#define WIDEN(T)                                                                                   \
    for (size_t i = 0; i < n; i++) {                                                               \
        T value;                                                                                   \
        memcpy(&value, (const char *)from + i * sizeof value, sizeof value);                       \
        to[i] = (int64_t)value;                                                                    \
    }                                                                                              \
    break

static void widen(rt_npy_type type, const void *from, size_t n, int64_t *to) {
    switch (type) {
    case RT_NPY_I8: WIDEN(int64_t);
    case RT_NPY_I4: WIDEN(int32_t);
    case RT_NPY_I2: WIDEN(int16_t);
    case RT_NPY_I1: WIDEN(int8_t);
    case RT_NPY_U8: WIDEN(uint64_t);
    case RT_NPY_U4: WIDEN(uint32_t);
    case RT_NPY_U2: WIDEN(uint16_t);
    case RT_NPY_U1: WIDEN(uint8_t);
    case RT_NPY_F8:
    case RT_NPY_F4:
    case RT_NPY_F2:
    case RT_NPY_B1:
    case RT_NPY_TYPE_COUNT: break;
    }
}

static gnn_status check_values(reader *r, size_t n) {
    for (size_t i = 0; i < n && r->h.type == RT_NPY_U8; i++)
        if (r->raw[i] > INT64_MAX)
            return rt_array_fail(r->source, r->array, GNN_TOO_LARGE,
                                 "element %lld = %llu does not fit i64",
                                 (long long)r->done + (long long)i, (unsigned long long)r->raw[i]);
    const unsigned char *bytes = (const unsigned char *)r->raw;
    for (size_t i = 0; i < n && r->h.type == RT_NPY_B1; i++)
        if (bytes[i] > 1)
            return rt_array_fail(r->source, r->array, GNN_BAD_FILE,
                                 "element %lld = %u is not a bool",
                                 (long long)r->done + (long long)i, bytes[i]);
    return GNN_OK;
}

// n elements of raw into made.
static void convert(reader *r, size_t n) {
    bool integer = r->h.kind == 'i' || r->h.kind == 'u';
    if (!integer || r->h.bytes == r->out_bytes) {
        memcpy(r->made, r->raw, n * r->h.bytes);
        return;
    }
    widen(r->h.type, r->raw, n, (int64_t *)r->made);
    int32_t *narrow = (int32_t *)r->made;
    for (size_t i = 0; i < n && r->out_bytes == 4; i++) {
        int64_t value;
        memcpy(&value, &r->made[i], sizeof value);
        int32_t small = (int32_t)value;
        memcpy(&narrow[i], &small, sizeof small);
    }
}

// ---- Order --------------------------------------------------------------------------------------
// The first axis runs fastest in the file.
static void scatter(reader *r, size_t n) {
    for (size_t i = 0; i < n; i++) {
        int64_t at = 0;
        for (uint32_t k = 0; k < r->h.rank; k++) at += r->position[k] * r->strides[k];
        memcpy((char *)r->out->data + (size_t)at * r->out_bytes,
               (const char *)r->made + i * r->out_bytes, r->out_bytes);
        for (uint32_t k = 0; k < r->h.rank && ++r->position[k] == r->h.shape[k]; k++)
            r->position[k] = 0;
    }
}

static void set_strides(reader *r) {
    int64_t stride = 1;
    for (uint32_t k = r->h.rank; k-- > 0; stride *= r->h.shape[k] ? r->h.shape[k] : 1)
        r->strides[k] = stride;
}

static gnn_status read_data(reader *r) {
    char *to = r->out->data;
    while (r->done < r->h.count) {
        size_t n = r->h.count - r->done < CHUNK ? (size_t)(r->h.count - r->done) : CHUNK;
        gnn_status s = rt_source_read_all(r->source, r->raw, n * r->h.bytes, "an array");
        if (!s) s = check_values(r, n);
        if (s) return s;
        convert(r, n);
        if (r->h.fortran && r->h.rank > 1) scatter(r, n);
        else memcpy(to + (size_t)r->done * r->out_bytes, r->made, n * r->out_bytes);
        r->done += (int64_t)n;
    }
    return GNN_OK;
}

// What all arrays of a graph may take together.
static gnn_status charge(reader *r) {
    uint64_t bytes = (uint64_t)r->h.count * r->out_bytes, *budget = r->source->budget;
    if (!budget) return GNN_OK;
    if (bytes <= *budget) {
        *budget -= bytes;
        return GNN_OK;
    }
    return rt_array_fail(
        r->source, r->array, GNN_TOO_LARGE,
        "it takes %llu bytes, and so small a file may ask for %llu more without being allowed more memory",
        (unsigned long long)bytes, (unsigned long long)*budget);
}

static gnn_status read_array(reader *r, rt_npy_form form) {
    gnn_status s = rt_npy_read_header(r->source, r->array, &r->h);
    if (s) return s;
    bool integer = r->h.kind == 'i' || r->h.kind == 'u';
    if (form == RT_AS_INDEX && !integer)
        return rt_array_fail(r->source, r->array, GNN_BAD_FILE,
                             "it has the type %c%zu, but must hold integers", r->h.kind,
                             r->h.bytes);
    gnn_dtype type = form == RT_AS_INDEX ? GNN_I64 : r->h.read_as;
    r->out_bytes = gnn_dtype_bytes(type);
    set_strides(r);
    if (charge(r)) return GNN_TOO_LARGE;
    s = gnn_array_new(r->source->c, type, r->h.rank, r->h.shape, r->out);
    return s ? s : read_data(r);
}

gnn_status rt_npy_read(rt_source *s, const char *array, rt_npy_form form, gnn_array *out) {
    *out = (gnn_array){0};
    reader *r = rt_alloc_zeroed(s->c, sizeof *r);
    if (!r) return GNN_NO_MEMORY;
    r->source = s;
    r->array = array;
    r->out = out;
    gnn_status status = read_array(r, form);
    if (status) gnn_array_free(s->c, out);
    rt_free(s->c, r);
    return status;
}

gnn_status gnn_array_read_npy(gnn_context *c, const char *path, gnn_array *out) {
    if (!rt_begin(c, __func__, path && out)) return GNN_BAD_ARGUMENT;
    *out = (gnn_array){0};
    rt_source s;
    gnn_status status = rt_source_open(c, path, &s);
    if (!status) status = rt_npy_read(&s, NULL, RT_AS_STORED, out);
    rt_source_close(&s);
    return status;
}

gnn_status rt_npy_from_memory(gnn_context *c, const char *name, const void *bytes, size_t size,
                              gnn_array *out) {
    rt_source s = rt_source_memory(c, name, bytes, size);
    return rt_npy_read(&s, NULL, RT_AS_STORED, out);
}
