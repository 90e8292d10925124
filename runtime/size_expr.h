// Integer expressions in postfix, and the numbers that they may ask for.
#ifndef GNNRT_SIZE_EXPR_H
#define GNNRT_SIZE_EXPR_H

#include "context.h"

#define RT_OPERATORS(X)                                                                            \
    X(ADD, "+", 2)                                                                                 \
    X(SUB, "-", 2)                                                                                 \
    X(MUL, "*", 2)                                                                                 \
    X(DIV, "/", 2)                                                                                 \
    X(MOD, "%", 2)                                                                                 \
    X(CEILDIV, "ceildiv", 2)                                                                       \
    X(MIN, "min", 2)                                                                               \
    X(MAX, "max", 2)                                                                               \
    X(EQ, "==", 2)                                                                                 \
    X(NE, "!=", 2)                                                                                 \
    X(LT, "<", 2)                                                                                  \
    X(LE, "<=", 2)                                                                                 \
    X(GT, ">", 2)                                                                                  \
    X(GE, ">=", 2)                                                                                 \
    X(AND, "&&", 2)                                                                                \
    X(OR, "||", 2)                                                                                 \
    X(NOT, "!", 1)                                                                                 \
    X(COND, "?:", 3)
// Of maps; numbers of the second form lie from low to high.
// clang-format off
#define RT_STATISTICS(X) /* X(name, text, what follows the map, low, high) */                               \
    X(MAX_PREIMAGE, "max", NOTHING, 0, 0) X(MIN_PREIMAGE, "min", NOTHING, 0, 0)                             \
    X(AVG_PREIMAGE, "avg", NOTHING, 0, 0) X(STD_PREIMAGE, "std", NOTHING, 0, 0)                             \
    X(QUANTILE_PREIMAGE, "quantile", NUMBER, 0, 1000) X(AT_LEAST, "at_least", NUMBER, 0, INT64_MAX)         \
    X(CUT_PARTS, "cut_parts", NUMBER, 1, INT64_MAX)                                                         \
    X(FILL, "fill", NUMBER, 1, INT64_MAX) X(IS_SORTED, "sorted", NOTHING, 0, 0)                             \
    X(SYMMETRIC, "symmetric", MAP, 0, 0)                                                                    \
    X(DENSITY, "density", MAP_NUMBER, 1, INT64_MAX)
// clang-format on
typedef enum { RT_WITH_NOTHING, RT_WITH_NUMBER, RT_WITH_MAP, RT_WITH_MAP_NUMBER } rt_operand_kind;
#define RT_DEVICE_FACTS(X)                                                                         \
    X(SMS, "sms") X(SHARED_BYTES, "shared_bytes") X(L2_BYTES, "l2_bytes") X(CORES, "cores")
typedef enum {
#define X(name, text) RT_DEVICE_##name,
    RT_DEVICE_FACTS(X)
#undef X
        RT_DEVICE_FACT_COUNT
} rt_device_fact;
typedef enum {
    RT_CONST,
    RT_SPACE,
    RT_DEVICE,   // value; a: the space; a: the fact, text: device(sms)
#define X(name, ...) RT_##name,
    RT_OPERATORS(X) RT_STATISTICS(X)   // a, b: parameters; value: the number
#undef X
    RT_TOKEN_KINDS
} rt_token_kind;
static inline bool rt_is_statistic(rt_token_kind k) {
    return k >= RT_MAX_PREIMAGE && k <= RT_DENSITY;
}
static inline bool rt_is_fact(rt_token_kind k) {   // told by the plan
    return k == RT_DEVICE || rt_is_statistic(k);
}
typedef enum { RT_SKIPS_NOT, RT_SKIPS_AT_ZERO, RT_SKIPS_ELSE, RT_SKIPS } rt_skip;
typedef struct {
    rt_token_kind kind;
    uint32_t a, b;
    int64_t value;
    // what its value decides is not evaluated: the tokens behind it up to `skipped`
    rt_skip skips;
    uint32_t skipped;
} rt_token;
typedef struct {
    const char *text;
    uint32_t count;
    rt_token *tokens;
} rt_expr;
enum { RT_EXPR_DEPTH = 64 };

// Names in expressions; statistics are told by the plan.
typedef struct {
    int (*space)(const void *names, const char *text, size_t length);   // -1: none
    int (*map)(const void *names, const char *text, size_t length);
    const void *names;
} rt_scope;
// NULL: well formed; else what is wrong with it, of which *at tells the token.
const char *rt_expr_parse(rt_heap *h, const char *text, const rt_scope *scope, rt_expr *out,
                          char at[64]);
typedef struct {
    const int64_t *sizes;
    gnn_status (*fact)(void *user, const rt_token *t, int64_t *out);   // statistics, DEVICE
    void *user;
} rt_values;
// Division by zero and overflow are errors of the context, unless &&, || or ?: doesn't want the
// value.
gnn_status rt_expr_eval(gnn_context *c, const rt_expr *e, const rt_values *v, int64_t *out);

// ---- device.c -----------------------------------------------------------------------------------
// 0 where the device has no such thing
gnn_status rt_device_number(gnn_context *c, rt_device_fact f, int64_t *out);

#endif
