// The fields of loop IR by their table (loop_field.def), which printer, parser and verifier follow.
#ifndef GNNC_LOOP_FIELD_H
#define GNNC_LOOP_FIELD_H

#include "loop_plan.h"

// How the value of a field stands in the text, behind its word: X(form, as). The printer and the
// parser have a function for each `as`; forms that are written alike differ in what is checked.
// clang-format off
#define LOOP_FORMS(X)                                                                         \
    X(count, count)          /* a positive number */                                          \
    X(flag, flag)            /* its word alone */                                             \
    X(variable, variable)    /* a variable of the plan */                                     \
    X(expr, expr)            /* an expression where the node stands */                        \
    X(bound, expr)           /* likewise, an i64 or index */                                  \
    X(condition, expr)       /* likewise, a bool */                                           \
    X(inner, expr)           /* an expression where its body contributes */                   \
    X(stages, stages)        /* stages */                                                     \
    X(reductions, stages)    /* likewise, that reduce */                                      \
    X(values, values)        /* values */                                                     \
    X(sizes, sizes)          /* positive numbers */                                           \
    X(slots, slots)          /* expressions in parentheses, where the node stands */          \
    X(entries, slots)        /* likewise, in its body */                                      \
    X(limit, limit)          /* as bound; of a padded loop its space */                       \
    X(pad, pad)              /* a multiple that the limit is rounded up to */                 \
    X(digits, digits)        /* digits and the rest */                                        \
    X(end, end)              /* the bracket behind them */                                    \
    X(distributed, distributed) /* the lanes that steps are distributed to */                 \
    X(fetched, fetched)      /* buffers and rows: fields of LOOP_OF_FETCH */                  \
    X(swizzle, swizzle)      /* masks of a row's bits, in parentheses */                      \
    X(matrix, matrix)        /* a matrix operation: fields of LOOP_OF_MATRIX */               \
    X(maxima, maxima)        /* maxima found on the run: fields of LOOP_OF_MAXIMUM */         \
    X(carried, carried)      /* slots of a carry, or where it combines */                     \
    X(start, start)          /* how a kernel starts */                                        \
    X(hints, hints)          /* how its values are cached */
// clang-format on
typedef enum {
#define X(form, as) LOOP_FORM_##form,
    LOOP_FORMS(X)
#undef X
} loop_form;

typedef enum { LOOP_ALWAYS, LOOP_MAYBE, LOOP_WITH, LOOP_BEHIND } loop_when;
// Whose fields they are: of a kind of nodes, or of what is no node.
enum { LOOP_OF_KERNEL = LOOP_NODE_COUNT, LOOP_OF_FETCH, LOOP_OF_MATRIX, LOOP_OF_MAXIMUM };

typedef struct {
    uint32_t of;
    loop_form form;
    const char *word;
    size_t at, data, bytes;   // bytes: of `at`
    uint32_t least;
    loop_when when;
} loop_field;

// The one after it of the same owner; of NULL the first; NULL: there is none.
const loop_field *loop_field_next(uint32_t of, const loop_field *after);
uint32_t loop_field_place(const loop_field *f);   // in the table
bool loop_field_said(const loop_field *f, const void *of);
bool loop_kind_has(loop_node_kind k, loop_form form);
// Of numbers and flags alone: whether they are the same; those that are there, as in the text.
bool loop_fields_alike(uint32_t of, const void *a, const void *b);
const char *loop_fields_text(arena *a, uint32_t of, const void *has);

// Members of forms that many fields have: a number or an expression; a list, of as many.
static inline uint32_t loop_field_count(const loop_field *f, const void *of) {
    const void *at = (const char *)of + f->at;
    return f->bytes == sizeof(bool) ? *(const bool *)at : *(const uint32_t *)at;
}
static inline const uint32_t *loop_field_list(const loop_field *f, const void *of) {
    return *(const uint32_t *const *)(const void *)((const char *)of + f->data);
}

#endif
