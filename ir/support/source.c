// The source map: files in one space of positions, with the starts of their lines.
#include "support/support.h"

#include <string.h>

typedef struct {
    source_file file;
    VEC(uint32_t) lines;   // offsets of line starts; line 1 first
    const char *advice;
} mapped_file;

typedef struct {
    const char *from, *to;
} renaming;

struct source_map {
    arena *arena;
    VEC(mapped_file *) files;
    VEC(renaming) renamings;
    uint32_t next;   // base of the next file
};

source_map *source_map_new(arena *a) {
    source_map *m = ARENA_NEW(a, source_map);
    m->arena = a;
    m->next = 1;   // 0 is nowhere
    return m;
}

void source_map_rename(source_map *m, const char *from, const char *to) {
    VEC_PUSH(m->arena, &m->renamings, ((renaming){from, to}));
}

const char *source_map_name(const source_map *m, const char *path) {
    for (uint32_t k = m->renamings.len; k-- > 0;) {
        const renaming *r = &m->renamings.data[k];
        size_t n = strlen(r->from);
        if (!strncmp(path, r->from, n)) return arena_printf(m->arena, "%s%s", r->to, path + n);
    }
    return path;
}

static void find_lines(arena *a, mapped_file *f) {
    VEC_PUSH(a, &f->lines, 0);
    const char *text = f->file.text, *end = text + f->file.length;
    for (const char *p = text; (p = memchr(p, '\n', (size_t)(end - p))); p++)
        VEC_PUSH(a, &f->lines, (uint32_t)(p - text) + 1);
}

// A file takes one position more than it has bytes: its end is a position too.
const source_file *source_map_add(source_map *m, const char *path, const char *text,
                                  size_t length) {
    if (length >= UINT32_MAX - m->next) return NULL;
    mapped_file *f = ARENA_NEW(m->arena, mapped_file);
    f->file = (source_file){.path = arena_strdup(m->arena, path),
                            .name = arena_strdup(m->arena, source_map_name(m, path)),
                            .text = arena_strndup(m->arena, text, length),
                            .length = (uint32_t)length,
                            .base = m->next};
    m->next += (uint32_t)length + 1;
    find_lines(m->arena, f);
    VEC_PUSH(m->arena, &m->files, f);
    return &f->file;
}

static const mapped_file *find_file(const source_map *m, uint32_t position) {
    if (!position || position >= m->next) return NULL;
    uint32_t lo = 0, hi = m->files.len;   // the last file with base <= position
    while (hi - lo > 1) {
        uint32_t middle = lo + (hi - lo) / 2;
        if (m->files.data[middle]->file.base <= position) lo = middle;
        else hi = middle;
    }
    return m->files.data[lo];
}

void source_map_advise(source_map *m, const source_file *f, const char *help) {
    for (uint32_t i = 0; i < m->files.len; i++)
        if (&m->files.data[i]->file == f) m->files.data[i]->advice = help;
}

const char *source_map_advice(const source_map *m, uint32_t position) {
    const mapped_file *f = find_file(m, position);
    return f ? f->advice : NULL;
}

const source_file *source_map_file(const source_map *m, uint32_t position) {
    const mapped_file *f = find_file(m, position);
    return f ? &f->file : NULL;
}

static uint32_t find_line(const mapped_file *f, uint32_t offset) {   // from 0
    uint32_t lo = 0, hi = f->lines.len;
    while (hi - lo > 1) {
        uint32_t middle = lo + (hi - lo) / 2;
        if (f->lines.data[middle] <= offset) lo = middle;
        else hi = middle;
    }
    return lo;
}

source_position source_map_position(const source_map *m, uint32_t position) {
    const mapped_file *f = find_file(m, position);
    if (!f) return (source_position){NULL, 0, 0};
    uint32_t offset = position - f->file.base, line = find_line(f, offset);
    return (source_position){&f->file, line + 1, offset - f->lines.data[line] + 1};
}

const char *source_map_line(const source_map *m, uint32_t position, uint32_t *length) {
    const mapped_file *f = find_file(m, position);
    *length = 0;
    if (!f) return "";
    uint32_t line = find_line(f, position - f->file.base), from = f->lines.data[line];
    uint32_t to = line + 1 < f->lines.len ? f->lines.data[line + 1] - 1 : f->file.length;
    if (to > from && f->file.text[to - 1] == '\r') to--;
    *length = to - from;
    return f->file.text + from;
}
