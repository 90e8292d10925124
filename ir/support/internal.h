// Shared by the files of ir/support/ only.
#ifndef GNNC_SUPPORT_INTERNAL_H
#define GNNC_SUPPORT_INTERNAL_H

#include "support/support.h"

// Length of the UTF-8 sequence at s, 0 where it is malformed, overlong or a surrogate; its code
// point in *point.
size_t utf8_decode(const char *s, size_t n, uint32_t *point);

// As vsnprintf, where the format has %s, %u, %d and %lld alone, and all of it has room: most texts
// are such, and there are many. SIZE_MAX: ask vsnprintf.
size_t format_plain(char *to, size_t room, const char *format, va_list ap);

uint64_t hash_bytes(const char *s, size_t n, uint64_t seed);

typedef struct {
    enum { PART_NOTE, PART_HELP, PART_FIX } kind;
    span at;
    const char *message;
    const char *replacement;   // PART_FIX
} diag_part;

struct diagnostic {
    diag_set *set;
    diag_code code;
    span at;
    const char *message;
    VEC(diag_part) parts;
    span call;        // of the outermost call noted
    uint32_t index;   // order of arrival
    bool printed;
};

struct diag_set {
    arena *arena;
    source_map *sources;
    diag_options options;
    VEC(diagnostic *) all;
    diagnostic **unique;   // open hashing by code, span and message; a power of two
    uint32_t unique_cap;
    uint32_t counts[DIAG_COUNT + 1];   // diagnostics of each code
    uint32_t raised[DIAG_COUNT + 1];   // … repetitions included
    uint32_t printed_errors;
};

// How a diagnostic shows under the options of its set.
bool diag_shown(const diag_set *ds, diag_code code);
bool diag_is_error(const diag_set *ds, diag_code code);

#endif
