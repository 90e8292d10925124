// Exact fractions of conditions, folded where they are known: the runtime computes in whole
// numbers, so a comparison is multiplied out.
//     a / b < c / d  →  a * d < c * b          where b * d is known and positive
//                       b * d > 0 && a * d < c * b || b * d < 0 && c * b < a * d
#include "sema_schedule_ratio.h"
#include <string.h>

size_term term_known(int64_t x) { return (size_term){.known = true, .value = x}; }

size_term term_token(ratio_context *c, size_token t) {
    size_term r = {0};
    VEC_PUSH(c->arena, &r.expr, t);
    return r;
}

static void append(ratio_context *c, size_expr *out, const size_term *a) {
    if (a->known) VEC_PUSH(c->arena, out, ((size_token){SZ_CONST, a->value, 0}));
    for (uint32_t i = 0; i < a->expr.len; i++) VEC_PUSH(c->arena, out, a->expr.data[i]);
}

size_expr term_expr(ratio_context *c, size_term a) {
    size_expr r = {0};
    append(c, &r, &a);
    return r;
}

static int64_t floor_mod(int64_t a, int64_t b) {
    int64_t r = b == -1 ? 0 : a % b;
    return r && (r < 0) != (b < 0) ? r + b : r;
}

static int64_t compute(ratio_context *c, size_token_kind k, int64_t a, int64_t b) {
    int64_t r = 0;
    bool over = (k == SZ_ADD && __builtin_add_overflow(a, b, &r)) ||
                (k == SZ_SUB && __builtin_sub_overflow(a, b, &r)) ||
                (k == SZ_MUL && __builtin_mul_overflow(a, b, &r));
    c->overflow |= over;
    if (over || k == SZ_ADD || k == SZ_SUB || k == SZ_MUL) return over ? 0 : r;
    return k == SZ_MOD   ? floor_mod(a, b)
           : k == SZ_EQ  ? a == b
           : k == SZ_NE  ? a != b
           : k == SZ_LT  ? a < b
           : k == SZ_LE  ? a <= b
           : k == SZ_GT  ? a > b
           : k == SZ_GE  ? a >= b
           : k == SZ_AND ? a && b
                         : a || b;
}

static bool is(size_term a, int64_t x) { return a.known && a.value == x; }

size_term term_apply(ratio_context *c, size_token_kind k, size_term a, size_term b) {
    if (k == SZ_AND && (is(a, 0) || is(b, 0))) return term_known(0);
    if (k == SZ_OR && (is(a, 1) || is(b, 1))) return term_known(1);
    if (a.known && b.known) return term_known(compute(c, k, a.value, b.value));
    if (k == SZ_MUL && (is(a, 0) || is(b, 0))) return term_known(0);
    int64_t neutral = k == SZ_MUL || k == SZ_AND;
    bool same = k == SZ_MUL || k == SZ_AND || k == SZ_ADD || k == SZ_OR;
    if (same && is(a, neutral)) return b;
    if ((same || k == SZ_SUB) && is(b, neutral)) return a;
    size_term r = {0};
    append(c, &r.expr, &a);
    append(c, &r.expr, &b);
    VEC_PUSH(c->arena, &r.expr, ((size_token){k, 0, 0}));
    return r;
}

size_term term_not(ratio_context *c, size_term a) {
    if (a.known) return term_known(!a.value);
    size_term r = {0};
    append(c, &r.expr, &a);
    VEC_PUSH(c->arena, &r.expr, ((size_token){SZ_NOT, 0, 0}));
    return r;
}

size_term term_select(ratio_context *c, size_term holds, size_term yes, size_term no) {
    if (holds.known) return holds.value ? yes : no;
    if (yes.known && no.known && yes.value == no.value) return yes;
    size_term r = {0};
    append(c, &r.expr, &holds);
    append(c, &r.expr, &yes);
    append(c, &r.expr, &no);
    VEC_PUSH(c->arena, &r.expr, ((size_token){SZ_COND, 0, 0}));
    return r;
}

// ---- Fractions ----------------------------------------------------------------------------------
ratio ratio_new(size_term n, int64_t d) { return (ratio){n, term_known(d), term_known(1)}; }

// Known ones in lowest terms, with a positive denominator.
static ratio reduced(ratio_context *c, ratio x) {
    if (x.d.known && x.d.value < 0) {
        x.n = term_apply(c, SZ_SUB, term_known(0), x.n);
        x.d = term_apply(c, SZ_SUB, term_known(0), x.d);
    }
    if (!x.n.known || !x.d.known || x.d.value == 0) return x;
    uint64_t a = x.n.value < 0 ? 0 - (uint64_t)x.n.value : (uint64_t)x.n.value,
             b = (uint64_t)x.d.value;
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    if (a <= 1 || a > INT64_MAX) return x;
    x.n.value /= (int64_t)a;
    x.d.value /= (int64_t)a;
    return x;
}

bool ratio_decimal(const char *text, ratio *out) {
    int64_t n = 0, d = 1, exponent = 0;
    bool point = false, negative = false;
    for (; (*text >= '0' && *text <= '9') || *text == '.'; text++) {
        if (*text == '.') {
            point = true;
            continue;
        }
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *text - '0', &n))
            return false;
        if (point && __builtin_mul_overflow(d, 10, &d)) return false;
    }
    if (*text == 'e' || *text == 'E') {
        negative = *++text == '-';
        if (*text == '-' || *text == '+') text++;
        for (; *text >= '0' && *text <= '9' && exponent < 100; text++)
            exponent = exponent * 10 + (*text - '0');
    }
    for (; exponent > 0; exponent--)
        if (__builtin_mul_overflow(negative ? d : n, 10, negative ? &d : &n)) return false;
    ratio_context none = {0};
    *out = reduced(&none, ratio_new(term_known(n), d));
    return true;
}

ratio ratio_apply(ratio_context *c, size_token_kind k, ratio a, ratio b) {
    size_term n = term_apply(c, SZ_MUL, a.n, b.d), m = term_apply(c, SZ_MUL, b.n, a.d),
              d = term_apply(c, SZ_MUL, a.d, b.d),
              defined = term_apply(c, SZ_AND, a.defined, b.defined);
    if (k == SZ_MUL) return reduced(c, (ratio){term_apply(c, SZ_MUL, a.n, b.n), d, defined});
    if (k == SZ_DIV) return reduced(c, (ratio){n, m, defined});
    if (k == SZ_MOD) {   // a / b % c / d = (a * d % (c * b)) / (b * d)
        defined = term_apply(c, SZ_AND, defined, term_apply(c, SZ_NE, m, term_known(0)));
        if (is(m, 0)) m = term_known(1);
    }
    return reduced(c, (ratio){term_apply(c, k, n, m), d, defined});
}

size_term ratio_compare(ratio_context *c, size_token_kind k, ratio a, ratio b) {
    size_term n = term_apply(c, SZ_MUL, a.n, b.d), m = term_apply(c, SZ_MUL, b.n, a.d),
              d = term_apply(c, SZ_MUL, a.d, b.d), holds = term_apply(c, k, n, m);
    if (d.known && d.value == 0) return term_known(0);
    if (!d.known) {
        size_term above = term_apply(c, SZ_AND, term_apply(c, SZ_GT, d, term_known(0)), holds),
                  below = term_apply(c, SZ_AND, term_apply(c, SZ_LT, d, term_known(0)),
                                     term_apply(c, k, m, n));
        holds = term_apply(c, SZ_OR, above, below);
    }
    return term_apply(c, SZ_AND, term_apply(c, SZ_AND, a.defined, b.defined), holds);
}
