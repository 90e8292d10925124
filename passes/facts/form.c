// Values as linear forms over numbered atoms (value numbering: Alpern, Wegman and Zadeck 1988).
// Exact modulo 2^64; what needs more (bounds, order) asks form_tame.
#include "facts/internal.h"

#include <string.h>

enum { LARGE_BITS = 40 };   // factors and constants stay below 2^40
static bool is_large(int64_t x) {
    return x >= INT64_C(1) << LARGE_BITS || x <= -(INT64_C(1) << LARGE_BITS);
}

// ---- Arithmetic ---------------------------------------------------------------------------------

form form_const(int64_t x) { return (form){.constant = x}; }

form form_atom(atom_id a) {
    form x = {.n = 1};
    x.terms[0].atom = a;
    x.terms[0].factor = 1;
    return x;
}

int64_t form_factor(const form *x, atom_id a) {
    for (uint32_t i = 0; i < x->n; i++)
        if (x->terms[i].atom == a) return x->terms[i].factor;
    return 0;
}

static bool add_term(form *x, atom_id a, int64_t factor) {
    uint32_t i = 0;
    while (i < x->n && x->terms[i].atom < a) i++;
    bool there = i < x->n && x->terms[i].atom == a;
    if (there) factor += x->terms[i].factor;
    if (is_large(factor)) return false;
    if (!there) {
        if (x->n == FORM_TERMS) return false;
        memmove(&x->terms[i + 1], &x->terms[i], (x->n++ - i) * sizeof x->terms[0]);
    }
    x->terms[i].atom = a;
    x->terms[i].factor = factor;
    if (factor == 0) memmove(&x->terms[i], &x->terms[i + 1], (--x->n - i) * sizeof x->terms[0]);
    return true;
}

bool form_add(form *x, int64_t factor, const form *y) {
    form old = *y;   // x may be y
    int64_t product;
    if (__builtin_mul_overflow(factor, old.constant, &product) || is_large(product)) return false;
    x->constant += product;
    if (is_large(x->constant)) return false;
    for (uint32_t i = 0; i < old.n; i++) {
        if (__builtin_mul_overflow(factor, old.terms[i].factor, &product) || is_large(product))
            return false;
        if (!add_term(x, old.terms[i].atom, product)) return false;
    }
    return true;
}

bool form_gap(const form *x, const form *y, int64_t *gap) {
    form d = *y;
    if (!form_add(&d, -1, x) || d.n) return false;
    *gap = d.constant;
    return true;
}

bool form_bare(const form *x, atom_id *a) {
    if (x->n != 1 || x->terms[0].factor != 1 || x->constant) return false;
    *a = x->terms[0].atom;
    return true;
}

bool form_equal(const form *x, const form *y) {
    if (x->constant != y->constant || x->n != y->n) return false;
    for (uint32_t i = 0; i < x->n; i++)
        if (x->terms[i].atom != y->terms[i].atom || x->terms[i].factor != y->terms[i].factor)
            return false;
    return true;
}

bool form_tame(const facts *f, const form *x) {
    for (uint32_t i = 0; i < x->n; i++)
        if (!f->atoms.data[x->terms[i].atom]->tame) return false;
    return true;
}

// ---- Atoms --------------------------------------------------------------------------------------

typedef struct named {
    atom_id atom;
    struct named *next;
} named;

static uint64_t mix(uint64_t h, uint64_t x) {
    return (h ^ x) * UINT64_C(0x9e3779b97f4a7c15) ^ (h >> 29);
}

static uint64_t atom_hash(const atom *x) {
    uint64_t h = mix(mix(x->op, (uint64_t)x->imm), (uint64_t)(uintptr_t)x->binder);
    for (uint32_t i = 0; i < x->nargs; i++) {
        h = mix(h, (uint64_t)x->args[i].constant);
        for (uint32_t k = 0; k < x->args[i].n; k++)
            h = mix(mix(h, x->args[i].terms[k].atom), (uint64_t)x->args[i].terms[k].factor);
    }
    return h ^ (h >> 32);
}

static bool atom_equal(const atom *x, const atom *y) {
    if (x->op != y->op || x->imm != y->imm || x->imm2 != y->imm2 || x->binder != y->binder)
        return false;
    if (x->nargs != y->nargs || !tensor_type_equal(x->type, y->type)) return false;
    for (uint32_t i = 0; i < x->nargs; i++)
        if (!form_equal(&x->args[i], &y->args[i])) return false;
    return true;
}

