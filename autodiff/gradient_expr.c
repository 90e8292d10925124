// Derivatives of scalar expressions.
#include "gradient_internal.h"

#include <math.h>
#include <string.h>

// ---- Rewriting ----------------------------------------------------------------------------------
gradient_rewriting
gradient_rewriting_new(gradient *g, tensor_op *to,
                       tensor_expr (*put)(gradient_rewriting *, const tensor_node *), void *user) {
    return (gradient_rewriting){g, to, put, user,
                                ARENA_ARRAY(g->arena, tensor_expr, g->op->exprs.len)};
}

tensor_expr gradient_rewrite(gradient_rewriting *r, tensor_expr e) {
    if (!e || r->memo[e]) return e ? r->memo[e] : 0;
    tensor_node n = *tensor_node_at(r->g->op, e);
    n.args = gradient_rewrite_all(r, n.args, n.nargs);
    tensor_expr other = r->put(r, &n);
    return r->memo[e] = other ? other : tensor_node_new(r->to, n);
}

const tensor_expr *gradient_rewrite_all(gradient_rewriting *r, const tensor_expr *e, uint32_t n) {
    tensor_expr *out = ARENA_ARRAY(r->g->arena, tensor_expr, n + 1);
    for (uint32_t i = 0; i < n; i++) out[i] = gradient_rewrite(r, e[i]);
    return out;
}

tensor_stage gradient_rewrite_stage(gradient_rewriting *r, tensor_stage s) {
    tensor_target *targets = ARENA_ARRAY(r->g->arena, tensor_target, s.ntargets);
    tensor_key *keys = ARENA_ARRAY(r->g->arena, tensor_key, s.nkeys + 1);
    for (uint32_t t = 0; t < s.ntargets; t++) {
        targets[t] = s.targets[t];
        targets[t].index = gradient_rewrite_all(r, targets[t].index, targets[t].rank);
    }
    for (uint32_t k = 0; k < s.nkeys; k++)
        keys[k] = (tensor_key){gradient_rewrite(r, s.keys[k].lhs),
                               gradient_rewrite(r, s.keys[k].rhs)};
    s.targets = targets;
    s.keys = keys;
    s.body = gradient_rewrite_all(r, s.body, s.nbody);
    s.filters = gradient_rewrite_all(r, s.filters, s.nfilters);
    s.orelse = gradient_rewrite_all(r, s.orelse, s.nelse);
    return s;
}

tensor_expr gradient_put_variable(gradient_rewriting *r, const tensor_node *n) {
    const tensor_expr *as = r->user;
    return n->op == TENSOR_VAR_OP ? as[n->imm.i] : 0;
}

tensor_expr gradient_replace(gradient *g, tensor_expr e, tensor_expr *as) {
    gradient_rewriting r = gradient_rewriting_new(g, g->op, gradient_put_variable, as);
    return gradient_rewrite(&r, e);
}

// ---- Small sums and products --------------------------------------------------------------------
bool gradient_is_constant(const tensor_op *op, tensor_expr e, double x) {
    const tensor_node *n = tensor_node_at(op, e);
    return n->op == TENSOR_CONST_OP && tensor_type_is_float(n->type) && n->imm.f == x;
}

static tensor_expr constant(tensor_op *op, tensor_expr like, double x) {
    return tensor_float(op, tensor_typeof(op, like).type, x);
}

tensor_expr gradient_zero(tensor_op *op, tensor_expr like) { return constant(op, like, 0); }

static tensor_expr un(tensor_op *op, tensor_opcode o, tensor_expr x) {
    return tensor_unary(op, o, x, NO_SPAN);
}
static tensor_expr bin(tensor_op *op, tensor_opcode o, tensor_expr x, tensor_expr y) {
    return tensor_binary(op, o, x, y, NO_SPAN);
}

// An adjoint that is 0 but where a condition holds stays so, whatever it is multiplied with: where
// a branch was not taken, slopes are often infinite or NaN, as that of the root of a degree is at
// 0. So the choice stands outside.
gradient_masked gradient_masked_of(tensor_op *op, tensor_expr e) {
    const tensor_node n = *tensor_node_at(op, e);
    if (n.op != TENSOR_SELECT_OP || !tensor_type_is_float(n.type)) return (gradient_masked){0, e};
    if (gradient_is_constant(op, n.args[2], 0)) return (gradient_masked){n.args[0], n.args[1]};
    if (gradient_is_constant(op, n.args[1], 0))
        return (gradient_masked){un(op, TENSOR_NOT_OP, n.args[0]), n.args[2]};
    return (gradient_masked){0, e};
}

