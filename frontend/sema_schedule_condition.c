// The conditions of a schedule, for one form of its op. Types, functions, facts and sizes that are
// known decide now; the rest is left to the plan (sizes, statistics, the device) and to each launch
// (alignment). No guard of a program is an alternative, so where aligned(x, 16) stands under || the
// schedule stands there several times.
#include "sema_schedule_names.h"
#include "sema_schedule_ratio.h"
#include "sema_schedule_resolve.h"
#include <string.h>

enum { MAX_ALTERNATIVES = 16, MAX_SIZES = 8 };

typedef struct {
    const schedule_place *place;
    ratio_context numbers;
} deciding;

static arena *arena_of(const deciding *k) { return k->numbers.arena; }

// ---- Names --------------------------------------------------------------------------------------
const char *schedule_generic_value(const schedule_place *p, const ast_generic *g) {
    const ast_names *given = p->op->item->kind == AST_OP_ALIAS ? p->op->item->names : NULL;
    for (const ast_generic *h = p->op->body->generics; h && given; h = h->next, given = given->next)
        if (h == g) return given->name.text;
    const char *defined = sema_define(p->s, g->name.text),
               *kind = g->kind.text ? g->kind.text : "float";
    if (defined) return intern(p->s->names, defined);
    return intern(p->s->names, !strcmp(kind, "float") ? "f32" : !strcmp(kind, "int") ? "i32" : "");
}

// Of a type or function; NULL: it is a number.
static const char *name_value(const deciding *k, const ast_expr *e) {
    ir_dtype t;
    while (e->kind == AST_PAREN) e = e->args;
    if (e->kind != AST_NAME) return NULL;
    const ast_generic *g = schedule_generic_find(k->place->op, e->name.text);
    if (g)
        return g->kind.text && !strcmp(g->kind.text, "size") ? NULL
                                                             : schedule_generic_value(k->place, g);
    if (schedule_is_size(k->place->op->op, e->name.text)) return NULL;
    return sema_dtype(e->name.text, &t) || schedule_is_function(k->place->s, e->name.text)
               ? e->name.text
               : NULL;
}

static tensor_val value_named(const deciding *k, const char *name) {
    const tensor_op *op = k->place->op->op;
    for (tensor_val v = 0; v < op->nparams; v++)
        if (!strcmp(op->vals.data[v].name, name)) return v;
    ICE("a condition names '%s', which is no parameter", name);
}

static const char *text_of(const deciding *k, const ast_expr *e) {
    textbuf b = textbuf_new(arena_of(k));
    ast_print_expr(&b, e);
    return b.data;
}

// ---- Numbers ------------------------------------------------------------------------------------
static ratio number(deciding *k, const ast_expr *e);

static ratio size_or_device(deciding *k, const char *name) {
    static const char *const device[] = {
#define X(id, text) text,
        DEVICE_NUMBERS(X)
#undef X
    };
    const tensor_op *op = k->place->op->op;
    for (tensor_space s = 0; s < op->spaces.len; s++) {
        const tensor_space_info *i = &op->spaces.data[s];
        if (i->kind == SPACE_COUNT_OF || strcmp(i->name, name)) continue;
        if (i->kind == SPACE_CONST) return ratio_new(term_known(i->size), 1);
        return ratio_new(term_token(&k->numbers, (size_token){SZ_SPACE, s, 0}), 1);
    }
    if (!strcmp(k->place->target, "host")) return ratio_new(term_known(0), 1);
    for (uint32_t i = 0; i < DEVICE_NUMBER_COUNT; i++)
        if (!strcmp(device[i], name))
            return ratio_new(term_token(&k->numbers, (size_token){SZ_DEVICE, i, 0}), 1);
    ICE("a condition names '%s', which is no size", name);
}

// A number that a statistic or fact is about, times `scale`; reports one that is not known or not
// whole.
static int64_t known_argument(deciding *k, const ast_expr *e, int64_t scale, int64_t least,
                              int64_t most) {
    ratio x = ratio_apply(&k->numbers, SZ_MUL, number(k, e), ratio_new(term_known(scale), 1));
    if (x.n.known && x.d.known && x.d.value == 1 && x.n.value >= least && x.n.value <= most)
        return x.n.value;
    diagnostic *d = diag(k->place->s->ds, E0527, e->at, "this is no number that fits here");
    diag_help(d, scale == 1 ? "a whole number, known when the op is compiled"
                            : "from 0 to 1, in thousandths");
    return least;
}

