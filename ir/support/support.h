// The ground floor: memory, strings, vectors, source text and diagnostics. Every folder may use it;
// it uses nothing but the C library.
//
//     arena *a = arena_new();
//     const char *s = arena_printf(a, "%s.%u", name, n);   // lives until arena_free(a)
//     VEC(int) v = {0};
//     VEC_PUSH(a, &v, 3);
//     arena_free(a);
#ifndef GNNC_SUPPORT_H
#define GNNC_SUPPORT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#if defined(__GNUC__)
#define SUP_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define SUP_NORETURN __attribute__((noreturn))
#else
#define SUP_PRINTF(f, a)
#define SUP_NORETURN
#endif

// ---- Internal faults ----------------------------------------------------------------------------
// ICE reports a fault of the compiler itself on stderr and ends the process with status 70. Nothing
// a user writes may reach it.
#define ICE(...) ice_at(__FILE__, __LINE__, __VA_ARGS__)
SUP_NORETURN void ice_at(const char *file, int line, const char *format, ...) SUP_PRINTF(3, 4);
// Lack of memory is no fault of the compiler's: a line on stderr, and the process ends with status
// 3.
SUP_NORETURN void out_of_memory(size_t bytes);   // those wanted; 0: nobody knows
// for libraries that allocate by a function they are given
void *xmalloc(size_t bytes);
void *xrealloc(void *old, size_t bytes);

// ---- Arena --------------------------------------------------------------------------------------
// Zeroed memory, aligned to 16 bytes, which goes with its arena; there is some, or out_of_memory.
typedef struct arena arena;
arena *arena_new(void);
void arena_free(arena *a);
void *arena_alloc(arena *a, size_t bytes);
size_t arena_bytes(const arena *a);   // that were asked of it
char *arena_strndup(arena *a, const char *s, size_t n);
char *arena_strdup(arena *a, const char *s);
char *arena_printf(arena *a, const char *format, ...) SUP_PRINTF(2, 3);
char *arena_vprintf(arena *a, const char *format, va_list ap);
#define ARENA_NEW(a, T) ((T *)arena_alloc((a), sizeof(T)))
#define ARENA_ARRAY(a, T, n) ((T *)arena_alloc((a), sizeof(T) * (size_t)(n)))

// ---- Vectors ------------------------------------------------------------------------------------
// A typed, growing array in an arena. Pointers into it die at the next push.
#define VEC(T)                                                                                     \
    struct {                                                                                       \
        T *data;                                                                                   \
        uint32_t len, cap;                                                                         \
    }
#define VEC_PUSH(a, v, x)                                                                          \
    ((v)->len < (v)->cap                                                                           \
         ? (void)0                                                                                 \
         : vec_reserve((a), (void **)&(v)->data, (v)->len, &(v)->cap, sizeof *(v)->data),          \
     (void)((v)->data[(v)->len++] = (x)))
void vec_reserve(arena *a, void **data, uint32_t len, uint32_t *cap, size_t element);

// ---- Text buffer --------------------------------------------------------------------------------
// A growing string owned by an arena; always terminated by a zero byte.
typedef struct {
    arena *arena;
    char *data;
    size_t len, cap;
} textbuf;
textbuf textbuf_new(arena *a);
void textbuf_puts(textbuf *b, const char *s);
void textbuf_putn(textbuf *b, const char *s, size_t n);
void textbuf_printf(textbuf *b, const char *format, ...) SUP_PRINTF(2, 3);
// Shortest decimal that reads back as the same double; inf, -inf and nan by name.
void textbuf_double(textbuf *b, double x);
void textbuf_json_string(textbuf *b, const char *s, size_t n);   // quoted and escaped
// Escaped as text or the value of an attribute; what XML cannot hold is a question mark.
void textbuf_xml(textbuf *b, const char *s);

// ---- Interned strings ---------------------------------------------------------------------------
// Equal strings give equal pointers, so names compare with ==.
typedef struct intern_table intern_table;
intern_table *intern_new(arena *a);
const char *intern(intern_table *t, const char *s);
const char *intern_n(intern_table *t, const char *s, size_t n);

