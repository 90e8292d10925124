// Schedules of the syntax tree, kept as written; the statement table gives them meaning.
#ifndef GNNC_AST_SCHEDULE_H
#define GNNC_AST_SCHEDULE_H

#include "ast_expr.h"

typedef struct ast_path {   // a.max, y.sum_2, segmm.grad
    ast_name name;          // each part; numbers as text
    struct ast_path *next;
} ast_path;

typedef struct ast_subject {
    enum {
        AST_SUBJECT_NUMBER,
        AST_SUBJECT_PATH,
        AST_SUBJECT_REF,
        AST_SUBJECT_CALL,
        AST_SUBJECT_BINARY,
        AST_SUBJECT_BY
    } kind;
    span at;
    ast_expr *expr;               // NUMBER, REF, CALL, BINARY: as an expression
    ast_path *path;               // PATH
    struct ast_subject *list;     // "a, b, c": the next of the same word
    struct ast_subject *choice;   // "a | b | c": the next choice
} ast_subject;
// a word of a statement: subjects joined by commas, then choices joined by |
typedef struct ast_word {
    ast_subject *subjects;
    struct ast_word *next;
} ast_word;
typedef struct ast_paths {
    ast_path *path;
    span at;
    struct ast_paths *next;
} ast_paths;
typedef struct ast_statement {
    span at;
    ast_paths *stages;   // "s, a:" NULL: none
    bool let;            // let NAME = words;
    ast_name verb;       // let: the name; block { … }: text NULL
    ast_word *words;
    struct ast_statement *inner;   // stages: { … }
    span block;                    // from { to }; nowhere: none
    struct ast_statement *next;
} ast_statement;
typedef struct ast_condition {
    ast_expr *expr;
    ast_expr *in;   // "expr in {exprs}": the list; else NULL
    struct ast_condition *next;
} ast_condition;
typedef struct {          // what an item has of its own
    ast_names *targets;   // "for names"
    ast_condition *when;
    ast_statement *statements;
} ast_schedule;

#endif
