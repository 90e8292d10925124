// Fields of loop IR text (loop_field.def): a function for how each stands in it.
#include "loop_parse.h"

#include <string.h>

typedef void read_form(plan_parser *p, void *of, const loop_field *f);

static uint32_t *number_of(void *of, const loop_field *f) {
    return (uint32_t *)(void *)((char *)of + f->at);
}

static void read_count(plan_parser *p, void *of, const loop_field *f) {
    loop_parse_number(p, number_of(of, f));
}

static void read_flag(plan_parser *p, void *of, const loop_field *f) {
    (void)p;
    *(bool *)((char *)of + f->at) = true;
}

static void read_variable(plan_parser *p, void *of, const loop_field *f) {
    *number_of(of, f) = loop_parse_var(p);
}

static void read_expr(plan_parser *p, void *of, const loop_field *f) {
    *number_of(of, f) = tensor_parse_expr(&p->text);
}
static void read_limit(plan_parser *p, void *of, const loop_field *f) { read_expr(p, of, f); }

// ---- Lists --------------------------------------------------------------------------------------
static void put_list(void *of, const loop_field *f, const uint32_t *all, uint32_t n) {
    *number_of(of, f) = n;
    *(const uint32_t **)(void *)((char *)of + f->data) = all;
}

static void read_list(plan_parser *p, void *of, const loop_field *f,
                      uint32_t (*read)(plan_parser *p)) {
    VEC(uint32_t) all = {0};
    do {
        uint32_t one = read(p);
        VEC_PUSH(p->text.arena, &all, one);
    } while (!p->text.failed && tensor_lex_accept(&p->text, ","));
    put_list(of, f, all.data, all.len);
}

static uint32_t read_size(plan_parser *p) {
    uint32_t size = 0;
    loop_parse_number(p, &size);
    return size;
}

static void read_stages(plan_parser *p, void *of, const loop_field *f) {
    read_list(p, of, f, loop_parse_stage);
}
static void read_values(plan_parser *p, void *of, const loop_field *f) {
    read_list(p, of, f, loop_parse_val);
}
static void read_sizes(plan_parser *p, void *of, const loop_field *f) {
    read_list(p, of, f, read_size);
}

static void read_slots(plan_parser *p, void *of, const loop_field *f) {
    expr_list all = tensor_parse_tuple(&p->text);
    put_list(of, f, all.data, all.len);
}

// ---- Loops --------------------------------------------------------------------------------------
// Of a whole space alone, whose size is rounded up.
static void read_pad(plan_parser *p, void *of, const loop_field *f) {
    loop_node *n = of;
    parser *t = &p->text;
    span at = t->tok.at;
    loop_parse_pad(p, number_of(of, f));
    if (t->failed) return;
    const tensor_node *hi = tensor_node_at(t->op, n->hi);
    tensor_space s = t->op->vars.data[n->var].space;
    if (hi->op != TENSOR_SIZE_OP || (tensor_space)hi->imm.i != s || n->rounds.pad == 1)
        tensor_parse_fail(t, E0972, at,
                          "padding, of 2 or more, is of a loop up to the size of its space");
    else n->hi = loop_padded(t->op, s, n->rounds.pad);
}

static loop_place read_place(plan_parser *p) {
    token name = tensor_lex_name(&p->text, "a place");
    for (int k = 0; k < LOOP_PLACE_COUNT; k++)
        if (!strcmp(name.text, loop_place_text((loop_place)k))) return (loop_place)k;
    tensor_parse_fail(&p->text, E0972, name.at, "there is no place '%s'", name.text);
    return LOOP_SERIAL_PLACE;
}

static void read_digit(plan_parser *p, loop_node *n, loop_place place, span at) {
    if (n->ndigits == LOOP_MAX_DIGITS)
        tensor_parse_fail(&p->text, E0974, at, "a loop has at most %d digits", LOOP_MAX_DIGITS);
    if (p->text.failed) return;
    loop_digit *d = &n->digits[n->ndigits++];
    *d = (loop_digit){.place = place, .unit = 1};
    loop_parse_number(p, &d->extent);
    if (tensor_lex_accept(&p->text, "unit")) loop_parse_number(p, &d->unit);
}

// A digit has an extent, the rest has none.
static void read_digits(plan_parser *p, void *of, const loop_field *f) {
    loop_node *n = of;
    parser *t = &p->text;
    (void)f;
    while (!t->failed) {
        span at = t->tok.at;
        loop_place place = read_place(p);
        if (t->tok.kind != TOK_INT) {
            n->rest = place;
            return;
        }
        read_digit(p, n, place, at);
        tensor_lex_expect(t, ",");
    }
}
static void read_end(plan_parser *p, void *of, const loop_field *f) {
    (void)of, (void)f;
    tensor_lex_expect(&p->text, "]");
}

