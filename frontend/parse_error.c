// Messages for syntax errors: common mistakes by what they are, the rest by what was expected and
// what was found.
#include "parse.h"

#include "gnn_parser.h"

#include <string.h>

typedef struct {
    parse *parse;
    span at;
    const char *found;             // for a message: "'x'", "the end of the file"
    const char *const *expected;   // the grammar's names of tokens
    int n;
} fault;

static bool expects(const fault *f, const char *token) {
    for (int i = 0; i < f->n; i++)
        if (!strcmp(f->expected[i], token)) return true;
    return false;
}

// The parser has closed an expression by the time it meets the fault; an operator would have
// continued it.
static bool expects_operator(const fault *f) {
    if (expects(f, "'='")) return false;
    return (expects(f, "'+'") && expects(f, "'*'")) ||
           f->parse->faults.expr_end == f->parse->previous.at.hi;
}
static bool expects_expression(const fault *f) {
    return expects(f, "a number") && expects(f, "'!'");
}

static const char *text_of(const parse *p, span at) {
    return arena_strndup(p->arena, p->source->text + (at.lo - p->source->base), at.hi - at.lo);
}

static bool is_word(int token) { return token >= IMPORT && token <= TIES; }

static bool on_new_line(const parse *p) {
    return parse_new_line(p, p->previous.at.hi, p->token.at.lo);
}

static const char *opening(int bracket) {
    return bracket == '(' ? "'('" : bracket == '[' ? "'['" : "'{'";
}
static const char *closing(int bracket) {
    return bracket == '(' ? "')'" : bracket == '[' ? "']'" : "'}'";
}

static bool in_block(const parse *p) { return p->depth && p->brackets[p->depth - 1].kind == BLOCK; }
static bool in_some_block(const parse *p) {
    bool in = false;
    for (uint32_t i = 0; i < p->depth; i++) in |= p->brackets[i].kind == BLOCK;
    return in;
}
static bool in_call(const parse *p) {
    return p->depth && p->brackets[p->depth - 1].kind == '(' && p->brackets[p->depth - 1].head.hi &&
           p->depth > 1;
}

// ---- Common mistakes: each reports and answers true, or leaves it to the next -------------------
static bool compound_assignment(const fault *f) {
    const parse *p = f->parse;
    int operator = p->token.kind;
    if (!expects(f, "'='") || operator <= 0 || operator >= 128 || !strchr("+-*/%", operator))
        return false;
    if (p->source->text[f->at.hi - p->source->base] != '=') return false;
    diagnostic *d = diag(p->ds, E0110, (span){f->at.lo, f->at.hi + 1}, "there is no '%c='",
                         operator);
    diag_help(parse_error(f->parse, d),
              "each element is defined once; what is accumulated is a reduction: "
              "y[v] = sum{e : dst[e] == v} x[e];");
    return true;
}

static bool assigned_or_compared(const fault *f) {
    const parse *p = f->parse;
    if (p->token.kind == '=' && expects_operator(f)) {
        diagnostic *d = parse_error(f->parse, diag(p->ds, E0110, f->at, "'=' does not compare"));
        if (p->item == SCHEDULE && in_block(p))
            diag_help(d, "a statement's words follow one another: block v 4;");
        else diag_fix(d, f->at, "==", "equality is '=='");
        if (in_call(p)) diag_help(d, "arguments have no names, their places tell what they are");
        return true;
    }
    if (p->token.kind != EQ || !expects(f, "'='")) return false;
    diag_fix(parse_error(f->parse, diag(p->ds, E0110, f->at, "'==' does not define")), f->at, "=",
             "write '='");
    return true;
}

// sum(e : guard)
static bool reduction_in_parentheses(const fault *f) {
    parse *p = f->parse;
    if ((p->token.kind != ':' && p->token.kind != IN) || !expects_operator(f) || !p->depth)
        return false;
    parse_bracket open = p->brackets[p->depth - 1];
    if (open.kind != '(' || !open.head.hi) return false;
    const char *name = text_of(p, open.head);
    diagnostic *d = parse_error(p, diag(p->ds, E0111, open.at, "'%s(' opens a call", name));
    diag_fix(d, open.at, "{", "a reduction has braces: %s{e : guard} body", name);
    return true;
}

