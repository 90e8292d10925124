// Interned strings: open hashing, never more than half full.
#include "internal.h"

#include <string.h>

typedef struct {
    const char *text;
    size_t length;
    uint64_t hash;
} entry;

struct intern_table {
    arena *arena;
    entry *entries;
    size_t count, cap;   // cap is a power of two
};

// FNV-1a with a final mix, so that the low bits depend on every byte.
uint64_t hash_bytes(const char *s, size_t n, uint64_t seed) {
    uint64_t h = 0xcbf29ce484222325u ^ seed;
    for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)s[i]) * 0x100000001b3u;
    h ^= h >> 32;
    return h * 0x9e3779b97f4a7c15u ^ h >> 29;
}

intern_table *intern_new(arena *a) {
    intern_table *t = ARENA_NEW(a, intern_table);
    *t = (intern_table){.arena = a, .entries = ARENA_ARRAY(a, entry, 256), .count = 0, .cap = 256};
    return t;
}

static entry *find_slot(entry *entries, size_t cap, const char *s, size_t n, uint64_t hash) {
    for (size_t i = (size_t)hash & (cap - 1);; i = (i + 1) & (cap - 1)) {
        entry *e = &entries[i];
        if (!e->text || (e->hash == hash && e->length == n && !memcmp(e->text, s, n))) return e;
    }
}

static void intern_grow(intern_table *t) {
    entry *grown = ARENA_ARRAY(t->arena, entry, t->cap * 2);
    for (size_t i = 0; i < t->cap; i++) {
        entry *e = &t->entries[i];
        if (e->text) *find_slot(grown, t->cap * 2, e->text, e->length, e->hash) = *e;
    }
    t->entries = grown;
    t->cap *= 2;
}

const char *intern_n(intern_table *t, const char *s, size_t n) {
    if (t->count * 2 >= t->cap) intern_grow(t);
    uint64_t hash = hash_bytes(s, n, 0);
    entry *e = find_slot(t->entries, t->cap, s, n, hash);
    if (!e->text) {
        *e = (entry){arena_strndup(t->arena, s, n), n, hash};
        t->count++;
    }
    return e->text;
}

const char *intern(intern_table *t, const char *s) { return intern_n(t, s, strlen(s)); }
