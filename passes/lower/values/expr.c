// Scalar expressions of tensor IR at one instance, for all lanes of the vector at once or for the
// lane that is fixed. A choice becomes a select, or a branch if the arm that is not taken could
// read at no index. Where lanes would take different branches, each lane is computed by itself.

#include "lower/values/values.h"
#include "base/scalar.h"
#include <math.h>

// ---- What must not be evaluated where its condition fails ---------------------------------------
static bool unguarded(kernel *k, tensor_expr e) {
    lowering *l = k->l;
    if (!(l->none_facts[e] & READS_AT_NONE) || lw_is_known(k, e) || l->visited[e] == l->visits)
        return false;
    l->visited[e] = l->visits;
    const tensor_node *n = tensor_node_at(l->op, e);
    for (uint32_t i = 0; i < n->nargs; i++) {
        if (n->op == TENSOR_LOAD_OP && l->none_facts[n->args[i]] & MAYBE_NONE) return true;
        if (unguarded(k, n->args[i])) return true;
    }
    return false;
}

bool lw_needs_guard(kernel *k, tensor_expr e) {
    k->l->visits++;
    return unguarded(k, e);
}

// ---- Choices ------------------------------------------------------------------------------------
// Each lane is computed by itself, and they are a vector again.
static simt_value by_lanes(kernel *k, simt_builder *b, tensor_expr e) {
    simt_value x[16];
    uint32_t n = lw_lanes(&k->digits);
    for (uint32_t i = 0; i < n; i++) {
        k->digits.at[k->digits.vector] = (int32_t)i;
        x[i] = lw_expr(k, b, e);
    }
    k->digits.at[k->digits.vector] = -1;
    return simt_gather(b, x, n);
}

static simt_element element_of(kernel *k, tensor_expr e) {
    return lw_value_element(k, tensor_typeof(k->l->op, e).type);
}

static simt_value lower_arm(kernel *k, simt_builder *b, tensor_expr e, uint32_t lanes) {
    region_mark m = lw_enter(&k->known);
    simt_value v = simt_widen(b, lw_expr(k, b, e), lanes);
    lw_leave(&k->known, m);
    return v;
}

static simt_value lower_branch(kernel *k, simt_builder *b, simt_value c, tensor_expr x,
                               tensor_expr y) {
    uint32_t lanes = lw_vector_free(&k->digits, lw_depends(k, x) | lw_depends(k, y))
                         ? lw_lanes(&k->digits)
                         : 1;
    simt_type t = {element_of(k, x), (uint8_t)lanes};
    simt_builder then, other;
    simt_instr i = simt_build_if(b, c, &t, 1, &then, &other);
    simt_value v = lower_arm(k, &then, x, lanes);
    simt_build_yield(&then, &v, 1);
    v = lower_arm(k, &other, y, lanes);
    simt_build_yield(&other, &v, 1);
    return simt_result(k->f, i, 0);
}

static simt_value lower_select(kernel *k, simt_builder *b, tensor_expr e, const tensor_node *n) {
    bool guard = lw_needs_guard(k, n->args[1]) || lw_needs_guard(k, n->args[2]);
    simt_value below = guard ? 0 : lw_exp_below(k, b, e);
    if (!below && !guard) below = lw_chosen_below(k, b, e);
    if (below) return below;
    // it is computed for all lanes, which then take their own
    simt_value c = lw_expr(k, b, n->args[0]);
    if (guard && simt_lanes_of(b, c) > 1) return by_lanes(k, b, e);
    if (guard) return lower_branch(k, b, c, n->args[1], n->args[2]);
    simt_value x = lw_expr(k, b, n->args[1]), y = lw_expr(k, b, n->args[2]);
    return simt_choose(b, c, x, y);
}