static bool point_without_digit(const fault *f) {
    const parse *p = f->parse;
    if (p->token.kind != PART || !expects(f, "a number")) return false;
    const char *text = text_of(p, f->at);
    diagnostic *d = parse_error(f->parse, diag(p->ds, E0103, f->at, "'%s' is not a number", text));
    diag_fix(d, f->at, arena_printf(p->arena, "0%s", text), "write a digit before the point");
    return true;
}

static bool left_open(const fault *f) {
    parse *p = f->parse;
    parse_bracket open = p->unclosed;
    if (!open.kind || !expects(f, closing(open.kind))) return false;
    p->faults.doubt = PARSE_TO_LINE_END;
    diagnostic *d = parse_error(
        p, diag(p->ds, E0113, open.at, "this %s is not closed", opening(open.kind)));
    diag_note(d, f->at, "%s was expected before %s", closing(open.kind), f->found);
    return true;
}

static bool reserved_word(const fault *f) {
    const parse *p = f->parse;
    if (!is_word(p->token.kind) || !expects(f, "a name") || expects(f, "';'")) return false;
    diagnostic *d = diag(p->ds, E0112, f->at, "%s is a word of the grammar and cannot be a name",
                         f->found);
    parse_error(f->parse, d);
    bool equation = p->previous.kind == BLOCK || p->previous.kind == ';';
    if (equation || expects_expression(f)) foreign_help(d, FOREIGN_EXPRESSION, text_of(p, f->at));
    return true;
}

static bool missing_semicolon(const fault *f) {
    const parse *p = f->parse;
    int token = p->token.kind;
    bool next = token == END_BLOCK || !token || parse_starts_item(token) ||
                ((token == NAME || token == LET) && on_new_line(p));
    if (!next || !expects(f, "';'")) return false;
    span after = {p->previous.at.hi, p->previous.at.hi};
    diagnostic *d = parse_error(f->parse, diag(p->ds, E0108, after, "';' is missing here"));
    diag_fix(d, after, ";", "end it with ';'");
    return true;
}

// block v 4  y: lanes d 16;
static bool statement_begun(const fault *f) {
    const parse *p = f->parse;
    if (p->item != SCHEDULE || p->token.kind != ':' || p->previous.kind != NAME ||
        !expects(f, "';'"))
        return false;
    span before = {p->previous.at.lo, p->previous.at.lo};
    diagnostic *d = parse_error(f->parse, diag(p->ds, E0108, before, "';' is missing before '%s:'",
                                               text_of(f->parse, p->previous.at)));
    diag_fix(d, before, "; ", "end the statement before it with ';'");
    return true;
}

// ---- What was expected --------------------------------------------------------------------------
typedef struct {
    const char *words[8];
    int n;
} word_list;

static void add_word(word_list *list, const char *word) {
    if (list->n < (int)(sizeof list->words / sizeof *list->words)) list->words[list->n++] = word;
}

// What a name would be, told by the token it follows.
static const char *name_in_words(const parse *p) {
    switch (p->previous.kind) {
    case OP:
    case GRAD:
    case SCHEDULE:
    case CHOOSE: return "an op's name";
    case FN: return "a function's name";
    case REDUCER: return "a reducer's name";
    case LIKE: return "a schedule's name";
    case FOR:
    case OVER: return "an index";
    case BY: return "a map";
    case TIES: return "first, split or all";
    default: return "a name";
    }
}

static bool in(const char *token, const char *const *set) {
    for (; *set; set++)
        if (!strcmp(token, *set)) return true;
    return false;
}

