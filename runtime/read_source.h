// Bytes of untrusted files, read in order: of a file, of memory, of a member of an archive.
#ifndef GNNRT_READ_SOURCE_H
#define GNNRT_READ_SOURCE_H

#include "context.h"
#include "gnnrt_io.h"

// A regular file, memory, or a member of an archive; read in order.
struct zip;
struct zip_file;
typedef struct rt_archive rt_archive;
typedef struct {
    gnn_context *c;
    const char *name, *path;   // name: in messages; path: NULL for memory
    const unsigned char *bytes;
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
// fewer are an error
gnn_status rt_source_read_all(rt_source *s, void *to, size_t n, const char *what);
uint64_t rt_source_left(const rt_source *s);
// the end of a long one, so that messages keep their place
const char *rt_short_name(const char *name);

// How many nodes a text file may declare without listing them: `share` quarters of the memory it
// may ask for are theirs.
enum { RT_IDS_SHARE = 1, RT_ROWS_SHARE = 3 };
int64_t rt_node_limit(const rt_source *s, unsigned share);
uint64_t rt_graph_memory(const rt_source *s);
void rt_note(const rt_source *s, gnn_note kind, const char *format, ...) RT_PRINTF(3, 4);

#endif