// Statistics are whole numbers: means and deviations are rounded down, shares are counted in
// thousandths.
static ratio statistic(deciding *k, const ast_expr *e) {
    static const struct {
        const char *name;
        size_token_kind token;
        int64_t scale, least, most;   // of the second argument
        int64_t unit;                 // what the token counts in
    } table[] = {
        {"max", SZ_MAX_PREIMAGE, 0, 0, 0, 1},
        {"min", SZ_MIN_PREIMAGE, 0, 0, 0, 1},
        {"avg", SZ_AVG_PREIMAGE, 0, 0, 0, 1},
        {"std", SZ_STD_PREIMAGE, 0, 0, 0, 1},
        {"quantile", SZ_QUANTILE_PREIMAGE, 1000, 0, 1000, 1},
        {"fill", SZ_FILL, 1, 1, INT32_MAX, 1000},
        {"density", SZ_DENSITY, 1, 1, INT32_MAX, 1000},
    };
    for (uint32_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(table[i].name, e->name.text)) continue;
        size_token t = {table[i].token, value_named(k, e->args->name.text), 0};
        const ast_expr *last = e->args->next;
        if (t.kind == SZ_DENSITY) last = last->next;
        if (table[i].scale)
            t.value2 = known_argument(k, last, table[i].scale, table[i].least, table[i].most);
        if (t.kind == SZ_DENSITY)
            t.value2 = (t.value2 << 32) + value_named(k, e->args->next->name.text);
        return ratio_new(term_token(&k->numbers, t), table[i].unit);
    }
    ICE("a condition calls '%s'", e->name.text);
}

static ratio literal(deciding *k, const ast_expr *e) {
    ratio x = ratio_new(term_known(e->integer), 1);
    if (!e->is_integer && !ratio_decimal(e->text, &x)) k->numbers.overflow = true;
    return x;
}

static size_token_kind token_of(ast_kind k) {
    return k == AST_ADD   ? SZ_ADD
           : k == AST_SUB ? SZ_SUB
           : k == AST_MUL ? SZ_MUL
           : k == AST_DIV ? SZ_DIV
           : k == AST_MOD ? SZ_MOD
           : k == AST_EQ  ? SZ_EQ
           : k == AST_NE  ? SZ_NE
           : k == AST_LT  ? SZ_LT
           : k == AST_LE  ? SZ_LE
           : k == AST_GT  ? SZ_GT
                          : SZ_GE;
}

static ratio number(deciding *k, const ast_expr *e) {
    if (e->kind == AST_NUMBER) return literal(k, e);
    if (e->kind == AST_NAME) return size_or_device(k, e->name.text);
    if (e->kind == AST_CALL) return statistic(k, e);
    if (e->kind == AST_PAREN) return number(k, e->args);
    if (e->kind == AST_NEG)
        return ratio_apply(&k->numbers, SZ_SUB, ratio_new(term_known(0), 1), number(k, e->args));
    return ratio_apply(&k->numbers, token_of(e->kind), number(k, e->args),
                       number(k, e->args->next));
}

// ---- Conditions ---------------------------------------------------------------------------------
// Alternatives; those without alignment are one at most.
typedef schedule_alternatives formula;

static formula formula_of(deciding *k, const ast_expr *e);

static formula leaf(deciding *k, size_term holds, const char *text, span at) {
    formula f = {0};
    schedule_conditions one = {0};
    if (holds.known && !holds.value) return f;
    if (!holds.known)
        VEC_PUSH(
            arena_of(k), &one,
            ((schedule_condition){.text = text, .holds = term_expr(&k->numbers, holds), .at = at}));
    VEC_PUSH(arena_of(k), &f, one);
    return f;
}

static bool plain(const formula *f) {
    for (uint32_t i = 0; i < f->len; i++)
        for (uint32_t n = 0; n < f->data[i].len; n++)
            if (f->data[i].data[n].kind != SCHEDULE_HOLDS) return false;
    return true;
}

// What holds where a plain formula does, and its text.
static size_term term_of(deciding *k, const formula *f, const char **text) {
    size_term r = term_known(f->len > 0);
    for (uint32_t n = 0; f->len && n < f->data[0].len; n++) {
        const schedule_condition *x = &f->data[0].data[n];
        r = term_apply(&k->numbers, SZ_AND, r, (size_term){.expr = x->holds});
        *text = n ? arena_printf(arena_of(k), "%s && %s", *text, x->text) : x->text;
    }
    return r;
}

