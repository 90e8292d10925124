// Arena memory, growing vectors and the report of internal faults.
#define _GNU_SOURCE
#include "internal.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// AddressSanitizer sees a chunk as one object. It is told which bytes were handed out, with a gap
// behind each allocation, and that a vector has moved: a pointer kept across its growth is then a
// fault, not luck.
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
enum { GAP = 16, WHOLE_PAGES = 0 };
#else
#define ASAN_POISON_MEMORY_REGION(p, bytes) ((void)(p), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(p, bytes) ((void)(p), (void)(bytes))
enum { GAP = 0, WHOLE_PAGES = 1 };
#endif

enum {
    FIRST_CHUNK = 16 * 1024,
    LARGEST_CHUNK = 4 * 1024 * 1024,
    LARGE_PAGE = 2 * 1024 * 1024,
    ALIGNMENT = 16
};

typedef struct chunk chunk;
struct chunk {
    chunk *next;
    size_t used, size;   // bytes of data
    bool mapped;         // it has pages of its own
    _Alignas(ALIGNMENT) char data[];
};

struct arena {
    chunk *current;   // allocations come from here; older and oversized chunks follow
    size_t grow;      // size of the next chunk
};

// The driver's handler of SIGABRT saves a reproducer; without one the status alone must be right.
void ice_at(const char *file, int line, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    fprintf(stderr, "gnnc: internal fault at %s:%d: ", file, line);
    vfprintf(stderr, format, ap);
    fputc('\n', stderr);
    va_end(ap);
    fflush(NULL);
    struct sigaction now;
    if (!sigaction(SIGABRT, NULL, &now) && now.sa_handler != SIG_DFL) raise(SIGABRT);
    _exit(70);
}

void out_of_memory(size_t bytes) {
    flockfile(stderr);   // for good: another thread that runs out waits for the end
    if (bytes) fprintf(stderr, "gnnc: out of memory: %zu bytes were wanted\n", bytes);
    else fputs("gnnc: out of memory\n", stderr);
    _exit(3);
}

void *xmalloc(size_t bytes) { return xrealloc(NULL, bytes); }

void *xrealloc(void *old, size_t bytes) {
    void *memory = realloc(old, bytes ? bytes : 1);
    if (!memory) out_of_memory(bytes);
    return memory;
}

static chunk *chunk_new(size_t bytes) {
    chunk *c = bytes <= SIZE_MAX - sizeof(chunk) ? calloc(1, sizeof(chunk) + bytes) : NULL;
    if (!c) out_of_memory(bytes);
    c->size = bytes;
    ASAN_POISON_MEMORY_REGION(c->data, bytes);
    return c;
}

// In large pages, where the system has some: the first touch of a page costs a fault, which takes
// longer than clearing it. NULL: none are mapped. bytes: with those of the chunk itself.
static chunk *map_pages(size_t bytes) {
    char *all = mmap(NULL, bytes + LARGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                     -1, 0);
    if (all == MAP_FAILED) return NULL;
    const size_t before = -(uintptr_t)all % LARGE_PAGE;
    chunk *c = (chunk *)(void *)(all + before);
    if (before) munmap(all, before);
    munmap((char *)c + bytes, LARGE_PAGE - before);
    madvise(c, bytes, MADV_HUGEPAGE);   // if not, pages are small
    c->size = bytes - sizeof(chunk);
    c->mapped = true;
    return c;
}

arena *arena_new(void) {
    arena *a = calloc(1, sizeof *a);
    if (!a) out_of_memory(sizeof *a);
    a->grow = FIRST_CHUNK;
    return a;
}

void arena_free(arena *a) {
    if (!a) return;
    for (chunk *c = a->current, *next; c; c = next) {
        next = c->next;
        if (c->mapped) munmap(c, c->size + sizeof(chunk));
        else free(c);
    }
    free(a);
}

// Something too large for what is left gets a chunk of its own behind the current one, so that one
// is still filled.
static void *alloc_large(arena *a, size_t bytes) {
    chunk *c = chunk_new(bytes);
    c->used = bytes;
    if (a->current) {
        c->next = a->current->next;
        a->current->next = c;
    } else {
        a->current = c;
    }
    return c->data;
}

// Four times as much as the last one, until it is a large page.
static chunk *grown(arena *a) {
    chunk *c = WHOLE_PAGES && a->grow >= LARGE_PAGE ? map_pages(a->grow) : NULL;
    if (!c) c = chunk_new(a->grow);
    c->next = a->current;
    a->grow = a->grow < LARGE_PAGE / 8 ? 4 * a->grow
              : a->grow < LARGE_PAGE   ? LARGE_PAGE
                                       : LARGEST_CHUNK;
    return a->current = c;
}

void *arena_alloc(arena *a, size_t bytes) {
    if (bytes > SIZE_MAX - ALIGNMENT - GAP) out_of_memory(bytes);
    size_t size = ((bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1)) + GAP;
    if (!size) size = ALIGNMENT;
    chunk *c = a->current;
    if (!c || c->size - c->used < size) {
        if (size > a->grow / 4) {
            void *large = alloc_large(a, size);
            ASAN_UNPOISON_MEMORY_REGION(large, bytes);
            return large;
        }
        c = grown(a);
    }
    void *p = c->data + c->used;
    c->used += size;
    ASAN_UNPOISON_MEMORY_REGION(p, bytes);
    return p;
}

size_t arena_bytes(const arena *a) {
    size_t bytes = 0;
    for (const chunk *c = a->current; c; c = c->next) bytes += c->used;
    return bytes;
}

char *arena_strndup(arena *a, const char *s, size_t n) {
    char *p = arena_alloc(a, n + 1);
    if (n) memcpy(p, s, n);
    return p;
}

char *arena_strdup(arena *a, const char *s) { return arena_strndup(a, s, strlen(s)); }

char *arena_vprintf(arena *a, const char *format, va_list ap) {
    char text[256];   // most fit
    va_list again, third;
    va_copy(again, ap);
    va_copy(third, ap);
    size_t n = format_plain(text, sizeof text, format, ap);
    if (n == SIZE_MAX) {
        int length = vsnprintf(text, sizeof text, format, again);
        if (length < 0) ICE("bad format '%s'", format);
        n = (size_t)length;
    }
    char *p = arena_alloc(a, n + 1);
    if (n < sizeof text) memcpy(p, text, n + 1);
    else vsnprintf(p, n + 1, format, third);
    va_end(again);
    va_end(third);
    return p;
}

char *arena_printf(arena *a, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    char *p = arena_vprintf(a, format, ap);
    va_end(ap);
    return p;
}

void vec_reserve(arena *a, void **data, uint32_t len, uint32_t *cap, size_t element) {
    if (len < *cap) return;
    if (*cap > UINT32_MAX / 2) ICE("a vector of more than %u elements", *cap);
    uint32_t grown = *cap ? *cap * 2 : 8;
    if (element > SIZE_MAX / grown) out_of_memory(SIZE_MAX);
    void *p = arena_alloc(a, element * grown);
    if (len) {
        memcpy(p, *data, element * len);
        ASAN_POISON_MEMORY_REGION(*data, element * len);
    }
    *data = p;
    *cap = grown;
}
