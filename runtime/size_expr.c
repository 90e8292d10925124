// Integer expressions in postfix, as manifests write sizes and preconditions: `E H * 256 ceildiv`.
// Evaluation never wraps: overflow and division by zero are errors, unless &&, || or ?: decides
// without the value.
#include "prepare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *text;
    uint32_t operands;      // operators: values taken
    rt_operand_kind with;   // statistics
    int64_t low, high;
} tokens[RT_TOKEN_KINDS] = {
#define X(name, word, n) [RT_##name] = {.text = word, .operands = n},
    RT_OPERATORS(X)
#undef X
#define X(name, word, what, least, most)                                                           \
    [RT_##name] = {.text = word, .with = RT_WITH_##what, .low = least, .high = most},
        RT_STATISTICS(X)
#undef X
};
static const char *const device_facts[] = {
#define X(name, text) [RT_DEVICE_##name] = text,
    RT_DEVICE_FACTS(X)
#undef X
};

// ---- Reading ------------------------------------------------------------------------------------
static bool parse_integer(const char *text, size_t length, int64_t *out) {
    size_t i = length > 1 && text[0] == '-';
    int64_t value = 0;
    if (i == length) return false;
    for (; i < length; i++)
        if (text[i] < '0' || text[i] > '9' || !rt_mul(value, 10, &value) ||
            !rt_add(value, text[i] - '0', &value))
            return false;
    *out = text[0] == '-' ? -value : value;
    return true;
}

static bool parse_operator(const char *text, size_t length, rt_token *t) {
    for (uint32_t k = RT_ADD; k <= RT_COND; k++)
        if (strlen(tokens[k].text) == length && !memcmp(tokens[k].text, text, length)) {
            t->kind = (rt_token_kind)k;
            return true;
        }
    return false;
}

// What stands in `head(…)`; NULL: it is another's.
static const char *parse_call(const char *text, size_t length, const char *head, size_t *inner) {
    size_t n = strlen(head);
    if (length < n + 3 || memcmp(text, head, n) || text[n] != '(' || text[length - 1] != ')')
        return NULL;
    *inner = length - n - 2;
    return text + n + 1;
}

// max(dst), quantile(dst,900), symmetric(src,dst), density(dst,src,16)
static bool parse_statistic(const char *text, size_t length, const rt_scope *scope, rt_token *t) {
    for (uint32_t k = RT_MAX_PREIMAGE; k <= RT_DENSITY; k++) {
        size_t inner;
        const char *first = parse_call(text, length, tokens[k].text, &inner);
        if (!first) continue;
        const char *end = first + inner, *comma = tokens[k].with ? memchr(first, ',', inner) : end;
        if (!comma) return false;
        int a = scope->map(scope->names, first, (size_t)(comma - first)), b = 0;
        *t = (rt_token){.kind = (rt_token_kind)k};
        const char *other = comma;   // a second map lies between
        if (tokens[k].with == RT_WITH_MAP_NUMBER &&
            !(comma = memchr(other + 1, ',', (size_t)(end - other - 1))))
            return false;
        size_t rest = comma == end ? 0 : (size_t)(end - comma - 1);
        bool numbered = tokens[k].with == RT_WITH_NUMBER || tokens[k].with == RT_WITH_MAP_NUMBER;
        if (tokens[k].with == RT_WITH_MAP) b = scope->map(scope->names, comma + 1, rest);
        if (tokens[k].with == RT_WITH_MAP_NUMBER)
            b = scope->map(scope->names, other + 1, (size_t)(comma - other - 1));
        if (numbered && (!parse_integer(comma + 1, rest, &t->value) || t->value < tokens[k].low ||
                         t->value > tokens[k].high))
            return false;
        if (a < 0 || b < 0) return false;
        t->a = (uint32_t)a;
        t->b = (uint32_t)b;
        return true;
    }
    return false;
}

static bool parse_device(const char *text, size_t length, rt_token *t) {
    size_t inner;
    const char *fact = parse_call(text, length, "device", &inner);
    for (uint32_t k = 0; fact && k < RT_DEVICE_FACT_COUNT; k++)
        if (strlen(device_facts[k]) == inner && !memcmp(device_facts[k], fact, inner)) {
            *t = (rt_token){.kind = RT_DEVICE, .a = k};
            return true;
        }
    return false;
}

static bool parse_token(const char *text, size_t length, const rt_scope *scope, rt_token *t) {
    *t = (rt_token){.kind = RT_CONST};
    if (parse_integer(text, length, &t->value) || parse_operator(text, length, t)) return true;
    int space = scope->space(scope->names, text, length);
    if (space >= 0) {
        *t = (rt_token){.kind = RT_SPACE, .a = (uint32_t)space};
        return true;
    }
    return parse_device(text, length, t) || parse_statistic(text, length, scope, t);
}

static uint32_t operands(rt_token_kind k) { return tokens[k].operands; }

static void skip(rt_expr *e, uint32_t from, rt_skip when, uint32_t to) {
    e->tokens[from].skips = when;
    e->tokens[from].skipped = to;
}

// The operands of the last token end at `ends`.
static void note_skips(rt_expr *e, const uint32_t *ends) {
    const rt_token_kind k = e->tokens[e->count - 1].kind;
    if (k == RT_AND) skip(e, ends[0], RT_SKIPS_AT_ZERO, ends[1]);
    if (k == RT_OR) skip(e, ends[0], RT_SKIPS_ELSE, ends[1]);
    if (k != RT_COND) return;
    skip(e, ends[0], RT_SKIPS_AT_ZERO, ends[1]);
    skip(e, ends[1], RT_SKIPS, ends[2]);
}

const char *rt_expr_parse(rt_heap *h, const char *text, const rt_scope *scope, rt_expr *out,
                          char at[64]) {
    uint32_t depth = 0, n = 1, ends[RT_EXPR_DEPTH + 1];
    for (const char *s = text; *s; s++) n += *s == ' ';
    *out = (rt_expr){.text = text, .tokens = rt_heap_alloc(h, n, sizeof *out->tokens)};
    at[0] = 0;
    if (!out->tokens) return "out of memory";
    for (const char *s = text; out->count < n; s++) {
        size_t length = strcspn(s, " ");
        snprintf(at, 64, "%.*s", (int)(length < 63 ? length : 63), s);
        rt_token *t = &out->tokens[out->count++];
        if (!parse_token(s, length, scope, t))
            return "is neither a number, an operator, a space, a statistic of maps nor a number of the device";
        uint32_t taken = operands(t->kind);
        if (depth < taken) return "lacks operands";
        depth += 1 - taken;
        if (depth > RT_EXPR_DEPTH) return "is nested too deeply";
        note_skips(out, ends + depth - 1);
        ends[depth - 1] = out->count - 1;
        s += length;
    }
    return depth == 1 ? NULL : "leaves more than one value";
}

// ---- Evaluating ---------------------------------------------------------------------------------
typedef struct {
    int64_t value;
    const char *wrong;   // NULL: value holds
} operand;

static operand divide(rt_token_kind k, int64_t a, int64_t b) {
    if (!b) return (operand){.wrong = "division by zero"};
    if (b == -1) {   // the one quotient that can overflow
        int64_t negated;
        bool fits = rt_mul(a, -1, &negated);
        return (operand){k == RT_MOD ? 0
                         : fits      ? negated
                                     : 0,
                         k == RT_MOD || fits ? NULL : "overflow"};
    }
    int64_t q = a / b, r = a % b;
    if (r && (r < 0) != (b < 0)) {   // towards minus infinity
        q--;
        r += b;
    }
    return (operand){k == RT_DIV ? q : k == RT_MOD ? r : q + (r != 0), NULL};
}

static operand arithmetic(rt_token_kind k, int64_t a, int64_t b) {
    int64_t r = 0;
    bool overflow = (k == RT_ADD && __builtin_add_overflow(a, b, &r)) ||
                    (k == RT_SUB && __builtin_sub_overflow(a, b, &r)) ||
                    (k == RT_MUL && __builtin_mul_overflow(a, b, &r));
    return (operand){r, overflow ? "overflow" : NULL};
}

static operand apply(rt_token_kind k, int64_t a, int64_t b) {
    switch (k) {
    case RT_ADD:
    case RT_SUB:
    case RT_MUL: return arithmetic(k, a, b);
    case RT_DIV:
    case RT_MOD:
    case RT_CEILDIV: return divide(k, a, b);
    case RT_MIN: return (operand){a < b ? a : b, NULL};
    case RT_MAX: return (operand){a > b ? a : b, NULL};
    case RT_EQ: return (operand){a == b, NULL};
    case RT_NE: return (operand){a != b, NULL};
    case RT_LT: return (operand){a < b, NULL};
    case RT_LE: return (operand){a <= b, NULL};
    case RT_GT: return (operand){a > b, NULL};
    case RT_GE: return (operand){a >= b, NULL};
    case RT_AND: return (operand){a && b, NULL};
    case RT_OR: return (operand){a || b, NULL};
    case RT_NOT: return (operand){!b, NULL};
    case RT_COND:
    case RT_CONST:
    case RT_SPACE:
    case RT_DEVICE:
    case RT_MAX_PREIMAGE:
    case RT_MIN_PREIMAGE:
    case RT_AVG_PREIMAGE:
    case RT_STD_PREIMAGE:
    case RT_QUANTILE_PREIMAGE:
    case RT_AT_LEAST:
    case RT_CUT_PARTS:
    case RT_FILL:
    case RT_IS_SORTED:
    case RT_SYMMETRIC:
    case RT_DENSITY:
    case RT_TOKEN_KINDS: break;
    }
    return (operand){.wrong = "no such operator"};
}

static operand combine(rt_token_kind k, operand a, operand b) {
    if (k == RT_AND && !a.wrong && !a.value) return (operand){0, NULL};
    if (k == RT_OR && !a.wrong && a.value) return (operand){1, NULL};
    if (a.wrong) return a;
    return b.wrong ? b : apply(k, a.value, b.value);
}

static operand pick(operand a, operand yes, operand no) { return a.wrong ? a : a.value ? yes : no; }

static bool is_skipped(const rt_token *t, operand r) {
    return t->skips && !r.wrong &&
           (t->skips == RT_SKIPS || (t->skips == RT_SKIPS_AT_ZERO) == !r.value);
}

gnn_status rt_expr_eval(gnn_context *c, const rt_expr *e, const rt_values *v, int64_t *out) {
    operand stack[RT_EXPR_DEPTH + 1];
    stack[0] = (operand){0, NULL};
    uint32_t n = 1;   // stack[0] is the missing operand of !
    for (uint32_t i = 0; i < e->count; i++) {
        const rt_token *t = &e->tokens[i];
        operand r = {.value = t->kind == RT_CONST ? t->value : 0};
        if (t->kind == RT_SPACE) {
            r.value = v->sizes[t->a];
        } else if (rt_is_fact(t->kind)) {
            gnn_status s = v->fact(v->user, t, &r.value);
            if (s) return s;
        } else if (t->kind != RT_CONST) {
            uint32_t taken = tokens[t->kind].operands;
            if (taken == 3) r = pick(stack[n - 3], stack[n - 2], stack[n - 1]);
            else r = combine(t->kind, taken == 2 ? stack[n - 2] : stack[0], stack[n - 1]);
            n -= taken;
        }
        stack[n++] = r;
        if (!is_skipped(t, r)) continue;
        stack[n++] = (operand){0, NULL};   // which nothing looks at
        i = t->skipped;
    }
    *out = stack[n - 1].value;
    if (stack[n - 1].wrong)
        return rt_fail(c, GNN_TOO_LARGE, "`%s`: %s", e->text, stack[n - 1].wrong);
    return GNN_OK;
}