static formula both(deciding *k, const formula *a, const formula *b, span at) {
    formula f = {0};
    for (uint32_t i = 0; i < a->len; i++)
        for (uint32_t j = 0; j < b->len; j++) {
            schedule_conditions x = {0};
            for (uint32_t n = 0; n < a->data[i].len; n++)
                VEC_PUSH(arena_of(k), &x, a->data[i].data[n]);
            for (uint32_t n = 0; n < b->data[j].len; n++)
                VEC_PUSH(arena_of(k), &x, b->data[j].data[n]);
            VEC_PUSH(arena_of(k), &f, x);
        }
    if (f.len <= MAX_ALTERNATIVES) return f;
    diag(k->place->s->ds, E0527, at, "there are more than %d ways for these conditions to hold",
         MAX_ALTERNATIVES);
    f.len = 1;
    return f;
}

static formula either(deciding *k, const formula *a, const formula *b, span at) {
    formula f = {0};
    if (!a->len || !b->len) return a->len ? *a : *b;
    if (plain(a) && plain(b)) {
        const char *x = "", *y = "";
        size_term p = term_of(k, a, &x), q = term_of(k, b, &y);
        return leaf(k, term_apply(&k->numbers, SZ_OR, p, q),
                    arena_printf(arena_of(k), "(%s || %s)", x, y), at);
    }
    for (uint32_t i = 0; i < a->len; i++) VEC_PUSH(arena_of(k), &f, a->data[i]);
    for (uint32_t i = 0; i < b->len; i++) VEC_PUSH(arena_of(k), &f, b->data[i]);
    for (uint32_t i = 0; i < f.len; i++)
        if (!f.data[i].len) return leaf(k, term_known(1), NULL, at);
    return f;
}

static formula negated(deciding *k, const ast_expr *e) {
    formula f = formula_of(k, e->args);
    const char *text = "";
    if (!plain(&f)) ICE("an alignment is negated");
    size_term holds = term_not(&k->numbers, term_of(k, &f, &text));
    return leaf(k, holds, arena_printf(arena_of(k), "!(%s)", text), e->at);
}

static size_term comparison(deciding *k, ast_kind kind, const ast_expr *a, const ast_expr *b) {
    const char *x = name_value(k, a), *y = name_value(k, b);
    if (x && y) return term_known(!strcmp(x, y) == (kind == AST_EQ));
    ratio p = number(k, a), q = number(k, b);
    return ratio_compare(&k->numbers, token_of(kind), p, q);
}

