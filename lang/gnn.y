/* The grammar of .gnn files. Actions call constructors (frontend/parse.h) and do nothing else. Lists are
   built in source order; a `semi` that is missing is reported and taken as written, any other fault skips to
   the end of its equation, section, statement or item, so one run finds several. */
%require "3.8"
%define api.pure full
%define api.prefix {ast_yy}
%define api.location.type {span}
%define parse.error custom
%define parse.trace false
%locations
%expect 0
%parse-param {parse *p}
%lex-param {parse *p}
%initial-action { @$ = (span){p->source->base, p->source->base}; }

%code requires { #include "parse.h" }
%code {
// Empty parts count for nothing, so that a span starts and ends at a token.
static inline span join_parts(const span *parts, int n) {
    span at = {parts[0].hi, parts[0].hi};
    for (int i = 1; i <= n; i++)
        if (parts[i].lo < parts[i].hi) at = at.lo == at.hi ? parts[i] : span_join(at, parts[i]);
    return at;
}
#define YYLLOC_DEFAULT(current, parts, n) ((current) = join_parts(&YYRHSLOC(parts, 0), n))
#define YYMALLOC xmalloc
#define YYMAXDEPTH 10000   // far above what brackets within their limit need; beyond it yyerror speaks
int ast_yylex(AST_YYSTYPE *value, span *at, parse *p);
static void ast_yyerror(span *at, parse *p, const char *message);
}

%union {
    ast_name name;
    ast_names_list names;
    ast_expr *expr;
    ast_expr_list exprs;
    ast_binder *binder;
    ast_binder_list binders;
    ast_reduce_head head;
    ast_item *item;
    ast_generic *generic;
    ast_generic_list generics;
    ast_param *param;
    ast_param_list params;
    ast_type *type;
    ast_fact *fact;
    ast_fact_list facts;
    ast_equation *equation;
    ast_equation_list equations;
    ast_section *section;
    ast_section_list sections;
    ast_fn_param *fn_param;
    ast_fn_param_list fn_params;
    ast_path_list path;
    ast_paths *stage;
    ast_paths_list stages;
    ast_subject *subject;
    ast_word *word;
    ast_word_list words;
    ast_statement *statement;
    ast_statement_list statements;
    ast_condition *condition;
    ast_condition_list conditions;
}

%token END 0 "the end of the file"
%token <name> NAME "a name" PRIMED "a primed name" NUMBER "a number" STRING "a string"
%token <name> PART "'.' with a number"   /* of a path: y.0 */
%token <name> IMPORT "'import'" OP "'op'" FN "'fn'" REDUCER "'reducer'" GRAD "'grad'" SCHEDULE "'schedule'"
%token <name> WRT "'wrt'" AS "'as'" LIKE "'like'" FOR "'for'" WHEN "'when'" WHERE "'where'" LET "'let'"
%token <name> BY "'by'" OVER "'over'" IN "'in'" ELSE "'else'" TIES "'ties'"
%token <name> CHOOSE "'choose'"   /* a name elsewhere than where an item begins: parse.c */
%token BLOCK "'{'" END_BLOCK "'}'"   /* of items and stages; the lexer tells them from a reduction's braces */
%token ARROW "'->'" EQ "'=='" NE "'!='" LE "'<='" GE "'>='" AND "'&&'" OR "'||'"

%right '?' ':'
%left OR
%left AND
%left EQ NE LE GE '<' '>'
%left '+' '-'
%precedence REDUCTION
%left '*' '/' '%'
%precedence UNARY

%type <item> item
%type <generics> generics generic_list
%type <generic> generic
%type <name> kind verb as like by ties
%type <params> params param_list
%type <param> param
%type <type> type
%type <facts> facts
%type <fact> fact
%type <exprs> where exprs args arguments targets
%type <expr> expr ref call called arg guard else product factor term sum head
%type <equations> equations equation_body
%type <equation> equation
%type <names> names keys for_names wrt
%type <binders> binders
%type <binder> binder
%type <head> reduce_head
%type <sections> sections section_body
%type <section> section
%type <fn_params> fn_params
%type <fn_param> fn_param
%type <path> path dotted
%type <stages> stages
%type <subject> subject subjects choices
%type <words> words
%type <word> word
%type <statements> statements statement_body
%type <statement> statement
%type <conditions> conditions when
%type <condition> condition

%%

file: items;

items:
    %empty
  | items item                      { parse_add_item(p, $item); }
  | items error item                { parse_add_item(p, $item); }
  | items error ';'                 { if (parse_outside(p)) yyerrok; }
  | items error END_BLOCK           { if (parse_outside(p)) yyerrok; };

semi: ';' | error | error ';' { yyerrok; };

item:
    IMPORT STRING semi              { $$ = parse_import(p, @$, $STRING); }
  | OP NAME generics params[in] ARROW params[out] where equation_body[body]
                                    { $$ = parse_op(p, @$, $NAME, $generics, $in, $out, $where, $body,
                                                    @body); }
  | OP NAME[name] '=' NAME[target] '<' names '>' semi
                                    { $$ = parse_alias(p, @$, $name, $target, $names); }
  | FN NAME '(' fn_params ')' '=' expr semi
                                    { $$ = parse_fn(p, @$, $NAME, $fn_params, $expr); }
  | REDUCER NAME '(' names[in] ')' ARROW '(' names[out] ')' facts section_body[body]
                                    { $$ = parse_reducer(p, @$, $NAME, $in, $out, $facts, $body, @body); }
  | GRAD path wrt as semi           { $$ = parse_grad(p, @$, $path, $wrt, $as); }
  | SCHEDULE path NAME like for_names when statement_body[body]
                                    { $$ = parse_schedule(p, @$, $path, $NAME, $like, $for_names, $when,
                                                          $body, @body); }
  | CHOOSE path for_names when '=' expr semi
                                    { $$ = parse_choose(p, @$, $path, $for_names, $when, $expr); };

wrt:  %empty                        { $$ = ast_names_none(); }
  | WRT '(' names ')'               { $$ = $names; };
as:   %empty                        { $$ = parse_no_name(); }
  | AS NAME                         { $$ = $NAME; };
like: %empty                        { $$ = parse_no_name(); }
  | LIKE NAME                       { $$ = $NAME; };
for_names: %empty                   { $$ = ast_names_none(); }
  | FOR names                       { $$ = $names; };

/* Ops */
generics: %empty                    { $$ = ast_generic_none(); }
  | '<' generic_list '>'            { $$ = $generic_list; };
generic_list:
    generic                         { $$ = ast_generic_one($generic); }
  | generic_list[list] ',' generic  { $$ = ast_generic_append($list, $generic); };
generic:
    NAME                            { $$ = parse_generic(p, $NAME, parse_no_name()); }
  | NAME ':' kind                   { $$ = parse_generic(p, $NAME, $kind); };
kind: NAME | FN | REDUCER;

params:
    '(' ')'                         { $$ = ast_param_none(); }
  | '(' param_list ')'              { $$ = $param_list; }
  | '(' error ')'                   { $$ = ast_param_none(); };
param_list:
    param                           { $$ = ast_param_one($param); }
  | param_list[list] ',' param      { $$ = ast_param_append($list, $param); };
param: NAME ':' type facts          { $$ = parse_param(p, @$, $NAME, $type, $facts); };
type:
    NAME                            { $$ = parse_scalar(p, @$, $NAME); }
  | NAME '[' ']'                    { $$ = parse_tensor(p, @$, $NAME, ast_expr_none()); }
  | NAME '[' exprs ']'              { $$ = parse_tensor(p, @$, $NAME, $exprs); }
  | NAME[from] ARROW NAME[to]       { $$ = parse_map_of(p, @$, $from, $to); }
  | '[' exprs ']' ARROW NAME        { $$ = parse_map(p, @$, $exprs, $NAME); };
facts:
    %empty                          { $$ = ast_fact_none(); }
  | facts[list] fact                { $$ = ast_fact_append($list, $fact); };
fact:
    NAME                            { $$ = parse_fact(p, @$, $NAME, ast_expr_none()); }
  | NAME '(' exprs ')'              { $$ = parse_fact(p, @$, $NAME, $exprs); };
where:
    %empty                          { $$ = ast_expr_none(); }
  | WHERE '(' exprs ')'             { $$ = $exprs; };

equation_body:
    BLOCK equations END_BLOCK               { $$ = $equations; }
  | BLOCK equations error END_BLOCK         { $$ = $equations; };
equations:
    %empty                          { $$ = ast_equation_none(); }
  | equations[list] equation        { $$ = ast_equation_append($list, $equation); }
  | equations[list] error ';'       { $$ = $list; yyerrok; };
equation:
    targets '=' expr semi           { $$ = parse_equation(p, @$, $targets, $expr, ast_binder_none()); }
  | targets '=' expr FOR binders semi
                                    { $$ = parse_equation(p, @$, $targets, $expr, $binders); }
  | names '=' called semi           { $$ = parse_call_equation(p, @$, $names, ast_names_none(), $called); }
  | names '=' NAME '<' names[generics] '>' arguments[args] semi
                                    { $$ = parse_call_equation(p, @$, $1, $generics,
                                           parse_call(p, span_join(@NAME, @args), $NAME, $args)); };
called: NAME arguments              { $$ = parse_call(p, @$, $NAME, $arguments); };
arguments:
    '(' ')'                         { $$ = ast_expr_none(); }
  | '(' exprs ')'                   { $$ = $exprs; };
targets:
    ref                             { $$ = ast_expr_one($ref); }
  | targets[list] ',' ref           { $$ = ast_expr_append($list, $ref); };

/* Functions and reducers */
fn_params:
    fn_param                        { $$ = ast_fn_param_one($fn_param); }
  | fn_params[list] ',' fn_param    { $$ = ast_fn_param_append($list, $fn_param); };
fn_param: NAME by                   { $$ = parse_fn_param(p, $NAME, $by); };
by:   %empty                        { $$ = parse_no_name(); }
  | BY NAME                         { $$ = $NAME; };

section_body:
    BLOCK sections END_BLOCK                { $$ = $sections; }
  | BLOCK sections error END_BLOCK          { $$ = $sections; };
sections:
    %empty                          { $$ = ast_section_none(); }
  | sections[list] section          { $$ = ast_section_append($list, $section); }
  | sections[list] error ';'        { $$ = $list; yyerrok; };
section:
    NAME '(' exprs ')' semi         { $$ = parse_section(p, @$, $NAME, $exprs); }
  | GRAD '(' exprs ')' semi         { $$ = parse_section(p, @$, $GRAD, $exprs); };

/* Expressions */
expr:
    NUMBER                          { $$ = parse_number(p, $NUMBER); }
  | NAME                            { $$ = parse_named(p, AST_NAME, @$, $NAME); }
  | PRIMED                          { $$ = parse_named(p, AST_PRIMED, @$, $PRIMED); }
  | ref
  | call
  | '(' expr ')'                    { $$ = parse_unary(p, AST_PAREN, @$, $2); }
  | '(' expr ',' exprs ')'          { $$ = parse_tuple(p, @$, $2, $exprs); }
  | NAME '{' reduce_head '}' expr[body] %prec REDUCTION
                                    { $$ = parse_reduction(p, @$, $NAME, $reduce_head, $body); }
  | '-' expr[a] %prec UNARY         { $$ = parse_unary(p, AST_NEG, @$, $a); }
  | '!' expr[a] %prec UNARY         { $$ = parse_unary(p, AST_NOT, @$, $a); }
  | expr[a] '+' expr[b]             { $$ = parse_binary(p, AST_ADD, @$, $a, $b); }
  | expr[a] '-' expr[b]             { $$ = parse_binary(p, AST_SUB, @$, $a, $b); }
  | expr[a] '*' expr[b]             { $$ = parse_binary(p, AST_MUL, @$, $a, $b); }
  | expr[a] '/' expr[b]             { $$ = parse_binary(p, AST_DIV, @$, $a, $b); }
  | expr[a] '%' expr[b]             { $$ = parse_binary(p, AST_MOD, @$, $a, $b); }
  | expr[a] EQ expr[b]              { $$ = parse_comparison(p, AST_EQ, @$, $a, @2, $b); }
  | expr[a] NE expr[b]              { $$ = parse_comparison(p, AST_NE, @$, $a, @2, $b); }
  | expr[a] '<' expr[b]             { $$ = parse_comparison(p, AST_LT, @$, $a, @2, $b); }
  | expr[a] LE expr[b]              { $$ = parse_comparison(p, AST_LE, @$, $a, @2, $b); }
  | expr[a] '>' expr[b]             { $$ = parse_comparison(p, AST_GT, @$, $a, @2, $b); }
  | expr[a] GE expr[b]              { $$ = parse_comparison(p, AST_GE, @$, $a, @2, $b); }
  | expr[a] AND expr[b]             { $$ = parse_binary(p, AST_AND, @$, $a, $b); }
  | expr[a] OR expr[b]              { $$ = parse_binary(p, AST_OR, @$, $a, $b); }
  | expr[c] '?' expr[a] ':' expr[b] { $$ = parse_conditional(p, @$, $c, $a, $b); };
ref:
    NAME '[' ']'                    { $$ = parse_ref(p, @$, $NAME, ast_expr_none()); }
  | NAME '[' exprs ']'              { $$ = parse_ref(p, @$, $NAME, $exprs); };
call:
    NAME '(' ')'                    { $$ = parse_call(p, @$, $NAME, ast_expr_none()); }
  | NAME '(' args ')'               { $$ = parse_call(p, @$, $NAME, $args); };
exprs:
    expr                            { $$ = ast_expr_one($expr); }
  | exprs[list] ',' expr            { $$ = ast_expr_append($list, $expr); };
args:
    arg                             { $$ = ast_expr_one($arg); }
  | args[list] ',' arg              { $$ = ast_expr_append($list, $arg); };
arg:
    expr
  | expr BY keys                    { $$ = parse_keyed($expr, AST_BY, $keys); }
  | expr OVER keys                  { $$ = parse_keyed($expr, AST_OVER, $keys); };
keys:
    NAME                            { $$ = ast_names_one(parse_name_node(p, $NAME)); }
  | '(' names ')'                   { $$ = $names; };
reduce_head: binders guard else ties    { $$ = parse_reduce_head($binders, $guard, $else, $ties); };
guard: %empty                       { $$ = NULL; }
  | ':' expr                        { $$ = $expr; };
else: %empty                        { $$ = NULL; }
  | ELSE expr                       { $$ = $expr; };
ties: %empty                        { $$ = parse_no_name(); }
  | TIES NAME                       { $$ = $NAME; };
binders:
    binder                          { $$ = ast_binder_one($binder); }
  | binders[list] ',' binder        { $$ = ast_binder_append($list, $binder); };
binder:
    NAME                            { $$ = parse_binder(p, $NAME, NULL); }
  | NAME IN expr                    { $$ = parse_binder(p, $NAME, $expr); };
names:
    NAME                            { $$ = ast_names_one(parse_name_node(p, $NAME)); }
  | names[list] ',' NAME            { $$ = ast_names_append($list, parse_name_node(p, $NAME)); };

/* Schedules */
when: %empty                        { $$ = ast_condition_none(); }
  | WHEN '(' conditions ')'         { $$ = $conditions; };
conditions:
    condition                       { $$ = ast_condition_one($condition); }
  | conditions[list] ',' condition  { $$ = ast_condition_append($list, $condition); };
condition:
    expr                            { $$ = parse_condition(p, $expr, ast_expr_none()); }
  | expr IN '{' exprs '}'           { $$ = parse_condition(p, $expr, $exprs); };
statement_body:
    BLOCK statements END_BLOCK              { $$ = $statements; }
  | BLOCK statements error END_BLOCK        { $$ = $statements; };
statements:
    %empty                          { $$ = ast_statement_none(); }
  | statements[list] statement      { $$ = ast_statement_append($list, $statement); }
  | statements[list] error ';'      { $$ = $list; yyerrok; };
statement:
    verb words semi                 { $$ = parse_statement(p, @$, ast_paths_none(), $verb, $words); }
  | stages ':' verb words semi      { $$ = parse_statement(p, @$, $stages, $verb, $words); }
  | stages ':' statement_body[body] { $$ = parse_block(p, @$, $stages, $body, @body); }
  | LET NAME '=' words semi         { $$ = parse_let(p, @$, $NAME, $words); };
verb: NAME;
stages:
    path                            { $$ = ast_paths_one(parse_stage(p, @path, $path)); }
  | stages[list] ',' path           { $$ = ast_paths_append($list, parse_stage(p, @path, $path)); };
path:
    NAME                            { $$ = ast_path_one(parse_path_part(p, $NAME)); }
  | dotted;
dotted:
    path[list] '.' NAME             { $$ = ast_path_append($list, parse_path_part(p, $NAME)); }
  | path[list] '.' GRAD             { $$ = ast_path_append($list, parse_path_part(p, $GRAD)); }
  | path[list] PART                 { $$ = ast_path_append($list, parse_path_part(p, $PART)); };
words:
    %empty                          { $$ = ast_word_none(); }
  | words[list] word                { $$ = ast_word_append($list, $word); };
word:
    subjects                        { $$ = parse_word(p, $subjects); }
  | choices                         { $$ = parse_word(p, $choices); }
  | BY                              { $$ = parse_word(p, parse_subject_by(p, @$)); };
subjects:
    subject
  | subject[a] ',' subjects[rest]   { $$ = parse_subject_list($a, $rest); };
choices:
    subject[a] '|' subject[b]       { $$ = parse_subject_choice($a, $b); }
  | subject[a] '|' choices[rest]    { $$ = parse_subject_choice($a, $rest); };
subject:
    sum                             { $$ = parse_subject(p, @$, $sum); }
  | dotted                          { $$ = parse_subject_path(p, @$, $dotted); };
/* A word doesn't start with - or (, so words need nothing between them: the first operand is a head. */
sum:
    product
  | sum[a] '+' term[b]              { $$ = parse_binary(p, AST_ADD, @$, $a, $b); }
  | sum[a] '-' term[b]              { $$ = parse_binary(p, AST_SUB, @$, $a, $b); };
product:
    head
  | product[a] '*' factor[b]        { $$ = parse_binary(p, AST_MUL, @$, $a, $b); }
  | product[a] '/' factor[b]        { $$ = parse_binary(p, AST_DIV, @$, $a, $b); }
  | product[a] '%' factor[b]        { $$ = parse_binary(p, AST_MOD, @$, $a, $b); };
term:
    factor
  | term[a] '*' factor[b]           { $$ = parse_binary(p, AST_MUL, @$, $a, $b); }
  | term[a] '/' factor[b]           { $$ = parse_binary(p, AST_DIV, @$, $a, $b); }
  | term[a] '%' factor[b]           { $$ = parse_binary(p, AST_MOD, @$, $a, $b); };
factor:
    head
  | '-' factor[a]                   { $$ = parse_unary(p, AST_NEG, @$, $a); }
  | '(' expr ')'                    { $$ = parse_unary(p, AST_PAREN, @$, $expr); };
head:
    NUMBER                          { $$ = parse_number(p, $NUMBER); }
  | NAME                            { $$ = parse_named(p, AST_NAME, @$, $NAME); }
  | ref
  | call;

%%

static int yyreport_syntax_error(const yypcontext_t *context, parse *p) {
    yysymbol_kind_t expected[YYNTOKENS];
    const char *names[YYNTOKENS];
    int n = yypcontext_expected_tokens(context, expected, YYNTOKENS);
    for (int i = 0; i < n; i++) names[i] = yysymbol_name(expected[i]);
    yysymbol_kind_t found = yypcontext_token(context);
    if (found != YYSYMBOL_YYEMPTY)
        parse_syntax_error(p, *yypcontext_location(context), yysymbol_name(found), names, n);
    return 0;
}

// Bison itself has one thing to say: its stack is full.
static void ast_yyerror(span *at, parse *p, const char *message) {
    (void)message;
    parse_too_deep(p, *at);
}
