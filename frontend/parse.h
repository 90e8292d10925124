// What the grammar (lang/gnn.y) and the lexer (lang/gnn.l) call: the parser's context, list values,
// constructors of the tree, and reports of lexical and syntax faults. Used by frontend/parse*.c and
// the generated files only.
#ifndef GNNC_PARSE_H
#define GNNC_PARSE_H

#include "ast.h"
#include "foreign.h"

enum { PARSE_MAX_BRACKETS = AST_MAX_DEPTH, PARSE_MAX_ERRORS = 100 };

typedef struct {
    int kind;   // '(', '[', '{'; BLOCK: the '{' of an item or stage
    span at;
    span head;   // the name right before it, if any
} parse_bracket;

typedef struct {
    int kind;   // token code; 0 at the end, -1 before the first
    span at;
    ast_name name;
} parse_token;

typedef struct {   // what was told so far, and what is not blamed for it
    uint32_t count;
    uint32_t expr_end;   // where the last expression built ended
    uint32_t end;        // where the last fault in characters ended
    bool here;           // a fault is reported right before `token`, which is then not blamed
    bool next;           // the same for the next token
    // how far a fault is due to the last
    enum { PARSE_SURE, PARSE_TO_SEMICOLON, PARSE_TO_LINE_END } doubt;
    bool deep, stop;   // depth was reported; nothing more is read
} parse_faults;

typedef struct parse {
    arena *arena;
    intern_table *names;
    diag_set *ds;
    const source_file *source;
    ast_file *file;
    ast_item *last_item;
    struct ast_comment *last_comment;
    void *scanner;
    uint32_t offset;               // position of the next byte to scan
    uint32_t start;                // of the comment or string being scanned
    parse_token token, previous;   // the one the parser looks at, and the one before
    parse_token held;              // scanned, but blocks have to be closed before it
    int item;                      // the word that started the item
    bool holding;
    parse_bracket brackets[PARSE_MAX_BRACKETS];
    uint32_t depth;           // of brackets
    parse_bracket unclosed;   // kind not 0: left open where `token` stands
    parse_faults faults;
} parse;

// Lists in source order, appended at the end; NULL is passed over.
#define AST_LIST(T)                                                                                \
    typedef struct {                                                                               \
        T *first, *last;                                                                           \
    } T##_list;                                                                                    \
    static inline T##_list T##_none(void) { return (T##_list){NULL, NULL}; }                       \
    static inline T##_list T##_append(T##_list list, T *x) {                                       \
        if (!x) return list;                                                                       \
        if (list.last) list.last->next = x;                                                        \
        else list.first = x;                                                                       \
        list.last = x;                                                                             \
        return list;                                                                               \
    }                                                                                              \
    static inline T##_list T##_one(T *x) { return T##_append(T##_none(), x); }
AST_LIST(ast_expr)
AST_LIST(ast_binder)
AST_LIST(ast_generic)
AST_LIST(ast_param)
AST_LIST(ast_fact)
AST_LIST(ast_equation)
AST_LIST(ast_section)
AST_LIST(ast_fn_param)
AST_LIST(ast_path)
AST_LIST(ast_paths)
AST_LIST(ast_word)
AST_LIST(ast_statement)
AST_LIST(ast_condition)
AST_LIST(ast_names)

typedef struct {
    ast_binder_list binders;
    ast_expr *guard, *orelse;
    ast_name ties;
} ast_reduce_head;

// ---- Tokens: called by the lexer ----------------------------------------------------------------
bool parse_starts_item(int token);
static inline bool parse_outside(const parse *p) { return !p->depth; }   // of all brackets
bool parse_new_line(const parse *p, uint32_t from, uint32_t to);   // one between two positions
ast_name parse_name(parse *p, span at);
ast_name parse_primed(parse *p, span at);   // without its prime
ast_name parse_part(parse *p, span at);     // ".2": 2
ast_name parse_string(parse *p, span at, bool closed);
void parse_comment(parse *p, uint32_t end);
// Faults in characters: reported once for a run of them.
void parse_bad_number(parse *p, span at);
void parse_block_comment(parse *p, span at);
void parse_bad_character(parse *p, span at);
void parse_bad_control(parse *p, span at);
void parse_bad_utf8(parse *p, span at);
bool parse_byte_order_mark(const parse *p, span at);

// ---- Faults -------------------------------------------------------------------------------------
// Counts an error; past PARSE_MAX_ERRORS reading stops.
diagnostic *parse_error(parse *p, diagnostic *d);
void parse_too_deep(parse *p, span at);
// `found` and `expected` are the grammar's names of tokens: "a name", "';'".
void parse_syntax_error(parse *p, span at, const char *found, const char *const *expected, int n);

