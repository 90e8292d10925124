// Parsing a file: the run of the generated parser, its tokens with the brackets open around them,
// and lexical faults.
#include "parse.h"

#include "gnn_parser.h"

#define YYSTYPE AST_YYSTYPE   // for the lexer's header
#define YYLTYPE span
#include "gnn_lexer.h"

#include <string.h>

int ast_yylex(AST_YYSTYPE *value, span *at, parse *p);

static const char *text_at(const parse *p, span at) {
    return p->source->text + (at.lo - p->source->base);
}

// ---- Token values -------------------------------------------------------------------------------
ast_name parse_name(parse *p, span at) {
    return (ast_name){intern_n(p->names, text_at(p, at), at.hi - at.lo), at};
}

ast_name parse_primed(parse *p, span at) {
    return (ast_name){intern_n(p->names, text_at(p, at), at.hi - at.lo - 1), at};
}

ast_name parse_part(parse *p, span at) {
    return (ast_name){intern_n(p->names, text_at(p, at) + 1, at.hi - at.lo - 1), at};
}

ast_name parse_string(parse *p, span at, bool closed) {
    if (!closed) {
        p->faults.next = true;
        diag_help(
            parse_error(p, diag(p->ds, E0105, at, "this string has no closing quote on its line")),
            "a string ends with \" on the line where it starts");
    }
    span inner = {at.lo + 1, closed ? at.hi - 1 : at.hi};
    return (ast_name){intern_n(p->names, text_at(p, inner), inner.hi - inner.lo), at};
}

void parse_comment(parse *p, uint32_t end) {
    span at = {p->start, end};
    const char *text = text_at(p, at);
    while (at.hi > at.lo + 2 && strchr(" \t\r", text[at.hi - at.lo - 1])) at.hi--;
    struct ast_comment *c = ARENA_NEW(p->arena, struct ast_comment);
    c->at = at;
    if (p->last_comment) p->last_comment->next = c;
    else p->file->comments = c;
    p->last_comment = c;
}

// ---- Brackets -----------------------------------------------------------------------------------
bool parse_starts_item(int token) {
    return token == IMPORT || token == OP || token == FN || token == REDUCER || token == GRAD ||
           token == SCHEDULE || token == CHOOSE;
}

// A block follows its item's head or a stage's ':'. Other braces follow a reducer's name or `in`.
static int brace_kind(const parse *p) {
    int before = p->token.kind;
    if (before == ':') return BLOCK;
    if (!p->depth) return p->item == FN ? '{' : BLOCK;
    return before == NAME || before == IN ? '{' : BLOCK;
}

static void open_bracket(parse *p, int kind, span at) {
    if (p->depth == PARSE_MAX_BRACKETS) {
        parse_too_deep(p, at);
        return;
    }
    span head = p->token.kind == NAME && p->token.at.hi == at.lo ? p->token.at : NO_SPAN;
    p->brackets[p->depth++] = (parse_bracket){kind, at, head};
}

// A closing bracket closes what is open inside its own, which is then what the fault is about. Only
// '}' closes a block.
static void close_bracket(parse *p, int opening) {
    uint32_t depth = p->depth;
    while (depth && p->brackets[depth - 1].kind != opening && p->brackets[depth - 1].kind != BLOCK)
        depth--;
    if (!depth || p->brackets[depth - 1].kind != opening) return;
    if (depth < p->depth) p->unclosed = p->brackets[depth];
    p->depth = depth - 1;
}

static int close_brace(parse *p) {
    uint32_t depth = p->depth;
    while (depth && p->brackets[depth - 1].kind != BLOCK && p->brackets[depth - 1].kind != '{')
        depth--;
    int opening = depth ? p->brackets[depth - 1].kind : BLOCK;
    if (depth < p->depth) p->unclosed = p->brackets[depth];
    if (depth) p->depth = depth - 1;
    return opening == BLOCK ? END_BLOCK : '}';
}

// Statements and equations end outside all brackets but their block.
static void close_statement(parse *p) {
    while (p->depth && p->brackets[p->depth - 1].kind != BLOCK)
        p->unclosed = p->brackets[--p->depth];
}

// Tells the braces apart; answers the token's kind.
static int follow_brackets(parse *p, int kind, span at) {
    if (kind == '{') kind = brace_kind(p);
    switch (kind) {
    case '(':
    case '[':
    case '{':
    case BLOCK: open_bracket(p, kind, at); break;
    case ')': close_bracket(p, '('); break;
    case ']': close_bracket(p, '['); break;
    case '}': return close_brace(p);
    case ';': close_statement(p); break;
    default: break;
    }
    return kind;
}

