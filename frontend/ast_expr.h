// Expressions of the syntax tree, and names.
#ifndef GNNC_AST_EXPR_H
#define GNNC_AST_EXPR_H

#include "support/support.h"

typedef struct ast_name {   // an identifier as it stands somewhere
    const char *text;       // interned
    span at;
} ast_name;
typedef struct ast_names {
    ast_name name;
    struct ast_names *next;
} ast_names;

// ---- Expressions --------------------------------------------------------------------------------
typedef enum {
    AST_NUMBER,   // number, is_integer
    // name: an index, a scalar parameter, a space's size, a constant (inf, none, pi), a stage of
    // rank 0 is a REF
    AST_NAME,
    AST_PRIMED,   // name': the right operand's state in a reducer
    AST_REF,      // name[args]
    AST_TUPLE,    // (args), two or more
    AST_CALL,     // name(args); each argument may carry by/over
    AST_REDUCE,   // name{binders : guard else orelse ties ties} body
    AST_NEG,
    AST_NOT,   // args[0]
    AST_ADD,
    AST_SUB,
    AST_MUL,
    AST_DIV,
    AST_MOD,   // args[0], args[1]
    AST_EQ,
    AST_NE,
    AST_LT,
    AST_LE,
    AST_GT,
    AST_GE,
    AST_AND,
    AST_OR,
    AST_COND,   // args[0] ? args[1] : args[2]
    AST_PAREN   // (args[0]): kept for the formatter
} ast_kind;

typedef struct ast_binder {
    ast_name name;
    struct ast_expr *in;   // the space or size stated, or NULL
    struct ast_binder *next;
} ast_binder;

enum { AST_MAX_DEPTH = 256 };
typedef struct ast_expr {
    ast_kind kind;
    span at;                 // the whole expression
    ast_name name;           // NAME, PRIMED, REF, CALL, REDUCE
    double number;           // NUMBER
    int64_t integer;         // NUMBER, where is_integer
    bool is_integer;         // written without point or exponent, and fits
    const char *text;        // NUMBER: as written
    struct ast_expr *args;   // first of a list linked by next
    struct ast_expr *next;   // in the list it stands in
    // of the tree, 1 for a leaf; never above AST_MAX_DEPTH, so walks may recurse
    uint32_t depth;
    // CALL's arguments only: "x by k", "x by (k, l)", "x over d"
    enum { AST_PLAIN, AST_BY, AST_OVER } how;
    ast_names *keys;
    // REDUCE
    ast_binder *binders;
    struct ast_expr *guard, *orelse, *body;   // guard and orelse may be NULL
    ast_name ties;                            // text NULL: not given
} ast_expr;

#endif