// ---- Source map ---------------------------------------------------------------------------------
// All files of a run share one space of byte positions, so a span is eight bytes wherever it came
// from. Position 0 belongs to no file: {0, 0} is "nowhere".
typedef struct {
    uint32_t lo, hi;   // half open
} span;
#define NO_SPAN ((span){0, 0})
static inline span span_join(span a, span b) {
    if (!a.hi) return b;
    if (!b.hi) return a;
    return (span){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

typedef struct {
    const char *path;   // as the user gave it
    const char *name;   // as what is made of it calls it
    const char *text;   // zero terminated, may hold further zeros
    uint32_t length;
    uint32_t base;   // position of its first byte
} source_file;

typedef struct source_map source_map;
source_map *source_map_new(arena *a);
// Paths that begin with `from` are called with `to` in its place, of several such the last. For
// files added later.
void source_map_rename(source_map *m, const char *from, const char *to);
// what a file of that path is called
const char *source_map_name(const source_map *m, const char *path);
// Adds a file's text (copied). Returns NULL when the 4 GiB of positions are used up.
const source_file *source_map_add(source_map *m, const char *path, const char *text, size_t length);
// Each error in the file ends with this help.
void source_map_advise(source_map *m, const source_file *f, const char *help);
const char *source_map_advice(const source_map *m, uint32_t position);        // NULL: none
const source_file *source_map_file(const source_map *m, uint32_t position);   // NULL for nowhere
typedef struct {
    const source_file *file;   // NULL for nowhere
    uint32_t line, column;     // from 1; column counts bytes
} source_position;
source_position source_map_position(const source_map *m, uint32_t position);
// text of its line
const char *source_map_line(const source_map *m, uint32_t position, uint32_t *length);

// ---- Diagnostics --------------------------------------------------------------------------------
// One table, diag.def, names every diagnostic. They are collected; the driver prints them at phase
// boundaries.
//
//     diagnostic *d = diag(ds, E0204, ref->span, "'%s' is not declared", name);
//     diag_note(d, other->span, "'%s' is declared here", other->name);
//     diag_fix(d, ref->span, other->name, "did you mean '%s'?", other->name);
// PERF: a performance remark, shown by -Wperf
typedef enum { SEV_ERROR, SEV_WARNING, SEV_PERF } severity;

typedef enum {
#define DIAG(code, sev, name, summary) code,
#include "diag.def"
#undef DIAG
    DIAG_COUNT
} diag_code;

typedef struct {
    const char *code;   // "E0204"
    severity sev;
    const char *name;      // short name, used by -W…  "undeclared-name"
    const char *summary;   // one or two sentences for `gnnc explain E0204`
} diag_info;
const diag_info *diag_table(diag_code code);
bool diag_find(const char *code, diag_code *out);   // by code or by name

typedef struct diag_set diag_set;
typedef struct diagnostic diagnostic;
diag_set *diag_set_new(arena *a, source_map *m);
source_map *diag_sources(const diag_set *ds);
diagnostic *diag(diag_set *ds, diag_code code, span at, const char *format, ...) SUP_PRINTF(4, 5);
diagnostic *diag_note(diagnostic *d, span at, const char *format, ...) SUP_PRINTF(3, 4);
diagnostic *diag_help(diagnostic *d, const char *format, ...) SUP_PRINTF(2, 3);
// What was reported since `mark` (diag_mark) inside `body` is told to have been used at `call`:
// bodies that are expanded at each use would otherwise hide who used them.
uint32_t diag_mark(const diag_set *ds);
diagnostic *diag_last(const diag_set *ds, uint32_t mark);   // reported since; NULL: none
void diag_note_use(diag_set *ds, uint32_t mark, span body, span call, const char *name);
// A help with a replacement a tool can apply.
diagnostic *diag_fix(diagnostic *d, span at, const char *replacement, const char *format, ...)
    SUP_PRINTF(4, 5);
uint32_t diag_errors(const diag_set *ds);   // errors so far, warnings made errors included
// the same with repetitions: has anything gone wrong since?
uint32_t diag_raised(const diag_set *ds);
uint32_t diag_count(const diag_set *ds);   // all diagnostics that would be shown
bool diag_told(const diag_set *ds, diag_code code);

typedef enum { DIAG_TEXT, DIAG_JSON } diag_format;
typedef struct {
    diag_format format;
    bool color;
    bool werror;            // -Werror
    bool perf;              // -Wperf: show performance remarks
    uint32_t max_errors;    // 0: no limit
    const bool *disabled;   // DIAG_COUNT flags, -Wno-NAME; may be NULL
} diag_options;
void diag_configure(diag_set *ds, diag_options options);
// Prints what has not been printed yet, in the order of source positions, and marks it printed.
void diag_print(diag_set *ds, FILE *out);
void diag_put(diag_set *ds, textbuf *out);   // the same, to a text

// Closest of n other names to `name` by edit distance, or one of which either begins the other;
// NULL: none is near enough to suggest.
const char *closest_name(const char *name, const char *const *names, uint32_t n);
// "did you mean": offers that one, in place of what stands at `at` where it is in a source. false:
// there is none.
bool diag_suggest(diagnostic *d, span at, const char *name, const char *const *names, uint32_t n);

#endif
