// Exponentials: of differences from a maximum (lower/values/below.c), in cells of windows, and by
// the machine's approximation. All but s[e] is the same in the whole row:
//     m == -inf ? 0 : exp(s[e] - m)  →  exp(s[e] - (m == -inf ? 0 : m))

#include "lower/values/values.h"
#include "base/scalar.h"
#include <math.h>

// ---- What is chosen 0 ---------------------------------------------------------------------------
// The cell of a window whose sums are computed again, edge by edge, where they are not finite.
static bool in_fast_cell(const kernel *k) {
    const loop_node *products = lw_products(&k->sums);
    return k->product.cell && products && loop_again(products);
}

// If the maximum is -inf, inf is subtracted instead, once a row. Then no cell has to choose.
static simt_value but_none(kernel *k, simt_builder *b, tensor_expr e, simt_value most) {
    simt_type t = simt_typeof(b->func, most);
    if (k->l->bare[e] || !in_fast_cell(k) || t.element != SIMT_F32 || t.lanes != 1) return most;
    simt_value none = simt_build_cmp(b, SIMT_EQ, most, simt_build_float(b, t, (double)-INFINITY));
    return simt_build_select(b, none, simt_build_float(b, t, (double)INFINITY), most);
}

simt_value lw_chosen_below(kernel *k, simt_builder *b, tensor_expr choice) {
    const tensor_node *x = tensor_node_at(k->l->op, choice);
    tensor_expr most;
    bool spares = in_fast_cell(k) && x->type.type == DT_F32 && lw_is_chosen(k->l->op, x, &most) &&
                  lw_is_zero_with(k->l, x->args[2], most, 0);
    return spares ? lw_expr(k, b, x->args[2]) : 0;
}

// ---- What is made of it -------------------------------------------------------------------------
bool lw_is_narrow(const kernel *k) {
    const loop_node *products = lw_products(&k->sums);
    bool cells = products ? !simt_mma_splits(products->reduce.matrix->kind)
                          : k->product.cell && k->l->plan->narrow;
    return cells || lw_is_approximate(k);
}

bool lw_is_approximate(const kernel *k) { return k->plan->approximate && k->l->o->machine->gpu; }

// 2^(x log2 e) by the machine's approximation. It takes two operations; the library's function
// takes twelve to eighteen, which were most of the cost of a window's cells. Rounding the product
// alone makes an error of |x| 2^-24, so results that f16 can hold are within 2^-19. Results below
// the normal range may be 0. In 16 bits, where a stage computes in these and says `approximate`,
// the product and the instruction are of that type: |x| 2^-10 + 2^-9 of f16, eight times as much of
// bf16.
static simt_value log2e(simt_builder *b, simt_value like, double times) {
    return simt_build_float(b, simt_typeof(b->func, like), times * 0x1.71547652b82fep+0);
}

static simt_value exp_narrow(simt_builder *b, simt_value x) {
    return simt_build_unary(b, SIMT_EXP2A, simt_build_binary(b, SIMT_MUL, x, log2e(b, x, 1)));
}

bool lw_is_positive(const simt_builder *b, simt_value x, double *of) {
    simt_instr def = b->func->values.data[x].def;
    const simt_instr_info *i = def ? &b->func->instrs.data[def] : NULL;
    bool constant = i && i->op == SIMT_CONST && simt_typeof(b->func, x).element == SIMT_F32;
    *of = constant ? i->imm.f : 0;
    return *of > 0 && isfinite(*of);
}

// The factor beside a positive constant; else x, and scale 1.
static simt_value without_scale(const simt_builder *b, simt_value x, double *scale) {
    simt_instr def = b->func->values.data[x].def;
    const simt_instr_info *i = def ? &b->func->instrs.data[def] : NULL;
    for (uint32_t k = 0; i && i->op == SIMT_MUL && k < 2; k++)
        if (lw_is_positive(b, i->args[k], scale)) return i->args[1 - k];
    *scale = 1;
    return x;
}

// A cell without an entry has -inf, whose exponential is 0. Then nothing that is made of it needs a
// choice.
static simt_value in_cell(kernel *k, simt_builder *b, tensor_expr e, simt_value x) {
    if (!k->product.cell || k->product.cell_axes & ~lw_depends(k, e)) return x;
    simt_type t = simt_typeof(k->f, x);
    return simt_build_select(b, simt_widen(b, k->product.cell, t.lanes), x,
                             simt_build_float(b, t, (double)-INFINITY));
}

