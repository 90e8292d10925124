// What a shard of the compile cache may hold. One shard is looked through for each entry that is
// written, and none that is read; since files count as whole blocks, a shard has few.
#define _GNU_SOURCE
#include "cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 4096, STALE_SECONDS = 3600, MOST_FILES = 1 << 17 };

typedef struct {
    char name[CACHE_NAME_CHARS + 1];
    struct timespec used;
    uint64_t bytes;
} held;
typedef VEC(held) held_files;

uint64_t cache_disk_bytes(uint64_t size) { return (size + BLOCK - 1) / BLOCK * BLOCK; }

bool cache_is_draft(const char *name) {
    return !strncmp(name, "draft-", 6) && strlen(name) <= CACHE_NAME_CHARS;
}

// No writer takes an hour; one of the future is of a clock that was set back.
bool cache_is_stale(const struct stat *s) {
    return llabs((long long)time(NULL) - (long long)s->st_mtim.tv_sec) > STALE_SECONDS;
}

static int by_use(const void *x, const void *y) {
    const held *a = x, *b = y;
    if (a->used.tv_sec != b->used.tv_sec) return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
    if (a->used.tv_nsec != b->used.tv_nsec) return a->used.tv_nsec < b->used.tv_nsec ? -1 : 1;
    return strcmp(a->name, b->name);
}

// Drafts that writers left go at once.
static void add_file(arena *a, int shard, const char *name, held_files *out) {
    struct stat s;
    cache_key k;
    const bool draft = cache_is_draft(name);
    if ((!draft && !cache_key_read(name, &k)) || fstatat(shard, name, &s, AT_SYMLINK_NOFOLLOW))
        return;
    if (draft && cache_is_stale(&s)) {
        unlinkat(shard, name, 0);
        return;
    }
    held file = {.used = s.st_mtim, .bytes = cache_disk_bytes((uint64_t)s.st_size)};
    memcpy(file.name, name, strlen(name) + 1);
    VEC_PUSH(a, out, file);
}

static void list(arena *a, int shard, const char *but, held_files *out) {
    const int fd = openat(shard, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *files = fd < 0 ? NULL : fdopendir(fd);
    uint32_t n = 0;
    for (const struct dirent *f; files && n < MOST_FILES && (f = readdir(files)); n++)
        if (strcmp(f->d_name, but) != 0) add_file(a, shard, f->d_name, out);
    if (files) closedir(files);
    else if (fd >= 0) close(fd);
}

void cache_make_room(arena *a, int shard, uint64_t share, uint64_t bytes, const char *but) {
    held_files files = {0};
    uint64_t all = bytes;
    list(a, shard, but, &files);
    for (uint32_t i = 0; i < files.len; i++) all += files.data[i].bytes;
    if (all <= share) return;
    qsort(files.data, files.len, sizeof *files.data, by_use);
    for (uint32_t i = 0; i < files.len && all > share; i++) {
        if (cache_is_draft(files.data[i].name) || unlinkat(shard, files.data[i].name, 0)) continue;
        all -= files.data[i].bytes;
    }
}
