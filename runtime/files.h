// What the readers and generators share: bytes of untrusted files, lines of text, .npy arrays, members of
// archives, and the making of rows from edges in any order.
//
// Messages name file, place and value: "g.npz: col[123] = 99 is outside U (34)",
// "g.mtx:17: expected two integers, got 'x'". Memory for a text file of B bytes stays below 4 B + 64 MiB, but where ids are
// numbered anew (8 B more at most). What a member of an archive takes is bounded by its shape, which must agree with its size, which must be
// one that its compressed bytes can give; all members of a graph take at most 32 B + 64 MiB (graphs that people have take 3 to 28 B).
#ifndef GNNRT_FILES_H
#define GNNRT_FILES_H

#include "gnnrt_io.h"
#include "internal.h"

// ---- read_source.c: bytes --------------------------------------------------------------------------------
// A regular file, memory, or a member of an archive; read in order.
struct zip;
struct zip_file;
typedef struct rt_archive rt_archive;
typedef struct {
    gnn_context *c;
    const char *name;             // in messages
    const unsigned char *bytes;   // memory
    struct zip_file *member;
    const rt_archive *archive;    // of the member
    int fd;                       // a file: neither of the two
    uint64_t size, at, begin;     // begin: behind a byte order mark
    const gnn_graph_options *o;   // of a graph; else NULL
    uint64_t *budget;             // of a member: bytes that arrays may still take; NULL: any
} rt_source;
gnn_status rt_source_open(gnn_context *c, const char *path, rt_source *out);
rt_source rt_source_memory(gnn_context *c, const char *name, const void *bytes, size_t size);
void rt_source_close(rt_source *s);
void rt_source_rewind(rt_source *s);   // not of a member
// Reads n bytes, fewer only at the end.
gnn_status rt_source_read(rt_source *s, void *to, size_t n, size_t *got);
gnn_status rt_source_read_all(rt_source *s, void *to, size_t n, const char *what);   // fewer are an error
uint64_t rt_source_left(const rt_source *s);
const char *rt_short_name(const char *name);   // the end of a long one, so that messages keep their place

// How many nodes a text file may declare without listing them: `share` quarters of the memory it may ask for are theirs.
enum { RT_IDS_SHARE = 1, RT_ROWS_SHARE = 3 };
int64_t rt_node_limit(const rt_source *s, unsigned share);
uint64_t rt_graph_memory(const rt_source *s);
void rt_note(const rt_source *s, gnn_note kind, const char *format, ...) RT_PRINTF(3, 4);

// ---- read_lines.c: text ----------------------------------------------------------------------------------
enum { RT_LINE_BUFFER = 1 << 18, RT_TEXT = 1 << 21, RT_QUOTE = 40 };   // RT_LINE_BUFFER: no line has so many bytes
typedef struct {
    rt_source *s;
    char *buffer;
    size_t length, next, capacity;
    bool whole;                 // the buffer is all there is, and somebody else's
    int64_t number;             // of the line, from 1
    const char *at, *end;       // the line, without its end
    const char *comments;       // characters that start one
    gnn_status status;
} rt_lines;
gnn_status rt_lines_open(rt_source *s, const char *comments, rt_lines *out);
void rt_lines_close(rt_lines *l);
void rt_lines_rewind(rt_lines *l);
bool rt_lines_hold(rt_lines *l, size_t bytes, bool *ended);   // so many are ahead in the buffer, or all; false: none, or a failure
bool rt_next_line(rt_lines *l);      // false: the end, or a failure in status
bool rt_next_content(rt_lines *l);   // skips comments and blank lines
bool rt_is_comment(const rt_lines *l);
bool rt_carriage_return(rt_lines *l);   // one stands within the line, which is a failure
gnn_status rt_line_fail(rt_lines *l, const char *format, ...) RT_PRINTF(2, 3);   // "name:line: ..."
// What stands at p, up to a separator, made fit for a message.
const char *rt_quote(const char *p, const char *end, char out[RT_QUOTE]);

