// Bytes drive a generator of an op and schedules of it. What is generated is mostly an op of good
// types, since subscripts are made from the spaces of the axes; statements follow the forms in
// ir/schedule.def.
#include "pipeline.h"

#include <ctype.h>
#include <string.h>

typedef struct {
    const char *name;
    char axes[4];   // a letter a space: e, u, v, f, h; an index has the letter of its space too
    bool map;
} value;

enum { MOST_VALUES = 24, DEEPEST = 5 };
typedef struct {
    const uint8_t *at, *end;
    textbuf out;
    value values[MOST_VALUES];
    uint32_t nvalues, nparams, bound;   // bound: indices that reductions have bound so far
} generator;

#define COUNT(table) ((uint32_t)(sizeof(table) / sizeof *(table)))

static uint32_t pick(generator *g, uint32_t n) { return g->at < g->end ? *g->at++ % n : 0; }
static const char *word(generator *g, const char *const *words, uint32_t n) {
    return words[pick(g, n)];
}
#define WORD_OF(g, table) word((g), (table), COUNT(table))

// ---- Expressions --------------------------------------------------------------------------------
// scope: letters of the indices at hand; a reduction's index stands for that letter inside.
static void expression(generator *g, const char *scope, uint32_t depth);

// false: nothing at hand has that space.
static bool subscript(generator *g, char space, const char *scope) {
    if (strchr(scope, space) && (space == 'e' || space == 'f' || space == 'h' || pick(g, 4)))
        textbuf_printf(&g->out, "%c", space);
    else if (space == 'u' && strchr(scope, 'e')) textbuf_puts(&g->out, "src[e]");
    else if (space == 'v' && strchr(scope, 'e')) textbuf_puts(&g->out, "dst[e]");
    else if (strchr(scope, space)) textbuf_printf(&g->out, "%c", space);
    else return false;
    return true;
}

static bool reachable(const value *v, const char *scope) {
    for (const char *a = v->axes; *a; a++)
        if (!strchr(scope, *a) && !(strchr("uv", *a) && strchr(scope, 'e'))) return false;
    return true;
}

static void literal(generator *g) {
    static const char *const literals[] = {"1", "0", "0.5", "-2", "1e30", "inf", "3", "1e-9"};
    textbuf_puts(&g->out, WORD_OF(g, literals));
}

static void reference(generator *g, const char *scope) {
    const value *v = &g->values[pick(g, g->nvalues)];
    if (!reachable(v, scope)) {
        literal(g);
        return;
    }
    textbuf_puts(&g->out, v->name);
    for (const char *a = v->axes; *a; a++) {
        textbuf_puts(&g->out, a == v->axes ? "[" : ", ");
        subscript(g, *a, scope);
    }
    if (*v->axes) textbuf_puts(&g->out, "]");
}

static void call(generator *g, const char *scope, uint32_t depth) {
    static const char *const names[] = {"exp",  "relu", "abs",     "tanh",
                                        "sqrt", "log",  "sigmoid", "nosuch"};
    textbuf_printf(&g->out, "%s(", WORD_OF(g, names));
    expression(g, scope, depth + 1);
    textbuf_puts(&g->out, ")");
}

static void binary(generator *g, const char *scope, uint32_t depth) {
    static const char *const operators[] = {" + ", " * ", " - ", " / ", " % "};
    textbuf_puts(&g->out, "(");
    expression(g, scope, depth + 1);
    textbuf_puts(&g->out, WORD_OF(g, operators));
    expression(g, scope, depth + 1);
    textbuf_puts(&g->out, ")");
}

static void choice(generator *g, const char *scope, uint32_t depth) {
    static const char *const comparisons[] = {" > ", " < ", " == ", " >= ", " != "};
    textbuf_puts(&g->out, "(");
    expression(g, scope, depth + 1);
    textbuf_puts(&g->out, WORD_OF(g, comparisons));
    expression(g, scope, depth + 1);
    textbuf_puts(&g->out, " ? ");
    expression(g, scope, depth + 1);
    textbuf_puts(&g->out, " : ");
    expression(g, scope, depth + 1);
    textbuf_puts(&g->out, ")");
}

static void reduction(generator *g, const char *scope, uint32_t depth) {
    static const char *const reducers[] = {"sum", "max", "min", "mean", "prod", "any", "logsumexp"};
    static const char *const heads[] = {"e : dst[e] == v",
                                        "e : src[e] == u",
                                        "f",
                                        "h",
                                        "e",
                                        "v",
                                        "u",
                                        "e : dst[e] == v && src[e] != v"};
    const char *head = WORD_OF(g, heads);
    char inside[16];
    if (strchr(scope, *head) || (strstr(head, "== v") && !strchr(scope, 'v')) ||
        (strstr(head, "== u") && !strchr(scope, 'u'))) {
        reference(g, scope);
        return;
    }
    snprintf(inside, sizeof inside, "%s%c", scope, *head);
    textbuf_printf(&g->out, "%s{%s%s} (", WORD_OF(g, reducers), head,
                   pick(g, 4) == 3 ? " else 0" : "");
    expression(g, inside, depth + 1);
    textbuf_puts(&g->out, ")");
}

