// The syntax tree of a .gnn file, as written: names are interned text, nothing is resolved. The grammar's actions call the
// constructors below and do nothing else; sema reads the tree and never changes it; the formatter prints it.
//
// Memory: the arena of the session. Lists are singly linked in source order.
#ifndef GNNC_AST_H
#define GNNC_AST_H

#include "support/support.h"

typedef struct ast_name {   // an identifier as it stands somewhere
    const char *text;       // interned
    span at;
} ast_name;
typedef struct ast_names {
    ast_name name;
    struct ast_names *next;
} ast_names;

// ---- Expressions -----------------------------------------------------------------------------------------
typedef enum {
    AST_NUMBER,    // number, is_integer
    AST_NAME,      // name: an index, a scalar parameter, a space's size, a constant (inf, none, pi), a stage of rank 0 is a REF
    AST_PRIMED,    // name': the right operand's state in a reducer
    AST_REF,       // name[args]
    AST_TUPLE,     // (args), two or more
    AST_CALL,      // name(args); each argument may carry by/over
    AST_REDUCE,    // name{binders : guard else orelse ties ties} body
    AST_NEG, AST_NOT,                                                     // args[0]
    AST_ADD, AST_SUB, AST_MUL, AST_DIV, AST_MOD,                          // args[0], args[1]
    AST_EQ, AST_NE, AST_LT, AST_LE, AST_GT, AST_GE, AST_AND, AST_OR,
    AST_COND,      // args[0] ? args[1] : args[2]
    AST_PAREN      // (args[0]): kept for the formatter
} ast_kind;

typedef struct ast_binder {
    ast_name name;
    struct ast_expr *in;        // the space or size stated, or NULL
    struct ast_binder *next;
} ast_binder;

enum { AST_MAX_DEPTH = 256 };
typedef struct ast_expr {
    ast_kind kind;
    span at;                    // the whole expression
    ast_name name;              // NAME, PRIMED, REF, CALL, REDUCE
    double number;              // NUMBER
    int64_t integer;            // NUMBER, where is_integer
    bool is_integer;            // written without point or exponent, and fits
    const char *text;           // NUMBER: as written
    struct ast_expr *args;      // first of a list linked by next
    struct ast_expr *next;      // in the list it stands in
    uint32_t depth;             // of the tree, 1 for a leaf; never above AST_MAX_DEPTH, so walks may recurse
    // CALL's arguments only: "x by k", "x by (k, l)", "x over d"
    enum { AST_PLAIN, AST_BY, AST_OVER } how;
    ast_names *keys;
    // REDUCE
    ast_binder *binders;
    struct ast_expr *guard, *orelse, *body;   // guard and orelse may be NULL
    ast_name ties;              // text NULL: not given
} ast_expr;

// ---- Items -----------------------------------------------------------------------------------------------
typedef struct ast_fact {       // sorted, sorted(dst), aligned(16), inplace(x), unique, partial, prefix, strided, packed
    ast_name name;
    ast_expr *args;             // NULL: none
    struct ast_fact *next;
    span at;
} ast_fact;

typedef enum { AST_SCALAR, AST_TENSOR, AST_MAP } ast_type_kind;
typedef struct ast_type {
    ast_type_kind kind;
    span at;
    ast_name element;           // SCALAR, TENSOR: f32, T, …; MAP: the codomain space
    ast_expr *axes;             // TENSOR: spaces, sizes, numbers (NULL: rank 0, in memory); MAP: its domain's axes (one or more)
} ast_type;

typedef struct ast_param {
    ast_name name;
    ast_type *type;
    ast_fact *facts;
    struct ast_param *next;
    span at;
} ast_param;

typedef struct ast_generic {
    ast_name name;
    ast_name kind;              // text NULL: float; else float, int, size, fn, reducer
    struct ast_generic *next;
} ast_generic;