static const char *const operators[] = {"'+'",  "'-'",  "'*'",  "'/'",  "'%'",
                                        "'=='", "'!='", "'<'",  "'<='", "'>'",
                                        "'>='", "'&&'", "'||'", "'?'",  NULL};
static const char *const openings[] = {"a name", "a primed name", "a number", "'('",
                                       "'-'",    "'!'",           NULL};
static const char *const items[] = {"'import'", "'op'",       "'fn'",     "'reducer'",
                                    "'grad'",   "'schedule'", "'choose'", NULL};
static const char *const words[] = {"a name", "a number", "'by'", NULL};
static const char *const types[] = {"a name", "'['", NULL};

// Sets of tokens that have a name of their own; answers how many of the sets in `covered` are in
// use.
static int summarise(const fault *f, word_list *out, const char *const *covered[4]) {
    int n = 0;
    bool expression = expects_expression(f), name = expects(f, "a name");
    if (expression) add_word(out, "an expression"), covered[n++] = openings;
    else if (expects_operator(f)) add_word(out, "an operator"), covered[n++] = operators;
    if (expects(f, "'op'") && expects(f, "'import'"))
        add_word(out, "an item"), covered[n++] = items;
    if (expression) return n;
    if (name && expects(f, "'by'")) add_word(out, "a word"), covered[n++] = words;
    else if (name && f->n == 2 && expects(f, "'['")) add_word(out, "a type"), covered[n++] = types;
    else if (name && expects(f, "')'") && f->n > 2) add_word(out, "a fact"), covered[n++] = words;
    return n;
}

static bool is_covered(const char *token, int n, const char *const *const covered[4]) {
    for (int i = 0; i < n; i++)
        if (in(token, covered[i])) return true;
    return !strcmp(token, "'.' with a number");   // goes without saying where '.' may follow
}

static const char *expected_in_words(const fault *f) {
    word_list list = {{NULL}, 0};
    const char *const *covered[4];
    int n = summarise(f, &list, covered);
    for (int i = 0; i < f->n; i++)
        if (!is_covered(f->expected[i], n, covered))
            add_word(&list,
                     strcmp(f->expected[i], "a name") ? f->expected[i] : name_in_words(f->parse));
    textbuf b = textbuf_new(f->parse->arena);
    for (int i = 0; i < list.n; i++)
        textbuf_printf(&b, "%s%s", !i ? "" : i + 1 == list.n ? " or " : ", ", list.words[i]);
    return b.data;
}

// Signs that other languages make of two, a word, or the word before another.
static bool foreign_syntax(const fault *f, diagnostic *d) {
    const parse *p = f->parse;
    span before = p->previous.at, both = {before.lo, f->at.hi};
    bool here = expects_operator(f) || expects_expression(f) || expects(f, "'='") ||
                expects(f, "'}'");
    if (!p->token.kind || !here) return false;
    return (before.hi == f->at.lo && foreign_help(d, FOREIGN_EXPRESSION, text_of(p, both))) ||
           foreign_help(d, FOREIGN_EXPRESSION, text_of(p, f->at)) ||
           (p->previous.kind == NAME && foreign_help(d, FOREIGN_EXPRESSION, text_of(p, before)));
}

static void item_helps(const fault *f, diagnostic *d) {
    static const char *const starts[] = {"import", "op",       "fn",    "reducer",
                                         "grad",   "schedule", "choose"};
    const char *word = text_of(f->parse, f->at);
    if (f->parse->token.kind == ';')
        diag_help(d, "no ';' stands behind an item that ends with a block");
    else if (!foreign_help(d, FOREIGN_ITEM, word))
        diag_suggest(d, f->at, word, starts, sizeof starts / sizeof *starts);
}

