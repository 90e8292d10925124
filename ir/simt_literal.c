// Numbers of SIMT text.
#include "simt_parse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c = (char)(c | 32);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

// The number at the token, at most `limit`.
static uint64_t unsigned_literal(simt_lexer *x, uint64_t limit) {
    simt_token t = x->token;
    if (t.kind != TOKEN_NUMBER) {
        simt_lex_expected(x, "a number");
        return 0;
    }
    bool hex = t.length > 2 && t.text[0] == '0' && (t.text[1] | 32) == 'x';
    uint64_t base = hex ? 16 : 10, value = 0;
    for (uint32_t k = hex ? 2 : 0; k < t.length; k++) {
        uint64_t digit = (uint64_t)digit_of(t.text[k]);
        if (digit >= base) {
            simt_lex_expected(x, "an integer");
            return 0;
        }
        if (value > (UINT64_MAX - digit) / base || value * base + digit > limit) {
            simt_lex_fail(x, E0953, t, "'%.*s' is out of range",
                          (int)(t.length < 60 ? t.length : 60), t.text);
            return 0;
        }
        value = value * base + digit;
    }
    simt_lex_next(x);
    return value;
}

uint32_t simt_parse_u32(simt_lexer *x, uint32_t limit) {
    return (uint32_t)unsigned_literal(x, limit);
}

static bool is_hex(const simt_lexer *x) {
    return x->token.kind == TOKEN_NUMBER && x->token.length > 2 && (x->token.text[1] | 32) == 'x';
}

int64_t simt_parse_int(simt_lexer *x, simt_element e) {
    uint64_t half = UINT64_C(1) << (simt_element_bits(e) - 1);
    if (simt_lex_take(x, '-')) return (int64_t)(0 - unsigned_literal(x, half));
    return simt_int_wrap(e, (int64_t)unsigned_literal(x, is_hex(x) ? half + (half - 1) : half - 1));
}

int64_t simt_parse_offset(simt_lexer *x) {
    bool minus = simt_lex_take(x, '-');
    if (!minus && !simt_lex_take(x, '+')) return 0;
    uint64_t magnitude = unsigned_literal(x, (uint64_t)INT64_MAX + minus);
    return (int64_t)(minus ? 0 - magnitude : magnitude);
}

static double number_literal(simt_lexer *x, simt_element e) {
    simt_token t = x->token;
    if (t.kind != TOKEN_NUMBER) {
        simt_lex_expected(x, "a number");
        return 0;
    }
    const char *text = simt_lex_copy(x, t);
    char *end;
    double value = strtod(text, &end);
    if (*end || strchr(text, '$')) {
        simt_lex_expected(x, "a number");
        return 0;
    }
    double rounded = simt_float_round(e, value);
    if (isinf(rounded))
        simt_lex_fail(x, E0953, t, "'%.60s' is out of range of %s", text, simt_element_text(e));
    simt_lex_next(x);
    return rounded;
}

double simt_parse_float(simt_lexer *x, simt_element e) {
    if (simt_lex_take_word(x, "bits")) {
        simt_lex_need(x, ':');
        uint32_t bits = simt_element_bits(e);
        return simt_float_from_bits(
            e, unsigned_literal(x, bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1));
    }
    bool minus = simt_lex_take(x, '-');
    double value = simt_lex_take_word(x, "inf")   ? INFINITY
                   : simt_lex_take_word(x, "nan") ? NAN
                                                  : number_literal(x, e);
    return copysign(value, minus ? -1 : 1);
}
