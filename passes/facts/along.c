// How values move along one digit of a loop, and what divides them.
#include "facts/internal.h"

#include <stdlib.h>

static const facts_motion still = {.uniform = true, .affine = true, .sorted = true};

static facts_motion moving(int64_t step) {
    if (step == 0) return still;
    return (facts_motion){.affine = true, .sorted = step > 0, .distinct = true, .step = step};
}

// ---- Divisors -----------------------------------------------------------------------------------

int64_t greatest_divisor(int64_t x, int64_t y) {
    x = llabs(x), y = llabs(y);
    while (y) {
        int64_t r = x % y;
        x = y, y = r;
    }
    return x;
}

static int64_t least_multiple(int64_t x, int64_t y) {
    int64_t product;
    if (x == 0 || y == 0) return 0;
    return __builtin_mul_overflow(x / greatest_divisor(x, y), y, &product) ? x : product;
}

static int64_t product_of(int64_t x, int64_t y) {
    int64_t product;
    return __builtin_mul_overflow(x, y, &product) ? 1 : product;
}

// What conditions say of just that value.
static int64_t declared(const scope *s, const form *x, int64_t known) {
    for (; s; s = s->outer)
        for (uint32_t i = 0; i < s->divides.len; i++)
            if (form_equal(&s->divides.data[i].of, x))
                known = least_multiple(known, s->divides.data[i].by);
    return known;
}

static int64_t atom_multiple_anew(facts *f, const scope *s, atom_id a) {
    atom n = *f->atoms.data[a];
    form x = form_atom(a);
    int64_t known = 1;
    bool constant = n.nargs == 2 && n.args[1].n == 0;
    if (!n.tame) return 1;
    if (n.op == TENSOR_MUL_OP)
        known = product_of(form_multiple(f, s, &n.args[0]), form_multiple(f, s, &n.args[1]));
    else if (n.op == TENSOR_MIN_OP || n.op == TENSOR_MAX_OP || (n.op == TENSOR_MOD_OP && constant))
        known = greatest_divisor(form_multiple(f, s, &n.args[0]), form_multiple(f, s, &n.args[1]));
    else if (n.op == TENSOR_SELECT_OP)
        known = greatest_divisor(form_multiple(f, s, &n.args[1]), form_multiple(f, s, &n.args[2]));
    return declared(s, &x, known);
}

static int64_t atom_multiple(facts *f, const scope *s, atom_id a) {
    table_key key = {(uint64_t)(uintptr_t)s, a, 0};
    int64_t **slot = (int64_t **)table_at(f->arena, &f->multiples, key);
    if (*slot) return **slot;
    int64_t *known = ARENA_NEW(f->arena, int64_t);
    *known = atom_multiple_anew(f, s, a);
    *table_at(f->arena, &f->multiples, key) = known;
    return *known;
}

// What may wrap keeps only factors of two.
static int64_t without_wrapping(const facts *f, const form *x, int64_t known) {
    return form_tame(f, x) ? known : known & -known;
}

int64_t form_multiple(facts *f, const scope *s, const form *x) {
    int64_t g = x->constant;
    for (uint32_t i = 0; i < x->n; i++)
        g = greatest_divisor(g,
                             product_of(x->terms[i].factor, atom_multiple(f, s, x->terms[i].atom)));
    return declared(s, x, without_wrapping(f, x, llabs(g)));
}

static int64_t stride_of(const loop_node *loop, uint32_t digit) {
    int64_t stride = 1;
    for (uint32_t i = 0; digit != FACTS_POSITION && i < digit && i < loop->ndigits; i++)
        stride *= loop->digits[i].extent;
    return stride;
}

int64_t form_base_multiple(facts *f, const scope *s, const form *x, const scope *loop,
                           uint32_t digit) {
    int64_t g = x->constant;
    for (uint32_t i = 0; i < x->n; i++) {
        atom n = *f->atoms.data[x->terms[i].atom];
        int64_t m;
        if (n.op == TENSOR_VAR_OP && n.binder == loop)
            m = greatest_divisor(form_multiple(f, s, &loop->lo),
                                 digit < loop->node->ndigits ? stride_of(loop->node, digit + 1)
                                                             : 0);
        else m = atom_multiple(f, s, x->terms[i].atom);
        g = greatest_divisor(g, product_of(x->terms[i].factor, m));
    }
    g = without_wrapping(f, x, llabs(g));
    return least_multiple(g, form_multiple(f, s, x));
}

// ---- Motion -------------------------------------------------------------------------------------

typedef struct {
    facts *f;
    const scope *loop;
    uint32_t digit;
} question;

static facts_motion along_form(const question *q, const form *x);

// Something confined to first .. end - 1: where these intervals do not meet, it is distinct and
// ordered as they are.
static void confine(const question *q, const walk *w, facts_motion *m) {
    int64_t width;
    if (!form_gap(&w->first, &w->end, &width)) return;
    facts_motion first = along_form(q, &w->first);
    bool apart = first.affine ? llabs(first.step) >= width : first.distinct && width <= 1;
    if (!apart || first.uniform) return;
    m->distinct = true;
    m->sorted |= first.sorted;
}

static facts_motion along_var(const question *q, const scope *loop) {
    walk w;
    if (loop == q->loop) return moving(stride_of(loop->node, q->digit));
    facts_motion m = along_form(q, &loop->lo);
    if (!m.affine && walk_of(q->f, loop, &w)) confine(q, &w, &m);
    return m;
}

