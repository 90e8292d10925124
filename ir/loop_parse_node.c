// Kernels' bodies of loop IR text, node by node.
#include "loop_parse.h"

#include <string.h>

// ---- Layouts ------------------------------------------------------------------------------------

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

// [digit, …, rest]: a digit has an extent, the rest has none.
static void read_digits(plan_parser *p, loop_node *n) {
    parser *t = &p->text;
    tensor_lex_expect(t, "[");
    for (;;) {
        span at = t->tok.at;
        loop_place place = read_place(p);
        if (t->tok.kind != TOK_INT) {
            n->rest = place;
            if (tensor_lex_accept(t, "unroll")) {
                loop_parse_number(p, &n->rounds.unroll);
                n->rounds.masked = tensor_lex_accept(t, "masked");
                n->rounds.within = tensor_lex_accept(t, "within");
            }
            if (tensor_lex_accept(t, "step")) loop_parse_number(p, &n->rounds.step);
            break;
        }
        read_digit(p, n, place, at);
        if (t->failed) return;
        tensor_lex_expect(t, ",");
    }
    tensor_lex_expect(t, "]");
    n->deal.steps = tensor_lex_accept(t, "dealt");
    if (!n->deal.steps || !tensor_lex_accept(t, "to")) return;
    tensor_lex_expect(t, "lane");
    n->deal.to = (loop_digit){.place = LOOP_LANE_PLACE, .unit = 1};
    loop_parse_number(p, &n->deal.to.extent);
    if (tensor_lex_accept(t, "unit")) loop_parse_number(p, &n->deal.to.unit);
    tensor_lex_expect(t, "of");
    n->deal.of = loop_parse_var(p);
}

// ---- Nodes --------------------------------------------------------------------------------------

static void read_stages(plan_parser *p, loop_node *n) {
    VEC(uint32_t) stages = {0};
    do {
        uint32_t s = loop_parse_stage(p);
        VEC_PUSH(p->text.arena, &stages, s);
    } while (tensor_lex_accept(&p->text, ","));
    n->nstages = stages.len;
    n->stages = stages.data;
}

static const tensor_expr *read_slots(plan_parser *p, uint32_t *n) {
    expr_list states = tensor_parse_tuple(&p->text);
    *n = states.len;
    return states.data;
}

static void read_maxima(plan_parser *p, loop_node *n) {
    parser *t = &p->text;
    VEC(loop_maximum) all = {0};
    if (!tensor_lex_accept(t, "online")) return;
    do {
        loop_maximum m = {.stage = loop_parse_stage(p)};
        m.behind = n->kind != LOOP_CONTRIBUTE && tensor_lex_accept(t, "behind");
        uint32_t slots = 0;
        span at = t->tok.at;
        const tensor_expr *slot = n->kind == LOOP_CONTRIBUTE ? read_slots(p, &slots) : NULL;
        if (slots > 1) tensor_parse_fail(t, E0972, at, "a maximum is one number");
        if (slots) m.slot = slot[0];
        VEC_PUSH(t->arena, &all, m);
    } while (!t->failed && tensor_lex_accept(t, ","));
    n->reduce.nmaxima = all.len;
    n->reduce.maxima = all.data;
}

static void read_states(plan_parser *p, loop_node *n) {
    if (tensor_lex_is(&p->text.tok, "(")) n->state.loads = read_slots(p, &n->state.n);
    if (n->kind == LOOP_CONTRIBUTE) read_maxima(p, n);
    if (n->kind == LOOP_CONTRIBUTE && tensor_lex_accept(&p->text, "where"))
        n->state.valid = tensor_parse_expr(&p->text);
}

// Of a whole space alone, whose size is rounded up.
static void read_pad(plan_parser *p, loop_node *n) {
    parser *t = &p->text;
    span at = t->tok.at;
    loop_parse_pad(p, &n->rounds.pad);
    if (t->failed) return;
    const tensor_node *hi = tensor_node_at(t->op, n->hi);
    tensor_space s = t->op->vars.data[n->var].space;
    if (hi->op != TENSOR_SIZE_OP || (tensor_space)hi->imm.i != s || n->rounds.pad == 1)
        tensor_parse_fail(t, E0972, at,
                          "padding, of 2 or more, is of a loop up to the size of its space");
    else n->hi = loop_padded(t->op, s, n->rounds.pad);
}

