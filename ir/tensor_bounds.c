// Proofs that a computed index lies on its axis, and that an index is not none. An index is a sum
// of multiples of sizes and of what is no sum; a condition that holds says that such a sum is at
// least 0.
#include "tensor_bounds.h"
#include "tensor_linear.h"
#include <math.h>

enum { STEPS = 4096, MOST_FACTS = 32 };   // expressions are shared: paths in them may be countless

// ---- None ---------------------------------------------------------------------------------------
// Does the condition, where it holds or where it doesn't, say that e is not none?
static bool tells_some(const tensor_op *op, tensor_expr condition, bool holds, tensor_expr e,
                       uint32_t *budget) {
    const tensor_node *n = tensor_node_at(op, condition);
    if (!*budget) return false;
    --*budget;
    if (n->op == TENSOR_NOT_OP) return tells_some(op, n->args[0], !holds, e, budget);
    if (n->op == (holds ? TENSOR_AND_OP : TENSOR_OR_OP))
        return tells_some(op, n->args[0], holds, e, budget) ||
               tells_some(op, n->args[1], holds, e, budget);
    if (n->op != (holds ? TENSOR_NE_OP : TENSOR_EQ_OP)) return false;
    bool first = n->args[0] == e, second = n->args[1] == e;
    return (first && tensor_node_at(op, n->args[1])->op == TENSOR_NONE_OP) ||
           (second && tensor_node_at(op, n->args[0])->op == TENSOR_NONE_OP);
}

static bool maybe_none(const tensor_op *op, tensor_expr e, uint32_t *budget) {
    const tensor_node *n = tensor_node_at(op, e);
    if (!*budget) return true;
    --*budget;
    switch ((tensor_opcode)n->op) {
    case TENSOR_NONE_OP: return true;
    case TENSOR_LOAD_OP: return (op->vals.data[n->imm.i].facts & FACT_PARTIAL) != 0;
    case TENSOR_SELECT_OP:
        return (maybe_none(op, n->args[1], budget) &&
                !tells_some(op, n->args[0], true, n->args[1], budget)) ||
               (maybe_none(op, n->args[2], budget) &&
                !tells_some(op, n->args[0], false, n->args[2], budget));
    case TENSOR_MIN_OP:
    case TENSOR_MAX_OP:
        return maybe_none(op, n->args[0], budget) || maybe_none(op, n->args[1], budget);
    case TENSOR_ARG_OP:
    case TENSOR_LEFT_OP:
    case TENSOR_RIGHT_OP: return true;
    default: return false;
    }
}

bool tensor_maybe_none(const tensor_op *op, tensor_expr e) {
    uint32_t budget = STEPS;
    return maybe_none(op, e, &budget);
}

// ---- Sums of an index ---------------------------------------------------------------------------
typedef struct
{   // that a sum is at least 0, as the entry says of what is known; -1: a choice says it
    linear sum;
    int32_t entry;
} fact;
typedef struct {
    linear low, high;
} bounds;
typedef struct {
    const tensor_op *op;
    uint32_t budget, nfacts;
    fact facts[MOST_FACTS];
    uint64_t used;
} proof;
static const bounds no_bounds = {{0}, {0}};

static bool is_whole(const tensor_op *op, tensor_expr e) {
    const ir_dtype t = tensor_typeof(op, e).type;
    return t == DT_I64 || t == DT_INDEX;
}

static tensor_expr bare(const tensor_op *op, tensor_expr e) {
    for (;;) {
        const tensor_node *n = tensor_node_at(op, e);
        if ((n->op != TENSOR_CVT_OP && n->op != TENSOR_INDEX_OP) || !is_whole(op, n->args[0]))
            return e;
        e = n->args[0];
    }
}