// What softmax says of its operand is said thrice: few of them nest.
static void normalisation(generator *g, const char *scope, uint32_t depth) {
    static const char *const ends[] = {" by dst)", " over f)", " by src)", " over e)",
                                       " over (f, h))"};
    textbuf_puts(&g->out, "softmax(");
    expression(g, scope, depth + 2);
    textbuf_puts(&g->out, WORD_OF(g, ends));
}

static void expression(generator *g, const char *scope, uint32_t depth) {
    switch (depth > DEEPEST ? 0 : pick(g, 12)) {
    case 2:
    case 3: binary(g, scope, depth); return;
    case 4:
    case 5:
    case 6: reduction(g, scope, depth); return;
    case 7: call(g, scope, depth); return;
    case 8: choice(g, scope, depth); return;
    case 9: normalisation(g, scope, depth); return;
    case 10: literal(g); return;
    default: reference(g, scope); return;
    }
}

// ---- The op -------------------------------------------------------------------------------------
static void add_value(generator *g, const char *name, const char *axes, bool map) {
    value *v = &g->values[g->nvalues++];
    *v = (value){.name = name, .map = map};
    snprintf(v->axes, sizeof v->axes, "%s", axes);
}

static void axes_text(generator *g, const char *axes, bool upper) {
    for (const char *a = axes; *a; a++)
        textbuf_printf(&g->out, "%s%c", a == axes ? "[" : ", ",
                       upper ? toupper((unsigned char)*a) : *a);
    if (*axes) textbuf_puts(&g->out, "]");
}

static void tensors(generator *g) {
    static const char *const names[] = {"x", "w", "z", "k", "s"}, *const axes[] = {"uf", "e", "vf",
                                                                                   "uh", ""};
    for (uint32_t i = 0; i < COUNT(names); i++) {
        textbuf_printf(&g->out, ", %s: T", names[i]);
        axes_text(g, axes[i], true);
        add_value(g, names[i], axes[i], false);
    }
}

static void equation(generator *g, const char *name, const char *axes) {
    textbuf_printf(&g->out, "    %s", name);
    axes_text(g, axes, false);
    textbuf_puts(&g->out, " = ");
    expression(g, axes, 0);
    textbuf_puts(&g->out, ";\n");
    add_value(g, name, axes, false);
}

static const char *const shapes[] = {"vf", "e", "ef", "v", "uf", "eh", "f", "uh", ""};
static const char *const temporaries[] = {"a", "b", "c", "d"};

static void op(generator *g) {
    static const char *const facts[] = {" sorted", "", " sorted unique", " partial", " unique"};
    const char *result = WORD_OF(g, shapes);
    textbuf_printf(&g->out, "op g<T>(src: E -> U%s", pick(g, 4) ? "" : WORD_OF(g, facts));
    textbuf_printf(&g->out, ", dst: E -> V%s", WORD_OF(g, facts));
    tensors(g);
    textbuf_puts(&g->out, ") -> (y: T");
    axes_text(g, result, true);
    textbuf_puts(&g->out, ") {\n");
    for (uint32_t i = 0, n = pick(g, COUNT(temporaries) + 1); i < n; i++)
        equation(g, temporaries[i], WORD_OF(g, shapes));
    equation(g, "y", result);
    textbuf_puts(&g->out, "}\n");
}

// ---- Schedules ----------------------------------------------------------------------------------
static const struct {
    const char *kind, *text;
} words[] = {
#define WORD(kind, id, text, needs) {#kind, text},
#include "schedule.def"
};
static const struct {
    const char *verb, *form, *by;
} statements[] = {
#define STATEMENT(id, verb, form, excludes, needs, by, summary) {verb, form, by},
#include "schedule.def"
};

static const char *const indices[] = {"v", "e", "f", "u", "h", "e'", "f'", "v'"};
static const char *const stages[] = {"y", "a", "b", "c", "x", "dst"};

static bool is_kind(const char *kind, size_t n, const char *name) {
    return strlen(name) == n && !memcmp(kind, name, n);
}

static void fixed_word(generator *g, const char *kind, size_t n) {
    uint32_t of_kind = 0, taken = pick(g, 8);
    for (uint32_t i = 0; i < COUNT(words); i++) of_kind += is_kind(kind, n, words[i].kind);
    for (uint32_t i = 0; i < COUNT(words) && of_kind; i++)
        if (is_kind(kind, n, words[i].kind) && !(taken-- % of_kind)) {
            textbuf_puts(&g->out, words[i].text);
            return;
        }
    textbuf_puts(&g->out, "m16n8k16");
}

