// Lines of a text file and the numbers in them.
#define _POSIX_C_SOURCE 200809L
#include "graph_blocks.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

gnn_status rt_lines_open(rt_source *s, const char *comments, rt_lines *out) {
    size_t capacity = s->size > RT_LINE_BUFFER ? RT_TEXT : RT_LINE_BUFFER;
    *out = (rt_lines){
        .s = s, .comments = comments, .buffer = rt_alloc(s->c, capacity), .capacity = capacity};
    return out->buffer ? GNN_OK : GNN_NO_MEMORY;
}

void rt_lines_close(rt_lines *l) {
    rt_free(l->s->c, l->buffer);
    l->buffer = NULL;
}

void rt_lines_rewind(rt_lines *l) {
    rt_source_rewind(l->s);
    l->length = l->next = 0;
    l->number = 0;
}

gnn_status rt_line_fail(rt_lines *l, const char *format, ...) {
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    l->status = rt_fail(l->s->c, GNN_BAD_FILE, "%s:%lld: %s", l->s->name, (long long)l->number,
                        text);
    return l->status;
}

// Moves what is left to the front and fills up behind it; false: nothing came.
static bool refill(rt_lines *l) {
    size_t got;
    if (l->whole) return false;
    memmove(l->buffer, l->buffer + l->next, l->length - l->next);
    l->length -= l->next;
    l->next = 0;
    l->status = rt_source_read(l->s, l->buffer + l->length, l->capacity - l->length, &got);
    l->length += got;
    return !l->status && got > 0;
}

bool rt_lines_hold(rt_lines *l, size_t bytes, bool *ended) {
    if (l->length - l->next < bytes && !*ended) {
        refill(l);
        *ended = l->length < l->capacity;
    }
    return !l->status && l->next < l->length;
}

// Nothing is kept of a comment that is longer than lines may be.
static bool skip_long_comment(rt_lines *l) {
    char *newline;
    l->next += RT_LINE_BUFFER;
    while (!(newline = memchr(l->buffer + l->next, '\n', l->length - l->next))) {
        l->next = l->length;
        if (!refill(l)) return false;
    }
    l->next = (size_t)(newline - l->buffer) + 1;
    l->at = l->end = l->buffer;
    return true;
}

static bool is_comment(const rt_lines *l, const char *p) {
    for (const char *c = l->comments; *c; c++)
        if (*c == *p) return true;
    return false;
}

// A file whose lines end with carriage returns alone would be one comment.
bool rt_carriage_return(rt_lines *l) {
    if (l->at == l->end || !memchr(l->at, '\r', (size_t)(l->end - l->at))) return false;
    rt_line_fail(
        l,
        "a carriage return stands within the line; lines end with \\n or \\r\\n (tr '\\r' '\\n' < OLD > NEW)");
    return true;
}

static bool next_line(rt_lines *l) {
    l->number++;
    size_t searched = 0;
    for (;;) {
        char *start = l->buffer + l->next;
        size_t left = l->length - l->next, n = left < RT_LINE_BUFFER ? left : RT_LINE_BUFFER;
        char *newline = memchr(start + searched, '\n', n - searched);
        if (newline) {
            l->next = (size_t)(newline - l->buffer) + 1;
            l->at = start;
            l->end = newline > start && newline[-1] == '\r' ? newline - 1 : newline;
            return true;
        }
        if (n == RT_LINE_BUFFER) {
            if (is_comment(l, start)) return skip_long_comment(l);
            rt_line_fail(l, "the line is longer than %d bytes", RT_LINE_BUFFER);
            return false;
        }
        searched = n;
        if (refill(l)) continue;
        l->at = l->buffer + l->next;
        l->end = l->buffer + l->length;
        if (l->end > l->at && l->end[-1] == '\r') l->end--;
        l->next = l->length;
        l->number -= l->whole && !searched;   // the line is another piece's
        return !l->status && searched > 0;
    }
}

// Of what is no comment, the reader of its numbers notices.
bool rt_next_line(rt_lines *l) {
    return next_line(l) && !(rt_is_comment(l) && rt_carriage_return(l));
}

bool rt_is_comment(const rt_lines *l) { return l->at < l->end && is_comment(l, l->at); }

