// Growing strings, numbers as text and JSON strings.
#include "internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- Formats ------------------------------------------------------------------------------------
// Behind the last byte; NULL: there is no room for them and a terminator.
static char *put_bytes(char *to, const char *end, const char *bytes, size_t n) {
    return (size_t)(end - to) > n ? (char *)memcpy(to, bytes, n) + n : NULL;
}

static char *put_number(char *to, const char *end, unsigned long long x, bool minus) {
    char digits[24], *first = digits + sizeof digits;
    for (bool more = true; more; more = x > 0) {
        *--first = (char)('0' + x % 10);
        x /= 10;
    }
    if (minus) *--first = '-';
    return put_bytes(to, end, first, (size_t)(digits + sizeof digits - first));
}

static char *put_integer(char *to, const char *end, long long x) {
    return put_number(to, end, x < 0 ? 0 - (unsigned long long)x : (unsigned long long)x, x < 0);
}

static char *put_text(char *to, const char *end, const char *s) {
    return s ? put_bytes(to, end, s, strlen(s)) : NULL;
}

size_t format_plain(char *to, size_t room, const char *format, va_list ap) {
    const char *end = to + room;
    char *at = to;
    while (*format && at) {
        if (*format != '%') {
            if (at + 1 >= end) return SIZE_MAX;
            *at++ = *format++;
        } else if (format[1] == 's') {
            at = put_text(at, end, va_arg(ap, const char *)), format += 2;
        } else if (format[1] == 'u') {
            at = put_number(at, end, va_arg(ap, unsigned), false), format += 2;
        } else if (format[1] == 'd') {
            at = put_integer(at, end, va_arg(ap, int)), format += 2;
        } else if (!strncmp(format + 1, "lld", 3)) {
            at = put_integer(at, end, va_arg(ap, long long)), format += 4;
        } else {
            return SIZE_MAX;
        }
    }
    if (!at || at >= end) return SIZE_MAX;
    *at = 0;
    return (size_t)(at - to);
}

// ---- Texts --------------------------------------------------------------------------------------
textbuf textbuf_new(arena *a) {
    enum { FIRST = 256 };
    return (textbuf){.arena = a, .data = arena_alloc(a, FIRST), .len = 0, .cap = FIRST};
}

// Room for n more bytes and the terminator.
static void textbuf_reserve(textbuf *b, size_t n) {
    if (n >= SIZE_MAX / 2 - b->len) ICE("a text of more than %zu bytes", b->len);
    if (b->len + n < b->cap) return;
    size_t cap = b->cap ? b->cap : 256;
    while (cap <= b->len + n) cap *= 2;
    char *data = arena_alloc(b->arena, cap);
    if (b->len) memcpy(data, b->data, b->len);
    b->data = data;
    b->cap = cap;
}

void textbuf_putn(textbuf *b, const char *s, size_t n) {
    textbuf_reserve(b, n);
    if (n) memcpy(b->data + b->len, s, n);
    b->len += n;
    b->data[b->len] = 0;
}

void textbuf_puts(textbuf *b, const char *s) { textbuf_putn(b, s, strlen(s)); }

static bool printed_plain(textbuf *b, const char *format, va_list ap) {
    textbuf_reserve(b, 128);
    const size_t n = format_plain(b->data + b->len, b->cap - b->len, format, ap);
    if (n != SIZE_MAX) b->len += n;
    return n != SIZE_MAX;
}

static void textbuf_vprintf(textbuf *b, const char *format, va_list ap) {
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(b->data + b->len, b->cap - b->len, format, ap);
    if (n < 0) ICE("bad format '%s'", format);
    if ((size_t)n >= b->cap - b->len) {
        textbuf_reserve(b, (size_t)n);
        vsnprintf(b->data + b->len, b->cap - b->len, format, again);
    }
    b->len += (size_t)n;
    va_end(again);
}

void textbuf_printf(textbuf *b, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    const bool plain = printed_plain(b, format, ap);
    va_end(ap);
    if (plain) return;
    va_start(ap, format);
    textbuf_vprintf(b, format, ap);
    va_end(ap);
}

void textbuf_double(textbuf *b, double x) {
    if (isnan(x)) {
        textbuf_puts(b, "nan");
        return;
    }
    if (isinf(x)) {
        textbuf_puts(b, x < 0 ? "-inf" : "inf");
        return;
    }
    // Any decimal of up to 15 digits survives a round trip through a normal double, so a shorter
    // one shows at 15.
    char s[40];
    for (int digits = fpclassify(x) == FP_SUBNORMAL ? 1 : 15; digits <= 17; digits++) {
        snprintf(s, sizeof s, "%.*g", digits, x);
        if (strtod(s, NULL) == x) break;
    }
    textbuf_puts(b, s);
}

size_t utf8_decode(const char *s, size_t n, uint32_t *point) {
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char c = n ? (unsigned char)*s : 0x80;
    size_t length = c < 0x80 ? 1 : c < 0xc0 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf8 ? 4 : 0;
    if (!length || length > n) return 0;
    uint32_t p = length == 1 ? c : c & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        unsigned char next = (unsigned char)s[i];
        if ((next & 0xc0) != 0x80) return 0;
        p = p << 6 | (next & 0x3fu);
    }
    if (p < smallest[length] || p > 0x10ffff || (p >= 0xd800 && p < 0xe000)) return 0;
    *point = p;
    return length;
}

static void json_control(textbuf *b, unsigned char c) {
    switch (c) {
    case '\n': textbuf_puts(b, "\\n"); break;
    case '\r': textbuf_puts(b, "\\r"); break;
    case '\t': textbuf_puts(b, "\\t"); break;
    default: textbuf_printf(b, "\\u%04x", c);
    }
}

void textbuf_json_string(textbuf *b, const char *s, size_t n) {
    textbuf_puts(b, "\"");
    for (size_t i = 0; i < n;) {
        unsigned char c = (unsigned char)s[i];
        uint32_t point;
        size_t length = utf8_decode(s + i, n - i, &point);
        if (c < 0x20 || c == 0x7f) json_control(b, c);
        else if (c == '"' || c == '\\') textbuf_printf(b, "\\%c", c);
        else if (length) textbuf_putn(b, s + i, length);
        else textbuf_puts(b, "\\ufffd");
        i += length ? length : 1;
    }
    textbuf_puts(b, "\"");
}

void textbuf_xml(textbuf *b, const char *s) {
    for (size_t n = strlen(s); n;) {
        uint32_t point = 0;
        const size_t length = utf8_decode(s, n, &point);
        const bool held = length && (point >= 0x20 || point == '\t') && point != 0xfffe &&
                          point != 0xffff;
        if (!held) textbuf_puts(b, "?");
        else if (strchr("<>&\"'", *s)) textbuf_printf(b, "&#%u;", point);
        else textbuf_putn(b, s, length);
        s += length ? length : 1;
        n -= length ? length : 1;
    }
}
