// Bytes of a file, of memory or of a member of an archive, in order. Files are read, not mapped: a
// file cut short by someone else while it is read is then an error and not a signal.
#define _POSIX_C_SOURCE 200809L
#include "graph_blocks.h"
#include "read_arrays.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

enum { SHOWN_NAME = 200 };

const char *rt_short_name(const char *name) {
    size_t n = strlen(name);
    return n > SHOWN_NAME ? name + (n - SHOWN_NAME) : name;
}

static uint64_t bounded(uint64_t bytes) {
    return bytes < (uint64_t)1 << 50 ? bytes : (uint64_t)1 << 50;
}

uint64_t rt_graph_memory(const rt_source *s) {
    return bounded(s->o && s->o->memory ? s->o->memory : (uint64_t)64 << 20);
}

int64_t rt_node_limit(const rt_source *s, unsigned share) {
    uint64_t bytes = bounded(s->size) + rt_graph_memory(s) / 4 * share;
    return (int64_t)(bytes / sizeof(int64_t));
}

void rt_note(const rt_source *s, gnn_note kind, const char *format, ...) {
    char text[512];
    if (!s->o || !s->o->note) return;
    int n = snprintf(text, sizeof text, "%s: ", s->name);
    va_list args;
    va_start(args, format);
    vsnprintf(text + n, sizeof text - (size_t)n, format, args);
    va_end(args);
    s->o->note(s->o->user, kind, text);
}

static gnn_status refuse_file(gnn_context *c, int fd, const char *name, const char *why) {
    if (fd >= 0) close(fd);
    return rt_fail(c, GNN_IO, "%s: %s", name, why);
}

gnn_status rt_source_open(gnn_context *c, const char *path, rt_source *out) {
    *out = (rt_source){.c = c, .name = rt_short_name(path), .fd = -1};
    // Without O_NONBLOCK a FIFO nobody writes to would hold us here.
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    if (fd < 0 || fstat(fd, &st)) return refuse_file(c, fd, out->name, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return refuse_file(c, fd, out->name,
                           S_ISDIR(st.st_mode) ? "is a directory" : "is not a regular file");
    out->fd = fd;
    out->size = (uint64_t)st.st_size;
    return GNN_OK;
}

rt_source rt_source_memory(gnn_context *c, const char *name, const void *bytes, size_t size) {
    static const unsigned char nothing[1];
    return (rt_source){.c = c,
                       .name = rt_short_name(name),
                       .bytes = size ? bytes : nothing,
                       .fd = -1,
                       .size = size};
}

void rt_source_close(rt_source *s) {
    if (s->fd >= 0) close(s->fd);
    s->fd = -1;
}

void rt_source_rewind(rt_source *s) { s->at = s->begin; }

uint64_t rt_source_left(const rt_source *s) { return s->size - s->at; }

static gnn_status read_file(rt_source *s, unsigned char *to, size_t n, size_t *got) {
    while (*got < n) {
        ssize_t r = pread(s->fd, to + *got, n - *got, (off_t)(s->at + *got));
        if (r < 0 && errno == EINTR) continue;
        if (r < 0) return rt_fail(s->c, GNN_IO, "%s: %s", s->name, strerror(errno));
        if (r == 0) break;
        *got += (size_t)r;
    }
    return GNN_OK;
}

static gnn_status read_member(rt_source *s, unsigned char *to, size_t n, size_t *got) {
    while (*got < n) {
        zip_int64_t r = zip_fread(s->member, to + *got, n - *got);
        zip_error_t *e = zip_file_get_error(s->member);
        if (r < 0)
            return rt_fail(s->c, rt_archive_status(s->archive, e), "%s: the archive is damaged: %s",
                           s->name, zip_error_strerror(e));
        if (r == 0) break;
        *got += (size_t)r;
    }
    return GNN_OK;
}

gnn_status rt_source_read(rt_source *s, void *to, size_t n, size_t *got) {
    *got = 0;
    if (n > rt_source_left(s)) n = (size_t)rt_source_left(s);
    gnn_status status = GNN_OK;
    if (s->bytes) {
        memcpy(to, s->bytes + s->at, n);
        *got = n;
    } else if (s->member) {
        status = read_member(s, to, n, got);
    } else {
        status = read_file(s, to, n, got);
    }
    s->at += *got;
    return status;
}

gnn_status rt_source_read_all(rt_source *s, void *to, size_t n, const char *what) {
    size_t got;
    gnn_status status = rt_source_read(s, to, n, &got);
    if (!status && got < n)
        return rt_fail(s->c, GNN_BAD_FILE, "%s: the file ends within %s, at byte %llu", s->name,
                       what, (unsigned long long)s->at);
    return status;
}