static bool fact_holds(const tensor_val_info *v, const char *name) {
    static const struct {
        const char *name;
        uint32_t fact;
    } facts[] = {{"unique", FACT_UNIQUE},
                 {"partial", FACT_PARTIAL},
                 {"prefix", FACT_PREFIX},
                 {"strided", FACT_STRIDED},
                 {"packed", FACT_PACKED}};
    if (!strcmp(name, "sorted")) return v->facts & FACT_SORTED && v->sorted_by == TENSOR_NO_VAL;
    for (uint32_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (!strcmp(name, facts[i].name)) return v->facts & facts[i].fact;
    ICE("a condition asks for the fact '%s'", name);
}

static formula fact(deciding *k, const ast_expr *e) {
    tensor_val x = value_named(k, e->args->name.text);
    if (!strcmp(e->name.text, "symmetric")) {
        size_token t = {SZ_SYMMETRIC, x, value_named(k, e->args->next->name.text)};
        return leaf(k, term_token(&k->numbers, t), text_of(k, e), e->at);
    }
    const tensor_val_info *info = &k->place->op->op->vals.data[x];
    if (!strcmp(e->name.text, "sorted") && !fact_holds(info, "sorted") && info->role == VAL_MAP &&
        info->rank == 1)
        return leaf(k, term_token(&k->numbers, (size_token){SZ_SORTED, x, 0}), text_of(k, e),
                    e->at);
    if (strcmp(e->name.text, "aligned"))
        return leaf(k, term_known(fact_holds(&k->place->op->op->vals.data[x], e->name.text)), NULL,
                    e->at);
    formula f = leaf(k, term_known(1), NULL, e->at);
    schedule_condition c = {.kind = SCHEDULE_ALIGNED,
                            .text = text_of(k, e),
                            .val = x,
                            .bytes = known_argument(k, e->args->next, 1, 1, 4096),
                            .at = e->at};
    VEC_PUSH(arena_of(k), &f.data[0], c);
    return f;
}

static formula formula_of(deciding *k, const ast_expr *e) {
    if (e->kind == AST_PAREN) return formula_of(k, e->args);
    if (e->kind == AST_NOT) return negated(k, e);
    if (e->kind == AST_CALL) return fact(k, e);
    if (e->kind == AST_NAME)   // deterministic
        return leaf(k, term_known(!k->place->s->options.nondeterministic), NULL, e->at);
    if (e->kind == AST_AND || e->kind == AST_OR) {
        formula a = formula_of(k, e->args), b = formula_of(k, e->args->next);
        return e->kind == AST_AND ? both(k, &a, &b, e->at) : either(k, &a, &b, e->at);
    }
    return leaf(k, comparison(k, e->kind, e->args, e->args->next), text_of(k, e), e->at);
}

static bool is_open_size(const deciding *k, const ast_expr *e) {
    while (e->kind == AST_PAREN) e = e->args;
    const tensor_op *op = k->place->op->op;
    for (tensor_space s = 0; e->kind == AST_NAME && s < op->spaces.len; s++)
        if (!strcmp(op->spaces.data[s].name, e->name.text))
            return op->spaces.data[s].kind == SPACE_FREE;
    return false;
}

// A version for each of a few sizes, which knows it.
static formula sizes(deciding *k, const ast_condition *w) {
    formula all = {0};
    for (const ast_expr *a = w->in; a; a = a->next) {
        const char *text = arena_printf(arena_of(k), "%s == %s", text_of(k, w->expr),
                                        text_of(k, a));
        formula one = leaf(k, comparison(k, AST_EQ, w->expr, a), text, a->at);
        bool again = false;
        for (uint32_t i = 0; i < all.len && one.len; i++)
            again |= !strcmp(all.data[i].data[0].text, text);
        if (one.len && !again) VEC_PUSH(arena_of(k), &all, one.data[0]);
    }
    return all;
}

static formula membership(deciding *k, const ast_condition *w) {
    uint32_t values = 0;
    for (const ast_expr *a = w->in; a; a = a->next) values++;
    if (values <= MAX_SIZES && is_open_size(k, w->expr)) return sizes(k, w);
    size_term any = term_known(0);
    textbuf text = textbuf_new(arena_of(k));
    ast_print_expr(&text, w->expr);
    for (const ast_expr *a = w->in; a; a = a->next) {
        any = term_apply(&k->numbers, SZ_OR, any, comparison(k, AST_EQ, w->expr, a));
        textbuf_printf(&text, "%s%s", a == w->in ? " in {" : ", ", text_of(k, a));
    }
    textbuf_puts(&text, "}");
    return leaf(k, any, text.data, w->expr->at);
}

// What holds where one of several ways does, none of which asks for alignment.
static size_term any_of(deciding *k, const formula *f) {
    size_term r = term_known(0);
    for (uint32_t i = 0; i < f->len; i++) {
        const char *text = "";
        const formula one = {.data = &f->data[i], .len = 1};
        r = term_apply(&k->numbers, SZ_OR, r, term_of(k, &one, &text));
    }
    return r;
}

static size_term term_fits(deciding *k, size_term t, span at) {
    if (k->numbers.overflow) diag(k->place->s->ds, E0527, at, "its numbers do not fit in 64 bits");
    return t;
}

size_term schedule_condition_term(const schedule_place *p, const ast_expr *e) {
    deciding k = {.place = p, .numbers = {.arena = p->s->arena}};
    const formula f = formula_of(&k, e);
    return term_fits(&k, any_of(&k, &f), e->at);
}

size_term schedule_when_term(const schedule_place *p, const ast_item *item) {
    deciding k = {.place = p, .numbers = {.arena = p->s->arena}};
    size_term all = term_known(1);
    for (const ast_condition *w = item->schedule.when; w; w = w->next) {
        const formula f = w->in ? membership(&k, w) : formula_of(&k, w->expr);
        all = term_apply(&k.numbers, SZ_AND, all, any_of(&k, &f));
    }
    return term_fits(&k, all, item->at);
}

bool schedule_conditions_open(const schedule_place *p, const ast_item *item,
                              schedule_alternatives *out) {
    deciding k = {.place = p, .numbers = {.arena = p->s->arena}};
    uint32_t errors = diag_raised(p->s->ds);
    formula all = leaf(&k, term_known(1), NULL, NO_SPAN);
    for (const ast_condition *w = item->schedule.when; w; w = w->next) {
        formula f = w->in ? membership(&k, w) : formula_of(&k, w->expr);
        if (k.numbers.overflow)
            diag(p->s->ds, E0527, w->expr->at, "its numbers do not fit in 64 bits");
        k.numbers.overflow = false;
        all = both(&k, &all, &f, w->expr->at);
    }
    *out = all;
    return diag_raised(p->s->ds) == errors;
}