// ---- Tokens for the parser ----------------------------------------------------------------------
bool parse_new_line(const parse *p, uint32_t from, uint32_t to) {
    return memchr(p->source->text + (from - p->source->base), '\n', to - from) != NULL;
}

// Whether `next` starts an item, wherever it stands: a kind of generic or a section of a reducer
// doesn't.
static bool at_item(const parse *p, const parse_token *next) {
    int before = p->token.kind;
    if (!next->kind) return true;
    if (!parse_starts_item(next->kind) || before == ':' || (next->kind == GRAD && p->depth))
        return false;
    return before == ';' || before == END_BLOCK || before < 0 ||
           parse_new_line(p, p->token.at.hi, next->at.lo);
}

static void report_unclosed(parse *p, parse_bracket open) {
    diagnostic *d = parse_error(p, diag(p->ds, E0113, open.at, "this '{' is not closed"));
    if (p->held.kind)
        diag_note(d, p->held.at, "'%s' starts an item, which stands in no block",
                  p->held.name.text);
    else diag_note(d, p->held.at, "the file ends here");
}

// Items stand outside blocks: one that is still open is closed before the next item or the end.
static int close_block(parse *p, span *at) {
    parse_bracket open = p->brackets[--p->depth];
    if (!p->faults.here && !p->faults.stop) report_unclosed(p, open);
    p->faults.here = p->faults.next = true;
    *at = (span){p->token.at.hi, p->token.at.hi};
    return END_BLOCK;
}

// `choose` is a word where an item begins, also behind one without its ';', and a name elsewhere.
static bool begins_choice(const parse *p, const parse_token *t) {
    int before = p->token.kind;
    if (t->kind != NAME || p->depth || strcmp(t->name.text, "choose") != 0) return false;
    if (before == ';' || before == END_BLOCK || before < 0) return true;
    bool ended = before == NAME || before == STRING || before == ')' || before == '>';
    return ended && p->item != SCHEDULE && parse_new_line(p, p->token.at.hi, t->at.lo);
}

static void scan(parse *p) {
    AST_YYSTYPE value = {.name = {NULL, NO_SPAN}};
    span at;
    int kind = p->faults.stop ? 0 : parse_yylex(&value, &at, p->scanner);
    if (!kind || p->faults.stop)
        p->held = (parse_token){0, {p->offset, p->offset}, {NULL, NO_SPAN}};
    else p->held = (parse_token){kind, at, value.name};
    if (begins_choice(p, &p->held)) p->held.kind = CHOOSE;
    p->holding = true;
}

static int next_token(parse *p, span *at) {
    if (at_item(p, &p->held)) {
        close_statement(p);
        if (p->depth) return close_block(p, at);
        p->item = p->held.kind;
    }
    p->holding = false;
    *at = p->held.at;
    return follow_brackets(p, p->held.kind, p->held.at);
}

int ast_yylex(AST_YYSTYPE *value, span *at, parse *p) {
    p->faults.here = p->faults.next;
    p->faults.next = false;
    p->unclosed.kind = 0;
    if (!p->holding) scan(p);
    int kind = next_token(p, at);
    if (p->faults.stop) kind = 0;
    p->previous = p->token;
    p->token = (parse_token){kind, *at, p->held.name};
    value->name = p->held.name;
    int before = p->previous.kind;
    bool ended = before == ';' || before == BLOCK || before == END_BLOCK;
    if ((ended && p->faults.doubt == PARSE_TO_SEMICOLON) ||
        parse_new_line(p, p->previous.at.hi, at->lo))
        p->faults.doubt = PARSE_SURE;
    return kind;
}

// ---- Faults in characters -----------------------------------------------------------------------
diagnostic *parse_error(parse *p, diagnostic *d) {
    if (++p->faults.count < PARSE_MAX_ERRORS || p->faults.stop) return d;
    p->faults.stop = true;
    return diag_note(d, NO_SPAN, "after %d syntax errors the rest of the file is not read",
                     PARSE_MAX_ERRORS);
}

void parse_too_deep(parse *p, span at) {
    p->faults.stop = true;
    if (p->faults.deep) return;
    p->faults.deep = true;
    diagnostic *d = diag(p->ds, E0106, at, "this is nested more than %d levels deep",
                         AST_MAX_DEPTH);
    diag_help(parse_error(p, d), "give a part of it an equation or a function of its own");
}

