// Reads sizes in postfix, as size_print writes them: tokens between blanks, such as `E D * 256
// ceildiv` or `quantile(dst,900)`. How deep the stack is at each token is checked, too.
#include "program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const program *p;
    const char *at, *end;   // of the token
} size_word;

static bool is_text(const char *from, const char *to, const char *text) {
    size_t n = (size_t)(to - from);
    return strlen(text) == n && !memcmp(from, text, n);
}

// As it is written: without its blanks.
static bool is_name(const char *from, const char *to, const char *name) {
    for (; *name; name++) {
        if (*name == ' ') continue;
        if (from == to || *from++ != *name) return false;
    }
    return from == to;
}

static bool read_number(const char *from, const char *to, int64_t *out) {
    char *end;
    errno = 0;
    *out = strtoll(from, &end, 10);
    return from < to && end == to && !errno && *from != ' ' && *from != '+';
}

static bool read_space(const size_word *w, size_token *out) {
    for (uint32_t i = 0; i < w->p->spaces.len; i++)
        if (is_name(w->at, w->end, w->p->spaces.data[i].name))
            return *out = (size_token){SZ_SPACE, i, 0}, true;
    return false;
}

static bool read_param(const size_word *w, const char *from, const char *to, int64_t *out) {
    for (uint32_t i = 0; i < w->p->params.len; i++)
        if (is_name(from, to, w->p->params.data[i].name)) return *out = i, true;
    return false;
}

static bool read_device(const char *from, const char *to, int64_t *out) {
    static const char *const facts[] = {
#define X(name, text) text,
        DEVICE_NUMBERS(X)
#undef X
    };
    for (uint32_t i = 0; i < DEVICE_NUMBER_COUNT; i++)
        if (is_text(from, to, facts[i])) return *out = i, true;
    return false;
}

// What stands in the parentheses of a statistic, up to three between commas.
static bool read_arguments(const size_word *w, size_token *t, const char *const *from,
                           const char *const *to, int n) {
    int64_t second = 0;
    switch (t->kind) {
    case SZ_MAX_PREIMAGE:
    case SZ_MIN_PREIMAGE:
    case SZ_AVG_PREIMAGE:
    case SZ_SORTED:
    case SZ_STD_PREIMAGE: return n == 1 && read_param(w, from[0], to[0], &t->value);
    case SZ_SYMMETRIC:
        return n == 2 && read_param(w, from[0], to[0], &t->value) &&
               read_param(w, from[1], to[1], &t->value2);
    case SZ_QUANTILE_PREIMAGE:
    case SZ_AT_LEAST:
    case SZ_CUT_PARTS:
    case SZ_FILL:
        return n == 2 && read_param(w, from[0], to[0], &t->value) &&
               read_number(from[1], to[1], &t->value2);
    case SZ_DENSITY:
        if (n != 3 || !read_param(w, from[0], to[0], &t->value) ||
            !read_param(w, from[1], to[1], &second) || !read_number(from[2], to[2], &t->value2) ||
            t->value2 < 0 || t->value2 > INT32_MAX)
            return false;
        t->value2 = t->value2 << 32 | second;
        return true;
    default: return false;
    }
}

static bool read_call(const size_word *w, size_token *out) {
    static const char *const names[] = {
#define X(name, text) text,
        SIZE_TOKENS(X)
#undef X
    };
    enum { MOST = 3 };
    const char *open = memchr(w->at, '(', (size_t)(w->end - w->at)), *from[MOST], *to[MOST];
    if (!open || w->end[-1] != ')') return false;
    int n = 0;
    for (const char *c = from[0] = open + 1; c < w->end; c++) {
        if (*c != ',' && c != w->end - 1) continue;
        to[n++] = c;
        if (c == w->end - 1) break;
        if (n == MOST) return false;
        from[n] = c + 1;
    }
    if (is_text(w->at, open, "device")) {
        out->kind = SZ_DEVICE;
        return n == 1 && read_device(from[0], to[0], &out->value);
    }
    for (uint32_t k = SZ_MAX_PREIMAGE; k < SZ_DEVICE; k++) {
        *out = (size_token){(size_token_kind)k, 0, 0};
        if (is_text(w->at, open, names[k])) return read_arguments(w, out, from, to, n);
    }
    return false;
}

// *takes: how many values it takes off the stack.
static bool read_operator(const size_word *w, size_token *out, uint32_t *takes) {
    static const char *const marks[] = {
#define X(name, text) text,
        SIZE_TOKENS(X)
#undef X
    };
    for (uint32_t k = SZ_ADD; k <= SZ_COND; k++) {
        if (!is_text(w->at, w->end, marks[k])) continue;
        *out = (size_token){(size_token_kind)k, 0, 0};
        *takes = k == SZ_NOT ? 1 : k == SZ_COND ? 3 : 2;
        return true;
    }
    return false;
}

bool size_read(arena *a, const program *p, const char *text, size_expr *out) {
    uint32_t depth = 0;
    *out = (size_expr){0};
    while (*text) {
        const size_word w = {p, text, text + strcspn(text, " ")};
        size_token t = {SZ_CONST, 0, 0};
        uint32_t takes = 0;
        if (!read_operator(&w, &t, &takes) && !read_number(w.at, w.end, &t.value) &&
            !read_space(&w, &t) && !read_call(&w, &t))
            return false;
        if (depth < takes) return false;
        depth += 1 - takes;
        VEC_PUSH(a, out, t);
        text = w.end + (*w.end == ' ');
    }
    return depth == 1;
}
