// The header of a .npy array: a magic, a version, and a Python dictionary of exactly descr,
// fortran_order and shape.
#include "graph_blocks.h"
#include "read_arrays.h"

#include <stdio.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "arrays are read as they lie in the file");

enum { MAGIC = 6, LONGEST_HEADER = 1 << 16, LONGEST_TYPE = 16 };

typedef struct {
    const rt_source *source;
    const char *array;
    const char *start, *p, *end;
    rt_npy_header *h;
    bool has_type, has_order, has_shape;
} header_parser;

gnn_status rt_array_fail(const rt_source *s, const char *array, gnn_status status,
                         const char *format, ...) {
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return rt_fail(s->c, status, "%s: %s%s%s", s->name, array ? array : "", array ? ": " : "",
                   text);
}

static gnn_status fail_at(const header_parser *h, const char *expected) {
    char quoted[RT_QUOTE];
    return rt_array_fail(h->source, h->array, GNN_BAD_FILE,
                         "its header has at byte %d %s where %s is expected",
                         (int)(h->p - h->start),
                         h->p < h->end ? rt_quote(h->p, h->end, quoted) : "its end", expected);
}

// ---- Tokens -------------------------------------------------------------------------------------
static void skip_space(header_parser *h) {
    while (h->p < h->end && (*h->p == ' ' || *h->p == '\n' || *h->p == '\t')) h->p++;
}

static bool accept(header_parser *h, const char *token) {
    skip_space(h);
    size_t n = strlen(token);
    if ((size_t)(h->end - h->p) < n || memcmp(h->p, token, n)) return false;
    h->p += n;
    return true;
}

static gnn_status expect(header_parser *h, const char *token) {
    return accept(h, token) ? GNN_OK : fail_at(h, token);
}

// A string without escapes.
static bool parse_string(header_parser *h, char out[LONGEST_TYPE]) {
    skip_space(h);
    if (h->p == h->end || (*h->p != '\'' && *h->p != '"')) return false;
    const char *close = memchr(h->p + 1, *h->p, (size_t)(h->end - h->p - 1));
    if (!close || close - h->p - 1 >= LONGEST_TYPE) return false;
    size_t n = (size_t)(close - h->p - 1);
    memcpy(out, h->p + 1, n);
    out[n] = 0;
    h->p = close + 1;
    return true;
}

// ---- Entries ------------------------------------------------------------------------------------
static gnn_status find_type(header_parser *h, const char *text) {
#define X(name, kind, bytes, as) {RT_NPY_##name, kind, bytes, as, false, 0, {0}, 0},
    static const rt_npy_header types[] = {RT_NPY_TYPES(X)};
#undef X
    for (size_t i = 0; i < RT_COUNT(types); i++) {
        const rt_npy_header *t = &types[i];
        if (text[0] == 0 || text[1] != t->kind || text[2] != (char)('0' + t->bytes) || text[3])
            continue;
        if (text[0] == '>' && t->bytes > 1)
            return rt_array_fail(h->source, h->array, GNN_BAD_FILE,
                                 "its type '%s' is big-endian; only little-endian arrays are read",
                                 text);
        if (text[0] != '<' && (text[0] != '|' || t->bytes > 1)) break;
        h->h->type = t->type;
        h->h->kind = t->kind;
        h->h->bytes = t->bytes;
        h->h->read_as = t->read_as;
        return GNN_OK;
    }
    char quoted[RT_QUOTE];
    return rt_array_fail(
        h->source, h->array, GNN_BAD_FILE,
        "its type is %s; floats f8 f4 f2, integers i8 i4 i2 i1 u8 u4 u2 u1 and bools b1 are read",
        *text ? rt_quote(text, text + strlen(text), quoted) : "empty");
}

static gnn_status parse_type(header_parser *h) {
    char text[LONGEST_TYPE];
    if (!parse_string(h, text)) return fail_at(h, "a simple type");
    return find_type(h, text);
}

static gnn_status parse_order(header_parser *h) {
    h->h->fortran = accept(h, "True");
    return h->h->fortran || accept(h, "False") ? GNN_OK : fail_at(h, "True or False");
}

static gnn_status parse_shape(header_parser *h) {
    gnn_status s = expect(h, "(");
    if (s) return s;
    while (!accept(h, ")")) {
        if (h->h->rank == GNN_MAX_RANK)
            return rt_array_fail(h->source, h->array, GNN_TOO_LARGE, "it has more than %d axes",
                                 GNN_MAX_RANK);
        const char *q = rt_parse_count(h->p, h->end, &h->h->shape[h->h->rank]);
        if (!q) return fail_at(h, "a size");
        h->p = q;
        h->h->rank++;
        if (!accept(h, ",") && (h->h->rank < 2 || h->p == h->end || *h->p != ')'))
            return fail_at(h, ",");
    }
    return GNN_OK;
}