// Whether its values are small whatever the input: positions, sizes, entries of index arrays, and
// what keeps them small.
static bool is_tame(const facts *f, const atom *x) {
    bool index = x->type.type == DT_INDEX;
    if (!index && x->type.type != DT_I64) return false;
    switch (x->op) {
    case TENSOR_VAR_OP:
        return !x->binder || (form_tame(f, &x->binder->lo) && form_tame(f, &x->binder->hi));
    case TENSOR_SIZE_OP:
    case TENSOR_PREIMAGE_OP:
    case TENSOR_INDEX_OP: return true;
    case TENSOR_LOAD_OP: return index || prepared_of(f, (tensor_val)x->imm);
    case TENSOR_CVT_OP:
        return x->args[0].n == 1 && f->atoms.data[x->args[0].terms[0].atom]->type.type == DT_BOOL;
    case TENSOR_MUL_OP:
    case TENSOR_QUOT_OP:
    case TENSOR_MOD_OP:
    case TENSOR_MIN_OP:
    case TENSOR_MAX_OP: return form_tame(f, &x->args[0]) && form_tame(f, &x->args[1]);
    case TENSOR_SELECT_OP: return form_tame(f, &x->args[1]) && form_tame(f, &x->args[2]);
    default: return false;
    }
}

static atom_id number(facts *f, atom x) {
    named **chain = (named **)table_at(f->arena, &f->named, (table_key){atom_hash(&x), 0, 0});
    for (const named *n = *chain; n; n = n->next)
        if (atom_equal(f->atoms.data[n->atom], &x)) return n->atom;
    x.depth = x.binder ? x.binder->depth : 0;
    for (uint32_t i = 0; i < x.nargs; i++)
        for (uint32_t k = 0; k < x.args[i].n; k++) {
            uint32_t d = f->atoms.data[x.args[i].terms[k].atom]->depth;
            if (d > x.depth) x.depth = d;
        }
    x.tame = is_tame(f, &x);
    form *args = ARENA_ARRAY(f->arena, form, x.nargs);
    if (x.nargs) memcpy(args, x.args, x.nargs * sizeof *args);
    x.args = args;
    named *link = ARENA_NEW(f->arena, named);
    *link = (named){f->atoms.len, *chain};
    *chain = link;
    atom *kept = ARENA_NEW(f->arena, atom);
    *kept = x;
    VEC_PUSH(f->arena, &f->atoms, kept);
    return link->atom;
}

bool atom_find(const facts *f, tensor_opcode op, int64_t imm, int64_t imm2, atom_id *a) {
    for (*a = 0; *a < f->atoms.len; ++*a) {
        const atom *x = f->atoms.data[*a];
        if (x->op == op && x->imm == imm && x->imm2 == imm2) return true;
    }
    return false;
}

// ---- Expressions --------------------------------------------------------------------------------

const form unsaid_size = {.constant = -1};

form size_form(facts *f, tensor_space s) {
    const tensor_space_info *info = &f->op->spaces.data[s];
    if (info->kind == SPACE_CONST && !is_large(info->size)) return form_const(info->size);
    if (info->kind == SPACE_EXPR) return *form_of(f, f->root, info->expr);
    form itself = form_atom(
        number(f, (atom){.op = TENSOR_SIZE_OP, .type = TENSOR_TYPE(I64), .imm = s}));
    form is = f->size_is[s], x = form_const(is.constant);
    if (form_equal(&is, &unsaid_size)) return itself;
    for (uint32_t i = 0; i < is.n; i++) {
        form part = size_form(f, (tensor_space)f->atoms.data[is.terms[i].atom]->imm);
        if (!form_add(&x, is.terms[i].factor, &part)) return itself;
    }
    return x;
}

// What binds a variable: a FOR or LET around, or NULL for the step of a recurrence, which each
// launch is given.
static const scope *binder_of(const facts *f, const scope *s, tensor_var v) {
    for (; s->node; s = s->outer)
        if (s->node->kind != LOOP_IF && s->node->var == v) return s;
    for (uint32_t i = 0; i < f->op->loops.len; i++)
        if (f->op->loops.data[i].step == v) return NULL;
    ICE("nothing binds variable '%s' there", f->op->vars.data[v].name);
}

static form var_form(facts *f, const scope *s, const tensor_node *n) {
    const scope *binder = binder_of(f, s, (tensor_var)n->imm.i);
    if (binder && binder->node->kind == LOOP_LET) return binder->value;
    return form_atom(
        number(f, (atom){.op = n->op, .type = n->type, .imm = n->imm.i, .binder = binder}));
}