static simt_value lower_logic(kernel *k, simt_builder *b, tensor_expr e, const tensor_node *n,
                              bool is_and) {
    bool guard = lw_needs_guard(k, n->args[1]);
    simt_value x = lw_expr(k, b, n->args[0]);
    if (guard && lw_vector_free(&k->digits, lw_depends(k, e))) return by_lanes(k, b, e);
    if (!guard) return simt_two(b, is_and ? SIMT_AND : SIMT_OR, x, lw_expr(k, b, n->args[1]));
    simt_type t = SIMT_T(PRED);
    simt_builder then, other;
    simt_instr i = simt_build_if(b, x, &t, 1, &then, &other);
    simt_builder *rest = is_and ? &then : &other, *known = is_and ? &other : &then;
    simt_value v = lower_arm(k, rest, n->args[1], 1);
    simt_build_yield(rest, &v, 1);
    v = simt_build_pred(known, !is_and);
    simt_build_yield(known, &v, 1);
    return simt_result(k->f, i, 0);
}

simt_value lw_else(kernel *k, simt_builder *b, simt_value some, simt_value x, tensor_expr orelse) {
    uint32_t lanes = simt_typeof(k->f, x).lanes;
    if (simt_typeof(k->f, some).lanes > 1 || !lw_needs_guard(k, orelse)) {
        simt_value y = simt_widen(b, lw_expr(k, b, orelse), lanes);
        lanes = simt_typeof(k->f, y).lanes;
        return simt_build_select(b, some, simt_widen(b, x, lanes), y);
    }
    simt_type t = {simt_typeof(k->f, x).element, (uint8_t)lanes};
    simt_builder then, other;
    simt_instr i = simt_build_if(b, some, &t, 1, &then, &other);
    simt_build_yield(&then, &x, 1);
    region_mark m = lw_enter(&k->known);
    simt_value y = simt_widen(&other, lw_expr(k, &other, orelse), lanes);
    simt_build_yield(&other, &y, 1);
    lw_leave(&k->known, m);
    return simt_result(k->f, i, 0);
}

// ---- Operators ----------------------------------------------------------------------------------
static simt_value lower_var(kernel *k, simt_builder *b, const tensor_node *n) {
    return lw_spread(k, b, lw_var_position(k, b, (tensor_var)n->imm.i));
}

static simt_value lower_rand(kernel *k, simt_builder *b, const tensor_node *n) {
    simt_value h = 0;
    for (uint32_t i = 0; i < n->nargs; i++) h = scalar_hash(b, h, lw_expr(k, b, n->args[i]));
    return scalar_uniform(b, h);
}

// A cell that is multiplied by a power of two (tensor/outside.c).
static bool is_scaled(const kernel *k, tensor_expr e) {
    const tensor_node *x = tensor_node_at(k->l->op, e);
    if (x->op == TENSOR_SELECT_OP) return is_scaled(k, x->args[2]);
    if (x->op == TENSOR_ADD_OP || x->op == TENSOR_SUB_OP) return is_scaled(k, x->args[0]);
    if (x->op != TENSOR_MUL_OP) return false;
    const tensor_node *by = tensor_node_at(k->l->op, x->args[1]);
    int power;
    bool here = by->op == TENSOR_CONST_OP && by->imm.f > 1 && frexp(by->imm.f, &power) == 0.5;
    return here || is_scaled(k, x->args[0]) || is_scaled(k, x->args[1]);
}

static bool is_left_unrounded(const kernel *k, const tensor_node *n) {
    return k->sums.again && (ir_dtype)n->imm.i == DT_F16 && is_scaled(k, n->args[0]);
}

static const simt_instr_info *made_by(const simt_builder *b, simt_value v, simt_op op) {
    simt_instr i = b->func->values.data[v].def;
    return i && b->func->instrs.data[i].op == op ? &b->func->instrs.data[i] : NULL;
}