void parse_bad_number(parse *p, span at) {
    const char *text = text_at(p, at);
    int n = (int)(at.hi - at.lo);
    diagnostic *d = parse_error(p, diag(p->ds, E0103, at, "'%.*s' is not a number", n, text));
    if (text[n - 1] == '.')
        diag_fix(d, at, arena_printf(p->arena, "%.*s0", n, text), "write a digit after the point");
    else
        diag_help(
            d,
            "numbers are written as 12, 0.5 or 1e-5, without a suffix; no name starts with a digit");
}

void parse_block_comment(parse *p, span at) {
    diagnostic *d = parse_error(p,
                                diag(p->ds, E0101, at, "there are no comments between /* and */"));
    diag_help(d, "a comment goes from // to the end of its line");
}

// What people write, or paste, for what the language spells in ASCII.
static const struct {
    const char *written, *instead, *note;
} spellings[] = {
    {"&", "&&", NULL},
    {"→", "->", NULL},
    {"≤", "<=", NULL},
    {"≥", ">=", NULL},
    {"≠", "!=", NULL},
    {"×", "*", NULL},
    {"·", "*", NULL},
    {"−", "-", NULL},
    {"∞", "inf", NULL},
    {"“", "\"", NULL},
    {"”", "\"", NULL},
    {"\u00a0", " ", "this is a no-break space"},
    {"^", NULL, "a power is pow(x, y)"},
    {"@", NULL, "a product of matrices is a sum: sum{k} x[v, k] * w[k, q]"},
    {"#", NULL, "a comment starts with //"},
    {"'", NULL, "a prime follows a name directly, in a reducer: c'"},
    {"∑", NULL, "a sum is sum{e : guard} body"},
    {"Σ", NULL, "a sum is sum{e : guard} body"},
};

static void help_spelling(parse *p, diagnostic *d, span at) {
    uint32_t n = at.hi - at.lo;
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        if (strlen(spellings[i].written) != n || memcmp(spellings[i].written, text_at(p, at), n))
            continue;
        if (spellings[i].instead)
            diag_fix(d, at, spellings[i].instead, "write '%s'", spellings[i].instead);
        if (spellings[i].note) diag_help(d, "%s", spellings[i].note);
    }
}

// The characters of a run are one fault.
static bool goes_on(parse *p, span at) {
    bool same = p->faults.here && p->faults.end == at.lo;
    p->faults.here = true;
    p->faults.end = at.hi;
    return same;
}

void parse_bad_character(parse *p, span at) {
    if (goes_on(p, at)) return;
    diagnostic *d = diag(p->ds, E0101, at, "'%.*s' has no place in the language",
                         (int)(at.hi - at.lo), text_at(p, at));
    help_spelling(p, parse_error(p, d), at);
}

void parse_bad_control(parse *p, span at) {
    if (goes_on(p, at)) return;
    unsigned char c = (unsigned char)*text_at(p, at);
    diagnostic *d;
    if (c == '\t') d = diag(p->ds, E0101, at, "a string holds no tab");
    else
        d = diag(p->ds, E0101, at, "the control character 0x%02X has no place in a source file", c);
    parse_error(p, d);
}

void parse_bad_utf8(parse *p, span at) {
    if (goes_on(p, at)) return;
    unsigned char c = (unsigned char)*text_at(p, at);
    diag_help(parse_error(
                  p, diag(p->ds, E0102, at, "the byte 0x%02X is not part of valid UTF-8 here", c)),
              "save the file as UTF-8; outside comments and strings sources are ASCII");
}

bool parse_byte_order_mark(const parse *p, span at) {
    return at.lo == p->source->base && at.hi - at.lo == 3 &&
           !memcmp(text_at(p, at), "\xef\xbb\xbf", 3);
}

// ---- The run ------------------------------------------------------------------------------------
ast_file *ast_parse(arena *a, intern_table *names, diag_set *ds, const source_file *source) {
    ast_file *file = ARENA_NEW(a, ast_file);
    file->source = source;
    parse *p = ARENA_NEW(a, parse);
    *p = (parse){.arena = a,
                 .names = names,
                 .ds = ds,
                 .source = source,
                 .file = file,
                 .offset = source->base,
                 .token = {-1, {source->base, source->base}, {NULL, NO_SPAN}}};
    parse_yylex_init_extra(p, &p->scanner);
    YY_BUFFER_STATE buffer = parse_yy_scan_bytes(source->text, (int)source->length, p->scanner);
    ast_yyparse(p);
    parse_yy_delete_buffer(buffer, p->scanner);
    parse_yylex_destroy(p->scanner);
    return file;
}