// Each returns the position after the number, or NULL where there is none or it does not fit.
const char *rt_parse_real(const char *p, const char *end, double *out);   // nan, inf and infinity too, of any case
bool rt_find_word(const char *text, const char *end, const char *word);   // of any case

static inline const char *rt_skip_blanks(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    return p;
}

static inline bool rt_ends_token(const char *p, const char *end)   // blank, comma or end of line
{
    return p == end || *p == ' ' || *p == '\t' || *p == ',';
}

static inline const char *rt_parse_count(const char *p, const char *end, int64_t *out)   // digits alone
{
    enum { CANNOT_OVERFLOW = 18 };
    const char *start = p, *safe = end - p > CANNOT_OVERFLOW ? p + CANNOT_OVERFLOW : end;
    int64_t value = 0;
    for (; p < safe && *p >= '0' && *p <= '9'; p++)
        value = value * 10 + (*p - '0');
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        int64_t digit = *p - '0';
        if (value > (INT64_MAX - digit) / 10)
            return NULL;
        value = value * 10 + digit;
    }
    *out = value;
    return p > start ? p : NULL;
}

// ---- graph.c ---------------------------------------------------------------------------------------------
// Of the passes over all edges a graph is made by; what follows them takes what is left of the time.
typedef struct {
    int64_t number, of;
} rt_pass;
void rt_tell_part(const gnn_context *c, rt_pass pass, double part);   // to who watches

// ---- graph_blocks.c: edges in blocks, by all cores -------------------------------------------------------
// Edges come in rounds of at most RT_BLOCKS blocks, each filled by one thread. What a block holds depends on its number alone, and
// blocks are taken in their order, so the result is the same on any number of threads. Rows lie in ranges, and a block is sorted by
// them: then one thread has all edges of a range. Neighbouring counters of a line of the cache are of one range.
enum { RT_BLOCKS = 32, RT_BLOCK = 8192, RT_RANGES = 64, RT_RANGE_SHIFT = 3 };
typedef struct {
    int64_t row, col;
} rt_edge;
typedef struct {
    rt_edge *edge, *sorted;            // RT_BLOCK each; sorted: by range, otherwise in order
    double *weight, *sorted_weight;
    int64_t *sorted_row;               // in place of sorted, where rows alone are asked for
    uint32_t n, begin[RT_RANGES + 1];
    int64_t most;                      // the largest row; -1: none
    uint64_t seen;                     // of rows in order
} rt_edge_block;
typedef struct {
    gnn_context *c;
    uint32_t made, filled;             // that have memory; of the last round
    bool rows_alone, weighted;         // what is sorted beside the rows
    unsigned shift;                    // added to a row before its range is taken
    void (*fill)(void *user, uint32_t i, rt_edge_block *b);
    void *user;
    rt_edge_block block[RT_BLOCKS];
} rt_edge_blocks;
// Of up to RT_BLOCKS blocks: `fill` puts the edges of the i-th, on any thread.
gnn_status rt_edge_blocks_fill(rt_edge_blocks *k, uint32_t n, void (*fill)(void *user, uint32_t i, rt_edge_block *b), void *user);
void rt_edge_blocks_free(rt_edge_blocks *k);

static inline void rt_edge_put(rt_edge_block *b, int64_t row, int64_t col, double weight)
{
    b->weight[b->n] = weight;
    b->edge[b->n++] = (rt_edge){row, col};
}

// Runs body for pieces of the rows from 0 to nodes that hold about as many entries each, on all cores where there are many.
typedef struct {
    const int64_t *offsets;
    int64_t nodes;
    void (*body)(void *user, int64_t first, int64_t last);
    void *user;
    uint32_t pieces;
} rt_row_pieces;
gnn_status rt_each_rows(gnn_context *c, rt_row_pieces *p);