// The factors of a product, or of some lanes of a product; false: it is none.
static bool factors_of(simt_builder *b, simt_value v, simt_value *x, simt_value *y) {
    const simt_instr_info *one = made_by(b, v, SIMT_EXTRACT), *some = made_by(b, v, SIMT_SLICE),
                          *lanes = one ? one : some,
                          *product = made_by(b, lanes ? lanes->args[0] : v, SIMT_MUL);
    uint32_t at = lanes ? (uint32_t)lanes->imm.i : 0, n = simt_typeof(b->func, v).lanes;
    if (!product) return false;
    *x = product->args[0], *y = product->args[1];
    if (lanes) *x = simt_slice(b, *x, at, n), *y = simt_slice(b, *y, at, n);
    return true;
}

// A product that a reduction adds is rounded with the sum, in one operation: that halves the
// arithmetic of a dot product. Elsewhere it is fused where little of it is kept, and in 16 bits,
// where rounding the product by itself loses most of what the sum could keep.
static simt_value lower_add(kernel *k, simt_builder *b, const tensor_node *n, simt_value x,
                            simt_value y) {
    simt_value p, q;
    simt_match(b, &x, &y);
    bool fused = tensor_type_is_narrow(n->type) ||
                 ((k->reducer.right || lw_is_narrow(k)) && tensor_type_is_float(n->type));
    return fused && factors_of(b, y, &p, &q) ? simt_build_fma(b, p, q, x)
                                             : simt_build_binary(b, SIMT_ADD, x, y);
}

// A value that was widened and is narrowed again is the value before; 0: it was not widened.
static simt_value narrowed(kernel *k, simt_builder *b, const tensor_node *n, simt_value x) {
    const simt_instr_info *widened = tensor_type_is_narrow(n->type) ? made_by(b, x, SIMT_CVT)
                                                                    : NULL;
    simt_element to = lw_value_element(k, n->type.type);
    return widened && simt_typeof(b->func, widened->args[0]).element == to ? widened->args[0] : 0;
}

// Operations on the values of their arguments.
static simt_value lower_plain(kernel *k, simt_builder *b, const tensor_node *n) {
    const scalar_types types = {(simt_element)k->ix.element, k->l->o->index_bits};
    simt_value *x = ARENA_ARRAY(k->l->arena, simt_value, n->nargs + 1);
    for (uint32_t i = 0; i < n->nargs; i++) x[i] = lw_expr(k, b, n->args[i]);
    if (n->op == TENSOR_ADD_OP) return lower_add(k, b, n, x[0], x[1]);
    simt_value as_it_was = n->op == TENSOR_CVT_OP ? narrowed(k, b, n, x[0]) : 0;
    return as_it_was ? as_it_was : scalar_plain(b, &types, n, x);
}

// Operations that are not computed from the values of their arguments, or here in a better way; 0:
// compute it so.
static simt_value lower_otherwise(kernel *k, simt_builder *b, tensor_expr e, const tensor_node *n) {
    switch ((int)n->op) {
    case TENSOR_VAR_OP: return lower_var(k, b, n);
    case TENSOR_SIZE_OP: return lw_size(k, b, (tensor_space)n->imm.i);
    case TENSOR_ARG_OP: return k->reducer.arg[n->imm.i];
    case TENSOR_LEFT_OP: return k->reducer.left[n->imm.i];
    case TENSOR_RIGHT_OP: return k->reducer.right[n->imm.i];
    case TENSOR_LOAD_OP: return lw_load(k, b, e, n);
    case TENSOR_AND_OP: return lower_logic(k, b, e, n, true);
    case TENSOR_OR_OP: return lower_logic(k, b, e, n, false);
    case TENSOR_SELECT_OP: return lower_select(k, b, e, n);
    case TENSOR_MUL_OP: return lw_exp_times(k, b, n);
    case TENSOR_MOD_OP:
    case TENSOR_QUOT_OP: return lw_divide(k, b, n);
    case TENSOR_ROUND_OP: return is_left_unrounded(k, n) ? lw_expr(k, b, n->args[0]) : 0;
    case TENSOR_EXP_OP: return lw_exp(k, b, e);
    case TENSOR_RAND_OP: return lower_rand(k, b, n);
    case TENSOR_PREIMAGE_OP:
    case TENSOR_AT_LEAST_OP:
    case TENSOR_CUT_PARTS_OP: return lw_number(k, e);
    }
    return 0;
}

