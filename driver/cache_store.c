// Entries of the compile cache. An entry is written under another name and renamed, so that no
// reader sees half of it. A reader believes nothing: owner, mode, length, key and checksum are
// looked at.
#define _GNU_SOURCE
#include "cache.h"
#include "clock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// An entry is read into memory, however much a cache may hold.
enum { VERSION = 1, PRIVATE = 0600, MOST_BYTES = 256 << 20 };
typedef struct {
    char magic[8];
    uint32_t version, kind;
    uint64_t length;      // of the payload, which follows
    cache_key key, sum;   // of all, with zeros for the sum
} header;
static const char magic[8] = "gnnc\x7f\x0d\x0a";

// ---- Payloads -----------------------------------------------------------------------------------

bool cache_next(const textbuf *payload, size_t *at, const char **data, size_t *size) {
    uint64_t n;
    if (payload->len - *at < sizeof n) return false;
    memcpy(&n, payload->data + *at, sizeof n);
    *at += sizeof n;
    if (n > payload->len - *at) return false;
    *data = payload->data + *at;
    *size = (size_t)n;
    *at += *size;
    return true;
}

bool cache_next_text(const textbuf *payload, size_t *at, const char **text) {
    const char *data;
    size_t size;
    if (!cache_next(payload, at, &data, &size) || memchr(data, 0, size)) return false;
    *text = arena_strndup(payload->arena, data, size);
    return true;
}

// ---- Reading ------------------------------------------------------------------------------------

static bool read_whole(int fd, char *data, size_t size) {
    while (size) {
        const ssize_t n = read(fd, data, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        data += n;
        size -= (size_t)n;
    }
    return true;
}

static const char *check_header(const header *h, uint64_t size, const char *name) {
    cache_key named;
    if (memcmp(h->magic, magic, sizeof magic) || h->version != VERSION)
        return "it is no entry of this version";
    if (size > MOST_BYTES || h->length != size - sizeof *h)
        return "its length is not the one it tells";
    if (!cache_key_read(name, &named) || memcmp(&named, &h->key, sizeof named))
        return "it is an entry of another key";
    return NULL;
}

// What an entry says of itself is looked at before there is memory for it.
static const char *read_entry(arena *a, int fd, const char *name, header *h, textbuf *payload) {
    struct stat s;
    if (!cache_is_ours(fd, S_IFREG, PRIVATE) || fstat(fd, &s))
        return "it is not a file of this user's alone";
    if ((uint64_t)s.st_size < sizeof *h) return "it is too short";
    if (!read_whole(fd, (char *)h, sizeof *h)) return "it cannot be read";
    const char *why = check_header(h, (uint64_t)s.st_size, name);
    if (why) return why;
    const size_t size = sizeof *h + (size_t)h->length;
    char *data = arena_alloc(a, size + 1);
    header unsealed = *h;
    memset(&unsealed.sum, 0, sizeof unsealed.sum);
    memcpy(data, &unsealed, sizeof unsealed);
    if (!read_whole(fd, data + sizeof *h, size - sizeof *h)) return "it cannot be read";
    data[size] = 0;
    const cache_key sum = cache_hash(data, size);
    if (memcmp(&sum, &h->sum, sizeof sum)) return "its checksum differs";
    *payload = (textbuf){a, data + sizeof *h, size - sizeof *h, size - sizeof *h + 1};
    return NULL;
}

// used: its time becomes that of now, since entries that were not used for long go first.
static const char *open_entry(arena *a, int shard, const char *name, header *h, textbuf *payload,
                              bool used) {
    const int fd = openat(shard, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return errno == ELOOP ? "it is a link" : "it cannot be opened";
    const char *why = read_entry(a, fd, name, h, payload);
    if (!why && used) (void)!futimens(fd, NULL);
    close(fd);
    return why;
}

const char *cache_entry_fault(arena *a, int shard, const char *name) {
    header h;
    textbuf payload;
    return open_entry(a, shard, name, &h, &payload, false);
}

bool cache_get(const cache *c, arena *a, cache_kind kind, const cache_key *k, textbuf *payload) {
    char name[CACHE_NAME_CHARS + 1];
    header h;
    cache_key_name(k, name);
    const int shard = cache_shard(c, k->bytes[0] >> 4, false);
    if (shard < 0) return false;
    const char *why = open_entry(a, shard, name, &h, payload, true);
    close(shard);
    return !why && h.kind == kind;
}

// ---- Writing ------------------------------------------------------------------------------------

static bool write_draft(int shard, const char *draft, const textbuf *entry) {
    const int fd = openat(shard, draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                          PRIVATE);
    if (fd < 0) return false;
    const bool good = !fchmod(fd, PRIVATE) && file_write_all(fd, entry->data, entry->len);
    return !close(fd) && good;
}

static textbuf entry_of(arena *a, cache_kind kind, const cache_key *k, const textbuf *payload) {
    header h = {.version = VERSION, .kind = kind, .length = payload->len, .key = *k};
    memcpy(h.magic, magic, sizeof magic);
    textbuf out = textbuf_new(a);
    textbuf_putn(&out, (const char *)&h, sizeof h);
    textbuf_putn(&out, payload->data, payload->len);
    h.sum = cache_hash(out.data, out.len);
    memcpy(out.data, &h, sizeof h);
    return out;
}

void cache_put(const cache *c, arena *a, cache_kind kind, const cache_key *k,
               const textbuf *payload) {
    char name[CACHE_NAME_CHARS + 1];
    const textbuf entry = entry_of(a, kind, k, payload);
    const uint64_t bytes = cache_disk_bytes(entry.len);
    if (bytes > cache_share(c) || bytes > MOST_BYTES) return;
    const int shard = cache_shard(c, k->bytes[0] >> 4, true);
    if (shard < 0) return;
    cache_key_name(k, name);
    cache_make_room(a, shard, cache_share(c), bytes, name);
    static atomic_uint drafts;   // of several threads
    const char *draft = arena_printf(a, "draft-%ld-%u-%lld", (long)getpid(),
                                     atomic_fetch_add(&drafts, 1), (long long)clock_ns());
    if (!write_draft(shard, draft, &entry) || renameat(shard, draft, shard, name))
        unlinkat(shard, draft, 0);
    close(shard);
}
