// Bounds by elimination: the atom that varies innermost is replaced by what it is never below or
// above, until sizes are left (Fourier and Motzkin's step, Dantzig and Eaves 1973, along a bounded
// search). Every candidate is a form that is 0 or more: x >= x - factor × candidate.
//
//     p - offsets[v]  with  offsets[v + 1] - 1 - p >= 0  and  offsets[v] + max(dst) - offsets[v + 1] >= 0
//     is at most  max(dst) - 1
#include "facts/internal.h"

#include <stdlib.h>

enum { MAX_CANDIDATES = 48, MAX_STEPS = 12, BUDGET = 400 };
typedef struct {
    facts *f;
    const scope *at;
    bool numeric;      // sizes go too
    uint32_t budget;   // eliminations left: bounds the search, whatever the plan
} search;

typedef struct {
    atom_id atom;
    uint32_t n;
    form least[MAX_CANDIDATES];
} candidates;

static bool eliminate(search *s, const form *x, uint32_t steps, form *out);

static void candidate(candidates *c, const form *x) {
    if (c->n < MAX_CANDIDATES && form_factor(x, c->atom)) c->least[c->n++] = *x;
}

// factor × the atom + sign × (y + constant) is 0 or more.
static void relate(candidates *c, int64_t factor, int64_t sign, const form *y, int64_t constant) {
    form x = form_atom(c->atom), k = form_const(constant);
    if (form_add(&x, factor - 1, &(form){.n = 1, .terms = {{c->atom, 1}}}) &&
        form_add(&x, sign, y) && form_add(&x, sign, &k))
        candidate(c, &x);
}
static void at_least(candidates *c, const form *y, int64_t constant) {
    relate(c, 1, -1, y, constant);
}
static void at_most(candidates *c, const form *y, int64_t constant) {
    relate(c, -1, 1, y, constant);
}
static void not_negative(candidates *c) { at_least(c, &(form){0}, 0); }

// ---- What atoms are by themselves ---------------------------------------------------------------

static void of_space(search *s, candidates *c, tensor_space space, bool none) {
    form size = size_form(s->f, space);
    at_least(c, &(form){0}, none ? -1 : 0);
    at_most(c, &size, -1);
}

static void of_loop(candidates *c, const scope *loop) {
    at_least(c, &loop->lo, 0);
    at_most(c, &loop->hi, -1);
    if (loop->node->rest == LOOP_WHOLE_PLACE)
        at_most(c, &loop->lo, (int64_t)loop_digits_product(loop->node) - 1);
}

// offsets[j] - offsets[i] is 0 or more, and at most (j - i) × the largest preimage, for every other
// entry in x.
static void of_offsets(search *s, candidates *c, const loop_prepared *p, const form *x) {
    const atom *self = s->f->atoms.data[c->atom];
    int64_t gap, map = (int64_t)p->args[0];
    for (uint32_t i = 0; i < x->n; i++) {
        const atom *other = s->f->atoms.data[x->terms[i].atom];
        bool same = other != self && other->op == TENSOR_LOAD_OP && other->imm == self->imm &&
                    other->nargs == 1;
        if (!same || !form_gap(&other->args[0], &self->args[0], &gap)) continue;
        form entry = form_atom(x->terms[i].atom), reach = entry;
        if (gap >= 0) at_least(c, &entry, 0);
        else at_most(c, &entry, 0);
        atom_id most, fewest;
        if (p->builder != PREPARED_OFFSETS) continue;
        if (atom_find(s->f, TENSOR_PREIMAGE_OP, map, 0, &most)) {
            form k = form_atom(most);
            if (form_add(&reach, gap, &k))
                relate(c, gap >= 0 ? -1 : 1, gap >= 0 ? 1 : -1, &reach, 0);
        }
        reach = entry;
        if (atom_find(s->f, TENSOR_PREIMAGE_OP, map, 1, &fewest)) {
            form k = form_atom(fewest);
            if (form_add(&reach, gap, &k))
                relate(c, gap >= 0 ? 1 : -1, gap >= 0 ? -1 : 1, &reach, 0);
        }
    }
}

static tensor_space domain_of(const facts *f, tensor_val map) {
    return f->op->vals.data[map].axes[0];
}

