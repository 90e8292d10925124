// Tokens of tensor IR text.
#include "tensor_parse.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool is_word(char c) { return is_letter(c) || is_digit(c); }

static span span_of(const parser *p, const char *from) {
    return (span){p->file->base + (uint32_t)(from - p->file->text),
                  p->file->base + (uint32_t)(p->at - p->file->text)};
}

void tensor_parse_fail(parser *p, diag_code code, span at, const char *format, ...) {
    if (p->failed) return;
    p->failed = true;
    va_list ap;
    va_start(ap, format);
    diag(p->ds, code, at, "%s", arena_vprintf(p->arena, format, ap));
    va_end(ap);
    p->at = p->end;
    p->tok = p->next = (token){.kind = TOK_END, .at = at};
}

static void skip_blanks(parser *p) {
    while (p->at < p->end) {
        if (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r') p->at++;
        else if (p->end - p->at >= 2 && p->at[0] == '/' && p->at[1] == '/')
            while (p->at < p->end && *p->at != '\n') p->at++;
        else return;
    }
}

static char peek(const parser *p, size_t n) {
    return n < (size_t)(p->end - p->at) ? p->at[n] : '\0';
}

static token bad_token(parser *p, const char *from, const char *what) {
    if (p->at == from) p->at++;
    span at = span_of(p, from);
    tensor_parse_fail(p, E0971, at, "%s", what);
    return (token){.kind = TOK_END, .at = at};
}

static token float_token(parser *p, const char *from, const char *digits, ir_dtype type) {
    token t = {.kind = TOK_FLOAT, .at = span_of(p, from), .type = type};
    t.f = type == DT_F64 ? strtod(digits, NULL) : (double)strtof(digits, NULL);
    return t;
}

static bool accept_suffix(parser *p, const char *suffix) {
    size_t n = strlen(suffix);
    if ((size_t)(p->end - p->at) < n || memcmp(p->at, suffix, n) != 0 || is_word(peek(p, n)))
        return false;
    p->at += n;
    return true;
}

static void skip_digits(parser *p) {
    while (is_digit(peek(p, 0))) p->at++;
}

static token lex_number(parser *p) {
    const char *from = p->at;
    if (*p->at == '-') p->at++;
    skip_digits(p);
    bool whole = true;
    if (peek(p, 0) == '.' && is_digit(peek(p, 1))) {
        whole = false;
        p->at++;
        skip_digits(p);
    }
    size_t sign = peek(p, 1) == '-' || peek(p, 1) == '+';
    if (peek(p, 0) == 'e' && is_digit(peek(p, 1 + sign))) {
        whole = false;
        p->at += 1 + sign;
        skip_digits(p);
    }
    const char *digits = arena_strndup(p->arena, from, (size_t)(p->at - from));
    for (ir_dtype t = 0; ir_dtype_is_float(t); t++)
        if (accept_suffix(p, ir_dtype_text(t))) return float_token(p, from, digits, t);
    if (!whole || is_word(peek(p, 0)))
        return bad_token(p, from, "a number is an i64 like 3, or ends in f32, f64, f16 or bf16");
    errno = 0;
    long long i = strtoll(digits, NULL, 10);
    if (errno) return bad_token(p, from, "this number does not fit 64 bits");
    return (token){.kind = TOK_INT, .at = span_of(p, from), .i = i};
}

static token lex_name(parser *p) {
    static const struct {
        const char *text;
        double value;
    } floats[] = {{"inf.", (double)INFINITY}, {"-inf.", (double)-INFINITY}, {"nan.", (double)NAN}};
    const char *from = p->at;
    if (*p->at == '-') p->at++;
    while (is_word(peek(p, 0)) || (peek(p, 0) == '.' && is_word(peek(p, 1)))) p->at++;
    token t = {.kind = TOK_NAME,
               .at = span_of(p, from),
               .text = intern_n(p->names, from, (size_t)(p->at - from))};
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
        size_t n = strlen(floats[i].text);
        for (ir_dtype d = 0; !strncmp(floats[i].text, t.text, n) && ir_dtype_is_float(d); d++)
            if (!strcmp(ir_dtype_text(d), t.text + n))
                return (token){.kind = TOK_FLOAT, .at = t.at, .f = floats[i].value, .type = d};
    }
    return *from == '-' ? bad_token(p, from, "'-' stands before a number or inf") : t;
}