// ---- read_blocks.c: lines by all cores -------------------------------------------------------------------
typedef struct {
    rt_lines *lines;
    rt_edge_blocks *blocks;
    rt_pass pass;
    // Of a piece of the lines, on any thread: puts their edges until they end, the block has no room for those of a line, or one is
    // wrong, as the status of the piece says.
    void (*parse)(void *user, uint32_t i, rt_lines *piece, rt_edge_block *b);
    bool (*accept)(void *user, uint32_t i);          // what a piece found, in their order; false: a line is wrong beside the others
    gnn_status (*take)(void *user, uint32_t n);      // the blocks of those accepted
    gnn_status (*tell)(void *user);                  // reads on line by line from where that piece begins, up to the wrong one
    void *user;
} rt_line_rounds;
gnn_status rt_read_rounds(const rt_line_rounds *w);   // to the end

// ---- graph_rows.c: rows from edges -----------------------------------------------------------------------
// Edges are told twice in the same order: first they are counted, then placed.
//
//     rt_rows_new(c, name, rows, &r);  each edge: rt_rows_put(&r, row, 0, 0);
//     rt_rows_place_all(&r, weighted);  each edge: rt_rows_put(&r, row, col, weight);
//     rt_rows_finish(&r, graph);   // or rt_rows_free
//
// Many edges come by rounds instead: rt_edge_blocks_fill(&r.blocks, …), then rt_rows_take(&r, blocks).
typedef struct {
    gnn_context *c;
    const char *name;
    int64_t nodes, edges, placed, capacity;   // capacity: of offsets
    int64_t *offsets;
    int64_t *col;
    double *weight;                           // NULL: none
    uint64_t seen, seen_again;                // of rows in order: the file may change between the two passes
    _Atomic bool strayed;
    uint32_t taken;                           // blocks of the round at hand
    gnn_status status;                        // of a round that failed
    rt_edge_blocks blocks;
} rt_rows;
gnn_status rt_rows_new(gnn_context *c, const char *name, int64_t nodes, rt_rows *out);
gnn_status rt_rows_grow(rt_rows *r, int64_t nodes);   // at least that many
gnn_status rt_rows_take(rt_rows *r, uint32_t blocks);   // the first of those filled; while rows are counted, there may be new ones
gnn_status rt_rows_place_all(rt_rows *r, bool weighted);
// Sorts each row, moves the arrays into g and sets its nodes and edges.
gnn_status rt_rows_finish(rt_rows *r, gnn_graph *g);
void rt_rows_free(rt_rows *r);
gnn_status rt_rows_flush(rt_rows *r);   // of what was put

static inline void rt_rows_put(rt_rows *r, int64_t row, int64_t col, double weight)
{
    rt_edge_put(&r->blocks.block[0], row, col, weight);
    if (r->blocks.block[0].n == RT_BLOCK)
        rt_rows_flush(r);
}

// ---- graph_sort.c ----------------------------------------------------------------------------------------
void rt_sort_row(int64_t *col, double *weight, int64_t n);   // by (col, weight); weight may be NULL
void rt_sort_row_to_depth(int64_t *col, double *weight, int64_t n, int depth);   // of quicksort

// ---- read_npy.c: arrays ----------------------------------------------------------------------------------
typedef enum { RT_AS_STORED, RT_AS_INDEX } rt_npy_form;   // AS_INDEX: any integers, to i64; others are refused
// array: its name within the file, or NULL.
gnn_status rt_array_fail(const rt_source *s, const char *array, gnn_status status, const char *format, ...)
    RT_PRINTF(4, 5);
gnn_status rt_npy_read(rt_source *s, const char *array, rt_npy_form form, gnn_array *out);

// ---- read_npy_header.c -----------------------------------------------------------------------------------
#define RT_NPY_TYPES(X) /* X(name, kind, bytes, read as) */                                                 \
    X(F8, 'f', 8, GNN_F64) X(F4, 'f', 4, GNN_F32) X(F2, 'f', 2, GNN_F16) X(I8, 'i', 8, GNN_I64)             \
    X(I4, 'i', 4, GNN_I32) X(I2, 'i', 2, GNN_I32) X(I1, 'i', 1, GNN_I32) X(U8, 'u', 8, GNN_I64)             \
    X(U4, 'u', 4, GNN_I64) X(U2, 'u', 2, GNN_I32) X(U1, 'u', 1, GNN_I32) X(B1, 'b', 1, GNN_BOOL)