static void list(generator *g, const char *const *names, uint32_t n) {
    uint32_t count = 1 + pick(g, 3);
    for (uint32_t i = 0; i < count; i++)
        textbuf_printf(&g->out, "%s%s", i ? ", " : "", word(g, names, n));
}

static void kind_word(generator *g, const char *kind, size_t n) {
    static const char *const numbers[] = {"4",  "1",    "2", "32",  "8",         "3",
                                          "64", "1024", "0", "256", "4294967296"};
    static const char *const keys[] = {"dst", "src", "degree(dst, v)", "v", "w"},
                             *const limits[] = {"32", "4, 64", "0"};
    if (is_kind(kind, n, "INDEX") || is_kind(kind, n, "REDUCED"))
        textbuf_puts(&g->out, WORD_OF(g, indices));
    else if (is_kind(kind, n, "INDICES")) list(g, indices, COUNT(indices));
    else if (is_kind(kind, n, "STAGES") || is_kind(kind, n, "VALUES"))
        list(g, stages, COUNT(stages));
    else if (is_kind(kind, n, "SCHEDULES")) textbuf_puts(&g->out, "r, r");
    else if (is_kind(kind, n, "LIMITS")) textbuf_puts(&g->out, WORD_OF(g, limits));
    else if (is_kind(kind, n, "COUNT")) textbuf_puts(&g->out, WORD_OF(g, numbers));
    else if (is_kind(kind, n, "WIDTH"))
        textbuf_puts(&g->out, pick(g, 3) ? WORD_OF(g, numbers) : "fit");
    else if (is_kind(kind, n, "MAP") || is_kind(kind, n, "SOURCE") || is_kind(kind, n, "KEY"))
        textbuf_puts(&g->out, WORD_OF(g, keys));
    else if (is_kind(kind, n, "FACTOR")) textbuf_puts(&g->out, "0.5");
    else fixed_word(g, kind, n);
}

static const char *option_end(const char *open) {
    int depth = 0;
    do depth += *open == '[' ? 1 : *open == ']' ? -1 : 0;
    while (*open++ && depth);
    return open;
}

static void form(generator *g, const char *p) {
    while (*p) {
        size_t n = strcspn(p, " []");
        if (*p == '[' && pick(g, 3)) p = option_end(p);
        else if (!n) p++;
        else {
            textbuf_puts(&g->out, " ");
            if (isupper((unsigned char)*p)) kind_word(g, p, n);
            else textbuf_putn(&g->out, p, n);
            p += n;
        }
    }
}

static void statement(generator *g) {
    uint32_t i = pick(g, COUNT(statements));
    if (!*statements[i].by && pick(g, 8)) i = pick(g, 8);   // most of them executed
    textbuf_puts(&g->out, "    ");
    if (pick(g, 3) == 1) textbuf_printf(&g->out, "%s: ", WORD_OF(g, stages));
    textbuf_puts(&g->out, statements[i].verb);
    form(g, statements[i].form);
    textbuf_puts(&g->out, ";\n");
}

static void schedule(generator *g, const char *name) {
    static const char *const targets[] = {"", " for host", " for sm_90"}, *const when[] = {
                                                                              "", "",
                                                                              " when (F == 32)",
                                                                              " when (F % 4 == 0)"};
    textbuf_printf(&g->out, "schedule g %s%s", name, WORD_OF(g, targets));
    textbuf_printf(&g->out, "%s {\n", WORD_OF(g, when));
    for (uint32_t i = 0, n = pick(g, 8); i < n; i++) statement(g);
    textbuf_puts(&g->out, "}\n");
}

static void tree(generator *g) {
    static const char *const targets[] = {"", " for host", " for sm_90"},
                             *const when[] = {"", "", " when (F == 32)"},
                             *const trees[] = {"t", "F > 4 ? t : default", "r",
                                               "sms > 1 ? (F % 4 == 0 ? t : r) : t",
                                               "F <= 2 ? default : sms * F > 9 && F > 1 ? r : t"};
    textbuf_printf(&g->out, "choose g%s", WORD_OF(g, targets));
    textbuf_printf(&g->out, "%s = ", WORD_OF(g, when));
    textbuf_printf(&g->out, "%s;\n", WORD_OF(g, trees));
}

textbuf grammar_text(arena *a, const uint8_t *data, size_t size) {
    generator g = {.at = data, .end = data + size, .out = textbuf_new(a)};
    op(&g);
    if (pick(&g, 4)) schedule(&g, "t");
    if (strstr(g.out.data, " use ") || !pick(&g, 4)) schedule(&g, "r");
    if (!pick(&g, 3)) tree(&g);
    return g.out;
}