static gnn_status parse_entry(header_parser *h) {
    static const struct {
        const char *name;
        size_t seen;
        gnn_status (*parse)(header_parser *);
    } entries[] = {{"descr", offsetof(header_parser, has_type), parse_type},
                   {"fortran_order", offsetof(header_parser, has_order), parse_order},
                   {"shape", offsetof(header_parser, has_shape), parse_shape}};
    char key[LONGEST_TYPE];
    const char *at = h->p;
    if (!parse_string(h, key)) return fail_at(h, "a key");
    for (size_t i = 0; i < RT_COUNT(entries); i++) {
        bool *seen = (bool *)((char *)h + entries[i].seen);
        if (strcmp(key, entries[i].name)) continue;
        if (*seen)
            return rt_array_fail(h->source, h->array, GNN_BAD_FILE, "its header says '%s' twice",
                                 key);
        *seen = true;
        gnn_status s = expect(h, ":");
        return s ? s : entries[i].parse(h);
    }
    h->p = at;
    return fail_at(h, "'descr', 'fortran_order' or 'shape'");
}

static gnn_status parse_dictionary(header_parser *h) {
    gnn_status s = expect(h, "{");
    while (!s && !accept(h, "}")) {
        s = parse_entry(h);
        if (!s && !accept(h, ",")) {
            s = expect(h, "}");
            break;
        }
    }
    skip_space(h);
    if (!s && h->p < h->end) s = fail_at(h, "its end");
    if (!s && !(h->has_type && h->has_order && h->has_shape))
        s = rt_array_fail(h->source, h->array, GNN_BAD_FILE, "its header lacks '%s'",
                          !h->has_type    ? "descr"
                          : !h->has_order ? "fortran_order"
                                          : "shape");
    return s;
}

// ---- The whole ----------------------------------------------------------------------------------
// Counts as if empty axes had one element, so that strides fit too.
static gnn_status check_size(const rt_source *s, const char *array, rt_npy_header *h) {
    int64_t most = 8;
    bool empty = false;
    for (uint32_t i = 0; i < h->rank; i++) {
        empty |= h->shape[i] == 0;
        if (!rt_mul(most, h->shape[i] ? h->shape[i] : 1, &most))
            return rt_array_fail(s, array, GNN_TOO_LARGE, "axis %u of %lld makes it too large", i,
                                 (long long)h->shape[i]);
    }
    h->count = empty ? 0 : most / 8;
    uint64_t wanted = (uint64_t)h->count * h->bytes, left = rt_source_left(s);
    if (wanted == left) return GNN_OK;
    return rt_array_fail(s, array, GNN_BAD_FILE,
                         "its shape wants %llu bytes of data, but %llu follow its header",
                         (unsigned long long)wanted, (unsigned long long)left);
}

static gnn_status read_length(rt_source *s, const char *array, size_t *length) {
    unsigned char head[MAGIC + 2], bytes[4] = {0};
    size_t got;
    gnn_status status = rt_source_read(s, head, sizeof head, &got);
    if (status) return status;
    if (got < sizeof head || memcmp(head, "\x93NUMPY", MAGIC))
        return rt_array_fail(s, array, GNN_BAD_FILE, "it does not begin as a .npy array does");
    unsigned major = head[MAGIC], minor = head[MAGIC + 1];
    if (major < 1 || major > 3 || minor != 0)
        return rt_array_fail(s, array, GNN_BAD_FILE,
                             "it has the .npy version %u.%u; 1.0, 2.0 and 3.0 are read", major,
                             minor);
    status = rt_source_read_all(s, bytes, major == 1 ? 2 : 4, "the length of a header");
    *length = bytes[0] | (size_t)bytes[1] << 8 | (size_t)bytes[2] << 16 | (size_t)bytes[3] << 24;
    if (!status && (*length > LONGEST_HEADER || *length > rt_source_left(s)))
        return rt_array_fail(s, array, GNN_BAD_FILE, "its header would be %zu bytes long", *length);
    return status;
}

gnn_status rt_npy_read_header(rt_source *s, const char *array, rt_npy_header *out) {
    *out = (rt_npy_header){0};
    size_t length = 0;
    gnn_status status = read_length(s, array, &length);
    if (status) return status;
    char *text = rt_alloc(s->c, length);
    if (!text) return GNN_NO_MEMORY;
    status = rt_source_read_all(s, text, length, "a header");
    header_parser h = {
        .source = s, .array = array, .start = text, .p = text, .end = text + length, .h = out};
    if (!status) status = parse_dictionary(&h);
    if (!status) status = check_size(s, array, out);
    rt_free(s->c, text);
    return status;
}