// ---- Constructors: called by the grammar --------------------------------------------------------
static inline ast_name parse_no_name(void) { return (ast_name){NULL, NO_SPAN}; }
ast_names *parse_name_node(parse *p, ast_name name);

void parse_add_item(parse *p, ast_item *item);
ast_item *parse_import(parse *p, span at, ast_name file);
ast_item *parse_op(parse *p, span at, ast_name name, ast_generic_list generics,
                   ast_param_list params, ast_param_list results, ast_expr_list where,
                   ast_equation_list equations, span body);
ast_item *parse_alias(parse *p, span at, ast_name name, ast_name target, ast_names_list arguments);
ast_item *parse_fn(parse *p, span at, ast_name name, ast_fn_param_list params, ast_expr *value);
ast_item *parse_reducer(parse *p, span at, ast_name name, ast_names_list params,
                        ast_names_list results, ast_fact_list facts, ast_section_list sections,
                        span body);
ast_item *parse_grad(parse *p, span at, ast_path_list op, ast_names_list wrt, ast_name as);
ast_item *parse_schedule(parse *p, span at, ast_path_list op, ast_name name, ast_name like,
                         ast_names_list targets, ast_condition_list when,
                         ast_statement_list statements, span body);

ast_item *parse_choose(parse *p, span at, ast_path_list op, ast_names_list targets,
                       ast_condition_list when, ast_expr *tree);

ast_generic *parse_generic(parse *p, ast_name name, ast_name kind);
ast_param *parse_param(parse *p, span at, ast_name name, ast_type *type, ast_fact_list facts);
ast_type *parse_scalar(parse *p, span at, ast_name element);
ast_type *parse_tensor(parse *p, span at, ast_name element, ast_expr_list axes);
ast_type *parse_map(parse *p, span at, ast_expr_list from, ast_name to);
ast_type *parse_map_of(parse *p, span at, ast_name from, ast_name to);   // one space to another
ast_fact *parse_fact(parse *p, span at, ast_name name, ast_expr_list args);
ast_equation *parse_equation(parse *p, span at, ast_expr_list targets, ast_expr *value,
                             ast_binder_list binders);
ast_equation *parse_call_equation(parse *p, span at, ast_names_list targets,
                                  ast_names_list generics, ast_expr *call);
ast_fn_param *parse_fn_param(parse *p, ast_name name, ast_name by);
ast_section *parse_section(parse *p, span at, ast_name name, ast_expr_list exprs);

ast_expr *parse_number(parse *p, ast_name text);
ast_expr *parse_named(parse *p, ast_kind kind, span at, ast_name name);
ast_expr *parse_ref(parse *p, span at, ast_name name, ast_expr_list args);
ast_expr *parse_call(parse *p, span at, ast_name name, ast_expr_list args);
ast_expr *parse_unary(parse *p, ast_kind kind, span at, ast_expr *a);
ast_expr *parse_tuple(parse *p, span at, ast_expr *first, ast_expr_list rest);
ast_expr *parse_binary(parse *p, ast_kind kind, span at, ast_expr *a, ast_expr *b);
ast_expr *parse_comparison(parse *p, ast_kind kind, span at, ast_expr *a, span op, ast_expr *b);
ast_expr *parse_conditional(parse *p, span at, ast_expr *condition, ast_expr *a, ast_expr *b);
ast_expr *parse_keyed(ast_expr *e, int how, ast_names_list keys);   // AST_BY or AST_OVER
ast_reduce_head parse_reduce_head(ast_binder_list binders, ast_expr *guard, ast_expr *orelse,
                                  ast_name ties);
ast_expr *parse_reduction(parse *p, span at, ast_name name, ast_reduce_head head, ast_expr *body);
ast_binder *parse_binder(parse *p, ast_name name, ast_expr *in);

ast_condition *parse_condition(parse *p, ast_expr *e, ast_expr_list in);
ast_statement *parse_statement(parse *p, span at, ast_paths_list stages, ast_name verb,
                               ast_word_list words);
ast_statement *parse_block(parse *p, span at, ast_paths_list stages, ast_statement_list inner,
                           span body);
ast_statement *parse_let(parse *p, span at, ast_name name, ast_word_list words);
ast_path *parse_path_part(parse *p, ast_name name);
ast_paths *parse_stage(parse *p, span at, ast_path_list path);
ast_word *parse_word(parse *p, ast_subject *subjects);
ast_subject *parse_subject(parse *p, span at, ast_expr *e);
ast_subject *parse_subject_path(parse *p, span at, ast_path_list path);
ast_subject *parse_subject_by(parse *p, span at);
ast_subject *parse_subject_list(ast_subject *a, ast_subject *rest);
ast_subject *parse_subject_choice(ast_subject *a, ast_subject *rest);

#endif
