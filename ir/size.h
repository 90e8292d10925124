// An integer expression in postfix, evaluated by the runtime when sizes are known, with overflow
// checks. Text form: tokens between spaces, `E D * 256 ceildiv`.
#ifndef GNNC_SIZE_H
#define GNNC_SIZE_H

#include "support/support.h"

// clang-format off
#define SIZE_TOKENS(X)                                                                                      \
    X(CONST, "") X(SPACE, "") /* value: the constant, the index of a space */                               \
    X(ADD, "+") X(SUB, "-") X(MUL, "*") X(DIV, "/") /* floor */ X(MOD, "%") X(CEILDIV, "ceildiv")           \
    X(MIN, "min") X(MAX, "max") X(EQ, "==") X(NE, "!=") X(LT, "<") X(LE, "<=") X(GT, ">") X(GE, ">=")       \
    X(AND, "&&") X(OR, "||") X(NOT, "!")                                                                    \
    X(COND, "?:") /* a b c: b where a, else c */ \
    X(MAX_PREIMAGE, "max") /* value: param; the largest preimage of a map; text: max(dst) */                \
    X(MIN_PREIMAGE, "min") X(AVG_PREIMAGE, "avg") /* floor of the mean */                                   \
    X(SYMMETRIC, "symmetric") /* value: param, value2: param; (src, dst) holds each pair both ways */       \
    X(SORTED, "sorted") /* value: param; no value of the map is below the one before it, or none */          \
    X(STD_PREIMAGE, "std")    /* value: param; floor of the standard deviation of its preimages' sizes */   \
    X(QUANTILE_PREIMAGE, "quantile") /* value: param, value2: q in thousandths; text: quantile(dst,900) */  \
    X(AT_LEAST, "at_least") /* value: param, value2: k; how many preimages have k or more entries */        \
    X(CUT_PARTS, "cut_parts") /* value: param, value2: n > 0; parts of n entries that preimages with more have */ \
    X(FILL, "fill") /* value: param, value2: n; thousandths of rows in use, preimages cut in tiles of n */  \
    X(DENSITY, "density") /* value: param, value2: param + 2^32 n; thousandths of cells in use, in windows of n rows */ \
    X(DEVICE, "") /* value: device_fact; text: device(sms) */
// clang-format on
typedef enum {
#define X(name, text) SZ_##name,
    SIZE_TOKENS(X)
#undef X
        SZ_COUNT
} size_token_kind;
#define DEVICE_NUMBERS(X)                                                                          \
    X(SMS, "sms") X(SHARED_BYTES, "shared_bytes") X(L2_BYTES, "l2_bytes") X(CORES, "cores")
typedef enum {
#define X(name, text) DEVICE_##name,
    DEVICE_NUMBERS(X)
#undef X
        DEVICE_NUMBER_COUNT
} device_fact;   // of a GPU; SMS, SHARED_BYTES (of a block, asked for), L2_BYTES are 0 on the host, CORES on a GPU
typedef struct {
    size_token_kind kind;
    int64_t value, value2;
} size_token;
typedef VEC(size_token) size_expr;

#endif
