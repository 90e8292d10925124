// Lines of text, and numbers in them.
#ifndef GNNRT_READ_LINES_H
#define GNNRT_READ_LINES_H

#include "read_source.h"

enum {
    RT_LINE_BUFFER = 1 << 18,
    RT_TEXT = 1 << 21,
    RT_QUOTE = 40
};   // RT_LINE_BUFFER: no line has so many bytes
typedef struct {
    rt_source *s;
    char *buffer;
    size_t length, next, capacity;
    bool whole;             // the buffer is all there is, and somebody else's
    int64_t number;         // of the line, from 1
    const char *at, *end;   // the line, without its end
    const char *comments;   // characters that start one
    gnn_status status;
} rt_lines;
gnn_status rt_lines_open(rt_source *s, const char *comments, rt_lines *out);
void rt_lines_close(rt_lines *l);
void rt_lines_rewind(rt_lines *l);
bool rt_lines_hold(rt_lines *l, size_t bytes,
                   // so many are ahead in the buffer, or all; false: none, or a failure
                   bool *ended);
bool rt_next_line(rt_lines *l);      // false: the end, or a failure in status
bool rt_next_content(rt_lines *l);   // skips comments and blank lines
bool rt_is_comment(const rt_lines *l);
bool rt_carriage_return(rt_lines *l);   // one stands within the line, which is a failure
gnn_status rt_line_fail(rt_lines *l, const char *format, ...) RT_PRINTF(2, 3);   // "name:line: ..."
// What stands at p, up to a separator, made fit for a message.
const char *rt_quote(const char *p, const char *end, char out[RT_QUOTE]);

// Each returns the position after the number, or NULL where there is none or it does not fit.
// nan, inf and infinity too, of any case
const char *rt_parse_real(const char *p, const char *end, double *out);
bool rt_find_word(const char *text, const char *end, const char *word);   // of any case

static inline const char *rt_skip_blanks(const char *p, const char *end) {
    while (p < end && (*p == ' ' || *p == '\t')) p++;
    return p;
}

static inline bool rt_ends_token(const char *p, const char *end)   // blank, comma or end of line
{
    return p == end || *p == ' ' || *p == '\t' || *p == ',';
}

// digits alone
static inline const char *rt_parse_count(const char *p, const char *end, int64_t *out) {
    enum { CANNOT_OVERFLOW = 18 };
    const char *start = p, *safe = end - p > CANNOT_OVERFLOW ? p + CANNOT_OVERFLOW : end;
    int64_t value = 0;
    for (; p < safe && *p >= '0' && *p <= '9'; p++) value = value * 10 + (*p - '0');
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        int64_t digit = *p - '0';
        if (value > (INT64_MAX - digit) / 10) return NULL;
        value = value * 10 + digit;
    }
    *out = value;
    return p > start ? p : NULL;
}

#endif