static bool linear(facts *f, const scope *s, const tensor_node *n, form *x) {
    const form *l = n->nargs > 0 ? form_of(f, s, n->args[0]) : NULL;
    const form *r = n->nargs > 1 ? form_of(f, s, n->args[1]) : NULL;
    switch (n->op) {
    case TENSOR_CONST_OP:
        *x = form_const(n->imm.i);
        return n->type.type == DT_I64 && !is_large(n->imm.i);
    case TENSOR_NONE_OP: *x = form_const(-1); return true;
    case TENSOR_SIZE_OP: *x = size_form(f, (tensor_space)n->imm.i); return true;
    case TENSOR_INDEX_OP: *x = *l; return form_tame(f, l);   // else its space is all that is known
    case TENSOR_STOP_OP: *x = *l; return true;
    case TENSOR_CVT_OP:
        *x = *l;
        return n->type.type == DT_I64 && tensor_typeof(f->op, n->args[0]).type == DT_INDEX;
    default: break;
    }
    if (n->type.type != DT_I64) return false;
    *x = form_const(0);
    switch (n->op) {
    case TENSOR_ADD_OP: return form_add(x, 1, l) && form_add(x, 1, r);
    case TENSOR_SUB_OP: return form_add(x, 1, l) && form_add(x, -1, r);
    case TENSOR_NEG_OP: return form_add(x, -1, l);
    case TENSOR_MUL_OP:
        return (r->n == 0 && form_add(x, r->constant, l)) ||
               (l->n == 0 && form_add(x, l->constant, r));
    default: return false;
    }
}

static form load_form(facts *f, const atom *x);

// A composition is its maps one after the other, where the inner ones are never none: there is
// nothing at none.
static bool compose_expand(facts *f, const atom *load, form *at) {
    const loop_prepared *p = prepared_of(f, (tensor_val)load->imm);
    if (!p || p->builder != PREPARED_COMPOSE) return false;
    for (uint32_t i = 0; i + 1 < p->nargs; i++)
        if (!val_total(f, p->args[i])) return false;
    *at = load->args[0];
    for (uint32_t i = 0; i < p->nargs; i++) {
        form index = *at;
        tensor_type type = {DT_INDEX, f->op->vals.data[p->args[i]].into};
        *at = load_form(
            f,
            &(atom){
                .op = TENSOR_LOAD_OP, .type = type, .imm = p->args[i], .nargs = 1, .args = &index});
    }
    return true;
}

// A key read at the position of the walk by it is what is walked: dst[p] is v for p in
// offsets.dst[v] .. offsets.dst[v + 1].
static form load_form(facts *f, const atom *x) {
    form whole;
    if (compose_expand(f, x, &whole)) return whole;
    atom_id a = number(f, *x);
    const scope *loop;
    walk w;
    int64_t gap;
    bool one = key_of_walk(f, a, &loop, &w) && w.array->builder == PREPARED_OFFSETS &&
               form_gap(&w.first, &w.end, &gap) && gap == 1;
    return one ? w.first : form_atom(a);
}

static form opaque(facts *f, const scope *s, const tensor_node *n) {
    form *args = ARENA_ARRAY(f->arena, form, n->nargs);
    for (uint32_t i = 0; i < n->nargs; i++) args[i] = *form_of(f, s, n->args[i]);
    atom x = {.op = n->op,
              .type = n->type,
              .imm = n->imm.i,
              .imm2 = n->imm2,
              .nargs = n->nargs,
              .args = args};
    return n->op == TENSOR_LOAD_OP ? load_form(f, &x) : form_atom(number(f, x));
}

const form *form_of(facts *f, const scope *s, tensor_expr e) {
    while (s->node && s->node->kind == LOOP_IF) s = s->outer;   // an IF names nothing
    form **slot = (form **)table_at(f->arena, &f->forms, (table_key){(uint64_t)(uintptr_t)s, e, 0});
    if (*slot) return *slot;
    tensor_node n = *tensor_node_at(f->op, e);
    form x = {0};
    if (n.op == TENSOR_VAR_OP) x = var_form(f, s, &n);
    else if (!linear(f, s, &n, &x)) x = opaque(f, s, &n);
    form *made = ARENA_NEW(f->arena, form);
    *made = x;
    // The table may have grown meanwhile.
    *table_at(f->arena, &f->forms, (table_key){(uint64_t)(uintptr_t)s, e, 0}) = made;
    return made;
}