static void read_held(plan_parser *p, loop_node *n) {
    n->holding.loads = read_slots(p, &n->holding.n);
    tensor_lex_expect(&p->text, "lanes");
    loop_parse_number(p, &n->holding.lanes);
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
    f.panels = tensor_lex_accept(&p->text, "panels");
    if (!f.panels) {
        tensor_lex_expect(&p->text, "pitch");
        loop_parse_number(p, &f.pitch);
    }
    if (!f.panels && tensor_lex_accept(&p->text, "skew")) {
        loop_parse_number(p, &f.skew);
        tensor_lex_expect(&p->text, "every");
        loop_parse_number(p, &f.every);
    }
    f.index = index;
    f.nindex = n;
    return f;
}

static void read_fetched(plan_parser *p, loop_node *n) {
    VEC(loop_fetch) fetched = {0};
    loop_parse_number(p, &n->fetch.buffers);
    do {
        loop_fetch f = read_fetch(p);
        VEC_PUSH(p->text.arena, &fetched, f);
    } while (!p->text.failed && tensor_lex_accept(&p->text, ","));
    n->fetch.n = fetched.len;
    n->fetch.rows = fetched.data;
}

static void read_reread(plan_parser *p, loop_node *n) {
    VEC(tensor_val) reread = {0};
    do {
        tensor_val v = loop_parse_val(p);
        VEC_PUSH(p->text.arena, &reread, v);
    } while (!p->text.failed && tensor_lex_accept(&p->text, ","));
    n->fetch.nreread = reread.len;
    n->fetch.reread = reread.data;
}

static void read_for(plan_parser *p, loop_node *n) {
    tensor_lex_expect(&p->text, "in");
    n->lo = tensor_parse_expr(&p->text);
    tensor_lex_expect(&p->text, "..");
    n->hi = tensor_parse_expr(&p->text);
    if (tensor_lex_accept(&p->text, "pad")) read_pad(p, n);
    read_digits(p, n);
    if (tensor_lex_accept(&p->text, "fetch")) read_fetched(p, n);
    if (tensor_lex_accept(&p->text, "reread")) read_reread(p, n);
    if (tensor_lex_accept(&p->text, "hold")) read_held(p, n);
}

static void read_within(plan_parser *p, loop_node *n) {
    VEC(uint32_t) sizes = {0};
    do {
        uint32_t size = 0;
        loop_parse_number(p, &size);
        VEC_PUSH(p->text.arena, &sizes, size);
    } while (tensor_lex_accept(&p->text, ","));
    n->ranges.n = sizes.len;
    n->ranges.most = sizes.data;
    n->ranges.alone = tensor_lex_accept(&p->text, "alone");
    tensor_lex_expect(&p->text, "of");
    n->lo = tensor_parse_expr(&p->text);
    tensor_lex_expect(&p->text, "..");
    n->hi = tensor_parse_expr(&p->text);
}

static void read_carry(plan_parser *p, loop_node *n) {
    tensor_lex_expect(&p->text, "by");
    n->key = tensor_parse_expr(&p->text);
    if (tensor_lex_accept(&p->text, "combine")) return;
    tensor_lex_expect(&p->text, "first");
    n->state.loads = read_slots(p, &n->state.n);
    span at = p->text.tok.at;
    tensor_lex_expect(&p->text, "last");
    uint32_t nlast;
    n->state.last = read_slots(p, &nlast);
    if (nlast != n->state.n)
        tensor_parse_fail(&p->text, E0972, at, "'first' has %u parts, and 'last' has %u",
                          (unsigned)n->state.n, (unsigned)nlast);
}

