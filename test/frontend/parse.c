// Trees and positions: precedence as equality with a text in parentheses, printing with the
// parentheses needed, spans, and what is kept of a file with faults.
#include "ast_dump.h"

#include <string.h>

static int failures;

typedef struct {
    arena *arena;
    diag_set *ds;
    intern_table *names;
} run;

static ast_file *parse_text(run *r, const char *text) {
    return ast_parse(r->arena, r->names, r->ds,
                     source_map_add(diag_sources(r->ds), "test.gnn", text, strlen(text)));
}

static ast_expr *parse_expr(run *r, const char *text) {
    ast_file *file = parse_text(r, arena_printf(r->arena, "fn f(x) = %s;", text));
    return file->items ? file->items->body : NULL;
}

static void fail(const char *text, const char *what, const char *got) {
    printf("%s: %s: %s\n", text, what, got);
    failures++;
}

// Takes the parentheses out of a tree.
static ast_expr *strip(ast_expr *e) {
    if (!e) return NULL;
    ast_expr *next = e->next, **last = &e->args;
    if (e->kind == AST_PAREN) {   // (x ? y : z) by k: the parentheses carry the keys
        ast_expr *inner = strip(e->args);
        inner->next = next;
        inner->how = e->how;
        inner->keys = e->keys;
        return inner;
    }
    for (ast_expr *a = e->args, *after; a; a = after, last = &(*last)->next) {
        after = a->next;
        *last = strip(a);
    }
    for (ast_binder *b = e->binders; b; b = b->next) b->in = strip(b->in);
    e->guard = strip(e->guard);
    e->orelse = strip(e->orelse);
    e->body = strip(e->body);
    return e;
}

static const char *dumped(run *r, ast_expr *e) {
    textbuf b = textbuf_new(r->arena);
    if (e) dump_expr(&b, strip(e));
    return b.data;
}

static const struct {
    const char *text, *same;
} pairs[] = {
    {"a - b - c", "(a - b) - c"},
    {"a / b % c * d", "((a / b) % c) * d"},
    {"a + b * c - d", "(a + (b * c)) - d"},
    {"-a * b", "(-a) * b"},
    {"!a && b || c", "((!a) && b) || c"},
    {"a || b && c == d + e", "a || (b && (c == (d + e)))"},
    {"a ? b : c ? d : e", "a ? b : (c ? d : e)"},
    {"a ? b ? c : d : e", "a ? (b ? c : d) : e"},
    {"a < b ? c || d : e", "(a < b) ? (c || d) : e"},
    {"sum{k} a * b + c", "(sum{k} (a * b)) + c"},
    {"sum{k} a / b - sum{j} c", "(sum{k} (a / b)) - (sum{j} c)"},
    {"a * sum{k} b * c + d", "(a * (sum{k} (b * c))) + d"},
    {"a / b * sum{c, d} k[c] * w", "(a / b) * (sum{c, d} (k[c] * w))"},
    {"-sum{k} a * b", "-(sum{k} (a * b))"},
    {"!any{k} a && b", "(!(any{k} a)) && b"},
    {"sum{k} a < b", "(sum{k} a) < b"},
    {"sum{k} a ? b : c", "(sum{k} a) ? b : c"},
    {"mean{c} sum{e : m[e] == v} a * x[e] + 1", "(mean{c} (sum{e : m[e] == v} (a * x[e]))) + 1"},
    {"max{e : a ? b : c else d + 1 ties first} -x * y",
     "max{e : (a ? b : c) else (d + 1) ties first} ((-x) * y)"},
    {"sum{e in S + 1, k in 3} x", "sum{e in (S + 1), k in 3} x"},
    {"f(a ? b : c by k, d + e over (i, j), (g, h))",
     "f((a ? b : c) by k, (d + e) over (i, j), (g, h))"},
    {"c' + x[a, b + 1] * y[]", "c' + (x[a, (b + 1)] * y[])"},
};

static void check_pairs(run *r) {
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const char *text = dumped(r, parse_expr(r, pairs[i].text)),
                   *same = dumped(r, parse_expr(r, pairs[i].same));
        if (!*text || strcmp(text, same)) fail(pairs[i].text, "another tree", text);
    }
}

