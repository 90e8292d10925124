// See tensor_linear.h and tensor_bounds.h.
#include "tensor_linear.h"
#include "tensor_bounds.h"

// ---- Sums of multiples --------------------------------------------------------------------------
const linear linear_unknown = {0};

linear linear_constant(int64_t c) { return (linear){.known = true, .constant = c}; }

linear linear_symbol(tensor_space s) { return (linear){.known = true, .n = 1, .terms = {{s, 1}}}; }

static bool add_term(linear *l, linear_term t) {
    uint32_t i = 0;
    while (i < l->n && l->terms[i].of < t.of) i++;
    if (i < l->n && l->terms[i].of == t.of) {
        if (__builtin_add_overflow(l->terms[i].by, t.by, &l->terms[i].by)) return false;
        if (l->terms[i].by) return true;
        for (l->n--; i < l->n; i++) l->terms[i] = l->terms[i + 1];
        return true;
    }
    if (l->n == LINEAR_TERMS) return false;
    for (uint32_t k = l->n++; k > i; k--) l->terms[k] = l->terms[k - 1];
    l->terms[i] = t;
    return true;
}

static linear linear_scale(linear a, int64_t by) {
    if (!a.known || !by) return a.known ? linear_constant(0) : linear_unknown;
    bool overflow = __builtin_mul_overflow(a.constant, by, &a.constant);
    for (uint32_t i = 0; i < a.n; i++)
        overflow |= __builtin_mul_overflow(a.terms[i].by, by, &a.terms[i].by);
    return overflow ? linear_unknown : a;
}

linear linear_add(linear a, linear b, int64_t sign) {
    b = linear_scale(b, sign);
    if (!a.known || !b.known || __builtin_add_overflow(a.constant, b.constant, &a.constant))
        return linear_unknown;
    for (uint32_t i = 0; i < b.n; i++)
        if (!add_term(&a, b.terms[i])) return linear_unknown;
    return a;
}

static bool linear_equal(linear a, linear b) {
    const linear d = linear_add(a, b, -1);
    return d.known && !d.n && !d.constant;
}

linear linear_product(linear a, linear b) {
    if (!a.known || !b.known || (a.n && b.n)) return linear_unknown;
    return a.n ? linear_scale(a, b.constant) : linear_scale(b, a.constant);
}

static linear linear_declared(const tensor_op *op, tensor_space s);
static linear linear_of_size(const tensor_op *op, tensor_expr e) {
    const tensor_node *n = tensor_node_at(op, e);
    switch ((tensor_opcode)n->op) {
    case TENSOR_CONST_OP: return linear_constant(n->imm.i);
    case TENSOR_SIZE_OP: return linear_declared(op, (tensor_space)n->imm.i);
    case TENSOR_ADD_OP:
        return linear_add(linear_of_size(op, n->args[0]), linear_of_size(op, n->args[1]), 1);
    case TENSOR_SUB_OP:
        return linear_add(linear_of_size(op, n->args[0]), linear_of_size(op, n->args[1]), -1);
    case TENSOR_MUL_OP:
        return linear_product(linear_of_size(op, n->args[0]), linear_of_size(op, n->args[1]));
    default: return linear_unknown;
    }
}

static linear linear_declared(const tensor_op *op, tensor_space s) {
    const tensor_space_info *i = &op->spaces.data[s];
    if (i->kind == SPACE_CONST) return linear_constant(i->size);
    if (i->kind == SPACE_EXPR) {
        linear l = linear_of_size(op, i->expr);
        if (l.known) return l;
    }
    return linear_symbol(s);
}

// ---- Preconditions ------------------------------------------------------------------------------
static bool names(linear l, tensor_space s) {
    for (uint32_t i = 0; i < l.n; i++)
        if (l.terms[i].of == s) return true;
    return false;
}

