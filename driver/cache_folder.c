// Where the compile cache is, and whether it may be used: a folder of this user's that nobody else
// can open. Links are not followed, and only whole paths are taken, so that the folder at hand is
// never it.
#define _GNU_SOURCE   // secure_getenv
#include "cache.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PRIVATE = 0700, FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

bool cache_is_ours(int fd, mode_t kind, mode_t mode) {
    struct stat s;
    return !fstat(fd, &s) && (s.st_mode & S_IFMT) == kind && s.st_uid == geteuid() &&
           (s.st_mode & 0777) == mode && (kind == S_IFDIR || s.st_nlink == 1);
}

// ---- Its place ----------------------------------------------------------------------------------

// A variable that is not set and one that is empty are the same.
static const char *variable(const char *name) {
    const char *value = secure_getenv(name);
    return value && *value ? value : NULL;
}

// Without slashes at the end: behind one, a link would be followed.
static const char *plain(arena *a, const char *path) {
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') n--;
    return arena_strndup(a, path, n);
}

static bool is_whole(const char *path) {
    const char *last = strrchr(path, '/');
    return *path == '/' && strcmp(last, "/") != 0 && strcmp(last, "/.") != 0 &&
           strcmp(last, "/..") != 0;
}

// Another user's home, as under sudo, is not written to.
static bool is_home(const char *path) {
    struct stat s;
    return !stat(path, &s) && s.st_uid == geteuid();
}

// Fills c->path, or c->why. By its specification, an $XDG_CACHE_HOME that is no whole path is none.
static void find_place(arena *a, cache *c) {
    const char *named = variable("GNNC_CACHE_DIR"), *xdg = variable("XDG_CACHE_HOME"),
               *base = xdg && *xdg == '/' ? xdg : NULL, *home = variable("HOME"),
               *path = named  ? named
                       : base ? arena_printf(a, "%s/gnnc", plain(a, base))
                       : home ? arena_printf(a, "%s/.cache/gnnc", plain(a, home))
                              : NULL;
    if (!path) c->why = "none of $GNNC_CACHE_DIR, $XDG_CACHE_HOME and $HOME is set";
    else if (!is_whole(plain(a, path)))
        c->why = arena_printf(a, "'%s' is not a whole path to a folder", path);
    else if (!named && !base && !is_home(home))
        c->why = arena_printf(a, "'%s' is not this user's", home);
    else c->path = plain(a, path);
}

static void make_folders(arena *a, const char *path) {
    for (const char *p = path + 1; *p; p++)
        if (*p == '/') mkdir(arena_strndup(a, path, (size_t)(p - path)), PRIVATE);
    mkdir(path, PRIVATE);
}

static const char *fault_of(arena *a, int fd) {
    struct stat s;
    if (fstat(fd, &s)) return strerror(errno);
    if (s.st_uid != geteuid()) return "it is another user's";
    return arena_printf(a, "others may open it: its mode is %04o, not 0700",
                        (unsigned)(s.st_mode & 07777));
}

// ---- Its limit ----------------------------------------------------------------------------------

// Bytes, or with K, M, G or T behind it that many of 1024, 1024² …; 0 is one that holds nothing.
static bool read_limit(const char *text, uint64_t *limit) {
    static const char units[] = "KMGT";
    char *end;
    errno = 0;
    const unsigned long long n = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    const unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if (*text < '0' || *text > '9' || errno || (*end && (!unit || end[1])) ||
        n > UINT64_MAX >> shift)
        return false;
    *limit = (uint64_t)n << shift;
    return true;
}

uint64_t cache_share(const cache *c) { return c->limit / CACHE_SHARDS; }

// ---- Opening it ---------------------------------------------------------------------------------

static int open_folder(cache *c, arena *a, bool make) {
    int fd = open(c->path, FLAGS);
    if (fd < 0 && errno == ENOENT && make) {
        make_folders(a, c->path);
        fd = open(c->path, FLAGS);
    }
    if (fd < 0)
        c->why = errno == ELOOP || errno == ENOTDIR ? "it is a link, or no folder"
                 : errno == ENOENT && !make         ? "it is made by the first compile"
                                                    : strerror(errno);
    if (fd < 0 || cache_is_ours(fd, S_IFDIR, PRIVATE)) return fd;
    c->why = fault_of(a, fd);
    close(fd);
    return -1;
}

cache cache_open(arena *a, bool make) {
    cache c = {.folder = -1, .limit = (uint64_t)1 << 30};
    const char *size = variable("GNNC_CACHE_SIZE");
    find_place(a, &c);
    if (c.path && size && !read_limit(size, &c.limit))
        c.why = arena_printf(a, "GNNC_CACHE_SIZE=%s is no size such as 500M", size);
    if (sodium_init() < 0) c.why = "libsodium cannot be used";
    else if (c.path) c.folder = open_folder(&c, a, make && c.limit);
    return c;
}

int cache_shard(const cache *c, uint32_t number, bool make) {
    const char name[] = {"0123456789abcdef"[number % CACHE_SHARDS], 0};
    int fd = openat(c->folder, name, FLAGS);
    if (fd < 0 && errno == ENOENT && make) {
        mkdirat(c->folder, name, PRIVATE);   // or another process does
        fd = openat(c->folder, name, FLAGS);
    }
    if (fd < 0 || cache_is_ours(fd, S_IFDIR, PRIVATE)) return fd;
    close(fd);
    return -1;
}

cache *cache_of(driver *d) {
    const bool has = d->verb == VERB_COMPILE || d->verb == VERB_RUN || d->verb == VERB_BENCH;
    if (!has || !option_on(d, OPT_CACHE, true)) return NULL;
    if (!d->cache) {
        d->cache = ARENA_NEW(d->arena, cache);
        *d->cache = cache_open(d->arena, true);
    }
    return d->cache->folder < 0 || !d->cache->limit ? NULL : d->cache;
}