static void read_distributed(plan_parser *p, void *of, const loop_field *f) {
    loop_distribution *d = &((loop_node *)of)->distributed;
    (void)f;
    tensor_lex_expect(&p->text, "lane");
    d->to = (loop_digit){.place = LOOP_LANE_PLACE, .unit = 1};
    loop_parse_number(p, &d->to.extent);
    if (tensor_lex_accept(&p->text, "unit")) loop_parse_number(p, &d->to.unit);
    tensor_lex_expect(&p->text, "of");
    d->of = loop_parse_var(p);
}

static void read_swizzle(plan_parser *p, void *of, const loop_field *field) {
    loop_swizzle *s = &((loop_fetch *)of)->swizzle;
    parser *t = &p->text;
    (void)field;
    tensor_lex_expect(t, "(");
    do {
        token mask = t->tok;
        if (s->n == LOOP_SWIZZLE_BITS || mask.kind != TOK_INT || mask.i < 0 ||
            mask.i > LOOP_MAX_POINTS)
            tensor_parse_fail(t, E0972, mask.at, "a swizzle has up to %d masks of a row's bits",
                              (int)LOOP_SWIZZLE_BITS);
        else s->rows[s->n++] = (uint32_t)mask.i;
        tensor_lex_next(t);
    } while (!t->failed && tensor_lex_accept(t, ","));
    tensor_lex_expect(t, ")");
}

// What is no tile of an input is refused when it is verified: as many indices as it has axes are
// there then.
static loop_fetch read_fetch(plan_parser *p) {
    enum { MOST = 8 };
    loop_fetch f = {.val = loop_parse_val(p), .beside = LOOP_NO_BESIDE};
    tensor_expr *index = ARENA_ARRAY(p->text.arena, tensor_expr, MOST);
    uint32_t n = 0;
    tensor_lex_expect(&p->text, "[");
    do {
        index[n++] = tensor_parse_expr(&p->text);
    } while (n < MOST && !p->text.failed && tensor_lex_accept(&p->text, ","));
    tensor_lex_expect(&p->text, "]");
    f.own = tensor_lex_accept(&p->text, "own");
    if (f.own || tensor_lex_accept(&p->text, "beside")) f.beside = loop_parse_var(p);
    span at = p->text.tok.at;
    loop_parse_fields(p, LOOP_OF_FETCH, &f);
    if (f.panels == (f.pitch > 0))
        tensor_parse_fail(&p->text, E0971, at, "expected a pitch, or panels");
    f.index = index;
    f.nindex = n;
    return f;
}

static void read_fetched(plan_parser *p, void *of, const loop_field *field) {
    loop_copies *c = &((loop_node *)of)->fetch;
    VEC(loop_fetch) fetched = {0};
    (void)field;
    loop_parse_number(p, &c->buffers);
    do {
        loop_fetch f = read_fetch(p);
        VEC_PUSH(p->text.arena, &fetched, f);
    } while (!p->text.failed && tensor_lex_accept(&p->text, ","));
    c->n = fetched.len;
    c->rows = fetched.data;
}

// ---- Reductions ---------------------------------------------------------------------------------
static simt_mma read_operation(plan_parser *p) {
    token name = tensor_lex_name(&p->text, "a matrix operation");
    uint32_t kind = 0;
    while (kind < SIMT_MMA_COUNT && strcmp(simt_mma_table((simt_mma)kind)->text, name.text)) kind++;
    if (kind == SIMT_MMA_COUNT)
        tensor_parse_fail(&p->text, E0972, name.at, "there is no matrix operation '%s'", name.text);
    return (simt_mma)kind;
}

// SHAPE (rows, columns, depth), or without rows
static void read_matrix(plan_parser *p, void *of, const loop_field *f) {
    parser *t = &p->text;
    loop_matrix *m = ARENA_NEW(t->arena, loop_matrix);
    (void)f;
    *m = (loop_matrix){.kind = read_operation(p), .rows = LOOP_NO_ROWS};
    tensor_lex_expect(t, "(");
    m->columns = loop_parse_var(p);
    tensor_lex_expect(t, ",");
    m->depth = loop_parse_var(p);
    if (tensor_lex_accept(t, ",")) {
        m->rows = m->columns;
        m->columns = m->depth;
        m->depth = loop_parse_var(p);
    }
    tensor_lex_expect(t, ")");
    loop_parse_fields(p, LOOP_OF_MATRIX, m);
    ((loop_node *)of)->reduce.matrix = m;
}