// The other side of a precondition "P == S + 2", where e is its condition and one side is the size
// of s.
static bool equal_side(const tensor_op *op, tensor_expr e, tensor_space s, linear *out) {
    const tensor_node *n = tensor_node_at(op, e);
    for (int k = 0; n->op == TENSOR_EQ_OP && k < 2; k++) {
        const tensor_node *side = tensor_node_at(op, n->args[k]);
        if (side->op != TENSOR_SIZE_OP || (tensor_space)side->imm.i != s) continue;
        *out = linear_of_size(op, n->args[1 - k]);
        if (out->known && !names(*out, s)) return true;
    }
    return false;
}

// What a precondition says of the size of s. Of two spaces declared equal the later one follows the
// earlier.
static bool linear_required(const tensor_op *op, tensor_space s, linear *out) {
    for (uint32_t i = 0; i < op->required.len; i++)
        if (equal_side(op, op->required.data[i].holds, s, out) &&
            (out->constant || out->n != 1 || out->terms[0].by != 1 || out->terms[0].of < s))
            return true;
    return false;
}

linear linear_of_space(const tensor_op *op, tensor_space s) {
    linear l = linear_declared(op, s), by;
    for (int round = 0; round < 8; round++) {
        uint32_t i = 0;
        while (i < l.n && !linear_required(op, l.terms[i].of, &by)) i++;
        if (i == l.n) break;
        const linear_term t = l.terms[i];
        linear next = linear_add(l, linear_scale(linear_symbol(t.of), t.by), -1);
        next = linear_add(next, linear_scale(by, t.by), 1);
        if (!next.known) break;
        l = next;
    }
    return l;
}

// The least that a precondition "S > 2" allows; sizes are never negative.
static int64_t least_size(const tensor_op *op, tensor_space s) {
    int64_t least = 0;
    for (uint32_t i = 0; i < op->required.len; i++) {
        const tensor_node *n = tensor_node_at(op, op->required.data[i].holds);
        if (n->nargs != 2) continue;
        const bool turned = n->op == TENSOR_LT_OP || n->op == TENSOR_LE_OP;
        if (!turned && n->op != TENSOR_GT_OP && n->op != TENSOR_GE_OP) continue;
        const tensor_node *size = tensor_node_at(op, n->args[turned]),
                          *than = tensor_node_at(op, n->args[!turned]);
        if (size->op != TENSOR_SIZE_OP || (tensor_space)size->imm.i != s ||
            than->op != TENSOR_CONST_OP || than->imm.i > INT32_MAX)
            continue;
        const bool strict = n->op == TENSOR_LT_OP || n->op == TENSOR_GT_OP;
        if (than->imm.i + strict > least) least = than->imm.i + strict;
    }
    return least;
}

bool linear_at_least(const tensor_op *op, linear l, int64_t least) {
    int64_t sum = l.constant, more;
    for (uint32_t i = 0; i < l.n; i++) {
        if (l.terms[i].by < 0) return false;
        if (__builtin_mul_overflow(l.terms[i].by, least_size(op, l.terms[i].of), &more) ||
            __builtin_add_overflow(sum, more, &sum))
            return false;
    }
    return l.known && sum >= least;
}

// ---- Questions about sizes ----------------------------------------------------------------------
bool tensor_space_size_is(const tensor_op *op, tensor_space s, tensor_space base, int64_t more) {
    return linear_equal(linear_of_space(op, s),
                        linear_add(linear_of_space(op, base), linear_constant(more), 1));
}

bool tensor_size_is_constant(const tensor_op *op, tensor_expr size, int64_t *out) {
    const linear l = linear_of_size(op, size);
    *out = l.constant;
    return l.known && !l.n;
}

bool tensor_size_is_of(const tensor_op *op, tensor_expr size, tensor_space s) {
    return linear_equal(linear_of_size(op, size), linear_of_space(op, s));
}

bool tensor_size_is_required(const tensor_op *op, tensor_expr size, tensor_space *out) {
    const linear l = linear_of_size(op, size);
    for (uint32_t i = 0; i < op->required.len; i++)
        for (tensor_space s = 0; s < op->spaces.len; s++) {
            linear other;
            if (op->spaces.data[s].kind == SPACE_FREE &&
                equal_side(op, op->required.data[i].holds, s, &other) && linear_equal(l, other))
                return *out = s, true;
        }
    return false;
}