static int hex(char c) {
    if (is_digit(c)) return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static token lex_string(parser *p) {
    const char *from = p->at++;
    textbuf b = textbuf_new(p->arena);
    while (peek(p, 0) != '"') {
        char c = peek(p, 0);
        if (c == '\0' || c == '\n')
            return bad_token(p, from, "this string does not end on its line");
        p->at++;
        if (c == '\\' && (peek(p, 0) == '"' || peek(p, 0) == '\\')) {
            c = *p->at++;
        } else if (c == '\\') {
            int high = hex(peek(p, 1)), low = high < 0 ? -1 : hex(peek(p, 2));
            if (peek(p, 0) != 'x' || low < 0 || high + low == 0)
                return bad_token(p, from, "escapes are \\\", \\\\ and \\xHH");
            c = (char)(unsigned char)(high * 16 + low);
            p->at += 3;
        }
        textbuf_putn(&b, &c, 1);
    }
    p->at++;
    return (token){.kind = TOK_STRING, .at = span_of(p, from), .text = b.data ? b.data : ""};
}

static token lex_let(parser *p) {
    const char *from = p->at++;
    int64_t i = 0;
    while (is_digit(peek(p, 0)) && i < INT32_MAX) i = i * 10 + (*p->at++ - '0');
    if (i == 0) return bad_token(p, from, "'%' stands before the number of a let");
    return (token){.kind = TOK_LET, .at = span_of(p, from), .i = i};
}

static token lex_mark(parser *p) {
    static const char *const marks[] = {"->", "==", "..", "=", "{", "}", "(",
                                        ")",  "[",  "]",  ",", ":", "+"};
    const char *from = p->at;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        size_t n = strlen(marks[i]);
        if ((size_t)(p->end - p->at) < n || memcmp(p->at, marks[i], n) != 0) continue;
        p->at += n;
        return (token){.kind = TOK_MARK, .at = span_of(p, from), .text = marks[i]};
    }
    return bad_token(p, from, "this character has no place in tensor IR text");
}

static token lex(parser *p) {
    skip_blanks(p);
    if (p->at >= p->end) return (token){.kind = TOK_END, .at = span_of(p, p->at)};
    char c = *p->at, second = peek(p, 1);
    if (is_digit(c) || (c == '-' && is_digit(second))) return lex_number(p);
    if (is_letter(c) || (c == '-' && is_letter(second))) return lex_name(p);
    if (c == '"') return lex_string(p);
    return c == '%' ? lex_let(p) : lex_mark(p);
}

void tensor_lex_next(parser *p) {
    p->tok = p->next;
    if (!p->failed) {
        token t = lex(p);
        if (!p->failed) p->next = t;
    }
}

void tensor_lex_start(parser *p) {
    tensor_lex_next(p);
    tensor_lex_next(p);
}

bool tensor_lex_is(const token *t, const char *mark_or_name) {
    return (t->kind == TOK_MARK || t->kind == TOK_NAME) && !strcmp(t->text, mark_or_name);
}

bool tensor_lex_accept(parser *p, const char *mark_or_name) {
    if (!tensor_lex_is(&p->tok, mark_or_name)) return false;
    tensor_lex_next(p);
    return !p->failed;
}

void tensor_lex_expect(parser *p, const char *mark) {
    if (!tensor_lex_is(&p->tok, mark))
        tensor_parse_fail(p, E0971, p->tok.at, "expected '%s'", mark);
    else tensor_lex_next(p);
}

token tensor_lex_name(parser *p, const char *what) {
    token t = p->tok;
    if (t.kind != TOK_NAME) tensor_parse_fail(p, E0971, t.at, "expected %s", what);
    else tensor_lex_next(p);
    return t.kind == TOK_NAME ? t : (token){.kind = TOK_NAME, .at = t.at, .text = ""};
}
