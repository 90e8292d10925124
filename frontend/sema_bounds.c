// What is known of sizes and computed indices: enough linear arithmetic to prove that an index lies
// on its axis.
#include "sema_expr.h"

// ---- Linear sizes: a constant and multiples of sizes --------------------------------------------
enum { MOST_TERMS = 6 };
typedef struct {
    tensor_space space;
    int64_t by;   // not 0
} term;
typedef struct {
    bool known;
    int64_t constant;
    uint32_t n;
    term terms[MOST_TERMS];   // by space
} linear;
static const linear unknown = {0};

static linear linear_constant(int64_t c) { return (linear){.known = true, .constant = c}; }

static linear linear_symbol(tensor_space s) {
    return (linear){.known = true, .n = 1, .terms = {{s, 1}}};
}

static bool add_term(linear *l, term t) {
    uint32_t i = 0;
    while (i < l->n && l->terms[i].space < t.space) i++;
    if (i < l->n && l->terms[i].space == t.space) {
        if (__builtin_add_overflow(l->terms[i].by, t.by, &l->terms[i].by)) return false;
        if (l->terms[i].by) return true;
        for (l->n--; i < l->n; i++) l->terms[i] = l->terms[i + 1];
        return true;
    }
    if (l->n == MOST_TERMS) return false;
    for (uint32_t k = l->n++; k > i; k--) l->terms[k] = l->terms[k - 1];
    l->terms[i] = t;
    return true;
}

static linear linear_scale(linear a, int64_t by) {
    if (!a.known || !by) return a.known ? linear_constant(0) : unknown;
    bool overflow = __builtin_mul_overflow(a.constant, by, &a.constant);
    for (uint32_t i = 0; i < a.n; i++)
        overflow |= __builtin_mul_overflow(a.terms[i].by, by, &a.terms[i].by);
    return overflow ? unknown : a;
}

static linear linear_add(linear a, linear b, int64_t sign) {
    b = linear_scale(b, sign);
    if (!a.known || !b.known || __builtin_add_overflow(a.constant, b.constant, &a.constant))
        return unknown;
    for (uint32_t i = 0; i < b.n; i++)
        if (!add_term(&a, b.terms[i])) return unknown;
    return a;
}

static bool linear_equal(linear a, linear b) {
    const linear d = linear_add(a, b, -1);
    return d.known && !d.n && !d.constant;
}

static linear linear_product(linear a, linear b) {
    if (!a.known || !b.known || (a.n && b.n)) return unknown;
    return a.n ? linear_scale(a, b.constant) : linear_scale(b, a.constant);
}

static linear linear_declared(const lowering *L, tensor_space s);
static linear linear_of_size(const lowering *L, tensor_expr e) {
    const tensor_node *n = tensor_node_at(L->op, e);
    switch ((tensor_opcode)n->op) {
    case TENSOR_CONST_OP: return linear_constant(n->imm.i);
    case TENSOR_SIZE_OP: return linear_declared(L, (tensor_space)n->imm.i);
    case TENSOR_ADD_OP:
        return linear_add(linear_of_size(L, n->args[0]), linear_of_size(L, n->args[1]), 1);
    case TENSOR_SUB_OP:
        return linear_add(linear_of_size(L, n->args[0]), linear_of_size(L, n->args[1]), -1);
    case TENSOR_MUL_OP:
        return linear_product(linear_of_size(L, n->args[0]), linear_of_size(L, n->args[1]));
    default: return unknown;
    }
}

static linear linear_declared(const lowering *L, tensor_space s) {
    const tensor_space_info *i = &L->op->spaces.data[s];
    if (i->kind == SPACE_CONST) return linear_constant(i->size);
    if (i->kind == SPACE_EXPR) {
        linear l = linear_of_size(L, i->expr);
        if (l.known) return l;
    }
    return linear_symbol(s);
}

// ---- Preconditions ------------------------------------------------------------------------------
static bool names(linear l, tensor_space s) {
    for (uint32_t i = 0; i < l.n; i++)
        if (l.terms[i].space == s) return true;
    return false;
}