static void of_prepared(search *s, candidates *c, const loop_prepared *p, const form *x) {
    tensor_val m = p->args[0];
    form points = size_form(s->f, domain_of(s->f, m));
    switch (p->builder) {
    case PREPARED_OFFSETS:
    case PREPARED_TILES: of_offsets(s, c, p, x); break;
    case PREPARED_DEGREES:
    case PREPARED_DEGREES_FROM: {
        atom_id most;
        if (atom_find(s->f, TENSOR_PREIMAGE_OP, (int64_t)m, 0, &most))
            at_most(c, &(form){.n = 1, .terms = {{most, 1}}}, 0);
        break;
    }
    case PREPARED_ORDER:
    case PREPARED_ORDER_DESC:
        not_negative(c);
        at_most(c, &points, -1);
        return;
    case PREPARED_WINDOW_BEGINS:
    case PREPARED_PART_HEADS:
    case PREPARED_TILE_BEGINS: points = size_form(s->f, s->f->op->vals.data[p->val].into); break;
    case PREPARED_WINDOW_STARTS:
    case PREPARED_ROW_BEGINS:
    case PREPARED_ROW_ENDS:
    case PREPARED_PART_BEGINS:
    case PREPARED_PART_ENDS: break;
    case PREPARED_WINDOW_ENTRIES: at_most(c, &points, -1); return;   // or none
    case PREPARED_WINDOW_COLUMNS:
    case PREPARED_PART_ROWS:
    case PREPARED_TILE_VALUES:
        points = size_form(s->f, s->f->op->vals.data[m].into);
        not_negative(c);
        at_most(c, &points, -1);
        return;
    case PREPARED_COMPOSE:
    case PREPARED_COLUMN:
    case PREPARED_CLASSES:
    case PREPARED_WINDOW_PLACES:
    case PREPARED_WINDOW_SLOTS:
    case PREPARED_WINDOW_MASKS:
    case PREPARED_BUILDER_COUNT: return;   // by their type
    }
    not_negative(c);
    at_most(c, &points, 0);
}

static void of_load(search *s, candidates *c, const form *x) {
    const atom *self = s->f->atoms.data[c->atom];
    tensor_val v = (tensor_val)self->imm;
    const loop_prepared *p = prepared_of(s->f, v);
    const scope *loop;
    walk w;
    if (key_of_walk(s->f, c->atom, &loop, &w) && w.array->builder == PREPARED_OFFSETS) {
        at_least(c, &w.first, 0);
        at_most(c, &w.end, -1);
    }
    if (p) of_prepared(s, c, p, x);
    bool offsets = p && !prepared_entries(p->builder) && p->builder != PREPARED_CLASSES;
    if (self->type.type == DT_INDEX && !offsets)
        of_space(s, c, self->type.space, !val_total(s->f, v));
}

// ---- Arithmetic that is not linear --------------------------------------------------------------

static bool nonnegative(search *s, const form *x) {
    search inner = {s->f, s->at, true, s->budget / 4};
    form least;
    bool proved = eliminate(&inner, x, MAX_STEPS / 2, &least) && least.constant >= 0;
    s->budget -= s->budget / 4 - inner.budget;
    return proved;
}

static bool positive(search *s, const form *x) {
    form y = *x, one = form_const(-1);
    return form_add(&y, 1, &one) && nonnegative(s, &y);
}

static void of_quotient(search *s, candidates *c, const form *x, const form *by) {
    if (by->n == 0 && by->constant > 0) {   // by × quot(x, by) in x - by + 1 .. x
        relate(c, -by->constant, 1, x, 0);
        relate(c, by->constant, -1, x, 1 - by->constant);
    }
    if (!nonnegative(s, x) || !nonnegative(s, by)) return;
    not_negative(c);
    at_most(c, x, 0);
}

static void of_remainder(search *s, candidates *c, const form *x, const form *by) {
    if (!nonnegative(s, by)) return;
    not_negative(c);
    if (positive(s, by)) at_most(c, by, -1);
    if (nonnegative(s, x)) at_most(c, x, 0);
}

static void of_product(search *s, candidates *c, const form *x, const form *y) {
    if (nonnegative(s, x) && nonnegative(s, y)) not_negative(c);
}

static void of_itself(search *s, candidates *c, const form *x) {
    const atom *a = s->f->atoms.data[c->atom];
    switch (a->op) {
    case TENSOR_VAR_OP:
        if (a->binder) of_loop(c, a->binder);
        else of_space(s, c, a->type.space, false);
        break;
    case TENSOR_LOAD_OP: of_load(s, c, x); break;
    case TENSOR_SIZE_OP: not_negative(c); break;
    case TENSOR_PREIMAGE_OP: {
        form points = size_form(s->f, domain_of(s->f, (tensor_val)a->imm));
        not_negative(c);
        at_most(c, &points, 0);
        break;
    }
    case TENSOR_QUOT_OP: of_quotient(s, c, &a->args[0], &a->args[1]); break;
    case TENSOR_MOD_OP: of_remainder(s, c, &a->args[0], &a->args[1]); break;
    case TENSOR_MUL_OP: of_product(s, c, &a->args[0], &a->args[1]); break;
    case TENSOR_CVT_OP:
        if (a->tame) not_negative(c), at_most(c, &(form){0}, 1);
        break;
    case TENSOR_MIN_OP:
    case TENSOR_MAX_OP: {
        int64_t sign = a->op == TENSOR_MIN_OP ? 1 : -1;
        for (uint32_t i = 0; i < 2; i++) relate(c, -sign, sign, &a->args[i], 0);
        break;
    }
    case TENSOR_INDEX_OP: of_space(s, c, a->type.space, true); break;
    default: break;
    }
}