// Whether the machine's approximation makes it: of 16 bits where the plan says so alone.
static bool by_machine(const kernel *k, simt_value x) {
    const simt_element e = (simt_element)simt_typeof(k->f, x).element;
    return e == SIMT_F32 ? lw_is_narrow(k)
                         : (e == SIMT_F16 || e == SIMT_BF16) && lw_is_approximate(k);
}

static bool is_plain(const kernel *k, simt_value x) {
    simt_type t = simt_typeof(k->f, x);
    return t.element == SIMT_F32 && t.lanes == 1;
}

// exp(c x - y), where y is the same in the whole row: the difference is rounded once, as c x would
// be. power: the result is multiplied by 2^power.
static simt_value exp_narrow_below(kernel *k, simt_builder *b, tensor_expr e, simt_value x,
                                   simt_value y, int power) {
    double scale;
    x = in_cell(k, b, e, without_scale(b, x, &scale));
    simt_value by = log2e(b, y, -1),
               more = power ? simt_build_float(b, simt_typeof(b->func, y), power) : 0,
               less = power ? simt_build_fma(b, y, by, more)
                            : simt_build_binary(b, SIMT_MUL, y, by);
    return simt_build_unary(b, SIMT_EXP2A, simt_build_fma(b, x, log2e(b, x, scale), less));
}

// Outside of cells the difference comes first: of equal numbers it is 0, however large they are.
// The sums of cells are computed again where they are not finite.
static simt_value exp_of_difference(kernel *k, simt_builder *b, tensor_expr e, simt_value x,
                                    simt_value y, bool nonpositive) {
    if (k->product.cell && lw_is_narrow(k) && is_plain(k, x) && is_plain(k, y))
        return exp_narrow_below(k, b, e, x, y, 0);
    x = in_cell(k, b, e, x);
    simt_value below = simt_two(b, SIMT_SUB, x, y);
    bool f32 = simt_typeof(k->f, below).element == SIMT_F32;
    if (by_machine(k, below)) return exp_narrow(b, below);
    return scalar_maths(b, f32 && nonpositive ? "exp_nonpositive" : "exp", &below, 1);
}

simt_value lw_exp_below(kernel *k, simt_builder *b, tensor_expr choice) {
    const tensor_node *c = tensor_node_at(k->l->op, choice), *x = lw_below(k->l, c);
    if (!x) return 0;
    simt_value none = lw_expr(k, b, c->args[0]), zero = lw_expr(k, b, c->args[1]);
    simt_value most = simt_choose(b, none, zero, lw_expr(k, b, x->args[1]));
    return exp_of_difference(k, b, choice, lw_expr(k, b, x->args[0]), most, true);
}

simt_value lw_exp_times(kernel *k, simt_builder *b, const tensor_node *product) {
    const tensor_node *e = tensor_node_at(k->l->op, product->args[0]),
                      *by = tensor_node_at(k->l->op, product->args[1]);
    int power;
    if (e->op != TENSOR_EXP_OP || by->op != TENSOR_CONST_OP || by->imm.f <= 1 ||
        frexp(by->imm.f, &power) != 0.5 || !lw_is_narrow(k))
        return 0;
    const tensor_node *of = tensor_node_at(k->l->op, e->args[0]);
    if (of->op != TENSOR_SUB_OP) return 0;
    simt_value x = lw_expr(k, b, of->args[0]),
               y = but_none(k, b, product->args[0], lw_expr(k, b, of->args[1]));
    return k->product.cell && is_plain(k, x) && is_plain(k, y)
               ? exp_narrow_below(k, b, product->args[0], x, y, power - 1)
               : 0;
}

simt_value lw_exp(kernel *k, simt_builder *b, tensor_expr e) {
    tensor_expr of = tensor_node_at(k->l->op, e)->args[0];
    const tensor_node *x = tensor_node_at(k->l->op, of);
    bool nonpositive = k->l->nonpositive[e];
    if (x->op == TENSOR_SUB_OP && (lw_is_narrow(k) || (!k->l->bare[e] && in_fast_cell(k))))
        return exp_of_difference(k, b, e, lw_expr(k, b, x->args[0]),
                                 but_none(k, b, e, lw_expr(k, b, x->args[1])), nonpositive);
    simt_value v = in_cell(k, b, e, lw_expr(k, b, of));
    bool f32 = simt_typeof(k->f, v).element == SIMT_F32;
    if (by_machine(k, v)) return exp_narrow(b, v);
    return scalar_maths(b, f32 && nonpositive ? "exp_nonpositive" : "exp", &v, 1);
}