// The other side of a precondition "P == S + 2", where e is its condition and one side is the size
// of s.
static bool equal_side(const lowering *L, tensor_expr e, tensor_space s, linear *out) {
    const tensor_node *n = tensor_node_at(L->op, e);
    for (int k = 0; n->op == TENSOR_EQ_OP && k < 2; k++) {
        const tensor_node *side = tensor_node_at(L->op, n->args[k]);
        if (side->op != TENSOR_SIZE_OP || (tensor_space)side->imm.i != s) continue;
        *out = linear_of_size(L, n->args[1 - k]);
        if (out->known && !names(*out, s)) return true;
    }
    return false;
}

// What a precondition says of the size of s. Of two spaces declared equal the later one follows the
// earlier.
static bool linear_required(const lowering *L, tensor_space s, linear *out) {
    for (uint32_t i = 0; i < L->op->required.len; i++)
        if (equal_side(L, L->op->required.data[i].holds, s, out) &&
            (out->constant || out->n != 1 || out->terms[0].by != 1 || out->terms[0].space < s))
            return true;
    return false;
}

static linear linear_of_space(const lowering *L, tensor_space s) {
    linear l = linear_declared(L, s), by;
    for (int round = 0; round < 8; round++) {
        uint32_t i = 0;
        while (i < l.n && !linear_required(L, l.terms[i].space, &by)) i++;
        if (i == l.n) break;
        const term t = l.terms[i];
        linear next = linear_add(l, linear_scale(linear_symbol(t.space), t.by), -1);
        next = linear_add(next, linear_scale(by, t.by), 1);
        if (!next.known) break;
        l = next;
    }
    return l;
}

// The least that a precondition "S > 2" allows; sizes are never negative.
static int64_t least_size(const lowering *L, tensor_space s) {
    int64_t least = 0;
    for (uint32_t i = 0; i < L->op->required.len; i++) {
        const tensor_node *n = tensor_node_at(L->op, L->op->required.data[i].holds);
        if (n->nargs != 2) continue;
        const bool turned = n->op == TENSOR_LT_OP || n->op == TENSOR_LE_OP;
        if (!turned && n->op != TENSOR_GT_OP && n->op != TENSOR_GE_OP) continue;
        const tensor_node *size = tensor_node_at(L->op, n->args[turned]),
                          *than = tensor_node_at(L->op, n->args[!turned]);
        if (size->op != TENSOR_SIZE_OP || (tensor_space)size->imm.i != s ||
            than->op != TENSOR_CONST_OP || than->imm.i > INT32_MAX)
            continue;
        const bool strict = n->op == TENSOR_LT_OP || n->op == TENSOR_GT_OP;
        if (than->imm.i + strict > least) least = than->imm.i + strict;
    }
    return least;
}

static bool at_least(const lowering *L, linear l, int64_t least) {
    int64_t sum = l.constant, more;
    for (uint32_t i = 0; i < l.n; i++) {
        if (l.terms[i].by < 0) return false;
        if (__builtin_mul_overflow(l.terms[i].by, least_size(L, l.terms[i].space), &more) ||
            __builtin_add_overflow(sum, more, &sum))
            return false;
    }
    return l.known && sum >= least;
}

// ---- Questions about sizes ----------------------------------------------------------------------
bool space_size_is(const lowering *L, tensor_space s, tensor_space base, int64_t more) {
    return linear_equal(linear_of_space(L, s),
                        linear_add(linear_of_space(L, base), linear_constant(more), 1));
}

bool size_is_constant(const lowering *L, tensor_expr size, int64_t *out) {
    const linear l = linear_of_size(L, size);
    *out = l.constant;
    return l.known && !l.n;
}

bool size_is_of(const lowering *L, tensor_expr size, tensor_space s) {
    return linear_equal(linear_of_size(L, size), linear_of_space(L, s));
}

bool size_is_required(const lowering *L, tensor_expr size, tensor_space *out) {
    const linear l = linear_of_size(L, size);
    for (uint32_t i = 0; i < L->op->required.len; i++)
        for (tensor_space s = 0; s < L->op->spaces.len; s++) {
            linear other;
            if (L->op->spaces.data[s].kind == SPACE_FREE &&
                equal_side(L, L->op->required.data[i].holds, s, &other) && linear_equal(l, other))
                return *out = s, true;
        }
    return false;
}

// ---- Bounds of index expressions ----------------------------------------------------------------
typedef struct {
    linear low, high;
} bounds;
typedef struct {   // a walk over an index, and how far it may go
    const lowering *L;
    uint32_t budget;
} proof;