static simt_value lower_node(kernel *k, simt_builder *b, tensor_expr e, const tensor_node *n) {
    simt_value v = lower_otherwise(k, b, e, n);
    return v ? v : lower_plain(k, b, n);
}

simt_value lw_expr(kernel *k, simt_builder *b, tensor_expr e) {
    axis_set axes = lw_depends(k, e);
    simt_value *of = k->known.memo[e].of, v = of[lw_instance(&k->digits, axes)];
    if (v) return v;
    bool laned = k->digits.vector != LOWER_NO_AXIS && axes & AXIS(k->digits.vector) &&
                 k->digits.at[k->digits.vector] >= 0;
    simt_value all =
        laned ? of[lw_instance(&k->digits, axes) - (uint32_t)(k->digits.at[k->digits.vector] + 1)]
              : 0;
    if (all) return lw_remember(k, e, simt_pick(b, all, (uint32_t)k->digits.at[k->digits.vector]));
    const tensor_node *n = tensor_node_at(k->l->op, e);
    span outer = b->at;
    if (n->at.hi) b->at = n->at;
    v = lower_node(k, b, e, n);
    b->at = outer;
    return lw_remember(k, e, v);
}

void lw_reducer(kernel *k, simt_builder *b, const tensor_expr *e, uint32_t n, const simt_value *arg,
                const simt_value *left, const simt_value *right, simt_value *out) {
    memo_cell *memo = k->known.memo;
    uint32_t log = k->known.log.len;
    const simt_value *outer[3] = {k->reducer.arg, k->reducer.left, k->reducer.right};
    k->known.memo = k->known.spare ? k->known.spare
                                   : ARENA_ARRAY(k->l->arena, memo_cell, k->l->op->exprs.len + 1);
    k->known.spare = NULL;
    k->reducer.arg = arg;
    k->reducer.left = left;
    k->reducer.right = right;
    for (uint32_t i = 0; i < n; i++) out[i] = lw_expr(k, b, e[i]);
    lw_forget(&k->known, log);
    k->known.spare = k->known.memo;
    k->known.memo = memo;
    k->reducer.arg = outer[0], k->reducer.left = outer[1], k->reducer.right = outer[2];
}

// ---- Sizes and cells ----------------------------------------------------------------------------
simt_value lw_size(kernel *k, simt_builder *b, tensor_space s) {
    const tensor_space_info *i = &k->l->op->spaces.data[s];
    if (i->kind == SPACE_CONST) return simt_build_int(b, SIMT_T(I64), i->size);
    if (s < k->l->p->spaces.len) return lw_arg(k, ARG_SIZE, s, 0);
    return lw_expr(k, b, i->expr);   // the plan made this space
}

// The key has the value at as many instances as the value differs in.
void lw_given(kernel *k, simt_builder *b, const loop_node *n) {
    axis_set s = lw_written_out(&k->digits, lw_depends(k, n->value));
    if (!lw_know(k, n->key, lw_depends(k, n->value))) return;
    for (instance_walk w = lw_walk_begin(&k->digits, s); lw_walk_next(&w);)
        lw_remember(k, n->key, lw_expr(k, b, n->value));
}

simt_value lw_enter_cell(kernel *k, simt_builder *b, const reduction *r) {
    simt_value c = 0;
    axis_set axes = 0;
    for (uint32_t i = 0; i < r->cells.len; i++) {
        c = lw_both(b, c, lw_expr(k, b, r->cells.data[i]));
        axes |= lw_depends(k, r->cells.data[i]);
    }
    k->product.cell = c, k->product.cell_axes = axes;
    return c;
}
