// The reader of tensor IR text: what its files share. Recursive descent over tokens with one token
// of lookahead; the first fault is reported and ends the reading.
#ifndef GNNC_TENSOR_PARSE_H
#define GNNC_TENSOR_PARSE_H

#include "tensor_internal.h"

typedef enum { TOK_END, TOK_NAME, TOK_INT, TOK_FLOAT, TOK_STRING, TOK_LET, TOK_MARK } token_kind;
typedef struct {
    token_kind kind;
    span at;
    const char *text;   // NAME: interned; STRING: contents; MARK: its characters
    int64_t i;          // INT, LET
    double f;           // FLOAT
    ir_dtype type;      // FLOAT
} token;

typedef struct {
    const char *name;
    tensor_var var;
} binding;

// A value named before it is declared; looked up at the end of the op.
typedef struct {
    enum { LATER_CLASSES, LATER_SORTED, LATER_INPLACE, LATER_KEY } what;
    uint32_t index;    // space or value
    tensor_val *key;   // KEY: where to put it
    token name;
} later;

typedef VEC(tensor_expr) expr_list;

typedef struct {
    arena *arena;
    diag_set *ds;
    const source_file *file;
    intern_table *names;
    const char *at, *end;
    token tok, next;
    bool failed;
    uint32_t depth;
    tensor_op *op;
    VEC(later) laters;
    expr_list lets;                  // of the value being read
    VEC(binding) scope;              // variables of the equation being read
    const tensor_reducer *reducer;   // whose section is being read
    // of a loop plan: `v [` may be a variable and what follows the expression
    bool plan;
} parser;

parser tensor_parse_start(arena *a, diag_set *ds, const source_file *text);
tensor_op *tensor_parse_op(parser *p, bool of_plan);   // verified; NULL after a fault

// Tokens.
void tensor_lex_start(parser *p);
void tensor_lex_next(parser *p);
bool tensor_lex_is(const token *t, const char *mark_or_name);
bool tensor_lex_accept(parser *p, const char *mark_or_name);
void tensor_lex_expect(parser *p, const char *mark);
token tensor_lex_name(parser *p, const char *what);   // expects a name
// Reports the first fault and makes every later token the end.
void tensor_parse_fail(parser *p, diag_code code, span at, const char *format, ...)
    SUP_PRINTF(4, 5);

// Names and types.
tensor_val tensor_parse_val(parser *p, token name);   // 0 after a fault
tensor_space tensor_parse_space(parser *p);           // the next token names one
bool tensor_parse_dtype(const parser *p, const token *t, ir_dtype *out);

// Expressions.
tensor_expr tensor_parse_expr(parser *p);
void tensor_parse_lets(parser *p);
tensor_expr tensor_parse_value(parser *p);   // lets and an expression
expr_list tensor_parse_tuple(parser *p);     // ( expr, … )

void tensor_parse_equation(parser *p, uint32_t loop);
void tensor_parse_reducer(parser *p);

#endif