static void add_helps(const fault *f, diagnostic *d) {
    parse *p = f->parse;
    bool adjacent = p->previous.kind == NAME && p->token.kind == NAME;
    if (expects(f, "'op'") && expects(f, "'import'")) item_helps(f, d);
    else if (expects(f, "a string") && p->token.kind == NAME)
        diag_fix(d, f->at, arena_printf(p->arena, "\"%s\"", text_of(p, f->at)),
                 "write the name in quotes");
    else if (p->item == FN && (p->token.kind == BLOCK || p->token.kind == '{'))
        diag_help(d, "a function is one expression: fn f(x) = …;");
    else if (p->item == SCHEDULE && (p->token.kind == BLOCK || p->token.kind == '{') &&
             expects(f, "a name"))
        diag_help(d,
                  "a schedule says whose it is and has a name of its own: schedule OP NAME { … }");
    else if (p->item == CHOOSE && p->token.kind == NAME && p->previous.kind == NAME &&
             expects(f, "'='"))
        diag_help(d,
                  "a choice has no name of its own: choose OP = CONDITION ? SCHEDULE : default;");
    else if (p->item == REDUCER && f->n == 1 && expects(f, "'('") && in_block(p))
        diag_help(d, "what a section says stands in parentheses: state (s);");
    else if (p->previous.kind == ARROW && expects(f, "'('"))
        diag_help(d, "results are declared as parameters are: -> (y: T[V, F])");
    else if (p->token.kind == '=' && p->item == OP && !expects_expression(f) &&
             (expects(f, "')'") || expects(f, "'>'")))
        diag_help(
            d,
            "nothing has a default here; a generic type is f32 unless it is bound, as by -D T=f16");
    else if (p->token.kind == '[' && p->previous.kind == NAME && p->item == OP &&
             in_some_block(p) && expects(f, "')'") && !expects_operator(f))
        diag_help(
            d,
            "names stand behind 'by' and 'over': give it one first, g[e] = %s[…] for e in E, and "
            "then write g, as in by (dst, g)",
            text_of(p, p->previous.at));
    else if (foreign_syntax(f, d)) return;
    else if (adjacent && expects_operator(f))
        diag_help(d, "a reduction is written %s{e : guard} body, a call %s(x)",
                  text_of(p, p->previous.at), text_of(p, p->previous.at));
    bool called = (f->n == 2 && expects(f, "'<'") && expects(f, "'('")) ||
                  (p->item == OP && p->previous.kind == '=' && f->n == 1);
    if (called)
        diag_help(d, "a target without indices takes the result of an op, y = op(x); "
                     "else write them: y[v, f] = …, y[] = …");
    if (p->token.kind == ',' && expects(f, "'|'"))
        diag_help(d, "a word is a list, a, b, or a choice, a | b");
    if (p->unclosed.kind)
        diag_note(d, p->unclosed.at, "this %s is not closed before %s", opening(p->unclosed.kind),
                  f->found);
}

static void plain_fault(const fault *f) {
    parse *p = f->parse;
    span at = p->token.kind ? f->at : (span){p->previous.at.hi, p->previous.at.hi};
    diagnostic *d;
    if (!f->n) d = diag(p->ds, E0107, at, "%s stands where nothing can", f->found);
    else d = diag(p->ds, E0107, at, "expected %s, found %s", expected_in_words(f), f->found);
    add_helps(f, parse_error(p, d));
}

void parse_syntax_error(parse *p, span at, const char *found, const char *const *expected, int n) {
    if (p->faults.stop || p->faults.here || p->faults.doubt) return;   // told already
    fault f = {p, at, found, expected, n};
    bool verbatim = p->token.kind == NAME || p->token.kind == NUMBER || p->token.kind == PRIMED ||
                    p->token.kind == PART;
    if (verbatim) f.found = arena_printf(p->arena, "'%.60s'", text_of(p, at));
    static bool (*const mistakes[])(const fault *) = {
        compound_assignment, assigned_or_compared, reduction_in_parentheses,
        point_without_digit, missing_semicolon,    statement_begun,
        left_open,           reserved_word,
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
        if (mistakes[i](&f)) return;
    plain_fault(&f);
    if (expects(&f, "';'")) p->faults.doubt = PARSE_TO_SEMICOLON;
}