// An expression as a sum; what is none itself is a term.
static linear linear_of(proof *p, tensor_expr e) {
    e = bare(p->op, e);
    const tensor_node *n = tensor_node_at(p->op, e);
    if (!p->budget || !is_whole(p->op, e)) return linear_unknown;
    p->budget--;
    linear made = linear_unknown;
    switch ((tensor_opcode)n->op) {
    case TENSOR_CONST_OP: return linear_constant(n->imm.i);
    case TENSOR_SIZE_OP: return linear_of_space(p->op, (tensor_space)n->imm.i);
    case TENSOR_ADD_OP:
        made = linear_add(linear_of(p, n->args[0]), linear_of(p, n->args[1]), 1);
        break;
    case TENSOR_SUB_OP:
        made = linear_add(linear_of(p, n->args[0]), linear_of(p, n->args[1]), -1);
        break;
    case TENSOR_NEG_OP: made = linear_product(linear_of(p, n->args[0]), linear_constant(-1)); break;
    case TENSOR_MUL_OP:
        made = linear_product(linear_of(p, n->args[0]), linear_of(p, n->args[1]));
        break;
    default: break;
    }
    return made.known ? made : linear_symbol(p->op->spaces.len + e);
}

// ---- Bounds by sizes ----------------------------------------------------------------------------
static bounds bounds_of(proof *p, linear l);

// Whether it is at least 0, by sizes and one of the facts.
static bool is_natural(proof *p, linear l) {
    if (linear_at_least(p->op, bounds_of(p, l).low, 0)) return true;
    for (uint32_t i = 0; i < p->nfacts; i++) {
        const linear rest = linear_add(l, p->facts[i].sum, -1);
        if (!linear_at_least(p->op, bounds_of(p, rest).low, 0)) continue;
        if (p->facts[i].entry >= 0) p->used |= UINT64_C(1) << p->facts[i].entry;
        return true;
    }
    return false;
}

static bounds bounds_of_space(const tensor_op *op, tensor_space s) {
    return (bounds){linear_constant(0), linear_add(linear_of_space(op, s), linear_constant(1), -1)};
}

static bool is_exact(proof *p, linear l);
static int64_t floor_div(int64_t x, int64_t by) { return x / by - (x % by < 0); }

// by > 0; where all but the constant is divided without a rest.
static linear divided(linear l, int64_t by) {
    for (uint32_t i = 0; i < l.n; i++) {
        if (l.terms[i].by % by) return linear_unknown;
        l.terms[i].by /= by;
    }
    l.constant = floor_div(l.constant, by);
    return l;
}

static bounds bounds_of_quotient(proof *p, const tensor_node *n) {
    const linear by = linear_of(p, n->args[1]), x = linear_of(p, n->args[0]);
    if (!by.known || by.n || by.constant < 1 || !is_exact(p, x)) return no_bounds;
    const bounds b = bounds_of(p, x);
    bounds made = {divided(b.low, by.constant), divided(b.high, by.constant)};
    if (!made.low.known && is_natural(p, x)) made.low = linear_constant(0);
    return made;
}

static bounds bounds_of_rest(proof *p, const tensor_node *n) {
    const linear by = linear_of(p, n->args[1]), one = linear_constant(1);   // floors; 0 by 0
    if (!is_exact(p, by) || !is_natural(p, linear_add(by, one, -1))) return no_bounds;
    return (bounds){linear_constant(0), linear_add(bounds_of(p, by).high, one, -1)};
}

// Of what is no sum.
static bounds bounds_of_term(proof *p, tensor_expr e) {
    const tensor_node *n = tensor_node_at(p->op, e);
    switch ((tensor_opcode)n->op) {
    case TENSOR_VAR_OP: return bounds_of_space(p->op, p->op->vars.data[n->imm.i].space);
    case TENSOR_LOAD_OP:
        if (n->type.type != DT_INDEX || tensor_maybe_none(p->op, e)) return no_bounds;
        return bounds_of_space(p->op, n->type.space);
    case TENSOR_MOD_OP: return bounds_of_rest(p, n);
    case TENSOR_QUOT_OP: return bounds_of_quotient(p, n);
    default: return no_bounds;
    }
}