bool rt_next_content(rt_lines *l) {
    while (rt_next_line(l))
        if (!rt_is_comment(l) && rt_skip_blanks(l->at, l->end) < l->end) return true;
    return false;
}

const char *rt_quote(const char *p, const char *end, char out[RT_QUOTE]) {
    p = rt_skip_blanks(p, end);
    if (p == end) return "the end of the line";
    char *to = out;
    *to++ = '\'';
    do *to++ = *p < 32 || *p > 126 ? '?' : *p;
    while (++p < end && !rt_ends_token(p, end) && to < out + RT_QUOTE - 5);
    if (!rt_ends_token(p, end)) to = memcpy(to, "...", 3), to += 3;
    *to++ = '\'';
    *to = 0;
    return out;
}

bool rt_find_word(const char *text, const char *end, const char *word) {
    size_t n = strlen(word);
    return (size_t)(end - text) >= n && !strncasecmp(text, word, n);
}

// ---- Reals --------------------------------------------------------------------------------------
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

typedef struct {
    const char *end;    // NULL: not a number
    uint64_t digits;    // the first 19 significant ones
    int64_t exponent;   // of ten, for these
    bool negative, exact;
} decimal;

static const char *scan_digits(const char *p, const char *end, decimal *d, int64_t step,
                               int *kept) {
    for (; p < end && is_digit(*p); p++) {
        if (*kept == 19) {
            d->exact = false;
            continue;
        }
        d->digits = d->digits * 10 + (uint64_t)(*p - '0');
        *kept += d->digits != 0;
        d->exponent -= step;
    }
    return p;
}

static const char *scan_exponent(const char *p, const char *end, decimal *d) {
    if (p == end || (*p != 'e' && *p != 'E')) return p;
    bool negative = ++p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    int64_t e = 0;
    const char *start = p;
    for (; p < end && is_digit(*p); p++) e = e < 100000 ? e * 10 + (*p - '0') : e;
    d->exponent += negative ? -e : e;
    return p > start ? p : NULL;
}

static decimal scan_decimal(const char *p, const char *end) {
    decimal d = {.exact = true};
    d.negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    const char *start = p;
    int kept = 0;
    p = scan_digits(p, end, &d, 0, &kept);
    bool point = p < end && *p == '.';
    if (point) p = scan_digits(p + 1, end, &d, 1, &kept);
    if (p - start - point > 0) d.end = scan_exponent(p, end, &d);
    return d;
}

// Rare shapes: many digits or great exponents. strtod wants the C locale and a terminated string.
static bool convert_slowly(const char *p, const char *end, double *out) {
    enum { LONGEST = 512 };
    char text[LONGEST];
    if (end - p >= LONGEST) return false;
    memcpy(text, p, (size_t)(end - p));
    text[end - p] = 0;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain) return false;
    locale_t before = uselocale(plain);
    *out = strtod(text, NULL);
    uselocale(before);
    freelocale(plain);
    return isfinite(*out);
}

static const char *parse_word(const char *p, const char *end, double *out) {
    static const struct {
        const char *word;
        double value;
    } words[] = {{"nan", NAN}, {"infinity", INFINITY}, {"inf", INFINITY}};
    bool sign = p < end && (*p == '-' || *p == '+'), negative = sign && *p == '-';
    p += sign;
    for (size_t i = 0; i < RT_COUNT(words); i++)
        if (rt_find_word(p, end, words[i].word)) {
            *out = negative ? -words[i].value : words[i].value;
            return p + strlen(words[i].word);
        }
    return NULL;
}

// Digits below 2^53 and powers of ten up to 22 are exact doubles, so one operation rounds rightly.
const char *rt_parse_real(const char *p, const char *end, double *out) {
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    decimal d = scan_decimal(p, end);
    if (!d.end) return parse_word(p, end, out);
    if (!d.exact || d.digits >> 53 || d.exponent > 22 || d.exponent < -22)
        return convert_slowly(p, d.end, out) ? d.end : NULL;
    double value = (double)d.digits;
    value = d.exponent < 0 ? value / powers[-d.exponent] : value * powers[d.exponent];
    *out = d.negative ? -value : value;
    return d.end;
}
