// Files made in memory for the tests of the readers, and the checks they share. Each test is one
// program, so all is static.
#ifndef FILES_SUPPORT_H
#define FILES_SUPPORT_H

#include "files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

typedef struct {
    unsigned char *bytes;
    size_t size;
} test_file;

static int test_failures;

#define CHECK(condition, ...) test_check((condition), __FILE__, __LINE__, __VA_ARGS__)
__attribute__((format(printf, 4, 5))) static inline void
test_check(bool good, const char *file, int line, const char *format, ...) {
    if (good) return;
    va_list args;
    va_start(args, format);
    printf("%s:%d: ", file, line);
    vprintf(format, args);
    printf("\n");
    va_end(args);
    test_failures++;
}

static inline test_file test_bytes(const void *bytes, size_t size) {
    test_file f = {malloc(size + 1), size};
    if (!f.bytes) abort();
    if (size) memcpy(f.bytes, bytes, size);
    f.bytes[size] = 0;
    return f;
}

static inline test_file test_text(const char *text) { return test_bytes(text, strlen(text)); }

static inline void test_append(test_file *f, const void *bytes, size_t size) {
    f->bytes = realloc(f->bytes, f->size + size + 1);
    if (!f->bytes) abort();
    memcpy(f->bytes + f->size, bytes, size);
    f->size += size;
}

// header is the dictionary as it shall stand in the file.
static inline test_file test_npy_header(const char *header, const void *data, size_t size) {
    size_t n = strlen(header) + 1;
    unsigned char head[10] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)(n & 255), (unsigned char)(n >> 8)};
    test_file f = test_bytes(head, sizeof head);
    test_append(&f, header, n - 1);
    test_append(&f, "\n", 1);
    if (size) test_append(&f, data, size);
    return f;
}

static inline test_file test_npy(const char *type, const char *shape, const void *data,
                                 size_t size) {
    char header[256];
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type,
             shape);
    return test_npy_header(header, data, size);
}

static inline test_file test_npy_i4(const int32_t *values, size_t n) {
    char shape[32];
    snprintf(shape, sizeof shape, "(%zu,)", n);
    return test_npy("<i4", shape, values, n * sizeof *values);
}

// ---- Archives -----------------------------------------------------------------------------------
typedef struct {
    const char *name;   // "col.npy"
    test_file file;     // freed by test_npz
} test_member;

static inline void test_add(zip_t *zip, const test_member *m, int method) {
    zip_source_t *s = zip_source_buffer(zip, m->file.bytes, m->file.size, 1);
    zip_int64_t i = s ? zip_file_add(zip, m->name, s, 0) : -1;
    if (i < 0 || zip_set_file_compression(zip, (zip_uint64_t)i, method, 0)) abort();
}

static inline test_file test_npz(int method, const test_member *members, size_t n) {
    zip_error_t e;
    zip_source_t *s = zip_source_buffer_create(NULL, 0, 0, &e);
    zip_t *zip = s ? zip_open_from_source(s, ZIP_CREATE | ZIP_TRUNCATE, &e) : NULL;
    if (!zip) abort();
    zip_source_keep(s);
    for (size_t i = 0; i < n; i++) test_add(zip, &members[i], method);
    zip_stat_t st;
    if (zip_close(zip) || zip_source_stat(s, &st) || zip_source_open(s)) abort();
    test_file f = {malloc((size_t)st.size + 1), (size_t)st.size};
    if (!f.bytes || zip_source_read(s, f.bytes, f.size) != (zip_int64_t)f.size) abort();
    zip_source_close(s);
    zip_source_free(s);
    return f;
}

// Five nodes, six edges, two types, two graphs, with features and a split.
static inline test_file test_graph_npz(int method) {
    static const int32_t rowptr[] = {0, 2, 3, 3, 5, 6}, col[] = {1, 2, 0, 3, 4, 4},
                         etype[] = {0, 1, 0, 1, 1, 0};
    static const int32_t ntype[] = {0, 0, 0, 1, 1}, graph_ptr[] = {0, 3, 5}, y[] = {0, -1, 2, 1, 0},
                         train[] = {0, 4};
    static const int32_t indptr[] = {0, 1, 2, 2, 4, 5}, indices[] = {0, 2, 0, 1, 2}, dim[] = {3};
    static const float data[] = {1, 2, 3, 4, 5}, weight[] = {1, 2, 3, 4, 5, 6};
    const test_member members[] = {
        {"rowptr.npy", test_npy_i4(rowptr, 6)},
        {"col.npy", test_npy_i4(col, 6)},
        {"etype.npy", test_npy_i4(etype, 6)},
        {"ntype.npy", test_npy_i4(ntype, 5)},
        {"graph_ptr.npy", test_npy_i4(graph_ptr, 3)},
        {"y.npy", test_npy_i4(y, 5)},
        {"train_idx.npy", test_npy_i4(train, 2)},
        {"x_indptr.npy", test_npy_i4(indptr, 6)},
        {"x_indices.npy", test_npy_i4(indices, 5)},
        {"x_data.npy", test_npy("<f4", "(5,)", data, sizeof data)},
        {"x_dim.npy", test_npy_i4(dim, 1)},
        {"weight.npy", test_npy("<f4", "(6,)", weight, sizeof weight)},
    };
    return test_npz(method, members, RT_COUNT(members));
}

// ---- Checks -------------------------------------------------------------------------------------
static inline gnn_context *test_context(const gnn_allocator *memory) {
    gnn_context *c = NULL;
    gnn_context_options o = {.device = GNN_HOST, .threads = 1};
    if (memory) o.allocator = *memory;
    if (gnn_context_new(&o, &c)) abort();
    return c;
}

// What every graph that was read must be; NULL if it is.
static inline const char *test_graph_fault(const gnn_graph *g) {
    if (!g->rowptr || !g->col || g->rowptr[0] != 0 || g->rowptr[g->nodes] != g->edges)
        return "rowptr does not go from 0 to the number of edges";
    for (int64_t v = 0; v < g->nodes; v++)
        if (g->rowptr[v] > g->rowptr[v + 1]) return "rowptr falls";
    for (int64_t e = 0; e < g->edges; e++)
        if (g->col[e] < 0 || g->col[e] >= g->sources ||
            (g->etype && (g->etype[e] < 0 || g->etype[e] >= g->types)))
            return "col or etype is outside its space";
    for (int64_t v = 0; v < g->nodes; v++)
        if ((g->ntype && (g->ntype[v] < 0 || g->ntype[v] >= g->node_types)) ||
            (g->batch && (g->batch[v] < 0 || g->batch[v] >= g->graphs)))
            return "ntype or batch is outside its space";
    for (int64_t b = 0; b < g->graphs; b++)
        if (g->graph_ptr[b] > g->graph_ptr[b + 1] || g->graph_ptr[g->graphs] != g->nodes)
            return "graph_ptr is wrong";
    return NULL;
}

static inline bool test_is_empty(const void *p, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (((const unsigned char *)p)[i]) return false;
    return true;
}

#endif