static bounds bounds_of(proof *p, linear l) {
    bounds made = {linear_constant(l.constant), linear_constant(l.constant)};
    if (!l.known || !p->budget) return no_bounds;
    p->budget--;
    for (uint32_t i = 0; i < l.n; i++) {
        const linear_term t = l.terms[i];
        bounds b = {linear_symbol(t.of), linear_symbol(t.of)};
        if (t.of >= p->op->spaces.len) b = bounds_of_term(p, t.of - p->op->spaces.len);
        made.low = linear_add(made.low, t.by > 0 ? b.low : b.high, t.by);
        made.high = linear_add(made.high, t.by > 0 ? b.high : b.low, t.by);
    }
    return made;
}

// ---- Sums that do not wrap ----------------------------------------------------------------------
// How large it may be, by sizes below 2^40; what is not known is infinite.
static double reach_of(proof *p, linear l);

static double reach_of_term(proof *p, uint32_t of) {
    const tensor_op *op = p->op;
    if (of < op->spaces.len) return 0x1p40;
    const tensor_node *n = tensor_node_at(op, of - op->spaces.len);
    if (n->op == TENSOR_LOAD_OP && op->vals.data[n->imm.i].type == DT_I32) return 0x1p31;
    const bounds b = bounds_of_term(p, of - op->spaces.len);
    const double low = reach_of(p, b.low), high = reach_of(p, b.high);
    return low > high ? low : high;
}

static double reach_of(proof *p, linear l) {
    double sum = l.known && p->budget ? fabs((double)l.constant) : INFINITY;
    if (p->budget) p->budget--;
    for (uint32_t i = 0; i < l.n && sum < INFINITY; i++)
        sum += fabs((double)l.terms[i].by) * reach_of_term(p, l.terms[i].of);
    return sum;
}

// Whether it is what the machine computes in 64 bits, whatever its terms are: it is one value
// alone, or of small ones.
static bool is_exact(proof *p, linear l) {
    return l.known && ((l.n == 1 && l.terms[0].by == 1 && !l.constant) || reach_of(p, l) < 0x1p62);
}

// ---- Facts --------------------------------------------------------------------------------------
static void add_fact(proof *p, linear sum, int32_t entry) {
    if (sum.known && p->nfacts < MOST_FACTS) p->facts[p->nfacts++] = (fact){sum, entry};
}

static void learn_comparison(proof *p, const tensor_node *n, bool holds, int32_t entry) {
    if (n->nargs != 2 || !is_whole(p->op, n->args[0]) || !is_whole(p->op, n->args[1])) return;
    if (tensor_maybe_none(p->op, n->args[0]) || tensor_maybe_none(p->op, n->args[1])) return;
    const linear a = linear_of(p, n->args[0]), b = linear_of(p, n->args[1]),
                 less = linear_add(linear_add(b, a, -1), linear_constant(1), -1),   // a < b
        more = linear_add(linear_add(a, b, -1), linear_constant(1), -1);
    if (!is_exact(p, a) || !is_exact(p, b)) return;
    const linear not_less = linear_add(a, b, -1), not_more = linear_add(b, a, -1);
    switch ((tensor_opcode)n->op) {
    case TENSOR_LT_OP: add_fact(p, holds ? less : not_less, entry); return;
    case TENSOR_GT_OP: add_fact(p, holds ? more : not_more, entry); return;
    case TENSOR_LE_OP: add_fact(p, holds ? not_more : more, entry); return;
    case TENSOR_GE_OP: add_fact(p, holds ? not_less : less, entry); return;
    case TENSOR_EQ_OP:
    case TENSOR_NE_OP:
        if (holds == (n->op == TENSOR_EQ_OP)) {
            add_fact(p, not_less, entry), add_fact(p, not_more, entry);
        } else {   // of one that cannot be less it is more
            if (linear_at_least(p->op, bounds_of(p, not_less).low, 0)) add_fact(p, more, entry);
            if (linear_at_least(p->op, bounds_of(p, not_more).low, 0)) add_fact(p, less, entry);
        }
        return;
    default: return;
    }
}