// Where a state is contributed, a maximum has the slot of what it was.
static loop_maximum read_maximum(plan_parser *p, bool slot) {
    loop_maximum m = {.stage = loop_parse_stage(p)};
    if (!slot) loop_parse_fields(p, LOOP_OF_MAXIMUM, &m);
    span at = p->text.tok.at;
    expr_list slots = slot ? tensor_parse_tuple(&p->text) : (expr_list){0};
    if (slots.len > 1) tensor_parse_fail(&p->text, E0972, at, "a maximum is one number");
    if (slots.len) m.slot = slots.data[0];
    return m;
}

static void read_maxima(plan_parser *p, void *of, const loop_field *f) {
    loop_node *n = of;
    VEC(loop_maximum) all = {0};
    (void)f;
    do {
        loop_maximum m = read_maximum(p, n->kind == LOOP_CONTRIBUTE);
        VEC_PUSH(p->text.arena, &all, m);
    } while (!p->text.failed && tensor_lex_accept(&p->text, ","));
    n->reduce.nmaxima = all.len;
    n->reduce.maxima = all.data;
}

static void read_carried(plan_parser *p, void *of, const loop_field *f) {
    loop_state *s = &((loop_node *)of)->state;
    (void)f;
    if (tensor_lex_accept(&p->text, "combine")) return;
    tensor_lex_expect(&p->text, "first");
    expr_list first = tensor_parse_tuple(&p->text);
    span at = p->text.tok.at;
    tensor_lex_expect(&p->text, "last");
    expr_list last = tensor_parse_tuple(&p->text);
    if (last.len != first.len)
        tensor_parse_fail(&p->text, E0972, at, "'first' has %u components, and 'last' has %u",
                          (unsigned)first.len, (unsigned)last.len);
    s->n = first.len;
    s->loads = first.data;
    s->last = last.data;
}

// ---- Kernels ------------------------------------------------------------------------------------
static void read_start(plan_parser *p, void *of, const loop_field *f) {
    loop_kernel *k = of;
    parser *t = &p->text;
    (void)f;
    if (tensor_lex_accept(t, "fused")) k->start = LOOP_START_FUSED;
    else if (tensor_lex_accept(t, "interleave")) k->start = LOOP_START_INTERLEAVE;
    if (!tensor_lex_accept(t, "early")) return;
    tensor_lex_expect(t, "wait");
    bool first = tensor_lex_accept(t, "first");
    if (!first) tensor_lex_expect(t, "last");
    k->start = first ? LOOP_START_WAIT_FIRST : LOOP_START_WAIT_LAST;
}

static void read_hint(plan_parser *p, loop_kernel *k) {
    loop_hint h = {.val = loop_parse_val(p)};
    token word = tensor_lex_name(&p->text, "a cache hint");
    for (uint8_t i = SIMT_CACHE_DEFAULT + 1; simt_cache_text((simt_cache)i); i++)
        if (!strcmp(word.text, simt_cache_text((simt_cache)i))) h.cache = (simt_cache)i;
    if (!h.cache)
        tensor_parse_fail(&p->text, E0972, word.at, "there is no cache hint '%s'", word.text);
    VEC_PUSH(p->text.arena, &k->hints, h);
}

static void read_hints(plan_parser *p, void *of, const loop_field *f) {
    (void)f;
    do read_hint(p, of);
    while (tensor_lex_accept(&p->text, ","));
}

// ---- All ----------------------------------------------------------------------------------------
// Whether a field that may be there is: by its word, or by how it begins.
static bool begins(plan_parser *p, const loop_field *f) {
    if (*f->word) return tensor_lex_accept(&p->text, f->word);
    return f->form == LOOP_FORM_start || tensor_lex_is(&p->text.tok, "(");
}

void loop_parse_fields(plan_parser *p, uint32_t of, void *has) {
    static read_form *const forms[] = {
#define X(form, as) [LOOP_FORM_##form] = read_##as,
        LOOP_FORMS(X)
#undef X
    };
    bool there = false;   // what WITH and BEHIND ask for
    for (const loop_field *f = NULL; !p->text.failed && (f = loop_field_next(of, f));) {
        bool asked = f->when == LOOP_MAYBE || (f->when == LOOP_BEHIND && there),
             said = asked ? begins(p, f)
                          : f->when == LOOP_ALWAYS || (f->when == LOOP_WITH && there);
        if (f->when == LOOP_MAYBE) there = said;
        if (!said && f->form == LOOP_FORM_count && asked) *number_of(has, f) = f->least - 1;
        if (!said) continue;
        if (!asked && *f->word) tensor_lex_expect(&p->text, f->word);
        forms[f->form](p, has, f);
    }
}
