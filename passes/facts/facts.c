// Facts: what each node of a plan stands in, and the questions.
#include "facts/internal.h"

#include <string.h>

// ---- Tables -------------------------------------------------------------------------------------

static uint64_t key_hash(table_key k) {
    uint64_t h = (k.a ^ (k.b << 32) ^ k.c) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ (h >> 29);
}

static uint32_t slot_of(const table *t, table_key k) {
    uint32_t i = (uint32_t)key_hash(k) & (t->nslots - 1);
    while (t->slots[i].value && memcmp(&t->slots[i].key, &k, sizeof k))
        i = (i + 1) & (t->nslots - 1);
    return i;
}

// Where the value of the key is, or is to be put at once; the place moves at the next call.
void **table_at(arena *a, table *t, table_key key) {
    if (t->used * 2 >= t->nslots) {
        table old = *t;
        t->nslots = old.nslots ? old.nslots * 2 : 64;
        t->slots = arena_alloc(a, sizeof *t->slots * t->nslots);
        t->used = 0;
        for (uint32_t i = 0; i < old.nslots; i++)
            if (old.slots[i].value)
                t->slots[slot_of(t, old.slots[i].key)] = old.slots[i], t->used++;
    }
    uint32_t i = slot_of(t, key);
    // counts what is asked for: never too few
    if (!t->slots[i].value) t->slots[i].key = key, t->used++;
    return &t->slots[i].value;
}

// ---- Conditions ---------------------------------------------------------------------------------

static void hold(facts *f, scope *s, const form *x) { VEC_PUSH(f->arena, &s->least, *x); }

static void hold_difference(facts *f, scope *s, const form *x, const form *y, int64_t constant) {
    form d = *x, k = form_const(constant);
    if (form_add(&d, -1, y) && form_add(&d, 1, &k)) hold(f, s, &d);
}

// x and y are unequal: where one is never above the other it is below.
static void hold_unequal(facts *f, scope *s, const form *x, const form *y) {
    form d = *x, e = *y;
    if (!form_add(&d, -1, y) || !form_add(&e, -1, x)) return;
    if (form_nonnegative(f, s, &d)) hold_difference(f, s, x, y, -1);
    else if (form_nonnegative(f, s, &e)) hold_difference(f, s, y, x, -1);
}

static bool is_exact(const facts *f, const form *x) {
    atom_id bare;
    return form_tame(f, x) || form_bare(x, &bare);
}

// mod(x, constant) == 0
static void hold_divides(facts *f, scope *s, const form *x, const form *zero) {
    atom_id a;
    if (zero->n || zero->constant || !form_bare(x, &a)) return;
    atom n = *f->atoms.data[a];
    if (n.op != TENSOR_MOD_OP || n.args[1].n || n.args[1].constant <= 0) return;
    divisibility d = {n.args[0], n.args[1].constant};
    VEC_PUSH(f->arena, &s->divides, d);
}

// A precondition that two sizes are equal, or one is a number: from here on the later one is the
// other.
static void same_size(facts *f, const form *x, const form *y) {
    form d = *x, is = {0};
    uint32_t found = FORM_TERMS;
    if (!form_add(&d, -1, y)) return;
    for (uint32_t i = 0; i < d.n; i++) {
        const atom *a = f->atoms.data[d.terms[i].atom];
        if (a->op != TENSOR_SIZE_OP) return;
        bool later = found == FORM_TERMS || a->imm > f->atoms.data[d.terms[found].atom]->imm;
        if (later && (d.terms[i].factor == 1 || d.terms[i].factor == -1)) found = i;
    }
    if (found == FORM_TERMS) return;
    atom_id a = d.terms[found].atom;
    int64_t sign = -d.terms[found].factor;
    form self = form_atom(a);
    if (form_add(&d, sign, &self) && form_add(&is, sign, &d))
        f->size_is[f->atoms.data[a]->imm] = is;
}

static uint16_t negated(uint16_t op) {
    switch (op) {
    case TENSOR_EQ_OP: return TENSOR_NE_OP;
    case TENSOR_NE_OP: return TENSOR_EQ_OP;
    case TENSOR_LT_OP: return TENSOR_GE_OP;
    case TENSOR_GE_OP: return TENSOR_LT_OP;
    case TENSOR_GT_OP: return TENSOR_LE_OP;
    default: return TENSOR_GT_OP;
    }
}

