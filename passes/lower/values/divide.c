// Positions are divided by sizes without a division: by a multiplication with a magic number, which
// the runtime finds for each size (Granlund and Montgomery 1994; program.h).
//     quot(cvt(i64, p), size(H))  →  mulhi(2 p, magic) >> shift, 0 where H is 0
// By a number they are divided without a sign.
// Where the rounds of a loop begin at multiples of the divisor, one quotient serves all positions
// of a round.

#include "lower/values/values.h"
#include "base/scalar.h"

// What is divided by: a size, or a number of at least one, which fits the type of positions.
static bool divisor(const kernel *k, tensor_expr e, int64_t *number) {
    const tensor_node *x = tensor_node_at(k->l->op, e);
    *number = 0;
    if (lw_constant(k->l->op, e, number))
        return *number > 0 && (!k->l->o->narrow || *number < INT64_C(1) << 31);
    return x->op == TENSOR_SIZE_OP && (tensor_space)x->imm.i < k->l->p->spaces.len;
}

// The value is never negative where it is used. In narrow mode it is below 2^31.
static bool natural(const kernel *k, tensor_expr e) {
    const tensor_node *x = tensor_node_at(k->l->op, e);
    if (x->op == TENSOR_VAR_OP) return true;
    if (x->op == TENSOR_INDEX_OP || x->op == TENSOR_CVT_OP) return natural(k, x->args[0]);
    if (x->op != TENSOR_QUOT_OP && x->op != TENSOR_MOD_OP) return false;
    int64_t number;
    return natural(k, x->args[0]) && divisor(k, x->args[1], &number);
}

static simt_value of_type(simt_builder *b, simt_type t, simt_value x) {
    return simt_widen(b, simt_build_cvt(b, (simt_type){t.element, 1}, x), t.lanes);
}

// If m is the magic number for 64 bits, ceil(m / 2^32) is the one for 32 bits: both are a floor and
// one more, or 0.
static simt_value magic_of(kernel *k, simt_builder *b, tensor_space s, simt_type t) {
    simt_value m = lw_arg(k, ARG_MAGIC, s, 0);
    simt_type i64 = SIMT_T(I64);
    if (t.element == SIMT_I64) return simt_widen(b, m, t.lanes);
    m = simt_build_binary(b, SIMT_ADD, m, simt_build_int(b, i64, UINT32_MAX));
    m = simt_build_binary(b, SIMT_LSHR, m, simt_build_int(b, i64, 32));
    return of_type(b, t, m);
}

static simt_value quotient(kernel *k, simt_builder *b, tensor_space s, simt_type t, simt_value x) {
    simt_value twice = simt_build_binary(b, SIMT_SHL, x, simt_build_int(b, t, 1));
    simt_value up = simt_build_binary(b, SIMT_MULHI, twice, magic_of(k, b, s, t));
    return simt_build_binary(b, SIMT_LSHR, up, of_type(b, t, lw_arg(k, ARG_SHIFT, s, 0)));
}

static simt_value less(simt_builder *b, simt_value x, simt_value q, simt_value by) {
    return simt_build_binary(b, SIMT_SUB, x, simt_build_binary(b, SIMT_MUL, q, by));
}

static simt_value remainder_of(kernel *k, simt_builder *b, tensor_space s, simt_type t,
                               simt_value x, simt_value q) {
    simt_value size = of_type(b, t, lw_size(k, b, s)), zero = simt_build_int(b, t, 0);
    return simt_build_select(b, simt_build_cmp(b, SIMT_EQ, size, zero), zero, less(b, x, q, size));
}

// ---- Of a round ---------------------------------------------------------------------------------
// How far a position is from the start of a round that is as long as the divisor. Constants come
// last.
static simt_value since_round(kernel *k, simt_builder *b, const loop_node *loop) {
    int64_t constant;
    simt_value at = scalar_without_constant(b, lw_var_position(k, b, loop->var).at, &constant),
               since = simt_build_binary(b, SIMT_SUB, at, k->scope.var[loop->var].base);
    return simt_build_cvt(b, SIMT_T(I64), simt_build_with(b, SIMT_ADD, since, constant));
}

static simt_value divide_round(kernel *k, simt_builder *b, const tensor_node *n,
                               const loop_node *loop) {
    simt_type i64 = SIMT_T(I64);
    int64_t c = 1;
    lw_constant(k->l->op, n->args[1], &c);
    bool one = lw_var_position(k, b, loop->var).shape == POSITION_ONE;
    if (n->op == TENSOR_MOD_OP && c == loop_digits_product(loop) && one)
        return since_round(k, b, loop);
    simt_value q = simt_build_with(b, SIMT_UDIV, k->scope.var[loop->var].base, c);
    if (n->op == TENSOR_QUOT_OP) return simt_build_cvt(b, i64, q);
    simt_value x = lw_expr(k, b, n->args[0]),
               down = simt_build_cvt(b, i64, simt_build_with(b, SIMT_MUL, q, c));
    return simt_build_binary(b, SIMT_SUB, x, simt_widen(b, down, simt_typeof(k->f, x).lanes));
}

// A position that is given is never negative.
static simt_value divide_given(kernel *k, simt_builder *b, const tensor_node *n) {
    const tensor_node *x = tensor_node_at(k->l->op, n->args[0]);
    int64_t c;
    if (x->op == TENSOR_CVT_OP) x = tensor_node_at(k->l->op, x->args[0]);
    if (n->op != TENSOR_QUOT_OP || x->op != TENSOR_VAR_OP ||
        k->scope.var[x->imm.i].kind != BOUND_GIVEN)
        return 0;
    if (!lw_constant(k->l->op, n->args[1], &c) || c < 1) return 0;
    return simt_build_cvt(b, SIMT_T(I64),
                          simt_build_with(b, SIMT_UDIV, k->scope.var[x->imm.i].given.at, c));
}

// ---- All ----------------------------------------------------------------------------------------
simt_value lw_divide(kernel *k, simt_builder *b, const tensor_node *n) {
    const loop_node *loop = lw_loop_divided(k, n);
    if (loop) return divide_round(k, b, n, loop);
    simt_value given = divide_given(k, b, n);
    if (given) return given;
    int64_t number;
    if (!natural(k, n->args[0]) || !divisor(k, n->args[1], &number)) return 0;
    const bool whole = n->op == TENSOR_QUOT_OP;
    tensor_space s = (tensor_space)tensor_node_at(k->l->op, n->args[1])->imm.i;
    simt_value x = lw_expr(k, b, n->args[0]), q;
    simt_type t = {k->ix.element, simt_typeof(k->f, x).lanes}, wide = {SIMT_I64, t.lanes};
    x = simt_build_cvt(b, t, x);
    if (number) {
        q = simt_build_binary(b, SIMT_UDIV, x, simt_build_int(b, t, number));
        return simt_build_cvt(b, wide, whole ? q : less(b, x, q, simt_build_int(b, t, number)));
    }
    q = quotient(k, b, s, t, x);
    return simt_build_cvt(b, wide, whole ? q : remainder_of(k, b, s, t, x, q));
}