typedef struct ast_equation {
    ast_expr *targets;          // REFs (rank 0: REF without args); for a call of an op: NAMEs
    ast_expr *value;            // for a call of an op: CALL
    ast_names *generics;        // y = gsddmm<mul>(…): the names between < >; NULL: none given
    bool call;                  // the second form: names = NAME<…>(…)
    ast_binder *binders;        // "for v in V"
    struct ast_equation *next;
    span at;
} ast_equation;

typedef struct ast_section {    // of a reducer: state, identity, lift, combine, finish, grad
    ast_name name;
    ast_expr *exprs;
    struct ast_section *next;
    span at;
} ast_section;

typedef struct ast_fn_param {
    ast_name name;
    ast_name by;                // fn softmax(x by k): k; text NULL: none
    struct ast_fn_param *next;
} ast_fn_param;

typedef struct ast_path {       // a.max, y.sum.2, segmm.grad
    ast_name name;              // each part; numbers as text
    struct ast_path *next;
} ast_path;

// Schedules are kept as written; the statement table gives them meaning.
typedef struct ast_subject {
    enum { AST_SUBJECT_NUMBER, AST_SUBJECT_PATH, AST_SUBJECT_REF, AST_SUBJECT_CALL, AST_SUBJECT_BINARY, AST_SUBJECT_BY } kind;
    span at;
    ast_expr *expr;             // NUMBER, REF, CALL, BINARY: as an expression
    ast_path *path;             // PATH
    struct ast_subject *list;   // "a, b, c": the next of the same word
    struct ast_subject *choice; // "a | b | c": the next choice
} ast_subject;
typedef struct ast_word {       // a word of a statement: subjects joined by commas, then choices joined by |
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
    ast_paths *stages;          // "s, a:" NULL: none
    bool let;                   // let NAME = words;
    ast_name verb;              // let: the name; block { … }: text NULL
    ast_word *words;
    struct ast_statement *inner;   // stages: { … }
    span block;                 // from { to }; nowhere: none
    struct ast_statement *next;
} ast_statement;
typedef struct ast_condition {
    ast_expr *expr;
    ast_expr *in;               // "expr in {exprs}": the list; else NULL
    struct ast_condition *next;
} ast_condition;

typedef enum { AST_IMPORT, AST_OP, AST_OP_ALIAS, AST_FN, AST_REDUCER, AST_GRAD, AST_SCHEDULE } ast_item_kind;
typedef struct ast_item {
    ast_item_kind kind;
    span at;
    ast_name name;              // of what is declared; IMPORT: the text of the string, unquoted
    // OP, OP_ALIAS
    ast_generic *generics;
    ast_param *params, *results;
    ast_expr *where;
    ast_equation *equations;
    ast_name target;            // ALIAS: the op on the right; its arguments in names
    // FN
    ast_fn_param *fn_params;
    ast_expr *body;
    // REDUCER
    ast_names *names, *outputs; // arguments and results; ALIAS: names; GRAD: wrt list in names
    ast_fact *facts;            // commutative
    ast_section *sections;
    // GRAD, SCHEDULE
    ast_path *path;             // the op
    ast_name as;                // GRAD "as NAME", SCHEDULE "like NAME"; text NULL: none
    ast_names *targets;         // SCHEDULE "for names"
    ast_condition *when;
    ast_statement *statements;
    span block;                 // OP, REDUCER, SCHEDULE: from { to }
    struct ast_item *next;
} ast_item;

typedef struct ast_file {
    const source_file *source;
    ast_item *items;
    struct ast_comment *comments;   // in source order, for the formatter
} ast_file;
typedef struct ast_comment {
    span at;                    // from // to before the line's end
    struct ast_comment *next;
} ast_comment;

// Parses a file. Syntax errors go to ds; parsing goes on at the next item or statement, so several are found in one run.
// Always returns a tree of what was understood.
ast_file *ast_parse(arena *a, intern_table *names, diag_set *ds, const source_file *source);
// The file in the project's one format, comments kept. Formatting twice gives the same text.
void ast_format(textbuf *out, const ast_file *file);
// An expression as source text, on one line.
void ast_print_expr(textbuf *out, const ast_expr *e);
void ast_print_path(textbuf *out, const ast_path *p);

#endif