static void hold_compare(facts *f, scope *s, const tensor_node *n, uint16_t op, bool sizes) {
    ir_dtype type = tensor_typeof(f->op, n->args[0]).type;
    if (type != DT_I64 && type != DT_INDEX) return;
    form x = *form_of(f, s, n->args[0]), y = *form_of(f, s, n->args[1]);
    if (!is_exact(f, &x) || !is_exact(f, &y)) return;
    if (sizes) {
        if (op == TENSOR_EQ_OP) same_size(f, &x, &y);
        return;
    }
    switch (op) {
    case TENSOR_EQ_OP:
        hold_difference(f, s, &x, &y, 0);
        hold_difference(f, s, &y, &x, 0);
        hold_divides(f, s, &x, &y);
        hold_divides(f, s, &y, &x);
        break;
    case TENSOR_NE_OP: hold_unequal(f, s, &x, &y); break;
    case TENSOR_LT_OP: hold_difference(f, s, &y, &x, -1); break;
    case TENSOR_LE_OP: hold_difference(f, s, &y, &x, 0); break;
    case TENSOR_GT_OP: hold_difference(f, s, &x, &y, -1); break;
    case TENSOR_GE_OP: hold_difference(f, s, &x, &y, 0); break;
    default: break;
    }
}

static void hold_condition(facts *f, scope *s, tensor_expr e, bool holds, bool sizes) {
    const tensor_node n = *tensor_node_at(f->op, e);
    void **held = table_at(f->arena, &f->held,
                           (table_key){(uint64_t)(uintptr_t)s, e, holds + 2U * sizes});
    if (*held) return;
    *held = s;
    if (n.op == TENSOR_NOT_OP) hold_condition(f, s, n.args[0], !holds, sizes);
    if (n.op == (holds ? TENSOR_AND_OP : TENSOR_OR_OP))
        for (uint32_t i = 0; i < 2; i++) hold_condition(f, s, n.args[i], holds, sizes);
    if (tensor_op_table((tensor_opcode)n.op)->kind == TENSOR_COMPARE)
        hold_compare(f, s, &n, holds ? n.op : negated(n.op), sizes);
}

// ---- Scopes -------------------------------------------------------------------------------------

static void enter_body(facts *f, const scope *s, const loop_body *body);

static scope *scope_new(facts *f, const scope *outer, const loop_node *n) {
    scope *s = ARENA_NEW(f->arena, scope);
    s->outer = outer;
    s->node = n;
    s->depth = outer ? outer->depth : 0;
    return s;
}

static const scope *enter_node(facts *f, const scope *outer, const loop_node *n) {
    *table_at(f->arena, &f->scopes,
              (table_key){(uint64_t)(uintptr_t)n, 0, 0}) = (void *)(uintptr_t)outer;
    if (n->kind != LOOP_FOR && n->kind != LOOP_LET && n->kind != LOOP_IF)
        return enter_body(f, outer, &n->body), outer;
    scope *s = scope_new(f, outer, n);
    if (n->kind == LOOP_LET) {
        s->value = *form_of(f, outer, n->value);
        return s;
    }
    if (n->kind == LOOP_FOR) {
        s->depth++;
        s->lo = *form_of(f, outer, n->lo);
        s->hi = n->rounds.pad ? size_form(f, f->op->vars.data[n->var].space)
                              : *form_of(f, outer, n->hi);
    } else {
        hold_condition(f, s, n->value, true, false);
    }
    enter_body(f, s, &n->body);
    return outer;
}

static void enter_body(facts *f, const scope *s, const loop_body *body) {
    for (uint32_t i = 0; i < body->len; i++) s = enter_node(f, s, body->data[i]);
}

const scope *scope_of(facts *f, const loop_node *at) {
    const scope *s = *table_at(f->arena, &f->scopes, (table_key){(uint64_t)(uintptr_t)at, 0, 0});
    if (!s) ICE("facts are asked at a node that was not in the plan");
    return s;
}

static const scope *scope_of_loop(facts *f, const loop_node *at, tensor_var var) {
    for (const scope *s = scope_of(f, at); s->node; s = s->outer)
        if (s->node->kind == LOOP_FOR && s->node->var == var) return s;
    ICE("no loop over '%s' is around", f->op->vars.data[var].name);
}

