// Exact fractions, which conditions of schedules compute in.
#ifndef GNNC_SEMA_SCHEDULE_RATIO_H
#define GNNC_SEMA_SCHEDULE_RATIO_H

#include "schedule.h"

// Conditions compute in exact fractions. What is known when an op is compiled is folded; the rest
// becomes a size expression over whole numbers: fill(type, 64) < 0.5 is `fill(type,64) 2 * 1000 <`,
// as fill counts thousandths.
typedef struct {
    bool known;
    int64_t value;    // known
    size_expr expr;   // else
} size_term;
typedef struct {
    size_term n, d;      // d: known ones are positive
    size_term defined;   // whether it exists: divisors of % that are not known
} ratio;
typedef struct {
    arena *arena;
    bool overflow;
} ratio_context;
size_term term_known(int64_t x);
size_term term_token(ratio_context *c, size_token t);
size_term term_apply(ratio_context *c, size_token_kind k, size_term a, size_term b);
size_term term_not(ratio_context *c, size_term a);
size_term term_select(ratio_context *c, size_term holds, size_term yes, size_term no);
size_expr term_expr(ratio_context *c, size_term a);
ratio ratio_new(size_term n, int64_t d);
bool ratio_decimal(const char *text, ratio *out);   // as written: 0.5, 1e-3; false: it does not fit
// ADD SUB MUL DIV MOD
ratio ratio_apply(ratio_context *c, size_token_kind k, ratio a, ratio b);
// a division by zero: false
size_term ratio_compare(ratio_context *c, size_token_kind k, ratio a, ratio b);

#endif