tensor_expr gradient_under(tensor_op *op, tensor_expr condition, tensor_expr x) {
    const tensor_node *n = condition ? tensor_node_at(op, condition) : NULL;
    if (!n) return x;
    if (n->op == TENSOR_NOT_OP)
        return tensor_select(op, n->args[0], constant(op, x, 0), x, NO_SPAN);
    return tensor_select(op, condition, x, constant(op, x, 0), NO_SPAN);
}

static bool is_not(const tensor_op *op, tensor_expr e, tensor_expr of) {
    const tensor_node *n = tensor_node_at(op, e);
    return n->op == TENSOR_NOT_OP && n->args[0] == of;
}

tensor_expr gradient_add(tensor_op *op, tensor_expr x, tensor_expr y) {
    if (!x || !y) return x ? x : y;
    gradient_masked a = gradient_masked_of(op, x), b = gradient_masked_of(op, y);
    if (!a.condition || !b.condition) return bin(op, TENSOR_ADD_OP, x, y);
    if (is_not(op, b.condition, a.condition))
        return tensor_select(op, a.condition, a.value, b.value, NO_SPAN);
    if (is_not(op, a.condition, b.condition))
        return tensor_select(op, b.condition, b.value, a.value, NO_SPAN);
    if (a.condition == b.condition)
        return gradient_under(op, a.condition, gradient_add(op, a.value, b.value));
    return gradient_under(op, bin(op, TENSOR_OR_OP, a.condition, b.condition),
                          bin(op, TENSOR_ADD_OP, x, y));
}

tensor_expr gradient_mul(tensor_op *op, tensor_expr x, tensor_expr y) {
    gradient_masked a = gradient_masked_of(op, x);
    if (gradient_is_constant(op, x, 1)) return y;
    if (gradient_is_constant(op, y, 1)) return x;
    return a.condition ? gradient_under(op, a.condition, gradient_mul(op, a.value, y))
                       : bin(op, TENSOR_MUL_OP, x, y);
}

static tensor_expr div_by(tensor_op *op, tensor_expr x, tensor_expr y) {
    gradient_masked a = gradient_masked_of(op, x);
    return a.condition ? gradient_under(op, a.condition, div_by(op, a.value, y))
                       : bin(op, TENSOR_DIV_OP, x, y);
}

static tensor_expr negated(tensor_op *op, tensor_expr x) {
    gradient_masked a = gradient_masked_of(op, x);
    return gradient_under(op, a.condition, un(op, TENSOR_NEG_OP, a.value));
}

static tensor_expr converted(tensor_op *op, tensor_type to, tensor_expr x) {
    gradient_masked a = gradient_masked_of(op, x);
    return gradient_under(op, a.condition, tensor_cvt(op, to, a.value, NO_SPAN));
}

tensor_expr gradient_both(tensor_op *op, tensor_expr x, tensor_expr y) {
    if (!x || !y) return x ? x : y;
    return tensor_binary(op, TENSOR_AND_OP, x, y, NO_SPAN);
}

// ---- One operation ------------------------------------------------------------------------------
// b pow(a, b - 1); where b is lost beside 1 and a is small, b / a pow(a, b), as the former may be
// infinite by itself; of pow(0, 0), 0. Where a condition holds, its formula does: what is
// differentiated again is right there, too.
static tensor_expr slope_of_base(tensor_op *op, tensor_expr e, tensor_expr a, tensor_expr b) {
    tensor_expr zero = constant(op, a, 0), less = bin(op, TENSOR_SUB_OP, b, constant(op, b, 1)),
                slope = gradient_mul(op, b, bin(op, TENSOR_POW_OP, a, less));
    if (tensor_node_at(op, b)->op == TENSOR_CONST_OP)
        return gradient_is_constant(op, b, 0) ? 0 : slope;
    tensor_expr none = bin(op, TENSOR_AND_OP, bin(op, TENSOR_EQ_OP, b, zero),
                           bin(op, TENSOR_EQ_OP, a, zero)),
                small = bin(op, TENSOR_AND_OP, bin(op, TENSOR_EQ_OP, less, constant(op, b, -1)),
                            bin(op, TENSOR_LT_OP, a, constant(op, a, 1))),
                by = bin(op, TENSOR_MUL_OP, bin(op, TENSOR_DIV_OP, b, a), e);
    return tensor_select(op, none, zero, tensor_select(op, small, by, slope, NO_SPAN), NO_SPAN);
}

