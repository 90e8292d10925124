// Tokens of SIMT text.
#include "simt_lex.h"

#include <string.h>

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_inner(char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '$'; }

static char at(const simt_lexer *x, uint32_t offset) {
    return offset < x->file->length ? x->file->text[offset] : 0;
}

span simt_lex_span(const simt_lexer *x, simt_token t) {
    if (!x->file->base) return NO_SPAN;
    uint32_t lo = x->file->base + t.start, percent = t.kind == TOKEN_VALUE;
    return (span){lo, lo + t.length + percent};
}

diagnostic *simt_lex_fail(simt_lexer *x, diag_code code, simt_token t, const char *format, ...) {
    if (x->failed) return NULL;
    va_list ap;
    va_start(ap, format);
    const char *message = arena_vprintf(x->arena, format, ap);
    va_end(ap);
    if (!x->ds) ICE("%s, byte %u: %s", x->file->path, t.start, message);
    diagnostic *d = diag(x->ds, code, simt_lex_span(x, t), "%s", message);
    x->failed = true;
    x->next = x->file->length;
    x->token = (simt_token){.kind = TOKEN_END, .text = "", .start = x->next};
    return d;
}

static void skip_blanks(simt_lexer *x) {
    for (;; x->next++) {
        char c = at(x, x->next);
        if (c == '#' || (c == '/' && at(x, x->next + 1) == '/')) {
            const char *end = memchr(x->file->text + x->next, '\n', x->file->length - x->next);
            x->next = end ? (uint32_t)(end - x->file->text) : x->file->length;
            c = at(x, x->next);
        }
        if (c != ' ' && c != '\t' && c != '\n' && c != '\r') return;
    }
}

// Digits, letters and points; a sign belongs to it behind the e of a decimal or the p of a
// hexadecimal exponent.
static uint32_t number_end(const simt_lexer *x, uint32_t start) {
    bool hex = at(x, start) == '0' && (at(x, start + 1) | 32) == 'x';
    uint32_t end = start;
    for (;; end++) {
        char c = at(x, end), before = end > start ? (char)(at(x, end - 1) | 32) : 0;
        bool exponent_sign = (c == '+' || c == '-') && before == (hex ? 'p' : 'e');
        if (!is_inner(c) && !exponent_sign) return end;
    }
}

static uint32_t name_end(const simt_lexer *x, uint32_t end) {
    while (is_inner(at(x, end))) end++;
    return end;
}

static void set_token(simt_lexer *x, simt_token_kind kind, uint32_t end) {
    uint32_t skip = kind == TOKEN_VALUE;
    x->token = (simt_token){.kind = kind,
                            .sign = kind == TOKEN_SIGN ? at(x, x->next) : 0,
                            .text = x->file->text + x->next + skip,
                            .length = end - x->next - skip,
                            .start = x->next};
    x->next = end;
}

static void unknown_byte(simt_lexer *x, char c) {
    set_token(x, TOKEN_SIGN, x->next + 1);
    if (c > ' ' && c < 127) simt_lex_fail(x, E0951, x->token, "'%c' means nothing here", c);
    else simt_lex_fail(x, E0951, x->token, "the byte 0x%02x means nothing here", (unsigned char)c);
}

void simt_lex_next(simt_lexer *x) {
    skip_blanks(x);
    uint32_t start = x->next;
    char c = at(x, start);
    if (start >= x->file->length) set_token(x, TOKEN_END, start);
    else if (is_letter(c)) set_token(x, TOKEN_NAME, name_end(x, start));
    else if (is_digit(c)) set_token(x, TOKEN_NUMBER, number_end(x, start));
    else if (c == '%' && is_inner(at(x, start + 1)))
        set_token(x, TOKEN_VALUE, name_end(x, start + 1));
    else if (c == '-' && at(x, start + 1) == '>') set_token(x, TOKEN_ARROW, start + 2);
    else if (c && strchr("(){},:=*+-", c)) set_token(x, TOKEN_SIGN, start + 1);
    else unknown_byte(x, c);
}

void simt_lex_start(simt_lexer *x, uint32_t offset) {
    x->next = offset;
    simt_lex_next(x);
}

void simt_lex_expected(simt_lexer *x, const char *what) {
    simt_token t = x->token;
    if (t.kind == TOKEN_END) simt_lex_fail(x, E0951, t, "%s is expected, but the text ends", what);
    else if (t.kind == TOKEN_ARROW) simt_lex_fail(x, E0951, t, "%s is expected, not '->'", what);
    else
        simt_lex_fail(x, E0951, t, "%s is expected, not '%s%.*s'", what,
                      t.kind == TOKEN_VALUE ? "%" : "", (int)(t.length < 60 ? t.length : 60),
                      t.text);
}

bool simt_lex_is(const simt_lexer *x, char sign) {
    return x->token.kind == TOKEN_SIGN && x->token.sign == sign;
}

bool simt_lex_is_word(const simt_lexer *x, const char *word) {
    simt_token t = x->token;
    return t.kind == TOKEN_NAME && t.text[0] == word[0] && t.length == strlen(word) &&
           !memcmp(t.text, word, t.length);
}

bool simt_lex_take(simt_lexer *x, char sign) {
    bool here = simt_lex_is(x, sign);
    if (here) simt_lex_next(x);
    return here;
}

bool simt_lex_take_word(simt_lexer *x, const char *word) {
    bool here = simt_lex_is_word(x, word);
    if (here) simt_lex_next(x);
    return here;
}

void simt_lex_need(simt_lexer *x, char sign) {
    const char what[] = {'\'', sign, '\'', 0};
    if (!simt_lex_take(x, sign)) simt_lex_expected(x, what);
}

void simt_lex_need_word(simt_lexer *x, const char *word) {
    if (!simt_lex_take_word(x, word)) simt_lex_expected(x, arena_printf(x->arena, "'%s'", word));
}

const char *simt_lex_copy(const simt_lexer *x, simt_token t) {
    return arena_strndup(x->arena, t.text, t.length);
}