// by SHAPE (rows, columns, depth) [accumulators COUNT], or without rows
static void read_matrix(plan_parser *p, loop_node *n) {
    parser *t = &p->text;
    if (!tensor_lex_accept(t, "by")) return;
    token name = tensor_lex_name(t, "a matrix operation");
    uint32_t kind = 0;
    while (kind < SIMT_MMA_COUNT && strcmp(simt_mma_table((simt_mma)kind)->text, name.text)) kind++;
    if (kind == SIMT_MMA_COUNT)
        tensor_parse_fail(t, E0972, name.at, "there is no matrix operation '%s'", name.text);
    loop_matrix *m = ARENA_NEW(t->arena, loop_matrix);
    m->kind = (simt_mma)kind;
    tensor_lex_expect(t, "(");
    m->rows = LOOP_NO_ROWS;
    m->columns = loop_parse_var(p);
    tensor_lex_expect(t, ",");
    m->depth = loop_parse_var(p);
    if (tensor_lex_accept(t, ",")) {
        m->rows = m->columns;
        m->columns = m->depth;
        m->depth = loop_parse_var(p);
    }
    tensor_lex_expect(t, ")");
    m->accumulators = 1;
    if (tensor_lex_accept(t, "accumulators")) loop_parse_number(p, &m->accumulators);
    n->reduce.matrix = m;
}

static void read_head(plan_parser *p, loop_node *n) {
    const loop_node_form *form = loop_node_table(n->kind);
    if (form->var) n->var = loop_parse_var(p);
    if (form->stages) read_stages(p, n);
    switch (n->kind) {
    case LOOP_FOR: read_for(p, n); break;
    case LOOP_LET:
        tensor_lex_expect(&p->text, "=");
        n->value = tensor_parse_expr(&p->text);
        break;
    case LOOP_GIVEN:
        n->key = tensor_parse_expr(&p->text);
        tensor_lex_expect(&p->text, "=");
        n->value = tensor_parse_expr(&p->text);
        break;
    case LOOP_IF: n->value = tensor_parse_expr(&p->text); break;
    case LOOP_CONTRIBUTE:
    case LOOP_STORE_STATE: read_states(p, n); break;
    case LOOP_CARRY: read_carry(p, n); break;
    case LOOP_WITHIN: read_within(p, n); break;
    case LOOP_REDUCE:
        read_matrix(p, n);
        read_maxima(p, n);
        break;
    case LOOP_PHASE:
    case LOOP_WITHOUT:
    case LOOP_LEVEL:
    case LOOP_AGAIN:
    case LOOP_STORE:
    case LOOP_CLEAR:
    case LOOP_COMBINE:
    case LOOP_NODE_COUNT: break;
    }
}

static void read_node(plan_parser *p, loop_body *out) {
    parser *t = &p->text;
    tensor_parse_lets(t);
    int kind = 0;
    while (kind < LOOP_NODE_COUNT &&
           !tensor_lex_is(&t->tok, loop_node_table((loop_node_kind)kind)->text))
        kind++;
    if (kind == LOOP_NODE_COUNT)
        tensor_parse_fail(t, E0971, t->tok.at, "expected for, let, given, if, phase, reduce, …");
    if (t->failed) return;
    loop_node *n = loop_node_new(p->plan, (loop_node_kind)kind, t->tok.at);
    tensor_lex_next(t);
    read_head(p, n);
    if (loop_node_table(n->kind)->body) loop_parse_body(p, &n->body);
    if (!t->failed) VEC_PUSH(t->arena, out, n);
}

void loop_parse_body(plan_parser *p, loop_body *out) {
    parser *t = &p->text;
    if (p->depth == LOOP_MAX_DEPTH)
        tensor_parse_fail(t, E0974, t->tok.at, "nodes stand at most %d deep", LOOP_MAX_DEPTH);
    p->depth++;
    tensor_lex_expect(t, "{");
    while (!t->failed && !tensor_lex_is(&t->tok, "}")) read_node(p, out);
    tensor_lex_expect(t, "}");
    p->depth--;
}