// pow(a, b) log(a); 0 where the power is, and for pow(0, 0), however large the logarithm.
static tensor_expr slope_of_exponent(tensor_op *op, tensor_expr e, tensor_expr a, tensor_expr b) {
    tensor_expr zero = constant(op, a, 0), by = bin(op, TENSOR_MUL_OP, e, un(op, TENSOR_LOG_OP, a)),
                origin = bin(op, TENSOR_AND_OP, bin(op, TENSOR_EQ_OP, a, zero),
                             bin(op, TENSOR_EQ_OP, b, zero)),
                none = bin(op, TENSOR_OR_OP, bin(op, TENSOR_EQ_OP, e, zero), origin);
    return tensor_select(op, none, zero, by, NO_SPAN);
}

static void of_power(tensor_op *op, tensor_expr e, tensor_expr a, tensor_expr b, tensor_expr s,
                     tensor_expr out[2]) {
    tensor_expr base = slope_of_base(op, e, a, b);
    out[0] = base ? gradient_mul(op, s, base) : 0;
    out[1] = gradient_mul(op, s, slope_of_exponent(op, e, a, b));
}

// Of atan2(y, x) by y and x: x and -y by the square of the distance d from the origin, which might
// leave its type: with the smaller by the larger as t, d^2 is the square of the larger times 1 +
// t^2. At the origin, 0.
static void of_angle(tensor_op *op, tensor_expr y, tensor_expr x, tensor_expr s,
                     tensor_expr out[2]) {
    tensor_expr zero = constant(op, x, 0), one = constant(op, x, 1),
                across = bin(op, TENSOR_MAX_OP, x, un(op, TENSOR_NEG_OP, x)),
                up = bin(op, TENSOR_MAX_OP, y, un(op, TENSOR_NEG_OP, y)),
                wide = bin(op, TENSOR_GE_OP, across, up),
                most = tensor_select(op, wide, x, y, NO_SPAN),
                least = tensor_select(op, wide, y, x, NO_SPAN),
                t = bin(op, TENSOR_DIV_OP, least, most), some = bin(op, TENSOR_NE_OP, most, zero),
                more = bin(op, TENSOR_ADD_OP, one, bin(op, TENSOR_MUL_OP, t, t)),
                by = bin(op, TENSOR_DIV_OP, bin(op, TENSOR_DIV_OP, one, most), more),
                small = bin(op, TENSOR_DIV_OP, bin(op, TENSOR_DIV_OP, t, most), more),
                first = tensor_select(op, some, tensor_select(op, wide, by, small, NO_SPAN), zero,
                                      NO_SPAN),
                second = tensor_select(op, some, tensor_select(op, wide, small, by, NO_SPAN), zero,
                                       NO_SPAN);
    out[0] = gradient_mul(op, s, first);
    out[1] = negated(op, gradient_mul(op, s, second));
}

// Of two that are equal the first is taken.
static void of_chosen(tensor_op *op, tensor_opcode first, tensor_expr a, tensor_expr b,
                      tensor_expr s, tensor_expr out[2]) {
    tensor_expr c = bin(op, first, a, b), zero = constant(op, s, 0);
    out[0] = tensor_select(op, c, s, zero, NO_SPAN);
    out[1] = tensor_select(op, c, zero, s, NO_SPAN);
}

// The derivative of a function of one number, of which e is the value; 0: it is 0.
static tensor_expr slope(tensor_op *op, tensor_opcode o, tensor_expr e, tensor_expr a) {
    static const double TWO_BY_ROOT_PI = 1.1283791670955126;
    tensor_expr one = constant(op, e, 1);
    switch (o) {
    case TENSOR_SQRT_OP: return div_by(op, constant(op, e, 0.5), e);
    case TENSOR_EXP_OP: return e;
    case TENSOR_LOG_OP: return div_by(op, one, a);
    case TENSOR_TANH_OP: return bin(op, TENSOR_SUB_OP, one, bin(op, TENSOR_MUL_OP, e, e));
    case TENSOR_SIN_OP: return un(op, TENSOR_COS_OP, a);
    case TENSOR_COS_OP: return un(op, TENSOR_NEG_OP, un(op, TENSOR_SIN_OP, a));
    case TENSOR_ERF_OP:
        return bin(op, TENSOR_MUL_OP, constant(op, e, TWO_BY_ROOT_PI),
                   un(op, TENSOR_EXP_OP, un(op, TENSOR_NEG_OP, bin(op, TENSOR_MUL_OP, a, a))));
    // e + 1 has no digit left where e is nearly -1
    case TENSOR_EXPM1_OP: return un(op, TENSOR_EXP_OP, a);
    case TENSOR_LOG1P_OP: return div_by(op, one, bin(op, TENSOR_ADD_OP, one, a));
    default: return 0;   // floor, ceil, stop, what is counted or drawn
    }
}

