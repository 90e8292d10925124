// The compile cache: what a compile came to, under a hash of all that it depends on.
//
// A folder of this user's holds sixteen shards, and a shard holds entries: files whose name is
// their key. What does not fit, for whatever reason, is no entry: the work is done, and a new one
// written. Nothing here is ever a fault of the session.
//
//     cache *c = cache_of(d);
//     textbuf payload;
//     if (c && cache_get(c, a, CACHE_CUBIN, &key, &payload)) …
#ifndef DRIVER_CACHE_H
#define DRIVER_CACHE_H

#include "driver.h"

#include <sys/stat.h>

// ---- Keys (cache_key.c) -------------------------------------------------------------------------
enum { CACHE_KEY_BYTES = 32, CACHE_NAME_CHARS = 2 * CACHE_KEY_BYTES };
typedef struct {
    unsigned char bytes[CACHE_KEY_BYTES];
} cache_key;
// Facts are written one after another, each with its length, so that no two lists of facts are one.
void cache_fact(textbuf *facts, const char *data, size_t size);
void cache_fact_text(textbuf *facts, const char *text);
void cache_fact_number(textbuf *facts, uint64_t number);
cache_key cache_hash(const char *data, size_t size);   // BLAKE2b
void cache_key_name(const cache_key *k, char *name);   // CACHE_NAME_CHARS and a zero
bool cache_key_read(const char *name, cache_key *k);   // false: no name of a key
// gnnc itself and the libraries it is linked with, as they are loaded. false: one cannot be told.
bool cache_put_program(textbuf *facts);

// ---- The folder (cache_folder.c) ----------------------------------------------------------------
enum { CACHE_SHARDS = 16 };
typedef struct cache {
    cg_cubins cubins;           // first: what codegen hands back is the cache
    int folder;                 // -1: there is none
    const char *path;           // of it; NULL: none is named
    const char *why;            // there is none; or the limit is not the one that was asked for
    uint64_t limit;             // of all entries together, in bytes on a disk
    const char *compile;        // "hit", "miss", or why neither; NULL: not asked for
    atomic_uint hits, misses;   // of cubins, which several threads ask for
} cache;
// The session's, opened at the first call; NULL: --no-cache, a verb that has none, none is usable.
cache *cache_of(driver *d);
cache cache_open(arena *a, bool make);                         // make: where it is not there yet
int cache_shard(const cache *c, uint32_t number, bool make);   // its folder; -1: none is usable
bool cache_is_ours(int fd, mode_t kind, mode_t mode);          // of this user, for nobody else
uint64_t cache_share(const cache *c);                          // of a shard: what it may hold

// ---- Entries (cache_store.c) --------------------------------------------------------------------
// CACHE_READS: the files that a compile looked for. CACHE_COMPILE: what it wrote and said.
typedef enum { CACHE_READS = 1, CACHE_COMPILE, CACHE_CUBIN } cache_kind;
bool cache_get(const cache *c, arena *a, cache_kind kind, const cache_key *k, textbuf *payload);
void cache_put(const cache *c, arena *a, cache_kind kind, const cache_key *k,
               const textbuf *payload);
// What is wrong with the entry of a name; NULL: nothing.
const char *cache_entry_fault(arena *a, int shard, const char *name);
// The next fact of a payload, from *at on. false: it ends, or does not fit.
bool cache_next(const textbuf *payload, size_t *at, const char **data, size_t *size);
bool cache_next_text(const textbuf *payload, size_t *at, const char **text);   // no zero in it

// ---- What it may hold (cache_evict.c) -----------------------------------------------------------
uint64_t cache_disk_bytes(uint64_t size);   // a file takes whole blocks
// Least recently used entries go until `bytes` more fit, and what writers have left behind.
void cache_make_room(arena *a, int shard, uint64_t share, uint64_t bytes, const char *but);
bool cache_is_draft(const char *name);   // of a writer
bool cache_is_stale(const struct stat *s);

// ---- Whole compiles (cache_compile.c) -----------------------------------------------------------
typedef struct {
    const char *out;     // -o; NULL: none
    bool named_inside;   // what is written depends on the names of the files
    bool assembles;
    const cg_target *targets;
    uint32_t ntargets;
    const char *const *suffixes;   // of the forms
    uint32_t nsuffixes;
} cache_asked;
typedef struct {
    bool usable;
    cache_key key;   // of the command
    const char *assembler;
} cache_command;
// Whether the outputs are taken from the cache: they are added, and what was said is printed.
bool cache_take_compile(driver *d, const cache_asked *asked, cache_command *command);
// After a compile that went well. Prints what there is to say: `log`, and diagnostics.
void cache_keep_compile(driver *d, const cache_asked *asked, const cache_command *command,
                        const output *outputs, uint32_t n, const textbuf *log);

// ---- Cubins (cache_cubin.c) ---------------------------------------------------------------------
cg_cubins *cache_cubins(driver *d);              // NULL: without
void cache_report(const driver *d, FILE *out);   // --time-report

#endif