// A tree without its parentheses prints as text that reads as the same tree.
static void check_printing(run *r) {
    // clang-format off
    static const char *const more[] = {
        "(a + b) * c", "a - (b - c)", "a * (b * c)", "-(a * b)", "(sum{k} a) * b", "!(a && b)",
        "(a ? b : c) ? d : e", "(a ? b : c) + 1", "sum{k} (a + b)", "(a < b) == (c < d)",
        "(a * sum{k} b) / c", "(-sum{k} b) % c", "sum{k} (a ? b : c)", "a - -b", "-(-a)", "(a, b)",
        "a / (b % c)", "(a || b) && c", "a + (b ? c : d)", "-(a + b)", "a * (sum{k} b) + c",
    };
    // clang-format on
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        ast_expr *e = parse_expr(r, more[i]);
        const char *before = dumped(r, e);
        e = strip(e);
        textbuf b = textbuf_new(r->arena);
        ast_print_expr(&b, e);
        if (strcmp(before, dumped(r, parse_expr(r, b.data)))) fail(more[i], "prints as", b.data);
    }
}

// ---- Positions ----------------------------------------------------------------------------------
static void check_span(run *r, const ast_file *file, span at, const char *text) {
    const char *got = arena_strndup(r->arena, file->source->text + (at.lo - file->source->base),
                                    at.hi - at.lo);
    if (strcmp(got, text)) fail(text, "its span is", got);
}

static void check_spans(run *r) {
    ast_file *file = parse_text(
        r,
        "  op f<phi: fn>(a: E -> V sorted(b), x: T[V, 3]) -> (y: f32[]) where (V % 2 == 0) {\n"
        "  y[], z[v] = sum{e : a[e] == v else 0}\n  -x[e] * 2 for v in V ; h = g<mul>(a, x);\n}\n"
        "schedule f.grad s when (F in {1, 2}) { s, a.max: { block e 2 * B , c; } }");
    ast_item *op = file->items, *schedule = op->next;
    ast_equation *e = op->equations;
    check_span(r, file, op->name.at, "f");
    check_span(r, file, op->params->at, "a: E -> V sorted(b)");
    check_span(r, file, op->params->type->at, "E -> V");
    check_span(r, file, op->params->facts->at, "sorted(b)");
    check_span(r, file, op->params->next->type->at, "T[V, 3]");
    check_span(r, file, op->where->at, "V % 2 == 0");
    check_span(r, file, e->at, "y[], z[v] = sum{e : a[e] == v else 0}\n  -x[e] * 2 for v in V ;");
    check_span(r, file, e->targets->next->at, "z[v]");
    check_span(r, file, e->value->at, "sum{e : a[e] == v else 0}\n  -x[e] * 2");
    check_span(r, file, e->value->guard->args->next->at, "v");
    check_span(r, file, e->value->body->args->at, "-x[e]");
    check_span(r, file, e->next->value->at, "g<mul>(a, x)");
    check_span(r, file, schedule->at,
               "schedule f.grad s when (F in {1, 2}) { s, a.max: { block e 2 * B , c; } }");
    check_span(r, file, schedule->block, "{ s, a.max: { block e 2 * B , c; } }");
    check_span(r, file, schedule->schedule.statements->stages->next->at, "a.max");
    check_span(r, file, schedule->schedule.statements->inner->words->next->subjects->at, "2 * B");
}

// ---- Faults -------------------------------------------------------------------------------------
static void check_recovery(run *r) {
    uint32_t before = diag_errors(r->ds);
    ast_file *file = parse_text(
        r, "op f(x: f32[N]) -> (y: f32[N]) { y[n] = +; z[n] = x[n] w[n] = 2; v[n] = 3;\n"
           "fn g(x) = x fn h(x) = x * ; reducer r(x) -> (y) { state (a; lift (x) }\nimport \"a\"");
    if (diag_errors(r->ds) - before < 6) fail("faults", "too few are found", "");
    int items = 0, equations = 0;
    for (ast_item *i = file->items; i; i = i->next) items++;
    for (ast_equation *e = file->items->equations; e; e = e->next) equations++;
    if (items < 4 || equations < 3) fail("faults", "too little is kept", file->items->name.text);
}

int main(void) {
    arena *a = arena_new();
    run r = {a, diag_set_new(a, source_map_new(a)), intern_new(a)};
    check_pairs(&r);
    check_printing(&r);
    check_spans(&r);
    if (diag_errors(r.ds)) diag_print(r.ds, stdout), failures++;
    check_recovery(&r);
    arena_free(a);
    return failures != 0;
}