// The adjoints of the arguments of e, which has s.
static void of_arguments(tensor_op *op, tensor_expr e, tensor_expr s, tensor_expr out[3]) {
    const tensor_node n = *tensor_node_at(op, e);
    tensor_expr a = n.nargs > 0 ? n.args[0] : 0, b = n.nargs > 1 ? n.args[1] : 0,
                zero = constant(op, s, 0);
    switch ((tensor_opcode)n.op) {
    case TENSOR_ADD_OP: out[0] = out[1] = s; return;
    case TENSOR_SUB_OP: out[0] = s, out[1] = negated(op, s); return;
    case TENSOR_MUL_OP: out[0] = gradient_mul(op, s, b), out[1] = gradient_mul(op, s, a); return;
    case TENSOR_DIV_OP:
        out[0] = div_by(op, s, b);
        out[1] = negated(op, gradient_mul(op, s, div_by(op, e, b)));
        return;
    case TENSOR_MIN_OP: of_chosen(op, TENSOR_LE_OP, a, b, s, out); return;
    case TENSOR_MAX_OP: of_chosen(op, TENSOR_GE_OP, a, b, s, out); return;
    case TENSOR_POW_OP: of_power(op, e, a, b, s, out); return;
    case TENSOR_ATAN2_OP: of_angle(op, a, b, s, out); return;
    case TENSOR_SELECT_OP:
        out[1] = tensor_select(op, a, s, zero, NO_SPAN);
        out[2] = tensor_select(op, a, zero, s, NO_SPAN);
        return;
    case TENSOR_CVT_OP:
        if (tensor_type_is_float(tensor_typeof(op, a)))
            out[0] = converted(op, tensor_typeof(op, a), s);
        return;
    case TENSOR_ROUND_OP: out[0] = s; return;   // as though it kept every number
    case TENSOR_NEG_OP: out[0] = negated(op, s); return;
    case TENSOR_LOAD_OP: return;   // its indices are no floats
    default: break;
    }
    tensor_expr by = n.nargs == 1 ? slope(op, (tensor_opcode)n.op, e, a) : 0;
    if (by) out[0] = gradient_mul(op, s, by);
}

// ---- All below some roots -----------------------------------------------------------------------
static void reach(const tensor_op *op, tensor_expr e, bool *reached) {
    const tensor_node *n = tensor_node_at(op, e);
    if (reached[e]) return;
    reached[e] = true;
    for (uint32_t i = 0; i < n->nargs; i++) reach(op, n->args[i], reached);
}

// Arguments come before who uses them, so that from the last on each has its whole adjoint when it
// is met.
const tensor_expr *gradient_below(gradient *g, const tensor_expr *roots, const tensor_expr *seeds,
                                  uint32_t n) {
    tensor_op *op = g->op;
    uint32_t all = op->exprs.len;
    bool *reached = ARENA_ARRAY(g->arena, bool, all);
    tensor_expr *adjoint = ARENA_ARRAY(g->arena, tensor_expr, all);
    for (uint32_t i = 0; i < n; i++) {
        if (!seeds[i]) continue;
        reach(op, roots[i], reached);
        adjoint[roots[i]] = gradient_add(op, adjoint[roots[i]], seeds[i]);
    }
    for (tensor_expr e = all; e-- > 1;) {
        tensor_expr out[3] = {0};
        if (!reached[e] || !adjoint[e]) continue;
        of_arguments(op, e, adjoint[e], out);
        const tensor_node node = *tensor_node_at(op, e);
        for (uint32_t i = 0; i < node.nargs && i < 3; i++)
            if (out[i] && tensor_type_is_float(tensor_typeof(op, node.args[i])))
                adjoint[node.args[i]] = gradient_add(op, adjoint[node.args[i]], out[i]);
    }
    return adjoint;
}