// ---- Elimination --------------------------------------------------------------------------------

// The innermost atom, so that what it is bounded by comes later; loads before positions, which
// bound keys.
static bool choose(const search *s, const form *x, atom_id *chosen) {
    int64_t best = -1;
    for (uint32_t i = 0; i < x->n; i++) {
        const atom *a = s->f->atoms.data[x->terms[i].atom];
        bool size = a->op == TENSOR_SIZE_OP;
        if (size && !s->numeric) continue;
        int64_t rank = size ? 0 : 1 + 2 * (int64_t)a->depth + (a->op != TENSOR_VAR_OP);
        if (rank > best) best = rank, *chosen = x->terms[i].atom;
    }
    return best >= 0;
}

// Whether bound x is surely the tighter: it is above y whatever the sizes.
static bool is_above(const form *x, const form *y) {
    form d = *x;
    if (!form_add(&d, -1, y)) return false;
    for (uint32_t i = 0; i < d.n; i++)
        if (d.terms[i].factor < 0) return false;
    return d.constant >= 0;
}

static int64_t ceiling(int64_t x, int64_t by) { return x / by + (x % by > 0); }

// x := x / by, rounded up; where a factor does not divide, there is no such form.
static bool divide_up(form *x, int64_t by) {
    for (uint32_t i = 0; i < x->n; i++) {
        if (x->terms[i].factor % by) return false;
        x->terms[i].factor /= by;
    }
    x->constant = ceiling(x->constant, by);
    return true;
}

// x bounded with one candidate in place of the atom; both are scaled where factors do not divide.
static bool apply(search *s, const form *x, atom_id a, const form *least, uint32_t steps,
                  form *out) {
    int64_t factor = form_factor(x, a), by = form_factor(least, a);
    if ((factor < 0) != (by < 0)) return false;
    int64_t g = greatest_divisor(factor, by), scale = llabs(by) / g;
    form y = {0};
    if (!form_add(&y, scale, x) || !form_add(&y, -(llabs(factor) / g), least)) return false;
    return eliminate(s, &y, steps - 1, out) && divide_up(out, scale);
}

// min, max and select are one of their arguments: the lower of the two bounds.
static bool either(search *s, const form *x, atom_id a, uint32_t steps, form *out) {
    const atom *n = s->f->atoms.data[a];
    const form *arg = n->args + (n->op == TENSOR_SELECT_OP ? 1 : 0);
    int64_t factor = form_factor(x, a);
    form self = form_atom(a), bound[2];
    for (uint32_t i = 0; i < 2; i++) {
        form y = *x;
        if (!form_add(&y, -factor, &self) || !form_add(&y, factor, &arg[i])) return false;
        if (!eliminate(s, &y, steps - 1, &bound[i])) return false;
    }
    bool first = is_above(&bound[1], &bound[0]);
    *out = bound[first ? 0 : 1];
    return first || is_above(&bound[0], &bound[1]);
}

static void collect(search *s, candidates *c, const form *x) {
    for (const scope *o = s->at; o; o = o->outer)
        for (uint32_t i = 0; i < o->least.len; i++) candidate(c, &o->least.data[i]);
    of_itself(s, c, x);
}

static bool eliminate(search *s, const form *x, uint32_t steps, form *out) {
    candidates c = {.n = 0};
    if (!choose(s, x, &c.atom)) return *out = *x, true;
    if (steps == 0 || s->budget == 0) return false;
    s->budget--;
    collect(s, &c, x);
    const uint16_t op = s->f->atoms.data[c.atom]->op;
    bool found = (op == TENSOR_MIN_OP || op == TENSOR_MAX_OP || op == TENSOR_SELECT_OP) &&
                 either(s, x, c.atom, steps, out);
    for (uint32_t i = 0; i < c.n; i++) {
        form bound;
        if (!apply(s, x, c.atom, &c.least[i], steps, &bound)) continue;
        if (!found || (is_above(&bound, out) && !form_equal(&bound, out))) *out = bound;
        found = true;
    }
    return found;
}

bool form_least(facts *f, const scope *at, const form *x, bool numeric, form *out) {
    atom_id bare;
    if (!form_tame(f, x) && !form_bare(x, &bare)) return false;   // it may have wrapped
    search s = {f, at, numeric, BUDGET};
    return eliminate(&s, x, MAX_STEPS, out);
}

bool form_nonnegative(facts *f, const scope *at, const form *x) {
    form least;
    return form_least(f, at, x, true, &least) && least.constant >= 0;
}