static void learn(proof *p, tensor_expr condition, bool holds, int32_t entry) {
    const tensor_node *n = tensor_node_at(p->op, condition);
    if (!p->budget) return;
    p->budget--;
    if (n->op == TENSOR_NOT_OP) {
        learn(p, n->args[0], !holds, entry);
    } else if (n->op == TENSOR_AND_OP || n->op == TENSOR_OR_OP) {
        for (int i = 0; i < 2 && holds == (n->op == TENSOR_AND_OP); i++)
            learn(p, n->args[i], holds, entry);
    } else {
        learn_comparison(p, n, holds, entry);
    }
}

// ---- Proofs -------------------------------------------------------------------------------------
typedef enum { LEAST, MOST } end;
static bool proven(proof *p, tensor_expr e, const linear *size, end which);

// Of a choice both have to be proven, where the condition holds and where it doesn't.
static bool choice_proven(proof *p, const tensor_node *n, const linear *size, end which) {
    const uint32_t before = p->nfacts;
    bool both = true;
    for (int i = 0; i < 2 && both; i++) {
        learn(p, n->args[0], i == 0, -1);
        both = proven(p, n->args[1 + i], size, which);
        p->nfacts = before;
    }
    return both;
}

// That it is less than the size, or that it is at least 0. Of the smaller of two it is small where
// one of them is. What may wrap in 64 bits has both ends proven, so it did not.
static bool proven(proof *p, tensor_expr e, const linear *size, end which) {
    const tensor_node *n = tensor_node_at(p->op, e = bare(p->op, e));
    if (!p->budget) return false;
    p->budget--;
    if (n->op == TENSOR_SELECT_OP) return choice_proven(p, n, size, which);
    if (n->op == TENSOR_MIN_OP || n->op == TENSOR_MAX_OP) {
        const bool either = (n->op == TENSOR_MIN_OP) == (which == MOST),
                   first = proven(p, n->args[0], size, which);
        return first == either ? first : proven(p, n->args[1], size, which);
    }
    const linear l = linear_of(p, e),
                 below = linear_add(linear_add(*size, l, -1), linear_constant(1), -1);
    const bool wraps = !is_exact(p, l);
    return ((which == MOST && !wraps) || is_natural(p, l)) &&
           ((which == LEAST && !wraps) || is_natural(p, below));
}

static proof proof_under(const tensor_op *op, const tensor_known *known, uint32_t n) {
    proof p = {.op = op, .budget = STEPS};
    for (uint32_t i = 0; i < n && i < 64; i++)
        learn(&p, known[i].condition, known[i].holds, (int32_t)i);
    return p;
}

void tensor_ends_in_space(const tensor_op *op, tensor_expr index, tensor_space s, bool *least,
                          bool *most) {
    const linear size = linear_of_space(op, s);
    proof p = proof_under(op, NULL, 0);
    *least = size.known && proven(&p, index, &size, LEAST);
    *most = size.known && proven(&p, index, &size, MOST);
}

bool tensor_in_space(const tensor_op *op, tensor_expr index, tensor_space s,
                     const tensor_known *known, uint32_t nknown, uint64_t *used) {
    const linear size = linear_of_space(op, s);
    proof p = proof_under(op, known, nknown);
    const bool is = size.known && proven(&p, index, &size, LEAST) && proven(&p, index, &size, MOST);
    if (used) *used = is ? p.used : 0;
    return is;
}

bool tensor_never_holds(const tensor_op *op, tensor_known known) {
    proof p = proof_under(op, &known, 1);
    for (uint32_t i = 0; i < p.nfacts; i++) {
        const linear opposite = linear_add(linear_constant(-1), p.facts[i].sum, -1);
        if (linear_at_least(op, bounds_of(&p, opposite).low, 0)) return true;
    }
    return false;
}