static bounds bounds_of(proof *p, tensor_expr e);

static tensor_expr bare(const lowering *L, tensor_expr e) {
    for (;;) {
        const tensor_node *n = tensor_node_at(L->op, e);
        if (n->op != TENSOR_CVT_OP && n->op != TENSOR_INDEX_OP) return e;
        e = n->args[0];
    }
}

static bounds of_space(const proof *p, tensor_space s) {
    return (bounds){linear_constant(0),
                    linear_add(linear_of_space(p->L, s), linear_constant(1), -1)};
}

static bounds bounds_of_product(bounds a, bounds b) {
    const bool by = linear_equal(b.low, b.high) && !b.low.n;   // the second is a number
    if (!by && !(linear_equal(a.low, a.high) && !a.low.n)) return (bounds){unknown, unknown};
    const bounds x = by ? a : b;
    const int64_t k = by ? b.low.constant : a.low.constant;
    const linear low = linear_scale(x.low, k), high = linear_scale(x.high, k);
    return k < 0 ? (bounds){high, low} : (bounds){low, high};
}

static bounds bounds_of_kind(proof *p, const tensor_node *n, tensor_expr e) {
    bounds a, b;
    switch ((tensor_opcode)n->op) {
    case TENSOR_CONST_OP: return (bounds){linear_constant(n->imm.i), linear_constant(n->imm.i)};
    case TENSOR_SIZE_OP: a.low = a.high = linear_of_space(p->L, (tensor_space)n->imm.i); return a;
    case TENSOR_VAR_OP: return of_space(p, n->type.space);
    case TENSOR_LOAD_OP:
        if (n->type.type != DT_INDEX || expr_maybe_none(p->L, e)) return (bounds){unknown, unknown};
        return of_space(p, n->type.space);
    case TENSOR_ADD_OP:
        a = bounds_of(p, n->args[0]), b = bounds_of(p, n->args[1]);
        return (bounds){linear_add(a.low, b.low, 1), linear_add(a.high, b.high, 1)};
    case TENSOR_SUB_OP:
        a = bounds_of(p, n->args[0]), b = bounds_of(p, n->args[1]);
        return (bounds){linear_add(a.low, b.high, -1), linear_add(a.high, b.low, -1)};
    case TENSOR_MUL_OP:
        a = bounds_of(p, n->args[0]), b = bounds_of(p, n->args[1]);
        return bounds_of_product(a, b);
    case TENSOR_MOD_OP:
        b = bounds_of(p, n->args[1]);   // floors; 0 where the divisor is 0
        if (!at_least(p->L, b.low, 1)) return (bounds){unknown, unknown};
        return (bounds){linear_constant(0), linear_add(b.high, linear_constant(1), -1)};
    default: return (bounds){unknown, unknown};
    }
}

static bounds bounds_of(proof *p, tensor_expr e) {
    e = bare(p->L, e);
    if (!p->budget) return (bounds){unknown, unknown};
    p->budget--;
    return bounds_of_kind(p, tensor_node_at(p->L->op, e), e);
}

// Of a choice both have to be proven; of a smaller one of two, that it is small, of one of them.
static bool proven(proof *p, tensor_expr e, const linear *size) {
    const tensor_node *n = tensor_node_at(p->L->op, e = bare(p->L, e));
    if (!p->budget) return false;
    p->budget--;
    if (n->op == TENSOR_SELECT_OP)
        return proven(p, n->args[1], size) && proven(p, n->args[2], size);
    if (n->op == TENSOR_MIN_OP || n->op == TENSOR_MAX_OP) {
        const bool either = (n->op == TENSOR_MIN_OP) == (size != NULL);
        return either ? proven(p, n->args[0], size) || proven(p, n->args[1], size)
                      : proven(p, n->args[0], size) && proven(p, n->args[1], size);
    }
    const bounds b = bounds_of(p, e);
    return size ? at_least(p->L, linear_add(*size, b.high, -1), 1) : at_least(p->L, b.low, 0);
}

bool expr_in_space(lowering *L, tensor_expr e, tensor_space s) {
    enum { STEPS = 4096 };
    const linear size = linear_of_space(L, s);
    proof low = {L, STEPS}, high = {L, STEPS};
    return size.known && proven(&low, e, NULL) && proven(&high, e, &size);
}