static void read_requires(facts *f) {
    f->size_is = ARENA_ARRAY(f->arena, form, f->op->spaces.len);
    for (tensor_space s = 0; s < f->op->spaces.len; s++) f->size_is[s] = unsaid_size;
    // each sees what the ones before made equal
    for (uint32_t i = 0; i < f->op->required.len; i++) {
        hold_condition(f, f->root, f->op->required.data[i].holds, true, true);
        f->forms = (table){0};
    }
    for (uint32_t i = 0; i < f->op->required.len; i++)
        hold_condition(f, f->root, f->op->required.data[i].holds, true, false);
}

facts *facts_new(arena *a, loop_plan *plan) {
    facts *f = ARENA_NEW(a, facts);
    f->arena = a;
    f->plan = plan;
    f->op = plan->op;
    f->root = scope_new(f, NULL, NULL);
    read_requires(f);
    for (uint32_t i = 0; i < plan->steps.len; i++)
        if (plan->steps.data[i].kind == LOOP_LAUNCH)
            enter_body(f, f->root, &plan->steps.data[i].kernel->body);
    return f;
}

// ---- Questions ----------------------------------------------------------------------------------

static facts_bound bound_of(const facts *f, const form *x, int64_t sign) {
    facts_bound b = {.known = true, .constant = sign * x->constant, .n = x->n};
    for (uint32_t i = 0; i < x->n; i++) {
        b.terms[i].space = (tensor_space)f->atoms.data[x->terms[i].atom]->imm;
        b.terms[i].factor = sign * x->terms[i].factor;
    }
    return b;
}

static facts_range range_of(facts *f, const scope *s, const form *x) {
    facts_range r = {.min = INT64_MIN, .max = INT64_MAX};
    form least, minus = {0};
    if (form_least(f, s, x, false, &least)) r.lo = bound_of(f, &least, 1);
    if (form_least(f, s, x, true, &least)) r.min = least.constant;
    atom_id bare;
    if (!form_tame(f, x) && !form_bare(x, &bare)) return r;
    if (!form_add(&minus, -1, x)) return r;
    if (form_least(f, s, &minus, false, &least)) r.hi = bound_of(f, &least, -1);
    if (form_least(f, s, &minus, true, &least)) r.max = -least.constant;
    return r;
}

facts_range facts_interval(facts *f, const loop_node *at, tensor_expr e) {
    const scope *s = scope_of(f, at);
    return range_of(f, s, form_of(f, s, e));
}

bool facts_less(facts *f, const loop_node *at, tensor_expr x, tensor_expr y) {
    const scope *s = scope_of(f, at);
    const form *l = form_of(f, s, x);
    form d = *form_of(f, s, y), one = form_const(-1);
    return is_exact(f, l) && is_exact(f, &d) && form_add(&d, -1, l) && form_add(&d, 1, &one) &&
           form_nonnegative(f, s, &d);
}

int64_t facts_multiple(facts *f, const loop_node *at, tensor_expr e) {
    const scope *s = scope_of(f, at);
    return form_multiple(f, s, form_of(f, s, e));
}

int64_t facts_base_multiple(facts *f, const loop_node *at, tensor_expr e, tensor_var var,
                            uint32_t digit) {
    const scope *s = scope_of(f, at);
    return form_base_multiple(f, s, form_of(f, s, e), scope_of_loop(f, at, var), digit);
}

facts_motion facts_along(facts *f, const loop_node *at, tensor_expr e, tensor_var var,
                         uint32_t digit) {
    return form_along(f, form_of(f, scope_of(f, at), e), scope_of_loop(f, at, var), digit);
}

static bool extent_of(facts *f, const loop_node *loop, form *x) {
    const scope *s = scope_of(f, loop);
    *x = *form_of(f, s, loop->hi);
    return form_add(x, -1, form_of(f, s, loop->lo)) && form_tame(f, x);
}

bool facts_exact(facts *f, const loop_node *loop) {
    form extent;
    int64_t digits = loop_digits_product(loop);
    if (digits == 1 && loop->rest != LOOP_WHOLE_PLACE) return true;
    if (!extent_of(f, loop, &extent)) return false;
    const scope *s = scope_of(f, loop);
    if (loop->rest != LOOP_WHOLE_PLACE) return form_multiple(f, s, &extent) % digits == 0;
    form past = form_const(-digits);
    return form_add(&extent, 1, &past) && form_nonnegative(f, s, &extent);
}

int64_t facts_cover(facts *f, const loop_node *loop) {
    form extent;
    if (!extent_of(f, loop, &extent)) return INT64_MAX;
    return range_of(f, scope_of(f, loop), &extent).max;
}
