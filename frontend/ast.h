// The syntax tree of a .gnn file, as written: names are interned text, nothing is resolved. The
// grammar's actions call the constructors below and do nothing else; sema reads the tree and never
// changes it; the formatter prints it.
//
// Memory: the arena of the session. Lists are singly linked in source order.
#ifndef GNNC_AST_H
#define GNNC_AST_H

#include "ast_schedule.h"

// ---- Items --------------------------------------------------------------------------------------
// sorted, sorted(dst), aligned(16), inplace(x), unique, partial, prefix, strided, packed
typedef struct ast_fact {
    ast_name name;
    ast_expr *args;   // NULL: none
    struct ast_fact *next;
    span at;
} ast_fact;

typedef enum { AST_SCALAR, AST_TENSOR, AST_MAP } ast_type_kind;
typedef struct ast_type {
    ast_type_kind kind;
    span at;
    ast_name element;   // SCALAR, TENSOR: f32, T, …; MAP: the codomain space
    // TENSOR: spaces, sizes, numbers (NULL: rank 0, in memory); MAP: its domain's axes (one or
    // more)
    ast_expr *axes;
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
    ast_name kind;   // text NULL: float; else float, int, size, fn, reducer
    struct ast_generic *next;
} ast_generic;

typedef struct ast_equation {
    ast_expr *targets;     // REFs (rank 0: REF without args); for a call of an op: NAMEs
    ast_expr *value;       // for a call of an op: CALL
    ast_names *generics;   // y = gsddmm<mul>(…): the names between < >; NULL: none given
    bool call;             // the second form: names = NAME<…>(…)
    ast_binder *binders;   // "for v in V"
    struct ast_equation *next;
    span at;
} ast_equation;

typedef struct ast_section {   // of a reducer: state, identity, lift, combine, finish, grad
    ast_name name;
    ast_expr *exprs;
    struct ast_section *next;
    span at;
} ast_section;

typedef struct ast_fn_param {
    ast_name name;
    ast_name by;   // fn softmax(x by k): k; text NULL: none
    struct ast_fn_param *next;
} ast_fn_param;

typedef enum {
    AST_IMPORT,
    AST_OP,
    AST_OP_ALIAS,
    AST_FN,
    AST_REDUCER,
    AST_GRAD,
    AST_SCHEDULE,
    AST_CHOOSE
} ast_item_kind;
typedef struct ast_item {
    ast_item_kind kind;
    span at;
    ast_name name;   // of what is declared; IMPORT: the text of the string, unquoted
    // OP, OP_ALIAS
    ast_generic *generics;
    ast_param *params, *results;
    ast_expr *where;
    ast_equation *equations;
    ast_name target;   // ALIAS: the op on the right; its arguments in names
    // FN
    ast_fn_param *fn_params;
    ast_expr *body;   // CHOOSE: its tree
    // REDUCER
    ast_names *names, *outputs;   // arguments and results; ALIAS: names; GRAD: wrt list in names
    ast_fact *facts;              // commutative
    ast_section *sections;
    // GRAD, SCHEDULE, CHOOSE
    ast_path *path;          // the op
    ast_name as;             // GRAD "as NAME", SCHEDULE "like NAME"; text NULL: none
    ast_schedule schedule;   // SCHEDULE, CHOOSE
    span block;              // OP, REDUCER, SCHEDULE: from { to }
    struct ast_item *next;
} ast_item;

typedef struct ast_file {
    const source_file *source;
    ast_item *items;
    struct ast_comment *comments;   // in source order, for the formatter
} ast_file;
typedef struct ast_comment {
    span at;   // from // to before the line's end
    struct ast_comment *next;
} ast_comment;

// Parses a file. Syntax errors go to ds; parsing goes on at the next item or statement, so several
// are found in one run. Always returns a tree of what was understood.
ast_file *ast_parse(arena *a, intern_table *names, diag_set *ds, const source_file *source);
// The file in the project's one format, comments kept. Formatting twice gives the same text.
void ast_format(textbuf *out, const ast_file *file);
// An expression as source text, on one line.
void ast_print_expr(textbuf *out, const ast_expr *e);
void ast_print_path(textbuf *out, const ast_path *p);

#endif