static facts_motion along_load(const question *q, atom_id a) {
    facts_motion m = {0};
    const scope *loop;
    walk w;
    form position;
    tensor_val v;
    if (key_of_walk(q->f, a, &loop, &w)) {
        int64_t gap;
        bool tile = w.array->builder == PREPARED_TILES && form_gap(&w.first, &w.end, &gap) &&
                    gap == 1;
        if (loop == q->loop && tile) return still;
        if (loop == q->loop) m.sorted = true;
        else if (w.array->builder == PREPARED_OFFSETS) confine(q, &w, &m);
    }
    if ((sorted_within(q->f, a, &loop) || order_within(q->f, a, &loop)) && loop == q->loop)
        m.sorted = true;
    if (key_in_order(q->f, a, &position) && along_form(q, &position).sorted) m.sorted = true;
    if (!val_is_load(q->f, a, &v)) return m;
    facts_motion at = along_form(q, &q->f->atoms.data[a]->args[0]);
    m.sorted |= at.sorted && val_sorted(q->f, v);
    m.distinct |= at.distinct && val_distinct(q->f, v);
    return m;
}

// Division by a constant. Where the digit only moves below a multiple of it, the quotient stays and
// the remainder moves with it; where it steps by multiples, the quotient moves and the remainder
// stays.
static facts_motion along_division(const question *q, const atom *n) {
    const form *x = &n->args[0];
    int64_t by = n->args[1].constant;
    bool quotient = n->op == TENSOR_QUOT_OP;
    facts_motion m = along_form(q, x), out = {.sorted = quotient && m.sorted};
    if (n->args[1].n || by <= 0 || !form_tame(q->f, x)) return (facts_motion){0};
    if (m.affine && m.step % by == 0) return quotient ? moving(m.step / by) : still;
    if (!m.affine || q->digit >= q->loop->node->ndigits) return out;
    int64_t factor = 0;
    for (uint32_t i = 0; i < x->n; i++) {
        const atom *t = q->f->atoms.data[x->terms[i].atom];
        if (t->op == TENSOR_VAR_OP && t->binder == q->loop) factor = x->terms[i].factor;
    }
    if (factor <= 0 || m.step != factor * stride_of(q->loop->node, q->digit)) return out;
    int64_t base = form_base_multiple(q->f, q->f->root, x, q->loop, q->digit);
    int64_t reach = factor * (stride_of(q->loop->node, q->digit + 1) - 1);
    if (greatest_divisor(base, by) <= reach) return out;
    return quotient ? still : m;
}

static facts_motion along_choice(const question *q, const atom *n) {
    facts_motion x = along_form(q, &n->args[0]), y = along_form(q, &n->args[1]);
    return (facts_motion){.sorted = x.sorted && y.sorted,
                          .distinct = x.sorted && y.sorted && x.distinct && y.distinct};
}

static facts_motion along_atom_anew(const question *q, atom_id a) {
    const atom n = *q->f->atoms.data[a];
    if (n.depth < q->loop->depth) return still;
    if (n.op == TENSOR_VAR_OP) return along_var(q, n.binder);
    bool uniform = true;
    for (uint32_t i = 0; uniform && i < n.nargs; i++) uniform = along_form(q, &n.args[i]).uniform;
    if (uniform) return still;
    switch (n.op) {
    case TENSOR_LOAD_OP: return along_load(q, a);
    case TENSOR_QUOT_OP:
    case TENSOR_MOD_OP: return along_division(q, &n);
    case TENSOR_MIN_OP:
    case TENSOR_MAX_OP: return n.tame ? along_choice(q, &n) : (facts_motion){0};
    default: return (facts_motion){0};
    }
}

static facts_motion along_atom(const question *q, atom_id a) {
    table_key key = {(uint64_t)(uintptr_t)q->loop, a, q->digit};
    facts_motion **slot = (facts_motion **)table_at(q->f->arena, &q->f->motions, key);
    if (*slot) return **slot;
    facts_motion *m = ARENA_NEW(q->f->arena, facts_motion);
    *m = along_atom_anew(q, a);
    *table_at(q->f->arena, &q->f->motions, key) = m;
    return *m;
}

static facts_motion along_form(const question *q, const form *x) {
    facts_motion sum = still;
    bool strict = false, tame = form_tame(q->f, x);
    uint32_t moved = 0;
    atom_id bare;
    for (uint32_t i = 0; i < x->n; i++) {
        int64_t factor = x->terms[i].factor;
        facts_motion m = along_atom(q, x->terms[i].atom);
        m.affine = m.affine && !__builtin_mul_overflow(m.step, factor, &m.step);
        if (!m.uniform) moved++, sum.distinct = m.distinct;
        sum.uniform &= m.uniform;
        sum.affine = sum.affine && m.affine && !__builtin_add_overflow(sum.step, m.step, &sum.step);
        sum.sorted &= m.uniform || (m.affine ? m.step > 0 : m.sorted && factor > 0);
        strict |= !m.uniform && m.distinct;
    }
    if (!tame && !form_bare(x, &bare)) sum.sorted = sum.uniform;
    if (sum.affine) {
        bool sorted = sum.step >= 0 && (tame || sum.step == 0);
        sum = moving(sum.step);
        sum.sorted = sorted;
        return sum;
    }
    sum.step = 0;
    sum.distinct = (tame || form_bare(x, &bare)) &&
                   ((moved == 1 && sum.distinct) || (sum.sorted && strict));
    return sum;
}

facts_motion form_along(facts *f, const form *x, const scope *loop, uint32_t digit) {
    question q = {f, loop, digit};
    return along_form(&q, x);
}