typedef enum {
#define X(name, kind, bytes, as) RT_NPY_##name,
    RT_NPY_TYPES(X)
#undef X
    RT_NPY_TYPE_COUNT
} rt_npy_type;
typedef struct {
    rt_npy_type type;
    char kind;            // as numpy's
    size_t bytes;         // of an element in the file
    gnn_dtype read_as;
    bool fortran;
    uint32_t rank;
    int64_t shape[GNN_MAX_RANK];
    int64_t count;        // elements; count * 8 fits int64
} rt_npy_header;
// Leaves the source at the first element; the bytes left are what the shape says.
gnn_status rt_npy_read_header(rt_source *s, const char *array, rt_npy_header *out);

// ---- read_npz.c: archives --------------------------------------------------------------------------------
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
gnn_status rt_archive_status(const rt_archive *a, const struct zip_error *e);   // what libzip's failure is
// Absent: out->data is NULL and rank 0, unless required.
gnn_status rt_archive_read(rt_archive *a, const char *member, bool required, rt_npy_form form,
                           gnn_array *out);

// ---- read_form.c: what a graph file is by its first bytes ------------------------------------------------
gnn_status rt_find_form(rt_source *s, gnn_graph_format *form);

// ---- read_head.c: what the comments before the first edge say --------------------------------------------
typedef struct {
    int64_t rows, sources, edges;   // -1: not said
    bool both;                      // each edge of two nodes stands there once, and has no direction
    bool bipartite;                 // the two columns count apart
    bool konect;                    // ids from 1; a fourth column holds times
} rt_edge_head;
void rt_edge_head_line(rt_edge_head *h, const char *p, const char *end);   // of a comment

// ---- read_ids.c: ids numbered anew -----------------------------------------------------------------------
typedef struct {
    int64_t *id;       // sorted, each once; with `before`, bits of those that occur
    int64_t *before;   // for each word of bits how many stand before it; NULL: they are listed
    int64_t n, capacity, end;
} rt_ids;
gnn_status rt_ids_reserve(gnn_context *c, rt_ids *ids, int64_t n, int64_t end);   // for at most n, which lie below end
void rt_ids_add(rt_ids *ids, int64_t id);
void rt_ids_finish(rt_ids *ids);   // when all are added
int64_t rt_ids_find(const rt_ids *ids, int64_t id);   // ids->n: it is not there

// ---- read_graph*.c, read_edges.c, read_metis.c, read_matrix_market.c -------------------------------------
gnn_status rt_read_graph_archive(rt_archive *a, gnn_graph *g);
gnn_status rt_read_graph_features(rt_archive *a, gnn_graph *g);   // x, dense or sparse
gnn_status rt_read_edge_list(rt_source *s, gnn_graph *g);
gnn_status rt_read_matrix_market(rt_source *s, gnn_graph *g);
gnn_status rt_read_metis(rt_source *s, gnn_graph *g);
// Offsets of n classes over total entries: 0 first, total last, never falling.
gnn_status rt_check_file_offsets(gnn_context *c, const char *file, const char *array, const gnn_array *offsets,
                                 int64_t n, int64_t total, const char *of);
gnn_status rt_check_file_indices(gnn_context *c, const char *file, const char *array, const gnn_array *indices,
                                 int64_t below, const char *space);

// From memory, as the fuzzers and tests want it; name stands in messages, its extension counts as a path's.
gnn_status rt_npy_from_memory(gnn_context *c, const char *name, const void *bytes, size_t size,
                              gnn_array *out);
gnn_status rt_npz_from_memory(gnn_context *c, const char *name, const void *bytes, size_t size,
                              const char *member, gnn_array *out);
gnn_status rt_graph_from_memory(gnn_context *c, const char *name, const void *bytes, size_t size,
                                gnn_graph *out);

#endif
